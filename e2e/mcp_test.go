//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/build"
	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// The clients here have lidguard's MCP servers and none of its hooks, so that
// whatever happens to a lock was done by a tool call.

// gates are as many closed gates, opened one by one: the model makes its nth call
// once the nth gate is open. A test that ends early opens them all.
func gates(t testing.TB, n int) []*modelserver.Gate {
	list := make([]*modelserver.Gate, n)
	for i := range list {
		list[i] = modelserver.NewGate()
		t.Cleanup(list[i].Open)
	}
	return list
}

// waitSoftLock waits until the one session has a soft lock of this reason.
func waitSoftLock(t testing.TB, g *lidguard.Guard, reason string) {
	t.Helper()
	wait.Until(t, wait.Long, "the soft lock "+reason, func() (bool, string) {
		s := statusOf(g)
		return s.Runtime != nil && len(s.Runtime.Sessions) == 1 && s.Runtime.Sessions[0].SoftLock == reason, fmt.Sprintf("%+v", s.Runtime)
	})
}

// remoteControl is what the model of a client does with a session that a person
// began in a shell, and what comes of it.
func remoteControl(t testing.TB, l *laptop.Laptop, g *lidguard.Guard, g4 []*modelserver.Gate, told func(n int) string) {
	t.Helper()
	waitHeld(t, l)
	g4[0].Open()
	if text := told(2); !strings.Contains(text, "night-build") || !strings.Contains(text, "custom") {
		t.Errorf("list_sessions told the model:\n%s", text)
	}
	g4[1].Open()
	waitFree(t, l, time.Now())
	waitSoftLock(t, g, "which colour?")
	g4[2].Open()
	waitHeld(t, l)
	g4[3].Open()
	waitFree(t, l, time.Now())
	if text := told(5); !strings.Contains(text, `"removed":1`) {
		t.Errorf("remove_session told the model:\n%s", text)
	}
	if s := statusOf(g); s.Runtime != nil && len(s.Runtime.Sessions) != 0 {
		t.Errorf("still tracked: %+v", s.Runtime.Sessions)
	}
}

// ownSession is what an agent does that reports its own work.
func ownSession(t testing.TB, l *laptop.Laptop, g *lidguard.Guard, g4 []*modelserver.Gate) {
	t.Helper()
	g4[0].Open()
	waitHeld(t, l)
	if s := statusOf(g).Runtime.Sessions; len(s) != 1 || s[0].Key.Provider != "mcp" || !s[0].Holds {
		t.Errorf("sessions: %+v", s)
	}
	g4[1].Open()
	waitFree(t, l, time.Now())
	waitSoftLock(t, g, "your reply")
	g4[2].Open()
	waitHeld(t, l)
	g4[3].Open()
	waitFree(t, l, time.Now())
}

func TestMCP_claudeCallsTheTools(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	claude.Install(t, l)
	tool := func(name string, input map[string]any) messages.Turn {
		return messages.Use(messages.Tool(name, input)).Once(name, messages.Bash("true"))
	}

	t.Run("mcp-server, another session", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		g.Run("mcp-install", "claude")
		g.Run("start", "--session", "night-build")
		g4 := gates(t, 4)
		c := claude.Run(t, l, claude.Options{NoRecorder: true, Allow: []string{"mcp__lidguard"}, Script: messages.Script{Turns: []messages.Turn{
			tool("mcp__lidguard__list_sessions", map[string]any{}).After(g4[0]),
			tool("mcp__lidguard__set_session_soft_lock", map[string]any{"session_id": "night-build", "reason": "which colour?"}).After(g4[1]),
			tool("mcp__lidguard__clear_session_soft_lock", map[string]any{"session_id": "night-build"}).After(g4[2]),
			tool("mcp__lidguard__remove_session", map[string]any{"session_id": "night-build"}).After(g4[3]),
			messages.Say("Done."),
		}}})
		remoteControl(t, l, g, g4, func(n int) string { return c.Model.WaitRequests(t, n).Text })
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
	})

	t.Run("provider-mcp-server, its own session", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		config := filepath.Join(l.Home(), "acme.json")
		g.Run("provider-mcp-install", "--config", config, "--provider-name", "acme")
		id := map[string]any{"sessionId": `{{re:"sessionId":"([0-9a-f]{8})"}}`}
		server := "mcp__lidguard-provider__provider_"
		g4 := gates(t, 4)
		c := claude.Run(t, l, claude.Options{NoRecorder: true, Allow: []string{"mcp__lidguard-provider"}, Args: []string{"--mcp-config", config},
			Script: messages.Script{Turns: []messages.Turn{
				tool(server+"start_session", map[string]any{"prompt": "night build"}).After(g4[0]),
				tool(server+"set_soft_lock", map[string]any{"sessionId": id["sessionId"], "reason": "your reply"}).After(g4[1]),
				tool(server+"clear_soft_lock", id).After(g4[2]),
				tool(server+"stop_session", id).After(g4[3]),
				messages.Say("Done."),
			}}})
		ownSession(t, l, g, g4)
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
	})

	t.Run("provider-mcp-server, a client that leaves without a word", func(t *testing.T) {
		l := l.For(t)
		thinking := modelserver.NewGate()
		c := claude.Run(t, l, claude.Options{NoRecorder: true, Allow: []string{"mcp__lidguard-provider"},
			Args: []string{"--mcp-config", filepath.Join(l.Home(), "acme.json")}, Script: messages.Script{Turns: []messages.Turn{
				tool("mcp__lidguard-provider__provider_start_session", map[string]any{}), messages.Say("Done.").After(thinking),
			}}})
		waitHeld(t, l)
		thinking.Open()
		c.Wait()
		waitFree(t, l, time.Now())
	})
}

