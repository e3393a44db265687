package display

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// plug sets the status of a connector under root.
func plug(t *testing.T, root, name, status string) {
	t.Helper()
	dir := filepath.Join(root, "sys/class/drm", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "status"), []byte(status+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// laptop unpacks a tree of testdata.
func laptop(t *testing.T, file string) string {
	t.Helper()
	ar, err := txtar.ParseFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range ar.Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRead(t *testing.T) {
	tests := []struct {
		name, file              string
		open, closed            int // displays a person could look at, by lid
		firstBlockingWhenClosed string
	}{
		{"a laptop on its own", "alone.txtar", 1, 0, ""},
		{"docked to a monitor", "docked.txtar", 2, 1, "card0-HDMI-A-1"},
		{"a monitor in standby still counts", "standby.txtar", 2, 1, "card1-DP-3"},
		{"two graphics cards, one panel", "hybrid.txtar", 2, 0, ""},
		{"old and embedded panels", "panels.txtar", 2, 0, ""},
		{"a port that cannot tell counts for nothing", "unsure.txtar", 1, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Read(laptop(t, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Visible(false); got != tt.open {
				t.Errorf("lid open: %d visible, want %d of %+v", got, tt.open, r)
			}
			if got := r.Visible(true); got != tt.closed {
				t.Errorf("lid closed: %d visible, want %d of %+v", got, tt.closed, r)
			}
			blocking := r.Blocking(true)
			if len(blocking) != tt.closed {
				t.Errorf("%d blocking, want %d", len(blocking), tt.closed)
			}
			if len(blocking) > 0 && blocking[0].Name != tt.firstBlockingWhenClosed {
				t.Errorf("blocking %q, want %q", blocking[0].Name, tt.firstBlockingWhenClosed)
			}
		})
	}
}

func TestRead_unknownIsNoCount(t *testing.T) {
	if r, err := Read(t.TempDir()); !errors.Is(err, ErrUnknown) || len(r.Connectors) > 0 {
		t.Errorf("no /sys/class/drm: got %+v, %v", r, err)
	}
	if r, err := Read(laptop(t, "headless.txtar")); !errors.Is(err, ErrUnknown) || len(r.Connectors) > 0 {
		t.Errorf("no connector: got %+v, %v", r, err)
	}
	// A status that cannot be read could be a display: nothing may be claimed.
	root := laptop(t, "docked.txtar")
	status := filepath.Join(root, "sys/class/drm/card0-HDMI-A-1/status")
	os.Remove(status)
	if err := os.Mkdir(status, 0o755); err != nil {
		t.Fatal(err)
	}
	if r, err := Read(root); !errors.Is(err, ErrUnknown) || len(r.Connectors) > 0 {
		t.Errorf("unreadable status: got %+v, %v", r, err)
	}
}

func TestAboutDisplays(t *testing.T) {
	for msg, want := range map[string]bool{
		"change@/devices/pci0000:00/drm/card0\x00ACTION=change\x00SUBSYSTEM=drm\x00HOTPLUG=1\x00": true,
		"change@/devices/drm/x\x00SUBSYSTEM=drm_dp_aux_dev\x00":                                   false,
		"change@/x\x00NAME=SUBSYSTEM=drm\x00":                                                     false,
		"":                                                                                        false,
	} {
		if got := aboutDisplays([]byte(msg)); got != want {
			t.Errorf("%q: got %v, want %v", msg, got, want)
		}
	}
}

type fake struct{ push bool }

func (f fake) pushes() bool { return f.push }
func (fake) close()         {}

// watch runs a Watch and returns a function for the number displays it saw last.
func watch(t *testing.T, w *Watcher) func() int {
	var mu sync.Mutex
	last := -1
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Watch(ctx, func(r Reading, err error) {
			mu.Lock()
			defer mu.Unlock()
			last = r.Visible(true)
		})
	}()
	t.Cleanup(func() { cancel(); <-done; w.Close() })
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute still not: %s", what)
		}
	}
}

func TestWatch_readsAgainWhenTold(t *testing.T) {
	root := laptop(t, "alone.txtar")
	w := Open(Options{Root: root, Poll: time.Hour})
	got := watch(t, w)
	eventually(t, "first reading", func() bool { return got() == 0 })
	plug(t, root, "card0-HDMI-A-1", "connected")
	w.nudge() // as a uevent does
	eventually(t, "monitor seen", func() bool { return got() == 1 })
}

func TestWatch_pollsOnlyOnDemandAndWithoutNotices(t *testing.T) {
	root := laptop(t, "alone.txtar")
	w := &Watcher{o: Options{Root: root, Poll: time.Millisecond}, nudged: make(chan struct{}, 1), notify: fake{}}
	got := watch(t, w)
	eventually(t, "first reading", func() bool { return got() == 0 })
	w.Need(true)
	plug(t, root, "card0-HDMI-A-1", "connected")
	eventually(t, "monitor seen by polling", func() bool { return got() == 1 })
}

func TestListen_isPossibleForAnyUser(t *testing.T) {
	w := Open(Options{})
	if !w.Pushes() {
		t.Error("no uevent socket")
	}
	w.Close()
	w.Close()
	eventually(t, "the end noticed", func() bool { return !w.Pushes() })
}
