package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// Machine is what can be read from the machine without a runtime.
type Machine struct {
	Lid      string // open, closed, unknown
	Displays int    // suspend-blocking displays; -1 unknown
	// Celsius are the lowest, average and highest sensor; nil when no sensor
	// could be read, and HeatError says why.
	Celsius   *Celsius
	HeatError string
}

// Celsius are the temperatures of all sensors, summed up.
type Celsius struct {
	Low     float64 `json:"low"`
	Average float64 `json:"average"`
	High    float64 `json:"high"`
}

// withDefaults fills in what is right for the real program.
func withDefaults(o Options) Options {
	if o.GOOS == "" {
		o.GOOS = runtime.GOOS
	}
	if o.Version == "" {
		o.Version = ipc.Version()
	}
	if o.Executable == "" {
		o.Executable, _ = os.Executable() // empty: the setup packages then use PATH
	}
	if o.WorkDir == "" {
		o.WorkDir, _ = os.Getwd() // empty: relative paths are taken as they are
	}
	return o
}

// callLimit bounds one exchange for a person: longer than a hook's, since
// reading back what the system holds takes some calls to the system.
const callLimit = 5 * time.Second

// client reaches the runtime at a socket.
func (a *app) client(socket string) ipc.Client {
	return ipc.Client{
		Version:     a.Version,
		CallTimeout: callLimit,
		DialTimeout: callLimit,
		Dial: func(ctx context.Context) (net.Conn, error) {
			if a.Dial == nil {
				return nil, errors.New("this build has no way to the runtime")
			}
			return a.Dial(ctx, socket)
		},
	}
}

// call asks the runtime. Without one the error matches ipc.ErrNotRunning.
func (a *app) call(ctx context.Context, req *ipc.Request) (*ipc.Reply, error) {
	d, err := a.dirs()
	if err != nil {
		return nil, err
	}
	client := a.client(d.Socket)
	reply, err := client.Call(ctx, req)
	if errors.Is(err, ipc.ErrHungUp) {
		// It was leaving at that moment; now another one serves, or none.
		reply, err = client.Call(ctx, req)
	}
	var other *ipc.ProtocolError
	if errors.As(err, &other) {
		return nil, hint(err, "another version of lidguard runs; it hands over to this one with the next session, or at once with `lidguard start`")
	}
	if errors.Is(err, ipc.ErrUnsafe) || errors.Is(err, fs.ErrPermission) {
		return nil, hint(err, "`lidguard doctor` says how to put it right")
	}
	var refused *ipc.RefusedError
	if err != nil && !errors.Is(err, ipc.ErrNotRunning) && !errors.As(err, &refused) {
		return nil, hint(err, "the runtime is there and cannot be asked; `lidguard doctor` says what to do")
	}
	return reply, err
}

// callOrLaunch is call, starting a runtime where none answers.
func (a *app) callOrLaunch(ctx context.Context, req *ipc.Request) (*ipc.Reply, error) {
	reply, err := a.call(ctx, req)
	if !errors.Is(err, ipc.ErrNotRunning) || a.Launch == nil {
		return reply, err
	}
	d, err := a.dirs()
	if err != nil {
		return nil, err
	}
	if err := a.Launch(ctx, d); err != nil {
		return nil, hint(fmt.Errorf("starting the runtime: %w", err), "`lidguard doctor` says what is in the way")
	}
	return a.call(ctx, req)
}

// leftLive reports whether a runtime died with sessions under way. It means
// something only after a call found none running.
func (a *app) leftLive(d paths.Dirs) bool {
	return daemon.LeftLive(d.Sessions(), daemon.BootID(a.Env("LIDGUARD_ROOT")))
}
