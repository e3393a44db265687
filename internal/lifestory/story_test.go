package lifestory

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/codex"
	codexlog "github.com/lidguard-go/lidguard/internal/provider/codex/transcript"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
	copilotlog "github.com/lidguard-go/lidguard/internal/provider/copilot/transcript"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
	"github.com/lidguard-go/lidguard/internal/session"
)

// story is one life, once per client.
type story struct {
	name                             string
	claude, codex, copilot, opencode cell
}

// cell is how one client tells a story, or why it cannot.
type cell struct {
	steps []step
	// home: somebody stays at the open lid; with the lid shut it would be another
	// story, mostly because of a dialog that would be answered.
	home   bool
	cannot string
}

func (s story) cell(p event.Provider) cell {
	switch p {
	case event.Claude:
		return s.claude
	case event.Codex:
		return s.codex
	case event.Copilot:
		return s.copilot
	}
	return s.opencode
}

var providers = []event.Provider{event.Claude, event.Codex, event.Copilot, event.OpenCode}

// told is a story that ends alike whether the person stays or leaves once work runs.
func told(parts ...any) cell {
	var c cell
	for _, p := range parts {
		switch p := p.(type) {
		case step:
			c.steps = append(c.steps, p)
		case []step:
			c.steps = append(c.steps, p...)
		}
	}
	return c
}

// atHome is a story whose lid moves only by its own steps.
func atHome(parts ...any) cell {
	c := told(parts...)
	c.home = true
	return c
}

// cannot says why this client has no such story, with the contract's section.
func cannot(why string) cell { return cell{cannot: why} }

// Openings: a session begins and a prompt is sent.
var (
	claudeBegins   = []step{hook("SessionStart"), idle(), hook("UserPromptSubmit"), works()}
	codexBegins    = []step{hook("SessionStart"), idle(), hook("UserPromptSubmit"), works()}
	copilotBegins  = []step{hook("sessionStart"), idle(), hook("userPromptSubmitted"), works()}
	opencodeBegins = []step{hook("event-session.created"), idle(), hook("hook-chat.message"), hook("event-session.status.busy"), works()}
)

// A tool call that runs to its end.
var (
	claudeCalls   = []step{hook("PreToolUse"), inTool(), hook("PostToolUse"), works()}
	codexCalls    = []step{hook("PreToolUse"), inTool(), hook("PostToolUse"), works()}
	copilotCalls  = []step{hook("preToolUse"), hook("permissionRequest"), inTool(), hook("postToolUse"), works()}
	opencodeCalls = []step{hook("hook-tool.execute.before"), inTool(), hook("hook-tool.execute.after"), works()}
)

const (
	normal      = session.Normal
	interrupted = session.Interrupted
	cancelled   = session.Cancelled
)

// many is n tool calls of one answer, begun one after the other and ended in
// another order.
func many(n int, before, after, id string) []step {
	var out []step
	for i := range n {
		out = append(out, hook(before, id, i2s(i)))
	}
	out = append(out, inTool())
	for i := range n {
		out = append(out, hook(after, id, i2s((i*5+3)%n)))
		if i < n-1 {
			out = append(out, inTool())
		}
	}
	return append(out, works())
}

func i2s(i int) string { return "call-" + string(rune('a'+i)) }

// manyCommands is the same for a client that names calls by their arguments.
func manyCommands(n int) []step {
	var out []step
	for i := range n {
		out = append(out, hook("preToolUse", "toolArgs.command", "make "+i2s(i)))
	}
	out = append(out, inTool())
	for i := range n {
		out = append(out, hook("postToolUse", "toolArgs.command", "make "+i2s((i*5+3)%n)))
		if i < n-1 {
			out = append(out, inTool())
		}
	}
	return append(out, works())
}

const esc = `{"type":"user","isSidechain":false,"message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`

