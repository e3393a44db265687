package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

func call(t *testing.T, p Provider, tool, input string) Event {
	t.Helper()
	var payload, native string
	switch p {
	case Claude:
		payload, native = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"`+tool+`","tool_input":`+input+`}`, "PreToolUse"
	case Codex:
		payload, native = `{"session_id":"s","turn_id":"1","hook_event_name":"PreToolUse","tool_name":"`+tool+`","tool_input":`+input+`}`, "PreToolUse"
	case Copilot:
		payload, native = `{"sessionId":"s","timestamp":1,"toolName":"`+tool+`","toolArgs":`+input+`}`, "preToolUse"
	case OpenCode:
		payload, native = `{"input":{"tool":"`+tool+`","sessionID":"s"},"output":{"args":`+input+`}}`, "tool.execute.before"
	}
	ev, err := Decode(p, []byte(payload), native, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestBash_readsEveryClientsShellTool(t *testing.T) {
	for _, c := range []struct {
		name, tool, input string
		p                 Provider
		want              Command
		ok                bool
	}{
		{"Claude Code", "Bash", `{"command":"ls","description":"list","run_in_background":true}`, Claude, Command{Text: "ls", Description: "list", Background: true}, true},
		{"Claude Code on Windows", "PowerShell", `{"command":"dir"}`, Claude, Command{Text: "dir", PowerShell: true}, true},
		{"Codex", "Bash", `{"command":"ls"}`, Codex, Command{Text: "ls"}, true},
		{"a list of words", "shell", `{"command":["bash","-lc","ls | wc"],"workdir":"/w"}`, Codex, Command{Text: "ls | wc", Dir: "/w"}, true},
		{"another list of words", "shell", `{"command":["rm","a b","it's"]}`, Codex, Command{Text: `rm 'a b' 'it'\''s'`}, true},
		{"Copilot", "bash", `{"command":"ls","mode":"async"}`, Copilot, Command{Text: "ls", Background: true}, true},
		{"OpenCode", "bash", `{"command":"ls"}`, OpenCode, Command{Text: "ls"}, true},
		{"a patch of Codex is no command", "apply_patch", `{"command":"*** Begin Patch"}`, Codex, Command{}, false},
		{"an MCP tool of that name", "mcp__lab__Bash", `{"command":"ls"}`, Claude, Command{}, false},
		{"a member that the client does not look at", "Bash", `{"input":"ls","cmd":"ls","command":"rm -rf /","input":"ls"}`, Claude, Command{Text: "rm -rf /"}, true},
		{"a member given twice, of which the last counts", "Bash", `{"command":"ls","command":"rm -rf /"}`, Claude, Command{Text: "rm -rf /"}, true},
		{"no command in it", "Bash", `{}`, Claude, Command{}, true},
	} {
		got, ok := call(t, c.p, c.tool, c.input).Bash()
		if ok != c.ok || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestEdit_readsEveryClientsFileTools(t *testing.T) {
	patch, err := json.Marshal("*** Begin Patch\n*** Add File: new.txt\n+hello\n+there\n*** Update File: a.go\n*** Move to: b.go\n@@\n-x\n+y\n *** not a header\n*** Delete File: .env\n*** End Patch\n")
	if err != nil {
		t.Fatal(err)
	}
	files := []FileChange{
		{Path: "new.txt", Change: Written, Added: "hello\nthere"},
		{Path: "a.go", Change: Moved, To: "b.go", Added: "y"},
		{Path: ".env", Change: Deleted},
	}
	for _, c := range []struct {
		name, tool, input string
		p                 Provider
		want              []FileChange
	}{
		{"Claude Code writes", "Write", `{"file_path":"/a","content":"x"}`, Claude, []FileChange{{Path: "/a", Change: Written, Added: "x"}}},
		{"Claude Code edits", "Edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`, Claude, []FileChange{{Path: "/a", Change: Edited, Added: "y"}}},
		{"many edits", "MultiEdit", `{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"},{"new_string":"z"}]}`, Claude, []FileChange{{Path: "/a", Change: Edited, Added: "y\nz"}}},
		{"a notebook", "NotebookEdit", `{"notebook_path":"/n","new_source":"z"}`, Claude, []FileChange{{Path: "/n", Change: Edited, Added: "z"}}},
		{"Codex patches", "apply_patch", `{"command":` + string(patch) + `}`, Codex, files},
		{"Copilot creates", "create", `{"path":"/a","file_text":"x"}`, Copilot, []FileChange{{Path: "/a", Change: Written, Added: "x"}}},
		{"Copilot edits", "edit", `{"path":"/a","old_str":"x","new_str":"y"}`, Copilot, []FileChange{{Path: "/a", Change: Edited, Added: "y"}}},
		{"Copilot asks with a diff", "edit", `{"file_path":"/a","diff":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n"}`, Copilot, []FileChange{{Path: "/a", Change: Edited, Added: "y"}}},
		{"OpenCode edits", "edit", `{"filePath":"/a","oldString":"x","newString":"y"}`, OpenCode, []FileChange{{Path: "/a", Change: Edited, Added: "y"}}},
		{"a patch beside one that does not count", "patch", `{"command":"+++ b/x","patchText":` + string(patch) + `}`, OpenCode, files},
		{"OpenCode patches", "patch", `{"patchText":` + string(patch) + `}`, OpenCode, files},
		{"a unified diff", "patch", `{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n"}`, OpenCode, []FileChange{{Path: "x", Change: Edited, Added: "y"}}},
	} {
		got, ok := call(t, c.p, c.tool, c.input).Edit()
		if diff := cmp.Diff(c.want, got.Files); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got)\n%s", c.name, ok, diff)
		}
	}
	if _, ok := call(t, Claude, "Bash", `{"command":"touch a"}`).Edit(); ok {
		t.Error("a command is taken for an edit")
	}
	if got := (Edit{Files: files}).Paths(); strings.Join(got, " ") != "new.txt a.go b.go .env" {
		t.Errorf("Paths: %q", got)
	}
}

