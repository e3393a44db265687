package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// Proving a hook: the very command line that stands in the agent's config is run
// through the agent's shell with a made-up payload, and something has to come of
// it. Since a missing program is silent by design, silence proves nothing; so the
// hook is pointed (LIDGUARD_HOME) at a folder where this process plays the
// runtime, and the hook's own report of the event is the proof. The real runtime
// and the real sessions hear nothing of it.

// proof is the outcome for one hook.
type proof struct {
	Event string        `json:"event"`
	OK    bool          `json:"ok"`
	Why   string        `json:"why,omitempty"` // what went wrong
	Took  time.Duration `json:"-"`
	TookS float64       `json:"took_s"`
}

// provenWords counts the hooks that do what they should where they are called; whether
// the agent calls them is another matter.
func provenWords(proofs []proof) string {
	ok := 0
	for _, p := range proofs {
		if p.OK {
			ok++
		}
	}
	return fmt.Sprintf("%d of %d hooks proven", ok, len(proofs))
}

// proofLimit bounds one hook; the programs' own limit is below a second.
const proofLimit = 10 * time.Second

// prove runs every installed hook of a report.
func (a *app) prove(ctx context.Context, r install.Report) ([]proof, error) {
	stage, err := a.openStage()
	if err != nil {
		return nil, err
	}
	defer stage.close()
	var out []proof
	for _, h := range r.Hooks {
		if h.Command == "" {
			continue
		}
		p := proof{Event: h.Event}
		began := a.Now()
		err := a.proveOne(ctx, stage, r.Provider, h)
		p.Took = a.Now().Sub(began)
		p.TookS = p.Took.Seconds()
		p.OK = err == nil
		if err != nil {
			p.Why = err.Error()
		}
		out = append(out, p)
	}
	return out, nil
}

