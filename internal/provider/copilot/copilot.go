// Package copilot is the codec of the GitHub Copilot CLI's hooks. In comes the
// JSON that the client writes to a hook's stdin, with the event's name from the
// command line since most payloads do not carry it; out go an Event, what that
// means for the tracked session, and, from a Verdict, the stdout and exit code
// that make the client do it. The client's own words end here. It does no I/O
// and reads the environment only through what it is given.
//
// The client speaks two dialects, by how the event is spelled in its
// configuration: camelCase with its own answers, PascalCase with some of Claude
// Code's. Facts are from docs/contracts/copilot.md (M means measured on 1.0.102),
// cited as "contract §3".
package copilot

import "github.com/lidguard-go/lidguard/internal/event"

// Codec is this client's row in a table of codecs. The zero value is ready.
type Codec struct{}

// Provider returns event.Copilot.
func (Codec) Provider() event.Provider { return event.Copilot }

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

// Called reports whether a hook process was started by this client, or by another
// that runs in a shell of it, since the variable is passed on. It also runs the hooks
// of a project's .claude/settings.json, so an entry made for Claude Code may be called
// by it, with a PascalCase payload (contract §1.17).
func Called(env func(string) string) bool { return env("COPILOT_CLI") == "1" }

// pascal reports whether the event was configured under its PascalCase name.
func pascal(native string) bool { return native != "" && native[0] >= 'A' && native[0] <= 'Z' }