var stories = []story{
	{
		name: "normal turn",
		claude: told(claudeBegins, lines("transcript-basic", 0, 11), claudeCalls, lines("transcript-basic", 12, 17),
			hook("Stop"), settling(), lines("transcript-basic", 18, 23), ends(normal, "completed"), hook("SessionEnd")),
		codex: told(codexBegins, lines("rollout-completed", 0, 12), codexCalls, lines("rollout-completed", 13, 29),
			hook("Stop"), settling(), lines("rollout-completed", 30, 30), ends(normal, "completed"), hook("SessionEnd")),
		copilot: told(copilotBegins, lines("events-basic", 0, 12), copilotCalls, lines("events-basic", 13, 24),
			hook("agentStop"), settling(), lines("events-basic", 25, 28), ends(normal, "end_turn"), hook("sessionEnd.user_exit")),
		opencode: told(plugin("events-run-basic", 0), idle(), plugin("events-run-basic", 2), plugin("events-run-basic", 4), works(),
			plugin("events-run-basic", 11), inTool(), plugin("events-run-basic", 13), works(),
			plugin("events-run-basic", 22), settling(), ends(normal, "completed")),
	},
	{
		name: "interrupted before the first word",
		claude: told(claudeBegins, lines("transcript-interrupt-stream", 0, 8), works(), wait(11*time.Minute), works(),
			wait(2*time.Minute), waits(session.ReasonTimeout)), // nothing tells: contract §8 has no record of it
		codex:   told(codexBegins, hook("Interrupt"), ends(interrupted, "codex_interrupt")),
		copilot: told(copilotBegins, lines("events-tui-abort-stream", 0, 12), ends(interrupted, "copilot_transcript_abort_user_abort")),
		opencode: told(plugin("events-tui-abort", 0), plugin("events-tui-abort", 1), plugin("events-tui-abort", 3), works(),
			plugin("events-tui-abort", 10), plugin("events-tui-abort", 11), ends(interrupted, opencode.ReasonAborted)),
	},
	{
		name:   "interrupted while writing",
		claude: told(claudeBegins, lines("transcript-interrupt-stream", 0, 4), works(), line(esc), ends(interrupted, "claude_transcript_interrupted")),
		codex: told(codexBegins, lines("rollout-interrupted", 0, 8), works(), hook("Interrupt"),
			lines("rollout-interrupted", 13, 14), ends(interrupted, "codex_interrupt")),
		copilot: told(copilotBegins, lines("events-tui-abort-stream", 0, 10), works(), lines("events-tui-abort-stream", 11, 12),
			ends(interrupted, "copilot_transcript_abort_user_abort")),
		opencode: told(opencodeBegins, hook("event-session.error.MessageAbortedError"), hook("event-session.status.idle"),
			ends(interrupted, opencode.ReasonAborted)),
	},
	{
		name: "interrupted in a tool",
		claude: told(claudeBegins, hook("PreToolUse"), lines("transcript-interrupt-tool", 0, 11), inTool(),
			lines("transcript-interrupt-tool", 12, 19), ends(interrupted, "claude_transcript_interrupted")),
		codex: told(codexBegins, hook("PreToolUse"), lines("rollout-interrupted", 0, 10), inTool(),
			lines("rollout-interrupted", 11, 15), // the hook was lost: the file alone tells
			ends(interrupted, "codex_transcript_turn_aborted"), hook("Interrupt"), ends(interrupted, "codex_transcript_turn_aborted")),
		copilot: told(copilotBegins, hook("preToolUse"), lines("events-tui-abort-stream", 0, 10), inTool(),
			lines("events-tui-abort-stream", 11, 12), ends(interrupted, "copilot_transcript_abort_user_abort")),
		// The tool's end is told after the idle (contract §3).
		opencode: told(opencodeBegins, hook("hook-tool.execute.before"), inTool(), hook("event-session.error.MessageAbortedError"),
			hook("event-session.status.idle"), hook("hook-tool.execute.after"), ends(interrupted, opencode.ReasonAborted)),
	},
	{
		name: "a failed tool that says it was interrupted",
		// Documented, and never sent by the client that was measured (contracts/claude §11).
		claude:   told(claudeBegins, hook("PreToolUse"), inTool(), hook("PostToolUseFailure", "is_interrupt", true), ends(interrupted, claude.ReasonToolInterrupt)),
		codex:    cannot("the client has no event for a failed call, and none after an interrupt (contracts/codex §2)"),
		copilot:  cannot("a failure does not say why, and an aborted call may have no end (contracts/copilot §2)"),
		opencode: cannot("the call's end is told without a reason (contracts/opencode §3)"),
	},
	{
		name: "interrupted at a dialog",
		claude: atHome(claudeBegins, hook("PreToolUse"), hook("PermissionRequest"), waits(claude.ReasonPermission),
			lines("transcript-interrupt-tool", 12, 19), ends(interrupted, "claude_transcript_interrupted")),
		codex: atHome(codexBegins, hook("PreToolUse"), lines("rollout-permission-pending", 0, 9), hook("PermissionRequest"),
			waits(codex.ReasonPermission), wait(time.Hour), waits(codex.ReasonPermission), hook("Interrupt"),
			ends(interrupted, "codex_interrupt")),
		copilot: atHome(copilotBegins, hook("preToolUse"), hook("permissionRequest"), lines("events-tui-abort-prompt", 0, 18),
			waits(copilotlog.ReasonPrompt), hook("notification.permission_prompt"), lines("events-tui-abort-prompt", 19, 20),
			waits(copilotlog.ReasonPrompt), lines("events-tui-abort-prompt", 21, 23),
			ends(interrupted, "copilot_transcript_abort_user_initiated")),
		opencode: atHome(plugin("events-serve-permission-abort", 0), plugin("events-serve-permission-abort", 2),
			plugin("events-serve-permission-abort", 4), works(), plugin("events-serve-permission-abort", 9),
			plugin("events-serve-permission-abort", 10), waits(opencode.ReasonPermission),
			plugin("events-serve-permission-abort", 11), plugin("events-serve-permission-abort", 12),
			plugin("events-serve-permission-abort", 16), ends(interrupted, opencode.ReasonAborted)),
	},
	{
		name: "blocked prompt",
		claude: told(claudeBegins, lines("transcript-prompt-blocked", 0, 2), // by somebody else's hook: no Stop
			ends(interrupted, "claude_prompt_blocked")),
		codex: told(codexBegins, lines("rollout-prompt-blocked", 0, 7), ends(normal, "completed")),
		// Contract §1.9: no model call, no agentStop, no record: the time-out covers it.
		copilot:  told(copilotBegins, wait(13*time.Minute), waits(session.ReasonTimeout)),
		opencode: told(hook("event-session.created"), hook("hook-chat.message"), works(), wait(13*time.Minute), waits(session.ReasonTimeout)),
	},
	{
		name:   "API failure",
		claude: told(claudeBegins, lines("transcript-api-error", 0, 3), hook("StopFailure"), settling(), lines("transcript-api-error", 4, 4), ends(normal, "server_error"), hook("Notification.idle_prompt"), ends(normal, "server_error")),
		codex:  told(codexBegins, lines("rollout-failed", 0, 8), works(), lines("rollout-failed", 9, 9), ends(normal, "")),
		copilot: told(copilotBegins, lines("events-model-error", 0, 8), hook("errorOccurred"), works(), // one try of several
			lines("events-model-error", 9, 13), ends(normal, "query")),
		opencode: told(opencodeBegins, hook("event-session.status.retry"), works(), hook("event-session.error.APIError"),
			hook("event-session.status.idle"), ends(normal, "APIError")),
	},
	{
		name:     "API failure that no hook tells",
		claude:   told(claudeBegins, lines("transcript-api-error", 0, 4), ends(normal, "rate_limit")), // contract §1.13
		codex:    told(codexBegins, lines("rollout-failed", 0, 9), ends(normal, "")),
		copilot:  told(copilotBegins, lines("events-model-error", 0, 13), ends(normal, "query")),
		opencode: cannot("every end gives session.error or session.idle (contracts/opencode §1.7), and no transcript is read"),
	},
	{
		name: "subagent within the turn",
		claude: told(claudeBegins, hook("PreToolUse.Agent"), hook("SubagentStart"), hook("PreToolUse.subagent", "tool_use_id", "sub-1"), inTool(),
			hook("PostToolUse", "tool_use_id", "sub-1", "agent_id", "a0000000000000001", "agent_type", "general-purpose"),
			hook("StopFailure.subagent"), // only the side agent broke
			hook("SubagentStop"), inTool(), hook("PostToolUse.Agent-completed"), works(), hook("Stop"), ends(normal, "completed")),
		codex: told(codexBegins, hook("PreToolUse-spawn_agent"), hook("SubagentStart"), hook("UserPromptSubmit-subagent"),
			hook("PostToolUse", "tool_use_id", "call_001_2"), works(), hook("SubagentStop"), works(), hook("Stop"), ends(normal, "completed")),
		copilot: told(copilotBegins, hook("preToolUse.task"), hook("subagentStart"), hook("userPromptSubmitted.subagent"),
			hook("agentStop.subagent"), inTool(), hook("subagentStop"), hook("postToolUse.task"), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: told(plugin("events-serve-subagent", 0), plugin("events-serve-subagent", 2), plugin("events-serve-subagent", 4), works(),
			plugin("events-serve-subagent", 9), plugin("events-serve-subagent", 10), plugin("events-serve-subagent", 12),
			plugin("events-serve-subagent", 14), inTool(), plugin("events-serve-subagent", 22), inTool(), plugin("events-serve-subagent", 23), works(),
			plugin("events-serve-subagent", 34), ends(normal, "completed")),
	},
	{
		name: "subagent that outlives the root's stop",
		claude: told(claudeBegins, hook("SubagentStart"), hook("PostToolUse.Agent-async"), hook("Stop.background-subagent"), background(),
			wait(10*time.Minute), background(), hook("SubagentStop.background"), background(), // it still lists itself
			hook("UserPromptSubmit.task-agent"), lines("transcript-subagent-async", 16, 18), background(), hook("Stop"), ends(normal, "completed")),
		codex: told(codexBegins, hook("PreToolUse-spawn_agent"), hook("SubagentStart"), hook("PostToolUse", "tool_use_id", "call_001_2"),
			hook("Stop"), background(), wait(5*time.Minute), hook("PreToolUse", "agent_id", "00000000-0000-7000-8000-000000000004"), background(),
			hook("PostToolUse", "agent_id", "00000000-0000-7000-8000-000000000004"), background(),
			hook("SubagentStop"), settling(), ends(normal, "completed")),
		copilot: told(copilotBegins, hook("preToolUse.task-background"), hook("subagentStart"), hook("postToolUse.task-background"), works(),
			hook("agentStop"), background(), hook("sessionEnd"), background(), lines("events-subagent", 29, 45), background(),
			hook("subagentStop"), hook("notification.agent_idle"), lines("events-subagent", 46, 52), hook("agentStop"), ends(normal, "end_turn")),
		opencode: cannot("a subagent runs inside the task tool, whose end the root waits for (contracts/opencode §1.8)"),
	},
	{
		name: "subagent goes on after the root was interrupted",
		claude: told(claudeBegins, hook("SubagentStart"), hook("PostToolUse.Agent-async"), line(esc), ends(interrupted, "claude_transcript_interrupted"),
			hook("SubagentStop"), ends(interrupted, "claude_transcript_interrupted")),
		codex: told(codexBegins, hook("SubagentStart"), hook("Interrupt"), background(), wait(time.Minute), hook("SubagentStop"),
			ends(interrupted, "codex_interrupt")),
		copilot: told(copilotBegins, hook("subagentStart"), lines("events-tui-abort-stream", 11, 12), ends(interrupted, "copilot_transcript_abort_user_abort"),
			hook("subagentStop"), ends(interrupted, "copilot_transcript_abort_user_abort")),
		opencode: cannot("aborting the root aborts the task call its subagent runs in (contracts/opencode §1.8)"),
	},
	{
		name: "background shell",
		claude: told(claudeBegins, hook("PreToolUse"), hook("PostToolUse.Bash-background"), lines("transcript-background-idle", 0, 16),
			hook("Stop.background-shell", "background_tasks", running("b00000002", "shell")), lines("transcript-background-idle", 17, 20), background(),
			wait(9*time.Minute), background(), busy(), wait(9*time.Minute), background(),
			hook("UserPromptSubmit.task-shell"), lines("transcript-background-idle", 21, 22), background(),
			hook("Stop"), lines("transcript-background-idle", 23, 24), ends(normal, "completed")),
		codex: told(codexBegins, hook("PreToolUse"), line(codexLeft), hook("PostToolUse"), hook("Stop"),
			background(), wait(11*time.Minute), background(), line(codexEnded), settling(), ends(normal, "completed")),
		copilot: told(copilotBegins, hook("preToolUse.bash-background"), hook("postToolUse.bash-background"), lines("events-shell-background", 0, 24),
			hook("agentStop"), background(), hook("sessionEnd"), background(), wait(5*time.Minute), background(),
			hook("userPromptSubmitted.system-notification"), hook("notification.shell_completed"), lines("events-shell-background", 31, 39),
			hook("agentStop"), hook("sessionEnd"), ends(normal, "")),
		opencode: cannot("no tool of the client leaves a command behind (contracts/opencode §3)"),
	},
	{
		name: "background work without a list from the client",
		claude: told(claudeBegins, hook("PreToolUse"), hook("PostToolUse.Bash-background"),
			hook("Stop", "background_tasks", nil, "session_crons", nil), background(), // before 2.1.197 or so
			hook("UserPromptSubmit.task-shell"), lines("transcript-background-idle", 21, 22), background(),
			hook("Stop", "background_tasks", nil, "session_crons", nil), ends(normal, "completed")),
		codex:    cannot("no client version lists its work; the plain story is that case (contracts/codex §5)"),
		copilot:  cannot("no payload lists pending work; the plain story is that case (contracts/copilot §4)"),
		opencode: cannot("no tool of the client leaves a command behind (contracts/opencode §3)"),
	},
	{
		name: "monitor that never ends",
		claude: told(claudeBegins, hook("PostToolUse.Monitor"), hook("Stop.background-monitor"), background(),
			wait(10*time.Minute), hook("UserPromptSubmit.task-monitor-event"), hook("Stop.background-monitor"), wait(10*time.Minute), background(),
			hook("UserPromptSubmit.task-monitor-end", "prompt", monitorEnd), hook("Stop"), hook("UserPromptSubmit"), hook("Stop"), ends(normal, "completed")),
		codex: cannot("the client has no monitors (contracts/codex §5)"),
		copilot: told(copilotBegins, hook("preToolUse.bash-detached"), hook("postToolUse.bash-detached"), hook("agentStop"), background(),
			wait(13*time.Minute), waits(session.ReasonTimeout)), // a detached shell's end is never told (contract §4)
		opencode: cannot("no tool of the client leaves a command behind (contracts/opencode §3)"),
	},
	{
		name: "question open, then answered",
		claude: atHome(claudeBegins, hook("PreToolUse.AskUserQuestion"), waits(claude.ReasonQuestion), hook("PermissionRequest.AskUserQuestion"),
			hook("Notification"), wait(48*time.Minute), waits(claude.ReasonQuestion), hook("PostToolUse.AskUserQuestion"), works(),
			hook("Stop"), ends(normal, "completed")),
		codex: atHome(codexBegins, lines("rollout-request-user-input", 0, 8), hook("PreToolUse-request_user_input"), lines("rollout-request-user-input", 9, 10), waits(codex.ReasonQuestion),
			wait(48*time.Minute), waits(codex.ReasonQuestion), lines("rollout-request-user-input", 11, 12), works(),
			hook("PostToolUse-request_user_input"), works(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(copilotBegins, lines("events-tui-ask-user", 0, 13), hook("preToolUse.ask_user"), waits(copilot.ReasonQuestion),
			hook("notification.elicitation_dialog"), lines("events-tui-ask-user", 14, 17), wait(48*time.Minute), waits(copilot.ReasonQuestion),
			lines("events-tui-ask-user", 18, 18), hook("postToolUse.ask_user"), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: atHome(plugin("events-serve-question", 0), plugin("events-serve-question", 2), plugin("events-serve-question", 4), works(),
			plugin("events-serve-question", 9), plugin("events-serve-question", 10), waits(opencode.ReasonQuestion), wait(48*time.Minute),
			waits(opencode.ReasonQuestion), plugin("events-serve-question", 11), inTool(), plugin("events-serve-question", 12), works(),
			plugin("events-serve-question", 21), ends(normal, "completed")),
	},
	{
		name:   "question open that only the transcript tells",
		claude: cannot("an assistant record is written before the hooks that tell the same (contracts/claude §8); the hook is the only word"),
		codex: atHome(codexBegins, lines("rollout-request-user-input-pending", 0, 9), waits(codexlog.ReasonQuestion), wait(20*time.Minute),
			waits(codexlog.ReasonQuestion), lines("rollout-request-user-input", 10, 17), works(), lines("rollout-request-user-input", 18, 18),
			ends(normal, "completed")),
		copilot:  cannot("the question itself is not recorded (contracts/copilot §5)"),
		opencode: cannot("the client's log is not read; its plugin tells everything (contracts/opencode §7)"),
	},
	{
		name: "permission open, then answered by the person",
		claude: atHome(claudeBegins, hook("PreToolUse"), hook("PermissionRequest"), waits(claude.ReasonPermission), hook("Notification"),
			wait(time.Hour), waits(claude.ReasonPermission), hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed")),
		codex: atHome(codexBegins, hook("PreToolUse"), lines("rollout-permission-pending", 0, 9), hook("PermissionRequest"), waits(codex.ReasonPermission),
			wait(time.Hour), waits(codex.ReasonPermission), hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(copilotBegins, hook("preToolUse"), hook("permissionRequest"), lines("events-tui-permission", 0, 18), hook("notification.permission_prompt"),
			waits(copilotlog.ReasonPrompt), lines("events-tui-permission", 19, 20), wait(time.Hour), waits(copilotlog.ReasonPrompt),
			lines("events-tui-permission", 21, 21), inTool(), hook("postToolUse"), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: atHome(plugin("events-tui-permission", 0), plugin("events-tui-permission", 1), plugin("events-tui-permission", 3), works(),
			plugin("events-tui-permission", 10), plugin("events-tui-permission", 11), waits(opencode.ReasonPermission), wait(time.Hour),
			waits(opencode.ReasonPermission), plugin("events-tui-permission", 12), inTool(), plugin("events-tui-permission", 14), works(),
			plugin("events-tui-permission", 23), ends(normal, "completed")),
	},
	{
		name: "permission asked with the lid closed, refused by lidguard",
		claude: atHome(claudeBegins, lidCloses(), hook("PreToolUse"), hook("PermissionRequest").answers(`"behavior":"deny"`, "Nobody is at this computer"),
			inTool(), hook("PostToolBatch", "tool_calls.0.x", nil), hook("Stop"), ends(normal, "completed")),
		codex: atHome(codexBegins, lidCloses(), hook("PreToolUse"), hook("PermissionRequest").answers(`"behavior":"deny"`, "Nobody is at this computer"),
			inTool(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(setting("closed-lid-copilot-strict", "true"), copilotBegins, lidCloses(), hook("preToolUse"),
			hook("permissionRequest").answers(`"behavior":"deny"`, `"interrupt":true`), // and so the end, which nobody else tells (contract §1.4)
			lines("events-tui-interrupt", 18, 21), ends(interrupted, copilot.ReasonDenyInterrupt)),
		opencode: atHome(opencodeBegins, lidCloses(), hook("hook-tool.execute.before"), hook("event-permission.asked").answers(`"reply":"reject"`, "Nobody is at this computer"),
			hook("event-permission.replied.reject"), inTool(), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "permission refused with an end of the turn",
		claude: atHome(setting("closed-lid-interrupt", "true"), claudeBegins, lidCloses(), hook("PreToolUse"),
			hook("PermissionRequest").answers(`"behavior":"deny"`, `"interrupt":true`), lines("transcript-deny-interrupt", 50, 53),
			ends(interrupted, claude.ReasonDenyInterrupt)),
		codex: cannot("interrupt:true is invalid there and would fail the hook (contracts/codex §1.7)"),
		copilot: atHome(setting("closed-lid-copilot-strict", "true"), copilotBegins, lidCloses(), hook("preToolUse"),
			hook("permissionRequest").answers(`"interrupt":true`), ends(interrupted, copilot.ReasonDenyInterrupt)),
		opencode: atHome(setting("closed-lid-interrupt", "true"), opencodeBegins, lidCloses(), hook("hook-tool.execute.before"),
			hook("event-permission.asked").answers(`"reply":"reject"`), hook("event-session.idle"), ends(interrupted, opencode.ReasonRejected)),
	},
	{
		name: "permission asked with the lid closed, granted by lidguard",
		claude: atHome(setting("closed-lid-permission-request-decision", "allow"), claudeBegins, lidCloses(), hook("PreToolUse"),
			hook("PermissionRequest").answers(`"behavior":"allow"`), inTool(), hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed")),
		codex: atHome(setting("closed-lid-permission-request-decision", "allow"), codexBegins, lidCloses(), hook("PreToolUse"),
			hook("PermissionRequest").answers(`"behavior":"allow"`), inTool(), hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(setting("closed-lid-permission-request-decision", "allow"), copilotBegins, lidCloses(), hook("preToolUse"),
			hook("permissionRequest").answers(`"behavior":"allow"`), inTool(), hook("postToolUse"), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: atHome(setting("closed-lid-permission-request-decision", "allow"), opencodeBegins, lidCloses(), hook("hook-tool.execute.before"),
			hook("event-permission.asked").answers(`"reply":"once"`), hook("event-permission.replied.once"), inTool(),
			hook("hook-tool.execute.after"), works(), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "permission left open with the lid closed",
		claude: atHome(setting("closed-lid-permission-request-decision", "ask"), claudeBegins, lidCloses(), hook("PreToolUse"),
			hook("PermissionRequest"), waits("closed_lid_permission_request_ask")),
		codex: atHome(setting("closed-lid-permission-request-decision", "ask"), codexBegins, lidCloses(), hook("PreToolUse"),
			hook("PermissionRequest"), waits("closed_lid_permission_request_ask")),
		// The request is no prompt; without strictness the prompt that opens stays (contract §1.1).
		copilot: atHome(copilotBegins, lidCloses(), hook("preToolUse"), hook("permissionRequest"), inTool(),
			hook("notification.permission_prompt"), waits("copilot_notification_permission_prompt")),
		opencode: atHome(setting("closed-lid-permission-request-decision", "ask"), opencodeBegins, lidCloses(), hook("hook-tool.execute.before"),
			hook("event-permission.asked"), waits("closed_lid_permission_request_ask")),
	},
	{
		name: "question asked with the lid closed",
		claude: atHome(claudeBegins, lidCloses(), hook("PreToolUse.AskUserQuestion").answers(`"permissionDecision":"deny"`, "Nobody is at this computer"),
			works(), hook("Elicitation").answers(`"action":"cancel"`), works(), hook("Stop"), ends(normal, "completed")),
		codex: atHome(codexBegins, lidCloses(), hook("PreToolUse-request_user_input").answers(`"permissionDecision":"deny"`, "Nobody is at this computer"),
			works(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(copilotBegins, lidCloses(), hook("preToolUse.ask_user").answers(`"permissionDecision":"deny"`, "Nobody is at this computer"),
			works(), hook("preToolUse.exit_plan_mode").answers(`"permissionDecision":"deny"`), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: atHome(opencodeBegins, lidCloses(), hook("hook-tool.execute.before.question").answers(`"do":"refuse"`, "Nobody is at this computer"), works(),
			hook("event-question.asked").answers(`"do":"reject"`), works(), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "lid closed on an open dialog",
		// A hook that has left the dialog to a person is not asked again (contracts/claude §3).
		claude: atHome(claudeBegins, hook("PreToolUse"), hook("PermissionRequest"), waits(claude.ReasonPermission), lidCloses(), waits(claude.ReasonPermission)),
		codex:  atHome(codexBegins, hook("PreToolUse"), hook("PermissionRequest"), waits(codex.ReasonPermission), lidCloses(), waits(codex.ReasonPermission)),
		copilot: atHome(copilotBegins, hook("preToolUse"), hook("notification.permission_prompt"), waits("copilot_notification_permission_prompt"),
			lidCloses(), waits("copilot_notification_permission_prompt")),
		opencode: atHome(opencodeBegins, hook("hook-tool.execute.before"), hook("event-permission.asked"), waits(opencode.ReasonPermission),
			lidCloses(), waits(opencode.ReasonPermission)),
	},
	{
		name: "lid closed after the dialog was answered",
		claude: atHome(claudeBegins, hook("PreToolUse"), hook("PermissionRequest"), waits(claude.ReasonPermission), hook("PostToolUse"), works(),
			lidCloses(), wait(time.Minute), works(), hook("Stop"), ends(normal, "completed")),
		codex: atHome(codexBegins, hook("PreToolUse"), hook("PermissionRequest"), waits(codex.ReasonPermission), hook("PostToolUse"), works(),
			lidCloses(), wait(time.Minute), works(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(copilotBegins, hook("preToolUse"), hook("notification.permission_prompt"), waits("copilot_notification_permission_prompt"),
			hook("postToolUse"), works(), lidCloses(), wait(time.Minute), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: atHome(opencodeBegins, hook("hook-tool.execute.before"), hook("event-permission.asked"), waits(opencode.ReasonPermission),
			hook("event-permission.replied.once"), inTool(), lidCloses(), wait(time.Minute), inTool(), hook("hook-tool.execute.after"),
			hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name:     "lid opened again before the machine sleeps",
		claude:   atHome(claudeBegins, lidCloses(), hook("Stop"), ends(normal, "completed"), wait(5*time.Second), lidOpens(), wait(time.Minute)),
		codex:    atHome(codexBegins, lidCloses(), hook("Stop"), ends(normal, "completed"), wait(5*time.Second), lidOpens(), wait(time.Minute)),
		copilot:  atHome(copilotBegins, lidCloses(), hook("agentStop"), ends(normal, "end_turn"), wait(5*time.Second), lidOpens(), wait(time.Minute)),
		opencode: atHome(opencodeBegins, lidCloses(), hook("event-session.idle"), ends(normal, "completed"), wait(5*time.Second), lidOpens(), wait(time.Minute)),
	},
	{
		name: "new id by clear, in the middle of the work",
		claude: told(claudeBegins, hook("SessionEnd.clear"), hook("SessionStart.clear").of("s2"), expect("working", true, "").of("s2"), carried("claude:s2"),
			hook("Stop").of("s2"), ends(normal, "completed").of("s2")),
		codex: told(codexBegins, hook("Stop"), hook("SessionStart", "source", "clear").of("s2"), hook("UserPromptSubmit").of("s2"), // no end of the old one (contract §5)
			expect("working", true, "").of("s2"), ends(normal, "completed"), hook("Stop").of("s2"), ends(normal, "completed").of("s2")),
		copilot: told(copilotBegins, hook("sessionEnd.user_exit"), hook("sessionEnd.user_exit"), ends(normal, "user_exit"), // twice with one payload (contract §2)
			hook("sessionStart").of("s2"), hook("userPromptSubmitted").of("s2"), works().of("s2"), hook("agentStop").of("s2"), ends(normal, "end_turn").of("s2")),
		opencode: told(opencodeBegins, hook("event-session.deleted"), ends(normal, "deleted"),
			hook("event-session.created").of("s2"), hook("hook-chat.message").of("s2"), works().of("s2"), hook("event-session.idle").of("s2"),
			ends(normal, "completed").of("s2")),
	},
	{
		name: "fork",
		claude: told(claudeBegins, hook("Stop"), ends(normal, "completed"), hook("SessionStart.fork").of("s2"), idle().of("s2"),
			hook("UserPromptSubmit").of("s2"), works().of("s2"), hook("Stop").of("s2"), ends(normal, "completed").of("s2")),
		codex: told(codexBegins, hook("Stop"), ends(normal, "completed"), hook("SessionStart", "source", "resume").of("s2"), idle().of("s2"),
			hook("UserPromptSubmit").of("s2"), works().of("s2"), hook("Stop").of("s2"), ends(normal, "completed").of("s2")),
		copilot: cannot("the client was not seen to fork a session; source is new, startup or resume (contracts/copilot §2)"),
		opencode: told(opencodeBegins, hook("event-session.idle"), ends(normal, "completed"), hook("event-session.created").of("s2"), idle().of("s2"),
			hook("hook-chat.message").of("s2"), works().of("s2"), hook("event-session.idle").of("s2"), ends(normal, "completed").of("s2")),
	},
	{
		name: "resume",
		claude: told(claudeBegins, hook("Stop"), ends(normal, "completed"), hook("SessionEnd.other"), hook("SessionStart.resume").by(1), idle(),
			hook("UserPromptSubmit").by(1), works(), exits(0), works(), hook("Stop").by(1), ends(normal, "completed")),
		codex: told(codexBegins, hook("Stop"), ends(normal, "completed"), hook("SessionEnd"), hook("SessionStart", "source", "resume").by(1), idle(),
			hook("UserPromptSubmit").by(1), works(), exits(0), works(), hook("Stop").by(1), ends(normal, "completed")),
		copilot: told(copilotBegins, hook("agentStop"), ends(normal, "end_turn"), hook("sessionEnd.user_exit"), hook("sessionStart.resume").by(1), idle(),
			hook("userPromptSubmitted").by(1), works(), exits(0), works(), hook("agentStop").by(1), ends(normal, "end_turn")),
		opencode: told(opencodeBegins, hook("event-session.idle"), ends(normal, "completed"), exits(0), hook("hook-chat.message").by(1), works(), // nothing tells of a resume
			hook("event-session.idle").by(1), ends(normal, "completed")),
	},
	{
		name:     "resume in the middle of the work, in one process",
		claude:   told(claudeBegins, hook("SessionEnd.resume.documented"), hook("SessionStart.resume").of("s2"), works().of("s2"), carried("claude:s2"), hook("Stop").of("s2"), ends(normal, "completed").of("s2")),
		codex:    told(codexBegins, hook("SessionStart", "source", "resume"), works(), hook("Stop"), ends(normal, "completed")),
		copilot:  told(copilotBegins, hook("sessionStart.resume"), works(), hook("agentStop"), ends(normal, "end_turn")), // it may come after the prompt (contract §2)
		opencode: cannot("a session that is taken up again is told by its next chat.message alone (contracts/opencode §2)"),
	},
	{
		name:     "the client crashes",
		claude:   told(claudeBegins, hook("PreToolUse"), inTool(), exits(0), ends(cancelled, "owner_exit")),
		codex:    told(codexBegins, hook("PreToolUse"), inTool(), exits(0), ends(cancelled, "owner_exit")),
		copilot:  told(copilotBegins, hook("preToolUse"), inTool(), exits(0), ends(cancelled, "owner_exit")),
		opencode: told(opencodeBegins, hook("hook-tool.execute.before"), inTool(), exits(0), ends(cancelled, "owner_exit")),
	},
	{
		name:    "the terminal closes",
		claude:  told(claudeBegins, hook("SessionEnd.other"), ends(normal, "other"), exits(0)),
		codex:   told(codexBegins, exits(0), ends(cancelled, "owner_exit")), // no hook at all (contract §5)
		copilot: told(copilotBegins, hook("sessionEnd.user_exit"), ends(normal, "user_exit"), exits(0)),
		opencode: told(plugin("events-tui-hangup", 0), plugin("events-tui-hangup", 1), plugin("events-tui-hangup", 3), works(),
			hook("hook-dispose", "sessions", []any{"s1"}), ends(normal, "dispose"), exits(0)),
	},
	{
		name:     "the client hangs",
		claude:   told(claudeBegins, hook("PreToolUse"), wait(11*time.Minute), inTool(), wait(2*time.Minute), waits(session.ReasonTimeout)),
		codex:    told(codexBegins, hook("PreToolUse"), wait(11*time.Minute), inTool(), wait(2*time.Minute), waits(session.ReasonTimeout)),
		copilot:  told(copilotBegins, hook("preToolUse"), wait(11*time.Minute), inTool(), wait(2*time.Minute), waits(session.ReasonTimeout)),
		opencode: told(opencodeBegins, hook("hook-tool.execute.before"), wait(11*time.Minute), inTool(), wait(2*time.Minute), waits(session.ReasonTimeout)),
	},
	{
		name:     "a long silent tool",
		claude:   told(claudeBegins, hook("PreToolUse"), building(), hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed")),
		codex:    told(codexBegins, hook("PreToolUse"), building(), hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed")),
		copilot:  told(copilotBegins, hook("preToolUse"), building(), hook("postToolUse"), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: told(opencodeBegins, hook("hook-tool.execute.before"), building(), hook("hook-tool.execute.after"), works(), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "the runtime crashes in the middle",
		// Locks die with the runtime, so a shut lid would put the machine to sleep there.
		claude: atHome(claudeBegins, hook("PreToolUse"), inTool(), runtimeCrashes(), inTool(), hook("PostToolUse"), hook("SubagentStart"),
			hook("Stop.background-subagent"), runtimeCrashes(), background(), hook("SubagentStop"), hook("UserPromptSubmit"), hook("Stop"),
			runtimeCrashes(), ends(normal, "completed")),
		codex: atHome(codexBegins, hook("PreToolUse"), inTool(), runtimeCrashes(), inTool(), hook("PostToolUse"), hook("SubagentStart"), hook("Stop"),
			runtimeCrashes(), background(), hook("SubagentStop"), runtimeCrashes(), ends(normal, "completed")),
		copilot: atHome(copilotBegins, hook("preToolUse"), inTool(), runtimeCrashes(), inTool(), hook("postToolUse"), hook("subagentStart"), hook("agentStop"),
			runtimeCrashes(), background(), hook("subagentStop"), hook("agentStop"), runtimeCrashes(), ends(normal, "end_turn")),
		opencode: atHome(opencodeBegins, hook("hook-tool.execute.before"), inTool(), runtimeCrashes(), inTool(), hook("hook-tool.execute.after"), works(),
			hook("event-session.idle"), runtimeCrashes(), ends(normal, "completed")),
	},
	{
		name: "the runtime crashes at an open dialog",
		claude: atHome(claudeBegins, hook("PreToolUse"), hook("PermissionRequest"), waits(claude.ReasonPermission), runtimeCrashes(), waits(claude.ReasonPermission),
			hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed")),
		codex: atHome(codexBegins, lines("rollout-request-user-input", 0, 8), hook("PreToolUse-request_user_input"), lines("rollout-request-user-input", 9, 10), waits(codex.ReasonQuestion), runtimeCrashes(),
			waits(codex.ReasonQuestion), wait(5*time.Second), lines("rollout-request-user-input", 11, 17), works(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(copilotBegins, hook("preToolUse"), lines("events-tui-permission", 0, 18), waits(copilotlog.ReasonPrompt), runtimeCrashes(),
			waits(copilotlog.ReasonPrompt), lines("events-tui-permission", 19, 21), inTool(), hook("postToolUse"), hook("agentStop"), ends(normal, "end_turn")),
		opencode: atHome(opencodeBegins, hook("hook-tool.execute.before"), hook("event-permission.asked"), waits(opencode.ReasonPermission), runtimeCrashes(),
			waits(opencode.ReasonPermission), hook("event-permission.replied.once"), inTool(), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "two clients at once",
		claude: told(claudeBegins, hook("SessionStart").of("s2").by(1), hook("UserPromptSubmit").of("s2").by(1), works().of("s2"), works(), hook("Stop"),
			ends(normal, "completed"), works().of("s2"), wait(time.Minute), works().of("s2"), hook("Stop").of("s2").by(1), ends(normal, "completed").of("s2")),
		codex: told(codexBegins, hook("UserPromptSubmit").of("s2").by(1), works().of("s2"), works(), exits(0), ends(cancelled, "owner_exit"), works().of("s2"),
			wait(time.Minute), works().of("s2"), hook("Stop").of("s2").by(1), ends(normal, "completed").of("s2")),
		copilot: told(copilotBegins, hook("userPromptSubmitted").of("s2").by(1), works().of("s2"), works(), hook("agentStop"), ends(normal, "end_turn"),
			works().of("s2"), wait(time.Minute), works().of("s2"), hook("agentStop").of("s2").by(1), ends(normal, "end_turn").of("s2")),
		opencode: told(opencodeBegins, hook("hook-chat.message").of("s2").by(1), works().of("s2"), works(), hook("event-session.idle"), ends(normal, "completed"),
			works().of("s2"), wait(time.Minute), works().of("s2"), hook("event-session.idle").of("s2").by(1), ends(normal, "completed").of("s2")),
	},
	{
		name:     "twelve tool calls at once",
		claude:   told(claudeBegins, many(12, "PreToolUse", "PostToolUse", "tool_use_id"), hook("Stop"), ends(normal, "completed")),
		codex:    told(codexBegins, many(12, "PreToolUse", "PostToolUse", "tool_use_id"), hook("Stop"), ends(normal, "completed")),
		copilot:  told(copilotBegins, manyCommands(12), hook("agentStop"), ends(normal, "end_turn")),
		opencode: told(opencodeBegins, many(12, "hook-tool.execute.before", "hook-tool.execute.after", "input.callID"), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "a dialog among parallel calls",
		claude: atHome(claudeBegins, hook("PreToolUse", "tool_use_id", "one"), hook("PreToolUse.AskUserQuestion", "tool_use_id", "two"), waits(claude.ReasonQuestion),
			hook("PostToolUse", "tool_use_id", "one"), waits(claude.ReasonQuestion), // another call's end is no answer
			hook("PostToolUse.AskUserQuestion", "tool_use_id", "two"), works(), hook("Stop"), ends(normal, "completed")),
		codex: atHome(codexBegins, hook("PreToolUse", "tool_use_id", "one"), hook("PreToolUse-request_user_input", "tool_use_id", "two"), waits(codex.ReasonQuestion),
			hook("PostToolUse", "tool_use_id", "one"), waits(codex.ReasonQuestion),
			hook("PostToolUse-request_user_input", "tool_use_id", "two"), works(), hook("Stop"), ends(normal, "completed")),
		copilot: atHome(copilotBegins, hook("preToolUse"), hook("preToolUse.ask_user"), waits(copilot.ReasonQuestion), hook("postToolUse"),
			waits(copilot.ReasonQuestion), hook("postToolUse.ask_user"), works(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: atHome(opencodeBegins, hook("hook-tool.execute.before", "input.callID", "one"), hook("hook-tool.execute.before.question"), hook("event-question.asked"),
			waits(opencode.ReasonQuestion), hook("hook-tool.execute.after", "input.callID", "one"), waits(opencode.ReasonQuestion),
			hook("event-question.replied"), inTool(), hook("hook-tool.execute.after.question"), works(), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "hooks are killed half way",
		claude: told(hook("SessionStart"), half("UserPromptSubmit"), idle(), hook("PreToolUse"), inTool(), half("PostToolUse"), inTool(),
			hook("PreToolUse", "tool_use_id", "next"), half("PostToolUse"), half("Stop"), lines("transcript-basic", 17, 23), ends(normal, "completed")),
		codex: told(half("SessionStart"), half("UserPromptSubmit"), hook("PreToolUse"), inTool(), half("PostToolUse"), half("Stop"),
			lines("rollout-completed", 13, 30), ends(normal, "completed")),
		copilot: told(hook("sessionStart"), half("userPromptSubmitted"), hook("preToolUse"), inTool(), half("postToolUse"), inTool(), hook("agentStop"), ends(normal, "end_turn")),
		opencode: told(half("event-session.created"), half("hook-chat.message"), hook("hook-tool.execute.before"), inTool(), half("hook-tool.execute.after"),
			hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name:     "the last hook is killed and nothing else tells",
		claude:   atHome(claudeBegins, half("Stop"), wait(13*time.Minute), waits(session.ReasonTimeout), exits(0), ends(cancelled, "owner_exit")),
		codex:    atHome(codexBegins, half("Stop"), wait(13*time.Minute), waits(session.ReasonTimeout), exits(0), ends(cancelled, "owner_exit")),
		copilot:  atHome(copilotBegins, half("agentStop"), wait(13*time.Minute), waits(session.ReasonTimeout), exits(0), ends(cancelled, "owner_exit")),
		opencode: atHome(opencodeBegins, half("event-session.idle"), wait(13*time.Minute), waits(session.ReasonTimeout), exits(0), ends(cancelled, "owner_exit")),
	},
	{
		name: "somebody else's stop hook blocks",
		claude: told(claudeBegins, lines("transcript-stop-block", 0, 8), hook("Stop"), settling(), lines("transcript-stop-block", 9, 11), works(),
			wait(time.Minute), works(), hook("Stop.active"), lines("transcript-stop-block", 12, 13), ends(normal, "completed")),
		codex: told(codexBegins, lines("rollout-stop-continued", 0, 12), hook("Stop"), settling(), lines("rollout-stop-continued", 13, 15), works(),
			wait(time.Minute), works(), hook("Stop-active"), lines("rollout-stop-continued", 16, 19), ends(normal, "completed")),
		copilot: told(copilotBegins, hook("agentStop"), settling(), hook("userPromptSubmitted.continuation"), works(), wait(time.Minute), works(),
			hook("agentStop.continued"), ends(normal, "end_turn")),
		opencode: told(plugin("events-serve-continue", 0), plugin("events-serve-continue", 2), plugin("events-serve-continue", 4), works(),
			plugin("events-serve-continue", 12), settling(), plugin("events-serve-continue", 15), plugin("events-serve-continue", 17), works(), wait(time.Minute), works(),
			plugin("events-serve-continue", 25), ends(normal, "completed")),
	},
	{
		name:   "somebody else's hook ends the turn",
		claude: told(claudeBegins, hook("PreToolUse"), hook("PostToolUse"), line(stoppedByHook), ends(interrupted, "claude_turn_stopped_by_hook")),
		codex:  told(codexBegins, hook("PreCompact", "trigger", "auto"), hook("Interrupt"), ends(interrupted, "codex_interrupt")), // continue:false there (contract §4)
		copilot: told(copilotBegins, hook("preToolUse"), hook("permissionRequest"), lines("events-tui-interrupt", 0, 21), // somebody else denied and interrupted
			ends(interrupted, copilot.ReasonDenyInterrupt)),
		opencode: told(opencodeBegins, hook("hook-tool.execute.before"), hook("event-session.error.MessageAbortedError"), ends(interrupted, opencode.ReasonAborted)),
	},
	{
		name:   "goal turns",
		claude: cannot("no turn starts by itself but for notifications and wake-ups, which have a prompt event (contracts/claude §2)"),
		codex: told(codexBegins, lines("rollout-goal", 0, 17), hook("Stop"), settling(), lines("rollout-goal", 18, 19), works(),
			hook("PreToolUse", "tool_name", "update_goal"), inTool(), hook("PostToolUse", "tool_name", "update_goal"), lines("rollout-goal", 20, 29), works(),
			hook("Stop"), lines("rollout-goal", 30, 30), ends(normal, "completed")),
		copilot: told(copilotBegins, hook("agentStop"), hook("sessionEnd"), settling(), hook("userPromptSubmitted.autopilot"), works(), wait(time.Minute), works(),
			hook("agentStop"), hook("sessionEnd"), ends(normal, "")), // autopilot's rounds (contract §1.10)
		opencode: cannot("the client prompts itself only through a plugin, which is the story of the stop hook that blocks (contracts/opencode §4)"),
	},
	{
		name:   "goal turns that only hooks tell",
		claude: cannot("see goal turns"),
		codex: told(codexBegins, hook("Stop"), settling(), hook("PreToolUse"), inTool(), hook("PostToolUse"), works(), hook("Stop"), ends(normal, "completed"),
			hook("PreToolUse"), inTool(), hook("PostToolUse"), hook("Stop"), ends(normal, "completed")), // and one that starts late
		copilot:  told(copilotBegins, hook("agentStop"), ends(normal, "end_turn"), hook("preToolUse"), inTool(), hook("postToolUse"), hook("agentStop"), ends(normal, "end_turn")),
		opencode: told(opencodeBegins, hook("event-session.idle"), ends(normal, "completed"), hook("hook-tool.execute.before"), inTool(), hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "compaction by the person",
		claude: told(claudeBegins, hook("Stop"), ends(normal, "completed"), hook("PreCompact"), hook("SubagentStop.internal"), hook("SessionStart.compact"), hook("PostCompact"),
			lines("transcript-compact", 47, 56), ends(normal, "completed")), // no Stop follows, so it must begin nothing
		codex: told(codexBegins, hook("Stop"), ends(normal, "completed"), hook("PreCompact"), hook("PostCompact"), hook("SessionStart-compact"), ends(normal, "completed")),
		copilot: told(copilotBegins, lines("events-tui-compact", 0, 13), hook("agentStop"), ends(normal, "end_turn"), hook("preCompact"),
			lines("events-tui-compact", 14, 26), ends(normal, "end_turn")),
		opencode: told(plugin("events-serve-compact", 0), plugin("events-serve-compact", 2), plugin("events-serve-compact", 4), works(), plugin("events-serve-compact", 12),
			ends(normal, "completed"), plugin("events-serve-compact", 15), works(), plugin("events-serve-compact", 20), plugin("events-serve-compact", 23), ends(normal, "completed")),
	},
	{
		name: "compaction in the middle of a turn",
		claude: told(claudeBegins, hook("PreCompact.auto"), works(), hook("SubagentStop.internal"), hook("SessionStart.compact"), hook("PostCompact", "trigger", "auto"), works(),
			claudeCalls, hook("Stop"), ends(normal, "completed")),
		codex: told(codexBegins, hook("PreCompact", "trigger", "auto"), hook("PostCompact", "trigger", "auto"), hook("SessionStart-compact"), works(), codexCalls,
			hook("Stop"), ends(normal, "completed")),
		copilot:  told(copilotBegins, hook("preCompact", "trigger", "auto"), works(), copilotCalls, hook("agentStop"), ends(normal, "end_turn")),
		opencode: told(opencodeBegins, hook("hook-experimental.session.compacting"), hook("event-session.compacted"), works(), opencodeCalls, hook("event-session.idle"), ends(normal, "completed")),
	},
	{
		name: "task notifications",
		claude: told(claudeBegins, hook("PostToolUse.Bash-background"), hook("UserPromptSubmit.task-monitor-event"), hook("UserPromptSubmit.task-shell"), works(),
			lines("transcript-background-midturn", 27, 31), works(), hook("TaskCreated"), hook("Stop"), // an open to-do holds nothing
			lines("transcript-background-midturn", 32, 33), ends(normal, "completed"), hook("UserPromptSubmit.task-shell"), ends(normal, "completed")),
		codex: cannot("the client tells of a command's end in its file alone: the story of the background shell (contracts/codex §5)"),
		copilot: told(copilotBegins, hook("preToolUse.bash-background"), hook("postToolUse.bash-background"), hook("userPromptSubmitted.system-notification"),
			hook("notification.shell_completed"), works(), hook("agentStop"), ends(normal, "end_turn"),
			hook("userPromptSubmitted.system-notification"), ends(normal, "end_turn")), // by itself it begins nothing
		opencode: cannot("nothing of the client runs on after its turn (contracts/opencode §3)"),
	},
	{
		name: "an idle teammate",
		claude: told(claudeBegins, hook("PostToolUse.Agent-teammate"), hook("TeammateIdle"), hook("Stop.background-teammate"), background(),
			wait(11*time.Minute), background(), hook("UserPromptSubmit"), hook("Stop"), ends(normal, "completed")),
		codex: cannot("the client has no teammates (contracts/codex §2)"),
		copilot: told(copilotBegins, hook("preToolUse.task-background"), hook("subagentStart"), hook("postToolUse.task-background"), hook("subagentStop"),
			hook("notification.agent_idle"), works(), hook("agentStop"), ends(normal, "end_turn")), // an idle background agent is over (contract §4)
		opencode: cannot("the client has no teammates (contracts/opencode §1.8)"),
	},
	{
		name: "a teammate nobody ever stops",
		claude: told(claudeBegins, hook("PostToolUse.Agent-teammate"), hook("Stop.background-teammate"), background(), wait(11*time.Minute), background(),
			wait(2*time.Minute), waits(session.ReasonTimeout)),
		codex: atHome(codexBegins, hook("SubagentStart"), hook("Stop"), background(), wait(13*time.Minute), waits(session.ReasonTimeout),
			hook("PreToolUse", "agent_id", "00000000-0000-7000-8000-000000000004"), background(), hook("SubagentStop"), ends(normal, "completed")),
		copilot: told(copilotBegins, hook("subagentStart"), hook("agentStop"), background(), wait(13*time.Minute), waits(session.ReasonTimeout)),
		opencode: told(opencodeBegins, hook("event-session.created.child", "properties.info.parentID", "s1", "properties.sessionID", "sub1"), hook("event-session.idle"),
			background(), wait(13*time.Minute), waits(session.ReasonTimeout)),
	},
	{
		name:     "stops and stragglers of an ended session",
		claude:   told(claudeBegins, hook("Stop"), ends(normal, "completed"), hook("Stop"), hook("SubagentStop.internal"), hook("MessageDisplay"), hook("Notification.idle_prompt"), ends(normal, "completed")),
		codex:    told(codexBegins, hook("Stop"), ends(normal, "completed"), hook("Stop"), hook("SubagentStop"), ends(normal, "completed")),
		copilot:  told(copilotBegins, hook("agentStop"), ends(normal, "end_turn"), hook("agentStop"), hook("sessionEnd"), hook("subagentStop"), ends(normal, "end_turn")),
		opencode: told(opencodeBegins, hook("event-session.idle"), ends(normal, "completed"), hook("event-session.idle"), hook("event-session.status.idle"), ends(normal, "completed")),
	},
}

// running is a client's list with one piece of work in it.
func running(id, kind string) []any {
	return []any{map[string]any{"id": id, "type": kind, "status": "running", "description": "slow job"}}
}

// building is forty minutes of a tool that says nothing and uses the processor.
func building() []step {
	var out []step
	for range 8 {
		out = append(out, wait(5*time.Minute), busy(), inTool())
	}
	return out
}

const (
	codexLeft     = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"call_001_3","output":"Chunk ID: 31db34\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n"}}`
	codexEnded    = `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_001_3"}}}`
	stoppedByHook = `{"type":"attachment","isSidechain":false,"attachment":{"type":"hook_stopped_continuation","hookEvent":"PostToolUse"}}`
	monitorEnd    = "<task-notification>\n<task-id>b00000001</task-id>\n<status>completed</status>\n</task-notification>"
)

// TestStories_everyCell runs every story of every client twice: with somebody at
// the open lid until the end, and with the lid closed as soon as work runs.
func TestStories_everyCell(t *testing.T) {
	for _, s := range stories {
		for _, p := range providers {
			c := s.cell(p)
			if c.cannot != "" {
				continue
			}
			for _, shut := range []bool{false, true} {
				if shut && c.home {
					continue
				}
				name := s.name + "/" + string(p) + map[bool]string{false: "/lid open", true: "/lid shut"}[shut]
				t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { newWorld(t, p, shut).run(c.steps) })
				})
			}
		}
	}
}

// TestStories_noCellIsEmpty: a client either tells a story or the table says why it
// cannot, with the section of its contract.
func TestStories_noCellIsEmpty(t *testing.T) {
	names := map[string]bool{}
	for _, s := range stories {
		if names[s.name] {
			t.Errorf("two stories %q", s.name)
		}
		names[s.name] = true
		for _, p := range providers {
			switch c := s.cell(p); {
			case len(c.steps) == 0 && c.cannot == "":
				t.Errorf("%s: nothing is said of %s", s.name, p)
			case len(c.steps) > 0 && c.cannot != "":
				t.Errorf("%s: %s both tells it and cannot", s.name, p)
			case c.cannot != "" && !strings.Contains(c.cannot, "contracts/"+string(p)+" §") && !names[strings.TrimPrefix(c.cannot, "see ")]:
				t.Errorf("%s: the reason for %s names no section of its contract: %q", s.name, p, c.cannot)
			}
		}
	}
}
