package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// The modes of an audit.
const (
	Inside  = "in-process"
	Spawned = "spawned"
	Both    = "both" // of a row about the two together
)

// Kinds are the kinds of cases.
func Kinds() []string {
	return []string{"allow", "block", "obfuscated", "malformed", "empty", "truncated", "timeout", "loop", "overlay"}
}

// AuditOptions say what is tried and how.
type AuditOptions struct {
	Suites    []Suite
	Providers []event.Provider // nil: all with hooks
	// Inside and Spawn are the modes of lidguard's own chain; Program is what is
	// spawned.
	Inside, Spawn bool
	Program       string
	// Foreign is somebody else's hook, which is tried instead.
	Foreign *ForeignHook
	// Kinds are those of the cases that are tried; nil means all.
	Kinds []string
	// Every tries one case in so many, for a quick look; 0 and 1 mean all.
	Every  int
	Path   string // PATH on the stage
	Listen func(socket string) (net.Listener, error)
	// Home and Project make the person's own folders the stage; see StageOptions.
	Home, Project string
}

// ForeignHook is a hook of somebody else.
type ForeignHook struct {
	Argv    []string
	WorkDir string
	Environ []string
	Role    string   // gate or observer
	Events  []string // that it is declared for, in anybody's words; nil: all
	Limit   time.Duration
}

// Row is one line of a report.
type Row struct {
	Suite    string         `json:"suite"`
	Rule     string         `json:"rule"`
	Case     string         `json:"case"`
	Kind     string         `json:"kind"`
	Provider event.Provider `json:"provider,omitempty"`
	Event    string         `json:"event,omitempty"`
	Mode     string         `json:"mode"`
	Expected string         `json:"expected"`
	Actual   string         `json:"actual"`
	Miss     bool           `json:"miss"`
	Reason   string         `json:"reason,omitempty"`
	Faults   []string       `json:"faults,omitempty"`
}

// Report is the outcome of an audit. Rows stand in the order of the corpora.
type Report struct {
	Rows   []Row            `json:"rows"`
	Cases  int              `json:"cases"`
	Misses int              `json:"misses"`
	Modes  map[string]Speed `json:"modes"`
}

// Speed is how fast a mode went.
type Speed struct {
	Cases     int     `json:"cases"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"per_second"`
}

// Audit tries every case of every suite and holds what the agent would do against
// what is expected. A pair without its other half is a miss, and so are two modes
// that answer differently.
func Audit(ctx context.Context, o AuditOptions) (*Report, error) {
	if o.Providers == nil {
		o.Providers = census.Providers()
	}
	r := &Report{Modes: map[string]Speed{}, Rows: []Row{}}
	// Ten thousand short judgements leave much garbage and keep little.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for _, s := range o.Suites {
		if err := r.suite(ctx, o, s); err != nil {
			return r, fmt.Errorf("auditing %s: %w", s.Name, err)
		}
	}
	for mode, speed := range r.Modes {
		if speed.Seconds > 0 {
			speed.PerSecond = float64(speed.Cases) / speed.Seconds
		}
		r.Modes[mode] = speed
	}
	for _, row := range r.Rows {
		if row.Miss {
			r.Misses++
		}
	}
	return r, nil
}

