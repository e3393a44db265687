package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// now is the moment of every test.
var now = time.Date(2026, 3, 4, 15, 6, 7, 0, time.UTC)

// world is what one command line meets.
type world struct {
	t       *testing.T
	home    string
	env     map[string]string
	answers func(*ipc.Request) *ipc.Reply // nil: no runtime
	asked   []ipc.Request
	stdin   string
	person  bool // somebody sits at the terminal
	machine Machine
	goos    string
	power   *Power
	play    func(context.Context, string, int) error
	reach   func(context.Context, string) (net.Conn, error) // nil: dial
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	return &world{t: t, home: home, env: map[string]string{"HOME": home, "USERPROFILE": home}, goos: "linux"}
}

// run runs one command line in this process.
func (w *world) run(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, errs bytes.Buffer
	o := Options{Args: args, Env: func(name string) string { return w.env[name] }, Stdin: iotest.OneByteReader(strings.NewReader(w.stdin)), Stdout: &out, Stderr: &errs,
		Now: func() time.Time { return now }, GOOS: w.goos, WorkDir: w.home, Executable: filepath.Join(w.home, "bin", "lidguard"), Version: "v1.2.3",
		Dial:  w.dial,
		Probe: func(context.Context) (Machine, error) { return w.machine, nil },
		Power: w.power,
		Play:  w.play,
	}
	if w.reach != nil {
		o.Dial = w.reach
	}
	code = run(context.Background(), o, func(a *app) { a.interactive = a.interactive || w.person })
	return code, out.String(), errs.String()
}

func (w *world) dial(context.Context, string) (net.Conn, error) {
	if w.answers == nil {
		return nil, errors.New("nobody listens")
	}
	here, there := net.Pipe()
	go func() { // ends when the client closes
		in := ipc.NewReader(there)
		for {
			line, err := in.Next()
			if err != nil {
				return
			}
			var req ipc.Request
			if err := json.Unmarshal(line, &req); err != nil {
				return
			}
			w.asked = append(w.asked, req)
			reply := w.answers(&req)
			if reply.Protocol == 0 {
				reply.Protocol, reply.Version, reply.OK = ipc.Protocol, "v1.2.3", reply.Error == ""
			}
			text, err := json.Marshal(reply)
			if err != nil || ipc.WriteMessage(there, text) != nil {
				return
			}
		}
	}()
	return here, nil
}

// golden holds got against a file that a person reviews.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: scripts read this shape: %s", name, diff)
	}
}

func ptr[T any](v T) *T { return &v }

// busy is a runtime in the middle of everything.
func busy() *ipc.Status {
	at := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	return &ipc.Status{
		PID: 4242, Started: at(90), Protected: true, Lid: "open", Displays: 1,
		OnBattery: ptr(true), Battery: ptr(57.0), Celsius: ptr(61.5),
		Sessions: []ipc.Session{
			{Key: event.SessionKey{Provider: event.Claude, ID: "aaaa"}, State: "tool", Holds: true, Reason: "tool in flight: Bash", Since: at(30), Activity: at(2),
				Cwd: "/home/dev/app", Prompt: "build the world\x1b[31m", Tools: 1, Process: &event.Process{PID: 77, Start: 12345},
				Tasks: []event.Task{{ID: "t1", Type: event.TaskShell}}, Todos: 3},
			{Key: event.SessionKey{Provider: event.MCP, ID: "bbbb", Name: "tool"}, State: "waiting", Reason: "waits for a person", Since: at(20), Activity: at(15),
				SoftLock: "permission_prompt", SoftLocked: at(15)},
		},
		Held: []ipc.Hold{{What: "idle", Confirmed: true, Since: at(30)}, {What: "handle-lid-switch", Error: "polkit says no"}},
	}
}

func TestStatus_shapes(t *testing.T) {
	w := newWorld(t)
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{Status: busy()} }
	code, out, stderr := w.run("status", "--json")
	if code != ExitDone || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	golden(t, "status.json", out)
	_, out, _ = w.run("status")
	golden(t, "status.txt", out)
	if strings.Contains(out, "\x1b") {
		t.Error("an escape of a prompt reached the terminal")
	}
	if len(w.asked) != 2 || w.asked[0].Op != ipc.OpStatus {
		t.Errorf("asked %+v", w.asked)
	}
}

