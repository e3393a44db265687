// Package check verifies an agent's changes off its way: a change starts a command in
// the background, and what that finds new is told at the next event at which the
// client takes a text, or at the end of the turn, which then goes on. Where a client
// can be woken, a process beside the turn waits instead of its end (Changes, Wait). In
// come events, checks and a store that all processes share; out come findings, each
// once. It never waits before a call, never speaks of what was wrong before, never runs
// at the start of a session, and continues a prompt a few times at most.
package check

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in chains and logs.
const Name = "check"

// Check is one row of the table.
type Check struct {
	ID string `toml:"id"`
	// Match are patterns for the names of changed files, as in path.Match; empty is
	// every file.
	Match []string `toml:"match"`
	// Command is a line for the shell, run in the session's folder. Exit code 0 means
	// that nothing is wrong.
	Command string `toml:"command"`
	// Finding picks the lines of its output that are findings; without it these are
	// the lines that name a file and a line, or begin with FAIL, error or warning.
	Finding policy.Pattern `toml:"finding"`
	// Limit ends the command; 2 min where it is not given.
	Limit policy.Duration `toml:"limit"`
	// Wait is how long the end of a turn waits for a check that still runs; 10 s
	// where it is not given, at most 20 s.
	Wait policy.Duration `toml:"wait"`
}

// The bounds of the pack.
const (
	MaxLimit     = 30 * time.Minute
	MaxWait      = 20 * time.Second
	MaxTimes     = 5  // continuations of one prompt by findings
	maxFindings  = 20 // told at once, of one check
	maxLine      = 400
	maxKnown     = 2000
	defaultLimit = 2 * time.Minute
	defaultWait  = 10 * time.Second
	poll         = 50 * time.Millisecond
	wakePoll     = 250 * time.Millisecond // where nobody waits for the answer
	wakeStart    = 40                     // polls until a worker is looked for again
	maxCalls     = 64                     // calls whose changes are known
)

// Faulty finds the first row that could not work, and says why; -1 where all could.
func Faulty(checks []Check) (row int, key, problem string) {
	seen := map[string]bool{}
	for i, c := range checks {
		switch {
		case len(strings.Fields(c.ID)) != 1 || strings.TrimSpace(c.ID) != c.ID:
			return i, "id", fmt.Sprintf("it is %q; it takes one word", c.ID)
		case seen[c.ID]:
			return i, "id", fmt.Sprintf("there are two with the id %q", c.ID)
		case strings.TrimSpace(c.Command) == "":
			return i, "command", "it is empty"
		case time.Duration(c.Limit) > MaxLimit:
			return i, "limit", fmt.Sprintf("it is %v; at most %v are possible", time.Duration(c.Limit), MaxLimit)
		case time.Duration(c.Wait) > MaxWait:
			return i, "wait", fmt.Sprintf("it is %v; at most %v are possible", time.Duration(c.Wait), MaxWait)
		}
		for _, p := range c.Match {
			if _, err := path.Match(p, ""); err != nil || p == "" || strings.Contains(p, "/") {
				return i, "match", fmt.Sprintf("%q is no pattern for a file's name", p)
			}
		}
		seen[c.ID] = true
	}
	return -1, "", ""
}

// Place is where a check runs: its state is shared by all sessions there.
type Place struct{ ID, Dir string }

func (p Place) key() string { return "place " + p.ID + "\n" + p.Dir }

// state is what is kept of a place.
type state struct {
	Pending []string        `json:"pending,omitempty"` // sessions whose changes are not checked yet
	Running []string        `json:"running,omitempty"` // and those that are being checked
	Known   map[string]bool `json:"known,omitempty"`   // what the last run found
	Calls   []string        `json:"calls,omitempty"`   // the last calls whose changes were noted, by their ids
}

// session is what is kept of a session.
type session struct {
	Told  []string `json:"told,omitempty"`  // findings to tell, as lines
	Times int      `json:"times,omitempty"` // continuations since the last prompt
}

