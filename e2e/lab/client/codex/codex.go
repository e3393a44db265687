//go:build linux

// Package codex runs the real Codex CLI against a scripted model on a machine:
// headless by "codex exec", interactively by its app-server, which is the
// engine the terminal client runs on. In come prompts and a script, out go the
// hook events, what the model was told and what the client asks the person.
// The client runs with the machine's bare environment and a provider on
// 127.0.0.1.
//
// Learnt with 0.171.0: the model's name decides which tools the client offers;
// gpt-5.5 has exec_command, apply_patch and request_user_input as plain tools.
// Its sandbox needs user namespaces, so scenarios that run commands ask for
// danger-full-access.
package codex

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/record"
)

// Version is the measured release.
const Version = "0.171.0"

// Model is the model that sessions ask for.
const Model = "gpt-5.5"

const keyVariable = "LAB_MODEL_KEY"

// Events are those the recorder listens to: the documented ones.
var Events = strings.Fields(`SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact
	SubagentStart SubagentStop Stop Interrupt SessionEnd`)

// Sandboxes of the client.
const (
	ReadOnly       = "read-only"
	WorkspaceWrite = "workspace-write"
	FullAccess     = "danger-full-access"
)

// Options of a session; the zero value says "Do the task." and has the
// client's own sandbox: read-only for Exec, workspace-write for App.
type Options struct {
	Script  responses.Script
	Prompt  string // Exec only; default "Do the task."
	Sandbox string
	Args    []string          // further arguments
	Vars    map[string]string // further environment
	Project string            // a git repository to work in; default a new one
	Answers []record.Answer   // what the recorder's hooks say
	// NoRecorder leaves the recorder's hooks out: the client then has only
	// those of the person's files.
	NoRecorder bool
	// Approval is when the client asks the person (App only): on-request by
	// default, never, untrusted.
	Approval string
}

// Install puts the client on a machine: its program into PATH and a
// configuration that a person has after the first start. Calling it again
// changes nothing.
func Install(t testing.TB, m machine.Machine) {
	t.Helper()
	m.PrependPath(filepath.Join(client.Install(t, "@openai/codex", Version), "node_modules", ".bin"))
	config := configFile(m)
	if _, err := os.Stat(config); err == nil {
		return
	}
	machine.Write(t, m, config, fmt.Sprintf("model = %q\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n", Model))
}

func configFile(m machine.Machine) string { return filepath.Join(m.Home(), ".codex", "config.toml") }

// Session is what both kinds of session have.
type Session struct {
	*machine.Process
	Model   *responses.Server // the model's side
	Hooks   *record.Log       // the recorder's; nil with NoRecorder
	Project string

	t testing.TB
	m machine.Machine
}

// prepare does what both kinds of session share. The provider comes by
// arguments, since its port is new each time; the files are left to the person
// and to lidguard.
func prepare(t testing.TB, m machine.Machine, o Options, command string) (*Session, machine.Spec) {
	t.Helper()
	Install(t, m)
	s := &Session{t: t, m: m, Project: o.Project}
	if s.Project == "" {
		s.Project = machine.Project(t, m, "project", true)
	}
	trustProject(t, m, s.Project)
	s.Model = responses.Serve(t, m.Listen(t), o.Script, map[string]string{"PROJECT": s.Project, "HOME_DIR": m.Home()})
	if !o.NoRecorder {
		s.Hooks = record.Open(t, m, o.Answers)
		s.recorder()
	}
	spec := machine.Spec{Dir: s.Project, Args: []string{"codex", command}, Vars: map[string]string{
		keyVariable: "unused", record.TopVariable: strconv.Itoa(os.Getpid()),
	}}
	for name, value := range o.Vars {
		spec.Vars[name] = value
	}
	for _, setting := range []string{
		`model_provider="lab"`, `model_providers.lab.name="lab"`, `model_providers.lab.wire_api="responses"`,
		fmt.Sprintf("model_providers.lab.base_url=%q", s.Model.URL), fmt.Sprintf("model_providers.lab.env_key=%q", keyVariable),
		"model_providers.lab.request_max_retries=0", "model_providers.lab.stream_max_retries=0",
	} {
		spec.Args = append(spec.Args, "-c", setting)
	}
	spec.Args = append(spec.Args, o.Args...)
	t.Cleanup(func() {
		if t.Failed() {
			s.report()
		}
	})
	return s, spec
}

// trustProject notes that the person trusts the project.
func trustProject(t testing.TB, m machine.Machine, project string) {
	t.Helper()
	appendConfig(t, m, fmt.Sprintf("[projects.%q]", project), "trust_level = \"trusted\"")
}

// appendConfig puts a table of one line at the end of config.toml, or gives a
// table that is there already that line.
func appendConfig(t testing.TB, m machine.Machine, head, body string) {
	t.Helper()
	text, err := os.ReadFile(configFile(m))
	if err != nil {
		t.Fatal(err)
	}
	before, after, there := strings.Cut(string(text), head+"\n")
	if !there {
		machine.Write(t, m, configFile(m), strings.TrimRight(before, "\n")+"\n\n"+head+"\n"+body+"\n")
		return
	}
	_, after, _ = strings.Cut(after, "\n")
	machine.Write(t, m, configFile(m), before+head+"\n"+body+"\n"+after)
}

// recorder puts the recorder's hooks into the project, trusted; the person's
// own hooks file is left to lidguard.
func (s *Session) recorder() {
	s.t.Helper()
	hooks := map[string]any{}
	for _, event := range Events {
		timeout := 60
		if capped(event) {
			timeout = 3
		}
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": s.Hooks.Command("e2e"), "timeout": timeout}}}}
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.Project, ".codex", "hooks.json")
	machine.Write(s.t, s.m, path, string(text))
	Trust(s.t, s.m, path)
}

// WaitHook waits for the nth call of an event, as in [record.Log.Wait].
func (s *Session) WaitHook(n int, event string, fields ...string) record.Row {
	s.t.Helper()
	return s.Hooks.Wait(s.t, n, event, fields...)
}

// Wait waits for the end of the client and returns its exit code.
func (s *Session) Wait() int { s.t.Helper(); return s.Process.Wait(s.t) }

// Rollouts lists the session files that the client wrote.
func (s *Session) Rollouts() []string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.m.Home(), ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
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

// Exec starts a headless session (codex exec) and returns at once; Wait waits
// for its end. It never asks the person.
func Exec(t testing.TB, m machine.Machine, o Options) *Session {
	t.Helper()
	s, spec := prepare(t, m, o, "exec")
	spec.Args = append(spec.Args, "--json")
	if o.Sandbox != "" {
		spec.Args = append(spec.Args, "--sandbox", o.Sandbox)
	}
	prompt := o.Prompt
	if prompt == "" {
		prompt = "Do the task."
	}
	spec.Args = append(spec.Args, prompt)
	s.Process = machine.Start(t, m, spec)
	return s
}