func TestStatus_findings(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply *ipc.Reply
		want  string
	}{
		{"another version", &ipc.Reply{Protocol: ipc.Protocol, Version: "v1.0.0", OK: true, Status: &ipc.Status{Lid: "open"}}, "runtime-version: the runtime is version v1.0.0, this program is v1.2.3"},
		{"another protocol", &ipc.Reply{Protocol: 99, Version: "v9.0.0"}, "runtime-unreachable: the runtime does not answer as it should: the runtime (version \"v9.0.0\") speaks protocol 99"},
		{"a refusal", &ipc.Reply{Error: "no"}, "runtime-unreachable: "},
		{"no lid", &ipc.Reply{Status: &ipc.Status{Lid: "unknown"}}, "lid-unknown: "},
		{"nothing held", &ipc.Reply{Status: &ipc.Status{Lid: "open", Protected: true}}, "lock-not-held: sessions are at work, and nothing keeps the machine awake"},
	} {
		w := newWorld(t)
		w.answers = func(*ipc.Request) *ipc.Reply { return c.reply }
		if code, out, stderr := w.run("status"); code != ExitDone || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d\n%s%s", c.name, code, out, stderr)
		}
	}
	w := newWorld(t)
	run := filepath.Join(w.home, ".local", "state", "lidguard", "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(run, "sock")})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	w.env["LIDGUARD_HOME"] = "" // the folder above
	if _, out, _ := w.run("status"); !strings.Contains(out, "runtime-unreachable: ") {
		t.Errorf("a socket nobody answers on is not told:\n%s", out)
	}
}

// TestStatus_namesTheRuntimeThatHangs: the system knows who listens, whatever it says.
func TestStatus_namesTheRuntimeThatHangs(t *testing.T) {
	dir, err := os.MkdirTemp("", "lg") // sockets have short names
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := endpoint.PrepareDir(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "run", "sock")
	l, err := endpoint.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends when the listener closes
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(conn, "nonsense")
			conn.Close()
		}
	}()
	w := newWorld(t)
	w.reach = func(ctx context.Context, _ string) (net.Conn, error) { return endpoint.Dial(ctx, socket) }
	if _, out, _ := w.run("status"); !strings.Contains(out, fmt.Sprintf("the runtime (process %d) does not answer as it should", os.Getpid())) {
		t.Errorf("the process is not named:\n%s", out)
	}
}

func TestShapes_withoutRuntime(t *testing.T) {
	w := newWorld(t)
	w.machine = Machine{Lid: "closed", Displays: 0, Celsius: &Celsius{41.25, 50, 72}}
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"status-none.json", []string{"status"}, 0},
		{"can-close-none.json", []string{"can-close"}, 0},
		{"lid.json", []string{"current-lid-state"}, 0},
		{"monitors.json", []string{"current-monitor-count"}, 0},
		{"temperature.json", []string{"current-temperature", "high"}, 0},
		{"remove-all.json", []string{"remove-session", "--all"}, 0},
		{"stop.json", []string{"stop", "--session", "x"}, 0},
		{"hook-events.json", []string{"hook-events", "--provider", "claude"}, 0},
		{"hook-status.json", []string{"hook-status", "--provider", "claude"}, 1},
		{"hook-install.json", []string{"hook-install", "--provider", "claude"}, 0},
		{"hook-remove.json", []string{"hook-remove", "--provider", "claude"}, 0},
		{"settings.json", []string{"settings", "--suspend-mode", "none"}, 0},
		{"setup-dry.json", []string{"setup", "--provider", "codex", "--dry-run"}, 0},
		{"uninstall.json", []string{"uninstall", "--yes"}, 0},
		{"doctor.json", []string{"doctor"}, 1},
	} {
		code, out, stderr := w.run(append(c.args, "--json")...)
		if code != c.code || !json.Valid([]byte(out)) {
			t.Errorf("%s: exit %d, %s", c.name, code, stderr)
		}
		golden(t, c.name, strings.ReplaceAll(out, w.home, "/home/dev"))
	}
}

func TestStart_mintsAnID(t *testing.T) {
	w := newWorld(t)
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{} }
	code, out, _ := w.run("start", "--prompt", "do it\nnow")
	if code != ExitDone || !regexp.MustCompile(`^[0-9a-f]{8}\n$`).MatchString(out) {
		t.Fatalf("exit %d, %q", code, out)
	}
	want := event.Signal{Kind: event.Began, Session: event.SessionKey{Provider: event.Custom, ID: event.SessionID(strings.TrimSpace(out))},
		Source: "cli start", Cwd: w.home, Prompt: "do it now"}
	if diff := cmp.Diff([]event.Signal{want}, w.asked[0].Signals); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][]string{{"--session", " x"}, {"--session", "a\nb"}, {"--session", strings.Repeat("x", 201)}, {"--provider", "mcp"}, {"--provider-name", "n"}} {
		if code, _, _ := w.run(append([]string{"start"}, bad...)...); code != ExitUsage {
			t.Errorf("start %q: exit %d", bad, code)
		}
	}
}

