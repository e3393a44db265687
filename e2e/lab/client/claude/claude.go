//go:build linux

// Package claude runs the real Claude Code against a scripted model on a
// machine. In come a prompt and a script, out go the hook events, what the
// model was told, the client's output and its screen. The client runs with the
// machine's bare environment, a dummy key and a base URL on 127.0.0.1.
//
// Learnt with 2.1.332: as root it refuses to skip permissions, so tools are
// allowed by name; a new interactive session starts in auto mode, whose check a
// scripted model cannot answer, so sessions here start in default mode; a long
// sleep as a foreground command is refused as tool input.
package claude

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/record"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
)

// Version is the measured release.
const Version = "2.1.332"

const key = "dummy-key-for-local-test"

// Events are those the recorder listens to: all but the two worktree ones,
// where a hook replaces what the client would do.
var Events = strings.Fields(`SessionStart Setup InstructionsLoaded UserPromptSubmit UserPromptExpansion MessageDisplay
	PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure PostToolBatch PreSkillShellCommand
	Notification SubagentStart SubagentStop TaskCreated TaskCompleted TeammateIdle Stop StopFailure PreCompact
	PostCompact PreModelSwitch PostModelSwitch ConfigChange CwdChanged DirectoryAdded FileChanged Elicitation
	ElicitationResult SessionEnd`)

// Options of a session; the zero value runs "Do the task." headless with no
// tools allowed.
type Options struct {
	Script  messages.Script
	Prompt  string            // headless only; default "Do the task."
	Allow   []string          // tools that need no permission
	Args    []string          // further arguments
	Vars    map[string]string // further environment
	Project string            // folder to work in; default a new one
	Answers []record.Answer   // what the recorder's hooks say
	// NoRecorder leaves the recorder's hooks out: the client then has only
	// those of its settings files.
	NoRecorder bool
}

