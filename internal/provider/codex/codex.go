// Package codex is the codec of the Codex CLI's hooks. In comes the JSON that
// the client writes to a hook's stdin, out go an Event, what that means for the
// tracked session, and, from a Verdict, the stdout, stderr and exit code that
// make the client do it. The client's own words end here. It does no I/O and
// reads no environment: the client tells its hooks nothing there.
//
// This client throws an answer away as a whole, and goes on as if the hook had
// said nothing, for a single member it does not know or does not want at that
// event. So the answers here are the smallest that work. Facts are from
// docs/contracts/codex.md (M means measured on 0.171.0), cited as "contract §4".
package codex

import "github.com/lidguard-go/lidguard/internal/event"

// Codec is this client's row in a table of codecs. The zero value is ready.
type Codec struct{}

// Provider returns event.Codex.
func (Codec) Provider() event.Provider { return event.Codex }

// Decode is the function Decode; this client names the event in its payload and
// puts nothing of use into the environment.
func (Codec) Decode(payload []byte, env func(string) string, native string) (event.Event, error) {
	return Decode(payload, env)
}

// Encode is the function Encode.
func (Codec) Encode(ev *event.Event, v event.Verdict) (event.Output, error) { return Encode(ev, v) }

// Signals is the function Signals.
func (Codec) Signals(ev *event.Event, v event.Verdict) []event.Signal { return Signals(ev, v) }

// Refuse is the function Refuse.
func (Codec) Refuse(ev *event.Event, reason string) event.Output { return Refuse(ev, reason) }
