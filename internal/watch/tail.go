// Package watch follows what agents do besides calling hooks: it tails their
// transcripts, waits for the end of their processes, and samples whether a silent
// tool still works. In come the sessions that are tracked; out go signals, exits
// and signs of life, through functions that are handed in. It decides nothing,
// never reads a file twice or as a whole, and has no timer while it follows
// nothing.
package watch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Detector turns the lines of one session's transcript into signals. It is used
// from one goroutine and may remember what it saw.
type Detector interface {
	// Line gets one line without its newline, and the offset of its first byte.
	// The bytes are valid during the call only. Of a line longer than MaxLine
	// it gets the first MaxLine+1 bytes, so that it can tell.
	Line(line []byte, offset int64) []event.Signal
}

const (
	// MaxLine bounds what a Detector sees of a line. Turn records are small;
	// longer lines are tool output and request dumps (contracts/claude §8).
	MaxLine = 1 << 20
	// chunk is how much is read at once.
	chunk = 64 << 10
	// gather is how long appends are collected before they are read: an agent
	// that streams appends many times a second.
	gather = 100 * time.Millisecond
	// pollFollowed looks for what notifications miss: files replaced by new
	// ones, network file systems. pollMissing looks for files that are not
	// there yet, since clients create them some seconds into a session.
	pollFollowed = 5 * time.Second
	pollMissing  = time.Second
	// missingFor is how long a missing file is looked for at the faster pace.
	missingFor = time.Minute
)

// Tailer follows the transcripts of many sessions in one goroutine.
type Tailer struct {
	tell func(event.SessionKey, []event.Signal)
	done chan struct{} // closed when Run returned
	wake chan struct{} // capacity 1: there are commands

	mu       sync.Mutex // guards commands
	commands []func()

	// Of Run's goroutine.
	files  map[event.SessionKey]*file
	byPath map[string][]*file
	notify *fsnotify.Watcher // nil where the system gives none
}

// file is one followed transcript.
type file struct {
	key      event.SessionKey
	path     string
	detector Detector
	fresh    bool // offset not known yet: begin at the end of what is there
	since    time.Time

	offset  int64  // of the first byte not yet handed out
	partial []byte // the beginning of a line whose end is not written yet, MaxLine+1 bytes at most
	read    int64  // where to read on: offset, and the unfinished line
	info    fs.FileInfo
	watched bool
	dirty   bool
}

// NewTailer returns a Tailer whose signals go to tell, which is called from
// Run's goroutine and should return soon.
func NewTailer(tell func(event.SessionKey, []event.Signal)) *Tailer {
	return &Tailer{tell: tell, wake: make(chan struct{}, 1), done: make(chan struct{}),
		files: map[event.SessionKey]*file{}, byPath: map[string][]*file{}}
}

// Unread as an offset means that nothing was read yet: what is in the file
// already is history and is skipped. A file that does not exist yet is read from
// its beginning.
const Unread = -1

// Follow may be called from any goroutine and does not block. It tails path for the session from offset on (Unread: from its present
// end). It replaces what the session followed before; the same path again changes
// nothing.
func (t *Tailer) Follow(key event.SessionKey, path string, offset int64, d Detector) {
	t.command(func() {
		if old := t.files[key]; old != nil {
			if old.path == path {
				return
			}
			t.drop(old)
		}
		f := &file{key: key, path: path, detector: d, since: time.Now(), fresh: offset == Unread}
		if !f.fresh {
			f.offset, f.read = offset, offset
		}
		t.files[key] = f
		t.byPath[path] = append(t.byPath[path], f)
		t.look(f)
	})
}

// Forget stops following the session's transcript.
func (t *Tailer) Forget(key event.SessionKey) {
	t.command(func() {
		if f := t.files[key]; f != nil {
			t.drop(f)
		}
	})
}

// Offsets returns how far each transcript was read, for a later Follow.
func (t *Tailer) Offsets() map[event.SessionKey]int64 {
	result := make(chan map[event.SessionKey]int64, 1)
	t.command(func() {
		all := make(map[event.SessionKey]int64, len(t.files))
		for key, f := range t.files {
			if !f.fresh {
				all[key] = f.offset
			}
		}
		result <- all
	})
	select {
	case all := <-result:
		return all
	case <-t.done:
		return nil
	}
}

// command has f run in Run's goroutine, or not at all once Run has returned. It
// does not wait: whoever is told signals may be the one who gives commands.
func (t *Tailer) command(f func()) {
	t.mu.Lock()
	t.commands = append(t.commands, f)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *Tailer) obey() {
	t.mu.Lock()
	commands := t.commands
	t.commands = nil
	t.mu.Unlock()
	for _, f := range commands {
		f()
	}
}

