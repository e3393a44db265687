package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdioBench runs the program's MCP servers as clients do, with as little
// environment as Codex leaves them, on the fake laptop.
type stdioBench struct {
	t    *testing.T
	dirs paths.Dirs
	env  []string
	bin  string
	log  strings.Builder // stderr of all servers
}

func newStdioBench(t *testing.T, bin string) *stdioBench {
	t.Helper()
	home, err := os.MkdirTemp("", "script-") // short: the socket's path is in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	b := &stdioBench{t: t, bin: bin}
	b.env = []string{"HOME=" + home, "USERPROFILE=" + home, "LANG=C.UTF-8", "TERM=dumb", "PATH=/usr/bin:/bin", "LIDGUARD_MACHINE=fake:" + filepath.Join(home, "laptop")}
	if b.dirs, err = paths.Resolve(runtime.GOOS, func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return home
		}
		return ""
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopRuntime(home) })
	return b
}

func (b *stdioBench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.bin, args...)
	cmd.Env, cmd.Stderr = b.env, &b.log
	return cmd
}

// connect starts a server and connects the SDK's own client to it.
func (b *stdioBench) connect(args ...string) *mcp.ClientSession {
	b.t.Helper()
	return b.connectAs("test", args...)
}

// connectAs does it under a client's name.
func (b *stdioBench) connectAs(name string, args ...string) *mcp.ClientSession {
	b.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := client.Connect(b.t.Context(), &mcp.CommandTransport{Command: b.command(args...), TerminateDuration: time.Minute}, nil)
	if err != nil {
		b.t.Fatalf("%v\n%s", err, b.log.String())
	}
	return session
}

// call returns a tool's structured result, or fails unless the error has want.
func (b *stdioBench) call(s *mcp.ClientSession, tool string, args map[string]any, want string) map[string]any {
	b.t.Helper()
	res, err := s.CallTool(b.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", tool, err, b.log.String())
	}
	if res.IsError != (want != "") {
		text, _ := json.Marshal(res.Content)
		b.t.Fatalf("%s: error %v, want %q: %s", tool, res.IsError, want, text)
	}
	if res.IsError {
		if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, want) {
			b.t.Fatalf("%s says %q, want %q", tool, text, want)
		}
		return nil
	}
	out, ok := res.StructuredContent.(map[string]any)
	if !ok {
		b.t.Fatalf("%s: structured content %T", tool, res.StructuredContent)
	}
	return out
}

// status asks the runtime; nil when none runs.
func (b *stdioBench) status() *ipc.Status {
	b.t.Helper()
	client := ipc.Client{Version: ipc.Version(), DialTimeout: time.Minute, CallTimeout: time.Minute, Dial: func(ctx context.Context) (net.Conn, error) { return endpoint.Dial(ctx, b.dirs.Socket) }}
	reply, err := client.Call(b.t.Context(), &ipc.Request{Op: ipc.OpStatus})
	if err != nil {
		return nil
	}
	return reply.Status
}

// sessions tells every session that works or waits, with its soft lock. One that
// has stopped is tracked until its suspend is due.
func (b *stdioBench) sessions() (out []string) {
	b.t.Helper()
	status := b.status()
	if status == nil {
		return []string{"no runtime"}
	}
	for _, s := range status.Sessions {
		if !s.Holds && s.SoftLock == "" {
			continue
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s holds=%v %s", s.Key, s.Holds, s.SoftLock)))
	}
	return out
}

func (b *stdioBench) expect(want ...string) {
	b.t.Helper()
	var got []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = b.sessions(); cmp.Equal(got, want) {
			return
		}
	}
	b.t.Fatalf("sessions %q, want %q\n%s", got, want, b.log.String())
}

func TestMCP_overStdio(t *testing.T) {
	bin, err := exec.LookPath("lidguard") // the one of the scripts
	if err != nil {
		t.Fatal(err)
	}
	t.Run("mcp-server", func(t *testing.T) { mainServerOverStdio(newStdioBench(t, bin)) })
	t.Run("mcp-server, who calls", func(t *testing.T) { callerOverStdio(newStdioBench(t, bin)) })
	t.Run("mcp-server, hooks are gone", func(t *testing.T) { lostHooksOverStdio(newStdioBench(t, bin)) })
	t.Run("provider-mcp-server", func(t *testing.T) { providerServerOverStdio(newStdioBench(t, bin)) })
	t.Run("what they do not know is refused at once", func(t *testing.T) { refusals(newStdioBench(t, bin)) })
}