func (r *Report) suite(ctx context.Context, o AuditOptions, s Suite) error {
	path := s.path
	if path == "" || runtime.GOOS == "windows" {
		path = o.Path
	}
	stage, err := OpenStage(StageOptions{Rules: s.Rules, Packs: s.Packs, Books: s.Books, Files: s.Files, Path: path, Listen: o.Listen, Home: o.Home, Project: o.Project})
	if err != nil {
		return err
	}
	defer stage.Close()
	trials, err := s.build(stage, o.Providers)
	if err != nil {
		return err
	}
	if o.Foreign != nil {
		trials = o.Foreign.declared(trials)
	}
	r.pairs(s.Name, trials)
	if o.Foreign == nil {
		if err := r.examples(stage, s.Name); err != nil {
			return err
		}
	}
	if o.Kinds != nil {
		trials = slices.DeleteFunc(trials, func(t Trial) bool { return !slices.Contains(o.Kinds, t.Kind) })
	}
	if o.Every > 1 {
		trials = slices.DeleteFunc(trials, func(t Trial) bool { return rank(&t)%uint32(o.Every) != 0 })
	}
	r.Cases += len(trials)
	type run struct {
		mode    string
		runner  Runner
		workers int
	}
	var runs []run
	switch {
	case o.Foreign != nil:
		f, err := NewForeign(o.Foreign.Argv, o.Foreign.WorkDir, filepath.FromSlash(stage.Project), o.Foreign.Environ)
		if err != nil {
			return err
		}
		f.Limit = o.Foreign.Limit
		runs = append(runs, run{Spawned, f, runtime.GOMAXPROCS(0)})
	default:
		if o.Inside {
			in, err := NewInProcess(stage)
			if err != nil {
				return err
			}
			if !stage.borrowed { // a stage's files are its own, and stand still
				in.freeze()
			}
			runs = append(runs, run{Inside, in, runtime.GOMAXPROCS(0)})
		}
		if o.Spawn {
			if o.Program == "" {
				return errors.New("there is no program to spawn")
			}
			// A process waits for its pipes more than it computes.
			runs = append(runs, run{Spawned, &Spawn{Program: o.Program, Stage: stage}, 2 * runtime.GOMAXPROCS(0)})
		}
	}
	answers := make([][]Outcome, len(runs))
	for i, run := range runs {
		answers[i] = make([]Outcome, len(trials))
		if i > 0 { // the first finds it as it was built
			if err := stage.Refurnish(); err != nil {
				return err
			}
		}
		// What waits for a time limit is no measure of anything, and waits best
		// in company, when nothing else needs the machine.
		began := time.Now()
		if err := playAll(ctx, run.runner, trials, run.workers, false, answers[i]); err != nil {
			return err
		}
		took := time.Since(began)
		if err := playAll(ctx, run.runner, trials, len(trials), true, answers[i]); err != nil {
			return err
		}
		speed := r.Modes[run.mode]
		for t := range trials {
			if !trials[t].Case.Open {
				speed.Cases++
			}
		}
		speed.Seconds += took.Seconds()
		r.Modes[run.mode] = speed
		if o.Foreign == nil {
			if err := again(ctx, stage, run.runner, trials, answers[i], runs[0].runner, answers[0], i > 0); err != nil {
				return err
			}
		}
	}
	for t, trial := range trials {
		for i, run := range runs {
			row := trial.row(s.Name, run.mode, &answers[i][t])
			row.Case = strings.ReplaceAll(row.Case, stage.Home, StageHome)
			if trial.Like != nil {
				like, err := Play(ctx, run.runner, Case{Provider: trial.Case.Provider, Event: trial.Case.Event, Payload: trial.Like})
				if err != nil {
					return err
				}
				if row.Expected == "" {
					row.Expected = actual(&like)
				}
				row.Miss = row.Miss || actual(&answers[i][t]) != actual(&like)
			}
			r.Rows = append(r.Rows, row)
		}
		if len(runs) == 2 {
			if diff := differ(stage, &answers[0][t], &answers[1][t]); diff != "" {
				row := trial.row(s.Name, Both, &answers[0][t])
				row.Kind, row.Expected, row.Actual, row.Miss = "modes", "the same answer in both modes", diff, true
				r.Rows = append(r.Rows, row)
			}
		}
	}
	return nil
}

// examples adds what the rulebook's own rules say to their own examples: a rule
// without some of both kinds is a miss, and so is one that its examples do not fit.
func (r *Report) examples(stage *Stage, suite string) error {
	chain, err := stage.Rehearse(event.Claude, false)
	if err != nil {
		return err
	}
	for _, p := range chain.Prove() {
		row := Row{Suite: suite, Rule: p.Rule, Case: p.Case, Kind: "example", Mode: Inside, Expected: p.Want, Actual: p.Want}
		if p.Problem != "" {
			row.Actual, row.Miss = p.Problem, true
		}
		r.Cases++
		r.Rows = append(r.Rows, row)
	}
	return nil
}

// rank spreads cases evenly, and the same ones every time.
func rank(t *Trial) uint32 {
	h := fnv.New32a()
	h.Write([]byte(t.Name + t.Case.Event + string(t.Case.Provider)))
	return h.Sum32() >> 8
}

// pairs adds a row for each rule whose cases have one side only.
func (r *Report) pairs(suite string, trials []Trial) {
	type sides struct{ danger, benign bool }
	seen := map[string]*sides{}
	var order []string
	for _, t := range trials {
		if seen[t.Rule] == nil {
			seen[t.Rule] = &sides{}
			order = append(order, t.Rule)
		}
		if t.Danger {
			seen[t.Rule].danger = true
		} else {
			seen[t.Rule].benign = true
		}
	}
	for _, rule := range order {
		if s := seen[rule]; s.danger && !s.benign {
			r.Rows = append(r.Rows, Row{Suite: suite, Rule: rule, Case: "(pair)", Kind: "pair", Mode: Both,
				Expected: "a benign twin", Actual: "none", Miss: true})
		}
	}
}

