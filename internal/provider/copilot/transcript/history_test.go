package transcript_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/provider/copilot/transcript"
)

var updateHistory = flag.Bool("update-history", false, "write testdata/history.golden")

// TestHistory_golden: what the recorded logs tell of their conversations.
func TestHistory_golden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded logs: %v", err)
	}
	var b strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, "#", filepath.Base(file))
		for line := range bytes.Lines(data) {
			for _, it := range transcript.History(line) {
				fmt.Fprintf(&b, "%s %s%q %s %s failed=%t\n", it.Kind, it.Agent, it.Text, it.Tool, it.Input, it.Failed)
			}
		}
	}
	golden := filepath.Join("testdata", "history.golden")
	if *updateHistory {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != b.String() {
		t.Errorf("%v, or another history; look at the difference after -update-history:\n%s", err, b.String())
	}
}

func FuzzHistory(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", "{\"type\":\"user\",\"message\":{\"content\":[1]}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, it := range transcript.History(line) {
			if it.Kind == "" {
				t.Fatalf("%q gives an item of no kind", line)
			}
		}
	})
}
