package lint

import (
	"github.com/lidguard-go/lidguard/internal/event"
)

// Rule is one kind of fault. Its id does not change over versions.
type Rule struct {
	ID        string           `json:"id"`
	Severity  Severity         `json:"severity"`
	Providers []event.Provider `json:"providers"`
	Title     string           `json:"title"`
	Cause     string           `json:"cause"`
	Fix       string           `json:"fix"`
}

// The ids.
const (
	fileUnreadable = "file-unreadable"
	fileBroken     = "file-broken"
	jsonComment    = "json-comment"
	keyTwice       = "key-twice"
	settingsLost   = "settings-dropped"
	hooksMisplaced = "hooks-misplaced"
	eventUnknown   = "event-unknown"
	groupDropped   = "group-dropped"
	handlerDropped = "handler-dropped"
	handlerKind    = "handler-kind"
	keyUnknown     = "key-unknown"
	keyIgnored     = "key-ignored"
	hooksOff       = "hooks-off"

	matcherNever      = "matcher-never"
	matcherCase       = "matcher-case"
	matcherServer     = "matcher-mcp-server"
	matcherInvalid    = "matcher-invalid"
	matcherUnanchored = "matcher-unanchored"
	matcherIgnored    = "matcher-ignored"
	ifNever           = "if-never"
	ifContradicts     = "if-contradicts"

	timeoutUnit   = "timeout-unit"
	timeoutCut    = "timeout-cut"
	handlerTwice  = "handler-twice"
	asyncDecides  = "async-decides"
	httpVariable  = "http-variable"
	rewritersRace = "rewriters-race"
	promptBeside  = "prompt-beside-lidguard"

	programMissing   = "program-missing"
	programNoExec    = "program-not-executable"
	programNoShebang = "program-no-shebang"
	programCRLF      = "program-crlf"
	pathRelative     = "path-relative"
	pathNotExpanded  = "path-not-expanded"
	pathSplits       = "path-splits"
	pathBackslash    = "path-backslash"
	variableUnset    = "variable-unset"
	payloadInEnv     = "payload-in-env"
	payloadSpelling  = "payload-spelling"
	profileNoise     = "profile-noise"
	bannerBeforeJSON = "banner-before-json"
	backgroundHolds  = "background-holds"
	exit1Misused     = "exit-1-does-not-block"
	exit2Silent      = "exit-2-without-reason"
	exit2NoEffect    = "exit-2-no-effect"
	stopLoop         = "stop-loop"

	decisionFlat    = "decision-flat"
	decisionUnnamed = "decision-unnamed"
	decisionMisname = "decision-misnamed"
	decisionValue   = "decision-value"
	decisionShape   = "decision-shape"
	decisionForeign = "decision-foreign"
	outputIgnored   = "output-ignored"
	outputShape     = "output-shape"

	codexVoid             = "codex-file-void"
	codexAsk              = "codex-ask"
	codexBareAllow        = "codex-bare-allow"
	codexRejected         = "codex-rejected-key"
	codexPatch            = "codex-patch-input"
	codexText             = "codex-text"
	codexUntrusted        = "codex-untrusted"
	codexChanged          = "codex-changed"
	codexMoved            = "codex-moved"
	codexSwitchedOff      = "codex-switched-off"
	codexTrustStale       = "codex-trust-stale"
	codexProjectUntrusted = "codex-project-untrusted"
	codexOldSwitch        = "codex-old-switch"
	codexTwoFiles         = "codex-two-files"

	copilotNotLoaded     = "copilot-not-loaded"
	copilotUntrusted     = "copilot-project-untrusted"
	copilotLastAnswer    = "copilot-last-answer"
	copilotFailureDenies = "copilot-failure-denies"
	copilotLoopback      = "copilot-http-loopback"
	copilotEnv           = "copilot-env"
	copilotRunsClaude    = "copilot-runs-claude-hooks"

	openCodeNeverCalled = "opencode-never-called"
	openCodeEventGone   = "opencode-event-unknown"
	openCodeExport      = "opencode-export"
	openCodeThrows      = "opencode-chat-throws"
	openCodeServer      = "opencode-no-server"
	openCodeClient      = "opencode-client-method"
	openCodeAlways      = "opencode-always"
	openCodeSecrets     = "opencode-secrets"
	openCodeIdleLoop    = "opencode-idle-loop"
	openCodePlugin      = "opencode-plugin-entry"
)

