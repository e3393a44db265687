package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
)

// Roles of a hook: what its own failure means.
const (
	RoleGate     = "gate"     // refuses
	RoleObserver = "observer" // says nothing
)

// Protocol are the cases that every hook meets, whatever it is for: payloads that
// are broken, cut off, empty, never ending, or of a client of next year; and, for
// lidguard's own chain, a call that it must refuse in many disguises.
func Protocol(role string, own bool) Suite {
	s := Suite{Name: "protocol", path: systemPath}
	if own {
		s.Rules = []byte("[gate]\n")
	}
	s.build = func(stage *Stage, providers []event.Provider) ([]Trial, error) {
		var out []Trial
		for _, p := range providers {
			for _, e := range census.Events(p) {
				if e.Name == "" { // nothing of ours listens there
					continue
				}
				if _, err := Fixture(p, e.Native, "/"); err != nil {
					continue
				}
				b := protocol{stage: stage, row: e, own: own, gate: role == RoleGate}
				if err := b.all(); err != nil {
					return nil, err
				}
				out = append(out, b.trials...)
			}
		}
		return out, nil
	}
	return s
}

// protocol builds the cases of one event.
type protocol struct {
	stage     *Stage
	row       census.Event
	own, gate bool
	trials    []Trial
}

// disguises of a call that a gate refuses, each with a twin that looks like it.
var disguises = [...][2]string{
	{`rm -rf /`, `echo rm -rf /`},
	{`r""m -r"f" /`, `printf '%s\n' 'rm -rf /'`},
	{`FOO=1 rm -rf /`, `FOO=1 ls /`},
	{`eval "rm -rf /"`, `git commit -m "rm -rf /"`},
	{`$(echo rm) -rf /`, `echo "$(echo rm)"`},
	{`bash -c "sh -c 'rm -rf /'"`, `bash -c "echo 'rm -rf /'"`},
	{`echo cm0gLXJmIC8K | base64 -d | sh`, `echo cm0gLXJmIC8K | base64 -d`},
	{`sudo -n env -i /bin/rm --recursive --force /`, `which rm`},
	{"true\nrm -rf /", "true # rm -rf /"},
	{`printf / | xargs rm -rf`, `printf / | xargs ls`},
	{`find / -delete`, `find . -name '*.tmp' -print`},
	{"cat <<EOF | sh\nrm -rf /\nEOF", "cat > notes.md <<'EOF'\nrm -rf /\nEOF"},
}

func (b *protocol) all() error {
	e := &b.row
	base, err := b.payload(Make{})
	if err != nil {
		return err
	}
	pass := []string{"none"}
	if !b.own {
		pass = []string{"none", "allow", "context", "rewrite"}
	}
	b.add("what the client sends", "allow", false, base, pass...)
	if err := b.overlay(base); err != nil {
		return err
	}
	if e.Name == event.Stop || e.Name == event.SubagentStop {
		// A hook that goes on blocking keeps the agent running for ever.
		active, err := b.payload(Make{Active: true, Last: "Not done: 3 tests fail."})
		if err != nil {
			return err
		}
		b.add("the turn was kept going before", "loop", true, active, "none", "ends")
	}
	if !e.Asks() {
		// What could be stopped may be stopped; a turn that ends must end.
		want := []string{"none"}
		if e.Blocks.Effect == census.Stops || e.Blocks.Effect == census.NotTaken {
			want = append(want, "deny")
		}
		b.cut(base, false, want...)
		return nil
	}
	danger := base
	refused := "deny"
	if b.own {
		for _, d := range disguises {
			for i, command := range d {
				payload, err := b.payload(Make{Command: command})
				if err != nil {
					return err
				}
				if i == 0 {
					b.add(label(command), "obfuscated", true, payload, refused)
				} else {
					b.add(label(command), "allow", false, payload, "none")
				}
			}
		}
		if danger, err = b.payload(Make{Command: "rm -rf /"}); err != nil {
			return err
		}
		escaped := strings.Replace(string(danger), "rm -rf /", `\u0072m\u0020-rf \/`, 1)
		b.add("letters written as escapes", "obfuscated", true, []byte(escaped), refused)
	}
	broken := b.failed()
	b.cut(danger, true, broken)
	for _, bad := range [...][2]string{
		{"no JSON", "rm -rf /"}, {"an array", "[1,2,3]"}, {"a text", `"rm -rf /"`}, {"null", "null"}, {"an empty object", "{}"},
		{"zero bytes", "\x00\x00\x00\x00"}, {"two objects", string(danger) + string(danger)}, {"text behind it", string(danger) + " rm"},
		{"nested a hundred thousand deep", strings.Repeat("[", 100_000)},
		{"a single quote", strings.ReplaceAll(string(danger), `"`, "'")},
	} {
		b.add(bad[0], "malformed", true, []byte(bad[1]), broken)
	}
	if b.own && e.Name == event.PreToolUse {
		huge := append(danger[:len(danger)-1:len(danger)-1], `,"padding":"`...)
		huge = append(append(huge, strings.Repeat("x", entry.MaxPayload)...), `"}`...)
		b.add("longer than may be read", "truncated", true, huge, broken)
	}
	b.add("stdin stays open and nothing comes", "timeout", true, nil, broken)
	b.trials[len(b.trials)-1].Case.Open = true
	if b.own {
		b.add("stdin stays open after half of it", "timeout", true, danger[:len(danger)/2], broken)
		b.trials[len(b.trials)-1].Case.Open = true
	}
	return nil
}

