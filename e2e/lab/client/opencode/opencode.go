//go:build linux

// Package opencode runs the real OpenCode against a scripted model on a machine:
// headless by "opencode run", over HTTP by "opencode serve", and in a terminal. In
// come prompts and a script, out go the plugin's events, what the model was told
// and what the client asks. It runs with the machine's bare environment and a
// provider on 127.0.0.1.
//
// Learnt with 1.18.33: provider and recorder come by OPENCODE_CONFIG_CONTENT, so
// that the files are the person's and lidguard's alone; at its start the client
// installs its plugin package into every configuration folder unless package and
// lock file are there, which would need a network; npm's install script puts the
// program in its place.
package opencode

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/lidguard-go/lidguard/e2e/lab/client"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/record"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// Version is the measured release.
const Version = "1.18.33"

// patience is for a start of the client, which takes 4 s of processor time.
const patience = 2 * wait.Long

// Options of a session; the zero value says "Do the task." and has the client's
// own permissions.
type Options struct {
	Script  completions.Script
	Prompt  string            // Run only; default "Do the task."
	Args    []string          // further arguments
	Vars    map[string]string // further environment
	Project string            // folder to work in; default a new one
	// Permission is the client's setting of that name, by tool: "ask", "allow",
	// "deny", or a map of patterns to these.
	Permission map[string]any
	// NoRecorder leaves the recorder's plugin out: the client then has only
	// those of the person's folder.
	NoRecorder bool
}

