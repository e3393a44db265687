package daemon

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Sizes of the files the runtime writes by itself. Each has one predecessor
// (".1") of the same size; both together bound what a runtime that runs for a
// year leaves on the disk.
const (
	maxLog    = 1 << 20
	maxInputs = 4 << 20
)

// rotating is an append-only file that is renamed to path+".1" before it would
// outgrow max bytes. Writes never fail towards the caller: a full disk or a
// read-only home must not change what the runtime does, and there is nobody to
// tell. It may be used from many goroutines; each Write is one line.
type rotating struct {
	path string
	max  int64
	keep bool // never begin a new file by itself: the owner calls turn when full

	mu   sync.Mutex // guards all below
	f    *os.File
	size int64
	// quietUntil spares the disk after an error: opening a file on a full or
	// read-only disk for every line would cost more than the line is worth.
	quietUntil time.Time
	now        func() time.Time
}

func openRotating(path string, limit int64, now func() time.Time) *rotating {
	return &rotating{path: path, max: limit, now: now}
}

// Write appends p, which should be whole lines. It reports success always.
func (r *rotating) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.quietUntil.IsZero() && r.now().Before(r.quietUntil) {
		return len(p), nil
	}
	if err := r.writeLocked(p); err != nil {
		r.closeLocked()
		r.quietUntil = r.now().Add(time.Minute)
	} else {
		r.quietUntil = time.Time{}
	}
	return len(p), nil
}

func (r *rotating) writeLocked(p []byte) error {
	if r.f == nil {
		if err := r.openLocked(); err != nil {
			return err
		}
	}
	if r.size > 0 && r.size+int64(len(p)) > r.max && !r.keep {
		r.closeLocked()
		if err := os.Rename(r.path, r.path+".1"); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := r.openLocked(); err != nil {
			return err
		}
	}
	n, err := r.f.Write(p)
	r.size += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

func (r *rotating) openLocked() error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	r.f, r.size = f, info.Size()
	return nil
}

func (r *rotating) closeLocked() {
	if r.f != nil {
		r.f.Close()
		r.f = nil
	}
}

// turn makes the next Write begin a new file; the present one becomes ".1".
func (r *rotating) turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeLocked()
	_ = os.Rename(r.path, r.path+".1") // there may be none yet
}

// full reports whether the file has reached its bound, so that the next Write
// will begin a new one.
func (r *rotating) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.f != nil && r.size >= r.max
}

// Close closes the file; a later Write opens it again.
func (r *rotating) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeLocked()
	return nil
}

// newLogger returns a logger that writes JSON lines with UTC times to w.
func newLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			a.Value = slog.TimeValue(a.Value.Time().UTC())
		}
		return a
	}}))
}
