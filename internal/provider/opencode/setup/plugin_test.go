package setup_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
	"github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestMain makes the test binary the hook program that the plugin calls.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "opencode-hook" {
		os.Exit(playHook(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// playHook reads one event with the real codec, notes what it understood in the
// file HOOK_LOG (and the payload in HOOK_RAW), and answers the verdict that
// HOOK_VERDICTS has for the event, again with the real codec.
func playHook(args []string) int {
	if len(args) != 2 || args[0] != "--event" {
		return 64
	}
	payload, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 65
	}
	ev, err := opencode.Decode(payload, func(string) string { return "" }, args[1])
	line := fmt.Sprintf("%s: %s", args[1], ev.Name)
	if err != nil {
		line += " ERROR " + err.Error()
	}
	if ev.ClientPID != os.Getppid() {
		line += fmt.Sprintf(" PID %d", ev.ClientPID)
	}
	var verdicts map[string]string
	if err := json.Unmarshal([]byte(os.Getenv("HOOK_VERDICTS")), &verdicts); err != nil {
		return 66
	}
	how := verdicts[args[1]]
	v := map[string]event.Verdict{
		"allow":     {Decision: event.Allow},
		"deny":      {Decision: event.Deny, Reason: "not now"},
		"interrupt": {Decision: event.Deny, Reason: "not now", Interrupt: true},
		"context":   {Contexts: []string{"remember"}},
		"rewrite":   {UpdatedInput: json.RawMessage(`{"command":"true"}`), UpdatedOutput: json.RawMessage(`{"title":"t","output":"***"}`)},
		"stop":      {Decision: event.Deny, Reason: "not now", StopTurn: true},
	}[how]
	for _, s := range opencode.Signals(&ev, v) {
		line += fmt.Sprintf(" | %s %s", s.Kind, s.Session)
		if s.AgentID != "" {
			line += " agent " + s.AgentID
		}
		if s.Reason != "" {
			line += " (" + s.Reason + ")"
		}
	}
	if ev.StopActive {
		line += " continued"
	}
	appendTo(os.Getenv("HOOK_LOG"), line)
	appendTo(os.Getenv("HOOK_RAW"), string(payload))
	switch how {
	case "hang":
		// Killed by the plugin; ends by itself if that does not happen.
		time.Sleep(2 * time.Minute)
	case "crash":
		return 1
	case "garbage":
		fmt.Print(`{"v":2,"do":"refuse","text":"x"} and more`)
		return 0
	case "future":
		fmt.Print(`{"v":2,"do":"refuse","text":"x"}`)
		return 0
	case "exit2":
		fmt.Fprint(os.Stderr, "not now\n")
		return 2
	}
	out, err := opencode.Encode(&ev, v)
	if err != nil {
		appendTo(os.Getenv("HOOK_LOG"), "ENCODE "+err.Error())
	}
	os.Stdout.Write(out.Stdout)
	os.Stderr.Write(out.Stderr)
	return out.Code
}

func appendTo(path, line string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, line)
	if err := f.Close(); err != nil {
		panic(err)
	}
}

// play is one run of the plugin in Node.
type play struct {
	verdicts map[string]string // event: how the hook answers
	post     string            // how the client's server answers
	program  string            // "": this test binary
	edit     func(string) string
	script   []string
}

type played struct {
	Exported, Hooks []string
	Calls           [][]any
	Thrown, Outputs [][]any
	Printed, Loose  []string
	log, raw        string
	took            time.Duration
}

// patient gives the plugin more time than a person would, since here each event
// starts a test binary, perhaps with the race detector on a loaded machine.
func patient(text string) string {
	return strings.NewReplacer("REPORT_MS = 5000", "REPORT_MS = 120000", "ANSWER_MS = 30000", "ANSWER_MS = 120000",
		"DISPOSE_MS = 2000", "DISPOSE_MS = 120000").Replace(text)
}

