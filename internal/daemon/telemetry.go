package daemon

import (
	"fmt"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
)

// lookup finds a variable in a list as os.Environ gives it.
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for _, e := range environ {
			if rest, ok := strings.CutPrefix(e, name+"="); ok {
				return rest
			}
		}
		return ""
	}
}

// Bounds of the findings about telemetry.
const (
	lossShown    = 24 * time.Hour
	failingAfter = 3 // failures in a row
)

// tellTelemetry adds what is to be told about telemetry to a status.
func (d *daemon) tellTelemetry(status *ipc.Status) {
	if d.outbox == nil {
		return
	}
	st := d.outbox.Status()
	if st == nil {
		return
	}
	status.Telemetry = &ipc.Telemetry{Waiting: st.Waiting, Bytes: st.Bytes, Sent: st.Sent, Dropped: st.Dropped, Refused: st.Refused,
		Failures: st.Failures, Error: st.Error, NextTry: st.NextTry}
	if st.Dropped+st.Refused > 0 && d.Now().Wall.Sub(st.LastLoss) < lossShown {
		status.Findings = append(status.Findings, ipc.Finding{Code: "telemetry-dropped",
			Text:   fmt.Sprintf("%d telemetry events were dropped before the sink had them, and %d were refused by it", st.Dropped, st.Refused),
			Remedy: "look at the sink, or raise max_events and max_bytes of [telemetry]"})
	}
	if st.Failures >= failingAfter {
		status.Findings = append(status.Findings, ipc.Finding{Code: "telemetry-failing",
			Text:   fmt.Sprintf("%d telemetry events wait: %s", st.Waiting, st.Error),
			Remedy: "look at the sink and at [telemetry] in the rulebook; nothing is lost within its bounds"})
	}
}
