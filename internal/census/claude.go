package census

import "github.com/lidguard-go/lidguard/internal/event"

func claudeClient() Client {
	return Client{
		Provider: event.Claude, Title: "Claude Code", Version: "2.1.332", Contract: "docs/contracts/claude.md",
		Common: fields("session_id string; transcript_path string; cwd string; hook_event_name string; " +
			"prompt_id? string (once a prompt was sent, since 2.1.196); permission_mode? string; effort? object; " +
			"agent_id? string (inside a subagent); agent_type? string (inside a subagent); scratchpad_dir? string (read, since 2.1.257)"),
		Notes: []string{
			"JSON on stdout counts on every exit code. Exit 2 blocks whatever stdout says, with stderr as the reason.",
			"Everything else lets the action through: other exit codes, a missing program, a timeout, JSON that does not parse or breaks the schema, a missing or wrong hookEventName, text before the JSON.",
			"All matching handlers start together. The same command, args and if run once per event. Of several updatedInput the one that finishes last wins.",
			"deny beats defer beats ask beats allow.",
			"A context longer than 10 000 characters is put into a file and cut to a preview of 2 000.",
		},
		Handlers: []Handler{
			{Command, 600, "a program, or a line for /bin/sh -c; with args without a shell", Measured},
			{HTTP, 600, "posts the payload; 2xx with JSON is an answer, anything else lets the action through", Measured},
			{MCPTool, 600, "calls a tool of a connected MCP server; its text is read like standard output", Measured},
			{Prompt, 30, "asks a model once; its answer is {ok, reason}", Read},
			{Agent, 60, "asks a model that has tools, up to 50 turns", Read},
		},
	}
}

// The kinds of handlers by group of events (contract §2).
var (
	anyKind    = []Kind{Command, HTTP, MCPTool, Prompt, Agent}
	programs   = []Kind{Command, HTTP, MCPTool}
	early      = []Kind{Command, MCPTool}
	toolFields = "tool_name string; tool_input object; tool_use_id string; mcp_server? object (name and source, since 2.1.274)"
)

var (
	claudeContext = inner("additionalContext", "added to the model's context")
	claudeBlock   = top("decision", `"block", with reason`)
	claudeReason  = top("reason", "the reason of the block, for the model")
	claudeStop    = top("continue", "false ends the turn; stopReason is shown")
	claudeSystem  = top("systemMessage", "shown to the person")
	claudeWatch   = inner("watchPaths", "files whose changes are told by FileChanged")
)

func tools(values ...string) Matcher {
	return Matcher{Field: "tool_name", Law: ListOrRegex, Values: values}
}

func byValue(field string, values ...string) Matcher {
	return Matcher{Field: field, Law: ListOrRegex, Values: values}
}

