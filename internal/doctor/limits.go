package doctor

import "github.com/lidguard-go/lidguard/internal/event"

// Limit is something that no hook can do or see in a client: no fault of this
// installation, and nothing a remedy would lift. It is told where somebody may rely
// on the hooks for more than they can give.
type Limit struct {
	Provider event.Provider `json:"provider"`
	Text     string         `json:"text"`
	// Source is where it is from: a public report, or the contract in docs/contracts
	// where it was measured.
	Source string `json:"source"`
}

// Limits are the known ones of a client.
func Limits(p event.Provider) []Limit {
	var out []Limit
	for _, l := range limits {
		if l.Provider == p {
			out = append(out, l)
		}
	}
	return out
}

var limits = []Limit{
	{event.Codex, "earlier versions run what the tool `exec` (code mode) calls without PreToolUse, so a gate does not see it; 0.171 reports each call",
		"openai/codex#23411; docs/contracts/codex.md §3"},
	{event.Codex, "what is typed into a running shell (write_stdin) is seen by no hook", "docs/contracts/codex.md §3"},
	{event.Codex, "the tool request_permissions, still in development, asks the person without asking a hook", "docs/contracts/codex.md §3"},
	{event.Codex, "apply_patch changed its name for matchers, 0.136 lost its hooks, and on Windows a deny of it was not enforced; " +
		"a patch applied by a shell command is seen as that command", "openai/codex#26733, #26729, #27833; docs/contracts/codex.md §3"},
	{event.Codex, "hooks of other tools start at the same moment, so none sees what another answers; tools that run at the provider have no hooks; " +
		"where an administrator allows managed hooks alone, yours are dropped", "docs/contracts/codex.md §2"},
	{event.Claude, "hooks were reported to run only after the call when permissions are bypassed; most who tried did not see it",
		"anthropics/claude-code#20946, #57548"},
	{event.Claude, "a deny of ExitPlanMode was reported not to be honoured, so a plan may be left although a hook refused it",
		"anthropics/claude-code#50660"},
	{event.Claude, "a shell command in the body of a skill or command runs without PreToolUse; only PreSkillShellCommand sees it",
		"docs/contracts/claude.md §1"},
	{event.Copilot, "hooks run for every tool call, and one that ends with any exit code but 0 denies the call; only one that takes too long lets it pass",
		"docs/contracts/copilot.md"},
	{event.Copilot, "reading outside the folder asks the person without asking a hook, and no hook can allow it", "docs/contracts/copilot.md"},
	{event.Copilot, "where the client itself looks after a shell or an agent (read_bash, read_agent) no hook is asked, nor at the questions of MCP servers",
		"docs/contracts/copilot.md §1, §2"},
	{event.OpenCode, "the hook permission.ask is never called; prompts are answered from outside, so a second plugin may answer first", "docs/contracts/opencode.md"},
}
