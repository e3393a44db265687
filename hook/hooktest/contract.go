package hooktest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/hook"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// loops is how often a turn is offered for ending before a body that always
// keeps it going counts as a loop. The clients' own caps are 8 (Claude Code,
// Copilot); Codex has none.
const loops = 20

// shown is how many faults of a part are told; one mistake often shows in
// hundreds of payloads.
const shown = 10

// Contract holds a hook to the promise of its role, on the payloads of all
// clients: as they were recorded, and empty, cut off, twisted and blown up. It
// fails the test when
//
//   - the body panics on a payload that can be read;
//   - an answer breaks a channel's or a client's rules (see Run), or the body
//     returns a verdict that cannot be said;
//   - a Gate lets a call pass whose payload it could not read, or whose body
//     panicked or gave no answer in time;
//   - a Helper says a word in one of these cases, or an Observer ever;
//   - a body keeps a turn going without end (hook.Continue never does; a body
//     that denies at Stop needs a bound of its own).
//
// The body is called some ten thousand times, never twice at once. opts are
// those of hook.Main.
func Contract(t *testing.T, body hook.Body, opts ...hook.Option) {
	t.Helper()
	for _, part := range []struct {
		name string
		run  func(*contract)
	}{{"recorded", (*contract).recorded}, {"hostile", (*contract).hostile}, {"failing body", (*contract).failing}, {"loop", (*contract).loop}} {
		t.Run(part.name, func(t *testing.T) {
			found := 0
			part.run(&contract{body: body, opts: opts, role: roleOf(opts), fault: func(format string, args ...any) {
				if found++; found <= shown {
					t.Errorf(format, args...)
				}
			}})
			if found > shown {
				t.Errorf("and %d more like these", found-shown)
			}
		})
	}
}

type contract struct {
	body hook.Body
	opts []hook.Option
	role hook.Role
	// sample, for this package's own tests, takes one payload of so many.
	sample int
	fault  func(format string, args ...any)
}

// roleOf finds the role by what the hook does.
func roleOf(opts []hook.Option) hook.Role {
	p := Claude.PreToolUse("Bash", "true")
	if o, _ := run(func(context.Context, hook.Event) hook.Verdict { panic("role?") }, p, opts); o.Effect == Refused {
		return hook.Gate
	}
	if o, _ := run(func(context.Context, hook.Event) hook.Verdict { return hook.Deny("role?") }, p, opts); o.Effect == Refused {
		return hook.Helper
	}
	return hook.Observer
}

// check runs one payload and holds it to what is true of the role.
func (c *contract) check(body hook.Body, p Payload, readable bool) Outcome {
	o, faults := run(body, p, c.opts)
	switch {
	case c.role == hook.Observer && !o.Silent():
		faults = append(faults, "an observer said something")
	case !readable && c.role == hook.Helper && !o.Silent():
		faults = append(faults, "a helper said something about a payload that it could not read")
	case !readable && c.role == hook.Gate && mustHold(p) && o.Effect != Refused:
		faults = append(faults, fmt.Sprintf("a gate let a call pass that it could not judge (%s)", o.Effect))
	case !readable && c.role == hook.Gate && endsTurn(p) && !o.Silent():
		faults = append(faults, "a gate kept the agent going by its own fault")
	}
	for _, fault := range faults {
		c.fault("%s: %s\npayload %.200q\nexit %d, stdout %q, stderr %q", p.Name, fault, p.body, o.Exit, o.Stdout, o.Stderr)
	}
	return o
}

// mustHold tells the events at which every client can be held by a hook that did
// not understand the payload. At PermissionRequest some clients ask the person
// then, which is as good.
func mustHold(p Payload) bool {
	switch p.Provider {
	case hook.OpenCode:
		return p.Native == "tool.execute.before"
	case hook.Copilot:
		return p.Native == "preToolUse" || p.Native == "PreToolUse"
	}
	return p.Native == "PreToolUse"
}

func endsTurn(p Payload) bool {
	switch p.Native {
	case "Stop", "SubagentStop", "agentStop", "subagentStop", "session.idle":
		return true
	}
	return false
}

func (c *contract) recorded() {
	for _, client := range Clients() {
		for _, p := range client.All() {
			if o := c.check(c.body, p, true); o.Failed != nil {
				c.fault("%s: the hook failed on a payload as the client sends it: %v", p.Name, o.Failed)
			}
		}
	}
}

