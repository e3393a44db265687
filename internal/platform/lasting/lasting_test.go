package lasting

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// system is a system that does not always do as it is told.
type system struct {
	mu     sync.Mutex
	values map[string]string
	writes []string // "name=value", in order

	ignore  bool          // takes writes and does nothing
	late    time.Duration // a write shows only after this
	held    bool          // a write shows only with land
	queue   []func()      // writes that land will show
	failing error         // Write says this, and does nothing
	broken  error         // Write says this after the work
	unread  error         // Read says this
	onWrite func()        // before a write takes effect
}

func newSystem(values map[string]string) *system { return &system{values: values} }

func (y *system) Read(_ context.Context, name string) (string, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.unread != nil {
		return "", y.unread
	}
	v, ok := y.values[name]
	if !ok {
		return "", errors.New("no such value")
	}
	return v, nil
}

func (y *system) Write(_ context.Context, name, value string) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.onWrite != nil {
		y.onWrite()
	}
	y.writes = append(y.writes, name+"="+value)
	switch {
	case y.failing != nil:
		return y.failing
	case y.ignore:
		return nil
	case y.held:
		y.queue = append(y.queue, func() { y.set(name, value) })
		return nil
	case y.late > 0:
		time.AfterFunc(y.late, func() { y.set(name, value) })
		return nil
	}
	y.values[name] = value
	return y.broken
}

// land shows the first write that was held, and reports whether there was one.
func (y *system) land() bool {
	y.mu.Lock()
	if len(y.queue) == 0 {
		y.mu.Unlock()
		return false
	}
	first := y.queue[0]
	y.queue = y.queue[1:]
	y.mu.Unlock()
	first()
	return true
}

func (y *system) set(name, value string) {
	y.mu.Lock()
	y.values[name] = value
	y.mu.Unlock()
}

func (y *system) get(name string) string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.values[name]
}

func testStore(t *testing.T, y Values, owner string) *Store {
	return &Store{Path: filepath.Join(t.TempDir(), "state", "pending-backup.json"), Values: y, Owner: owner,
		Now: func() time.Time { return time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC) }, Patience: 50 * time.Millisecond}
}

func (s *Store) as(owner string) *Store {
	other := *s
	other.Owner = owner
	return &other
}