// World is what the handlers need from outside.
type World struct {
	Store policy.Store
	// Start has a place checked by another process, which calls Work. Where one works
	// on the place already, it does nothing.
	Start func(Place) error
	// Sleep waits, or returns the error of ctx.
	Sleep func(ctx context.Context, d time.Duration) error
	// Awaited reports whether another process is in Wait for the session and will wake
	// the agent, so that the end of a turn need not wait; nil: none ever is.
	Awaited func(event.SessionKey) bool
}

// New returns the handlers.
func New(checks []Check, w World) []policy.Handler {
	var wait time.Duration
	for _, c := range checks {
		wait = max(wait, c.Wait.Or(defaultWait))
	}
	after := policy.Handler{
		Name: Name, Band: policy.BandContext + 60, Role: policy.Observer,
		Wants: func(ev *event.Event) bool {
			return ev.Name == event.PostToolUse || ev.Name == event.UserPromptSubmit && ev.AgentID == ""
		},
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			var v event.Verdict
			told, err := take(ctx, w.Store, ev, policy.Asked(ev) && !strings.Contains(ev.Prompt, mark), false)
			if text := tell(told); text != "" {
				v.Contexts = []string{text}
			}
			if err == nil && ev.Name == event.PostToolUse {
				err = Changes(ctx, checks, w, ev)
			}
			return v, err
		},
	}
	stop := policy.Handler{
		Name: Name, Band: policy.BandPolicy + 60, Role: policy.Observer, Limit: wait + time.Second,
		Wants: func(ev *event.Event) bool { return ev.Name == event.Stop && ev.Error == "" },
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			if w.Awaited != nil && w.Awaited(ev.Session) {
				return event.Verdict{}, nil
			}
			if err := settle(ctx, checks, w, ev); err != nil {
				return event.Verdict{}, err
			}
			told, err := take(ctx, w.Store, ev, false, true)
			if err != nil || len(told) == 0 {
				return event.Verdict{}, err
			}
			return event.Verdict{Decision: event.Deny, Rule: Name, Reason: tell(told)}, nil
		},
	}
	return []policy.Handler{after, stop}
}

// Changes notes that a call changed files that checks are for, and has them run. For
// a call that was noted already, by another process that was told of it, it does
// nothing.
func Changes(ctx context.Context, checks []Check, w World, ev *event.Event) error {
	files := Changed(ev)
	for _, c := range checks {
		if !slices.ContainsFunc(files, c.isFor) {
			continue
		}
		place, session, known := Place{c.ID, ev.Cwd}, ev.Session.String(), false
		call := session + " " + ev.Tool.UseID
		err := update(ctx, w.Store, place.key(), func(s *state) {
			if known = ev.Tool.UseID != "" && slices.Contains(s.Calls, call); known {
				return
			}
			s.Calls = append(s.Calls[max(0, len(s.Calls)+1-maxCalls):], call)
			if !slices.Contains(s.Pending, session) {
				s.Pending = append(s.Pending, session)
			}
		})
		if err == nil && !known {
			err = w.Start(place)
		}
		if err != nil {
			return fmt.Errorf("starting check %q: %w", c.ID, err)
		}
	}
	return nil
}

// Wait waits until the checks of the session's changes have found something new, and
// returns the text to wake the agent with; "" where they ended without, where the
// prompt was continued often enough, or where ctx ended first. What it returns counts
// as a continuation and is told nowhere else.
func Wait(ctx context.Context, checks []Check, w World, ev *event.Event) (string, error) {
	for n := 0; ; n++ {
		open := false // looked at first: what a check finds is noted before it counts as done
		for _, c := range checks {
			place, mine := Place{c.ID, ev.Cwd}, false
			err := update(ctx, w.Store, place.key(), func(s *state) { mine = s.open(ev.Session) })
			if err == nil && mine && n%wakeStart == 0 {
				err = w.Start(place) // a worker that was killed left its work behind
			}
			if err != nil {
				return "", err
			}
			open = open || mine
		}
		told, err := take(ctx, w.Store, ev, false, true)
		if err != nil || len(told) > 0 || !open {
			return tell(told), err
		}
		if w.Sleep(ctx, wakePoll) != nil {
			return "", nil // the client's patience is over; the next event tells
		}
	}
}

// open reports whether changes of the session are not checked yet.
func (s *state) open(session event.SessionKey) bool {
	return slices.Contains(s.Pending, session.String()) || slices.Contains(s.Running, session.String())
}

