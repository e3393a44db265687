package replay_test

import (
	"context"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
)

// BenchmarkAudit is how many cases a second are judged, of all corpora: at least
// 20,000 in this process and 300 spawned, on two cores that have nothing else to do.
func BenchmarkAudit(b *testing.B) {
	suites, err := replay.Corpora("gate")
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []string{replay.Inside, replay.Spawned} {
		b.Run(mode, func(b *testing.B) {
			o := replay.AuditOptions{Suites: suites, Inside: mode == replay.Inside, Spawn: mode == replay.Spawned, Program: spawned(b),
				Path: "/usr/bin:/bin", Providers: []event.Provider{event.Claude}}
			if o.Spawn {
				o.Every = 5
			}
			var speed replay.Speed
			for b.Loop() {
				r, err := replay.Audit(context.Background(), o)
				if err != nil {
					b.Fatal(err)
				}
				speed = r.Modes[mode]
			}
			b.ReportMetric(speed.PerSecond, "cases/s")
		})
	}
}
