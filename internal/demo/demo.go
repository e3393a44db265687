// Package demo plays the main job on any machine: recorded sessions of real
// clients go through the real hook program and the real runtime, which works on
// the built-in fake laptop. In come the two programs and an empty folder, out
// come a narration and an error at the first thing that is not as it should be.
// It touches nothing outside its folder and no hardware.
package demo

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/daemon"
)

//go:embed recordings/*.json
var recordings embed.FS

// Options is what a demo needs.
type Options struct {
	Lidguard string        // the program
	Hook     string        // the program for hook entries; may be the same one
	Dir      string        // an empty folder of the demo's own
	Env      []string      // passed on to every program, e.g. PATH; no HOME
	Pace     time.Duration // a pause after each scene, so that a person can read
	// Say prints one line of narration. Now is the clock.
	Say func(format string, args ...any)
	Now func() time.Time
}

const (
	delay   = 3 * time.Second // post-stop-suspend-delay-seconds of the demo
	limit   = 10 * time.Second
	polling = 20 * time.Millisecond
)

type stage struct {
	Options
	ctx     context.Context
	started time.Time
	laptop  daemon.FakeControl
}

// Run plays the demo, about 20 s with the pace of one second. The error says
// what deviated; whatever happened, no process of the demo is left.
func Run(ctx context.Context, o Options) (err error) {
	s := &stage{Options: o, ctx: ctx, started: o.Now(), laptop: daemon.FakeControl{Lid: "open", OnMains: true, Percent: new(80.0), Celsius: new(52.0)}}
	for _, dir := range []string{"home", "laptop"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, dir), 0o700); err != nil {
			return err
		}
	}
	defer func() {
		// Normally the runtime has left by itself; after a deviation it must go.
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		if e := s.runtimeLeaves(stopping, err != nil); err == nil {
			err = e
		}
	}()
	return s.play()
}

func (s *stage) play() error {
	if err := s.move(func(*daemon.FakeControl) {}); err != nil {
		return err
	}
	// The timeout is for a demo that is killed: its runtime then leaves by itself.
	if _, err := s.command("settings", "--post-stop-suspend-delay-seconds", "3", "--server-runtime-cleanup-delay-minutes", "0", "--session-timeout-minutes", "1",
		"--watch-parent-process", "off"); err != nil {
		return err
	}
	s.Say("A laptop with its lid open. No agent works, no runtime runs, nothing is held.")
	s.pause()

	s.say("You give Claude Code a task: its hook reports the prompt.")
	asked := s.Now()
	if err := s.send("claude-SessionStart", "claude-UserPromptSubmit", "claude-PreToolUse"); err != nil {
		return err
	}
	if err := s.until("the idle and lid locks are held", func(l []daemon.FakeEvent) bool {
		return count(l, "hold", "idle") == 1 && count(l, "hold", "handle-lid-switch") == 1
	}); err != nil {
		return err
	}
	s.say("  held %d ms after the prompt: idle, handle-lid-switch", s.Now().Sub(asked).Milliseconds())
	s.say("And Codex another one. The locks are shared, so there are still two.")
	if err := s.send("codex-SessionStart", "codex-UserPromptSubmit", "codex-PreToolUse"); err != nil {
		return err
	}
	if err := s.sessions(2); err != nil {
		return err
	}
	s.pause()

	s.say("You close the lid and walk away.")
	if err := s.move(func(c *daemon.FakeControl) { c.Lid = "closed" }); err != nil {
		return err
	}
	if err := s.still("two agents work behind the closed lid"); err != nil {
		return err
	}
	s.say("  still awake: both work on.")
	s.pause()

	s.say("Claude Code asks for permission, and nobody is there.")
	answer, err := s.hook("claude-PermissionRequest")
	if err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte(`"deny"`)) || bytes.Contains(answer, []byte(`"interrupt":true`)) {
		return fmt.Errorf("the permission request was answered %q, want a denial without interrupt", answer)
	}
	s.say("  lidguard denied it, with a sentence for the model: %s", message(answer))
	s.pause()

	s.say("It takes another way and leaves a command running in the background. The turn ends.")
	if err := s.send("claude-PostToolUse.Bash-background", "claude-Stop.background-shell"); err != nil {
		return err
	}
	s.say("Codex finishes, too.")
	if err := s.send("codex-PostToolUse", "codex-Stop"); err != nil {
		return err
	}
	if err := s.sessions(1); err != nil {
		return err
	}
	if err := s.still("a background command runs"); err != nil {
		return err
	}
	s.say("  still awake: the background command of Claude Code counts as work.")
	s.pause()

	s.say("The background command is done; Claude Code looks at the result and stops for good.")
	if err := s.send("claude-UserPromptSubmit.task-shell", "claude-Stop"); err != nil {
		return err
	}
	s.say("  now %s in which a new prompt, an opened lid or a display would cancel (10 s by default) …", delay)
	if err := s.until("the machine sleeps", func(l []daemon.FakeEvent) bool { return count(l, "sleep", "") > 0 }); err != nil {
		return err
	}
	if err := s.order(); err != nil {
		return err
	}
	s.say("  locks released, and the machine is asleep. Once.")
	s.pause()

	s.say("You come back and open the lid.")
	if err := s.move(func(c *daemon.FakeControl) { c.Lid, c.Wakes = "open", c.Wakes+1 }); err != nil {
		return err
	}
	if err := s.send("claude-SessionEnd", "codex-SessionEnd"); err != nil {
		return err
	}
	history, err := s.command("suspend-history")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(strings.TrimSpace(string(history)), "\n") {
		s.say("  %s", line)
	}
	if err := s.runtimeLeaves(s.ctx, false); err != nil {
		return err
	}
	s.say("Nothing is held and no process is left. That was the whole job.")
	return nil
}

