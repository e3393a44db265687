package replay_test

import (
	"context"
	"testing"

	"github.com/lidguard-go/lidguard/internal/replay"
)

// BenchmarkAudit is how many cases a second are judged, of all corpora: at least
// 20,000 in this process and 300 spawned, on two cores that have nothing else to do.
// The processor time of a case, the making of its payload included, says the same on
// a machine that has: 100 µs and 6.6 ms are those bars.
func BenchmarkAudit(b *testing.B) {
	suites, err := replay.Corpora()
	if err != nil {
		b.Fatal(err)
	}
	suites = append(suites, replay.Protocol(replay.RoleGate, true))
	for _, mode := range []string{replay.Inside, replay.Spawned} {
		b.Run(mode, func(b *testing.B) {
			o := replay.AuditOptions{Suites: suites, Inside: mode == replay.Inside, Spawn: mode == replay.Spawned, Program: spawned(b), Path: "/usr/bin:/bin"}
			if o.Spawn {
				o.Every = 10
			}
			var cases int
			var seconds float64
			began := cpu()
			for b.Loop() {
				r, err := replay.Audit(context.Background(), o)
				if err != nil {
					b.Fatal(err)
				}
				cases, seconds = cases+r.Modes[mode].Cases, seconds+r.Modes[mode].Seconds
			}
			b.ReportMetric(float64(cases)/seconds, "cases/s")
			b.ReportMetric(float64((cpu()-began).Microseconds())/float64(cases), "cpu-µs/case")
		})
	}
}
