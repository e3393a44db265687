package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	policy "github.com/lidguard-go/lidguard/internal/policy/telemetry"
)

// What a hook hands over is on disk when it has its answer, is told in the status
// while the sink is down, and is there for the next runtime.
func TestTelemetry_isKeptAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, nil)
		b.options.Telemetry = func() (*policy.Plan, error) {
			return &policy.Plan{Config: policy.Config{URL: "http://127.0.0.1:9/", MaxEvents: 2, Headers: map[string]string{"X-Token": "env:LIDGUARD_TOKEN"}}}, nil
		}
		b.start()
		status := func() *ipc.Status {
			t.Helper()
			reply, err := b.call(&ipc.Request{Op: ipc.OpStatus})
			if err != nil {
				t.Fatal(err)
			}
			return reply.Status
		}
		hand := func(n int) {
			t.Helper()
			r := policy.Record{ID: fmt.Sprint("id", n), Time: time.Now().UTC(), Event: "Stop", Privacy: policy.IDs, Provider: "claude", Session: "s"}
			if _, err := b.call(&ipc.Request{Op: ipc.OpHookEvent, Telemetry: json.RawMessage(r.AppendJSON(nil))}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := os.Stat(b.options.Dirs.Telemetry())
		if err != nil {
			t.Errorf("the pack is on and has no folder: %v", err)
		}
		for n := range 3 {
			hand(n)
		}
		st := status()
		if st.Telemetry == nil || st.Telemetry.Waiting != 2 || st.Telemetry.Dropped != 1 {
			t.Errorf("told %+v", st.Telemetry)
		}
		time.Sleep(time.Minute) // the sink's header has no value, so that nothing is sent
		codes := map[string]bool{}
		for _, f := range status().Findings {
			codes[f.Code] = true
		}
		if !codes["telemetry-dropped"] || !codes["telemetry-failing"] {
			t.Errorf("findings %v", codes)
		}
		b.stop()
		if err := <-b.ended; err != nil {
			t.Fatal(err)
		}
		b.start()
		if _, err := b.call(&ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{Kind: event.Began,
			Session: event.SessionKey{Provider: event.Claude, ID: "s"}, Source: "test"}}}); err != nil {
			t.Fatal(err)
		}
		if st := status(); st.Telemetry == nil || st.Telemetry.Waiting != 2 {
			t.Errorf("the next runtime tells %+v", st.Telemetry)
		}
		b.stop()
		<-b.ended
	})
}