// failed is what must come of a payload that cannot be read. A gate refuses where
// the client lets it.
func (b *protocol) failed() string {
	e := &b.row
	switch {
	case !b.gate:
		return "none"
	case e.Provider == event.OpenCode && e.Name == event.PreToolUse, e.Blocks.Exit2:
		return "deny"
	}
	return "none" // the person's own prompt is open: contracts/claude §3, contracts/opencode §4
}

// cut adds payloads that end too early. Where no call is at stake only those count
// that still name their event, since a hook cannot know better.
func (b *protocol) cut(payload []byte, call bool, want ...string) {
	b.empty(call, want)
	for _, part := range []int{25, 50, 75, 90, 99} {
		short := payload[:len(payload)*part/100]
		named := b.row.Provider == event.Copilot || b.row.Provider == event.OpenCode || strings.Contains(string(short), `"hook_event_name":"`+b.row.Native+`"`)
		if call || named {
			b.add(fmt.Sprintf("the first %d %% of it", part), "truncated", call, short, want...)
		}
	}
}

func (b *protocol) empty(call bool, want []string) {
	if call || b.row.Provider == event.Copilot || b.row.Provider == event.OpenCode {
		b.add("nothing at all", "empty", call, nil, want...)
		b.add("blanks", "empty", call, []byte(" \n"), want...)
	}
}

// overlay adds what clients may send one day, or another client sends today.
func (b *protocol) overlay(base []byte) error {
	extra := map[string]json.RawMessage{
		"turn_id": json.RawMessage(`"00000000-0000-7000-8000-00000000000f"`), "from_the_future": json.RawMessage(`{"a":[1,{"b":null}],"c":"\u2028"}`),
		"scratchpad_dir": json.RawMessage(`"/tmp/x"`), "traceparent": json.RawMessage(`"00-0-0-00"`),
	}
	with, err := b.payload(Make{Extra: extra})
	if err != nil {
		return err
	}
	b.add("fields that nobody knows", "overlay", false, with)
	b.trials[len(b.trials)-1].Like = base
	if b.own && b.row.Asks() {
		danger, err := b.payload(Make{Command: "rm -rf /", Extra: extra})
		if err != nil {
			return err
		}
		b.add("a refused call with fields that nobody knows", "overlay", true, danger, "deny")
	}
	return nil
}

func (b *protocol) payload(m Make) ([]byte, error) {
	m.Session = sessionOf("protocol", b.row.Native, string(b.row.Provider), fmt.Sprint(len(b.trials)))
	return m.Payload(b.row.Provider, b.row.Native, b.stage.Project)
}

func (b *protocol) add(name, kind string, danger bool, payload []byte, want ...string) {
	b.trials = append(b.trials, Trial{Rule: string(b.row.Name), Name: name, Kind: kind, Danger: danger, Want: slices.Clone(want), Quiet: !b.own && !b.gate,
		Case: Case{Provider: b.row.Provider, Event: b.row.Native, Payload: payload}})
}