func TestStart_launchesOnce(t *testing.T) {
	w := newWorld(t)
	launched := 0
	o := Options{Args: []string{"start", "--session", "x"}, Env: func(n string) string { return w.env[n] }, Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{},
		Now: func() time.Time { return now }, GOOS: "linux", Dial: w.dial}
	o.Launch = func(context.Context, paths.Dirs) error {
		launched++
		w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{} }
		return nil
	}
	for range 2 {
		if code := Main(context.Background(), o); code != ExitDone {
			t.Errorf("exit %d: %s", code, o.Stderr)
		}
	}
	if launched != 1 {
		t.Errorf("launched %d times", launched)
	}
}

func TestCanClose(t *testing.T) {
	work := ipc.Session{Key: event.SessionKey{Provider: event.Claude, ID: "a"}, Holds: true}
	waits := ipc.Session{Key: event.SessionKey{Provider: event.Codex, ID: "b"}, SoftLock: "permission_prompt"}
	held := []ipc.Hold{{What: "idle", Confirmed: true}, {What: "handle-lid-switch", Confirmed: true}}
	for _, c := range []struct {
		name   string
		change func(*ipc.Status, *settings.Settings)
		want   bool
		code   string // of a reason that must be there
	}{
		{"all is held", func(*ipc.Status, *settings.Settings) {}, true, "session-works"},
		{"a session waits for the person", func(st *ipc.Status, _ *settings.Settings) { st.Sessions = append(st.Sessions, waits) }, false, "session-waits"},
		{"nothing works", func(st *ipc.Status, _ *settings.Settings) { st.Sessions, st.Held = nil, nil }, true, "nothing-works"},
		{"a lock is not held", func(st *ipc.Status, _ *settings.Settings) {
			st.Held = []ipc.Hold{{What: "idle"}, {What: "handle-lid-switch", Confirmed: true}}
		}, false, "lock-not-held"},
		{"the lid is not held", func(st *ipc.Status, _ *settings.Settings) { st.Held = st.Held[:1] }, false, "lid-action"},
		{"the lid is not to be held", func(_ *ipc.Status, s *settings.Settings) { s.ChangeLidAction = false }, false, "lid-action"},
		{"macOS names its lid lock otherwise", func(st *ipc.Status, _ *settings.Settings) { st.Held[1].What = "disablesleep" }, true, "lock-held"},
		{"on battery", func(st *ipc.Status, _ *settings.Settings) { st.OnBattery, st.Battery = ptr(true), ptr(50.0) }, true, "battery"},
		{"below the floor", func(st *ipc.Status, _ *settings.Settings) { st.OnBattery, st.Battery = ptr(true), ptr(9.0) }, false, "battery"},
		{"battery not wanted", func(st *ipc.Status, s *settings.Settings) {
			st.OnBattery, st.Battery, s.ProtectOnBattery = ptr(true), ptr(90.0), false
		}, false, "battery"},
		{"too hot", func(st *ipc.Status, _ *settings.Settings) { st.Celsius = ptr(95.0) }, false, "heat"},
		{"warm", func(st *ipc.Status, _ *settings.Settings) { st.Celsius = ptr(88.0) }, true, "heat"},
		{"the runtime found something", func(st *ipc.Status, _ *settings.Settings) {
			st.Findings = []ipc.Finding{{Code: "desktop-handles-lid", Text: "x"}}
		}, false, "desktop-handles-lid"},
		{"a lock is held again", func(st *ipc.Status, _ *settings.Settings) {
			st.Findings = []ipc.Finding{{Code: "hold-gap", Text: "x"}}
		}, true, "hold-gap"},
	} {
		st, s := &ipc.Status{Sessions: []ipc.Session{work}, Held: slices.Clone(held), Protected: true}, settings.Default()
		c.change(st, &s)
		got := canClose(st, s, false, nil)
		if got.CanClose != c.want || !slices.ContainsFunc(got.Reasons, func(r closeReason) bool { return r.Code == c.code }) {
			t.Errorf("%s: %+v, want %v with %s", c.name, got, c.want, c.code)
		}
	}
}

func TestCanClose_exitCode(t *testing.T) {
	w := newWorld(t)
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{Status: busy()} }
	code, out, stderr := w.run("can-close")
	if code != ExitFailed || !strings.HasPrefix(out, "no\n") || stderr != "" {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	golden(t, "can-close.txt", out)
}

