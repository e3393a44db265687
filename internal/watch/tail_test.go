package watch

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
)

// lines is a detector that tells each line as a signal, long ones by length.
type lines struct{ key event.SessionKey }

func (d lines) Line(line []byte, offset int64) []event.Signal {
	text := string(line)
	if len(line) > MaxLine {
		text = "cut at " + strconv.Itoa(len(line))
	}
	return []event.Signal{{Kind: event.Active, Session: d.key, Source: text, Offset: offset}}
}

// bench is a Tailer under test; its signals arrive in got.
type bench struct {
	*Tailer
	got chan string
	key event.SessionKey
}

func start(t *testing.T) *bench {
	t.Helper()
	b := &bench{got: make(chan string, 1000), key: event.SessionKey{Provider: event.Codex, ID: "s"}}
	b.Tailer = NewTailer(func(_ event.SessionKey, signals []event.Signal) {
		for _, s := range signals {
			b.got <- s.Source
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { b.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return b
}

func (b *bench) follow(path string, offset int64) {
	b.Follow(b.key, path, offset, lines{b.key})
	b.Offsets() // comes back after the Follow was carried out
}

func (b *bench) want(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-b.got:
			if got != w {
				t.Fatalf("got line %.80q, want %.80q", got, w)
			}
		case <-time.After(time.Minute):
			t.Fatalf("line %.80q never came", w)
		}
	}
}

func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestTailer_readsOnlyWhatIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	add(t, path, "history\n")
	b := start(t)
	b.follow(path, Unread)
	add(t, path, "one\ntwo\n")
	b.want(t, "one", "two")
	add(t, path, "thr")
	add(t, path, "ee\r\n")
	b.want(t, "three")
}

func TestTailer_aFileThatAppearsLaterIsReadFromItsBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	b := start(t)
	b.follow(path, Unread)
	add(t, path, "first\n")
	b.want(t, "first")
}

func TestTailer_goesOnAtASavedOffset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	add(t, path, "seen\nmissed\n")
	b := start(t)
	b.follow(path, int64(len("seen\n")))
	b.want(t, "missed")
	if diff := cmp.Diff(map[event.SessionKey]int64{b.key: 12}, b.Offsets()); diff != "" {
		t.Errorf("offsets (-want +got):\n%s", diff)
	}
}

func TestTailer_truncationAndRotationBeginAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	add(t, path, "a long line of the past\n")
	b := start(t)
	b.follow(path, Unread)
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil { // truncates in place
		t.Fatal(err)
	}
	b.want(t, "short")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add(t, path, "rotated, and longer than before\n")
	b.want(t, "rotated, and longer than before")
	add(t, path, "goes on\n")
	b.want(t, "goes on")
}

func TestTailer_aHalfLineAtTheStartIsNotTakenForAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	add(t, path, "old\nhalf")
	b := start(t)
	b.follow(path, Unread)
	add(t, path, " and half\n")
	b.want(t, "half and half")
}

func TestTailer_linesOfManyMegabytesAreCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	add(t, path, "")
	b := start(t)
	b.follow(path, Unread)
	add(t, path, strings.Repeat("x", 5*MaxLine)+"\nshort\n")
	b.want(t, "cut at "+strconv.Itoa(MaxLine+1), "short")
}

func TestTailer_forgets(t *testing.T) {
	dir := t.TempDir()
	b := start(t)
	b.follow(filepath.Join(dir, "a"), 0)
	b.Forget(b.key)
	if got := b.Offsets(); len(got) != 0 {
		t.Fatalf("offsets after Forget: %v", got)
	}
	add(t, filepath.Join(dir, "a"), "unheard\n")
	b.follow(filepath.Join(dir, "b"), 0)
	add(t, filepath.Join(dir, "b"), "heard\n")
	b.want(t, "heard")
}

// Law: however the bytes arrive, the detector sees the lines of the file, each at
// its offset.
func TestFeed_anySplitGivesTheSameLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[a-z]{0,9}`)).Draw(t, "lines")
		whole := []byte(strings.Join(append(want, ""), "\n"))
		var log []string
		f := &file{detector: recorder(func(line []byte, offset int64) {
			if !bytes.HasPrefix(whole[offset:], line) {
				t.Fatalf("line %q is not at offset %d", line, offset)
			}
			log = append(log, string(line))
		})}
		for rest := whole; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			f.feed(rest[:n], nil)
			rest = rest[n:]
		}
		if diff := cmp.Diff(append([]string{}, want...), append([]string{}, log...)); diff != "" {
			t.Fatalf("lines (-want +got):\n%s", diff)
		}
		if f.offset != int64(len(whole)) || f.read != f.offset {
			t.Fatalf("offset %d, read %d, want both %d", f.offset, f.read, len(whole))
		}
	})
}

type recorder func([]byte, int64)

func (r recorder) Line(line []byte, offset int64) []event.Signal { r(line, offset); return nil }