func (a *app) proveOne(ctx context.Context, stage *stage, provider event.Provider, h install.Hook) error {
	id := event.CanaryPrefix + mintID()
	ctx, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	cmd := a.caller(ctx, provider, h.Command)
	cmd.Dir = stage.dir
	cmd.Env = []string{"LIDGUARD_HOME=" + stage.dir, "HOME=" + a.Env("HOME"), "PATH=" + a.Env("PATH")}
	for _, name := range []string{"USERPROFILE", "SYSTEMROOT", "TEMP", "TMP", "PATHEXT"} { // Windows programs need these
		if v := a.Env(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Stdin = bytes.NewReader(canary(provider, h.Event, id, stage.dir))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("it did not end within %s", proofLimit)
	case err != nil:
		return fmt.Errorf("%w: %s", err, firstLine(stderr.String()))
	case !stage.heard(id):
		return fmt.Errorf("it ran and did nothing: %s", silence(stage.dir, provider, stderr.String()))
	}
	// The stage is a closed lid, so a permission prompt must be answered.
	if no := refusal(provider, h.Event); no != "" && !strings.Contains(stdout.String(), no) {
		return fmt.Errorf("with the lid closed it did not answer the prompt, but printed %q", firstLine(stdout.String()))
	}
	return nil
}

// caller runs a command the way the agent does: by a shell, but OpenCode's plugin
// starts the program itself.
func (a *app) caller(ctx context.Context, provider event.Provider, command string) *exec.Cmd {
	switch {
	case provider == event.OpenCode:
		return exec.CommandContext(ctx, command, "opencode-hook", "--event", openCodeEvent)
	case a.GOOS == "windows":
		return exec.CommandContext(ctx, "powershell", "-NoProfile", "-NonInteractive", "-Command", command)
	}
	return exec.CommandContext(ctx, "/bin/sh", "-c", command)
}

// openCodeEvent is the one event that OpenCode's plugin is proven with.
const openCodeEvent = "permission.asked"

// refusal is what the answer to a closed lid must contain, if there must be one.
// Copilot's permissionRequest is no prompt and is left alone.
func refusal(provider event.Provider, name string) string {
	switch {
	case provider == event.OpenCode:
		return `"reject"`
	case name == string(event.PermissionRequest):
		return `"deny"`
	}
	return ""
}

// silence finds out why a hook reported nothing: its own log, else its stderr.
func silence(dir string, provider event.Provider, stderr string) string {
	d, err := paths.Resolve("linux", func(name string) string { return map[string]string{"LIDGUARD_HOME": dir}[name] })
	if err == nil {
		if events, _, _, err := readHookEvents(d.HookEvents(string(provider)), 0); err == nil {
			for _, e := range events {
				if e.Error != "" {
					return e.Error
				}
			}
		}
	}
	if line := firstLine(stderr); line != "" {
		return line
	}
	return "is the program that it names there?"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// canary is a payload of an event with every field that the client sends with
// some event, so that one serves all of them: unknown fields pass everywhere.
func canary(provider event.Provider, name, id, cwd string) []byte {
	payload := map[string]any{
		"hook_event_name": name, "session_id": id, "cwd": cwd, "transcript_path": filepath.Join(cwd, "none.jsonl"),
		"permission_mode": "default", "model": "canary", "turn_id": "canary", "prompt_id": "canary",
		"prompt": "a canary of lidguard", "source": "startup", "reason": "other", "trigger": "manual",
		"tool_name": "Bash", "tool_input": map[string]any{"command": "true"}, "tool_use_id": "canary",
		"tool_response": "", "error": "canary", "is_interrupt": false, "command_name": "canary",
		"notification_type": "idle_prompt", "message": "canary", "mcp_server_name": "canary", "mode": "form", "action": "cancel",
		"task_id": "1", "task_subject": "canary", "task_description": "canary", "teammate_name": "canary", "team_name": "canary",
		"stop_hook_active": false, "last_assistant_message": "", "background_tasks": []any{}, "session_crons": []any{},
	}
	if strings.HasPrefix(name, "Subagent") || name == string(event.TeammateIdle) {
		payload["agent_id"], payload["agent_type"] = "canary", "canary"
	}
	switch provider {
	case event.OpenCode:
		payload = map[string]any{"type": openCodeEvent, "directory": cwd, "properties": map[string]any{
			"id": "canary", "sessionID": id, "permission": "bash", "patterns": []string{"true"},
			"metadata": map[string]any{"command": "true"}, "tool": map[string]any{"callID": "canary"}}}
	case event.Copilot:
		payload = map[string]any{
			"sessionId": id, "cwd": cwd, "transcriptPath": filepath.Join(cwd, "events.jsonl"), "timestamp": 0,
			"prompt": "a canary of lidguard", "source": "startup", "reason": "complete", "trigger": "manual", "stopReason": "end_turn",
			"toolName": "bash", "toolArgs": map[string]any{"command": "true"}, "serverName": "canary",
			"toolResult": map[string]any{"resultType": "success", "textResultForLlm": ""},
			"error":      map[string]any{"message": "canary", "name": "canary", "stack": ""},
			"agentName":  "canary", "notification_type": "agent_idle", "message": "canary", "hook_event_name": name,
		}
	}
	b, err := json.Marshal(payload)
	if err != nil {
		panic(err) // strings, numbers and booleans always encode
	}
	return b
}

// stage is a folder in which this process plays the runtime.
type stage struct {
	dir      string
	listener net.Listener
	now      func() time.Time
	done     sync.WaitGroup

	mu  sync.Mutex // guards ids
	ids map[string]bool
}

func (a *app) openStage() (*stage, error) {
	// Not below TMPDIR of the person: on macOS that is too long for a socket.
	dir, err := os.MkdirTemp(stageRoot(a.GOOS), "lidguard-canary-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to prove hooks in: %w", err)
	}
	d, err := paths.Resolve(a.GOOS, func(name string) string { return map[string]string{"LIDGUARD_HOME": dir}[name] })
	if err == nil {
		err = os.MkdirAll(d.Run, 0o700)
	}
	var l net.Listener
	if err == nil {
		l, err = a.listen(d.Socket)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("playing the runtime to prove hooks: %w", err)
	}
	s := &stage{dir: dir, listener: l, now: a.Now, ids: map[string]bool{}}
	s.done.Add(1)
	go s.serve(a.Version) // ends when close closes the listener
	return s, nil
}

func stageRoot(goos string) string {
	if goos == "windows" {
		return ""
	}
	return "/tmp"
}

func (a *app) listen(socket string) (net.Listener, error) {
	if a.Listen != nil {
		return a.Listen(socket)
	}
	if a.GOOS == "windows" {
		return nil, errors.New("this build cannot make a named pipe")
	}
	return net.Listen("unix", socket)
}

func (s *stage) close() {
	_ = s.listener.Close()
	s.done.Wait()
	_ = os.RemoveAll(s.dir)
}

func (s *stage) serve(version string) {
	defer s.done.Done()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.done.Add(1)
		go func() { // ends with the connection, which its deadline ends
			defer s.done.Done()
			defer conn.Close()
			if conn.SetDeadline(s.now().Add(proofLimit)) == nil {
				s.talk(conn, version)
			}
		}()
	}
}

// talk answers like a runtime of a machine whose lid is closed, and remembers
// which sessions were spoken of.
func (s *stage) talk(conn net.Conn, version string) {
	in := ipc.NewReader(conn)
	for {
		line, err := in.Next()
		if err != nil {
			return
		}
		var req ipc.Request
		if json.Unmarshal(line, &req) != nil {
			return
		}
		s.note(req)
		reply, err := json.Marshal(ipc.Reply{Protocol: ipc.Protocol, Version: version, OK: true, Away: &ipc.Away{Lid: "closed", Away: true}})
		if err != nil || ipc.WriteMessage(conn, reply) != nil {
			return
		}
	}
}

func (s *stage) note(req ipc.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.Hook != nil {
		s.ids[string(req.Hook.Session)] = true
	}
	for _, sig := range req.Signals {
		s.ids[string(sig.Session.ID)] = true
	}
}

func (s *stage) heard(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}