// Run follows until ctx ends.
func (t *Tailer) Run(ctx context.Context) {
	defer close(t.done)
	var events chan fsnotify.Event
	var failures chan error
	// Opened with the first file, so that a runtime without transcripts has
	// neither the descriptor nor the goroutine.
	open := func() {
		if t.notify != nil || len(t.files) == 0 {
			return
		}
		if w, err := fsnotify.NewWatcher(); err == nil {
			t.notify, events, failures = w, w.Events, w.Errors
			for _, f := range t.files {
				t.subscribe(f)
			}
		}
	}
	defer func() {
		if t.notify != nil {
			t.notify.Close()
		}
	}()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	var due time.Time // when timer fires; zero: it does not
	arm := func(d time.Duration) {
		at := time.Now().Add(d)
		if due.IsZero() || at.Before(due) {
			due = at
			timer.Reset(d)
		}
	}
	for {
		if len(t.files) > 0 {
			arm(t.pace())
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
			t.obey()
			open()
		case e := <-events:
			for _, f := range t.byPath[e.Name] {
				f.dirty = true
				if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
					f.watched = false // the subscription went with the file
				}
				arm(gather)
			}
		case <-failures:
			// The queue overflowed: what was missed is found by looking.
			for _, f := range t.files {
				f.dirty = true
			}
			arm(gather)
		case <-timer.C:
			due = time.Time{}
			for _, f := range t.files {
				t.look(f)
			}
		}
	}
}

// pace is how long the files may go unlooked at.
func (t *Tailer) pace() time.Duration {
	for _, f := range t.files {
		switch {
		case f.dirty:
			return gather
		case t.notify == nil, f.info == nil && time.Since(f.since) < missingFor:
			return pollMissing
		}
	}
	return pollFollowed
}

func (t *Tailer) drop(f *file) {
	delete(t.files, f.key)
	others := t.byPath[f.path][:0]
	for _, o := range t.byPath[f.path] {
		if o != f {
			others = append(others, o)
		}
	}
	if len(others) > 0 {
		t.byPath[f.path] = others
		return
	}
	delete(t.byPath, f.path)
	if t.notify != nil && f.watched {
		_ = t.notify.Remove(f.path) // gone with the file, or ours to remove
	}
}

func (t *Tailer) subscribe(f *file) {
	if t.notify == nil || f.watched || f.info == nil {
		return
	}
	f.watched = t.notify.Add(f.path) == nil
}

// look reads what was appended to f since the last look.
func (t *Tailer) look(f *file) {
	f.dirty = false
	info, err := os.Stat(f.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			// Nothing can be history in a file that appears later.
			f.fresh, f.info, f.watched = false, nil, false
		}
		return
	}
	replaced := f.info != nil && !os.SameFile(f.info, info)
	if replaced {
		f.watched = false
	}
	f.info = info
	t.subscribe(f)
	switch {
	case f.fresh:
		f.fresh = false
		f.restart(lineStart(f.path, info.Size()))
	case replaced, info.Size() < f.read:
		f.restart(0)
	}
	if info.Size() == f.read || !info.Mode().IsRegular() {
		return
	}
	signals, err := f.readOn(info.Size())
	if len(signals) > 0 {
		t.tell(f.key, signals)
	}
	if err != nil {
		// Unreadable for now; the next look tries from the same place.
		f.partial, f.read = nil, f.offset
	}
}

func (f *file) restart(offset int64) {
	f.offset, f.read, f.partial = offset, offset, nil
}

// readOn reads from f.read to size and hands complete lines to the detector.
func (f *file) readOn(size int64) ([]event.Signal, error) {
	r, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var signals []event.Signal
	buf := make([]byte, min(chunk, size-f.read))
	for f.read < size {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-f.read)], f.read)
		signals = f.feed(buf[:n], signals)
		if err != nil && !(errors.Is(err, io.EOF) && n > 0) {
			return signals, err
		}
	}
	return signals, nil
}

// feed takes the next bytes of the file.
func (f *file) feed(b []byte, signals []event.Signal) []event.Signal {
	for len(b) > 0 {
		line, rest, complete := bytes.Cut(b, []byte("\n"))
		f.read += int64(len(b) - len(rest))
		b = rest
		if len(f.partial) > 0 || !complete {
			room := MaxLine + 1 - len(f.partial)
			f.partial = append(f.partial, line[:min(room, len(line))]...)
			line = f.partial
		}
		if !complete {
			break
		}
		line = bytes.TrimSuffix(line[:min(len(line), MaxLine+1)], []byte("\r"))
		signals = append(signals, f.detector.Line(line, f.offset)...)
		f.partial, f.offset = nil, f.read
	}
	return signals
}

// lineStart is the offset at which the last line of the file begins that is not
// complete yet, so that its end is not taken for a line of its own. It looks back
// one chunk; a longer unfinished line is skipped as a whole, like any long line.
func lineStart(path string, size int64) int64 {
	r, err := os.Open(path)
	if err != nil {
		return size
	}
	defer r.Close()
	buf := make([]byte, min(chunk, size))
	n, err := r.ReadAt(buf, size-int64(len(buf)))
	if err != nil && !errors.Is(err, io.EOF) {
		return size
	}
	return size - int64(n) + int64(bytes.LastIndexByte(buf[:n], '\n')+1)
}