// Changed are the files that a call changed, as it names them.
func Changed(ev *event.Event) []string {
	if ev.Tool == nil {
		return nil
	}
	if files, patched := policy.Patched(ev.Tool.Input); patched {
		return files
	}
	if file := policy.Named(ev.Tool.Input); file != "" && policy.Writes(ev.Tool.Name) {
		return []string{file}
	}
	return nil
}

func (c *Check) isFor(file string) bool {
	return len(c.Match) == 0 || slices.ContainsFunc(c.Match, func(p string) bool {
		ok, err := path.Match(p, path.Base(file))
		return err == nil && ok
	})
}

// settle waits for the checks of the session's changes. One that takes longer is
// told of later.
func settle(ctx context.Context, checks []Check, w World, ev *event.Event) error {
	for _, c := range checks {
		place, left := Place{c.ID, ev.Cwd}, c.Wait.Or(defaultWait)
		for {
			open := false
			err := update(ctx, w.Store, place.key(), func(s *state) {
				open = s.open(ev.Session)
			})
			if err != nil {
				return err
			}
			if !open || left <= 0 {
				break
			}
			if left == c.Wait.Or(defaultWait) {
				// A worker that was killed left its work behind.
				if err := w.Start(place); err != nil {
					return err
				}
			}
			if err := w.Sleep(ctx, poll); err != nil {
				return nil // the hook's time is over, and the turn ends as it would
			}
			left -= poll
		}
	}
	return nil
}

// mark begins every text of ours.
const mark = "lidguard check: "

// take gives the session's findings out, once. At the end of a turn they count as a
// continuation, and are kept for the next prompt when there were enough.
func take(ctx context.Context, store policy.Store, ev *event.Event, prompt, stop bool) (told []string, err error) {
	err = store.Update(ctx, "session "+ev.Session.String(), func(old []byte) ([]byte, error) {
		var s session
		if old != nil && json.Unmarshal(old, &s) != nil {
			s = session{}
		}
		if prompt {
			s.Times = 0
		}
		if stop && len(s.Told) > 0 {
			if s.Times >= MaxTimes {
				return old, nil
			}
			s.Times++
		}
		told, s.Told = s.Told, nil
		if s.Times == 0 {
			return nil, nil
		}
		return json.Marshal(s)
	})
	if err != nil {
		return nil, fmt.Errorf("reading what the checks found: %w", err)
	}
	return told, nil
}

// tell is the text for the model.
func tell(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return mark + "new since your changes:\n" + strings.Join(lines, "\n")
}

func update(ctx context.Context, store policy.Store, key string, change func(*state)) error {
	err := store.Update(ctx, key, func(old []byte) ([]byte, error) {
		var s state
		if old != nil && json.Unmarshal(old, &s) != nil {
			s = state{} // of another version
		}
		change(&s)
		if len(s.Pending)+len(s.Running)+len(s.Known) == 0 {
			return nil, nil
		}
		return json.Marshal(s)
	})
	if err != nil {
		return fmt.Errorf("noting the state of a check: %w", err)
	}
	return nil
}

