package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Suspend is one entry of the suspend history.
type Suspend struct {
	Time     time.Time `json:"time"`             // UTC, when the machine fell asleep, or was last asked to
	Woke     time.Time `json:"woke,omitzero"`    // UTC
	Mode     string    `json:"mode"`             // sleep, hibernate
	Reason   string    `json:"reason"`           // Completed, SoftLocked, …
	Result   string    `json:"result"`           // slept, refused, no answer
	Detail   string    `json:"detail,omitempty"` // who refused and why
	Tries    int       `json:"tries,omitempty"`
	Sessions int       `json:"sessions"`
	Celsius  *float64  `json:"celsius,omitempty"` // only where heat was the reason
}

// maxHistory bounds what is read back; an entry has some 200 bytes.
const maxHistory = 4 << 20

// History reads the suspend history, oldest first. A missing file is an empty
// history.
func History(path string) ([]Suspend, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxHistory {
		return nil, fmt.Errorf("suspend history %q has %d bytes, more than %d", path, info.Size(), maxHistory)
	}
	var all []Suspend
	if err := json.NewDecoder(f).Decode(&all); err != nil {
		return nil, fmt.Errorf("suspend history %q: %w", path, err)
	}
	return all, nil
}

// AddHistory appends s and keeps the last keep entries; 0 keeps none and writes
// nothing. A history that cannot be read is begun anew: it is a convenience, and
// the machine is about to sleep.
func AddHistory(path string, s Suspend, keep int) error {
	if keep <= 0 {
		return nil
	}
	all, _ := History(path)
	all = append(all, s)
	if len(all) > keep {
		all = all[len(all)-keep:]
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// Written beside and renamed, so that a reader never sees half of it.
	beside := path + ".new"
	if err := os.WriteFile(beside, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(beside, path)
}
