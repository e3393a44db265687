package alarm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSet_clockChip(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, chip)
	a := New(root)
	at := time.Unix(1_800_000_000, 0)
	if err := a.Set(at); !errors.Is(err, ErrUnsupported) {
		t.Errorf("without a chip: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   time.Time
		want string
	}{{at, "1800000000"}, {at.Add(time.Hour), "1800003600"}, {time.Time{}, "0"}} {
		if err := a.Set(c.at); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != c.want {
			t.Errorf("%v: the chip has %q, want %q", c.at, got, c.want)
		}
	}
}

// The chip has one alarm: somebody else's is neither replaced nor taken back, and one
// of a process of ours that died is known by its moment.
func TestSet_anotherProgramsAlarm(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, chip)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Unix(1_800_000_000, 0)
	put("1799990000\n")
	a := New(root)
	if err := a.Set(at); !errors.Is(err, errTaken) {
		t.Errorf("over another's alarm: %v", err)
	}
	if err := a.Set(time.Time{}); err != nil {
		t.Errorf("taking back what was never set: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "1799990000\n" {
		t.Errorf("the chip has %q", got)
	}
	put("1800000000\n") // as a process of ours left it
	b := New(root)
	if err := errors.Join(b.Set(at), b.Set(time.Time{})); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "0" {
		t.Errorf("the chip has %q after it was taken back", got)
	}
}

// The kernel's own timer, where this process may have one; else the refusal names
// the right that is missing. The moment is an hour ahead and taken back at once.
func TestSetTimer(t *testing.T) {
	a := New("")
	if err := a.setTimer(time.Time{}); err != nil {
		t.Errorf("taking back what was never set: %v", err)
	}
	err := a.setTimer(time.Now().Add(time.Hour))
	if err == nil {
		err = a.setTimer(time.Time{})
	}
	if err != nil && a.timer != noTimer {
		t.Errorf("the timer was made and cannot be set: %v", err)
	}
}