// TestSetup_asks plays the person: what is answered decides what is written.
func TestSetup_asks(t *testing.T) {
	for _, c := range []struct {
		name, answers string
		code          int
		wrote, trust  bool
	}{
		{"no", "n\n", ExitFailed, false, false},
		{"nothing", "\n", ExitFailed, false, false},
		{"the terminal is closed", "", ExitFailed, false, false},
		{"yes, without trust", "y\nn\n", ExitFailed, true, false},
		{"yes and yes", "YES\ny\n", ExitFailed, true, true},
		{"yes, then the terminal is closed", "y\n", ExitFailed, true, false},
	} {
		w := newWorld(t)
		w.person, w.stdin = true, c.answers
		// The program does not exist, so the proofs fail and with them the
		// exit code; what is written does not depend on it.
		code, out, stderr := w.run("setup", "--provider", "codex")
		_, err := os.Stat(filepath.Join(w.home, ".codex", "hooks.json"))
		config, _ := os.ReadFile(filepath.Join(w.home, ".codex", "config.toml"))
		trust, server := bytes.Contains(config, []byte("trusted_hash")), bytes.Contains(config, []byte("[mcp_servers.lidguard]"))
		if code != c.code || (err == nil) != c.wrote || trust != c.trust || server != c.wrote {
			t.Errorf("%s: exit %d, hooks.json %v, config.toml:\n%s\n%s%s", c.name, code, err, config, out, stderr)
		}
		if !strings.Contains(out, "+++ ") || !strings.Contains(stderr, "write 2 files? [y/N] ") {
			t.Errorf("%s: no diff before the question", c.name)
		}
		if c.wrote && !strings.Contains(stderr, "Codex runs a hook only after you trusted it") {
			t.Errorf("%s: trust is not explained", c.name)
		}
	}
}

func TestSettings_tellTheRuntime(t *testing.T) {
	w := newWorld(t)
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{} }
	if code, _, stderr := w.run("settings", "--suspend-mode", "none", "--max-tool-minutes=5"); code != ExitDone {
		t.Fatal(stderr)
	}
	if len(w.asked) == 0 || w.asked[0].Op != ipc.OpReload {
		t.Errorf("asked %+v", w.asked)
	}
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{Error: "busy"} }
	code, _, stderr := w.run("settings", "--suspend-mode", "sleep")
	if code != ExitFailed || !strings.Contains(stderr, "the settings are saved, but the runtime did not take them") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestEveryCommand_isDocumented(t *testing.T) {
	a := newApp(Options{Env: func(string) string { return "" }, GOOS: "linux"})
	root := a.root()
	walk(root, func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || c.Example == "" {
			t.Errorf("%s has no short text or example", c.CommandPath())
		}
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("%s is in no group", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			if strings.HasPrefix(strings.TrimSpace(line), "lidguard ") {
				checkExample(t, a, strings.TrimSpace(line))
			}
		}
	})
}

// quoted is one word for a shell, whatever is in it.
var quoted = regexp.MustCompile(`'[^']*'`)

// checkExample holds an example's options and command against what there is.
func checkExample(t *testing.T, a *app, line string) {
	words := strings.Fields(quoted.ReplaceAllString(strings.SplitN(line, "  ", 2)[0], "QUOTED"))[1:]
	cmd, rest, err := a.root().Find(words)
	if err != nil || !cmd.HasParent() {
		t.Errorf("example %q: no such command", line)
		return
	}
	for _, word := range rest {
		if word == "--" {
			break // what follows is another program's
		}
		if name, is := strings.CutPrefix(word, "--"); is {
			name, _, _ = strings.Cut(name, "=")
			if cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
				t.Errorf("example %q: no option --%s", line, name)
			}
		}
	}
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, child := range c.Commands() {
		walk(child, visit)
	}
}

// TestSwitches_areFound: an option that is a switch in one command is one in all,
// since joinSwitches knows the name alone.
func TestSwitches_areFound(t *testing.T) {
	root := newApp(Options{Env: func(string) string { return "" }, GOOS: "linux"}).root()
	names := switches(root)
	for _, name := range []string{"json", "all", "dry-run", "trust-codex-hooks", "limits"} {
		if !names[name] {
			t.Errorf("--%s is a switch and was not found", name)
		}
	}
	walk(root, func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, is := f.Value.(*switchValue); !is && names[f.Name] {
				t.Errorf("%s has --%s with a value, which is a switch elsewhere", c.CommandPath(), f.Name)
			}
		})
	})
}

