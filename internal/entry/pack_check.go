package entry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/check"
)

// checkPack verifies changes in the background.
var checkPack = pack{
	name: check.Name, band: policy.BandContext + 60, events: "PostToolUse UserPromptSubmit Stop",
	told: func(r *Rules) bool { return len(r.Check) > 0 },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		return check.New(r.Check, h.checkWorld())
	},
	detail: func(r *Rules, _ *Packs) string {
		var ids []string
		for _, c := range r.Check {
			ids = append(ids, c.ID)
		}
		return strings.Join(ids, ", ")
	},
	check: func(r *Rules) *Fault {
		if row, key, problem := check.Faulty(r.Check); row >= 0 {
			return &Fault{Section: check.Name, Index: row, Key: key, Problem: problem}
		}
		return nil
	},
}

// checkWorld is what checks have of the hook's world.
func (h *hook) checkWorld() check.World {
	return check.World{Store: h.kit().Store(check.Name), Start: h.startCheck, Sleep: sleep, Awaited: h.awaited}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startCheck starts a process of its own that checks a place, unless one does. The
// person's commands run there, with the environment that the agent's have.
func (h *hook) startCheck(p check.Place) error {
	lock := checkLock(h.dirs, p)
	if err := os.MkdirAll(filepath.Dir(lock.Path()), 0o700); err != nil {
		return err
	}
	// One that is about to leave looks once more after it has let go.
	free, err := lock.TryLock()
	if err != nil || !free {
		return err
	}
	if err := lock.Unlock(); err != nil {
		return err
	}
	program, err := runtimeProgram(h.env.program())
	if err != nil {
		return err
	}
	start := h.env.Start
	if start == nil {
		start = endpoint.Start
	}
	_, err = start(program, []string{program, "hooks", "run-check", p.ID, "--dir", p.Dir}, h.env.Environ, p.Dir)
	return err
}

// checkLock is held by the one process that works on a place.
func checkLock(dirs paths.Dirs, p check.Place) *flock.Flock {
	return flock.New(store(dirs.Join(dirs.State, "hooks", check.Name)).file("worker "+p.ID+"\n"+p.Dir) + ".lock")
}

// RunCheck runs a check of the rulebook that holds in dir for as long as changes wait
// for it. It returns at once where another process does so.
func RunCheck(ctx context.Context, env Env, dirs paths.Dirs, id, dir string) error {
	books, err := LoadBooks(dirs, dir)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(books.Rules.Check, func(c check.Check) bool { return c.ID == id })
	if i < 0 {
		return fmt.Errorf("no [[check]] of the rulebook has the id %q", id)
	}
	k := &Kit{OS: env.OS, Getenv: env.Getenv, Environ: env.Environ, Dirs: dirs}
	place, values := check.Place{ID: id, Dir: dir}, k.Store(check.Name)
	if err := os.MkdirAll(dirs.Join(dirs.State, "hooks", check.Name), 0o700); err != nil {
		return err
	}
	for {
		lock := checkLock(dirs, place)
		free, err := lock.TryLock()
		if err != nil || !free {
			return err
		}
		err = check.Work(ctx, books.Rules.Check[i], place, values, maskFailures(k.Run, secretMask(books.Rules, dirs)))
		if unlock := lock.Unlock(); err == nil {
			err = unlock
		}
		// A change that came between the last look and letting go of the lock found
		// it taken and started nobody.
		waits := false
		if err == nil {
			waits, err = check.Waits(ctx, values, place)
		}
		if err != nil || !waits {
			return err
		}
	}
}
