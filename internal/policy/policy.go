// Package policy runs the chain of handlers over one event. In come an Event
// and handlers in any order, out comes one merged Verdict and what each handler
// said. It knows no client and does no I/O of its own; handlers get what they
// need when they are built.
package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/deadline"
	"github.com/lidguard-go/lidguard/internal/event"
)

// Bands order the chain: handlers run by ascending band. See docs/architecture.md.
const (
	BandSafety  = 0   // 0–99: gates
	BandPolicy  = 100 // 100–199: approvals, closed-lid answers
	BandRewrite = 200 // 200–299: redaction, formatting
	BandContext = 300 // 300–399: texts for the model
	BandObserve = 900 // 900–999: telemetry
)

// Role says what a handler's own failure (error, panic, deadline) means.
type Role int

const (
	// Observer fails open: its failure changes nothing.
	Observer Role = iota
	// Gate fails closed: its failure denies, with a reason.
	Gate
)

// Handler is one hook body.
type Handler struct {
	Name string
	Band int
	Role Role
	// Wants is a cheap test whether the handler has anything to say about an
	// event; nil means always. It must not block or allocate much, since it
	// runs for every event of every client.
	Wants func(*event.Event) bool
	// IfUndecided marks a handler that answers in place of a person: it is not
	// asked once an earlier handler allowed or denied, since then nobody would
	// have been asked.
	IfUndecided bool
	// Limit is how long the handler may take; 0 leaves it to the whole chain's
	// deadline, which is for handlers that only compute.
	Limit time.Duration
	// Handle decides. It must return when ctx ends. It sees the event with
	// the rewrites of earlier bands applied.
	Handle func(context.Context, *event.Event) (event.Verdict, error)
}

// Said is what one handler answered.
type Said struct {
	Handler string
	Verdict event.Verdict
	Err     error
}

// Run asks every handler that wants ev, in band order (same band: the order
// given), and merges the answers: deny beats ask beats allow beats nothing; the
// first to reach the winning decision gives the reason; contexts are all kept,
// in order; the first rewriter of a target wins and the rest see its result, and
// one that changes nothing has not rewritten. A deny ends the chain, except that
// observers still see the event. The gates of the safety band judge a rewritten
// input once more, since that is what would run. The handlers slice is not changed.
func Run(ctx context.Context, ev *event.Event, handlers []Handler) (event.Verdict, []Said) {
	order := slices.Clone(handlers)
	slices.SortStableFunc(order, func(a, b Handler) int { return a.Band - b.Band })
	var out event.Verdict
	var said []Said
	seen := *ev
	ask := func(h Handler) {
		if h.Wants != nil && !h.Wants(&seen) {
			return
		}
		if out.Decision == event.Deny && h.Band < BandObserve {
			return
		}
		if h.IfUndecided && (out.Decision == event.Allow || out.Decision == event.Deny) {
			return
		}
		v, err := call(ctx, h, &seen)
		if err != nil && h.Role == Gate {
			v = event.Verdict{Decision: event.Deny, Rule: "gate-failed",
				Reason: fmt.Sprintf("lidguard's %s could not judge this call (%v), so it is refused.", h.Name, err)}
		} else if err != nil {
			v = event.Verdict{}
		}
		if seen.Tool != nil {
			v.UpdatedInput = changed(v.UpdatedInput, seen.Tool.Input)
			v.UpdatedOutput = changed(v.UpdatedOutput, seen.Tool.Response)
		}
		said = append(said, Said{h.Name, v, err})
		merge(&out, v, h.Name)
		if v.UpdatedInput != nil && seen.Tool != nil {
			tool := *seen.Tool
			tool.Input = out.UpdatedInput
			seen.Tool = &tool
		}
		if v.UpdatedOutput != nil && seen.Tool != nil {
			tool := *seen.Tool
			tool.Response = out.UpdatedOutput
			seen.Tool = &tool
		}
	}
	for _, h := range order {
		ask(h)
	}
	if out.UpdatedInput != nil {
		for _, h := range order {
			if h.Role == Gate && h.Band < BandPolicy {
				ask(h)
			}
		}
	}
	if out.Decision == event.Deny {
		out.UpdatedInput = nil // a refused call has no input
	}
	return out, said
}

// changed is a rewrite, or nil if it rewrites nothing: clients take the last of
// several rewrites, so one that only repeats what came in would undo another's.
func changed(to, from json.RawMessage) json.RawMessage {
	var a, b bytes.Buffer
	if to == nil || json.Compact(&a, to) != nil || json.Compact(&b, from) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		return to
	}
	return nil
}

// Wanted are the handlers that want ev. Each is asked once, and not again by Run: of
// many handlers those that have nothing to say cost one question each.
func Wanted(ev *event.Event, handlers []Handler) []Handler {
	var list []Handler
	for _, h := range handlers {
		if h.Wants == nil || h.Wants(ev) {
			h.Wants = nil
			list = append(list, h)
		}
	}
	return list
}

// call runs one handler and turns a panic into its error.
func call(ctx context.Context, h Handler, ev *event.Event) (v event.Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = event.Verdict{}, fmt.Errorf("panic: %v", r)
		}
	}()
	if h.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = deadline.In(ctx, h.Limit)
		defer cancel()
	}
	v, err = h.Handle(ctx, ev)
	if err == nil && h.Role == Gate && ctx.Err() != nil {
		err = ctx.Err() // an answer after the deadline may be half an answer
	}
	return v, err
}

func merge(out *event.Verdict, v event.Verdict, name string) {
	if v.Decision > out.Decision {
		out.Decision, out.Reason, out.Rule, out.Policy = v.Decision, v.Reason, v.Rule, name
		out.Interrupt = v.Interrupt
		out.ElicitAction, out.ElicitContent = v.ElicitAction, v.ElicitContent
		out.Permissions = v.Permissions
	}
	out.Contexts = append(out.Contexts, v.Contexts...)
	if out.UpdatedInput == nil {
		out.UpdatedInput = v.UpdatedInput
	}
	if out.UpdatedOutput == nil {
		out.UpdatedOutput = v.UpdatedOutput
	}
	if v.StopTurn && !out.StopTurn {
		out.StopTurn, out.StopReason = true, v.StopReason
	}
	out.SystemMessage = first(out.SystemMessage, v.SystemMessage)
	out.SessionTitle = first(out.SessionTitle, v.SessionTitle)
	out.TerminalSequence = first(out.TerminalSequence, v.TerminalSequence)
	out.WatchPaths = append(out.WatchPaths, v.WatchPaths...)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
