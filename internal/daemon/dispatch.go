package daemon

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/platform/child"
	"github.com/lidguard-go/lidguard/internal/resident"
)

// maxDispatch bounds how long a helper may take, whatever the hook says.
const maxDispatch = 25 * time.Second

// dispatch asks a resident helper, in the connection's goroutine: it may take its
// time, and decides nothing of ours. The request only names the helper. What is run
// for it says a rulebook, since whoever reaches the socket could say anything.
func (d *daemon) dispatch(ctx context.Context, q *ipc.Dispatch) *ipc.Reply {
	switch {
	case q == nil || q.Helper == "" || len(q.Event) == 0:
		return &ipc.Reply{Error: "which helper is to be asked what?"}
	case d.Helper == nil:
		return &ipc.Reply{Error: "this runtime has no helpers"}
	}
	spec, err := d.Helper(q.Helper, q.Cwd)
	if err != nil {
		return &ipc.Reply{Error: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(q.DeadlineMS)*time.Millisecond, maxDispatch))
	defer cancel()
	verdict, err := d.pool.Ask(ctx, spec, resident.Question{Provider: string(q.Provider), Native: q.Native, Event: q.Event})
	switch {
	case errors.Is(err, resident.ErrRefused):
		return &ipc.Reply{Error: err.Error()}
	case err != nil:
		return &ipc.Reply{OK: true, Dispatched: &ipc.Dispatched{Error: err.Error()}}
	}
	return &ipc.Reply{OK: true, Dispatched: &ipc.Dispatched{Verdict: verdict}}
}

// startHelper starts a helper's program.
func (d *daemon) startHelper(s resident.Spec) (resident.Process, error) {
	h, err := child.Serve(child.Spec{Path: s.Path, Args: s.Args, Dir: s.Dir, Env: d.Environ, Raw: s.Raw}, resident.MaxMemory)
	if err != nil {
		return nil, err
	}
	return helperProcess{h}, nil
}

// helperProcess is a child as the pool sees it.
type helperProcess struct{ *child.Helper }

func (h helperProcess) Stdin() io.WriteCloser { return h.Helper.Stdin }
func (h helperProcess) Stdout() io.ReadCloser { return h.Helper.Stdout }
