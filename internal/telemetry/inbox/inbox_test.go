package inbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/internal/telemetry/inbox"
)

func take(t *testing.T, dir string) (lines []string, lost int64) {
	t.Helper()
	lost, err := inbox.Take(t.Context(), dir, func(line []byte) error { lines = append(lines, string(line)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return lines, lost
}

func TestTake_givesWhatWasLeftInOrderAndOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	if lines, _ := take(t, dir); lines != nil || inbox.Waiting(dir) {
		t.Errorf("before anything was left: %q", lines)
	}
	for i := range 5 {
		if err := inbox.Append(t.Context(), dir, fmt.Appendf(nil, `{"n":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if !inbox.Waiting(dir) {
		t.Error("nothing waits")
	}
	if lines, lost := take(t, dir); strings.Join(lines, "") != `{"n":0}{"n":1}{"n":2}{"n":3}{"n":4}` || lost != 0 {
		t.Errorf("took %q, lost %d", lines, lost)
	}
	if lines, _ := take(t, dir); lines != nil || inbox.Waiting(dir) {
		t.Errorf("took %q twice", lines)
	}
}

// A runtime that is killed while it takes loses nothing: the next one begins with
// the same file, before what came since.
func TestTake_beginsAgainAfterACrash(t *testing.T) {
	dir := t.TempDir()
	leave := func(s string) {
		t.Helper()
		if err := inbox.Append(t.Context(), dir, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	leave("a")
	leave("b")
	killed := errors.New("killed")
	if _, err := inbox.Take(t.Context(), dir, func(line []byte) error {
		if string(line) == "b" {
			return killed
		}
		return nil
	}); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	leave("c")
	if lines, _ := take(t, dir); strings.Join(lines, " ") != "a b c" {
		t.Errorf("took %q", lines)
	}
}

func TestAppend_isBoundedAndCountsWhatItDrops(t *testing.T) {
	dir := t.TempDir()
	line := strings.Repeat("x", 256<<10)
	const n = 100 // 25 MiB into at most 8
	for i := range n {
		if err := inbox.Append(t.Context(), dir, fmt.Appendf(nil, "%03d%s", i, line)); err != nil {
			t.Fatal(err)
		}
	}
	var size int64
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 2*inbox.MaxFile+4096 {
		t.Errorf("%d bytes on disk", size)
	}
	lines, lost := take(t, dir)
	if len(lines)+int(lost) != n || lost == 0 {
		t.Errorf("%d taken and %d lost of %d", len(lines), lost, n)
	}
	if last := lines[len(lines)-1][:3]; last != "099" {
		t.Errorf("the last is %s: the newest were dropped", last)
	}
}

func TestAppend_manyHooksAtOnceMixNothing(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := inbox.Append(t.Context(), dir, []byte(strings.Repeat(string(rune('a'+i)), 5000))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	lines, _ := take(t, dir)
	for _, l := range lines {
		if len(l) != 5000 || strings.Trim(l, l[:1]) != "" {
			t.Errorf("a mixed line of %d bytes", len(l))
		}
	}
	if len(lines) != 20 {
		t.Errorf("%d lines", len(lines))
	}
	if err := inbox.Append(t.Context(), dir, []byte("a\nb")); err == nil {
		t.Error("two lines in one were taken")
	}
}