// say narrates with the seconds since the start.
func (s *stage) say(format string, args ...any) {
	s.Say("%4.1f s  "+format, append([]any{s.Now().Sub(s.started).Seconds()}, args...)...)
}

func (s *stage) pause() { s.wait(s.Pace) }

func (s *stage) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
}

// send sends recorded events, one after the other; none may be answered.
func (s *stage) send(names ...string) error {
	for _, name := range names {
		out, err := s.hook(name)
		if err != nil {
			return err
		}
		if len(out) > 0 {
			return fmt.Errorf("the hook for %s printed %q, want nothing", name, out)
		}
	}
	return nil
}

// hook runs the hook program with one recorded payload, moved into the demo's
// own folder.
func (s *stage) hook(name string) ([]byte, error) {
	payload, err := recordings.ReadFile("recordings/" + name + ".json")
	if err != nil {
		return nil, err
	}
	home, err := json.Marshal(filepath.Join(s.Dir, "home"))
	if err != nil {
		return nil, err
	}
	payload = bytes.ReplaceAll(payload, []byte("/home/dev"), bytes.Trim(home, `"`))
	payload = bytes.ReplaceAll(payload, []byte("b00000002"), []byte("b00000001")) // two recordings, one command
	provider, _, _ := strings.Cut(name, "-")
	return s.run(s.ctx, payload, s.Hook, provider+"-hook")
}

func (s *stage) command(args ...string) ([]byte, error) {
	return s.run(s.ctx, nil, s.Lidguard, args...)
}

func (s *stage) run(ctx context.Context, stdin []byte, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	home := filepath.Join(s.Dir, "home")
	cmd.Env = append(slices.Clone(s.Env), "HOME="+home, "USERPROFILE="+home, "LIDGUARD_HOME="+filepath.Join(s.Dir, "lidguard"),
		"LIDGUARD_MACHINE=fake:"+filepath.Join(s.Dir, "laptop"), "NO_COLOR=1")
	cmd.Dir = home
	cmd.Stdin = bytes.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, nil
}

