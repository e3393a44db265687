package census

import "github.com/lidguard-go/lidguard/internal/event"

func openCodeClient() Client {
	return Client{
		Provider: event.OpenCode, Title: "OpenCode", Version: "1.18.33", Contract: "docs/contracts/opencode.md",
		Common: nil,
		Notes: []string{
			"Hooks are functions of a plugin inside the client. An event of the bus comes to the hook named event, as {id, type, properties}; what is listed is in properties. Of the other hooks the members of input and of output are listed; a hook answers by changing output in place.",
			"Hooks are awaited, without a time limit. An exception in tool.execute.before refuses the call; one in chat.message kills the person's prompt.",
			"A plugin file may export functions only; one other export and the file is refused.",
			"When the program dies nothing is told.",
			"The inputs of chat.headers and chat.params hold the provider's key, session.error holds the provider's answer.",
		},
		Handlers: []Handler{{Plugin, 0, "a function inside the client, awaited without a limit", Measured}},
	}
}

func openCodeEvents() []Event {
	kinds := []Kind{Plugin}
	m := Matcher{Law: InPlugin}
	row := func(native string, name event.Name, mark Mark, when, input string, outputs ...Output) Event {
		return Event{Native: native, Name: name, Mark: mark, When: when, Matcher: m, Input: fields(input), Outputs: outputs, Kinds: kinds,
			Timeout: Timeout{Note: "the client waits without limit"}}
	}
	by := func(e Event, effect Effect, keys ...string) Event {
		e.Blocks = Blocking{Effect: effect, Keys: keys}
		return e
	}
	noted := func(e Event, notes ...string) Event {
		e.Notes = notes
		return e
	}
	const info = "sessionID string; info object"
	return []Event{
		// The bus.
		row("session.created", event.SessionStart, Measured, "a session is new; a subagent's too, with info.parentID", info),
		row("session.updated", "", Measured, "often (title, tokens): no sign of work by itself", info),
		row("session.status", event.StatusChanged, Measured, "busy, retry or idle; several busy per turn", "sessionID string; status object"),
		noted(by(row("session.idle", event.Stop, Measured, "after status idle: every end of a turn, good or bad; twice after an error or an abort", "sessionID string",
			top("client.session.prompt()", "continues the session with a prompt")), GoesOn, "client.session.prompt()"),
			"a subagent has its own, which is not the end of the work", "the client counts no continuations and has no limit"),
		row("session.error", event.StopFailure, Measured, "a turn failed or was aborted, before idle", "sessionID? string; error object"),
		row("session.deleted", event.SessionEnd, Measured, "a session is deleted, children first", info),
		row("session.compacted", event.PostCompact, Measured, "after compaction", "sessionID string"),
		row("session.diff", "", Measured, "the session's changes to files", "sessionID string; diff array"),
		row("message.updated", "", Measured, "while the model writes", "info object"),
		row("message.part.updated", "", Measured, "while the model writes", "part object"),
		row("message.part.delta", event.MessageDisplay, Measured, "while the model writes: the sign of activity", "sessionID string"),
		noted(by(row("permission.asked", event.PermissionRequest, Measured, "a prompt has opened: the rules say ask",
			"id string; sessionID string; permission string; patterns array; metadata object; always array; tool? object",
			top("reply", `through the client: "once", "always" or "reject"`), top("message", "reject: with it the model goes on, without it the turn ends")), Stops, "reply"),
			"always holds for the whole program until it ends", "a rejection rejects the session's other open requests too", "opencode run rejects by itself, at once"),
		row("permission.replied", event.PermissionReply, Measured, "answered by anybody; not after an abort", "sessionID string; requestID string; reply string"),
		by(row("question.asked", event.QuestionAsked, Measured, "the tool question asks the person", "id string; sessionID string; questions array; tool? object",
			top("answers", "through the client: the labels chosen"), top("reject", "through the client: dismisses it, and the turn ends")), Stops, "reject"),
		row("question.replied", event.QuestionReply, Measured, "answered", "sessionID string; requestID string; answers array"),
		row("question.rejected", event.QuestionReply, Measured, "dismissed; the turn ends", "sessionID string; requestID string"),
		row("todo.updated", "", Read, "the to-do list changed", ""),
		row("file.edited", "", Read, "a file was edited", ""),
		row("command.executed", "", Read, "a command ran", ""),
		row("vcs.branch.updated", "", Read, "the branch changed", ""),
		row("server.instance.disposed", "", Measured, "housekeeping", ""),
		row("plugin.added", "", Measured, "housekeeping", ""),
		row("catalog.updated", "", Measured, "housekeeping", ""),
		row("integration.updated", "", Measured, "housekeeping", ""),
		row("reference.updated", "", Measured, "housekeeping", ""),

		// The hooks.
		noted(by(row("chat.message", event.UserPromptSubmit, Measured, "a prompt is about to be sent",
			"input.sessionID string; input.agent? string; input.model? object; input.messageID? string; output.message object; output.parts array",
			top("output.parts", "a changed text reaches the model"), top("throw", "the prompt dies: no busy, no idle")), Unreliable, "throw"),
			"an exception here is an accident of the client's, not an answer"),
		noted(by(row("tool.execute.before", event.PreToolUse, Measured, "before each tool call, questions and subagents included; before permission.asked",
			"input.tool string; input.sessionID string; input.callID string; output.args object",
			top("output.args", "runs instead"), top("throw", "refuses; the model reads the text")), Stops, "throw"),
			"a slow hook holds up the call"),
		by(row("tool.execute.after", event.PostToolUse, Measured, "a call is done; not a refused or rejected one, but an aborted one after its idle",
			"input.tool string; input.sessionID string; input.callID string; input.args object; output.title string; output.output string; output.metadata object",
			top("output.output", "a changed text reaches the model")), Replaces, "output.output"),
		row("shell.env", "", Measured, "before a command runs", "input.cwd string; input.sessionID? string; input.callID? string; output.env object",
			read(top("output.env", "variables for the command"))),
		row("experimental.session.compacting", event.PreCompact, Measured, "before compaction", "input.sessionID string; output.context array; output.prompt? string",
			top("output.context", "added to the compaction"), top("output.prompt", "takes the place of the compaction's prompt")),
		row("experimental.text.complete", "", Measured, "a text of the model is complete", "input.sessionID string; input.messageID string; input.partID string; output.text string"),
		row("chat.params", "", Measured, "before a model request; holds the provider's key", "input.sessionID string"),
		row("chat.headers", "", Measured, "before a model request; holds the provider's key",
			"input.sessionID string; input.agent? string; input.model object; input.provider object; input.message object; output.headers object"),
		row("tool.definition", "", Measured, "a tool is described to the model", ""),
		row("experimental.chat.messages.transform", "", Measured, "the messages for the model are ready", ""),
		row("experimental.chat.system.transform", "", Measured, "the system prompt is ready", ""),
		row("config", "", Measured, "the client starts: the whole configuration", ""),
		row("dispose", event.Disposed, Measured, "the client leaves in order; not when it is killed", ""),
		row("event", "", Measured, "every event of the bus", "id string; type string; properties object"),
		noted(row("permission.ask", "", Measured, "never: it is in the typings and is not called", ""), "use the event permission.asked"),
		row("command.execute.before", "", Read, "before a command of the person's runs", ""),
		row("experimental.compaction.autocontinue", "", Read, "after an automatic compaction", ""),
		row("experimental.provider.small_model", "", Read, "the small model is chosen", ""),
		row("auth", "", Read, "a way to log in to a provider", ""),
		row("provider", "", Read, "a provider of models", ""),
		row("tool", "", Read, "tools of the plugin's own", ""),
	}
}
