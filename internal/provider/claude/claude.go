// Package claude is the codec of Claude Code's hooks. In comes the JSON that the
// client writes to a hook's stdin, out go an Event, what that means for the
// tracked session, and, from a Verdict, the stdout, stderr and exit code that
// make the client do it. The client's own words end here: no other package sees
// them. It does no I/O and reads the environment only through what it is given.
//
// Facts about the client (M means measured on 2.1.332) are in
// docs/contracts/claude.md; sections are cited as "contract §4".
package claude

import "github.com/lidguard-go/lidguard/internal/event"

// Called reports whether a hook process was started by this client, or by another that
// runs in a shell of it, since the variable is passed on (contract §7).
func Called(env func(string) string) bool { return env("CLAUDECODE") != "" }

// Codec is this client's row in a table of codecs. The zero value is ready.
type Codec struct{}

// Provider returns event.Claude.
func (Codec) Provider() event.Provider { return event.Claude }

// Decode is the function Decode; this client names the event in its payload, so
// native is not looked at.
func (Codec) Decode(payload []byte, env func(string) string, native string) (event.Event, error) {
	return Decode(payload, env)
}

// Encode is the function Encode.
func (Codec) Encode(ev *event.Event, v event.Verdict) (event.Output, error) { return Encode(ev, v) }

// Signals is the function Signals.
func (Codec) Signals(ev *event.Event, v event.Verdict) []event.Signal { return Signals(ev, v) }
