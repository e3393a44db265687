package census

import "github.com/lidguard-go/lidguard/internal/event"

// Tools are the names of a client's own tools as its hooks are told them, without
// those of MCP servers. The list is what is known, not all there can be: clients
// add tools without notice.
func Tools(p event.Provider) []string {
	switch p {
	case event.Claude:
		return []string{"Agent", "AskUserQuestion", "Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterPlanMode", "EnterWorktree",
			"ExitPlanMode", "ExitWorktree", "Glob", "Grep", "LSP", "ListMcpResourcesTool", "Monitor", "NotebookEdit", "PowerShell", "Read",
			"ReadMcpResourceTool", "ScheduleWakeup", "SendMessage", "Skill", "StructuredOutput", "TaskCreate", "TaskGet", "TaskList", "TaskOutput",
			"TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write"}
	case event.Codex:
		return []string{"Bash", "apply_patch", "create_goal", "get_goal", "update_goal", "update_plan", "request_user_input", "request_permissions",
			"spawn_agent", "send_input", "wait_agent", "close_agent", "resume_agent", "view_image", "web_search", "tool_search", "list_mcp_resources", "read_mcp_resource"}
	case event.Copilot:
		return []string{"ask_user", "bash", "powershell", "read_bash", "write_bash", "stop_bash", "list_bash", "read_powershell", "write_powershell", "stop_powershell",
			"create", "edit", "view", "exit_plan_mode", "fetch_copilot_cli_documentation", "glob", "grep", "rg", "list_agents", "read_agent", "report_intent", "skill",
			"sql", "store_memory", "task", "update_todo", "web_fetch", "web_search", "apply_patch"}
	case event.OpenCode:
		return []string{"bash", "edit", "glob", "grep", "list", "lsp", "patch", "question", "read", "skill", "task", "todoread", "todowrite", "webfetch", "websearch", "write", "codesearch"}
	}
	return nil
}

// Aliases are names that a matcher may use for a tool that hooks are told under
// another name: the alias, then that name.
func Aliases(p event.Provider) map[string]string {
	switch p {
	case event.Claude:
		return map[string]string{"Task": "Agent"}
	case event.Codex:
		return map[string]string{"Edit": "apply_patch", "Write": "apply_patch", "Agent": "spawn_agent"}
	}
	return nil
}

// FormerTools are names of tools that older versions of a client had. A matcher
// that lists them is no mistake.
func FormerTools(p event.Provider) []string {
	if p == event.Claude {
		return []string{"BashOutput", "ExitPlanModeV2", "KillBash", "KillShell", "LS", "MultiEdit", "NotebookRead", "SlashCommand", "TodoRead"}
	}
	return nil
}
