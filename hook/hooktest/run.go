package hooktest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/hook"
)

// Outcome is what a run gave, from three sides: the process, the client, the
// author.
type Outcome struct {
	Exit           int
	Stdout, Stderr string

	// Effect is what the agent does, Told the reason that is read for it.
	Effect Effect
	Told   string
	// Verdict is the answer as the client understands it.
	Verdict hook.Verdict

	// Said is what the body returned; it is zero when the body did not run.
	Said hook.Verdict
	// Lost names the parts of Said that this client has no words for at this
	// event: a context at Codex's Stop, an ask that became a refusal.
	Lost []string
	// Failed is what a role made silent or turned into a refusal: a payload
	// that cannot be read, a panic, a missed deadline.
	Failed error

	ran bool // the body returned
}

// Blocked reports whether the hook stopped what was about to happen, or the
// result from being read.
func (o Outcome) Blocked() bool { return o.Effect == Refused || o.Effect == Replaced }

// Silent reports whether nothing at all went out.
func (o Outcome) Silent() bool { return o.Exit == 0 && o.Stdout == "" && o.Stderr == "" }

// patience is the deadline of a body in a test, unless an option says otherwise:
// tests are about what is said, on machines that may be busy. The deadline of
// production is part of Contract.
const patience = 20 * time.Second

// Run runs a hook on a payload as its client would, in this process, and holds
// the answer to what is true of every answer to every client: JSON alone with
// exit 0, a reason on standard error alone with exit 2, no control characters,
// and no member that the client does not know. opts are those of hook.Main.
func Run(t testing.TB, body hook.Body, p Payload, opts ...hook.Option) Outcome {
	t.Helper()
	p.check(t)
	o, faults := run(body, p, opts)
	if o.ran && o.Failed == nil {
		o.Lost = lost(o, p, opts)
	}
	for _, fault := range faults {
		t.Errorf("%s: %s\nexit %d, stdout %q, stderr %q", p.Name, fault, o.Exit, o.Stdout, o.Stderr)
	}
	return o
}

// run is Run without Lost, and with what is wrong as a list.
func run(body hook.Body, p Payload, opts []hook.Option) (Outcome, []string) {
	var o Outcome
	var said atomic.Pointer[hook.Verdict]
	watched := func(ctx context.Context, ev hook.Event) hook.Verdict {
		v := body(ctx, ev)
		said.Store(&v)
		return v
	}
	o.Exit, o.Stdout, o.Stderr = process(watched, p, append(slices.Clone(opts), hook.OnError(func(err error) { o.Failed = err })))
	if v := said.Load(); v != nil {
		o.Said, o.ran = *v, true
	}
	faults := channels(o)
	var name hook.Name
	if ev, err := hook.Decode(p.Provider, p.body, p.Native, nil); err == nil {
		name = ev.Name
	} else if ev.Name != "" {
		name = ev.Name
	}
	s, err := understand(p, name, o.Exit, o.Stdout, o.Stderr)
	if err != nil {
		faults = append(faults, "the client would throw the answer away: "+err.Error())
	}
	o.Effect, o.Told, o.Verdict = s.effect, s.told, s.verdict
	return o, faults
}

// process is one run of the program.
func process(body hook.Body, p Payload, opts []hook.Option) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	args := []string{"--provider", string(p.Provider)}
	if p.Native != "" {
		args = append(args, "--event", p.Native)
	}
	code = hook.Run(body, args, func(string) string { return "" }, bytes.NewReader(p.body), &out, &err,
		append([]hook.Option{hook.Named("the hook"), hook.Deadline(patience)}, opts...)...)
	return code, out.String(), err.String()
}

// channels holds what is true of every answer to every client.
func channels(o Outcome) (faults []string) {
	switch {
	case o.Exit != 0 && o.Exit != 2:
		faults = append(faults, fmt.Sprintf("exit %d", o.Exit))
	case o.Exit == 2 && (o.Stdout != "" || strings.TrimSpace(o.Stderr) == ""):
		faults = append(faults, "exit 2 wants a reason on standard error and nothing on standard output")
	case o.Exit == 0 && o.Stderr != "":
		faults = append(faults, "exit 0 with text on standard error")
	case o.Stdout != "" && (!json.Valid([]byte(o.Stdout)) || o.Stdout[0] != '{' || strings.Contains(o.Stdout, "\n")):
		faults = append(faults, "standard output is no JSON object on one line")
	}
	if both := o.Stdout + o.Stderr; !utf8.ValidString(both) || strings.ContainsAny(both, "\x00\x07\x1b\r") {
		faults = append(faults, "control characters, or no UTF-8")
	}
	return faults
}

