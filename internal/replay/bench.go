package replay

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// Budgets of a hook. Nobody notices a tenth of a second; a text that is longer than
// MaxContext goes to a file, and the model sees a preview (contracts/claude §3).
const (
	Budget     = 100 * time.Millisecond
	MaxContext = 10_000 // characters
)

// Latency is how long one event took, over many runs.
type Latency struct {
	Provider event.Provider `json:"provider"`
	Event    string         `json:"event"`
	Spawned  Quantiles      `json:"spawned_ms"`
	Inside   Quantiles      `json:"in_process_ms"`
	Context  int            `json:"context_chars"` // that the model would be given
	Over     []string       `json:"over,omitempty"`
}

// Quantiles are milliseconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// BenchOptions say what is measured.
type BenchOptions struct {
	Stage     *Stage
	Program   string
	Providers []event.Provider
	Event     string // in anybody's words; "": all whose payload is known
	Runs      int    // of the program; in this process ten times as many
	Budget    time.Duration
}

// Bench measures the chain of the stage, one event after another: a program's
// start included, as agents wait for it.
func Bench(ctx context.Context, o BenchOptions) ([]Latency, error) {
	if o.Providers == nil {
		o.Providers = census.Providers()
	}
	inside, err := NewInProcess(o.Stage)
	if err != nil {
		return nil, err
	}
	spawn := &Spawn{Program: o.Program, Stage: o.Stage}
	var out []Latency
	for _, p := range o.Providers {
		for _, e := range census.Events(p) {
			if e.Name == "" || o.Event != "" && o.Event != e.Native && o.Event != string(e.Name) && o.Event != e.Pascal {
				continue
			}
			payload, err := Fixture(p, e.Native, o.Stage.Project)
			if err != nil {
				continue // nothing is known that could be sent
			}
			l := Latency{Provider: p, Event: e.Native}
			c := Case{Provider: p, Event: e.Native, Payload: payload}
			var last Outcome
			if l.Spawned, last, err = measure(ctx, spawn, c, o.Runs); err != nil {
				return out, err
			}
			if l.Inside, _, err = measure(ctx, inside, c, 10*o.Runs); err != nil {
				return out, err
			}
			for _, text := range last.Verdict.Contexts {
				l.Context += utf8.RuneCountInString(text)
			}
			if l.Spawned.P95 > float64(o.Budget.Microseconds())/1000 {
				l.Over = append(l.Over, "time")
			}
			if l.Context > MaxContext {
				l.Over = append(l.Over, "context")
			}
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there is no such event with a payload to send")
	}
	return out, nil
}

func measure(ctx context.Context, r Runner, c Case, runs int) (q Quantiles, last Outcome, err error) {
	took := make([]time.Duration, runs)
	for i := range took {
		if last, err = Play(ctx, r, c); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return q, last, err
		}
		took[i] = last.Took
	}
	slices.Sort(took)
	at := func(part int) float64 {
		return float64(took[min(len(took)*part/100, len(took)-1)].Microseconds()) / 1000
	}
	return Quantiles{at(50), at(95), at(99)}, last, nil
}
