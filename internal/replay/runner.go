package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/platform/child"
)

// Limit is how long a hook may take here when nobody says otherwise. Clients wait
// longer (`hooks events` tells), and a hook that needs this long is too slow.
const Limit = 5 * time.Second

// maxOutput bounds each stream of a hook in bytes.
const maxOutput = 1 << 20

// entryArgs is the command line of lidguard's hook entry for a case, as it is
// installed: Copilot and OpenCode name the event on it.
func entryArgs(c Case) ([]string, error) {
	name, _, ok := entry.EntryOf(c.Provider)
	if !ok {
		return nil, fmt.Errorf("lidguard has no hook for %q", c.Provider)
	}
	if c.Provider == event.Copilot || c.Provider == event.OpenCode {
		return []string{name, "--event", c.Event}, nil
	}
	return []string{name}, nil
}

// InProcess is lidguard's own chain, in this process.
type InProcess struct {
	chains map[place]*entry.Rehearsal
}

// place is what a chain's environment depends on.
type place struct {
	provider event.Provider
	away     bool
}

// NewInProcess reads the stage's rulebook, once for all cases.
func NewInProcess(s *Stage) (*InProcess, error) {
	r := &InProcess{map[place]*entry.Rehearsal{}}
	for _, p := range census.Providers() {
		for _, away := range []bool{false, true} {
			chain, err := s.Rehearse(p, away)
			if err != nil {
				return nil, err
			}
			r.chains[place{p, away}] = chain
		}
	}
	return r, nil
}

// freeze spares the chains to look at the disk again for every case.
func (r *InProcess) freeze() {
	for _, chain := range r.chains {
		chain.Freeze()
	}
}

// Run asks the chain.
func (r *InProcess) Run(_ context.Context, c Case) (Answer, error) {
	chain := r.chains[place{c.Provider, c.Away}]
	if chain == nil {
		return Answer{}, fmt.Errorf("lidguard has no hook for %q", c.Provider)
	}
	return Rehearsed(chain, c)
}

// Rehearsed is the answer of a chain in this process.
func Rehearsed(chain *entry.Rehearsal, c Case) (Answer, error) {
	args, err := entryArgs(c)
	if err != nil {
		return Answer{}, err
	}
	began := time.Now()
	var out event.Output
	if c.Open {
		rest, hold := io.Pipe() // never says more than the payload
		defer hold.Close()
		out, err = chain.Run(args, io.MultiReader(bytes.NewReader(c.Payload), rest))
	} else {
		out, err = chain.Judge(args, c.Payload)
	}
	return Answer{Code: out.Code, Stdout: out.Stdout, Stderr: out.Stderr, Took: time.Since(began)}, err
}

// Spawn is lidguard's own program, as an agent starts it.
type Spawn struct {
	Program string // absolute
	Stage   *Stage
}

// Run starts the program.
func (r *Spawn) Run(ctx context.Context, c Case) (Answer, error) {
	args, err := entryArgs(c)
	if err != nil {
		return Answer{}, err
	}
	return run(ctx, child.Spec{Path: r.Program, Args: args, Dir: r.Stage.Project, Env: r.Stage.environ(c.Provider, modeSpawn, c.Away)}, c, Limit)
}

// Foreign is anybody's program.
type Foreign struct {
	// Argv may hold {provider} and {event}, as an installed line names them.
	Argv    []string
	Dir     string        // absolute
	Environ []string      // the client's own environment; what clients add comes to it
	Limit   time.Duration // 0 means Limit
}

// NewForeign finds the program: an absolute or relative path, or a name on the
// person's PATH. A client would run it by a shell, which finds it in the same way.
func NewForeign(argv []string, workDir, dir string, environ []string) (*Foreign, error) {
	if len(argv) == 0 {
		return nil, errors.New("no command to run")
	}
	program := argv[0]
	switch {
	case filepath.IsAbs(program):
	case strings.ContainsAny(program, `/\`):
		program = filepath.Join(workDir, program)
	default:
		found, err := exec.LookPath(program)
		if err != nil {
			return nil, fmt.Errorf("there is no program %q on PATH", program)
		}
		program = found
	}
	args := []string{program}
	for _, arg := range argv[1:] {
		// The hook runs in a project; files among its arguments lie where the
		// person stands.
		if file := filepath.Join(workDir, arg); !filepath.IsAbs(arg) && isFile(file) {
			arg = file
		}
		args = append(args, arg)
	}
	return &Foreign{Argv: args, Dir: dir, Environ: environ}, nil
}

// NotThere is a program that cannot be found or started, as a client's shell on
// Unix has it: exit code 127 or 126, and the shell's own text.
func NotThere(argv []string, dir string, environ []string) *Foreign {
	var line strings.Builder
	for _, arg := range argv {
		line.WriteString("'" + strings.ReplaceAll(arg, "'", `'\''`) + "' ")
	}
	return &Foreign{Argv: []string{"/bin/sh", "-c", line.String()}, Dir: dir, Environ: environ}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Run starts the program.
func (r *Foreign) Run(ctx context.Context, c Case) (Answer, error) {
	limit := r.Limit
	if limit == 0 {
		limit = Limit
	}
	env := append(append([]string{}, r.Environ...), clientEnv(c.Provider, r.Dir, "replay")...)
	args := make([]string, 0, len(r.Argv))
	for _, arg := range r.Argv[1:] {
		args = append(args, strings.NewReplacer("{provider}", string(c.Provider), "{event}", c.Event).Replace(arg))
	}
	return run(ctx, child.Spec{Path: r.Argv[0], Args: args, Dir: r.Dir, Env: env}, c, limit)
}

func run(ctx context.Context, spec child.Spec, c Case, limit time.Duration) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	spec.Stdin, spec.MaxOutput, spec.Open = c.Payload, maxOutput, c.Open
	if spec.Stdin == nil {
		spec.Stdin = []byte{}
	}
	began := time.Now()
	r, err := child.Run(ctx, spec)
	return Answer{Code: r.Code, Signal: r.Signal, Stdout: r.Stdout, Stderr: r.Stderr, Late: r.Late, Took: time.Since(began)}, err
}