func (c *contract) hostile() {
	for _, client := range Clients() {
		for i, p := range client.All() {
			if c.sample > 1 && i%c.sample != 0 {
				continue
			}
			for _, bad := range Hostile(p) {
				ev, err := hook.Decode(bad.Provider, bad.body, bad.Native, nil)
				o := c.check(c.body, bad, err == nil)
				if err == nil && o.Failed != nil {
					c.fault("%s: the hook failed on a payload that can be read (%s): %v\npayload %.300q", bad.Name, ev.Name, o.Failed, bad.body)
				}
			}
		}
	}
	for i, client := range Clients() {
		if c.sample > 1 && i != c.sample%len(Clients()) {
			continue
		}
		p := client.PreToolUse("Bash", "true")
		p.Name += ", larger than any hook reads"
		c.check(c.body, p.Raw(strings.Repeat(" ", hook.MaxPayload)+string(p.body)), false)
	}
}

func (c *contract) failing() {
	for _, client := range Clients() {
		for _, p := range []Payload{client.PreToolUse("Bash", "true"), client.Stop("done"), client.SessionStart("startup")} {
			for name, body := range map[string]hook.Body{
				"a panic":       func(context.Context, hook.Event) hook.Verdict { panic("boom") },
				"a bad verdict": func(context.Context, hook.Event) hook.Verdict { return hook.Verdict{Decision: "block"} },
				"a rewrite that is no JSON": func(context.Context, hook.Event) hook.Verdict {
					return hook.RewriteInput(json.RawMessage(`{"command":`))
				},
			} {
				p := p
				p.Name += " with " + name
				c.check(body, p, false)
			}
			late := *c
			late.opts = append(append([]hook.Option(nil), c.opts...), hook.Deadline(time.Millisecond))
			p := p
			p.Name += " with no answer in time"
			late.check(func(ctx context.Context, _ hook.Event) hook.Verdict { <-ctx.Done(); return hook.None() }, p, false)
		}
	}
}

func (c *contract) loop() {
	for _, client := range Clients() {
		for _, p := range []Payload{client.Stop("I am done."), client.SubagentStop("I am done.")} {
			if p.err != nil {
				continue // not every client tells it
			}
			went := 0
			for o := c.check(c.body, p, true); o.Effect == WorksOn && went < loops; o = c.check(c.body, p.Again(), true) {
				went++
			}
			if went == loops {
				c.fault("%s: the agent was kept going %d times in a row", p.Name, went)
			}
		}
	}
}

// Hostile returns broken and twisted relatives of a payload: empty, no JSON, cut
// at several places, another kind of value, a byte-order mark, broken UTF-8, text
// behind the end, a member twice, each member missing or of another kind, members
// nobody knows, deep nesting. Some of them can be read all the same.
func Hostile(p Payload) []Payload {
	var all []Payload
	add := func(what string, body []byte) {
		bad := p
		bad.Name, bad.body = p.Name+", "+what, body
		all = append(all, bad)
	}
	body := p.body
	add("empty", nil)
	add("blanks", []byte(" \n"))
	add("a banner", []byte("Welcome to zsh\n"+string(body)))
	add("null", []byte("null"))
	add("a list", []byte("["+string(body)+"]"))
	add("an empty object", []byte("{}"))
	for _, at := range []int{1, len(body) / 4, len(body) / 2, len(body) * 3 / 4, len(body) - 1} {
		add(fmt.Sprintf("cut at %d", at), body[:at])
	}
	add("with a byte-order mark", append([]byte("\ufeff"), body...))
	add("with text behind it", append(bytes.Clone(body), "}"...))
	add("with NUL in it", bytes.Replace(body, []byte(`"`), []byte("\"\x00"), 1))
	add("with broken UTF-8", bytes.ReplaceAll(body, []byte("e"), []byte("\xff")))
	add("deeply nested", []byte(strings.Repeat("[", 20_000)))

	var members [][2]string
	_ = jsontext.Object(body, func(key, value []byte) bool {
		members = append(members, [2]string{string(key), string(value)})
		return true
	})
	rebuild := func(change func(i int, value string) (string, bool)) []byte {
		var w jsontext.Writer
		for i, m := range members {
			if value, keep := change(i, m[1]); keep {
				w.Raw(m[0], []byte(value))
			}
		}
		w.Raw("a_member_nobody_knows", []byte(`{"deep":[{"er":[null,1e400,"\ud800"]}]}`))
		return w.Bytes()
	}
	add("with a member nobody knows", rebuild(func(_ int, value string) (string, bool) { return value, true }))
	for at, m := range members {
		add("without "+m[0], rebuild(func(i int, value string) (string, bool) { return value, i != at }))
		others := []string{`null`, `17`, `["text",{}]`}
		if jsontext.Kind([]byte(m[1])) != "string" {
			others[1] = `"text"`
		}
		for _, other := range others {
			add(m[0]+" as "+other, rebuild(func(i int, value string) (string, bool) {
				if i == at {
					return other, true
				}
				return value, true
			}))
		}
	}
	return all
}