func pending(t *testing.T, s *Store) []Entry {
	t.Helper()
	list, err := s.Pending()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestStore_savesBeforeItWrites(t *testing.T) {
	y := newSystem(map[string]string{"lid": "3"})
	s := testStore(t, y, "a")
	y.onWrite = func() {
		list := pending(t, s)
		if len(list) != 1 || list[0].Original != "3" || list[0].Set != "0" || list[0].Confirmed {
			t.Errorf("at the write, the file says %+v", list)
		}
		info, err := os.Stat(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("the file has mode %o", info.Mode().Perm())
		}
	}
	if err := s.Change(t.Context(), "lid", "0"); err != nil {
		t.Fatal(err)
	}
	y.onWrite = nil
	want := Entry{Name: "lid", Original: "3", Set: "0", Owner: "a", Confirmed: true, Changed: s.Now()}
	if list := pending(t, s); len(list) != 1 || !reflect.DeepEqual(list[0], want) {
		t.Errorf("the file says %+v, want %+v", list, want)
	}
	if err := s.PutBack(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Path); !errors.Is(err, os.ErrNotExist) || y.get("lid") != "3" {
		t.Errorf("after PutBack the value is %q, the file: %v", y.get("lid"), err)
	}
}

func TestStore_originalIsNeverOverwritten(t *testing.T) {
	ctx := t.Context()
	for name, again := range map[string]func(*Store) error{
		"by the same runtime":                    func(s *Store) error { return s.Change(ctx, "mode", "0") },
		"by a runtime after a crash":             func(s *Store) error { return s.as("b").Change(ctx, "mode", "25") },
		"by a runtime after a crash, otherwise":  func(s *Store) error { return s.as("b").Change(ctx, "mode", "0") },
		"by a change that then fails":            func(s *Store) error { _ = s.as("b").Change(ctx, "mode", "refused"); return nil },
		"by a change that reads a changed value": func(s *Store) error { s.Values.(*system).set("mode", "7"); return s.Change(ctx, "mode", "25") },
	} {
		t.Run(name, func(t *testing.T) {
			y := newSystem(map[string]string{"mode": "3"})
			s := testStore(t, y, "a")
			if err := s.Change(ctx, "mode", "25"); err != nil {
				t.Fatal(err)
			}
			if err := again(s); err != nil {
				t.Fatal(err)
			}
			if list := pending(t, s); len(list) != 1 || list[0].Original != "3" {
				t.Fatalf("the file says %+v", list)
			}
			if err := s.as("c").Restore(ctx); err != nil || y.get("mode") != "3" {
				t.Errorf("Restore = %v, the value is %q, want the user's own", err, y.get("mode"))
			}
		})
	}
}

func TestStore_systemThatMisbehaves(t *testing.T) {
	ctx := t.Context()
	t.Run("an ignored write is an error and claims nothing", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "0"})
		y.ignore = true
		s := testStore(t, y, "a")
		if err := s.Change(ctx, "sleep", "1"); !errors.Is(err, ErrNotKept) {
			t.Fatalf("Change = %v, want ErrNotKept", err)
		}
		if list := pending(t, s); len(list) != 1 || list[0].Confirmed {
			t.Errorf("the file says %+v; the original must stay noted, unconfirmed", list)
		}
		y.ignore = false
		if err := s.Change(ctx, "sleep", "1"); err != nil || y.get("sleep") != "1" {
			t.Errorf("the second try: %v, value %q", err, y.get("sleep"))
		}
	})
	t.Run("a late write within the patience is a success", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "0"})
		y.late = 30 * time.Millisecond
		s := testStore(t, y, "a")
		s.Patience = 10 * time.Second
		if err := s.Change(ctx, "sleep", "1"); err != nil || y.get("sleep") != "1" {
			t.Errorf("Change = %v, value %q", err, y.get("sleep"))
		}
	})
	t.Run("a write later than the patience is undone all the same", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "0"})
		y.held = true
		s := testStore(t, y, "a")
		s.Patience = time.Millisecond
		if err := s.Change(ctx, "sleep", "1"); !errors.Is(err, ErrNotKept) {
			t.Fatalf("Change = %v, want ErrNotKept", err)
		}
		// It reads as the original now, which is no reason to believe it.
		_ = s.PutBack(ctx)
		if !y.land() || y.get("sleep") != "1" {
			t.Fatalf("the late write made it %q", y.get("sleep"))
		}
		for y.land() { // those after it
		}
		if y.get("sleep") != "0" {
			t.Error("the late write stays: nothing was written after it")
		}
	})
	t.Run("a refused write leaves nothing to restore", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "0"})
		y.failing = errors.New("a password is required")
		s := testStore(t, y, "a")
		if err := s.Change(ctx, "sleep", "1"); !errors.Is(err, y.failing) {
			t.Fatalf("Change = %v", err)
		}
		if err := s.PutBack(ctx); err != nil || len(pending(t, s)) != 0 {
			t.Errorf("PutBack = %v, pending %+v", err, pending(t, s))
		}
	})
	t.Run("a write that fails after the work is a success", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "0"})
		y.broken = errors.New("killed")
		s := testStore(t, y, "a")
		if err := s.Change(ctx, "sleep", "1"); err != nil {
			t.Errorf("Change = %v though the value is there", err)
		}
	})
	t.Run("a restore that is ignored keeps the original noted", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "0"})
		s := testStore(t, y, "a")
		if err := s.Change(ctx, "sleep", "1"); err != nil {
			t.Fatal(err)
		}
		y.ignore = true
		if err := s.PutBack(ctx); !errors.Is(err, ErrNotKept) || len(pending(t, s)) != 1 {
			t.Fatalf("PutBack = %v, pending %+v", err, pending(t, s))
		}
		y.ignore = false
		if err := s.as("next").Restore(ctx); err != nil || y.get("sleep") != "0" {
			t.Errorf("the next Restore: %v, value %q", err, y.get("sleep"))
		}
	})
	t.Run("an unreadable value is neither changed nor given up", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "0"})
		s := testStore(t, y, "a")
		y.unread = errors.New("no answer")
		if err := s.Change(ctx, "sleep", "1"); !errors.Is(err, y.unread) || len(y.writes) != 0 {
			t.Errorf("Change = %v, writes %q", err, y.writes)
		}
		y.unread = nil
		if err := s.Change(ctx, "sleep", "1"); err != nil {
			t.Fatal(err)
		}
		y.unread = errors.New("no answer")
		if err := s.PutBack(ctx); !errors.Is(err, y.unread) || len(pending(t, s)) != 1 {
			t.Errorf("PutBack = %v, pending %+v", err, pending(t, s))
		}
	})
	t.Run("what the user chose meanwhile is theirs", func(t *testing.T) {
		y := newSystem(map[string]string{"mode": "3"})
		s := testStore(t, y, "a")
		if err := s.Change(ctx, "mode", "25"); err != nil {
			t.Fatal(err)
		}
		y.set("mode", "0")
		if err := s.PutBack(ctx); err != nil || y.get("mode") != "0" || len(pending(t, s)) != 0 {
			t.Errorf("PutBack = %v, value %q, pending %+v", err, y.get("mode"), pending(t, s))
		}
	})
	t.Run("an earlier value of ours is not taken for the user's", func(t *testing.T) {
		y := newSystem(map[string]string{"mode": "3"})
		s := testStore(t, y, "a")
		if err := s.Change(ctx, "mode", "0"); err != nil {
			t.Fatal(err)
		}
		y.ignore = true
		if err := s.Change(ctx, "mode", "25"); !errors.Is(err, ErrNotKept) {
			t.Fatalf("Change = %v", err)
		}
		y.ignore = false
		if err := s.PutBack(ctx); err != nil || y.get("mode") != "3" {
			t.Errorf("PutBack = %v, value %q", err, y.get("mode"))
		}
	})
	t.Run("a value that is as wanted already is not touched", func(t *testing.T) {
		y := newSystem(map[string]string{"sleep": "1"})
		s := testStore(t, y, "a")
		if err := s.Change(ctx, "sleep", "1"); err != nil || len(y.writes) != 0 || len(pending(t, s)) != 0 {
			t.Errorf("Change = %v, writes %q, pending %+v", err, y.writes, pending(t, s))
		}
	})
}