// Work runs a check for as long as changes wait for it, and notes what is new for the
// sessions that made them. Only one process may work on a place at a time; when Work
// returns nothing was waiting.
func Work(ctx context.Context, c Check, place Place, store policy.Store, run func(context.Context, policy.Command) (policy.Result, error)) error {
	for {
		var sessions []string
		before := map[string]bool{}
		err := update(ctx, store, place.key(), func(s *state) {
			// What is running was left by a worker that died; it is work again.
			for _, id := range s.Running {
				if !slices.Contains(s.Pending, id) {
					s.Pending = append(s.Pending, id)
				}
			}
			s.Running, s.Pending = s.Pending, nil
			sessions, before = s.Running, s.Known
		})
		if err != nil || len(sessions) == 0 {
			return err
		}
		r, err := run(ctx, policy.Command{Script: c.Command, Dir: place.Dir, Limit: c.Limit.Or(defaultLimit), MaxOutput: 4 << 20,
			Env: []string{"LIDGUARD_CHECK=" + c.ID}})
		var found []string
		known := map[string]bool{}
		if err != nil || r.Late {
			// It found nothing out: what was there still is, for all we know.
			maps.Copy(known, before)
		}
		switch {
		case err != nil:
			found = []string{fmt.Sprintf("%s: `%s` cannot be run: %v", c.ID, c.Command, err)}
		case r.Late:
			found = []string{fmt.Sprintf("%s: `%s` did not end within %v", c.ID, c.Command, c.Limit.Or(defaultLimit))}
		default:
			found = c.Findings(r)
		}
		if ctx.Err() != nil {
			return ctx.Err() // not ended but ended by us; the next worker does it again
		}
		var fresh []string
		for _, line := range found {
			id := Same(line)
			if !before[id] && !known[id] {
				fresh = append(fresh, line)
			}
			if len(known) < maxKnown {
				known[id] = true
			}
		}
		if more := len(fresh) - maxFindings; more > 0 {
			fresh = append(fresh[:maxFindings], fmt.Sprintf("%s: and %d more", c.ID, more))
		}
		for _, id := range sessions {
			if err := note(ctx, store, id, fresh); err != nil {
				return err
			}
		}
		// Last, so that whoever sees the check done sees what it found.
		if err := update(ctx, store, place.key(), func(s *state) { s.Known, s.Running = known, nil }); err != nil {
			return err
		}
	}
}

// note adds findings to what a session has to be told.
func note(ctx context.Context, store policy.Store, id string, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	return store.Update(ctx, "session "+id, func(old []byte) ([]byte, error) {
		var s session
		if old != nil && json.Unmarshal(old, &s) != nil {
			s = session{}
		}
		for _, line := range lines {
			if !slices.Contains(s.Told, line) && len(s.Told) < 4*maxFindings {
				s.Told = append(s.Told, line)
			}
		}
		return json.Marshal(s)
	})
}

// Findings are the lines of a result that are something to tell. A command that fails
// without any such line is one finding: the end of what it printed.
func (c *Check) Findings(r policy.Result) []string {
	if r.Code == 0 {
		return nil
	}
	text := strings.ToValidUTF8(string(r.Stdout)+"\n"+string(r.Stderr), "?")
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if c.Finding.IsZero() && finding(line) || c.Finding.Match(line) {
			found = append(found, c.ID+": "+cut(strings.TrimSpace(line)))
		}
	}
	if found == nil {
		text = strings.TrimSpace(text)
		if len(text) > maxLine {
			text = "… " + strings.ToValidUTF8(text[len(text)-maxLine:], "")
		}
		found = []string{fmt.Sprintf("%s: `%s` ends with %s: %s", c.ID, c.Command, r.Ended(), text)}
	}
	return found
}

// finding tells the lines that compilers, linters and test runners print for people:
// they name a place, or begin with a word of alarm.
func finding(line string) bool {
	trimmed := strings.ToLower(strings.TrimLeft(line, " \t-*>✗✘×"))
	for _, word := range [...]string{"fail:", "fail ", "fail\t", "failed ", "error:", "error[", "error ", "warning:", "not ok "} {
		if strings.HasPrefix(trimmed, word) {
			return true
		}
	}
	file, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
	if !ok || file == "" || strings.ContainsAny(file, " \t") || !strings.ContainsAny(file, "./\\") {
		return false
	}
	return rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

func cut(line string) string {
	if len(line) <= maxLine {
		return line
	}
	line = line[:maxLine]
	for !utf8.ValidString(line) {
		line = line[:len(line)-1]
	}
	return line + " …"
}

// Same is what stays of a finding when lines move and clocks go on: two lines with the
// same text but for their numbers are one finding.
func Same(line string) string {
	var b strings.Builder
	number := false
	for _, r := range line {
		if digit := r >= '0' && r <= '9'; digit || number && r == '.' {
			if !number {
				b.WriteByte('#')
			}
			number = true
			continue
		}
		number = false
		b.WriteRune(r)
	}
	return b.String()
}

// Waits reports whether changes wait for a check of the place.
func Waits(ctx context.Context, store policy.Store, place Place) (waits bool, err error) {
	err = update(ctx, store, place.key(), func(s *state) { waits = len(s.Pending) > 0 })
	return waits, err
}
