package battery

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

const pmsetPath = "/usr/bin/pmset"

// pmsetStates are the words of pmset's showpowersources(): what stands between
// the percentage and the time.
var pmsetStates = map[string]State{
	"charging":                  Charging,
	"finishing charge":          Charging,
	"charged":                   Full,
	"discharging":               Discharging,
	"AC attached; not charging": Idle,
	"not charging":              Idle,
}

// ReadPmset asks macOS for the battery. Errors match ErrUnknown.
func ReadPmset(ctx context.Context, run command.Runner) (Reading, error) {
	out, err := run.Output(ctx, pmsetPath, "-g", "batt")
	if err != nil {
		return Reading{State: Unknown}, fmt.Errorf("reading the battery: %w (%w)", ErrUnknown, err)
	}
	return parsePmset(string(out))
}

// parsePmset reads
//
//	Now drawing from 'Battery Power'
//	 -InternalBattery-0 (id=4653155)	85%; discharging; 4:29 remaining present: true
//
// A Mac without a battery prints the first line only. An uninterruptible power
// supply has a line too, and is no battery of the machine.
func parsePmset(out string) (Reading, error) {
	r := Reading{State: Unknown, Source: "pmset"}
	drawing := false
	batteries := 0
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if source, ok := strings.CutPrefix(line, "Now drawing from '"); ok {
			drawing = true
			r.OnBattery = source == "Battery Power'"
			continue
		}
		if !strings.HasPrefix(line, "-InternalBattery") || strings.Contains(line, "present: false") {
			continue
		}
		percent, rest, ok := strings.Cut(line, "%;")
		if !ok {
			continue // one that is just being looked at has no percentage yet
		}
		n, err := strconv.Atoi(percent[strings.LastIndexAny(percent, " \t")+1:])
		if err != nil || n < 0 || n > 100 {
			return Reading{State: Unknown}, fmt.Errorf("reading the battery: %w (pmset says %q)", ErrUnknown, line)
		}
		r.Percent += float64(n)
		batteries++
		state, left := parseState(rest)
		r.State, r.ToEmpty = state, left
	}
	switch {
	case !drawing:
		return Reading{State: Unknown}, fmt.Errorf("reading the battery: %w (pmset does not say what the machine draws from)", ErrUnknown)
	case batteries == 0:
		return Reading{State: Unknown, Source: "pmset"}, nil
	}
	r.Present = true
	r.Percent /= float64(batteries)
	if r.State != Discharging {
		r.ToEmpty = 0
	}
	return r, nil
}

// parseState reads " discharging; 4:29 remaining present: true", where the state
// may have a semicolon of its own and the time may be "(no estimate)" or missing.
func parseState(rest string) (State, time.Duration) {
	rest = strings.TrimSpace(rest)
	for words, state := range pmsetStates {
		after, ok := strings.CutPrefix(rest, words)
		if !ok || after != "" && after[0] != ';' && after[0] != ' ' {
			continue
		}
		clock, _, _ := strings.Cut(strings.Trim(after, "; "), " ")
		hours, minutes, _ := strings.Cut(clock, ":")
		h, err := strconv.Atoi(hours)
		m, err2 := strconv.Atoi(minutes)
		if err != nil || err2 != nil || h < 0 || m < 0 || m > 59 {
			return state, 0
		}
		return state, time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	}
	return Unknown, 0
}
