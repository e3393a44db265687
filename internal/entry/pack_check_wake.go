package entry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/gofrs/flock"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy/check"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// WakeEntry is the hook entry that Claude Code starts beside its work after a call that
// changed a file, where the check pack is on. Its exit code 2 wakes the model with what
// it wrote to stderr (asyncRewake, contracts/claude §3); otherwise it says nothing.
const WakeEntry = "claude-wake"

// WakeLimit is how long it waits: for the longest check, and a moment. The installed
// entry gives it more.
const WakeLimit = check.MaxLimit + time.Minute

// runWake waits for what the checks of a change find.
func runWake(env Env, stdin io.Reader, stderr io.Writer) (code int) {
	h := &hook{env: env, codec: called(claude.Codec{}, env), deadline: env.Now().Add(Limit)}
	defer func() {
		if r := recover(); r != nil { // our bug, for which nobody is woken
			h.complain(fmt.Errorf("panic: %v", r))
			code = 0
		}
	}()
	debug.SetGCPercent(100) // this one stays; see OneShot
	h.dirs, h.noHome = paths.Resolve(env.OS, env.Getenv)
	payload, err := readPayload(stdin, Limit)
	if err == nil {
		h.ev, err = h.codec.Decode(payload, env.Getenv, "")
	}
	text := ""
	if err == nil {
		text, err = h.awaitChecks()
	}
	if err != nil {
		h.complain(err)
	}
	if text != "" {
		h.verdict.Decision, code = event.Deny, 2
		fmt.Fprintln(stderr, jsontext.Clean(text)) // nobody is there to hear of an error
	}
	h.ev.Native += " (checks)"
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	_, _ = h.tell(ctx, &ipc.Request{Op: ipc.OpHookEvent}) // it is for the hooks' log alone
	return code
}

// awaitChecks has a change checked and returns what is new.
//
// Only a session of Claude Code in a terminal is waited for: in a headless run the
// client itself waits for this hook before the call counts as done (measured on
// 2.1.332), so there the end of the turn waits, as for other clients. Of a session one
// process waits, and one more stands by for changes that come too late for the first.
func (h *hook) awaitChecks() (string, error) {
	if h.noHome != nil || h.ev.Provider != event.Claude || h.ev.Name != event.PostToolUse || h.env.Getenv("CLAUDE_CODE_ENTRYPOINT") != "cli" {
		return "", h.noHome
	}
	sw, books, err := h.loadPacks()
	if err != nil || modeOf(&checkPack, sw, books.Rules) != On || len(check.Changed(&h.ev)) == 0 {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), WakeLimit)
	defer cancel()
	world := h.checkWorld()
	parent := os.Getppid()
	world.Sleep = func(ctx context.Context, d time.Duration) error {
		if os.Getppid() != parent {
			return errors.New("the client is gone") // it hears nothing any more
		}
		return sleep(ctx, d)
	}
	if err := check.Changes(ctx, books.Rules.Check, world, &h.ev); err != nil {
		return "", err
	}
	standBy, wait := wakeLock(h.dirs, "next", h.ev.Session), wakeLock(h.dirs, "wake", h.ev.Session)
	if free, err := standBy.TryLock(); err != nil || !free {
		return "", err
	}
	free, err := wait.TryLock()
	for err == nil && !free && world.Sleep(ctx, wakeTurn) == nil {
		free, err = wait.TryLock()
	}
	letGo(standBy)
	if err != nil || !free {
		return "", err
	}
	defer letGo(wait)
	return check.Wait(ctx, books.Rules.Check, world, &h.ev)
}

// wakeTurn is how often the one that stands by looks whether it is its turn.
const wakeTurn = 500 * time.Millisecond

// awaited reports whether a process waits for what a session's checks find.
func (h *hook) awaited(session event.SessionKey) bool {
	lock := wakeLock(h.dirs, "wake", session)
	if _, err := os.Stat(lock.Path()); err != nil {
		return false
	}
	free, err := lock.TryLock()
	if free {
		_ = lock.Unlock() // and lets go with the process at the latest
	}
	return err == nil && !free
}

// letGo ends a lock and its file. Two processes may wait for a session where a third
// had the file open meanwhile; what is found is told once all the same.
func letGo(lock *flock.Flock) {
	_ = lock.Close() // twice is no error, and the process is about to end
	_ = os.Remove(lock.Path())
}

// wakeLock is one of a session's two locks.
func wakeLock(dirs paths.Dirs, name string, session event.SessionKey) *flock.Flock {
	return flock.New(store(dirs.Join(dirs.State, "hooks", check.Name)).file(name+" "+session.String()) + ".lock")
}