func mainServerOverStdio(b *stdioBench) {
	t := b.t
	s := b.connect("mcp-server")
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	want := []string{"clear_session_soft_lock", "get_settings_status", "list_sessions", "remove_session", "set_session_soft_lock", "update_settings"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}

	// Settings, all or none, with JSON's values or the command line's words.
	got := b.call(s, "update_settings", map[string]any{"suspend-mode": "none", "post-stop-suspend-delay-seconds": 1000000, "watch-parent-process": false, "session-timeout-minutes": "off"}, "")
	settings := got["settings"].(map[string]any)
	if settings["suspend-mode"] != "none" || settings["post-stop-suspend-delay-seconds"] != 1e6 || settings["watch-parent-process"] != false || settings["session-timeout-minutes"] != "off" {
		t.Errorf("settings %v", settings)
	}
	b.call(s, "update_settings", map[string]any{"suspend-mode": "hibernate", "battery-floor-percent": 400}, "battery-floor-percent")
	b.call(s, "update_settings", map[string]any{"phone-url": "https://n.example/0123456789abcdef"}, "phone-url")
	if got := b.call(s, "get_settings_status", nil, "")["settings"].(map[string]any); got["suspend-mode"] != "none" {
		t.Errorf("half of a refused change was stored: %v", got)
	}
	if out, err := b.command("settings", "--phone-url", "https://n.example/0123456789abcdef").Output(); err != nil {
		t.Fatalf("settings: %v %s", err, out)
	}
	if got := b.call(s, "get_settings_status", nil, "")["settings"].(map[string]any); got["phone-url"] != "set" {
		t.Errorf("an agent is told the phone's topic: %v", got["phone-url"])
	}
	if out, err := b.command("settings", "--phone-url", "off").Output(); err != nil { // nobody is to be called below
		t.Fatalf("settings: %v %s", err, out)
	}
	if data, err := os.ReadFile(b.dirs.Settings()); err != nil || !strings.Contains(string(data), `"suspend-mode": "none"`) {
		t.Errorf("the file holds %s (%v)", data, err)
	}
	if got := b.call(s, "list_sessions", nil, "")["sessions"].([]any); len(got) != 0 {
		t.Errorf("sessions %v", got)
	}
	b.call(s, "remove_session", map[string]any{"session_id": "x"}, "runtime is not running")
	if b.status() != nil {
		t.Error("a runtime was started for that")
	}

	// Sessions of the running runtime.
	if out, err := b.command("start", "--session", "one").Output(); err != nil {
		t.Fatalf("start: %v %s\n%s", err, out, b.log.String())
	}
	b.expect("custom:one holds=true")
	b.call(s, "set_session_soft_lock", map[string]any{"session_id": "one", "reason": "a question"}, "")
	b.expect("custom:one holds=false a question")
	b.call(s, "clear_session_soft_lock", map[string]any{"session_id": "one"}, "")
	b.expect("custom:one holds=true")
	b.call(s, "update_settings", map[string]any{"session-timeout-minutes": 12}, "")
	b.call(s, "remove_session", map[string]any{"session_id": "two"}, `no session "two" is tracked`)
	if got := b.call(s, "remove_session", map[string]any{"session_id": "one"}, ""); got["removed"] != 1.0 {
		t.Errorf("removed %v", got)
	}
	b.expect()
	if err := s.Close(); err != nil {
		t.Errorf("the server did not end well: %v", err)
	}
	if b.log.Len() > 0 {
		t.Errorf("stderr: %s", b.log.String())
	}
}

