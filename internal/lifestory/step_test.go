package lifestory

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// kind is what a step does.
type kind string

const (
	doHook   kind = "hook"
	doLines  kind = "lines"
	doExit   kind = "exit"
	doBusy   kind = "busy"
	doLid    kind = "lid"
	doWait   kind = "wait"
	doCrash  kind = "runtime crashes"
	doSet    kind = "set"
	doExpect kind = "expect"
)

// step is one thing that happens, or that must be true by then.
type step struct {
	kind    kind
	session string // "s1" unless said otherwise
	client  int    // which process; 0 unless said otherwise

	file     string // hook: a payload of the fixtures; lines: a transcript; set: a setting
	edits    []any  // hook: member, value, member, value; a nil value takes it out
	half     bool   // hook: killed while the payload was written
	says     []string
	text     string // lines: one line as written here, where none was recorded
	from, to int    // lines, or one record of an OpenCode run: both ends included

	lid  awake.Lid
	wait time.Duration
	want want
}

type want struct {
	doing  string // session.Doing, or endedWord
	holds  bool
	reason string
}

const endedWord = "ended"

func (s step) String() string {
	out := string(s.kind)
	if s.file != "" {
		out += " " + s.file
	}
	if s.kind == doLines && s.text == "" {
		out += fmt.Sprintf(" %d-%d", s.from, s.to)
	}
	if s.kind == doExpect {
		out += " " + s.want.doing + " " + s.want.reason
	}
	if s.session != "s1" {
		out += " of " + s.session
	}
	return out
}

// hook is a hook call with the recorded payload of that name, members changed.
func hook(file string, edits ...any) step {
	return step{kind: doHook, session: "s1", file: file, edits: edits}
}

// answers makes an answer of the hook expected, and what it must contain; every
// other hook must say nothing.
func (s step) answers(parts ...string) step { s.says = parts; return s }

// of makes the step about another session, by another client's process.
func (s step) of(id string) step  { s.session = id; return s }
func (s step) by(client int) step { s.client = client; return s }

// lines appends recorded lines of a transcript, counted from 0.
func lines(file string, from, to int) step {
	return step{kind: doLines, session: "s1", file: file, from: from, to: to}
}

// line appends one line that no recording has, in the contract's words.
func line(text string) step { return step{kind: doLines, session: "s1", text: text} }

// plugin is one record of a recorded OpenCode run, as the plugin tells it.
func plugin(run string, record int) step {
	return step{kind: doHook, session: "s1", file: run, from: record, to: record}
}

func half(file string) step     { s := hook(file); s.half = true; return s }
func exits(client int) step     { return step{kind: doExit, session: "s1", client: client} }
func busy() step                { return step{kind: doBusy, session: "s1"} }
func lidCloses() step           { return step{kind: doLid, session: "s1", lid: awake.LidClosed} }
func lidOpens() step            { return step{kind: doLid, session: "s1", lid: awake.LidOpen} }
func wait(d time.Duration) step { return step{kind: doWait, session: "s1", wait: d} }
func runtimeCrashes() step      { return step{kind: doCrash, session: "s1"} }
func setting(name, value string) step {
	return step{kind: doSet, session: "s1", file: name, want: want{reason: value}}
}

func expect(doing string, holds bool, reason string) step {
	return step{kind: doExpect, session: "s1", want: want{doing, holds, reason}}
}

// What must be true. A session that works, has a tool in flight or waits for its
// background work holds the machine; all others do not.
func works() step              { return expect("working", true, "") }
func inTool() step             { return expect("tool", true, "") }
func background() step         { return expect("background", true, "") }
func settling() step           { return expect("settling", true, "") }
func waits(reason string) step { return expect("waiting", false, reason) }
func idle() step               { return expect("idle", false, "") }

// ends is the end of the work, two seconds after it was said.
func ends(kind session.EndKind, reason string) step {
	return expect(endedWord, false, "ended "+string(kind)+": "+reason)
}