func TestMCP_codexCallsTheTools(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	codex.Install(t, l)
	tool := func(server, name string, args map[string]any) responses.Turn {
		return responses.Turn{Call: name, Namespace: "mcp__" + server, Args: args}.Once("mcp__"+server, responses.Shell("true"))
	}

	t.Run("mcp-server, another session", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		g.Run("mcp-install", "codex")
		g.Run("start", "--session", "night-build")
		g4 := gates(t, 4)
		c := codex.Exec(t, l, codex.Options{NoRecorder: true, Sandbox: codex.FullAccess, Script: responses.Script{Turns: []responses.Turn{
			tool("lidguard", "list_sessions", nil).After(g4[0]),
			tool("lidguard", "set_session_soft_lock", map[string]any{"session_id": "night-build", "reason": "which colour?"}).After(g4[1]),
			tool("lidguard", "clear_session_soft_lock", map[string]any{"session_id": "night-build"}).After(g4[2]),
			tool("lidguard", "remove_session", map[string]any{"session_id": "night-build"}).After(g4[3]),
			responses.Say("Done."),
		}}})
		remoteControl(t, l, g, g4, func(n int) string { return c.Model.WaitRequests(t, n).Text })
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
	})

	t.Run("provider-mcp-server, its own session", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		program := build.Program(t, "bin", "./cmd/lidguard")
		id := map[string]any{"sessionId": `{{re:"sessionId":"([0-9a-f]{8})"}}`}
		g4 := gates(t, 4)
		c := codex.Exec(t, l, codex.Options{NoRecorder: true, Sandbox: codex.FullAccess,
			Args: []string{"-c", fmt.Sprintf("mcp_servers.acme.command=%q", program), "-c", `mcp_servers.acme.args=["provider-mcp-server","--provider-name","acme"]`},
			Script: responses.Script{Turns: []responses.Turn{
				tool("acme", "provider_start_session", map[string]any{"prompt": "night build"}).After(g4[0]),
				tool("acme", "provider_set_soft_lock", map[string]any{"sessionId": id["sessionId"], "reason": "your reply"}).After(g4[1]),
				tool("acme", "provider_clear_soft_lock", id).After(g4[2]),
				tool("acme", "provider_stop_session", id).After(g4[3]),
				responses.Say("Done."),
			}}})
		ownSession(t, l, g, g4)
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
	})
}

// A model that names no session means its own: three clients say which that is, by
// the call or by the server's environment.
func TestMCP_theCallersOwnSession(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude", "codex", "copilot")
	g.Run("mcp-install", "all")
	reason := map[string]any{"reason": "which colour?"}
	told := func(client string, model *modelserver.Journal) {
		t.Helper()
		if !model.Saw(`"session":\{"provider":"` + client + `","session_id":"[0-9a-f-]{36}"`) {
			t.Errorf("%s: the model was not told of its own session", client)
		}
	}
	c := claude.Run(t, m, claude.Options{NoRecorder: true, Allow: []string{"mcp__lidguard"}, Script: messages.Script{Turns: []messages.Turn{
		messages.Use(messages.Tool("mcp__lidguard__set_session_soft_lock", reason)).Once("mcp__lidguard__set_session_soft_lock", messages.Bash("true")), messages.Say("Done.")}}})
	c.Wait()
	told("claude", &c.Model.Journal)
	x := codex.Exec(t, m, codex.Options{NoRecorder: true, Sandbox: codex.FullAccess, Script: responses.Script{Turns: []responses.Turn{
		responses.Turn{Call: "set_session_soft_lock", Namespace: "mcp__lidguard", Args: reason}.Once("mcp__lidguard", responses.Shell("true")), responses.Say("Done.")}}})
	x.Wait()
	told("codex", &x.Model.Journal)
	p := copilot.Run(t, m, copilot.Options{NoRecorder: true, Args: []string{"--allow-all-tools"}, Script: completions.Script{Turns: []completions.Turn{
		completions.Use(completions.Tool("lidguard-set_session_soft_lock", reason)).Once("lidguard-set_session_soft_lock", completions.Bash("true")), completions.Say("Done.")}}})
	p.Wait()
	told("copilot", &p.Model.Journal)
}
