package census

import "github.com/lidguard-go/lidguard/internal/event"

func copilotClient() Client {
	return Client{
		Provider: event.Copilot, Title: "GitHub Copilot CLI", Version: "1.0.102", Contract: "docs/contracts/copilot.md",
		Common: fields("sessionId string (a subagent's prompts, tool calls and stops carry its own); timestamp number; cwd string; " +
			"agentId? string (inside a subagent); agentType? string (inside a subagent); parentAgentId? string (inside a subagent)"),
		Notes: []string{
			"A hook that fails denies: at preToolUse and permissionRequest any exit code but 0 refuses the call, and so does a missing program. Only a timeout lets it through.",
			"The answer is one flat JSON object with exit 0. Claude Code's hookSpecificOutput is honoured at PascalCase PreToolUse alone. Plain text is never context.",
			"Under PascalCase names the payload has hook_event_name, session_id, snake case and Claude Code's tool names; PermissionRequest, Notification and SubagentStart are not converted.",
			"Hooks of an event run one after another. At permissionRequest and agentStop the last answer wins; hook files run in descending order of their names.",
			"Hooks of a project, its .claude/settings.json included, run where the folder is trusted.",
		},
		Handlers: []Handler{
			{Command, 30, "command, bash or powershell with a line, or exec and args without a shell", Measured},
			{HTTP, 30, "posts the payload; loopback addresses only with COPILOT_HOOK_ALLOW_LOCALHOST=1", Measured},
			{Prompt, 30, "only at sessionStart, in the terminal", Measured},
		},
	}
}