// carried is a session whose work went on under another id.
func carried(to string) step {
	return expect(endedWord, false, "carried over to "+to)
}

// fixture is a file of the payloads recorded from a client.
func fixture(p event.Provider, name string) string {
	return filepath.Join("..", "provider", string(p), "testdata", "fixtures", name)
}

// payload returns what the hook of this step reads from its stdin, and the event's
// name on its command line where the client puts it there.
func (s step) payload(p event.Provider) (data []byte, native string, err error) {
	if p == event.OpenCode && strings.HasPrefix(s.file, "events-") {
		data, native, err = record(fixture(p, s.file+".jsonl"), s.from)
	} else {
		data, err = os.ReadFile(fixture(p, s.file+".json"))
	}
	if err != nil {
		return nil, "", err
	}
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, "", err
	}
	text := func(path ...string) string {
		var v any = members
		for _, m := range path {
			object, _ := v.(map[string]any)
			v = object[m]
		}
		s, _ := v.(string)
		return s
	}

	// The recorded ids become the story's. Bytes stay what they were otherwise.
	replace := map[string]string{}
	switch p {
	case event.Claude, event.Codex:
		replace[text("session_id")] = s.session
	case event.Copilot:
		native, _, _ = strings.Cut(s.file, ".")
		root, agent := text("sessionId"), text("agentId")
		if root == agent { // the subagent speaks, under its own id
			root = text("parentAgentId")
		}
		if agent == "" {
			agent = "00000000-0000-4000-8000-000000000002"
		}
		replace[root], replace[agent] = s.session, copilotAgent
	case event.OpenCode:
		id := text("properties", "sessionID") + text("input", "sessionID")
		switch {
		case native == "": // a single payload: of the root, or the birth of a subagent
			native = text("type")
			if hook, ok := strings.CutPrefix(s.file, "hook-"); ok {
				native = hook
				for _, variant := range []string{".question", ".task"} {
					native = strings.TrimSuffix(native, variant)
				}
			}
			replace[id] = s.session
		case id == "ses_00000000000000000000000012": // the subagent of a recorded run
			replace[id], replace["ses_00000000000000000000000002"] = "sub1", s.session
			s.edits = append(s.edits, "root", s.session)
		default:
			replace["ses_00000000000000000000000012"], replace[id] = "sub1", s.session
		}
	}
	out := string(data)
	for from, to := range replace {
		if from != "" {
			out = strings.ReplaceAll(out, from, "\x00"+to+"\x00")
		}
	}
	data = []byte(strings.ReplaceAll(out, "\x00", ""))
	if len(s.edits) == 0 {
		return data, native, nil
	}
	members = nil
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, "", err
	}
	for i := 0; i < len(s.edits); i += 2 {
		edit(members, strings.Split(s.edits[i].(string), "."), s.edits[i+1])
	}
	data, err = json.Marshal(members)
	return data, native, err
}

// copilotAgent is the subagent's id in the recorded transcripts.
const copilotAgent = "00000000-0000-4000-8000-000000000025"

func edit(object map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	name := path[len(path)-1]
	if value == nil {
		delete(object, name)
		return
	}
	object[name] = value
}

// record makes one record of a run what the plugin writes to the hook.
func record(file string, n int) (data []byte, native string, err error) {
	all, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	recorded := strings.Split(strings.TrimSpace(string(all)), "\n")
	if n >= len(recorded) {
		return nil, "", fmt.Errorf("%s has %d records", file, len(recorded))
	}
	var r struct {
		Event, Hook, ID           string
		Properties, Input, Output json.RawMessage
	}
	if err := json.Unmarshal([]byte(recorded[n]), &r); err != nil {
		return nil, "", err
	}
	if r.Hook != "" {
		data, err = json.Marshal(map[string]any{"input": r.Input, "output": r.Output})
		return data, r.Hook, err
	}
	data, err = json.Marshal(map[string]any{"id": r.ID, "type": r.Event, "properties": r.Properties})
	return data, r.Event, err
}