func TestStore_owners(t *testing.T) {
	ctx := t.Context()
	y := newSystem(map[string]string{"lid.ac": "1", "lid.dc": "1"})
	old := testStore(t, y, "old")
	for _, name := range []string{"lid.ac", "lid.dc"} {
		if err := old.Change(ctx, name, "0"); err != nil {
			t.Fatal(err)
		}
	}
	next := old.as("next")
	if err := next.Change(ctx, "lid.ac", "0"); err != nil {
		t.Fatal(err)
	}
	if got := len(y.writes); got != 2 {
		t.Errorf("%d writes; a value taken over is as wanted already: %q", got, y.writes)
	}
	if err := old.PutBack(ctx); err != nil {
		t.Fatal(err)
	}
	if y.get("lid.ac") != "0" || y.get("lid.dc") != "1" {
		t.Errorf("the old runtime left ac %q, dc %q; ac was taken over", y.get("lid.ac"), y.get("lid.dc"))
	}
	if err := next.Restore(ctx); err != nil || y.get("lid.ac") != "0" {
		t.Errorf("Restore = %v and gave up its own hold: ac %q", err, y.get("lid.ac"))
	}
	for range 2 {
		if err := next.PutBack(ctx, "lid.ac"); err != nil || y.get("lid.ac") != "1" {
			t.Errorf("PutBack = %v, ac %q", err, y.get("lid.ac"))
		}
	}
}

func TestStore_brokenFileIsKept(t *testing.T) {
	y := newSystem(map[string]string{"sleep": "0"})
	for name, text := range map[string]string{"torn": `{"schema":1,"val`, "of the future": `{"schema":2}`, "empty": ""} {
		s := testStore(t, y, "a")
		if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Change(t.Context(), "sleep", "1"); err == nil || len(y.writes) != 0 {
			t.Errorf("%s: Change = %v, writes %q", name, err, y.writes)
		}
		if err := s.Restore(t.Context()); err == nil {
			t.Errorf("%s: Restore says nothing", name)
		}
		if err := s.Restore(t.Context()); name != "of the future" && !strings.Contains(err.Error(), "delete the file") {
			t.Errorf("%s: nobody says what to do: %v", name, err)
		}
		if data, err := os.ReadFile(s.Path); err != nil || string(data) != text {
			t.Errorf("%s: the file is now %q, %v", name, data, err)
		}
	}
}

