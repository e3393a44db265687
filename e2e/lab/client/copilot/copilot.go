//go:build linux

// Package copilot runs the real GitHub Copilot CLI against a scripted model on a
// machine: headless by "copilot -p" and in a terminal. In come a prompt and a
// script, out go the hook events, what the model was told, the client's own
// records and its screen. The client runs offline, without any login, with the
// machine's bare environment and a provider on 127.0.0.1.
//
// Learnt with 1.0.102: its payloads do not name their event, so the recorder is
// told by its arguments; hook files run in descending order of their names, and
// the recorder's is the first; while the model works Esc has to be pressed twice,
// in a dialog once. The program unpacks 235 MB on its first start; they lie in
// the lab's cache beside the npm package.
package copilot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/lidguard-go/lidguard/e2e/lab/client"
	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/record"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// Version is the measured release.
const Version = "1.0.102"

// Events are those the recorder listens to.
var Events = strings.Fields(`sessionStart sessionEnd userPromptSubmitted preToolUse preMcpToolCall postToolUse
	postToolUseFailure permissionRequest notification agentStop subagentStart subagentStop errorOccurred preCompact`)

// Options of a session; the zero value runs "Do the task." headless and is
// allowed nothing.
type Options struct {
	Script  completions.Script
	Prompt  string            // headless only; default "Do the task."
	Args    []string          // further arguments, such as --allow-all-tools
	Vars    map[string]string // further environment
	Project string            // folder to work in; default a new one
	Answers []record.Answer   // what the recorder's hooks say
	// NoRecorder leaves the recorder's hooks out: the client then has only
	// those of the person's files.
	NoRecorder bool
}

// Install puts the client on a machine: its program into PATH and the folder of
// a person who has used it. Calling it again changes nothing.
func Install(t testing.TB, m machine.Machine) {
	t.Helper()
	bin := filepath.Join(client.Install(t, "@github/copilot", Version), "node_modules", ".bin")
	if err := unpack(filepath.Join(bin, "copilot")); err != nil {
		t.Fatal(err)
	}
	m.PrependPath(bin)
	if _, err := os.Stat(root(m)); err == nil {
		return
	}
	machine.Mkdir(t, m, root(m))
}

// root is the client's folder in the person's home.
func root(m machine.Machine) string { return filepath.Join(m.Home(), ".copilot") }

// payload is where the program has unpacked itself, for all sessions.
func payload() string { return filepath.Join(guard.Cache(), "copilot-payload-"+Version) }

