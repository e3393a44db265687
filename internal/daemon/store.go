package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// The sessions file starts with one of these, so that a hook can tell whether a
// dead runtime left live sessions by reading its first bytes (entry/start.go).
const (
	liveHead  = `{"live":true,`
	quietHead = `{"live":false,`
)

// maxSnapshot bounds what is read back: 500 sessions with all their evidence are
// some 4 MiB.
const maxSnapshot = 64 << 20

// saved is the sessions file, and what a runtime hands over. Its first member is
// "live", see liveHead.
type saved struct {
	Live    bool            `json:"live"`
	Boot    string          `json:"boot"` // of the snapshot; see Core
	Offsets []savedOffset   `json:"offsets,omitempty"`
	Core    json.RawMessage `json:"core,omitempty"`
}

// savedOffset is how far a session's transcript was read.
type savedOffset struct {
	Session event.SessionKey `json:"session"`
	Offset  int64            `json:"offset"`
}

// bytes is s as JSON, put together by hand: the snapshot is most of it and is
// valid JSON already.
func (s *saved) bytes() ([]byte, error) {
	small := *s
	small.Core = nil
	head, err := json.Marshal(small)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte(liveHead)) && !bytes.HasPrefix(head, []byte(quietHead)) {
		return nil, fmt.Errorf("sessions file would start with %q", head[:min(16, len(head))])
	}
	b := make([]byte, 0, len(head)+len(s.Core)+16)
	b = append(b, head[:len(head)-1]...)
	b = append(b, `,"core":`...)
	b = append(b, s.Core...)
	return append(b, '}'), nil
}

func (s *saved) offsets() map[event.SessionKey]int64 {
	all := make(map[event.SessionKey]int64, len(s.Offsets))
	for _, o := range s.Offsets {
		all[o.Session] = o.Offset
	}
	return all
}

// loadSaved reads the sessions file; a missing one is nil without an error.
func loadSaved(path string) (*saved, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSnapshot {
		return nil, fmt.Errorf("%q has %d bytes, more than %d", path, info.Size(), maxSnapshot)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := new(saved)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return s, nil
}

// Remembered is the evidence for the moment at that the last runtime left in the
// sessions file at path. After its last word the machine was free to sleep, unless it
// died at work: then At is that last word. A missing file is fs.ErrNotExist.
func Remembered(path string, at time.Time) (Why, error) {
	s, err := loadSaved(path)
	if err == nil && s == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Why{}, err
	}
	core, err := RestoreCore(s.Core, "", Exactly, event.Instant{})
	if err != nil {
		return Why{}, err
	}
	w := core.Why(at)
	if !s.Live && at.After(w.At) {
		w.At = at
	}
	return w, nil
}

// LeftLive reports whether the sessions file at path is of a runtime that died, in
// this boot of the machine, with sessions under way. A missing or broken file is
// none. It is only of use while no runtime runs.
func LeftLive(path, boot string) bool {
	s, err := loadSaved(path)
	return err == nil && s != nil && s.Live && s.Boot == boot
}

// replaceFile puts data at path at once or not at all: written beside, then
// renamed. It does not sync: the file has to survive the death of this process,
// which the page cache does, and after a power failure no process in it lives
// any more. A torn file is refused by loadSaved and set aside.
func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
