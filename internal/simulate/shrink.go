package simulate

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// script is the part of a seed's acts that a replay keeps. nil keeps all.
type script struct {
	acts []uint64        // to do, in order
	calm map[uint64]bool // acts during which nothing is spoilt
}

func (p *script) isCalm(act uint64) bool { return p != nil && p.calm[act] }

// mix makes one seed out of two numbers, so that neighbours share nothing
// (the finisher of SplitMix64).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// maxReplays bounds how often a failing episode is replayed to shrink it: some
// seconds. What it then cannot leave out is told as it is.
const maxReplays = 3000

// shrink leaves out acts of a failed run, and the faults during others, as long
// as the same check fails, and returns the story of what is left. play must do
// exactly the acts of the script it is given.
func shrink(failed Result, play func(*script, io.Writer) Result) string {
	best := script{acts: failed.Acts, calm: map[uint64]bool{}}
	replays := 0
	try := func(p script) bool {
		if replays++; replays > maxReplays {
			return false
		}
		res := play(&p, nil)
		if len(res.Bad) == 0 || res.BadRule != failed.BadRule {
			return false
		}
		p.acts = res.Acts // what came after the failure is not needed
		best = p
		return true
	}

	all := map[uint64]bool{}
	for _, i := range best.acts {
		all[i] = true
	}
	if !try(script{acts: best.acts, calm: all}) {
		try(best) // ends at the failure
	}
	for again := true; again; {
		again = false
		for size := max(len(best.acts)/2, 1); size > 0; size /= 2 {
			// From the front: an actor whose first act goes does nothing more.
			for at := 0; at < len(best.acts); {
				to := min(at+size, len(best.acts))
				if try(script{acts: slices.Delete(slices.Clone(best.acts), at, to), calm: best.calm}) {
					again = true
				} else {
					at = to
				}
			}
		}
	}
	for _, i := range slices.Clone(best.acts) {
		if best.calm[i] {
			continue
		}
		calm := map[uint64]bool{i: true}
		for k := range best.calm {
			calm[k] = true
		}
		try(script{acts: best.acts, calm: calm})
	}

	var story bytes.Buffer
	play(&best, &story)
	return fmt.Sprintf("%s(%d of %d acts are left after %d replays)\n", fold(story.String()), len(best.acts), len(failed.Acts), min(replays, maxReplays))
}

// fold leaves out the middle of stretches in which nothing is decided, but for
// the last lines.
func fold(story string) string {
	const prefix = 21 // step and time, see World.printf
	routine := func(line string) bool {
		text := line[min(prefix, len(line)):]
		return !strings.Contains(text, " | ") && !strings.Contains(text, " -> ") && slices.ContainsFunc(
			[]string{"tool-", "heat", "battery", "busy", "taken", "released", "tick", "opened", "webhook-done", "restored"},
			func(s string) bool { return strings.HasPrefix(text, s) })
	}
	var out strings.Builder
	lines := slices.Collect(strings.Lines(story))
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines)-10 && routine(lines[end]) {
			end++
		}
		if end-i > 3 {
			fmt.Fprintf(&out, "%s%*s(%d steps in which nothing is decided)\n%s", lines[i], prefix, "", end-i-2, lines[end-1])
			i = end
			continue
		}
		out.WriteString(lines[i])
		i++
	}
	return out.String()
}