// lost tries the verdict without each of its parts: what makes no difference the
// client was not told.
func lost(o Outcome, p Payload, opts []hook.Option) []string {
	whole := o.Said
	var names []string
	for _, part := range []struct {
		name string
		cut  func(*hook.Verdict) bool // false: the part is not there
	}{
		{"contexts", func(v *hook.Verdict) bool { had := len(v.Contexts) > 0; v.Contexts = nil; return had }},
		{"updated_input", func(v *hook.Verdict) bool {
			had := v.UpdatedInput != nil && v.Decision != hook.Denied // a refused call has no input
			v.UpdatedInput = nil
			return had
		}},
		{"updated_output", func(v *hook.Verdict) bool { had := v.UpdatedOutput != nil; v.UpdatedOutput = nil; return had }},
		{"system_message", func(v *hook.Verdict) bool { had := v.SystemMessage != ""; v.SystemMessage = ""; return had }},
		{"stop_turn", func(v *hook.Verdict) bool { had := v.StopTurn; v.StopTurn, v.StopReason = false, ""; return had }},
		{"interrupt", func(v *hook.Verdict) bool { had := v.Interrupt; v.Interrupt = false; return had }},
		{"permissions", func(v *hook.Verdict) bool { had := v.Permissions != nil; v.Permissions = nil; return had }},
		{"action", func(v *hook.Verdict) bool { had := v.Action != ""; v.Action, v.Content = "", nil; return had }},
		{"session_title", func(v *hook.Verdict) bool { had := v.SessionTitle != ""; v.SessionTitle = ""; return had }},
		{"watch_paths", func(v *hook.Verdict) bool { had := len(v.WatchPaths) > 0; v.WatchPaths = nil; return had }},
		{"terminal_sequence", func(v *hook.Verdict) bool { had := v.TerminalSequence != ""; v.TerminalSequence = ""; return had }},
		{"decision", func(v *hook.Verdict) bool {
			had := v.Decision != hook.Undecided
			v.Decision, v.Reason, v.Rule = hook.Undecided, "", ""
			return had
		}},
	} {
		less := whole
		if !part.cut(&less) {
			continue
		}
		code, stdout, stderr := process(func(context.Context, hook.Event) hook.Verdict { return less }, p, opts)
		if code == o.Exit && stdout == o.Stdout && stderr == o.Stderr {
			names = append(names, part.name)
		}
	}
	if whole.Decision == hook.Asked && o.Effect == Refused {
		names = append(names, "ask (refused instead)")
	}
	return names
}

// Case is a payload and what it must lead to.
type Case struct {
	Name    string
	Payload Payload
	Want    Effect
	// Says, where not empty, must be part of what is told.
	Says string
}

// Cases runs a table, each case as a test of its own. A table that expects one
// and the same effect throughout proves nothing and fails: a case that is
// blocked wants a harmless twin beside it.
func Cases(t *testing.T, body hook.Body, cases []Case, opts ...hook.Option) {
	t.Helper()
	effects := map[Effect]bool{}
	for _, c := range cases {
		effects[c.Want] = true
		t.Run(c.Name, func(t *testing.T) {
			o := Run(t, body, c.Payload, opts...)
			if o.Effect != c.Want {
				t.Errorf("%s: the agent %s, want %q\nexit %d, stdout %q, stderr %q, failed: %v", c.Payload.Name, told(o.Effect), c.Want, o.Exit, o.Stdout, o.Stderr, o.Failed)
			}
			if !strings.Contains(o.Told, c.Says) {
				t.Errorf("%s: told is %q, want %q in it", c.Payload.Name, o.Told, c.Says)
			}
		})
	}
	if len(effects) < 2 {
		t.Errorf("all %d cases want the same: add the twin that must behave otherwise", len(cases))
	}
}

func told(e Effect) string { return fmt.Sprintf("is told %q", string(e)) }
