package census

import "github.com/lidguard-go/lidguard/internal/event"

func codexClient() Client {
	return Client{
		Provider: event.Codex, Title: "Codex CLI", Version: "0.171.0", Contract: "docs/contracts/codex.md",
		Common: fields("session_id string (the root session's in subagents too); transcript_path string|null (null with --ephemeral); cwd string; " +
			"hook_event_name string; model? string (not at SessionEnd); permission_mode? string; turn_id? string (not at SessionStart and SessionEnd); " +
			"agent_id? string (inside a subagent); agent_type? string (inside a subagent)"),
		Notes: []string{
			"A hook runs only after the person trusted it; codex exec skips the others without a word. The trust counts the hook's position in its file.",
			"A key that the client does not know or does not want at the event voids the whole answer, and the action goes on.",
			"Exit 2 needs a reason on stderr; without one it blocks nothing. Any other exit code, a timeout and broken JSON let the action go on.",
			"All matching handlers start together; any deny or block wins, and the first blocking one in file order gives the reason.",
			"One http handler, an unknown type of handler, or a timeout with a fraction voids the whole file. prompt and agent handlers are skipped.",
			"additionalContext is cut at 2500 tokens (read).",
		},
		Handlers: []Handler{
			{Command, 600, "a line for the shell; with async it is not waited for and decides nothing", Measured},
			{MCPTool, 600, "calls a tool of a connected MCP server; its text is treated like standard output", Measured},
			{Prompt, 0, "skipped, with a warning", Measured},
			{Agent, 0, "skipped, with a warning", Measured},
			{HTTP, 0, "the whole file is rejected, with a warning at the start of a thread", Measured},
		},
	}
}

var codexKinds = []Kind{Command, MCPTool}

func words(field string, values ...string) Matcher {
	return Matcher{Field: field, Law: WordsOrRegex, Values: values}
}