func TestReadAndMCP(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		p           Provider
	}{
		{"Read", `{"file_path":"/a"}`, Claude}, {"view", `{"path":"/a"}`, Copilot}, {"read", `{"filePath":"/a"}`, OpenCode},
		// Only the client's own member counts, whatever a model adds.
		{"Read", `{"path":"/b","file_path":"/a","filePath":"/b"}`, Claude}, {"view", `{"file_path":"/b","path":"/a"}`, Copilot},
		{"read", `{"file_path":"/b","filePath":"/a"}`, OpenCode},
	} {
		if path, ok := call(t, c.p, c.tool, c.input).Read(); path != "/a" || !ok {
			t.Errorf("%s of %s: %q, %v", c.tool, c.p, path, ok)
		}
	}
	for _, p := range []Provider{Claude, Codex} {
		got, ok := call(t, p, "mcp__lab__echo__twice", `{"text":"hi"}`).MCP()
		if got.Server != "lab" || got.Tool != "echo__twice" || string(got.Input) != `{"text":"hi"}` || !ok {
			t.Errorf("%s: %+v, %v", p, got, ok)
		}
	}
	ev, err := Decode(Copilot, []byte(`{"hookName":"permissionRequest","sessionId":"s","toolName":"lab/echo","toolInput":{}}`), "", nil)
	if got, ok := ev.MCP(); err != nil || got.Server != "lab" || got.Tool != "echo" || !ok {
		t.Errorf("Copilot: %+v, %v, %v", got, ok, err)
	}
}

// What belongs to one event is there at that event and nowhere else, whatever
// the client; and nothing panics on an Event that nobody decoded.
func TestAccessors_areThereWhereTheyBelong(t *testing.T) {
	belongs := map[string][]Name{
		"Prompt":     {UserPromptSubmit, UserPromptExpansion, UserPromptTransformed},
		"Started":    {SessionStart},
		"Ended":      {SessionEnd},
		"Stopped":    {Stop, SubagentStop},
		"Note":       {Notification},
		"Compaction": {PreCompact, PostCompact},
		"Question":   {Elicitation, ElicitationResult},
		"Result":     {PostToolUse, PostToolUseFailure},
		"Path":       {ConfigChange, FileChanged, InstructionsLoaded, CwdChanged, DirectoryAdded, WorktreeCreate, WorktreeRemove},
		"Failure":    {PostToolUseFailure, StopFailure, ErrorOccurred, PostModelRequest},
		"BeforeCall": {PreToolUse, PermissionRequest, PreSkillShellCommand, PreMCPToolCall},
		"Tool":       {PreToolUse, PermissionRequest, PermissionDenied, PostToolUse, PostToolUseFailure, PreSkillShellCommand, PreMCPToolCall, QuestionAsked},
	}
	there := func(e Event) map[string]bool {
		ok := map[string]bool{}
		_, ok["Prompt"] = e.Prompt()
		_, ok["Started"] = e.Started()
		_, ok["Ended"] = e.Ended()
		_, ok["Stopped"] = e.Stopped()
		_, ok["Note"] = e.Note()
		_, ok["Compaction"] = e.Compaction()
		_, ok["Question"] = e.Question()
		_, ok["Result"] = e.Result()
		_, ok["Path"] = e.Path()
		_, ok["Failure"] = e.Failure()
		_, ok["Tool"] = e.Tool()
		ok["BeforeCall"] = e.BeforeCall()
		return ok
	}
	for what, ok := range there(Event{}) {
		if ok {
			t.Errorf("%s of no event", what)
		}
	}
	recorded(t, func(p Provider, name, native string, payload []byte) {
		ev, err := Decode(p, payload, native, nil)
		if err != nil {
			t.Fatal(err)
		}
		for what, ok := range there(ev) {
			want := false
			for _, n := range belongs[what] {
				want = want || n == ev.Name
			}
			// A model request that succeeded has no failure.
			if ok != want && !(what == "Failure" && ev.Name == PostModelRequest) {
				t.Errorf("%s/%s: %s is there: %v, want %v", p, name, what, ok, want)
			}
		}
	})
}