func TestJoinSwitches(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"remove-session --all true", "remove-session --all=true"},
		{"remove-session --all off --json", "remove-session --all=off --json"},
		{"suspend-history --json 1", "suspend-history --json 1"},
		{"settings --prompt-previews no", "settings --prompt-previews no"},
		{"x -- --all true", "x -- --all true"},
		{"x --all", "x --all"},
	} {
		if got := strings.Join(joinSwitches(strings.Fields(c.in), map[string]bool{"all": true, "json": true}), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"status", "start", "stop", "settings", "setup", "hook-install", "current-temperature"}
	for _, c := range []struct{ in, want string }{
		{"stauts", "status"}, {"strat", "start"}, {"sotp", "stop"}, {"hook-instal", "hook-install"}, {"temperature", "current-temperature"},
		{"setings", "settings"}, {"xyzzy", ""}, {"", ""}, {"s", ""},
	} {
		if got := nearest(c.in, words); got != c.want {
			t.Errorf("nearest(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestParseMoment(t *testing.T) {
	zone := time.FixedZone("X", -5*3600)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 3, d, h, m, s, 0, zone) }
	local := time.Date(2026, 3, 4, 15, 6, 7, 0, zone)
	for _, c := range []struct {
		in   string
		want time.Time
	}{
		{"03:12", day(4, 3, 12, 0)},
		{"15:06:07", day(4, 15, 6, 7)},
		{"23:59", day(3, 23, 59, 0)}, // ahead of now: yesterday's
		{"2026-03-01 03:12", day(1, 3, 12, 0)},
		{"2026-03-01T03:12:01", day(1, 3, 12, 1)},
		{"2026-03-01T03:12:00Z", time.Date(2026, 3, 1, 3, 12, 0, 0, time.UTC)},
		{"90m", local.Add(-90 * time.Minute)},
		{"0s", local},
	} {
		got, err := parseMoment(c.in, local)
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%q: got %v (%v), want %v", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "yesterday", "25:00", "-5m", "12"} {
		if got, err := parseMoment(bad, local); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain ü 日本\ttab", "plain ü 日本\ttab"},
		{"\x1b[31mred\x1b]0;title\x07", "?[31mred?]0;title?"},
		{"bidi\u202eevil", "bidi?evil"},
		{"line\nfeed\rreturn", "line?feed?return"},
		{"bad \xff utf8", "bad ? utf8"},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m", 125 * time.Minute: "2h05m", 50 * time.Hour: "2d"} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestColour(t *testing.T) {
	p := &printer{colour: true}
	if got := p.paint(red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("%q", got)
	}
	if newPrinter(Options{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Env: func(string) string { return "" }}).colour {
		t.Error("colour into a pipe")
	}
}

// TestForm fills the form in as a screen reader's user does, line by line.
func TestForm(t *testing.T) {
	w := newWorld(t)
	w.env["ACCESSIBLE"] = "1"
	w.person = true
	keys := settings.Keys()
	var lines []string
	for _, k := range keys {
		words := k.Choices
		if k.Kind == settings.Bool {
			words = []string{"true", "false"}
		}
		switch {
		case k.Name == "suspend-mode":
			lines = append(lines, "3") // none
		case k.Name == "battery-floor-percent":
			lines = append(lines, "95", "20") // refused first
		case k.Kind == settings.Bool || k.Kind == settings.Choice:
			lines = append(lines, string(rune('1'+slices.Index(words, k.Default()))))
		default:
			lines = append(lines, k.Default())
		}
	}
	w.stdin = strings.Join(lines, "\n") + "\n"
	code, out, stderr := w.run("settings")
	if code != ExitDone || out != "suspend-mode = none\nbattery-floor-percent = 20\n" {
		t.Errorf("exit %d\n%s\n%s", code, out, stderr)
	}
}

// TestAgents_areAnsweredByThisBuild: a hook that this build does not know would
// fail, and with some clients a hook that fails refuses every call.
func TestAgents_areAnsweredByThisBuild(t *testing.T) {
	w := newWorld(t)
	a := newApp(Options{Env: func(name string) string { return w.env[name] }, GOOS: "linux", Executable: "/opt/lidguard"})
	in, err := a.installation()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range a.agents(w.home) {
		plan, err := g.Install(in.program, in.records)
		if err != nil {
			t.Fatal(err)
		}
		word := string(g.Provider()) + "-hook"
		if len(plan.Edits) == 0 || !strings.Contains(string(plan.Edits[0].After), word) || !entry.Is(word) {
			t.Errorf("%s: installed and not answered, or the other way round", word)
		}
	}
}