func codexEvents() []Event {
	none := Matcher{Law: Ignored}
	message := top("systemMessage", "shown to the person as a warning")
	context := inner("additionalContext", "added to the model's context")
	goOn := func(does string) Output { return top("continue", does) }
	block := []Output{top("decision", `"block", with reason`), top("reason", "the reason of the block; needed, and only allowed with it")}
	with := func(first []Output, more ...Output) []Output { return append(append([]Output(nil), first...), more...) }
	return []Event{
		{
			Native: "SessionStart", Name: event.SessionStart,
			When:    "the first prompt of a thread (not the start of the client); after a compaction, in mid-turn too",
			Matcher: words("source", "startup", "resume", "clear", "compact", "fork"), Input: fields("source string"),
			Outputs: []Output{top("stdout", "plain text is context"), context, goOn("false ends the turn before any request"), message},
			Exit2:   "a failed hook, nothing else", Blocks: Blocking{Effect: EndsTurn, Keys: []string{"continue"}}, Timeout: seconds(600), Kinds: codexKinds,
		}, {
			Native: "UserPromptSubmit", Name: event.UserPromptSubmit,
			When:    "every prompt, text typed while a turn runs, a subagent's task; not the turns of a goal",
			Matcher: none, Input: fields("prompt string"),
			Outputs: with(block, top("stdout", "plain text is context"), context, goOn("false blocks as well"), message),
			Exit2:   "the prompt is blocked", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"decision"}}, Timeout: seconds(600), Kinds: codexKinds,
		}, {
			Native: "PreToolUse", Name: event.PreToolUse, When: "before each tool call but write_stdin and unknown tools",
			Matcher: words("tool_name"), Input: fields("tool_name string; tool_input object; tool_use_id string"),
			Outputs: []Output{
				inner("permissionDecision", `"deny" refuses; "allow" only together with updatedInput; "ask" and "defer" void the answer`),
				inner("permissionDecisionReason", "for the model; needed with deny"),
				inner("updatedInput", `runs instead; {"command": text} for Bash and apply_patch`), context, message,
				top("decision", `the old form: "block", with reason`),
			},
			Exit2: "the call is blocked", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"hookSpecificOutput.permissionDecision"}},
			Timeout: seconds(600), Kinds: codexKinds,
			Notes: []string{"apply_patch is matched by Edit and Write too, spawn_agent by Agent", "the patch text is in tool_input.command: it is no shell command"},
		}, {
			Native: "PermissionRequest", Name: event.PermissionRequest,
			When:    "approval is needed, after PreToolUse and before the prompt, which waits for the hook",
			Matcher: words("tool_name"), Input: fields("tool_name string; tool_input object"),
			Outputs: []Output{
				inner("decision.behavior", `"allow" or "deny"; "ask" voids the answer`), inner("decision.message", "deny: for the model"), message,
			},
			Exit2: "denied", Blocks: Blocking{Effect: Stops, Exit2: true, Keys: []string{"hookSpecificOutput.decision.behavior"}}, Timeout: seconds(600), Kinds: codexKinds,
			Notes: []string{"interrupt, updatedInput and updatedPermissions void the answer: the person's prompt stays open", "codex exec mostly refuses without asking here"},
		}, {
			Native: "PostToolUse", Name: event.PostToolUse, When: "a tool call ended, failed commands too; not blocked, refused or interrupted ones",
			Matcher: words("tool_name"), Input: fields("tool_name string; tool_input object; tool_use_id string; tool_response any (of Bash the bare text, without exit status)"),
			Outputs: with(block, context, goOn("false replaces the output; the turn goes on"), top("stopReason", "with continue:false"), message),
			Exit2:   "stderr takes the place of the output", Blocks: Blocking{Effect: Replaces, Exit2: true, Keys: []string{"decision"}},
			Timeout: seconds(600), Kinds: codexKinds,
			Notes: []string{"the person's screen and the session file keep the original output", "updatedToolOutput voids the answer"},
		}, {
			Native: "PreCompact", Name: event.PreCompact, When: "before compaction", Matcher: words("trigger", "manual", "auto"), Input: fields("trigger string"),
			Outputs: []Output{goOn("false: no compaction, and the turn is interrupted"), message}, Exit2: "a failed hook, nothing else",
			Blocks: Blocking{Effect: Stops, Keys: []string{"continue"}}, Timeout: seconds(600), Kinds: codexKinds,
		}, {
			Native: "PostCompact", Name: event.PostCompact, When: "after compaction", Matcher: words("trigger", "manual", "auto"), Input: fields("trigger string"),
			Outputs: []Output{goOn("false interrupts the turn"), message}, Exit2: "a failed hook, nothing else",
			Blocks: Blocking{Effect: EndsTurn, Keys: []string{"continue"}}, Timeout: seconds(600), Kinds: codexKinds,
		}, {
			Native: "SubagentStart", Name: event.SubagentStart, When: "a subagent's thread starts", Matcher: words("agent_type"),
			Input: fields("agent_id string; agent_type string"), Outputs: []Output{top("stdout", "plain text is context for the subagent"), context, message},
			Exit2: "a failed hook, nothing else", Timeout: seconds(600), Kinds: codexKinds, Notes: []string{"continue:false has no effect"},
		}, {
			Native: "SubagentStop", Name: event.SubagentStop, When: "a subagent's turn ended", Matcher: words("agent_type"),
			Input:   fields("agent_id string; agent_type string; stop_hook_active bool; last_assistant_message string|null; agent_transcript_path string"),
			Outputs: with(block, goOn("false wins over a block"), message), Exit2: "the subagent goes on with stderr",
			Blocks: Blocking{Effect: GoesOn, Exit2: true, Keys: []string{"decision"}}, Timeout: seconds(600), Kinds: codexKinds,
			Notes: []string{"plain text on stdout fails the hook"},
		}, {
			Native: "Stop", Name: event.Stop, When: "a turn of the root thread ended normally", Matcher: none,
			Input:   fields("stop_hook_active bool; last_assistant_message string|null"),
			Outputs: with(block, goOn("false wins over a block"), message), Exit2: "the turn goes on with stderr",
			Blocks: Blocking{Effect: GoesOn, Exit2: true, Keys: []string{"decision"}}, Timeout: seconds(600), Kinds: codexKinds,
			Notes: []string{"there is no limit to continuations", "hookSpecificOutput in any form voids the answer", "plain text on stdout fails the hook"},
		}, {
			Native: "Interrupt", Name: event.Interrupt, When: "a running turn was aborted; not for subagents (read)", Matcher: none,
			Outputs: []Output{message}, Exit2: "a failed hook, nothing else", Timeout: Timeout{Default: 1, Max: 3, Note: "more is cut, with a warning at every start"}, Kinds: codexKinds,
			Notes: []string{"the end of the turn waits for the hook"},
		}, {
			Native: "SessionEnd", Name: event.SessionEnd, When: "the process that holds the thread ends in order: with the shared daemon not when the terminal client leaves",
			Matcher: words("reason", "other"), Input: fields("reason string"), Exit2: "not looked at",
			Timeout: Timeout{Default: 1, Max: 3, Note: "more is cut, with a warning at every start"}, Kinds: codexKinds,
			Notes: []string{"an async handler runs synchronously here, with a warning"},
		}, {
			Native: "PreModelRequest", Name: event.PreModelRequest, When: "before each model request; not in the client's documentation",
			Matcher: Matcher{Law: Untested}, Input: fields("kind string; request_id string; attempt_number number; thread_id string"),
			Exit2: "a failed hook, nothing else", Timeout: seconds(600), Kinds: codexKinds,
		}, {
			Native: "PostModelRequest", Name: event.PostModelRequest, When: "after each model request; not in the client's documentation",
			Matcher: Matcher{Law: Untested},
			Input: fields("kind string; request_id string; attempt_number number; thread_id string; status string; error string|object|null; " +
				"token_usage? object|null; response_id? string|null"),
			Exit2: "a failed hook, nothing else", Timeout: seconds(600), Kinds: codexKinds,
		},
	}
}
