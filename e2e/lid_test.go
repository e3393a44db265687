//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// absent is how every answer begins that lidguard gives in the person's place.
const absent = "Nobody is at this computer"

// The lid closes under one interactive Claude Code, again and again. Every part
// begins and ends with the lid open and nothing held.
func TestLid_claude(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude")
	g.Set("post-stop-suspend-delay-seconds", "1")
	elicits(t, l)
	gates := map[string]*modelserver.Gate{}
	for _, name := range []string{"ask", "question", "form", "allow", "leave", "end", "display"} {
		gates[name] = modelserver.NewGate()
		defer gates[name].Open()
	}
	c := claude.Open(t, l, claude.Options{
		Allow: []string{"mcp__asker__ask"},
		Script: messages.Script{Turns: []messages.Turn{
			messages.Bash("touch ${PROJECT}/asked").After(gates["ask"]), messages.Say("Then not that."),
			messages.Use(messages.Tool("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
				"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []any{
					map[string]any{"label": "Red", "description": "red"}, map[string]any{"label": "Blue", "description": "blue"}}}}})).After(gates["question"]),
			messages.Say("Then red."),
			messages.Use(messages.Tool("mcp__asker__ask", nil)).After(gates["form"]), messages.Say("Then no colour."),
			messages.Bash("touch ${PROJECT}/allowed").After(gates["allow"]), messages.Say("Touched."),
			messages.Bash("touch ${PROJECT}/left").After(gates["leave"]), messages.Say("Left."),
			messages.Bash("touch ${PROJECT}/ended").After(gates["end"]),
			messages.Bash("touch ${PROJECT}/displayed").After(gates["display"]), messages.Say("Seen."),
		}}})
	slept := 0
	// closed lets the model go on with the lid closed, and wakes the laptop
	// after it has slept once.
	closed := func(t *testing.T, gate string) {
		t.Helper()
		l := l.For(t)
		c.Say("go on with " + gate)
		waitHeld(t, l)
		l.CloseLid()
		l.StaysAwake(500 * time.Millisecond)
		gates[gate].Open()
		slept++
		l.WaitSleeps(slept)
		l.OpenLid()
		waitFree(t, l, time.Now())
		l.StaysAwake(300 * time.Millisecond)
	}

	t.Run("a permission prompt is denied with a message", func(t *testing.T) {
		closed(t, "ask")
		if exists(c.Project, "asked") {
			t.Error("the command ran although nobody allowed it")
		}
		if !c.Model.Saw(absent + ".*Bash") {
			t.Error("the model was not told why")
		}
		c.WaitHook(1, "Stop")
	})
	t.Run("a question is refused", func(t *testing.T) {
		closed(t, "question")
		if !c.Model.Saw(absent + ".*could answer a question") {
			t.Error("the model was not told why")
		}
		c.WaitHook(2, "Stop")
	})
	t.Run("the form of an MCP server is cancelled", func(t *testing.T) {
		closed(t, "form")
		if !c.Model.Saw("the person said cancel") {
			t.Error("the server was not told cancel")
		}
		c.WaitHook(3, "Stop")
	})
	t.Run("allow lets the command run", func(t *testing.T) {
		g.For(t).Set("closed-lid-permission-request-decision", "allow")
		closed(t, "allow")
		if !exists(c.Project, "allowed") {
			t.Error("the command did not run")
		}
		g.For(t).Set("closed-lid-permission-request-decision", "deny")
	})
	t.Run("ask leaves the prompt open and the machine sleeps", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		g.Set("closed-lid-permission-request-decision", "ask")
		closed(t, "leave")
		if s := statusOf(g); len(s.Runtime.Sessions) != 1 || s.Runtime.Sessions[0].SoftLock == "" || s.Runtime.Sessions[0].Holds {
			t.Errorf("the session at its open prompt: %+v", s.Runtime.Sessions)
		}
		c.Answer("Do you want", terminal.Enter)
		waitFree(t, l, c.WaitHook(5, "Stop").At)
		if !exists(c.Project, "left") {
			t.Error("the prompt could not be answered after the wake-up")
		}
		g.Set("closed-lid-permission-request-decision", "deny")
	})
	t.Run("interrupt ends the session by itself", func(t *testing.T) {
		g.For(t).Set("closed-lid-interrupt", "on")
		closed(t, "end")
		if exists(c.Project, "ended") || len(c.Hooks.Of(t, "Stop")) != 5 {
			t.Errorf("the turn went on: %v", c.Hooks.Events(t))
		}
	})
	// Last, since a display that was there a moment ago counts for half a minute.
	t.Run("at an external display nobody answers in the person's place", func(t *testing.T) {
		l := l.For(t)
		l.ConnectDisplay("HDMI-A-1")
		c.Say("go on with display")
		waitHeld(t, l)
		l.CloseLid()
		gates["display"].Open()
		c.Answer("Do you want", terminal.Enter) // the person, at the display
		c.WaitHook(6, "Stop")
		waitFree(t, l, time.Now())
		l.StaysAwake(2 * time.Second) // longer than the delay
		if !exists(c.Project, "displayed") {
			t.Error("the person's yes did not count")
		}
		l.OpenLid()
	})
}