func TestStopped_tellsWhatIsInFlight(t *testing.T) {
	ev, err := Decode(Claude, []byte(`{"session_id":"s","hook_event_name":"SubagentStop","stop_hook_active":true,"last_assistant_message":"m","background_tasks":[{"id":"b1","type":"shell","status":"running","description":"d"}]}`), "", nil)
	got, ok := ev.Stopped()
	want := Stopped{Subagent: true, Again: true, LastMessage: "m", Background: []Task{{"b1", "shell", "d"}}}
	if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
		t.Errorf("%v, %v\n%s", ok, err, diff)
	}
}

func TestResult_textIsWhatTheModelReads(t *testing.T) {
	for _, c := range []struct{ name, response, want string }{
		{"a text", `"out\n"`, "out\n"},
		{"a shell's streams", `{"stdout":"a","stderr":"b","interrupted":false}`, "a\nb"},
		{"a file", `{"type":"text","file":{"filePath":"/a","content":"one"}}`, "one"},
		{"an MCP tool", `{"content":[{"type":"text","text":"hey"},{"type":"image"}]}`, "hey"},
		{"Copilot", `{"resultType":"success","textResultForLlm":"hi"}`, "hi"},
		{"OpenCode", `{"title":"t","output":"wrote","metadata":{}}`, "wrote"},
		{"what nobody knows", `{"x":"y"}`, ""},
	} {
		if got := resultText([]byte(c.response)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMapStrings_changesTextsAndNothingElse(t *testing.T) {
	raw := json.RawMessage(`{ "secret" : "a secret", "n":1.50,"list":["secret",{"secret":"\u0073ecret \"q\""}] , "t":true}`)
	got, changed := Result{Raw: raw}.MapStrings(func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
	want := `{ "secret" : "a ***", "n":1.50,"list":["***",{"secret":"*** \"q\""}] , "t":true}`
	if string(got) != want || !changed {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, changed := (Result{Raw: raw}).MapStrings(strings.Clone); string(got) != string(raw) || changed {
		t.Errorf("nothing to change: %s, %v", got, changed)
	}
	if _, changed := (Result{Raw: json.RawMessage(`{"a":`)}).MapStrings(func(string) string { return "x" }); changed {
		t.Error("broken JSON was rewritten")
	}
}

func jsonValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.String().Draw(t, "text")
		case 1:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(jsonValue(depth-1), 0, 4).Draw(t, "list")
		default:
			return rapid.MapOfN(rapid.String(), jsonValue(depth-1), 0, 4).Draw(t, "object")
		}
	})
}

func TestMapStrings_keepsTheShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.MarshalIndent(jsonValue(3).Draw(t, "value"), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		to := rapid.String().Draw(t, "to")
		got, _ := Result{Raw: raw}.MapStrings(func(string) string { return to })
		if !json.Valid(got) || !jsontext.SameShape(raw, got) {
			t.Fatalf("%s became %s", raw, got)
		}
		again, changed := Result{Raw: got}.MapStrings(func(string) string { return to })
		if changed && string(again) != string(got) {
			t.Fatalf("a second time: %s became %s", got, again)
		}
	})
}

func FuzzMapStrings(f *testing.F) {
	f.Add(`{"a":"b"}`, "c")
	f.Add(`"\ud800"`, "\"")
	f.Fuzz(func(t *testing.T, raw, to string) {
		got, changed := Result{Raw: json.RawMessage(raw)}.MapStrings(func(string) string { return to })
		if valid := jsontext.Valid([]byte(raw)); changed && (!valid || !jsontext.SameShape([]byte(raw), got)) || !changed && string(got) != raw {
			t.Fatalf("%q became %q (%v)", raw, got, changed)
		}
	})
}

func FuzzPatched(f *testing.F) {
	f.Add("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch")
	f.Add("+++ b/x\t2026\n+y")
	f.Fuzz(func(t *testing.T, patch string) {
		files := patched(patch)
		for _, header := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			for line := range strings.Lines(patch) {
				path, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), header)
				if path = strings.TrimSpace(path); !ok || path == "" {
					continue
				}
				found := false
				for _, file := range files {
					found = found || file.Path == path
				}
				if !found {
					t.Fatalf("%q names %q, which is in none of %+v", patch, path, files)
				}
			}
		}
	})
}
