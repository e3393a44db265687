package sleep

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/command"
	"github.com/lidguard-go/lidguard/internal/platform/mactest"
)

func macText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/macos", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParseDisableSleep(t *testing.T) {
	for name, c := range map[string]struct{ out, want string }{
		"macOS 14, off":                      {macText(t, "14-g.txt"), "0"},
		"macOS 14, on":                       {strings.Replace(macText(t, "14-g.txt"), "SleepDisabled\t\t0", "SleepDisabled\t\t1", 1), "1"},
		"never set: the line is left out":    {macText(t, "26-g-never-set.txt"), "0"},
		"the value under its setting's name": {"System-wide power settings:\n disablesleep         1\nCurrently in use:\n sleep 1\n", "1"},
		"no settings at all":                 {"Now drawing from 'AC Power'\n", ""},
		"an empty answer":                    {"", ""},
		"a value that means nothing":         {"System-wide power settings:\n SleepDisabled\t\tperhaps\n", ""},
	} {
		got, err := parseDisableSleep(c.out)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
}

func TestParseHibernateMode(t *testing.T) {
	both := macText(t, "14-custom.txt")
	for name, c := range map[string]struct{ out, want string }{
		"macOS 14":                    {both, "3"},
		"battery and charger differ":  {strings.Replace(both, "hibernatemode        3", "hibernatemode        25", 1), ""},
		"a Mac without hibernatemode": {"AC Power:\n sleep                1\n", ""},
		"no number":                   {"AC Power:\n hibernatemode        deep\n", ""},
	} {
		got, err := parseHibernateMode(c.out)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
	if _, err := parseHibernateMode("AC Power:\n"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("without a mode: %v, want ErrUnsupported", err)
	}
}

func TestParseAssertions(t *testing.T) {
	got, err := parseAssertions(macText(t, "14-assertions.txt"))
	want := []Assertion{{366, "PreventUserIdleSystemSleep"}, {483, "PreventUserIdleSystemSleep"}, {157, "InternalPreventDisplaySleep"},
		{205, "UserIsActive"}, {80835, "PreventUserIdleSystemSleep"}, {80836, "PreventUserIdleDisplaySleep"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for name, out := range map[string]string{
		"nobody holds":  "Assertion status system-wide:\n   PreventUserIdleSystemSleep     0\n",
		"a pid of none": "Listed by owning process:\n   pid (x): [0x1] 00:00:01 PreventUserIdleSystemSleep named: \"y\"\n",
		"half a line":   "Listed by owning process:\n   pid 12(x): [0x1]\n",
	} {
		if got, err := parseAssertions(out); err != nil || len(got) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := parseAssertions("pmset: no such option"); err == nil {
		t.Error("an answer without a list is taken for an empty list")
	}
}

func TestPmset_rights(t *testing.T) {
	var lines []string
	for _, r := range PmsetRights() {
		lines = append(lines, strings.Join(r, " "))
	}
	want := []string{"/usr/bin/pmset -a disablesleep 0", "/usr/bin/pmset -a disablesleep 1",
		"/usr/bin/pmset -a hibernatemode 0", "/usr/bin/pmset -a hibernatemode 3", "/usr/bin/pmset -a hibernatemode 25"}
	if !slices.Equal(lines, want) {
		t.Errorf("rights are now %q, want exactly %q", lines, want)
	}
}

func TestPmset_write(t *testing.T) {
	ctx := t.Context()
	m := mactest.New()
	p := Pmset{Run: m}
	if err := p.Write(ctx, DisableSleep, "1"); err != nil || m.Get(DisableSleep) != "1" {
		t.Errorf("Write = %v, value %q", err, m.Get(DisableSleep))
	}
	if calls := m.Calls(); !slices.Equal(calls, []string{"/usr/bin/sudo -n /usr/bin/pmset -a disablesleep 1"}) {
		t.Errorf("ran %q", calls)
	}
	for _, c := range [][2]string{{DisableSleep, "2"}, {HibernateMode, "7"}, {"sleep", "0"}, {HibernateMode, "3; reboot"}} {
		if err := p.Write(ctx, c[0], c[1]); err == nil {
			t.Errorf("Write(%q) worked", c)
		}
	}
	if calls := m.Calls(); len(calls) != 0 {
		t.Errorf("values outside the rule ran %q", calls)
	}
	m.Forbid(func(string) bool { return true })
	var no *NotPermittedError
	for name, err := range map[string]error{"Write": p.Write(ctx, DisableSleep, "1"), "MaySet": p.MaySet(ctx, DisableSleep, "1")} {
		if !errors.As(err, &no) || no.Command != "/usr/bin/pmset -a disablesleep 1" || no.Why != "sudo: a password is required" {
			t.Errorf("%s = %v, want a *NotPermittedError", name, err)
		}
	}
	m.Break("/usr/bin/sudo", &command.ExitError{Path: "/usr/bin/sudo", Code: 77, Stderr: "pmset: internal error"})
	if err := p.Write(ctx, DisableSleep, "1"); err == nil || errors.As(err, &no) {
		t.Errorf("pmset's own failure = %v, want no *NotPermittedError", err)
	}
	if _, err := p.Read(ctx, "womp"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Read of another value: %v", err)
	}
}

func cups(m *mactest.Mac) *Caffeinate {
	return &Caffeinate{Pmset: Pmset{Run: m}, PID: 4711, Now: m.Awake}
}

func TestCaffeinate_oneOfEachKind(t *testing.T) {
	m := mactest.New()
	c := cups(m)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() { // waited for below
			if err := c.Hold(t.Context(), []What{Idle, Display}[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if m.Starts() != 2 {
		t.Errorf("%d processes were started for two kinds", m.Starts())
	}
	held, err := c.Held(t.Context())
	if err != nil || !slices.Equal(held, []What{Idle, Display}) {
		t.Errorf("Held = %q, %v", held, err)
	}
	calls := m.Calls()
	for _, want := range []string{"/usr/bin/caffeinate -i -w 4711", "/usr/bin/caffeinate -d -w 4711"} {
		if !slices.Contains(calls, want) {
			t.Errorf("%q was not run", want)
		}
	}
	c.Close()
	c.Close()
	if m.Running() != 0 {
		t.Errorf("%d run on", m.Running())
	}
	if err := c.Hold(t.Context(), AnySleep); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Hold(%s) = %v", AnySleep, err)
	}
}

func TestCaffeinate_truth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mactest.New()
		m.CaffeinateFakes(true)
		c := cups(m)
		if err := c.Hold(t.Context(), Idle); err == nil {
			t.Error("a caffeinate that macOS does not list is claimed to hold")
		}
		if m.Running() != 0 {
			t.Error("and it was left running")
		}
		m.CaffeinateFakes(false)
		m.Break("/usr/bin/pmset", mactest.ErrBroken)
		if err := c.Hold(t.Context(), Idle); !errors.Is(err, mactest.ErrBroken) {
			t.Errorf("Hold without pmset = %v", err)
		}
		if _, err := c.Held(t.Context()); !errors.Is(err, mactest.ErrBroken) {
			t.Errorf("Held without pmset = %v", err)
		}
	})
}

// A caffeinate that cannot live is not started thousands of times, however often
// it is asked for.
func TestCaffeinate_neverThousands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mactest.New()
		m.CaffeinateDies(true)
		c := cups(m)
		for range 24 * 60 * 60 {
			_ = c.Hold(t.Context(), Idle)
			time.Sleep(time.Second)
		}
		if n := m.Starts(); n < 10 || n > 310 {
			t.Errorf("%d starts within a day, want about one in five minutes", n)
		}
		m.CaffeinateDies(false)
		defer c.Close()
		for range 10 * 60 {
			if c.Hold(t.Context(), Idle) == nil {
				return
			}
			time.Sleep(time.Second)
		}
		t.Error("never started again though it would live")
	})
}

func TestCaffeinate_lost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mactest.New()
		lost := make(chan What, 8)
		c := cups(m)
		c.Lost = func(w What) { lost <- w }
		if err := c.Hold(t.Context(), Idle); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		m.KillCaffeinate()
		if w := <-lost; w != Idle {
			t.Errorf("lost %q", w)
		}
		if err := c.Hold(t.Context(), Idle); err != nil {
			t.Errorf("after one that lived long: %v", err)
		}
		c.Release(Idle)
		synctest.Wait()
		select {
		case w := <-lost:
			t.Errorf("a release is told as lost: %q", w)
		default:
		}
	})
}
