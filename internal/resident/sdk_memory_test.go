//go:build linux || windows

package resident_test

import (
	"strings"
	"testing"
	"time"
)

// A helper that uses more than it may dies of it, and nobody else does. macOS has
// no such bound: docs/resident.md.
func TestServe_memoryIsBounded(t *testing.T) {
	s := serveSDK(t, 256<<20)
	got, err := s.ask("claude", "use 64", patience)
	if err != nil || len(got.Contexts) != 1 || got.Contexts[0] != "64" {
		t.Fatalf("64 MiB of 256: %+v, %v", got, err)
	}
	if _, err := s.ask("claude", "use 512", patience); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Fatalf("512 MiB of 256: %v", err)
	}
	time.Sleep(300 * time.Millisecond) // its rest
	if got, err := s.ask("claude", "use 32", patience); err != nil || len(got.Contexts) != 1 || s.starts.Load() != 2 {
		t.Errorf("after its end: %+v, %v, %d starts", got, err, s.starts.Load())
	}
}
