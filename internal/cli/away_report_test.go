package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/notify"
)

func TestAwayReport(t *testing.T) {
	w := newWorld(t)
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{Status: &ipc.Status{Lid: "open"}} }
	file := filepath.Join(w.home, ".local", "state", "lidguard", "away-report.json")
	if code, out, stderr := w.run("away-report"); code != ExitDone || out != "" || !strings.Contains(stderr, "has not been closed") {
		t.Errorf("without a record: exit %d, %s%s", code, out, stderr)
	}
	at := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	quiet := notify.Absence{Closed: at(200), Opened: at(199)}
	full := notify.Absence{Closed: at(90), Opened: at(5),
		Answered: []notify.AwayAnswer{{Time: at(80), Session: "claude:a", Tool: "Bash", Answer: "deny"}},
		Blocked:  []notify.AwayAnswer{{Time: at(85), Session: "codex:b", Tool: "shell", Answer: "deny"}},
		Ended:    []notify.AwayEnd{{Time: at(60), Session: "claude:a", Reason: "completed"}},
		Waiting:  []notify.AwayEnd{{Time: at(70), Session: "mcp:c", Reason: "asks"}},
		Suspends: []notify.Suspend{{Time: at(59), Woke: at(6), Mode: "sleep", Reason: "Completed", Result: "slept"}},
		Notes:    []notify.AwayNote{{Time: at(75), Code: "hold-lost", Text: "the system dropped idle"}},
		Highest:  ptr(71.0), Lowest: ptr(40.0), BatteryFrom: ptr(80.0), BatteryTo: ptr(61.0), Left: 2}
	for _, x := range []notify.Absence{quiet, full} {
		if err := notify.SaveAbsence(file, x); err != nil {
			t.Fatal(err)
		}
	}
	_, out, _ := w.run("away-report", "2", "--json")
	golden(t, "away-report.json", out)

	// status tells it once, and neither JSON nor what was uneventful counts.
	w.run("status", "--json")
	_, out, _ = w.run("status")
	golden(t, "status-away.txt", out)
	if _, again, _ := w.run("status"); strings.Contains(again, "lid closed") {
		t.Errorf("told twice:\n%s", again)
	}
	_, out, _ = w.run("away-report")
	golden(t, "away-report.txt", out)
	if code, _, _ := w.run("away-report", "0"); code != ExitUsage {
		t.Errorf("away-report 0: exit %d", code)
	}
}
