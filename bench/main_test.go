package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
)

// The bench must run; what it measures is for people to judge, on a quiet machine.
func TestBench_runs(t *testing.T) {
	l, cleanup, err := build()
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	stop, err := l.start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	var out bytes.Buffer
	if err := l.events(&out, 1); err != nil {
		t.Error(err)
	}
	if err := l.strangers(&out, 1); err != nil {
		t.Error(err)
	}
	if err := l.gate(&out, 1); err != nil {
		t.Error(err)
	}
	if err := l.telemetry(&out, 1); err != nil {
		t.Error(err)
	}
	if err := l.allPacks(&out, 1); err != nil {
		t.Error(err)
	}
	if err := l.parallel(&out, 1); err != nil {
		t.Error(err)
	}
	stop()
	if err := l.coldStart(&out, 1); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"PostToolUse, 400 KB", "PreToolUse, refused", "rm -rf /", "telemetry, dead sink", "PreToolUse, baregate", "12 as a multiple", "the runtime alone", "until the first hold"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables have no %q:\n%s", want, out.String())
		}
	}
	if u, err := usage(os.Getpid()); runtime.GOOS == "linux" && (err != nil || u.rss == 0 || u.switches == 0) {
		t.Errorf("usage of this process: %+v, %v", u, err)
	}
}
