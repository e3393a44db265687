package build

import (
	"slices"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Loss is something that a verdict can say and a client has no words for.
type Loss struct {
	Provider event.Provider
	Field    Field
	Events   []event.Name
	Instead  string // what happens in its place
}

// Losses is the table of them. Tests hold it against the codecs both ways: what is
// here they do not carry, and what they do not carry is here.
func Losses() []Loss {
	const (
		silent   = "nothing: the client reads no such member"
		refused  = "the call is refused, with the reason"
		stands   = "nothing is asked: what happened stands"
		elsewise = "nothing; the client's own way of deciding goes on"
		unshown  = "nothing is shown"
		reads    = "the model reads the reason beside the error, which stands"
		leaks    = "the error reaches the model as it is; where the client has words for it, model or person are told"
	)
	names := func(list ...event.Name) []event.Name { return list }
	return []Loss{
		{event.Claude, Ask, names(event.PreSkillShellCommand), "the command is refused, with the reason"},
		{event.Claude, Ask, names(event.UserPromptSubmit), "nothing is asked: the prompt goes on"},
		{event.Claude, Ask, names(event.PostToolUse, event.PostToolUseFailure), stands},
		{event.Claude, Deny, names(event.PostToolUseFailure), reads},
		{event.Claude, Output, names(event.PostToolUseFailure), leaks},
		{event.Claude, Context, names(event.PreCompact), silent},
		{event.Claude, EndTurn, names(event.SessionStart, event.PreCompact, event.PostCompact), silent},
		{event.Claude, Message, names(event.PostCompact), unshown},

		{event.Codex, Ask, names(event.PreToolUse), refused},
		{event.Codex, Ask, names(event.UserPromptSubmit), "nothing is asked: the prompt goes on"},
		{event.Codex, Ask, names(event.PostToolUse), stands},
		{event.Codex, Allow, names(event.PreToolUse), elsewise},
		{event.Codex, Store, names(event.PermissionRequest), "this one call is allowed; the next one is asked about again"},
		{event.Codex, Interrupt, names(event.PermissionRequest), "the call is denied and the model goes on"},
		{event.Codex, Deny, names(event.PreCompact), "there is no compaction, and the turn ends without the reason"},
		{event.Codex, Context, names(event.PreCompact), silent},
		{event.Codex, EndTurn, names(event.PreToolUse, event.PostToolUse), "the turn goes on"},
		{event.Codex, Message, names(event.PermissionRequest), "nothing is shown: anything beside the answer would void it"},
		{event.Codex, Title, names(event.SessionStart, event.UserPromptSubmit), silent},
		{event.Codex, Watch, names(event.SessionStart), silent},

		{event.Copilot, Ask, names(event.UserPromptSubmit), "nothing is asked: the prompt goes on"},
		{event.Copilot, Ask, names(event.PostToolUse, event.PostToolUseFailure), stands},
		{event.Copilot, Deny, names(event.PostToolUseFailure), reads},
		{event.Copilot, Output, names(event.PostToolUseFailure), leaks},
		{event.Copilot, Store, names(event.PermissionRequest), "this one call is allowed; the next one is asked about again"},
		{event.Copilot, Deny, names(event.PreCompact), "the compaction goes on"},
		{event.Copilot, Context, names(event.PreCompact), silent},
		{event.Copilot, EndTurn, names(event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PostToolUse, event.Stop, event.SubagentStop, event.PreCompact), "the turn goes on"},
		{event.Copilot, Message, names(event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest, event.PostToolUse,
			event.PostToolUseFailure, event.Stop, event.SubagentStart, event.SubagentStop, event.PreCompact), unshown},
		{event.Copilot, Title, names(event.SessionStart, event.UserPromptSubmit), silent},
		{event.Copilot, Watch, names(event.SessionStart), silent},
		{event.Copilot, Terminal, names(event.Notification), silent},

		{event.OpenCode, Ask, names(event.PreToolUse), refused},
		{event.OpenCode, Ask, names(event.UserPromptSubmit), "nothing is asked: the prompt goes on"},
		{event.OpenCode, Ask, names(event.PostToolUse), stands},
		{event.OpenCode, Allow, names(event.PreToolUse), elsewise},
		{event.OpenCode, Store, names(event.PermissionRequest), "this one call is allowed; the next one is asked about again"},
		{event.OpenCode, Deny, names(event.PreCompact), "the compaction goes on"},
		{event.OpenCode, Context, names(event.SessionStart, event.SubagentStart, event.PreToolUse), "the model is not told"},
		{event.OpenCode, EndTurn, names(event.SessionStart, event.UserPromptSubmit, event.Stop, event.SubagentStop, event.PreCompact, event.PostCompact), "the turn goes on"},
		{event.OpenCode, Message, names(event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest, event.PostToolUse,
			event.Stop, event.SubagentStart, event.SubagentStop, event.PreCompact, event.PostCompact), unshown},
		{event.OpenCode, Title, names(event.SessionStart, event.UserPromptSubmit), silent},
		{event.OpenCode, Watch, names(event.SessionStart), silent},
	}
}

// lost finds what happens where a client has no words for a field at an event, and
// false where it has.
func lost(p event.Provider, name event.Name, f Field) (instead string, ok bool) {
	for _, l := range Losses() {
		if l.Provider == p && l.Field == f && slices.Contains(l.Events, name) {
			return l.Instead, true
		}
	}
	return "", false
}

// Limit is what a pack cannot do with a client for a reason other than the words of
// an answer.
type Limit struct {
	ID       string
	Provider event.Provider
	Packs    []string
	// Trait is what an item of the pack must have for it to be concerned; "": every
	// item is.
	Trait Trait
	Text  string
	// Words stand in the client's page of docs/contracts; "" where a test proves the
	// limit on the codec.
	Words string
}

// Trait is a property of an item of the rulebook.
type Trait string

// The traits.
const (
	Token       Trait = "token"       // [[until]] with a token
	Environment Trait = "environment" // [context] with env
	Failures    Trait = "failures"    // has something for failed calls
	Calls       Trait = "calls"       // judges calls before they run
)

// Limits is the table of them.
func Limits() []Limit {
	judging := []string{"gate", "rule", "sandbox", "handler"}
	return []Limit{
		{"auto-mode", event.Claude, []string{"approve"}, "", "questions of auto mode and of the sandbox's network come through no hook and stay open",
			"It does not fire for a sandbox network question (R) nor for auto mode's own dialogs"},

		{"raw-output-kept", event.Codex, []string{"redact"}, "", "the model reads the masked output; the screen and the session file keep the raw one",
			"The user's screen and the session file keep the original"},
		{"long-text-on-disk", event.Codex, []string{"redact"}, "", "a masked output of more than some 2,500 tokens is cut for the model, and written whole, masked, to a file in the temporary folder",
			"Context over 2,500 tokens (the figure is **R**) is cut"},
		{"typed-into-shell", event.Codex, judging, Calls, "what is typed into a running shell (write_stdin) is seen by no hook",
			"`write_stdin` has neither Pre- nor PostToolUse"},
		{"exec-asks-nobody", event.Codex, []string{"approve"}, "", "in codex exec nothing is asked, so nothing is approved: escalation is refused without PermissionRequest",
			"escalation is refused without PermissionRequest"},
		{"patch-by-shell", event.Codex, []string{"format", "check"}, "", "a patch that a shell command applies has no PostToolUse, so its files are not known",
			"a patch applied by the shell command `apply_patch` is `Bash` in PreToolUse and has no PostToolUse"},
		{"no-environment", event.Codex, []string{"context"}, Environment, "there is no place for variables", ""},

		{"later-hooks-overrule", event.Copilot, []string{"approve", "until", "check"}, "", "a hook of a project, a plugin or settings.json runs later, and its answer counts",
			"**the last answer wins**"},
		{"compact-late", event.Copilot, []string{"compact"}, "", "no start is told after a compaction, so the summary is given with the next prompt", ""},
		{"no-environment", event.Copilot, []string{"context"}, Environment, "there is no place for variables", ""},

		{"no-last-answer", event.OpenCode, []string{"until"}, Token, "the end of a turn tells neither the last answer nor a log, so a goal with a token is not asked for", ""},
		{"no-log", event.OpenCode, []string{"compact"}, "", "the client names no log of its session, so nothing can be summed up", ""},
		{"run-leaves", event.OpenCode, []string{"until", "check"}, "", "opencode run leaves the moment a turn ends, and cannot be continued",
			"status idle, session.idle, dispose"},
		{"failures-untold", event.OpenCode, []string{"redact"}, Failures, "a failed call of the client's own tools is told to no hook, so its error is not masked", ""},
		{"no-environment", event.OpenCode, []string{"context"}, Environment, "there is no place for variables", ""},
	}
}