// move changes a part of the laptop.
func (s *stage) move(change func(*daemon.FakeControl)) error {
	change(&s.laptop)
	data, err := json.Marshal(s.laptop)
	if err != nil {
		return err
	}
	file := filepath.Join(s.Dir, "laptop", "laptop.json")
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// log reads what happened to the laptop so far.
func (s *stage) log() ([]daemon.FakeEvent, error) {
	data, err := os.ReadFile(filepath.Join(s.Dir, "laptop", "laptop.log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var events []daemon.FakeEvent
	for line := range bytes.Lines(data) {
		var e daemon.FakeEvent
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

func count(log []daemon.FakeEvent, what, hold string) int {
	n := 0
	for _, e := range log {
		if e.What == what && (hold == "" || e.Hold == hold) {
			n++
		}
	}
	return n
}

// until waits for the laptop's log to fulfil a condition.
func (s *stage) until(what string, ok func([]daemon.FakeEvent) bool) error {
	for end := s.Now().Add(limit); ; s.wait(polling) {
		log, err := s.log()
		if err != nil {
			return err
		}
		if ok(log) {
			return nil
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if s.Now().After(end) {
			return fmt.Errorf("%s: not within %s; the laptop saw %+v", what, limit, log)
		}
	}
}

// still checks, over a good second, that nothing was released and nothing slept.
func (s *stage) still(why string) error {
	for end := s.Now().Add(1200 * time.Millisecond); s.Now().Before(end); s.wait(5 * polling) {
		log, err := s.log()
		if err != nil {
			return err
		}
		if count(log, "sleep", "")+count(log, "release", "") > 0 {
			return fmt.Errorf("%s, but the laptop saw %+v", why, log)
		}
	}
	return s.ctx.Err()
}

// order checks the whole story of the laptop: each lock taken once, all released,
// one sleep, and the lid lock given up only for it.
func (s *stage) order() error {
	log, err := s.log()
	if err != nil {
		return err
	}
	var words []string
	for _, e := range log {
		if e.What != "off" {
			words = append(words, strings.TrimSpace(e.What+" "+e.Hold))
		}
	}
	got := strings.Join(words, ", ")
	const want = "hold idle, hold handle-lid-switch, release idle, release handle-lid-switch, sleep"
	if got != want {
		return fmt.Errorf("the laptop saw %q, want %q", got, want)
	}
	return nil
}

// sessions waits until that many sessions hold the machine.
func (s *stage) sessions(want int) error {
	var got int
	for end := s.Now().Add(limit); s.Now().Before(end); s.wait(5 * polling) {
		out, err := s.command("status", "--json")
		if err != nil {
			return err
		}
		var status struct {
			Runtime struct {
				Sessions []struct {
					Holds bool `json:"holds"`
				} `json:"sessions"`
			} `json:"runtime"`
		}
		if err := json.Unmarshal(out, &status); err != nil {
			return fmt.Errorf("reading `status --json`: %w", err)
		}
		got = 0
		for _, x := range status.Runtime.Sessions {
			if x.Holds {
				got++
			}
		}
		if got == want {
			return nil
		}
	}
	return fmt.Errorf("%d sessions hold the machine, want %d", got, want)
}

// runtimeLeaves waits until the runtime is gone; force asks it to go first.
func (s *stage) runtimeLeaves(ctx context.Context, force bool) error {
	if force {
		// Behind a closed lid the runtime would put the laptop to sleep first.
		_ = s.move(func(c *daemon.FakeControl) { c.Lid, c.Wakes = "open", c.Wakes+1 })
		_, _ = s.run(ctx, nil, s.Lidguard, "remove-session", "--all") // then it has nothing to stay for
	}
	for end := s.Now().Add(limit); ; s.wait(polling) {
		log, err := s.log()
		if err != nil {
			return err
		}
		// A second runtime may have been started at once with the one that
		// holds, found it there and left: only the holder's leaving counts.
		holder := 0
		for _, e := range log {
			switch {
			case e.What == "hold":
				holder = e.PID
			case e.What == "off" && e.PID == holder:
				holder = 0
			}
		}
		if holder == 0 {
			return nil
		}
		if s.Now().After(end) {
			return fmt.Errorf("the runtime (pid %d) is still there %s after the last session", holder, limit)
		}
	}
}

// message takes the sentence for the model out of a permission answer.
func message(answer []byte) string {
	var a struct {
		HookSpecificOutput struct {
			Decision struct {
				Message string `json:"message"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return string(answer)
	}
	return fmt.Sprintf("%q", a.HookSpecificOutput.Decision.Message)
}
