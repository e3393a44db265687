// Package hook is for people who write hooks for coding agents: one Go function
// that works on Claude Code, Codex CLI, Copilot CLI and OpenCode.
//
// In comes what the client writes to a hook's standard input, out goes one
// answer in that client's dialect. Between the two stands your function, which
// sees one Event in one vocabulary and returns a Verdict. The package never
// touches the network or a file, and writes nothing but the answer.
//
// # A hook in five minutes
//
// Make a module and a program:
//
//	mkdir no-push && cd no-push && go mod init example.com/no-push
//	go get github.com/lidguard-go/lidguard/hook
//
//	package main
//
//	import (
//		"context"
//		"strings"
//
//		"github.com/lidguard-go/lidguard/hook"
//	)
//
//	func main() { hook.Main(judge, hook.Gate) }
//
//	func judge(ctx context.Context, ev hook.Event) hook.Verdict {
//		if cmd, ok := ev.Bash(); ok && ev.BeforeCall() && strings.Contains(cmd.Text, "git push") {
//			return hook.Deny("Pushing is for people. Leave the commit local and say that it is ready.").ByRule("no-push")
//		}
//		return hook.None()
//	}
//
// A text search like this reminds an agent that means well. What holds against
// one that does not (bash -c, aliases, a script) is lidguard's own gate.
//
// Prove it before you install it, by hand or with the helpers of package
// hooktest:
//
//	go build -o ~/.local/bin/no-push .
//	echo '{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}' |
//		no-push --provider claude
//
// Install it where the client looks for hooks, with --provider so that nothing
// has to be guessed. Claude Code, in ~/.claude/settings.json:
//
//	{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
//		{"type": "command", "command": "/home/me/.local/bin/no-push", "args": ["--provider", "claude"]}]}]}}
//
// Codex, in ~/.codex/hooks.json, has no args: the command is "/home/me/.local/bin/no-push
// --provider codex", and it runs once you have trusted it. Copilot's payloads do
// not name their event, so there the command also has "--event preToolUse". The
// exact forms are in docs/sdk.md.
//
// # Roles
//
// An author chooses what a failure of the hook means, by handing a Role to Main.
// A Gate fails closed: a payload that cannot be read, a panic, a missed deadline
// refuse the call with a reason. A Helper fails open. An Observer only watches.
// Without a choice a hook is a Gate.
//
//	                        Gate               Helper        Observer
//	verdict of the body     said               said          dropped
//	malformed payload       refused            silence       silence
//	panic, bad verdict      refused            silence       silence
//	deadline                80 ms, refused     5 s, silence  5 s, silence
//	exit code               0 or 2             0 or 2        0
//
// Refused means what the event knows: the call does not run, the prompt is not
// sent, the result is withheld from the model. At the end of a turn nothing is
// refused, since that would keep the agent going for the hook's own fault.
//
// # What goes out
//
// Verdicts are translated, not passed on: what a client rejects or would
// misunderstand is never written. On Codex Ask becomes a refusal, because there
// the call would run otherwise; RewriteOutput becomes a block with the new text; a
// bare Allow is silence. Each answer is checked against the closed schema of its
// event and client, and JSON on standard output never comes with an exit code
// other than 0. What got lost on the way hooktest tells.
//
// # Resident hooks
//
// The same function can stay in memory and answer many events: see Serve.
package hook