// playAll asks the hook everything, several at a time, and returns the outcomes in
// the order of the trials.
//
// Those that wait for a time limit are only asked with waits, the others without.
func playAll(ctx context.Context, r Runner, trials []Trial, workers int, waits bool, out []Outcome) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	play := func(i int) {
		o, err := Play(ctx, r, trials[i].Case)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			failed.CompareAndSwap(nil, &err)
			return
		}
		out[i] = o
	}
	var all sync.WaitGroup
	for range min(workers, len(trials)) {
		all.Go(func() { // ends with the trials
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(trials) {
					return
				}
				if waits == trials[i].Case.Open {
					play(i)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// tries is how often lidguard's chain is asked that did not answer as expected.
const tries = 3

// again asks anew, one after another, where lidguard's chain did not say what was
// expected: on a loaded machine its own time limit may have been reached, which is
// right of it and says nothing about the rules.
func again(ctx context.Context, s *Stage, r Runner, trials []Trial, got []Outcome, other Runner, inside []Outcome, compare bool) error {
	for i := range trials {
		if trials[i].Like != nil {
			continue
		}
		for n := 1; n < tries; n++ {
			same := !compare || differ(s, &inside[i], &got[i]) == ""
			if met(trials[i].Want, &got[i]) && same {
				break
			}
			o, err := Play(ctx, r, trials[i].Case)
			if err != nil {
				return err
			}
			got[i] = o
			if compare && differ(s, &inside[i], &got[i]) != "" {
				if inside[i], err = Play(ctx, other, trials[i].Case); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// actual is an outcome in the words of expectations.
func actual(o *Outcome) string {
	if o.Decision != event.None {
		return o.Decision.String()
	}
	var words []string
	if o.Verdict.UpdatedInput != nil || o.Verdict.UpdatedOutput != nil {
		words = append(words, "rewrite")
	}
	if len(o.Verdict.Contexts) > 0 {
		words = append(words, "context")
	}
	if o.Verdict.StopTurn {
		words = append(words, "ends")
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, "+")
}

// met reports whether an outcome is one of those that were wanted.
func met(want []string, o *Outcome) bool {
	got := actual(o)
	for _, w := range want {
		switch {
		case w == got:
			return true
		case w == "rewrite" && (o.Verdict.UpdatedInput != nil || o.Verdict.UpdatedOutput != nil):
			return true
		case w == "context" && len(o.Verdict.Contexts) > 0 && o.Decision != event.Deny:
			return true
		}
	}
	return false
}

func (t *Trial) row(suite, mode string, o *Outcome) Row {
	row := Row{Suite: suite, Rule: t.Rule, Case: t.Name, Kind: t.Kind, Provider: t.Case.Provider, Event: t.Case.Event, Mode: mode,
		Expected: strings.Join(t.Want, " or "), Actual: actual(o), Reason: o.Reason, Faults: o.Faults}
	row.Miss = t.Like == nil && !met(t.Want, o)
	if o.Late {
		row.Actual += " (timeout)"
	} else if o.Failed {
		row.Actual += fmt.Sprintf(" (hook failed, %s)", o.Ended())
	}
	heard := o.Reason + "\n" + strings.Join(o.Verdict.Contexts, "\n") + "\n" + string(o.Verdict.UpdatedInput) + string(o.Verdict.UpdatedOutput)
	if t.Quiet && (o.Code != 0 || len(o.Stdout) > 0) {
		row.Miss, row.Expected = true, "silence and exit code 0"
		row.Actual = fmt.Sprintf("%s, %d bytes on stdout", o.Ended(), len(o.Stdout))
	}
	if t.Says != "" && !strings.Contains(heard, t.Says) {
		row.Miss, row.Expected = true, row.Expected+" that says "+fmt.Sprintf("%q", t.Says)
	}
	if t.Hides != "" && (bytes.Contains(o.Stdout, []byte(t.Hides)) || bytes.Contains(o.Stderr, []byte(t.Hides))) {
		row.Miss, row.Expected = true, row.Expected+" without the secret"
		row.Actual += ", and the secret is in the answer"
	}
	return row
}

// differ says how two answers differ, and "" when they are one. lidguard's own
// places have another name in each mode.
func differ(s *Stage, a, b *Outcome) string {
	one := func(text []byte) string {
		for _, mode := range []string{modeInside, modeSpawn} {
			text = bytes.ReplaceAll(text, []byte(filepath.Join(s.root, "lg-"+mode)), []byte("LIDGUARD"))
		}
		return string(text)
	}
	switch {
	case a.Code != b.Code:
		return fmt.Sprintf("%s %s, %s %s", a.Ended(), Inside, b.Ended(), Spawned)
	case actual(a) != actual(b):
		return fmt.Sprintf("%s %s, %s %s", actual(a), Inside, actual(b), Spawned)
	case one(a.Stdout) != one(b.Stdout):
		return fmt.Sprintf("%s %s, %s %s", label(a.Reason), Inside, label(b.Reason), Spawned)
	case one(a.Stderr) != one(b.Stderr):
		return "another text on stderr"
	}
	return ""
}

// declared keeps the trials of events that the hook is for.
func (f *ForeignHook) declared(trials []Trial) []Trial {
	if len(f.Events) == 0 {
		return trials
	}
	return slices.DeleteFunc(trials, func(t Trial) bool {
		row, _ := find(t.Case.Provider, t.Case.Event)
		return !slices.ContainsFunc(f.Events, func(e string) bool {
			return e == t.Case.Event || row != nil && (e == string(row.Name) || e == row.Pascal)
		})
	})
}
