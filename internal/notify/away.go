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

// Absence is what happened while the lid was closed once. It carries no prompt
// and nothing an agent said.
type Absence struct {
	Closed time.Time `json:"closed"`          // UTC
	Opened time.Time `json:"opened,omitzero"` // UTC; zero: still closed

	Answered []AwayAnswer `json:"prompts_answered"` // permission prompts that lidguard answered
	Blocked  []AwayAnswer `json:"calls_blocked"`    // tool calls that a rule refused
	Ended    []AwayEnd    `json:"sessions_ended"`
	Waiting  []AwayEnd    `json:"sessions_waiting"` // began to wait for the person
	Suspends []Suspend    `json:"suspends"`
	Notes    []AwayNote   `json:"notes"` // heat, battery floor, refused suspends, lost locks

	// Highest and Lowest are the temperatures seen, in °C; nil: none was read.
	Highest *float64 `json:"highest_celsius,omitempty"`
	Lowest  *float64 `json:"lowest_celsius,omitempty"`
	// Battery at the beginning and at the end, in percent.
	BatteryFrom *float64 `json:"battery_from_percent,omitempty"`
	BatteryTo   *float64 `json:"battery_to_percent,omitempty"`

	// Left counts what was left out, since a list had MaxAway entries.
	Left int `json:"left_out,omitempty"`
	// Told: it was shown to the person.
	Told bool `json:"told,omitempty"`
}

// AwayAnswer is one answer given for an absent person.
type AwayAnswer struct {
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Tool    string    `json:"tool,omitempty"`
	Answer  string    `json:"answer"` // deny, allow
}

// AwayEnd is a session that ended or began to wait.
type AwayEnd struct {
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Reason  string    `json:"reason,omitempty"`
}

// AwayNote is something else worth knowing.
type AwayNote struct {
	Time time.Time `json:"time"`
	Code string    `json:"code"`
	Text string    `json:"text"`
}

// Bounds of the record: lists longer than a person reads, and the last few times
// the lid was closed.
const (
	MaxAway     = 200
	maxAbsences = 5
)

// Empty reports whether nothing happened that a person needs to hear of.
func (a *Absence) Empty() bool {
	return len(a.Answered)+len(a.Blocked)+len(a.Ended)+len(a.Waiting)+len(a.Suspends)+len(a.Notes) == 0
}

// Keep appends v to one of the lists of a, unless that is full.
func Keep[T any](a *Absence, list *[]T, v T) {
	if len(*list) >= MaxAway {
		a.Left++
		return
	}
	*list = append(*list, v)
}

// Absences reads the record, oldest first. A missing file is an empty record.
func Absences(path string) ([]Absence, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Absence
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("away report %q: %w", path, err)
	}
	return all, nil
}

// SaveAbsence puts a into the record, in the place of the one that began at the
// same moment. A record that cannot be read is begun anew.
func SaveAbsence(path string, a Absence) error {
	all, _ := Absences(path)
	placed := false
	for i := range all {
		if all[i].Closed.Equal(a.Closed) {
			a.Told = a.Told || all[i].Told
			all[i], placed = a, true
		}
	}
	if !placed {
		all = append(all, a)
	}
	return saveAbsences(path, all)
}

// TellAbsences marks every absence that is over as shown.
func TellAbsences(path string) error {
	all, err := Absences(path)
	if err != nil {
		return err
	}
	changed := false
	for i := range all {
		if !all[i].Told && !all[i].Opened.IsZero() {
			all[i].Told, changed = true, true
		}
	}
	if !changed {
		return nil
	}
	return saveAbsences(path, all)
}

func saveAbsences(path string, all []Absence) error {
	if len(all) > maxAbsences {
		all = all[len(all)-maxAbsences:]
	}
	for i := range all {
		a := &all[i] // JSON: empty lists, not null
		fill(&a.Answered)
		fill(&a.Blocked)
		fill(&a.Ended)
		fill(&a.Waiting)
		fill(&a.Suspends)
		fill(&a.Notes)
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return replace(path, append(data, '\n'))
}

func fill[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// replace writes beside and renames, so that a reader never sees half of it.
func replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