func TestStore_nothingToRestoreCreatesNothing(t *testing.T) {
	s := testStore(t, newSystem(nil), "")
	if err := s.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(s.Path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
}

// Whatever two runtimes do and however the system behaves in between, once it
// behaves and all have put back, the values are the user's own.
func TestStore_userGetsTheirOwnBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		names := []string{"a", "b"}
		original := map[string]string{"a": rapid.SampledFrom([]string{"0", "1", "2"}).Draw(r, "a"), "b": "1"}
		y := newSystem(map[string]string{"a": original["a"], "b": original["b"]})
		dir, err := os.MkdirTemp("", "lasting")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		base := Store{Path: filepath.Join(dir, "pending.json"), Values: y, Now: func() time.Time { return time.Time{} }, Patience: time.Microsecond}
		refused := errors.New("refused")
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			s := base.as(rapid.SampledFrom([]string{"one", "two"}).Draw(r, "owner"))
			name := rapid.SampledFrom(names).Draw(r, "name")
			y.ignore, y.failing = false, nil
			switch rapid.IntRange(0, 4).Draw(r, "weather") {
			case 0:
				y.ignore = true
			case 1:
				y.failing = refused
			}
			switch rapid.IntRange(0, 3).Draw(r, "act") {
			case 0, 1:
				value := rapid.SampledFrom([]string{"0", "1", "2"}).Draw(r, "value")
				if err := s.Change(context.Background(), name, value); err == nil && y.get(name) != value {
					r.Fatalf("Change(%s, %s) claims what is not so: %q", name, value, y.get(name))
				}
			case 2:
				_ = s.PutBack(context.Background(), name)
			case 3:
				_ = s.Restore(context.Background())
			}
		}
		y.ignore, y.failing = false, nil
		for _, owner := range []string{"one", "two"} {
			if err := base.as(owner).PutBack(context.Background()); err != nil {
				r.Fatal(err)
			}
		}
		for _, name := range names {
			if y.get(name) != original[name] {
				r.Fatalf("%s is %q, want %q", name, y.get(name), original[name])
			}
		}
		if _, err := os.Stat(base.Path); !errors.Is(err, os.ErrNotExist) {
			r.Fatalf("the file is still there: %v", err)
		}
	})
}

func TestStore_manyProcessesAtOnce(t *testing.T) {
	y := newSystem(map[string]string{"a": "0", "b": "0"})
	s := testStore(t, y, "")
	s.Patience = 10 * time.Second
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() { // waited for below
			mine := s.as(string(rune('a' + i)))
			name := []string{"a", "b"}[i%2]
			if err := mine.Change(t.Context(), name, "1"); err != nil {
				t.Errorf("Change: %v", err)
			}
			if err := mine.PutBack(t.Context()); err != nil {
				t.Errorf("PutBack: %v", err)
			}
		})
	}
	wg.Wait()
	if y.get("a") != "0" || y.get("b") != "0" || len(pending(t, s)) != 0 {
		t.Errorf("a %q, b %q, pending %+v", y.get("a"), y.get("b"), pending(t, s))
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(s.Path), ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("files were left: %q, %v", left, err)
	}
}

func TestEntry_format(t *testing.T) {
	data, err := json.Marshal(backup{Schema: 1, Values: []Entry{{Name: "disablesleep", Original: "0", Set: "1", Owner: "x", Confirmed: true,
		Changed: time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)}}})
	want := `{"schema":1,"values":[{"name":"disablesleep","original":"0","set":"1","owner":"x","confirmed":true,"changed":"2026-06-01T08:00:00Z"}]}`
	if err != nil || string(data) != want {
		t.Errorf("the file is now written as\n%s, %v\nwhich older keepers cannot read; want\n%s", data, err, want)
	}
}