// Install puts the client on a machine: its program into PATH and a home that
// has seen the first start, but no settings file. Calling it again changes
// nothing.
func Install(t testing.TB, m machine.Machine) {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	dir := client.Install(t, "@anthropic-ai/claude-code", Version)
	m.PrependPath(filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-linux-"+arch))
	state := filepath.Join(m.Home(), ".claude.json")
	if _, err := os.Stat(state); err == nil {
		return
	}
	machine.Mkdir(t, m, filepath.Join(m.Home(), ".claude"))
	machine.Write(t, m, state, `{"hasCompletedOnboarding": true, "customApiKeyResponses": {"approved": ["`+key[len(key)-20:]+`"], "rejected": []}}`)
}

// Session is one run of the client.
type Session struct {
	*machine.Process
	Model   *messages.Server // the model's side
	Hooks   *record.Log      // the recorder's; nil with NoRecorder
	Project string

	t testing.TB
	m machine.Machine
}

// prepare does what both kinds of session share and returns the command.
func prepare(t testing.TB, m machine.Machine, o Options) (*Session, machine.Spec) {
	t.Helper()
	Install(t, m)
	s := &Session{t: t, m: m, Project: o.Project}
	if s.Project == "" {
		s.Project = machine.Project(t, m, "project", false)
	}
	trust(t, m, s.Project)
	s.Model = messages.Serve(t, m.Listen(t), o.Script, map[string]string{"PROJECT": s.Project, "HOME_DIR": m.Home()})
	spec := machine.Spec{Dir: s.Project, Args: []string{"claude"}, Vars: map[string]string{
		"ANTHROPIC_BASE_URL": s.Model.URL, "ANTHROPIC_API_KEY": key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
		"DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
		record.TopVariable: strconv.Itoa(os.Getpid()),
	}}
	for name, value := range o.Vars {
		spec.Vars[name] = value
	}
	if !o.NoRecorder {
		s.Hooks = record.Open(t, m, o.Answers)
		spec.Args = append(spec.Args, "--settings", s.recorder())
	}
	if len(o.Allow) > 0 {
		spec.Args = append(spec.Args, "--allowedTools", strings.Join(o.Allow, ","))
	}
	spec.Args = append(spec.Args, o.Args...)
	t.Cleanup(func() {
		if t.Failed() {
			s.report()
		}
	})
	return s, spec
}

// trust notes in the client's state that the person trusts the folder.
func trust(t testing.TB, m machine.Machine, project string) {
	t.Helper()
	path := filepath.Join(m.Home(), ".claude.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]any{}
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	projects, _ := state["projects"].(map[string]any)
	if projects == nil {
		projects = map[string]any{}
	}
	if projects[project] != nil {
		return
	}
	projects[project] = map[string]any{"hasTrustDialogAccepted": true, "allowedTools": []string{}}
	state["projects"] = projects
	text, err = json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	machine.Write(t, m, path, string(text))
}

var recorders atomic.Int64

// recorder writes the settings that add the recorder's hooks for this run
// only; the person's settings file is left to lidguard.
func (s *Session) recorder() string {
	s.t.Helper()
	hooks := map[string]any{}
	for _, event := range Events {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": s.Hooks.Command("e2e"), "timeout": 60}}}}
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		s.t.Fatal(err)
	}
	// One file each: the client follows changes of it while it runs.
	path := filepath.Join(s.m.Folder(), fmt.Sprintf("recorder-%d.json", recorders.Add(1)))
	machine.Write(s.t, s.m, path, string(text))
	return path
}

// Run starts a headless session (claude -p) and returns at once; Wait waits
// for its end.
func Run(t testing.TB, m machine.Machine, o Options) *Session {
	t.Helper()
	s, spec := prepare(t, m, o)
	prompt := o.Prompt
	if prompt == "" {
		prompt = "Do the task."
	}
	spec.Args = append(spec.Args[:1:1], append([]string{"-p", prompt, "--output-format", "stream-json", "--verbose", "--include-hook-events"}, spec.Args[1:]...)...)
	s.Process = machine.Start(t, m, spec)
	return s
}

// Wait waits for the end of the session and returns its exit code.
func (s *Session) Wait() int { s.t.Helper(); return s.Process.Wait(s.t) }

// Stream is the client's output so far, one JSON message each (headless only).
func (s *Session) Stream() []map[string]any {
	s.t.Helper()
	f, err := os.Open(s.Stdout)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	var all []map[string]any
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		message := map[string]any{}
		if json.Unmarshal(lines.Bytes(), &message) == nil { // the last line may be half written
			all = append(all, message)
		}
	}
	return all
}

// notSlug are the characters that a transcript's folder has dashes for.
var notSlug = regexp.MustCompile(`[^A-Za-z0-9]`)

// Transcripts lists the session logs of the project.
func (s *Session) Transcripts() []string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.m.Home(), ".claude", "projects", notSlug.ReplaceAllString(s.Project, "-"), "*.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// WaitHook waits for the nth call of an event, as in [record.Log.Wait].
func (s *Session) WaitHook(n int, event string, fields ...string) record.Row {
	s.t.Helper()
	return s.Hooks.Wait(s.t, n, event, fields...)
}

func (s *Session) report() {
	if s.Hooks != nil {
		s.t.Logf("hooks: %s", strings.Join(s.Hooks.Events(s.t), " "))
	}
	for i, r := range s.Model.Requests() {
		s.t.Logf("request %d, %s: %s", i+1, r.Lane, r.Turn)
	}
	s.t.Logf("model notes: %q", s.Model.Notes())
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

// Open starts an interactive session in default permission mode and returns
// when its prompt is there.
func Open(t testing.TB, m machine.Machine, o Options) *Interactive {
	t.Helper()
	s, spec := prepare(t, m, o)
	spec.Args = append(spec.Args, "--permission-mode", "default")
	i := &Interactive{Session: s, Terminal: terminal.Open(t, m, spec)}
	s.Process = i.Program
	i.WaitScreen("❯")
	if s.Hooks != nil {
		i.WaitHook(1, "SessionStart")
	}
	return i
}

// Say types a prompt, waits until it stands on the screen, and sends it.
func (i *Interactive) Say(text string) {
	i.t().Helper()
	i.Type(text)
	i.WaitScreen("❯ *" + regexp.QuoteMeta(text))
	i.Press(terminal.Enter)
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

// Busy waits until the client shows that a turn runs.
func (i *Interactive) Busy() { i.t().Helper(); i.WaitScreen(`esc to interrupt`) }