// The delay between the last agent's end and the sleep, with headless clients.
func TestLid_theDelayBeforeTheSleep(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude", "codex")
	work := func(t *testing.T, gate *modelserver.Gate) *claude.Session {
		return claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.").After(gate)}}})
	}
	// delay sets it: long enough for whatever the test does meanwhile, or so short that
	// a suspend that still waits for its end comes now.
	delay := func(t *testing.T, seconds string) {
		t.Helper()
		g.For(t).Set("post-stop-suspend-delay-seconds", seconds)
	}
	// pending waits until the suspend is announced, or is no longer.
	pending := func(t *testing.T, want bool) {
		t.Helper()
		wait.Until(t, wait.Long, fmt.Sprintf("a sleep to be announced: %v", want), func() (bool, string) {
			text := g.For(t).Run("status")
			return strings.Contains(text, "sleep at") == want, text
		})
	}

	t.Run("an opened lid cancels it", func(t *testing.T) {
		l := l.For(t)
		delay(t, "600")
		thinking := modelserver.NewGate()
		c := work(t, thinking)
		waitHeld(t, l)
		l.CloseLid()
		thinking.Open()
		c.Wait()
		pending(t, true)
		l.OpenLid()
		waitFree(t, l, time.Now())
		pending(t, false)
		delay(t, "1")
		l.StaysAwake(3 * time.Second)
	})
	t.Run("a new prompt and then a second agent hold it up, then one sleep", func(t *testing.T) {
		l := l.For(t)
		delay(t, "600")
		first, second, third := modelserver.NewGate(), modelserver.NewGate(), modelserver.NewGate()
		c := codex.Open(t, l, codex.Options{Project: machine.Project(t, l, "other", true), Script: responses.Script{Turns: []responses.Turn{
			responses.Say("Done.").After(first), responses.Say("Done again.").After(second)}}})
		c.Say("Begin.")
		waitHeld(t, l)
		l.CloseLid()
		first.Open()
		c.WaitTurns(1)
		pending(t, true)
		c.Say("Go on.") // within the delay
		pending(t, false)
		delay(t, "1")
		staysHeld(t, l, 3*time.Second)
		other := work(t, third)
		other.Model.WaitRequests(t, 1) // lidguard's hook is over
		second.Open()
		c.WaitTurns(2)
		staysHeld(t, l, 7*time.Second) // the other one works: longer than a Stop settles and the delay
		l.StaysAwake(100 * time.Millisecond)
		third.Open()
		l.WaitSleeps(1)
		l.OpenLid()
		other.Wait()
		waitFree(t, l, time.Now())
		l.StaysAwake(6 * time.Second) // longer than the pause before a refused suspend is tried again
	})
}

// The same under Codex, by its app-server.
func TestLid_codex(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "codex")
	g.Set("post-stop-suspend-delay-seconds", "1")
	ask, question, allow := modelserver.NewGate(), modelserver.NewGate(), modelserver.NewGate()
	c := codex.Open(t, l, codex.Options{Script: responses.Script{Turns: []responses.Turn{
		responses.Escalated("touch asked", "needs to write").After(ask), responses.Say("Then not."),
		responses.Ask("colour", "Which colour?", "Red", "Blue").After(question), responses.Say("Then red."),
		responses.Escalated("touch allowed", "needs to write").After(allow), responses.Say("Touched."),
	}}})
	slept := 0
	closed := func(gate *modelserver.Gate) {
		t.Helper()
		waitHeld(t, l)
		l.CloseLid()
		l.StaysAwake(500 * time.Millisecond)
		gate.Open()
		slept++
		l.WaitSleeps(slept)
		l.OpenLid()
		c.WaitTurns(slept)
		waitFree(t, l, time.Now())
	}
	c.Say("Go on.")
	closed(ask)
	if !c.Model.Saw(absent + ".*Bash") {
		t.Error("the model was not told why its command was refused")
	}
	if exists(c.Project, "asked") {
		t.Error("the command ran although nobody allowed it")
	}
	c.Plan("Ask me.")
	closed(question)
	if !c.Model.Saw(absent + ".*could answer a question") {
		t.Error("the model was not told why its question was refused")
	}
	g.Set("closed-lid-permission-request-decision", "allow")
	c.Say("Go on.")
	closed(allow)
	if !exists(c.Project, "allowed") {
		t.Error("the command did not run although the setting allows it")
	}
	if asked := c.Prompts(); len(asked) != 0 {
		t.Errorf("the person was asked %d times, want never", len(asked))
	}
	c.Exit()
}

// elicits gives Claude an MCP server whose one tool asks the person for a
// colour and says how that ended.
func elicits(t testing.TB, m machine.Machine) {
	t.Helper()
	server := filepath.Join(m.Home(), "asker.js")
	machine.Write(t, m, server, asker)
	path := filepath.Join(m.Home(), ".claude.json")
	state := strings.TrimSuffix(strings.TrimSpace(read(t, path)), "}")
	machine.Write(t, m, path, state+fmt.Sprintf(`, "mcpServers": {"asker": {"type": "stdio", "command": "node", "args": [%q], "env": {}}}}`, server))
}

const asker = `
const send = message => process.stdout.write(JSON.stringify({jsonrpc: "2.0", ...message}) + "\n")
let asked
require("readline").createInterface({input: process.stdin}).on("line", line => {
	const m = JSON.parse(line)
	if (m.id === "colour") {
		send({id: asked, result: {content: [{type: "text", text: "the person said " + m.result.action}]}})
	} else if (m.method === "initialize") {
		send({id: m.id, result: {protocolVersion: m.params.protocolVersion, capabilities: {tools: {}}, serverInfo: {name: "asker", version: "1"}}})
	} else if (m.method === "tools/list") {
		send({id: m.id, result: {tools: [{name: "ask", description: "Ask the person.", inputSchema: {type: "object", properties: {}}}]}})
	} else if (m.method === "tools/call") {
		asked = m.id
		send({id: "colour", method: "elicitation/create", params: {message: "Which colour?",
			requestedSchema: {type: "object", properties: {colour: {type: "string"}}, required: ["colour"]}}})
	} else if (m.id !== undefined && m.method) {
		send({id: m.id, result: {}})
	}
})
`