// E4 claude-code#93742, where not one hook is left that could tell. Nothing is told
// in a client whose config did not start the server, or where hooks were never
// installed.
func lostHooksOverStdio(b *stdioBench) {
	settings := filepath.Join(b.dirs.Home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		b.t.Fatal(err)
	}
	run := func(args ...string) {
		b.t.Helper()
		if out, err := b.command(args...).Output(); err != nil {
			b.t.Fatalf("%v: %v\n%s%s", args, err, out, b.log.String())
		}
	}
	told := func(client string, want bool) {
		b.t.Helper()
		s := b.connectAs(client, "mcp-server")
		defer s.Close()
		if text := s.InitializeResult().Instructions; strings.Contains(text, settings+" has lost all hooks of lidguard") != want || !strings.Contains(text, "keeps this laptop awake") {
			b.t.Errorf("%s is told %q; that hooks are gone: want %v", client, text, want)
		}
	}
	run("mcp-install", "claude")
	told("claude-code", false) // never installed
	run("hook-install", "--provider", "claude")
	told("claude-code", false)
	if err := os.WriteFile(settings, []byte(`{"model": "opus"}`), 0o600); err != nil {
		b.t.Fatal(err)
	}
	told("claude-code", true)
	told("codex-mcp-client", false)
	run("hook-remove", "--provider", "claude")
	told("claude-code", false)
	run("hook-install", "--provider", "claude")
	if err := os.WriteFile(settings, []byte(`{}`), 0o600); err != nil {
		b.t.Fatal(err)
	}
	run("mcp-remove", "claude")
	told("claude-code", false)
}

// callerOverStdio: two clients tell by the server's environment which session they
// started it for; neither is taken for the other, whose shell it may run in.
func callerOverStdio(b *stdioBench) {
	b.env = append(b.env, "CLAUDE_CODE_SESSION_ID=of-claude", "COPILOT_AGENT_SESSION_ID=of-copilot")
	for client, want := range map[string]string{
		"claude-code": `no session "of-claude"`, "copilot-cli": `no session "of-copilot"`, "opencode": "no session_id given",
	} {
		s := b.connectAs(client, "mcp-server")
		b.call(s, "remove_session", map[string]any{}, want)
		s.Close()
	}
}

func providerServerOverStdio(b *stdioBench) {
	t := b.t
	s := b.connect("provider-mcp-server", "--provider-name", "acme")
	if len(b.sessions()) != 1 || b.sessions()[0] != "no runtime" {
		t.Errorf("a server that nobody has called started a runtime: %v", b.sessions())
	}
	id := b.call(s, "provider_start_session", map[string]any{"prompt": "fix it"}, "")["sessionId"].(string)
	key := "mcp(acme):" + id
	b.expect(key + " holds=true")
	b.call(s, "provider_set_soft_lock", map[string]any{"sessionId": id, "reason": "a question"}, "")
	b.expect(key + " holds=false a question")
	b.call(s, "provider_clear_soft_lock", map[string]any{"sessionId": id}, "")
	b.expect(key + " holds=true")
	b.call(s, "provider_stop_session", map[string]any{"sessionId": "invented"}, "provider_start_session")
	b.call(s, "provider_stop_session", map[string]any{"sessionId": id}, "")
	b.expect()

	// A client that goes takes its sessions along.
	second := b.call(s, "provider_start_session", nil, "")["sessionId"].(string)
	b.expect("mcp(acme):" + second + " holds=true")
	if err := s.Close(); err != nil {
		t.Errorf("the server did not end well: %v", err)
	}
	b.expect()
	if b.log.Len() > 0 {
		t.Errorf("stderr: %s", b.log.String())
	}
}

// refusals: a client that asks a newer question first waits for the answer before
// it falls back.
func refusals(b *stdioBench) {
	t := b.t
	for _, args := range [][]string{{"mcp-server"}, {"provider-mcp-server", "--provider-name", "acme"}} {
		cmd := b.command(args...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		guard := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // the reads below end then
		lines := bufio.NewScanner(stdout)
		for _, step := range []struct{ send, want string }{
			{`{"jsonrpc":"2.0","id":1,"method":"nobody/knows","params":{}}`, `"error"`},
			{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}`, `"serverInfo"`},
		} {
			fmt.Fprintln(stdin, step.send)
			if !lines.Scan() || !strings.Contains(lines.Text(), step.want) || !json.Valid(lines.Bytes()) {
				t.Fatalf("%v: to %s it says %q (%v)", args, step.send, lines.Text(), lines.Err())
			}
		}
		if err := stdin.Close(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			t.Errorf("%v: unasked: %q", args, lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: after the client left: %v\n%s", args, err, b.log.String())
		}
		guard.Stop()
	}
}
