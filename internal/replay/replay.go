// Package replay proves hooks: lidguard's own chain, in this process or as the
// program that agents start, and anybody else's program. In come a client, an
// event and an exact payload; out go the exit code, both streams, the verdict in
// them, and what that client would do with it by docs/contracts. On top of it
// stand the red team (Audit), the stop watch (Bench), the interpreter of foreign
// dialects (Adapt) and the fixtures that new hooks are born with.
//
// It starts the programs it is told to and nothing else, in a folder of its own,
// speaks to no runtime but the one it plays itself, and changes no config.
package replay

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// Case is one event of one client.
type Case struct {
	Provider event.Provider
	Event    string // as the client spells it
	Payload  []byte // stdin, to the byte
	// Open leaves stdin open behind the payload, as a client does that hangs.
	Open bool
	// Away is a machine whose lid is closed, with nobody there.
	Away bool
}

// Answer is what a hook gave back.
type Answer struct {
	Code           int    // -1 where it was killed
	Signal         string // the signal that ended it, "" where none did
	Stdout, Stderr []byte
	Late           bool // it did not end in time and was killed
	Took           time.Duration
}

// Ended tells in words how the hook's program ended.
func (a *Answer) Ended() string {
	if a.Signal != "" {
		return a.Signal
	}
	return fmt.Sprintf("exit code %d", a.Code)
}

// Runner is a hook that can be asked.
type Runner interface {
	// Run asks it one thing. The error is for a hook that could not be asked at
	// all; one that crashes has answered.
	Run(ctx context.Context, c Case) (Answer, error)
}

// Outcome is a case with its answer and what became of it.
type Outcome struct {
	Case
	Answer
	Reading
}

// Play asks a hook and reads the answer as the client would.
func Play(ctx context.Context, r Runner, c Case) (Outcome, error) {
	a, err := r.Run(ctx, c)
	if err != nil {
		return Outcome{Case: c}, err
	}
	return Outcome{c, a, Read(c, a)}, nil
}

// How a client came to what it does.
const (
	ByNothing = "silence"
	ByJSON    = "JSON"
	ByText    = "text"
	ByExit    = "exit code"
	ByTimeout = "timeout"
)

// Reading is an answer in the client's eyes.
type Reading struct {
	// Decision is what the client takes for the hook's word, and None where it
	// goes on as if there were no hook. At the end of a turn Deny is "go on".
	Decision event.Decision
	// Does is what the client does, in words.
	Does string
	By   string // see ByNothing
	// Reason is what the model or the person reads.
	Reason string
	// Verdict is the whole of it in lidguard's words.
	Verdict event.Verdict
	// Failed is set when the client counts the hook as broken.
	Failed bool
	// Faults are what is wrong with the answer, whether or not the client minds.
	Faults []string
}

func (r *Reading) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// void is an answer that the client throws away.
func (r *Reading) void(format string, args ...any) Reading {
	r.fault(format, args...)
	return Reading{Does: goesOn, By: r.By, Failed: true, Faults: r.Faults}
}

// What a client does, beside the effects of the census.
const (
	goesOn  = "goes on as if there were no hook"
	runsIt  = "runs it without asking"
	asks    = "asks the person"
	refuses = "refuses the call"
)

// Read says what the client makes of an answer.
func Read(c Case, a Answer) Reading {
	row, known := find(c.Provider, c.Event)
	if !known {
		r := Reading{Does: goesOn, By: ByNothing}
		r.fault("%s has no event %q", c.Provider, c.Event)
		return r
	}
	var r Reading
	switch c.Provider {
	case event.Claude:
		r = readClaude(c, a, row)
	case event.Codex:
		r = readCodex(c, a, row)
	case event.Copilot:
		r = readCopilot(c, a, row)
	default:
		r = readOpenCode(c, a, row)
	}
	if r.By == "" {
		r.By = ByNothing
	}
	r.settle(row)
	return r
}

// settle fills in what follows from the verdict.
func (r *Reading) settle(row *census.Event) {
	r.Verdict.Decision, r.Verdict.Reason = r.Decision, r.Reason
	if r.Does != "" {
		return
	}
	switch v := &r.Verdict; {
	case v.ElicitAction != "":
		r.Does = "answers the question: " + v.ElicitAction
	case r.Decision == event.Deny && row.Asks():
		r.Does = refuses
		if v.Interrupt {
			r.Does += " and ends the turn"
		}
	case r.Decision == event.Deny:
		r.Does = string(row.Blocks.Effect)
	case r.Decision == event.Ask:
		r.Does = asks
	case r.Decision == event.Allow:
		r.Does = runsIt
	case v.StopTurn:
		r.Does = string(census.EndsTurn)
	case v.UpdatedInput != nil || v.UpdatedOutput != nil || len(v.Contexts) > 0:
		r.Does = "goes on"
	default:
		r.Does = goesOn
	}
	var more []string
	if v := &r.Verdict; v.UpdatedInput != nil && r.Decision != event.Deny {
		more = append(more, "with the rewritten input")
	} else if v.UpdatedOutput != nil {
		more = append(more, "with the rewritten output")
	}
	if len(r.Verdict.Contexts) > 0 {
		more = append(more, "with a text for the model")
	}
	r.Does = strings.TrimSpace(r.Does + " " + strings.Join(more, " and "))
}