// unpack has the program unpack itself, unless it has done so.
func unpack(program string) error {
	lock := flock.New(payload() + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the unpacked client: %w", err)
	}
	defer lock.Unlock()
	complete := func() bool {
		found, err := filepath.Glob(filepath.Join(payload(), "pkg", "*", Version, ".extraction-complete"))
		return err == nil && len(found) > 0
	}
	if complete() {
		return nil
	}
	cmd := exec.Command(program, "--version")
	cmd.Env = append(machine.Environ(fixed()), "HOME="+os.Getenv("HOME"), "PATH="+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !complete() {
		return fmt.Errorf("the first start of %s, which unpacks it into %s: %v\n%s", program, payload(), err, out)
	}
	return nil
}

// fixed are the variables of every start.
func fixed() map[string]string {
	return map[string]string{"COPILOT_CACHE_HOME": payload(), "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}
}

// Session is one run of the client.
type Session struct {
	*machine.Process
	Model   *completions.Server // the model's side
	Hooks   *record.Log         // the recorder's; nil with NoRecorder
	Project string

	t testing.TB
	m machine.Machine
	// before are the session folders that were there already.
	before map[string]bool
}

func prepare(t testing.TB, m machine.Machine, o Options) (*Session, machine.Spec) {
	t.Helper()
	Install(t, m)
	s := &Session{t: t, m: m, Project: o.Project, before: map[string]bool{}}
	if s.Project == "" {
		s.Project = machine.Project(t, m, "project", false)
	}
	trust(t, m, s.Project)
	for _, dir := range s.folders() {
		s.before[dir] = true
	}
	s.Model = completions.Serve(t, m.Listen(t), o.Script, map[string]string{"PROJECT": s.Project, "HOME_DIR": m.Home()})
	spec := machine.Spec{Dir: s.Project, Args: []string{"copilot"}, Vars: fixed()}
	for name, value := range map[string]string{
		"COPILOT_PROVIDER_BASE_URL": s.Model.URL, "COPILOT_PROVIDER_API_KEY": "dummy",
		"COPILOT_PROVIDER_WIRE_API": "completions", "COPILOT_MODEL": completions.Model,
		record.TopVariable: strconv.Itoa(os.Getpid()),
	} {
		spec.Vars[name] = value
	}
	for name, value := range o.Vars {
		spec.Vars[name] = value
	}
	recorder := filepath.Join(root(m), "hooks", "zz-recorder.json")
	if o.NoRecorder {
		if err := os.Remove(recorder); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	} else {
		s.Hooks = record.Open(t, m, o.Answers)
		s.recorder(recorder)
	}
	spec.Args = append(spec.Args, o.Args...)
	t.Cleanup(func() {
		if t.Failed() {
			s.report()
		}
	})
	return s, spec
}

// trust notes that the person trusts the folder.
func trust(t testing.TB, m machine.Machine, project string) {
	t.Helper()
	path := filepath.Join(root(m), "config.json")
	if _, err := os.Stat(path); err == nil {
		return // the lab has one project on a machine
	}
	text, err := json.Marshal(map[string]any{"trustedFolders": []string{project}})
	if err != nil {
		t.Fatal(err)
	}
	machine.Write(t, m, path, string(text))
}

// recorder writes the recorder's hook file. A running session does not look at
// it again, so each run may have its own.
func (s *Session) recorder(path string) {
	s.t.Helper()
	hooks := map[string]any{}
	for _, event := range Events {
		program, args := s.Hooks.Args("e2e", event)
		hooks[event] = []any{map[string]any{"type": "command", "exec": program, "args": args, "timeoutSec": 60}}
	}
	text, err := json.Marshal(map[string]any{"version": 1, "hooks": hooks})
	if err != nil {
		s.t.Fatal(err)
	}
	machine.Write(s.t, s.m, path, string(text))
}

// Run starts a headless session (copilot -p) and returns at once; Wait waits for
// its end.
func Run(t testing.TB, m machine.Machine, o Options) *Session {
	t.Helper()
	s, spec := prepare(t, m, o)
	prompt := o.Prompt
	if prompt == "" {
		prompt = "Do the task."
	}
	spec.Args = append([]string{"copilot", "-p", prompt}, spec.Args[1:]...)
	s.Process = machine.Start(t, m, spec)
	return s
}

// Wait waits for the end of the session and returns its exit code.
func (s *Session) Wait() int { s.t.Helper(); return s.Process.Wait(s.t) }

// WaitHook waits for the nth call of an event, as in [record.Log.Wait].
func (s *Session) WaitHook(n int, event string, fields ...string) record.Row {
	s.t.Helper()
	return s.Hooks.Wait(s.t, n, event, fields...)
}

// folders are the session folders of the person.
func (s *Session) folders() []string {
	found, err := filepath.Glob(filepath.Join(root(s.m), "session-state", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// Record is one line of the client's own session log.
type Record struct {
	Type string         `json:"type"`
	Data map[string]any `json:"data"`
}

// Records are the client's own records of this session so far.
func (s *Session) Records() []Record {
	s.t.Helper()
	var all []Record
	for _, dir := range s.folders() {
		if s.before[dir] {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
		if err != nil {
			continue // it comes with the first prompt
		}
		lines := bufio.NewScanner(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]))
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var r Record
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				s.t.Fatalf("%s: %v", dir, err)
			}
			all = append(all, r)
		}
	}
	return all
}

// Recorded tells whether there is a record of a type.
func (s *Session) Recorded(kind string) bool {
	s.t.Helper()
	for _, r := range s.Records() {
		if r.Type == kind {
			return true
		}
	}
	return false
}

// WaitRecord waits for a record of a type.
func (s *Session) WaitRecord(kind string) {
	s.t.Helper()
	wait.Until(s.t, wait.Long, "the record "+kind, func() (bool, string) {
		return s.Recorded(kind), strings.Join(s.types(), " ")
	})
}

func (s *Session) types() []string {
	var all []string
	for _, r := range s.Records() {
		all = append(all, r.Type)
	}
	return all
}

// Kill9 kills the client itself, which is the child of npm's wrapper.
func (s *Session) Kill9() {
	s.t.Helper()
	pid := s.PID()
	for {
		below := machine.Children(pid)
		if len(below) == 0 || !native(below[0]) {
			break
		}
		pid = below[0]
	}
	if !native(pid) {
		s.t.Fatalf("no client below process %d", s.PID())
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatalf("killing the client: %v", err)
	}
}

// native tells the client's process from its wrapper and its children.
func native(pid int) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && filepath.Base(exe) == "copilot"
}

func (s *Session) report() {
	if s.Hooks != nil {
		s.t.Logf("hooks: %s", strings.Join(s.Hooks.Events(s.t), " "))
	}
	for i, r := range s.Model.Requests() {
		s.t.Logf("request %d, %s: %s", i+1, r.Lane, r.Turn)
	}
	s.t.Logf("model notes: %q", s.Model.Notes())
	s.t.Logf("records: %s", strings.Join(s.types(), " "))
	if s.Process != nil && s.Stderr != "" {
		text, _ := os.ReadFile(s.Stderr)
		s.t.Logf("stderr: %s", text)
	}
}

// Interactive is a session in a terminal.
type Interactive struct {
	*Session
	*terminal.Terminal
}

// Open starts an interactive session and returns when its prompt is there.
func Open(t testing.TB, m machine.Machine, o Options) *Interactive {
	t.Helper()
	s, spec := prepare(t, m, o)
	i := &Interactive{Session: s, Terminal: terminal.Open(t, m, spec)}
	s.Process = i.Program
	i.WaitScreen(ready)
	return i
}

// ready is what the screen shows once keys are taken.
const ready = completions.Model

// Say types a prompt, waits until it stands on the screen, and sends it. A key
// that comes right behind an Esc is taken for one with Alt, so what does not
// stand there is typed again.
func (i *Interactive) Say(text string) {
	i.t().Helper()
	var typed time.Time
	wait.Until(i.t(), wait.Long, "the prompt "+text+" to stand on the screen", func() (bool, string) {
		if i.Sees("❯ *" + regexp.QuoteMeta(text)) {
			return true, ""
		}
		if time.Since(typed) > 5*time.Second {
			if !typed.IsZero() {
				i.Type(clearLine)
			}
			i.Type(text)
			typed = time.Now()
		}
		return false, "\n" + i.Screen()
	})
	i.Press(terminal.Enter)
}

// clearLine is Ctrl+U.
const clearLine = "\x15"

// Abort does what a person does to end a turn while the model works.
func (i *Interactive) Abort() {
	i.t().Helper()
	var pressed time.Time
	wait.Until(i.t(), wait.Long, "the client to record the abort", func() (bool, string) {
		if i.Recorded("abort") {
			return true, ""
		}
		if time.Since(pressed) > 400*time.Millisecond {
			i.Press(terminal.Esc)
			pressed = time.Now()
		}
		return false, "\n" + i.Screen()
	})
	i.WaitScreen("(?i)cancelled")
}

// Exit leaves the session by its own command and waits for its end.
func (i *Interactive) Exit() int {
	i.t().Helper()
	i.Say("/exit")
	return i.Wait()
}

// Wait waits for the end of the session and returns its exit code.
func (i *Interactive) Wait() int { i.t().Helper(); return i.Session.Wait() }

func (i *Interactive) t() testing.TB { return i.Session.t }