func (p play) run(t *testing.T) played {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("this test runs the plugin in Node.js, which is not on PATH; install node 18 or newer: %v", err)
	}
	dir := t.TempDir()
	if p.program == "" {
		if p.program, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	program, err := install.FindProgram("linux", func(string) string { return "" }, p.program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := setup.New("", func(string) string { return "" }, dir, "").Snippet(program)
	if err != nil {
		t.Fatal(err)
	}
	if p.edit == nil {
		p.edit = patient
	}
	text = []byte(p.edit(string(text)))
	plugin := filepath.Join(dir, "lidguard.mjs") // Bun takes .js for a module, Node asks for .mjs
	if err := os.WriteFile(plugin, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if p.verdicts == nil {
		p.verdicts = map[string]string{}
	}
	verdicts, err := json.Marshal(p.verdicts)
	if err != nil {
		t.Fatal(err)
	}
	var out played
	logFile, rawFile := filepath.Join(dir, "log"), filepath.Join(dir, "raw")
	cmd := exec.Command(node, filepath.Join("testdata", "client.mjs"), plugin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "HOOK_LOG=" + logFile, "HOOK_RAW=" + rawFile, "HOOK_VERDICTS=" + string(verdicts), "CLIENT_POST=" + p.post}
	if p.post == "" {
		cmd.Env[len(cmd.Env)-1] = "CLIENT_POST=ok"
	}
	cmd.Stdin = strings.NewReader(strings.Join(p.script, "\n"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	out.took = time.Since(began)
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v in %q", err, stdout.String())
	}
	out.log, out.raw = readIf(t, logFile), readIf(t, rawFile)
	if len(out.Printed) > 0 || len(out.Loose) > 0 || stderr.Len() > 0 {
		t.Errorf("the plugin printed %q, left %q unhandled; stderr %q", out.Printed, out.Loose, stderr.String())
	}
	return out
}

func readIf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func (p played) text() string {
	var b strings.Builder
	b.WriteString(p.log)
	for _, list := range []struct {
		name string
		rows [][]any
	}{{"call", p.Calls}, {"thrown", p.Thrown}, {"output", p.Outputs}} {
		for _, row := range list.rows {
			line, _ := json.Marshal(row)
			fmt.Fprintf(&b, "%s %s\n", list.name, line)
		}
	}
	return b.String()
}

// flow reads a run that was recorded with the real client.
func flow(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// TestFlows plays the recorded runs of the client to the plugin, and holds what
// lidguard understands of them against golden files.
func TestFlows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", "events-*.jsonl"))
	if err != nil || len(files) < 14 {
		t.Fatalf("%d runs, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".jsonl"), func(t *testing.T) {
			t.Parallel()
			got := play{script: flow(t, name)}.run(t).text()
			golden := filepath.Join("testdata", "golden", strings.TrimSuffix(name, ".jsonl")+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(readIf(t, golden), got); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

const (
	created  = `{"event":"session.created","id":"e1","properties":{"sessionID":"s","info":{"id":"s","directory":"/home/dev/project"}}}`
	busy     = `{"event":"session.status","id":"e2","properties":{"sessionID":"s","status":{"type":"busy"}}}`
	idle     = `{"event":"session.idle","id":"e3","properties":{"sessionID":"s"}}`
	failed   = `{"event":"session.error","id":"e4","properties":{"sessionID":"s","error":{"name":"MessageAbortedError","data":{"message":"x"}}}}`
	before   = `{"hook":"tool.execute.before","input":{"tool":"bash","sessionID":"s","callID":"c"},"output":{"args":{"command":"ls","timeout":5}}}`
	after    = `{"hook":"tool.execute.after","input":{"tool":"bash","sessionID":"s","callID":"c","args":{"command":"ls"}},"output":{"title":"t","output":"key"}}`
	message  = `{"hook":"chat.message","input":{"sessionID":"s"},"output":{"message":{"id":"m"},"parts":[{"type":"file","url":"data:AAAA"},{"type":"text","text":"go"}]}}`
	asked    = `{"event":"permission.asked","id":"e5","properties":{"id":"per_1","sessionID":"s","permission":"bash","patterns":["ls"],"metadata":{"command":"ls"},"always":["ls"],"tool":{"messageID":"m","callID":"c"}}}`
	question = `{"event":"question.asked","id":"e6","properties":{"id":"que_1","sessionID":"s","questions":[{"question":"which?","options":[]}]}}`
	refused  = `{"event":"permission.replied","id":"e7","properties":{"sessionID":"s","requestID":"per_9","reply":"reject"}}`
	rejected = `{"event":"permission.replied","id":"e7","properties":{"sessionID":"s","requestID":"per_1","reply":"reject"}}`
	ownText  = `{"hook":"chat.message","input":{"sessionID":"s"},"output":{"parts":[{"type":"text","text":"not now"}]}}`
	delta    = `{"event":"message.part.delta","id":"e8","properties":{"sessionID":"s","partID":"p","field":"text","delta":"wo"}}`
	compact  = `{"hook":"experimental.session.compacting","input":{"sessionID":"s"},"output":{"context":[]}}`
	dispose  = `{"hook":"dispose","input":null,"output":null}`
)

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		play play
		want string // calls, throws and outputs
	}{
		{"silence changes nothing", play{script: []string{created, message, busy, before, asked, question, after, compact, idle}}, ""},
		{"a call is allowed once", play{verdicts: map[string]string{"permission.asked": "allow"}, script: []string{asked}},
			`call ["post","/permission/per_1/reply",{"reply":"once"}]`},
		{"a denial comes with its message, so that the model goes on", play{verdicts: map[string]string{"permission.asked": "deny"}, script: []string{asked}},
			`call ["post","/permission/per_1/reply",{"message":"not now","reply":"reject"}]`},
		{"without one the turn ends", play{verdicts: map[string]string{"permission.asked": "interrupt"}, script: []string{asked}},
			`call ["post","/permission/per_1/reply",{"reply":"reject"}]`},
		{"exit 2 is a rejection with its text", play{verdicts: map[string]string{"permission.asked": "exit2"}, script: []string{asked}},
			`call ["post","/permission/per_1/reply",{"message":"not now","reply":"reject"}]`},
		{"who answered meanwhile is not overruled", play{post: "late", verdicts: map[string]string{"permission.asked": "allow"}, script: []string{asked}},
			`call ["post","/permission/per_1/reply",{"reply":"once"}]`},
		{"a client without that route gets the old call", play{post: "old", verdicts: map[string]string{"permission.asked": "allow"}, script: []string{asked}},
			`call ["post","/permission/per_1/reply",{"reply":"once"}]
call ["v1 permission",{"body":{"response":"once"},"path":{"id":"s","permissionID":"per_1"}}]`},
		{"and one without that method as well", play{post: "none", verdicts: map[string]string{"permission.asked": "deny"}, script: []string{asked}},
			`call ["v1 permission",{"body":{"response":"reject"},"path":{"id":"s","permissionID":"per_1"}}]`},
		{"when all of that throws nobody hears of it", play{post: "throw", verdicts: map[string]string{"permission.asked": "allow", "question.asked": "deny"}, script: []string{asked, question}},
			`call ["post","/permission/per_1/reply",{"reply":"once"}]
call ["v1 permission",{"body":{"response":"once"},"path":{"id":"s","permissionID":"per_1"}}]
call ["post","/question/que_1/reject",{}]`},
		{"a question is dismissed", play{verdicts: map[string]string{"question.asked": "deny"}, script: []string{question}},
			`call ["post","/question/que_1/reject",{}]`},
		{"a refused call throws its reason", play{verdicts: map[string]string{"tool.execute.before": "deny"}, script: []string{before}},
			`thrown ["tool.execute.before","not now"]`},
		{"exit 2 does too", play{verdicts: map[string]string{"tool.execute.before": "exit2"}, script: []string{before}},
			`thrown ["tool.execute.before","not now"]`},
		{"a refused call can end the turn", play{verdicts: map[string]string{"tool.execute.before": "stop"}, script: []string{before}},
			`call ["session.abort",{"path":{"id":"s"}}]
thrown ["tool.execute.before","not now"]`},
		{"arguments are replaced as a whole", play{verdicts: map[string]string{"tool.execute.before": "rewrite"}, script: []string{before}},
			`output ["tool.execute.before",{"args":{"command":"true"}}]`},
		{"a result is replaced", play{verdicts: map[string]string{"tool.execute.after": "rewrite"}, script: []string{after}},
			`output ["tool.execute.after",{"output":"***","title":"t"}]`},
		{"a result is withheld", play{verdicts: map[string]string{"tool.execute.after": "deny"}, script: []string{after}},
			`output ["tool.execute.after",{"output":"not now","title":"t"}]`},
		{"a context follows a result", play{verdicts: map[string]string{"tool.execute.after": "context"}, script: []string{after}},
			`output ["tool.execute.after",{"output":"key\n\nremember","title":"t"}]`},
		{"a context follows a prompt's first text", play{verdicts: map[string]string{"chat.message": "context"}, script: []string{message}},
			`output ["chat.message",{"message":{"id":"m"},"parts":[{"type":"file","url":"data:AAAA"},{"text":"go\n\nremember","type":"text"}]}]`},
		{"a context goes into a compaction", play{verdicts: map[string]string{"experimental.session.compacting": "context"}, script: []string{compact}},
			`output ["experimental.session.compacting",{"context":["remember"]}]`},
		{"a refused prompt is not sent", play{verdicts: map[string]string{"chat.message": "deny"}, script: []string{message}},
			`thrown ["chat.message","not now"]`},
		{"an unfinished session is continued", play{verdicts: map[string]string{"session.idle": "deny"}, script: []string{created, busy, idle}},
			`call ["session.promptAsync",{"body":{"parts":[{"text":"not now","type":"text"}]},"path":{"id":"s"}}]`},
		{"not one that a person interrupted", play{verdicts: map[string]string{"session.idle": "deny"}, script: []string{created, busy, failed, idle, idle}}, ""},
		{"nor one in which a person refused a call", play{verdicts: map[string]string{"session.idle": "deny"}, script: []string{created, busy, refused, idle}}, ""},
		{"but one in which lidguard did", play{verdicts: map[string]string{"session.idle": "deny", "permission.asked": "interrupt"}, script: []string{created, busy, asked, rejected, idle}},
			`call ["post","/permission/per_1/reply",{"reply":"reject"}]
call ["session.promptAsync",{"body":{"parts":[{"text":"not now","type":"text"}]},"path":{"id":"s"}}]`},
		{"nonsense is silence", play{verdicts: map[string]string{"tool.execute.before": "garbage", "chat.message": "future", "permission.asked": "crash"}, script: []string{before, message, asked}}, ""},
		{"what is not there is asked for nothing", play{script: []string{`{"event":"session.idle","id":"e"}`, `{"event":"constructor","properties":{}}`, `{"hook":"tool.execute.before","input":{"sessionID":"s"}}`,
			`{"hook":"chat.message","input":{"sessionID":"s"}}`, `{"event":"permission.asked","id":"e","properties":{}}`}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.play.run(t)
			got.log = ""
			if diff := cmp.Diff(c.want, strings.TrimSpace(got.text())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestContinuation_isCounted(t *testing.T) {
	script := []string{created}
	for range 9 { // the first of the prompts is a person's: nothing was continued yet
		script = append(script, ownText, busy, idle)
	}
	got := play{verdicts: map[string]string{"session.idle": "deny"}, script: script}.run(t)
	if len(got.Calls) != 8 {
		t.Errorf("continued %d times, want 8", len(got.Calls))
	}
	if n := strings.Count(got.log, "chat.message:"); n != 1 {
		t.Errorf("%d prompts were told, want the person's alone:\n%s", n, got.log)
	}
	if !strings.Contains(got.log, "session.idle: Stop | active opencode:s continued\n") {
		t.Errorf("nothing says that the turn was continued:\n%s", got.log)
	}
	if !strings.HasSuffix(got.log, "session.status: StatusChanged | stopped opencode:s\n") {
		t.Errorf("the end after the last continuation is not told as one:\n%s", got.log)
	}
	again := play{verdicts: map[string]string{"session.idle": "deny"}, script: append(script, message, busy, idle)}.run(t)
	if len(again.Calls) != 9 {
		t.Errorf("after a person's prompt continued %d times in all, want 9", len(again.Calls))
	}
}

// TestContinuation_thatCannotBe: lidguard was told that the session goes on.
func TestContinuation_thatCannotBe(t *testing.T) {
	for _, post := range []string{"throw", "old"} {
		got := play{post: post, verdicts: map[string]string{"session.idle": "deny"}, script: []string{created, busy, idle}}.run(t)
		if len(got.Calls) != 1 || !strings.HasSuffix(got.log, "session.idle: Stop | active opencode:s\nsession.status: StatusChanged | stopped opencode:s\n") {
			t.Errorf("%s: %s", post, got.text())
		}
	}
}

func TestActivity_isThrottled(t *testing.T) {
	script := []string{created}
	for range 200 {
		script = append(script, delta)
	}
	script = append(script, `{"do":"later","ms":21000}`, delta, delta)
	got := play{script: script}.run(t)
	if n := strings.Count(got.log, "message.part.delta: MessageDisplay | active opencode:s"); n != 2 {
		t.Errorf("%d signs of life, want 2:\n%s", n, got.log)
	}
	if strings.Contains(got.raw, `"wo"`) {
		t.Error("the text itself was passed on")
	}
}

func TestOrder_isKept(t *testing.T) {
	got := play{script: []string{`{"do":"rush"}`, created, busy, asked, strings.Replace(rejected, "reject", "once", 1), idle}}.run(t)
	var natives []string
	for line := range strings.Lines(got.log) {
		native, _, _ := strings.Cut(line, ":")
		natives = append(natives, native)
	}
	want := []string{"session.created", "session.status", "permission.asked", "permission.replied", "session.idle"}
	if diff := cmp.Diff(want, natives); diff != "" {
		t.Error(diff)
	}
}

// TestDispose_saysWhatIsLeft: the client goes while reports are still waiting.
func TestDispose_saysWhatIsLeft(t *testing.T) {
	other := strings.ReplaceAll(created, `"s"`, `"s2"`)
	got := play{script: []string{created, other, `{"do":"rush"}`, busy, asked, idle, dispose, busy, idle}}.run(t)
	lines := strings.Split(strings.TrimSpace(got.log), "\n")
	// The report that was on its way may arrive behind the last word.
	if at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "dispose:") }); at < len(lines)-2 {
		t.Errorf("the last word is line %d of %d:\n%s", at+1, len(lines), got.log)
	}
	for _, want := range []string{"session.status:", "permission.asked:", "session.idle:"} {
		if strings.Count(got.log, want) != 1 {
			t.Errorf("%s was not told exactly once:\n%s", want, got.log)
		}
	}
}

func TestMissingProgram_isSilent(t *testing.T) {
	all := []string{created, message, busy, before, asked, question, after, compact, failed, idle, dispose}
	got := play{program: filepath.Join(t.TempDir(), "gone", "lidguard"), script: all}.run(t)
	if got.text() != "" {
		t.Errorf("got %s", got.text())
	}
	folder := t.TempDir() // something that cannot be run at all
	if got := (play{program: folder, script: all}).run(t); got.text() != "" {
		t.Errorf("with a folder for a program: %s", got.text())
	}
}

func TestHangingProgram_isKilled(t *testing.T) {
	t.Parallel() // it waits for seconds
	short := func(text string) string {
		for limit, instead := range map[string]string{"REPORT_MS = 5000": "300", "ANSWER_MS = 30000": "10000", // on a busy machine, too, it writes its log before
			"DISPOSE_MS = 2000": "300"} {
			if !strings.Contains(text, limit) {
				t.Fatalf("the plugin has no %s", limit)
			}
			text = strings.Replace(text, limit, strings.Split(limit, "=")[0]+"= "+instead, 1)
		}
		return text
	}
	got := play{edit: short, verdicts: map[string]string{"tool.execute.before": "hang", "session.status": "hang", "dispose": "hang"},
		script: []string{created, busy, before, dispose}}.run(t)
	if got.took > time.Minute { // a hook that is not killed takes two
		t.Errorf("took %v", got.took)
	}
	if len(got.Thrown) > 0 || !strings.Contains(got.log, "tool.execute.before: PreToolUse") {
		t.Errorf("got %s", got.text())
	}
}

// TestSecrets_stay: keys are in the inputs of hooks that must not exist, and in
// the provider's answer to a failed call.
func TestSecrets_stay(t *testing.T) {
	secret := []string{created, busy,
		`{"hook":"chat.headers","input":{"sessionID":"s","provider":{"key":"sk-secret"}},"output":{"headers":{"authorization":"sk-secret"}}}`,
		`{"hook":"chat.params","input":{"sessionID":"s","provider":{"key":"sk-secret"}},"output":{}}`,
		`{"hook":"config","input":{"provider":{"lab":{"options":{"apiKey":"sk-secret"}}}},"output":null}`,
		`{"hook":"shell.env","input":{"sessionID":"s"},"output":{"env":{"KEY":"sk-secret"}}}`,
		`{"event":"session.error","id":"e","properties":{"sessionID":"s","error":{"name":"APIError","data":{"message":"sk-secret","responseBody":"sk-secret","responseHeaders":{"x":"sk-secret"}}}}}`,
		`{"event":"session.status","id":"e","properties":{"sessionID":"s","status":{"type":"retry","message":"sk-secret"}}}`,
		`{"event":"message.part.updated","id":"e","properties":{"part":{"sessionID":"s","text":"sk-secret"}}}`,
		`{"event":"question.replied","id":"e","properties":{"sessionID":"s","requestID":"q","answers":[["sk-secret"]]}}`,
		`{"hook":"chat.message","input":{"sessionID":"s"},"output":{"parts":[{"type":"file","url":"data:sk-secret"},{"type":"text","text":"go"}]}}`,
	}
	got := play{script: secret}.run(t)
	if strings.Contains(got.raw, "sk-secret") {
		t.Errorf("a secret left the client:\n%s", got.raw)
	}
	if !strings.Contains(got.log, "failed opencode:s (APIError)") {
		t.Errorf("the error itself was not told:\n%s", got.log)
	}
}

func TestPlugin_exportsOneFunction(t *testing.T) {
	got := play{}.run(t)
	if !slices.Equal(got.Exported, []string{"Lidguard: function"}) {
		t.Errorf("exports %v; the client refuses a file that exports anything but functions", got.Exported)
	}
	want := []string{"chat.message", "dispose", "event", "experimental.session.compacting", "tool.execute.after", "tool.execute.before"}
	if diff := cmp.Diff(want, got.Hooks); diff != "" {
		t.Errorf("hooks: %s", diff)
	}
}

// TestPlugin_parses for paths that a careless quoting would break.
func TestPlugin_parses(t *testing.T) {
	for _, path := range []string{`C:\Program Files\it's\lidguard.exe`, "/opt/a\"b/$HOME/`id`/lidguard", "/opt/ünïcode\u2028/\nnew/lidguard", "/opt/</script>/$&$'/lidguard"} {
		got := play{program: path, script: []string{created, busy, idle}}.run(t)
		if len(got.Exported) != 1 {
			t.Errorf("%q: %v", path, got.Exported)
		}
	}
}
