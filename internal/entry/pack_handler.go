package entry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/handler"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// handlerPack runs a person's own programs. They run only from books that the
// person wrote or trusts, so nothing of it stands beside.
var handlerPack = pack{
	name: handler.Name, band: policy.BandPolicy + 50, role: policy.Gate, eventsOf: handlerEvents,
	told: func(r *Rules) bool { return len(r.Handler) > 0 },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		list := make([]policy.Handler, 0, len(r.Handler))
		for _, s := range r.Handler {
			list = append(list, handler.New(s, h.kit(), h))
		}
		return list
	},
	detail: func(r *Rules, _ *Packs) string {
		var list []string
		for i := range r.Handler {
			list = append(list, r.Handler[i].Name+": "+Printable(r.Handler[i].Command.String()))
		}
		return strings.Join(list, "; ")
	},
	check: func(r *Rules) *Fault {
		seen := map[string]bool{}
		for i := range r.Handler {
			s := &r.Handler[i]
			if key, err := s.Check(); err != nil {
				return &Fault{"handler", i, key, err.Error()}
			}
			if seen[s.Name] {
				return &Fault{"handler", i, "name", fmt.Sprintf("there is another handler %q in this book", s.Name)}
			}
			seen[s.Name] = true
		}
		return nil
	},
}

// handlerEvents are the events of all handlers of a book, in the order that it has
// them.
func handlerEvents(r *Rules) []string {
	list := []string{}
	for i := range r.Handler {
		for _, name := range r.Handler[i].For() {
			if !slices.Contains(list, string(name)) {
				list = append(list, string(name))
			}
		}
	}
	return list
}

// place makes the programs that a book names by a path absolute: below the
// project's folder for a project's book, else below the book's own. A bare name is
// looked for on PATH later.
func (r *Rules) place(f rulebook.File, home string) {
	dir := filepath.Dir(f.Path)
	if strings.HasSuffix(filepath.ToSlash(f.Path), "/"+rulebook.ProjectBook) {
		dir = rulebook.ProjectOf(f.Path)
	}
	for i := range r.Handler {
		command := r.Handler[i].Command
		if len(command) == 0 || command[0] == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(command[0], "~/"); ok {
			command[0] = filepath.Join(home, rest)
		} else if strings.Contains(filepath.ToSlash(command[0]), "/") && !filepath.IsAbs(command[0]) {
			command[0] = filepath.Join(dir, command[0])
		}
	}
}

// Ask asks the runtime for a resident helper; see handler.Asker.
func (h *hook) Ask(ctx context.Context, id string, r *handler.Request) ([]byte, error) {
	dial := h.env.Dial
	if dial == nil {
		dial = endpoint.Dial
	}
	// The helper's own deadline comes first, so that a runtime that says it is late
	// is heard.
	limit := time.Duration(r.Deadline) * time.Millisecond
	client := &ipc.Client{Version: ipc.Version(), CallTimeout: limit + ipc.CallTimeout, Dial: func(ctx context.Context) (net.Conn, error) { return dial(ctx, h.dirs.Socket) }}
	reply, err := client.Call(ctx, &ipc.Request{Op: ipc.OpDispatch, Dispatch: &ipc.Dispatch{
		Helper: id, Cwd: h.ev.Cwd, Provider: r.Provider, Native: r.Native, Event: r.Event, DeadlineMS: r.Deadline}})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("no answer within %s", limit)
	case err != nil: // no runtime, an older one, or it refuses
		return nil, fmt.Errorf("%w: %w", handler.ErrNotServed, err)
	case reply.Dispatched == nil:
		return nil, handler.ErrNotServed
	case reply.Dispatched.Error != "":
		return nil, errors.New(Printable(reply.Dispatched.Error))
	}
	return reply.Dispatched.Verdict, nil
}

// HelperProgram is what to run for a resident helper.
type HelperProgram struct {
	Path string // absolute
	Args []string
	Raw  string // Windows: the command line for cmd /c, where the helper is one
	Dir  string
}

// ResidentHelper finds the resident helper with that ID in the rulebooks that count
// in the folder cwd. A project's book that nobody trusts has none.
func ResidentHelper(env Env, dirs paths.Dirs, id, cwd string) (HelperProgram, error) {
	sw, err := LoadPacks(dirs)
	if err != nil {
		return HelperProgram{}, err
	}
	books, err := LoadBooks(dirs, cwd)
	if err != nil {
		return HelperProgram{}, err
	}
	if modeOf(&handlerPack, &sw, books.Rules) == Off {
		return HelperProgram{}, errors.New("handlers are switched off")
	}
	for i := range books.Rules.Handler {
		s := &books.Rules.Handler[i]
		if !s.Resident || s.ID() != id {
			continue
		}
		k := &Kit{OS: env.OS, Getenv: env.Getenv, Environ: env.Environ, Dirs: dirs}
		argv, raw := k.words(policy.Command{Argv: s.Command.Argv(), Script: s.Command.Script()})
		path, err := k.Look(argv[0])
		return HelperProgram{Path: path, Args: argv[1:], Raw: raw, Dir: dirs.Home}, err
	}
	return HelperProgram{}, fmt.Errorf("no book that counts here has a resident helper %q", id)
}
