// Package opencode is the codec between lidguard's OpenCode plugin and the hook
// process it starts. In comes what the plugin writes to stdin, out go an Event,
// what that means for the tracked session, and, from a Verdict, the one line of
// JSON that tells the plugin what to do. The client's own words end here. It does
// no I/O and reads the environment only through what it is given.
//
// The client has no hooks for programs (contract §1.14): the plugin runs inside it
// and is the only one who can answer. It runs `lidguard opencode-hook --event NAME`
// with NAME the type of a bus event ("permission.asked") or the name of a plugin
// hook ("tool.execute.before"), one after another so that order is kept, and
// catches everything, since an exception of its own would kill the person's prompt.
//
// # Stdin
//
// For a bus event the event itself, {"id", "type", "properties"}; for a hook
// {"input", "output"}; and beside these, by the plugin:
//
//	root       the id of the root session, when the session at hand is a subagent's
//	directory  the project's directory
//	pid        the client's process id, where OPENCODE_PID is not set
//	continued  how often the plugin has continued this turn for us (session.idle)
//	sessions   the ids of all root sessions the plugin knows (dispose)
//
// An end of a turn that must not be continued (a person interrupted it, or it was
// continued too often) is told as session.status idle, which has no answer, and not
// as session.idle.
//
// chat.headers and chat.params hold the provider's key and must not be sent here;
// should they come, nothing of them is kept (contract §1.17).
//
// # Stdout
//
// Nothing, which means "go on", or one line, an object with v 1 and some of:
//
//	do: "refuse"    throw an Error with text (tool.execute.before: the model reads
//	                it; chat.message: the prompt is not sent)
//	do: "reply"     answer the permission request with reply "once" or "reject",
//	                and with message, if given: without one a reject ends the turn
//	do: "reject"    dismiss the question
//	do: "continue"  prompt the session with text
//	args            take these as the tool's arguments
//	result          take title, output and metadata from it as the tool's result
//	append          add this text: to the tool's output, to the prompt's first text
//	                part, to the context of a compaction
//	abort: true     then abort the session
//
// Exit 2 with a text on stderr is a refuse, or a reject with that message, where the
// event knows one of them. Any other failure of the process means "go on".
//
// Facts about the client are from docs/contracts/opencode.md (measured on 1.18.33),
// cited as "contract §2".
package opencode

import "github.com/lidguard-go/lidguard/internal/event"

// Codec is this client's row in a table of codecs. The zero value is ready.
type Codec struct{}

// Provider returns event.OpenCode.
func (Codec) Provider() event.Provider { return event.OpenCode }

// Decode is the function Decode.
func (Codec) Decode(payload []byte, env func(string) string, native string) (event.Event, error) {
	return Decode(payload, env, native)
}

// Encode is the function Encode.
func (Codec) Encode(ev *event.Event, v event.Verdict) (event.Output, error) { return Encode(ev, v) }

// Signals is the function Signals.
func (Codec) Signals(ev *event.Event, v event.Verdict) []event.Signal { return Signals(ev, v) }

// Refuse is the function Refuse.
func (Codec) Refuse(ev *event.Event, reason string) event.Output { return Refuse(ev, reason) }