// Install puts the client on a machine: its program into PATH and the
// configuration folder of a person who has started it before. Calling it again
// changes nothing.
func Install(t testing.TB, m machine.Machine) {
	t.Helper()
	modules := filepath.Join(client.Install(t, "opencode-ai", Version), "node_modules")
	if err := place(filepath.Join(modules, "opencode-ai")); err != nil {
		t.Fatal(err)
	}
	m.PrependPath(filepath.Join(modules, ".bin"))
	if _, err := os.Stat(config(m)); err == nil {
		return
	}
	machine.Write(t, m, filepath.Join(config(m), "package.json"), fmt.Sprintf("{\n  \"dependencies\": {\n    \"@opencode-ai/plugin\": %q\n  }\n}\n", Version))
	plugin := client.Install(t, "@opencode-ai/plugin", Version)
	lock, err := os.ReadFile(filepath.Join(plugin, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	machine.Write(t, m, filepath.Join(config(m), "package-lock.json"), string(lock))
	if err := os.Symlink(filepath.Join(plugin, "node_modules"), filepath.Join(config(m), "node_modules")); err != nil {
		t.Fatal(err)
	}
}

// config is the client's folder of the person's configuration.
func config(m machine.Machine) string { return filepath.Join(m.Home(), ".config", "opencode") }

// place does the part of npm's install script: it puts the program for this
// machine where the package's command leads.
func place(pkg string) error {
	lock := flock.New(pkg + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the installed client: %w", err)
	}
	defer lock.Unlock()
	const program = 100 << 20 // bytes; the stub in its place has hundreds
	if info, err := os.Stat(filepath.Join(pkg, "bin", "opencode.exe")); err == nil && info.Size() > program {
		return nil
	}
	cmd := exec.Command("node", "postinstall.mjs")
	cmd.Dir, cmd.Env = pkg, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("node postinstall.mjs in %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// Session is what every kind of session has.
type Session struct {
	*machine.Process
	Model   *completions.Server // the model's side
	Hooks   *record.Log         // the recorder's; nil with NoRecorder
	Project string

	t testing.TB
	m machine.Machine
}

//go:embed recorder.js
var recorderPlugin string

func prepare(t testing.TB, m machine.Machine, o Options, args ...string) (*Session, machine.Spec) {
	t.Helper()
	Install(t, m)
	s := &Session{t: t, m: m, Project: o.Project}
	if s.Project == "" {
		s.Project = machine.Project(t, m, "project", true)
	}
	s.Model = completions.Serve(t, m.Listen(t), o.Script, map[string]string{"PROJECT": s.Project, "HOME_DIR": m.Home()})
	name := "lab/" + completions.Model
	settings := map[string]any{
		"autoupdate": false, "share": "disabled", "snapshot": false, "lsp": false, "formatter": false, "model": name, "small_model": name,
		"provider": map[string]any{"lab": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "Lab",
			"options": map[string]string{"baseURL": s.Model.URL, "apiKey": "dummy"},
			"models": map[string]any{completions.Model: map[string]any{"name": "Lab Model", "tool_call": true,
				"limit": map[string]int{"context": 128000, "output": 4096}}}}},
	}
	if o.Permission != nil {
		settings["permission"] = o.Permission
	}
	spec := machine.Spec{Dir: s.Project, Args: append([]string{"opencode"}, args...), Vars: map[string]string{
		"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
	}}
	if !o.NoRecorder {
		s.Hooks = record.Open(t, m, nil)
		plugin := filepath.Join(m.Folder(), "recorder.js")
		machine.Write(t, m, plugin, recorderPlugin)
		settings["plugin"] = []string{"file://" + plugin}
		spec.Vars["LIDGUARD_LAB_RECORD"] = s.Hooks.File()
	}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	spec.Vars["OPENCODE_CONFIG_CONTENT"] = string(text)
	for name, value := range o.Vars {
		spec.Vars[name] = value
	}
	spec.Args = append(spec.Args, o.Args...)
	t.Cleanup(func() {
		if t.Failed() {
			s.report()
		}
	})
	return s, spec
}

// Run starts a headless session (opencode run) and returns when its first prompt
// is with the model; Wait waits for its end. It refuses by itself what it would
// have to ask.
func Run(t testing.TB, m machine.Machine, o Options) *Session {
	t.Helper()
	s, spec := prepare(t, m, o, "run")
	prompt := o.Prompt
	if prompt == "" {
		prompt = "Do the task."
	}
	spec.Args = append(spec.Args, prompt)
	s.Process = machine.Start(t, m, spec)
	wait.Until(t, patience, "the client to ask the model", func() (bool, string) {
		return len(s.Model.Requests()) > 0, fmt.Sprintf("running: %v", s.Running())
	})
	return s
}

// Wait waits for the end of the client and returns its exit code.
func (s *Session) Wait() int { s.t.Helper(); return s.Process.Wait(s.t) }

// WaitHook waits for the nth call of a hook or the nth event, as in
// [record.Log.Wait].
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
		for _, path := range []string{s.Stdout, s.Stderr} {
			text, _ := os.ReadFile(path)
			s.t.Logf("%s: %s", filepath.Base(path), text)
		}
	}
	logs, _ := filepath.Glob(filepath.Join(s.m.Home(), ".local", "share", "opencode", "log", "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		s.t.Logf("%s: %s", filepath.Base(path), text[max(0, len(text)-4000):])
	}
}

// Server is a client that is driven over its API (opencode serve).
type Server struct {
	*Session

	base   string
	client *http.Client
	id     string // of the session that Say made
}

var listening = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// Serve starts the client's server and returns when it answers; no session is
// there yet.
func Serve(t testing.TB, m machine.Machine, o Options) *Server {
	t.Helper()
	s, spec := prepare(t, m, o, "serve", "--hostname", "127.0.0.1", "--port", "0")
	v := &Server{Session: s}
	transport := &http.Transport{}
	if inside, ok := m.(interface {
		DialContext(context.Context, string, string) (net.Conn, error)
	}); ok {
		transport.DialContext = inside.DialContext
	}
	t.Cleanup(transport.CloseIdleConnections)
	v.client = &http.Client{Transport: transport, Timeout: patience}
	s.Process = machine.Start(t, m, spec)
	wait.Until(t, patience, "the client's server", func() (bool, string) {
		text, err := os.ReadFile(s.Stdout)
		v.base = string(listening.Find(text))
		return v.base != "", fmt.Sprintf("%s, %v", text, err)
	})
	return v
}

// Say sends a prompt to the server's one session and returns at once.
func (v *Server) Say(text string) {
	v.t.Helper()
	if v.id == "" {
		var made struct {
			ID string `json:"id"`
		}
		v.Call(http.MethodPost, "/session", map[string]string{"title": "lab"}, &made)
		v.id = made.ID
	}
	v.Call(http.MethodPost, "/session/"+v.id+"/prompt_async", map[string]any{"parts": []any{map[string]string{"type": "text", "text": text}}}, nil)
}

// Abort does what Esc does in the terminal.
func (v *Server) Abort() {
	v.t.Helper()
	v.Call(http.MethodPost, "/session/"+v.id+"/abort", map[string]any{}, nil)
}

// Open lists the ids of what the client asks the person: kind is permission or
// question.
func (v *Server) Open(kind string) []string {
	v.t.Helper()
	var list []struct {
		ID string `json:"id"`
	}
	v.Call(http.MethodGet, "/"+kind, nil, &list)
	var ids []string
	for _, item := range list {
		ids = append(ids, item.ID)
	}
	return ids
}

// Reply answers a permission request as the person: once, always or reject.
func (v *Server) Reply(id, word string) {
	v.t.Helper()
	v.Call(http.MethodPost, "/permission/"+url.PathEscape(id)+"/reply", map[string]string{"reply": word}, nil)
}

// Call makes one call of the client's API; an answer that is no success ends the
// test. into may be nil.
func (v *Server) Call(method, path string, body, into any) {
	v.t.Helper()
	var send io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			v.t.Fatal(err)
		}
		send = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, v.base+path, send)
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	reply, err := v.client.Do(request)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= 300 {
		v.t.Fatalf("%s %s: %s: %s, %v", method, path, reply.Status, text, err)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		v.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

// Interactive is a session in a terminal.
type Interactive struct {
	*Session
	*terminal.Terminal
}

// Terminal starts an interactive session and returns when its prompt is there.
func Terminal(t testing.TB, m machine.Machine, o Options) *Interactive {
	t.Helper()
	s, spec := prepare(t, m, o)
	i := &Interactive{Session: s, Terminal: terminal.Open(t, m, spec)}
	s.Process = i.Program
	wait.Until(t, patience, "the client's prompt", func() (bool, string) { return i.Sees("Ask anything"), "\n" + i.Screen() })
	return i
}

// Say types a prompt, waits until it stands on the screen, and sends it. The first
// one returns when the model has been asked: until then the client still starts.
func (i *Interactive) Say(text string) {
	i.t().Helper()
	// The first keys may come before the client listens.
	var typed time.Time
	wait.Until(i.t(), wait.Long, "the prompt to stand on the screen", func() (bool, string) {
		if i.Sees(regexp.QuoteMeta(text)) {
			return true, ""
		}
		if time.Since(typed) > 5*time.Second {
			i.Type(text)
			typed = time.Now()
		}
		return false, "\n" + i.Screen()
	})
	i.Press(terminal.Enter)
	wait.Until(i.t(), patience, "the client to ask the model", func() (bool, string) {
		return len(i.Model.Requests()) > 0, "\n" + i.Screen()
	})
}

// Abort does what a person does to end a turn while the model works, and waits
// until the client says that it is over.
func (i *Interactive) Abort() {
	i.t().Helper()
	var pressed time.Time
	wait.Until(i.t(), wait.Long, "the client to end the turn", func() (bool, string) {
		if slices.Contains(i.Hooks.Events(i.t()), "session.error") {
			return true, ""
		}
		if time.Since(pressed) > 300*time.Millisecond {
			i.Press(terminal.Esc)
			pressed = time.Now()
		}
		return false, "\n" + i.Screen()
	})
}

// Wait waits for the end of the client and returns its exit code.
func (i *Interactive) Wait() int { i.t().Helper(); return i.Session.Wait() }

func (i *Interactive) t() testing.TB { return i.Session.t }