func copilotEvents() []Event {
	none := Matcher{Law: Ignored}
	full := func(field string, values ...string) Matcher {
		return Matcher{Field: field, Law: FullRegex, Values: values}
	}
	kinds := []Kind{Command, HTTP}
	context := func(does string) Output { return top("additionalContext", does) }
	block := func(does string) []Output {
		return []Output{top("decision", `"block": `+does), top("reason", "with it")}
	}
	with := func(first []Output, more ...Output) []Output { return append(append([]Output(nil), first...), more...) }
	shown := "stderr is shown to the person as a warning"
	return []Event{
		{
			Native: "sessionStart", Pascal: "SessionStart", Name: event.SessionStart,
			When:    "with the first prompt, not at program start, and beside userPromptSubmitted: either may come first",
			Matcher: none, Input: fields("source string (new, startup or resume); initialPrompt? string"),
			Outputs: []Output{context("a message before the prompt")}, Exit2: shown, Timeout: seconds(30), Kinds: []Kind{Command, HTTP, Prompt},
			Notes: []string{"prompt handlers run here alone, and in the terminal alone"},
		}, {
			Native: "userPromptSubmitted", Pascal: "UserPromptSubmit", Name: event.UserPromptSubmit,
			When:    "a prompt; also background completions, the reason of a blocking agentStop, autopilot's and plan mode's own texts, a subagent's task",
			Matcher: none, Input: fields("prompt string"),
			Outputs: with(block("no model call"), context("behind the prompt"), top("modifiedPrompt", "sent instead"),
				top("handled", "true: answered without the model"), top("responseContent", "the answer, with handled")),
			Exit2: shown, Blocks: Blocking{Effect: Stops, Keys: []string{"decision"}}, Timeout: seconds(30), Kinds: kinds,
		}, {
			Native: "userPromptTransformed", Pascal: "UserPromptTransformed", Name: event.UserPromptTransformed, When: "the text for the model is ready",
			Matcher: none, Input: fields("prompt string; transformedPrompt string"), Outputs: []Output{top("modifiedTransformedPrompt", "sent instead")},
			Timeout: seconds(30), Kinds: kinds, Notes: []string{"the PascalCase form was not tried"},
		}, {
			Native: "preToolUse", Pascal: "PreToolUse", Name: event.PreToolUse,
			When:    "before each tool call, ask_user, exit_plan_mode, task and MCP included",
			Matcher: full("toolName"), Input: fields("toolName string; toolArgs object"),
			Outputs: []Output{
				top("permissionDecision", `"allow" runs it without a prompt, "deny" refuses, "ask" prompts even with --allow-all-tools (refused in -p)`),
				top("permissionDecisionReason", "for the model, or in the prompt"), top("modifiedArgs", "runs instead"), context("for the model"),
				inner("permissionDecision", "the same, at PascalCase PreToolUse"), inner("permissionDecisionReason", "the same, at PascalCase PreToolUse"),
				inner("updatedInput", "runs instead, at PascalCase PreToolUse"),
			},
			Exit2:  "denied; the reason is that of the JSON, and not stderr",
			Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"permissionDecision", "hookSpecificOutput.permissionDecision"}}, Timeout: seconds(30), Kinds: kinds,
			Notes: []string{"any other exit code denies as well", "deny beats ask beats allow", "allow does not lift the prompt for reads outside the folder",
				"PascalCase PreToolUse takes Claude Code's matchers"},
		}, {
			Native: "permissionRequest", Pascal: "PermissionRequest", Name: event.PermissionRequest,
			When:    "every shell, write and MCP call, before the rules and whether or not a person would be asked; not for reads",
			Matcher: full("toolName"), Input: fields("hookName string; toolName string; toolInput object; permissionSuggestions array"),
			Outputs: []Output{top("behavior", `"allow" or "deny"`), top("message", "deny: for the model"),
				top("interrupt", "deny: ends the turn without agentStop and sessionEnd")},
			Exit2:  "denied",
			Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"behavior"}}, Timeout: seconds(30), Kinds: kinds,
			Notes: []string{"any other exit code denies as well", "of several answers the last counts", "the payload is camelCase under both spellings"},
		}, {
			Native: "preMcpToolCall", Pascal: "PreMcpToolCall", Name: event.PreMCPToolCall, When: "after the permission, before a call to an MCP server",
			Matcher: none, Input: fields("toolCallId string; serverName string; toolName string; arguments object"),
			Timeout: seconds(30), Kinds: kinds, Notes: []string{"it can change request metadata (read)", "the PascalCase form was not tried"},
		}, {
			Native: "postToolUse", Pascal: "PostToolUse", Name: event.PostToolUse, When: "a call succeeded; a command with an exit code of its own is a success",
			Matcher: full("toolName"), Input: fields("toolName string; toolArgs object; toolResult object (resultType, textResultForLlm)"),
			Outputs: with(block("a refusal takes the place of the result"), top("modifiedResult", "takes the place of the result"), context("for the model")),
			Exit2:   shown, Blocks: Blocking{Effect: Replaces, Keys: []string{"decision"}}, Timeout: seconds(30), Kinds: kinds,
		}, {
			Native: "postToolUseFailure", Pascal: "PostToolUseFailure", Name: event.PostToolUseFailure, When: "a call failed; not denied ones",
			Matcher: none, Input: fields("toolName string; toolArgs object; error string"), Outputs: []Output{context("for the model")},
			Exit2: "stderr is for the model", Blocks: Blocking{Effect: TellsModel, Keys: []string{"additionalContext"}}, Timeout: seconds(30), Kinds: kinds,
		}, {
			Native: "notification", Pascal: "Notification", Name: event.Notification, When: "a prompt or a question opened, or background work ended; the client does not wait for it",
			Matcher: full("notification_type", "permission_prompt", "elicitation_dialog", "shell_completed", "shell_detached_completed", "agent_idle", "agent_completed"),
			Input:   fields("message string; title? string; hook_event_name string; notification_type string"),
			Outputs: []Output{context("starts a new turn")}, Exit2: shown, Timeout: seconds(30), Kinds: kinds,
			Notes: []string{"notification_type is in snake case under both spellings", "the PascalCase form refused *"},
		}, {
			Native: "agentStop", Pascal: "Stop", Name: event.Stop, When: "a turn ended by itself; not after an abort, an error or a deny with interrupt",
			Matcher: none, Input: fields("transcriptPath string; stopReason string; stop_hook_active bool (snake case)"),
			Outputs: block("the reason becomes the next prompt"), Exit2: shown,
			Blocks: Blocking{Effect: GoesOn, Keys: []string{"decision"}}, Timeout: seconds(30), Kinds: kinds,
			Notes: []string{"after 8 blocks the client ends the turn", "of several answers the last counts", "exit 2 continues nothing"},
		}, {
			Native: "subagentStart", Pascal: "SubagentStart", Name: event.SubagentStart, When: "a subagent starts", Matcher: full("agentName"),
			Input:   fields("transcriptPath string; agentName string; agentId string; agentType string; parentAgentId? string"),
			Outputs: []Output{read(context("for the subagent"))}, Timeout: seconds(30), Kinds: kinds,
			Notes: []string{"that a matcher counts was only read"},
		}, {
			Native: "subagentStop", Pascal: "SubagentStop", Name: event.SubagentStop, When: "a subagent ended", Matcher: none,
			Input:   fields("transcriptPath string; agentName string; agentId string; agentType string; parentAgentId? string; response? string; stopReason string; stop_hook_active bool"),
			Outputs: []Output{read(top("decision", `"block": it goes on`)), read(top("reason", "with it")), read(top("modifiedResponse", "takes the response's place"))},
			Blocks:  Blocking{Effect: GoesOn, Keys: []string{"decision"}, Mark: Read}, Timeout: seconds(30), Kinds: kinds,
		}, {
			Native: "errorOccurred", Pascal: "ErrorOccurred", Name: event.ErrorOccurred, When: "each failed model call, each retry", Matcher: none,
			Input:   fields("errorContext string; recoverable bool (true even when the turn ends); error object (message, name, stack)"),
			Timeout: seconds(30), Kinds: kinds,
		}, {
			Native: "preCompact", Pascal: "PreCompact", Name: event.PreCompact, When: "before compaction", Matcher: full("trigger", "manual", "auto"),
			Input: fields("transcriptPath string; trigger string; customInstructions? string"), Timeout: seconds(30), Kinds: kinds,
			Notes: []string{"that a matcher counts was only read"},
		}, {
			Native: "sessionEnd", Pascal: "SessionEnd", Name: event.SessionEnd, When: "the program leaves, or /clear; in -p after every round",
			Matcher: none, Input: fields("reason string (complete, error, user_exit, and abort and timeout, which were only read)"), Timeout: seconds(30), Kinds: kinds,
			Notes: []string{"the client waits for it when it leaves"},
		},
	}
}