var (
	everyClient = []event.Provider{event.Claude, event.Codex, event.Copilot, event.OpenCode}
	withFiles   = []event.Provider{event.Claude, event.Codex, event.Copilot}
	claudeOnly  = []event.Provider{event.Claude}
	codexOnly   = []event.Provider{event.Codex}
	copilotOnly = []event.Provider{event.Copilot}
	openCode    = []event.Provider{event.OpenCode}
	claudeCodex = []event.Provider{event.Claude, event.Codex}
)

// Rules returns all rules, in the order of docs/lint.md.
func Rules() []Rule { return table }

// byID finds a rule; the zero Rule if there is none.
func byID(id string) Rule {
	for _, r := range table {
		if r.ID == id {
			return r
		}
	}
	return Rule{}
}

var table = []Rule{
	// The file.
	{fileUnreadable, Error, everyClient, "the file cannot be read",
		"The client cannot read it either, or reads something else than a file.",
		"Give yourself the right to read it, or name a file that is there."},
	{fileBroken, Error, everyClient, "the file does not parse",
		"The client drops a file that it cannot parse, mostly without a word, and with it every hook and permission in it.",
		"Correct the place that is named."},
	{jsonComment, Error, withFiles, "a comment or a trailing comma in plain JSON",
		"The client reads plain JSON here: one comment or trailing comma drops the whole file, hooks and permissions with it; Claude Code says nothing of it in -p.",
		"Remove the comment or the comma."},
	{keyTwice, Error, everyClient, "a key is there twice",
		"Of a key that an object has twice the last one counts: the hooks under the first are lost.",
		"Put both lists under one key."},
	{settingsLost, Error, claudeOnly, "one badly typed value drops the whole settings file",
		"Claude Code drops a settings file as a whole when one value has the wrong type, for example permissions.allow as a string or an event whose value is no array; in -p it says nothing.",
		"Give the value the type that is named."},
	{hooksMisplaced, Error, withFiles, "events do not stand under \"hooks\"",
		"The client looks for events under the key hooks and nowhere else.",
		`Put the events into {"hooks": {…}}.`},
	{eventUnknown, Error, withFiles, "no such event",
		"An event that the client does not have is ignored without a word, so the hook never runs. Case counts.",
		"Use the client's own name; `lidguard hooks events` lists them."},
	{groupDropped, Error, withFiles, "a group that the client drops",
		"An element of an event's list needs a list of handlers under hooks; one without it is dropped with a line in the debug log at most.",
		`Write {"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}.`},
	{handlerDropped, Error, withFiles, "a handler that the client drops",
		"A handler without its type or what it needs (command, url, server and tool, prompt), of an unknown type, or with a timeout that is no number is dropped; the others run.",
		"Complete the handler as the message says."},
	{handlerKind, Error, withFiles, "this kind of handler does not run on this event",
		"Each event runs some kinds of handlers only; the others are skipped, or run without effect.",
		"Use a kind that `lidguard hooks events --event E` lists; command always runs."},
	{keyUnknown, Warning, withFiles, "a key that the client does not know",
		"Unknown keys of a handler or a group are ignored, so what it says does not hold. Often it is a spelling.",
		"Correct or remove the key."},
	{keyIgnored, Warning, withFiles, "a key that does nothing here",
		"The key is another client's, or counts in another place only; the client ignores it and runs the hook as if it were not there.",
		"Remove the key, and do in the hook what it was there for."},
	{hooksOff, Warning, withFiles, "hooks are switched off",
		"With this switch none of the hooks runs that it covers.",
		"Remove the switch, or the hooks."},

	// The matcher.
	{matcherNever, Error, withFiles, "a matcher that never matches",
		"A matcher of letters, digits, _, - and separators is a list of whole names, compared with case; anything else is a regular expression. This one matches no value that the event has, so the hook never runs.",
		"Name the value in full; for part of a name write a regular expression such as ^Notebook.*."},
	{matcherCase, Error, withFiles, "a matcher in the wrong case",
		"Names are compared with case, so this name matches nothing.",
		"Spell it as the client does."},
	{matcherServer, Error, claudeCodex, "a bare MCP server's name as matcher",
		"mcp__server is compared with whole tool names, which are mcp__server__tool, and so matches none of them.",
		"Write mcp__server__.* for all tools of the server."},
	{matcherInvalid, Error, withFiles, "a matcher that is no regular expression",
		"A regular expression that does not parse matches nothing (Claude Code), drops its group (Codex) or its entry (Copilot).",
		"Correct the expression; to match everything leave the matcher out."},
	{matcherUnanchored, Warning, withFiles, "a matcher that matches more than it says",
		"A regular expression matches anywhere in the name here, so Edit.* matches NotebookEdit too.",
		"Put it between ^ and $."},
	{matcherIgnored, Warning, withFiles, "a matcher on an event that has none",
		"The event is not matched by anything: the client ignores the matcher, and the hook runs every time.",
		"Remove the matcher, and decide inside the hook."},
	{ifNever, Error, claudeOnly, "an if that never holds",
		"if counts on tool events alone, and there holds one permission rule, such as Bash(git *); elsewhere, and with *, a bare MCP server or several rules, the handler never runs.",
		"Remove it, or write one rule; for several write several handlers."},
	{ifContradicts, Error, claudeOnly, "if and matcher exclude each other",
		"The tool that the if names does not match the group's matcher, so the handler never runs.",
		"Let both name the same tool."},

	// The handler.
	{timeoutUnit, Warning, withFiles, "a timeout that looks like milliseconds",
		"Timeouts are in seconds. A hook that hangs would hold the agent up for the better part of an hour or more.",
		"Divide it by 1000."},
	{timeoutCut, Warning, claudeCodex, "a timeout that the client cuts",
		"The event has an upper limit for all hooks: Codex cuts to 3 s and warns at every start, Claude Code's SessionEnd waits 60 s at most.",
		"Stay below the limit."},
	{handlerTwice, Warning, claudeOnly, "one and the same handler twice under an event",
		"Handlers are told apart by command, args and if alone: the same one runs once per event, and of two timeouts only one counts.",
		"Keep one of them; for another matcher with the same settings both may stay."},
	{asyncDecides, Error, claudeCodex, "an async handler that decides",
		"The client does not wait for an async handler and drops its decision, so nothing is blocked.",
		"Remove async; for slow checks on Claude Code use asyncRewake, which wakes the model afterwards."},
	{httpVariable, Error, claudeOnly, "a variable in a header that is not allowed",
		"Variables in headers that allowedEnvVars does not list become empty.",
		"List the variable in allowedEnvVars."},
	{rewritersRace, Warning, withFiles, "several hooks rewrite the same",
		"All matching hooks start together, and of several rewrites the one that finishes last wins: the other is lost, secrets that it masked included.",
		"Let one hook do all rewriting of an event."},
	{promptBeside, Warning, claudeOnly, "prompt-style hooks beside lidguard",
		"A prompt or agent handler asks a model and decides on its own; lidguard answers only for its own part, and the two can contradict each other.",
		"Use a command handler, or keep the two on different events."},

	// The program.
	{programMissing, Error, withFiles, "the program is not there",
		"A program that is missing ends with 127, which lets everything through on Claude Code and Codex and denies every call on Copilot.",
		"Correct the path, or install the program."},
	{programNoExec, Error, withFiles, "the script may not be executed",
		"Without the run bit the shell answers 126, which blocks nothing (and denies everything on Copilot).",
		"chmod +x the file, or call it by its interpreter."},
	{programNoShebang, Error, withFiles, "the script has no first line that names its interpreter",
		"Without #! the system cannot start it (exec form), or sh reads it whatever it is written in.",
		"Begin it with #!/bin/sh, #!/usr/bin/env python3 or the like."},
	{programCRLF, Error, withFiles, "the script has Windows line endings",
		"The carriage return becomes part of the interpreter's name, which is then not found: 127.",
		"Save it with Unix line endings."},
	{pathRelative, Warning, withFiles, "a path relative to wherever the session is",
		"A hook runs in the session's folder, which is not always the project's root and can change: the program is then not found.",
		`Use an absolute path, or "$CLAUDE_PROJECT_DIR"/… in Claude Code's project settings.`},
	{pathNotExpanded, Error, withFiles, "a path that nobody expands",
		"~ between quotes, and $VARIABLES in the exec form (args), stay as they are written, so the program is not found.",
		"Write $HOME instead of a quoted ~, or the full path."},
	{pathSplits, Error, withFiles, "a path with a blank and without quotes",
		"The shell splits the unquoted variable at the blank in the folder's name, so the program is not found.",
		`Put it between quotes: "$CLAUDE_PROJECT_DIR"/….`},
	{pathBackslash, Error, claudeOnly, "backslashes in a path for a POSIX shell",
		"On Windows the client runs commands in Git's bash, which eats backslashes: the guard is dead without a word.",
		`Write forward slashes, or set "shell": "powershell".`},
	{variableUnset, Error, withFiles, "a variable that the client does not set",
		"The variable is empty in this client's hooks, so the path or the value is wrong.",
		"Use an absolute path, or read the value from the payload on standard input."},
	{payloadInEnv, Error, withFiles, "payload from the environment",
		"No client puts the payload into variables: it comes as JSON on standard input, and these are empty, so a check of them lets everything pass.",
		"Read standard input, for example with jq -r .tool_input.command."},
	{payloadSpelling, Error, withFiles, "members of another payload",
		"camelCase events of Copilot have toolName and toolArgs, all others tool_name and tool_input: what the script reads is not there.",
		"Read the members that `lidguard hooks events --event E` lists."},
	{profileNoise, Warning, withFiles, "a login or interactive shell",
		"It reads the person's profile, and what that prints comes before the JSON, which then counts as text: the decision is lost. It also costs its start-up on every call.",
		"Use a plain shell without -l, -i and without sourcing the profile."},
	{bannerBeforeJSON, Error, claudeCodex, "text before the JSON",
		"Standard output that does not begin with the JSON is plain text: the decision in it is lost and the call runs.",
		"Print everything but the JSON to standard error."},
	{backgroundHolds, Warning, withFiles, "a background job that holds the hook open",
		"A job started with & inherits standard output, and the client waits until that is closed.",
		"Start it with >/dev/null 2>&1 </dev/null &."},
	{exit1Misused, Error, claudeCodex, "exit 1 where something should be blocked",
		"Only exit code 2 blocks. Exit 1 is a failed hook, and the action goes on.",
		"Print the reason to standard error and exit with 2."},
	{exit2Silent, Warning, claudeCodex, "exit 2 without a reason on standard error",
		"The reason is what is on standard error. Without one Codex blocks nothing, and Claude Code's model reads \"No stderr output\".",
		"Print the reason to standard error (>&2) before exit 2."},
	{exit2NoEffect, Error, withFiles, "exit 2 where it does nothing",
		"The event does not know exit code 2; at best somebody sees a warning.",
		"Answer with the JSON that `lidguard hooks events --event E` lists."},
	{stopLoop, Error, withFiles, "a Stop hook that may go on for ever",
		"A hook that blocks the end of the turn is asked again at the next one: without looking at stop_hook_active it goes on until the client's limit of 8, and on Codex without limit.",
		"Let the turn end when stop_hook_active is true."},

	// The answer.
	{decisionFlat, Error, claudeCodex, "a decision outside hookSpecificOutput",
		"A permissionDecision at the top of the answer is ignored (Claude Code) or voids the answer (Codex): the call runs.",
		`Write {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "…"}}.`},
	{decisionUnnamed, Error, withFiles, "hookSpecificOutput without hookEventName",
		"Without hookEventName the whole answer breaks the schema, and the call runs.",
		"Add the name of the event."},
	{decisionMisname, Error, claudeOnly, "hookEventName names another event",
		"An answer that names another event than the one it is for is thrown away, and the call runs.",
		"Name the event that the payload's hook_event_name names."},
	{decisionValue, Error, withFiles, "a decision that is no word of the client's",
		"permissionDecision is allow, deny or ask; the older top-level decision is block (or approve). Any other word breaks the answer.",
		"Use a word that `lidguard hooks events --event E` lists."},
	{decisionShape, Error, withFiles, "a decision in another event's shape",
		"PermissionRequest answers with decision {behavior, message}, PreToolUse with permissionDecision; Copilot reads Claude Code's nested form at PascalCase PreToolUse alone and wants flat members elsewhere.",
		"Use the outputs that `lidguard hooks events --event E` lists."},
	{decisionForeign, Error, withFiles, "the answer of another agent",
		`{"permission": "deny"} is Cursor's dialect, which none of these clients reads.`,
		"Use the outputs that `lidguard hooks events --event E` lists."},
	{outputIgnored, Warning, withFiles, "an output that the client ignores",
		"The member has no effect on this event.",
		"Remove it, or use an event that honours it."},

	{outputShape, Error, claudeOnly, "a rewritten output of another shape",
		"updatedToolOutput must have the tool's own shape (for Bash stdout, stderr, interrupted and isImage). A text or a part of it is refused and the original goes through, secrets included; a script that never reads tool_response cannot have its shape.",
		"Copy tool_response and change the texts in it."},

	// Codex.
	{codexVoid, Error, codexOnly, "one entry voids the whole hooks file",
		"One http handler, one handler of an unknown type, or one timeout with a fraction makes Codex reject the whole file: no hook of it runs.",
		"Remove that handler, or use whole seconds."},
	{codexAsk, Error, codexOnly, "ask or defer",
		"Codex parses ask and defer and reports them as unsupported; the call goes on.",
		"Deny with a reason, or stay silent and leave it to PermissionRequest."},
	{codexBareAllow, Error, codexOnly, "allow without updatedInput",
		"For Codex allow means \"run this input instead\"; without updatedInput the answer fails.",
		"Print nothing when there is no objection."},
	{codexRejected, Error, codexOnly, "a member that voids the answer",
		"Codex throws an answer away as a whole for one member that it does not know or does not want at the event, and the action goes on.",
		"Remove the member; `lidguard hooks events --provider codex` lists what is honoured."},
	{codexPatch, Error, codexOnly, "a patch has no file_path",
		"On Codex Edit and Write are names for apply_patch, whose input is the text of the patch in command: file_path is not there, and the check sees nothing.",
		"Read the files from the lines *** Update File: of tool_input.command."},
	{codexText, Warning, codexOnly, "plain text at the end of a turn",
		"On Stop, SubagentStop and Interrupt plain text on standard output makes the hook fail, and the person is told so.",
		"Print nothing, or to standard error."},
	{codexUntrusted, Error, codexOnly, "a hook that nobody trusted",
		"Codex skips hooks that the person has not trusted, in codex exec without a word.",
		"Start codex and trust the hooks (or run /hooks)."},
	{codexChanged, Error, codexOnly, "a hook that was changed since it was trusted",
		"The trust covers command, matcher and timeout. After a change Codex skips the hook without a word until it is trusted again.",
		"Look at it and trust it again in codex (/hooks)."},
	{codexMoved, Error, codexOnly, "a trusted hook that moved",
		"Codex remembers trust by position in the file. A group put in front, or one removed, moves the hooks behind it, which are then skipped.",
		"Put new groups at the end, leave an empty group {\"hooks\": []} where one was, or trust them again."},
	{codexSwitchedOff, Warning, codexOnly, "a hook that is switched off in Codex",
		"hooks.state says enabled = false for it: it does not run.",
		"Switch it on in codex (/hooks), or remove it."},
	{codexTrustStale, Note, codexOnly, "trust in a hook that is not there any more",
		"An entry in hooks.state names a position that the file does not have.",
		"Remove the entry, if the hook is gone for good."},
	{codexProjectUntrusted, Error, codexOnly, "hooks of a project that is not trusted",
		"Codex loads the hooks of a project only when the project itself is trusted.",
		"Start codex in the project and trust it."},
	{codexOldSwitch, Warning, codexOnly, "an old name of the switch",
		"features.codex_hooks is the former name of features.hooks: Codex complains about it at every start. Hooks are on by default.",
		"Remove it."},
	{codexTwoFiles, Warning, codexOnly, "hooks in hooks.json and in config.toml",
		"Both are run, and Codex warns about it at every start.",
		"Keep them in one file (and trust them again)."},

	// Copilot.
	{copilotNotLoaded, Error, copilotOnly, "a file that Copilot does not load",
		"Copilot loads *.json in its hooks folder and the key hooks in settings.json; not *.jsonc, not config.json, not a file whose version is another than 1.",
		"Move the hooks into a .json file in the hooks folder, with \"version\": 1."},
	{copilotUntrusted, Warning, copilotOnly, "hooks of a project that is not trusted",
		"Copilot runs the hooks of a project only in a trusted folder.",
		"Start copilot in the folder and trust it."},
	{copilotLastAnswer, Warning, copilotOnly, "another hook has the last word",
		"At permissionRequest and agentStop the last answer wins, and hook files run in descending order of their names: the one named here can undo what the others answered.",
		"Keep one hook for the event, or let the one that must win have the name that sorts first."},
	{copilotFailureDenies, Warning, copilotOnly, "a failure denies the call",
		"At preToolUse and permissionRequest every exit code but 0 denies, so exit 1, which other clients take for a failed hook, refuses calls here.",
		"Exit with 0 unless the call is to be refused, and refuse by JSON."},
	{copilotLoopback, Warning, copilotOnly, "an http hook to this machine",
		"http hooks reach loopback addresses only with COPILOT_HOOK_ALLOW_LOCALHOST=1 in Copilot's environment.",
		"Set that variable where Copilot is started, or use a command."},
	{copilotEnv, Warning, copilotOnly, "a variable in env is not expanded",
		"The values of env are passed on as they are written.",
		"Write the value itself, or let the command expand it."},
	{copilotRunsClaude, Note, []event.Provider{event.Claude, event.Copilot}, "Copilot runs these hooks too",
		"Copilot runs the hooks of a trusted project's .claude/settings.json as well, with its own payload and rules: there a failing program denies every call.",
		"Tell the clients apart by COPILOT_CLI=1, or move the hooks to your own settings."},

	// OpenCode.
	{openCodeNeverCalled, Error, openCode, "permission.ask is never called",
		"The hook is in the typings, and the client does not call it.",
		"Answer on the event permission.asked through the client."},
	{openCodeEventGone, Error, openCode, "no such event or hook",
		"The client has no event or hook of this name (any more), so the code never runs.",
		"Use a name that `lidguard hooks events --provider opencode` lists."},
	{openCodeExport, Error, openCode, "an export that is no function",
		"A plugin file may export functions only; for one other export the client refuses the whole file, with a line in its log.",
		"Do not export it."},
	{openCodeThrows, Error, openCode, "an exception in chat.message kills the prompt",
		"The client does not catch it: the person's prompt is lost (HTTP 500, no busy, no idle).",
		"Catch everything in chat.message; refuse in tool.execute.before instead."},
	{openCodeServer, Warning, openCode, "serverUrl, where mostly nobody listens",
		"In the terminal and in opencode run there is no HTTP server at serverUrl.",
		"Use the client that the plugin is given."},
	{openCodeClient, Error, openCode, "a method that the client does not have",
		"The plugin's client has no permission or question object; the call throws.",
		"Use client.postSessionIdPermissionsPermissionId, or client._client.post({url: \"/permission/<id>/reply\", …})."},
	{openCodeAlways, Warning, openCode, "always holds for the whole program",
		"The answer always holds for all sessions and subagents until the program ends.",
		"Answer once."},
	{openCodeSecrets, Error, openCode, "inputs with keys leave the plugin",
		"The inputs of chat.headers and chat.params hold the provider's API key, and session.error the provider's answer; this code logs or sends them.",
		"Pass on single members, never the whole input."},
	{openCodeIdleLoop, Warning, openCode, "a continuation without a bound",
		"session.idle comes after every end of a turn, also after errors, interruptions and for subagents, and the client has no limit: a plugin that prompts on it goes on for ever.",
		"Count the continuations, skip sessions with a parentID and turns that ended by session.error."},
	{openCodePlugin, Error, openCode, "an entry of plugin that the client cannot load",
		"plugin is a list of packages and file:// addresses, or of [address, options].",
		"Write \"plugin\": [\"file:///…/x.js\"]."},
}