func claudeEvents() []Event {
	none := Matcher{Law: Ignored}
	return []Event{
		{
			Native: "SessionStart", Name: event.SessionStart,
			When:    "a session begins or is taken up again; an interactive start runs it beside, but the first prompt waits for it",
			Matcher: byValue("source", "startup", "resume", "clear", "compact", "fork"),
			Input: fields("source string; model? string (interactive start and compact); session_title? string; " +
				"seconds_since_last_response? number (resume and fork); context_tokens? number; prompt_cache_likely_expired? bool; estimated_cache_write_usd? number"),
			Outputs: []Output{
				top("stdout", "plain text is context"), claudeContext, inner("sessionTitle", "names the session"),
				inner("initialUserMessage", "a first turn of its own, in -p"), claudeWatch, read(inner("reloadSkills", "loads skills again")), claudeSystem,
			},
			Exit2:   "a note to the person; stdout is not added",
			Timeout: seconds(600), Kinds: early,
			Notes: []string{"continue:false is ignored", "http handlers are skipped", "CLAUDE_ENV_FILE: lines `export A=b` reach later Bash calls", "the transcript does not exist yet"},
		}, {
			Native: "Setup", Name: event.Setup, When: "--init-only, or -p with --init or --maintenance",
			Matcher: byValue("trigger", "init", "maintenance"), Input: fields("trigger string"),
			Exit2: "ignored (read)", Timeout: seconds(600), Kinds: early,
			Notes: []string{"CLAUDE_ENV_FILE as at SessionStart"},
		}, {
			Native: "InstructionsLoaded", Name: event.InstructionsLoaded, When: "an instruction file enters the context",
			Matcher: byValue("load_reason", "session_start", "nested_traversal", "path_glob_match", "include", "compact"),
			Input:   fields("file_path string; memory_type string; load_reason string; globs? array; trigger_file_path? string; parent_file_path? string"),
			Exit2:   "ignored (read)", Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "UserPromptSubmit", Name: event.UserPromptSubmit,
			When: "a prompt, a typed command or a task notification is about to be sent, also in mid-turn", Matcher: none,
			Input: fields("prompt string; session_title? string; source? string (read)"),
			Outputs: []Output{
				top("stdout", "plain text is context"), claudeContext, inner("sessionTitle", "names the session"), claudeBlock, claudeReason,
				top("suppressOriginalPrompt", "the blocked prompt is not shown again"), claudeStop, claudeSystem,
			},
			Exit2:   "the prompt is blocked; stderr and the prompt are shown to the person",
			Blocks:  Blocking{Effect: Stops, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(30), Kinds: anyKind,
			Notes: []string{"a blocked prompt is followed by no Stop"},
		}, {
			Native: "UserPromptExpansion", Name: event.UserPromptExpansion, When: "a typed command expands, after UserPromptSubmit",
			Matcher: byValue("command_name"),
			Input:   fields("expansion_type string; command_name string; command_args string; command_source string; prompt string"),
			Outputs: []Output{claudeBlock, claudeReason, claudeContext, claudeStop, claudeSystem},
			Exit2:   "the expansion is blocked", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(600), Kinds: anyKind,
		}, {
			Native: "MessageDisplay", Name: event.MessageDisplay, When: "text of the assistant is shown; in -p once per message", Matcher: none,
			Input:   fields("turn_id string; message_id string; index number; final bool; delta string"),
			Outputs: []Output{inner("displayContent", "shown in place of the text; in -p it is the run's result too")},
			Exit2:   "the original is shown", Timeout: seconds(10), Kinds: programs,
		}, {
			Native: "PreToolUse", Name: event.PreToolUse, When: "before each tool call whose input is valid", Matcher: tools(),
			Input: fields(toolFields),
			Outputs: []Output{
				inner("permissionDecision", `"allow" runs it without asking, "deny" refuses it, "ask" asks the person (refused in -p), "defer" ends a -p run to be resumed`),
				inner("permissionDecisionReason", "for the model (deny) or the person (ask)"),
				inner("updatedInput", "runs instead of the tool's input"), claudeContext, claudeStop, claudeSystem,
				top("decision", `the old form: "block" or "approve", with reason`),
			},
			Exit2:   "the call is blocked; the model reads the hook's command line and stderr",
			Blocks:  Blocking{Effect: Stops, Exit2: true, Keys: []string{"hookSpecificOutput.permissionDecision"}},
			Timeout: seconds(600), Kinds: anyKind,
			Notes: []string{"a timeout lets the call run", "shell commands in skill and command bodies do not come here, see PreSkillShellCommand"},
		}, {
			Native: "PermissionRequest", Name: event.PermissionRequest,
			When:    "a permission is needed; the hook runs beside the dialog, and in -p too, where silence refuses",
			Matcher: tools(), Input: fields("tool_name string; tool_input object; permission_suggestions? array; mcp_server? object"),
			Outputs: []Output{
				inner("decision.behavior", `"allow" or "deny"`), inner("decision.message", "deny: the tool's result, for the model"),
				inner("decision.interrupt", "deny: the turn ends at once, without Stop, and the message is lost"),
				inner("decision.updatedInput", "allow: runs instead of the tool's input"),
				inner("decision.updatedPermissions", "allow: rules to store"), claudeSystem,
			},
			Exit2: "not honoured; a JSON decision beside it is", Blocks: Blocking{Effect: Stops, Keys: []string{"hookSpecificOutput.decision.behavior"}},
			Timeout: seconds(600), Kinds: programs,
			Notes: []string{
				"AskUserQuestion and ExitPlanMode come through here, and a plain allow leaves the first open",
				"a top-level decision is ignored", "agent handlers are skipped and prompt handlers have no effect",
			},
		}, {
			Native: "PermissionDenied", Name: event.PermissionDenied, When: "auto mode refuses a call", Matcher: tools(),
			Input:   fields("tool_name string; tool_input object; tool_use_id string; reason string"),
			Outputs: []Output{read(inner("retry", "true lets the model try again"))},
			Exit2:   "ignored (read)", Timeout: seconds(600), Kinds: anyKind,
			Notes: []string{"output of prompt and agent handlers is dropped"},
		}, {
			Native: "PostToolUse", Name: event.PostToolUse, When: "a tool call succeeded", Matcher: tools(),
			Input: fields(toolFields + "; tool_response any; duration_ms number"),
			Outputs: []Output{
				claudeBlock, claudeReason, claudeContext, inner("updatedToolOutput", "takes the output's place; must have the tool's own shape"),
				inner("updatedMCPToolOutput", "the same for MCP tools"), read(inner("classifierContext", "for auto mode's classifier")), claudeStop, claudeSystem,
			},
			Exit2:   "stderr is put beside the result",
			Blocks:  Blocking{Effect: TellsModel, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(600), Kinds: anyKind,
			Notes: []string{"continue:false ends the turn without Stop", "a rewritten output of another shape lets the original through"},
		}, {
			Native: "PostToolUseFailure", Name: event.PostToolUseFailure, When: "a tool call that had begun failed", Matcher: tools(),
			Input:   fields(toolFields + "; error string; is_interrupt bool; duration_ms? number"),
			Outputs: []Output{claudeContext, claudeSystem}, Exit2: "stderr is added",
			Blocks:  Blocking{Effect: TellsModel, Exit2: true, Keys: []string{"hookSpecificOutput.additionalContext"}},
			Timeout: seconds(600), Kinds: anyKind,
			Notes: []string{"the error text may hold secrets as well"},
		}, {
			Native: "PostToolBatch", Name: event.PostToolBatch, When: "all calls of one answer are done, refused ones too", Matcher: none,
			Input:   fields("tool_calls array (tool_name, tool_input, tool_use_id, tool_response)"),
			Outputs: []Output{claudeContext, claudeBlock, claudeReason, claudeStop, claudeSystem},
			Exit2:   "the turn ends, without Stop", Blocks: Blocking{Effect: EndsTurn, Exit2: true, Keys: []string{"decision", "continue"}},
			Timeout: seconds(600), Kinds: anyKind,
		}, {
			Native: "PreSkillShellCommand", Name: event.PreSkillShellCommand,
			When:    "before a shell command in the body of a skill or command runs; PreToolUse does not see it",
			Matcher: Matcher{Field: "tool_name", Law: Untested},
			Input:   fields("tool_name string; tool_input object; tool_use_id string; command_name string; command_source string; invoked_by string"),
			Outputs: []Output{
				inner("permissionDecision", `"deny", "ask" and "defer" all refuse; "allow" adds nothing`), inner("permissionDecisionReason", "takes the command's place"),
				inner("updatedInput", "refuses, whatever it holds"), claudeSystem,
			},
			Exit2:   "the command is not run; stderr takes its place",
			Blocks:  Blocking{Effect: Stops, Exit2: true, Keys: []string{"hookSpecificOutput.permissionDecision"}},
			Timeout: Timeout{Default: 600, Note: "assumed"}, Kinds: []Kind{Command},
			Notes: []string{"not in the reference yet; other kinds of handlers were not tried"},
		}, {
			Native: "Notification", Name: event.Notification, When: "the client tells the person something; see the contract for when each type comes",
			Matcher: byValue("notification_type", "permission_prompt", "idle_prompt", "elicitation_dialog", "elicitation_response", "elicitation_url_dialog",
				"elicitation_complete", "agent_needs_input", "agent_completed", "auth_success",
				"quota_auto_resume_fired", "quota_auto_resume_stale", "quota_auto_resume_disabled"),
			Input:   fields("message string; notification_type string; title? string (read)"),
			Outputs: []Output{top("terminalSequence", "written to the terminal")}, Exit2: "ignored", Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "SubagentStart", Name: event.SubagentStart, When: "a subagent starts or resumes, or a teammate takes a message",
			Matcher: byValue("agent_type"), Input: fields("agent_id string; agent_type string"), Outputs: []Output{inner("additionalContext", "for the subagent"), claudeSystem},
			Exit2: "a note in its transcript", Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "SubagentStop", Name: event.SubagentStop, When: "a subagent ends; internal agents too, with an empty agent_type and no SubagentStart",
			Matcher: byValue("agent_type"),
			Input:   fields("agent_id string; agent_type string; agent_transcript_path string; stop_hook_active bool; last_assistant_message? string; background_tasks array; session_crons array"),
			Outputs: []Output{claudeBlock, claudeReason, inner("additionalContext", "continues the subagent as a block does"), claudeStop, claudeSystem},
			Exit2:   "the subagent goes on with stderr", Blocks: Blocking{Effect: GoesOn, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(600), Kinds: anyKind,
		}, {
			Native: "TaskCreated", Name: event.TaskCreated, When: "a to-do item is made", Matcher: none,
			Input:   fields("task_id string; task_subject string; task_description? string; teammate_name? string; team_name? string"),
			Outputs: []Output{claudeBlock, claudeReason, read(top("continue", "false only for a teammate that stops")), claudeSystem},
			Exit2:   "the creation is undone; stderr goes to the model", Blocks: Blocking{Effect: Rolls, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(600), Kinds: anyKind,
			Notes: []string{"to-do items say nothing about background work"},
		}, {
			Native: "TaskCompleted", Name: event.TaskCompleted, When: "a to-do item is closed", Matcher: none,
			Input:   fields("task_id string; task_subject string; task_description? string; teammate_name? string; team_name? string"),
			Outputs: []Output{read(top("continue", "false only for a teammate that stops"))},
			Exit2:   "it is not completed; stderr goes to the model", Blocks: Blocking{Effect: Stops, Exit2: true},
			Timeout: seconds(600), Kinds: anyKind,
		}, {
			Native: "TeammateIdle", Name: event.TeammateIdle, When: "a teammate is about to go idle", Matcher: none,
			Input:   fields("teammate_name string; team_name string"),
			Outputs: []Output{read(top("continue", "false lets it end"))},
			Exit2:   "it keeps working (read)", Blocks: Blocking{Effect: GoesOn, Exit2: true, Mark: Read},
			Timeout: seconds(600), Kinds: anyKind,
		}, {
			Native: "Stop", Name: event.Stop, When: "the main agent finished an answer; not after an interruption, an error or a blocked prompt", Matcher: none,
			Input: fields("stop_hook_active bool; last_assistant_message? string; background_tasks array; session_crons array"),
			Outputs: []Output{
				claudeBlock, claudeReason, inner("additionalContext", "continues the turn as well"), top("continue", "false wins over a block"), claudeSystem,
			},
			Exit2:   "the turn goes on with stderr",
			Blocks:  Blocking{Effect: GoesOn, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(600), Kinds: anyKind,
			Notes: []string{"after 8 continuations the client ends the turn; yield when stop_hook_active is true", "a matcher is ignored"},
		}, {
			Native: "StopFailure", Name: event.StopFailure, When: "the turn ended in an API error; in -p the process may be gone first",
			Matcher: Matcher{Field: "error", Law: NarrowList, Values: []string{
				"unknown", "authentication_failed", "model_not_found", "invalid_request", "rate_limit", "server_error", "max_output_tokens",
				"overloaded", "billing_error", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error"}},
			Input: fields("error string; error_details? string; last_assistant_message? string (the error text)"),
			Exit2: "ignored", Timeout: seconds(600), Kinds: programs,
			Notes: []string{"with agent_id it is only a subagent's"},
		}, {
			Native: "PreCompact", Name: event.PreCompact, When: "before compaction", Matcher: byValue("trigger", "manual", "auto"),
			Input: fields("trigger string; custom_instructions string|null"), Outputs: []Output{claudeBlock, claudeReason, claudeSystem},
			Exit2: "the compaction is blocked", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"decision"}}, Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "PostCompact", Name: event.PostCompact, When: "after compaction", Matcher: byValue("trigger", "manual", "auto"),
			Input: fields("trigger string; compact_summary string"), Exit2: "a note", Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "PreModelSwitch", Name: event.PreModelSwitch, Since: "2.1.251", When: "another model was asked for",
			Matcher: byValue("to_model"), Input: fields(modelFields),
			Outputs: []Output{inner("permissionDecision", `"allow" skips the question, "deny" refuses, "ask" asks`), inner("permissionDecisionReason", "shown"), claudeSystem},
			Exit2:   "blocked; stderr is shown", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"hookSpecificOutput.permissionDecision"}},
			Timeout: Timeout{Default: 30, Note: "a timeout blocks too (read)"}, Kinds: programs,
		}, {
			Native: "PostModelSwitch", Name: event.PostModelSwitch, Since: "2.1.251", When: "the model was changed",
			Matcher: byValue("to_model"), Input: fields(modelFields), Outputs: []Output{claudeContext, claudeSystem},
			Exit2: "ignored", Timeout: seconds(30), Kinds: programs,
		}, {
			Native: "ConfigChange", Name: event.ConfigChange, When: "a settings file changed on disk",
			Matcher: byValue("source", "user_settings", "project_settings", "local_settings", "policy_settings", "skills"),
			Input:   fields("source string; file_path? string"), Outputs: []Output{claudeBlock, claudeReason, claudeSystem},
			Exit2: "the session does not take the change", Blocks: Blocking{Effect: NotTaken, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(600), Kinds: programs, Notes: []string{"policy settings cannot be blocked"},
		}, {
			Native: "CwdChanged", Name: event.CwdChanged, When: "a command changed the directory", Matcher: none,
			Input: fields("old_cwd string; new_cwd string"), Outputs: []Output{claudeWatch, claudeSystem}, Exit2: "a note", Timeout: seconds(600), Kinds: programs,
			Notes: []string{"CLAUDE_ENV_FILE as at SessionStart"},
		}, {
			Native: "DirectoryAdded", Name: event.DirectoryAdded, When: "/add-dir, or the SDK",
			Matcher: byValue("source", "slash_command", "register_repo_root"),
			Input:   fields("directory string; source string"), Exit2: "a line in the debug log", Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "FileChanged", Name: event.FileChanged, When: "a watched file changed", Matcher: Matcher{Field: "file_path", Law: FileNames},
			Input: fields("file_path string; event string (change, add or unlink)"), Outputs: []Output{claudeWatch, claudeSystem},
			Exit2: "a note", Timeout: seconds(600), Kinds: programs, Notes: []string{"CLAUDE_ENV_FILE as at SessionStart (read)"},
		}, {
			Native: "WorktreeCreate", Name: event.WorktreeCreate, When: "a worktree is wanted; the hook takes git's place", Matcher: none,
			Input: fields("name string"), Outputs: []Output{top("stdout", "the last line is the path of the worktree")},
			Exit2: "any code but 0: there is no worktree, and the client exits with 1", Blocks: Blocking{Effect: Stops, Exit2: true}, Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "WorktreeRemove", Name: event.WorktreeRemove, When: "removal was chosen at the end of a --worktree session", Matcher: none,
			Input: fields("worktree_path string"), Exit2: "any code but 0: it is not removed (read)",
			Blocks: Blocking{Effect: Stops, Exit2: true, Mark: Read}, Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "Elicitation", Name: event.Elicitation, When: "an MCP server asks the person", Matcher: byValue("mcp_server_name"),
			Input:   fields("mcp_server_name string; message string; mode string; requested_schema? object; url? string; elicitation_id? string"),
			Outputs: []Output{inner("action", `"accept", "decline" or "cancel"`), inner("content", "the answers, with accept"), claudeSystem},
			Exit2:   "declined; stderr is shown nowhere", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"hookSpecificOutput.action"}},
			Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "ElicitationResult", Name: event.ElicitationResult, When: "the person answered; not when a hook did", Matcher: byValue("mcp_server_name"),
			Input:   fields("mcp_server_name string; mode string; action string; content? object; elicitation_id? string"),
			Outputs: []Output{inner("action", "takes the answer's place"), inner("content", "takes the content's place"), claudeSystem},
			Exit2:   "becomes decline (read)", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"hookSpecificOutput.action"}},
			Timeout: seconds(600), Kinds: programs,
		}, {
			Native: "SessionEnd", Name: event.SessionEnd, When: "the session is over; SIGKILL gives nothing",
			Matcher: byValue("reason", "clear", "resume", "logout", "prompt_input_exit", "other"),
			Input:   fields("reason string"), Exit2: "a note",
			Timeout: Timeout{Default: 1.5, Max: 60, Note: "for all hooks together; a hook's own timeout raises it"}, Kinds: programs,
		},
	}
}

const modelFields = "from_model string; to_model string; requested_model string|null; source string; context_tokens? number; " +
	"prompt_cache_warm? bool; cache_ttl? string; estimated_cache_write_usd? number; pricing? string"
