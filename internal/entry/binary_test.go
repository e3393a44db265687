package entry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// The programs under test, built once.
var thin, full string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "entry")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// In folders of their own: the thin one must not find a runtime beside it.
	thin, full = filepath.Join(dir, "thin", "lidguard-hook"), filepath.Join(dir, "full", "lidguard")
	if runtime.GOOS == "windows" {
		thin, full = thin+".exe", full+".exe"
	}
	for program, pkg := range map[string]string{thin: "lidguard-hook", full: "lidguard"} {
		if out, err := exec.Command("go", "build", "-o", program, "github.com/lidguard-go/lidguard/cmd/"+pkg).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building %s: %v\n%s", pkg, err, out)
			return 1
		}
	}
	return m.Run()
}

func payload(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// home is a home folder of the test's own, with a short name since a socket will
// be in it, and the environment that goes with it.
func home(t *testing.T) (string, []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	root := filepath.Join(dir, "root") // no process above the hook is looked at
	if err := os.MkdirAll(filepath.Join(root, "proc"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"HOME=" + dir, "USERPROFILE=" + dir, "LOCALAPPDATA=" + dir, "APPDATA=" + dir, "PATH=" + dir,
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "LIDGUARD_ROOT=" + root, "DBUS_SYSTEM_BUS_ADDRESS=unix:path=" + dir + "/nobus"}
}

func socketOf(t *testing.T, home string) string {
	t.Helper()
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home, "LOCALAPPDATA": home, "APPDATA": home}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs.Socket
}

// listen stands in for a runtime; each connection is given to talk.
func listen(t *testing.T, socket string, talk func(net.Conn)) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); talk(conn) }()
		}
	}()
}

// TestHook_neverBreaksTheAgent runs the real programs through everything that
// can go wrong around them: exit 0, not a byte on stdout or stderr, and no longer
// than a hook may take.
func TestHook_neverBreaksTheAgent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in runtimes here are Unix sockets")
	}
	prompt := string(payload(t, "UserPromptSubmit"))
	huge := prompt[:len(prompt)-2] + `,"x":"` + strings.Repeat("y", entry.MaxPayload) + `"}`
	cases := []struct {
		name  string
		stdin string
		setup func(t *testing.T, cmd *exec.Cmd, home string)
	}{
		{name: "no runtime and none to start", stdin: prompt},
		{name: "empty stdin", stdin: ""},
		{name: "garbage", stdin: "\x00\xff not json"},
		{name: "half a payload", stdin: prompt[:len(prompt)/2]},
		{name: "an array", stdin: "[1,2]"},
		{name: "an event nobody knows", stdin: `{"session_id":"s","hook_event_name":"FromTheFuture"}`},
		{name: "more than 8 MiB", stdin: huge},
		{name: "split at 64 KiB", stdin: prompt[:len(prompt)-2] + `,"x":"` + strings.Repeat("y", 100_000) + `"}`},
		{name: "closed stdin", setup: func(_ *testing.T, cmd *exec.Cmd, _ string) {
			cmd.Args = append([]string{"/bin/sh", "-c", `exec "$0" "$@" <&-`}, cmd.Args...)
			cmd.Path = "/bin/sh"
		}},
		{name: "stdin that stays open and silent", setup: func(t *testing.T, cmd *exec.Cmd, _ string) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close(); w.Close() })
			cmd.Stdin = r
		}},
		{name: "no home folder", stdin: prompt, setup: func(_ *testing.T, cmd *exec.Cmd, _ string) { cmd.Env = []string{"PATH=/nowhere"} }},
		{name: "a home folder that cannot be written", stdin: prompt, setup: func(_ *testing.T, cmd *exec.Cmd, _ string) {
			cmd.Env = append(cmd.Env, "HOME=/dev/null/home")
		}},
		{name: "a socket that nobody listens on", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			socket := socketOf(t, home)
			if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
				t.Fatal(err)
			}
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			l.Close()
		}},
		{name: "a socket folder that others may enter", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			if err := os.MkdirAll(filepath.Dir(socketOf(t, home)), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a runtime that hangs", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			listen(t, socketOf(t, home), func(c net.Conn) { io.Copy(io.Discard, c) })
		}},
		{name: "a runtime that hangs up", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			listen(t, socketOf(t, home), func(net.Conn) {})
		}},
		{name: "a runtime that talks nonsense", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			listen(t, socketOf(t, home), func(c net.Conn) { io.WriteString(c, "{\"v\":1,\n"); io.Copy(io.Discard, c) })
		}},
		{name: "a runtime without end", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			listen(t, socketOf(t, home), func(c net.Conn) {
				for b := bytes.Repeat([]byte("x"), 64<<10); ; {
					if _, err := c.Write(b); err != nil {
						return
					}
				}
			})
		}},
		{name: "a runtime of another protocol", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			listen(t, socketOf(t, home), func(c net.Conn) { io.WriteString(c, `{"v":99,"version":"v9","ok":false}`+"\n"); io.Copy(io.Discard, c) })
		}},
		{name: "a runtime that refuses", stdin: prompt, setup: func(t *testing.T, _ *exec.Cmd, home string) {
			listen(t, socketOf(t, home), func(c net.Conn) {
				io.WriteString(c, `{"v":1,"version":"v1","ok":false,"error":"no"}`+"\n")
				io.Copy(io.Discard, c)
			})
		}},
		{name: "a question to a runtime that hangs", stdin: string(payload(t, "PermissionRequest")), setup: func(t *testing.T, _ *exec.Cmd, home string) {
			listen(t, socketOf(t, home), func(c net.Conn) { io.Copy(io.Discard, c) })
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir, env := home(t)
			cmd := exec.Command(thin, "claude-hook")
			cmd.Env = env
			if c.setup == nil || c.stdin != "" {
				cmd.Stdin = strings.NewReader(c.stdin)
			}
			if c.setup != nil {
				c.setup(t, cmd, dir)
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			began := time.Now()
			err := cmd.Run()
			took := time.Since(began)
			// An oversized payload is left unread; whoever writes it sees EPIPE.
			if err != nil && !(len(c.stdin) > entry.MaxPayload && cmd.ProcessState.ExitCode() == 0) {
				t.Errorf("exit: %v, want 0", err)
			}
			if stdout.Len() > 0 || stderr.Len() > 0 {
				t.Errorf("stdout %q, stderr %q, want silence", stdout.String(), stderr.String())
			}
			if took > time.Minute { // the promise is a second; a loaded machine gets more
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestHook_listenersThatWentAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs /bin/sh")
	}
	_, env := home(t)
	for name, script := range map[string]string{
		"stdout closed":           `exec "$0" claude-hook < "$1" >&-`,
		"stdout and stderr":       `exec "$0" claude-hook < "$1" >&- 2>&-`,
		"stdout is a broken pipe": `{ sleep 0.1; "$0" claude-hook < "$1"; echo $? >&2; } | true`,
	} {
		cmd := exec.Command("/bin/sh", "-c", script, thin, filepath.Join("testdata", "PermissionRequest.json"))
		cmd.Env = append(env, "PATH=/usr/bin:/bin")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != "" && got != "0" {
			t.Errorf("%s: %v, output %q, want exit 0 and nothing", name, err, got)
		}
	}
}

// A disk that takes nothing more: every write to a file fails, and the hook has
// something to write, since there is no runtime.
func TestHook_fullDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs /bin/sh")
	}
	dir, env := home(t)
	written := func() (bytes int64) {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if info, err := d.Info(); err == nil && d.Type().IsRegular() {
				bytes += info.Size()
			}
			return nil
		})
		return bytes
	}
	// Without the trap the first write would be a signal.
	for _, c := range []struct {
		script string
		writes bool
	}{{`trap '' XFSZ; ulimit -f 0; exec "$0" claude-hook < "$1"`, false}, {`exec "$0" claude-hook < "$1"`, true}} {
		before := written()
		for _, name := range []string{"UserPromptSubmit", "PermissionRequest", "Stop"} {
			cmd := exec.Command("/bin/sh", "-c", c.script, thin, filepath.Join("testdata", name+".json"))
			cmd.Env = append(env, "PATH=/usr/bin:/bin")
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v, output %q, want exit 0 and nothing", name, err, out)
			}
		}
		if n := written() - before; n > 0 != c.writes {
			t.Errorf("%s: %d bytes were written", c.script, n)
		}
	}
}

// A runtime that cannot start must not cost every event the whole patience.
func TestHook_aRuntimeThatFailsIsNotWaitedFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs /bin/sh")
	}
	dir, env := home(t)
	count := filepath.Join(dir, "starts")
	if err := os.WriteFile(filepath.Join(dir, "lidguard"), []byte("#!/bin/sh\necho x >> "+count+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(env []string) {
		t.Helper()
		cmd := exec.Command(thin, "claude-hook")
		cmd.Env, cmd.Stdin = env, bytes.NewReader(payload(t, "UserPromptSubmit"))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v, output %q", err, out)
		}
	}
	run(env)
	log, err := os.ReadFile(filepath.Join(dir, ".local", "state", "lidguard", "hook-events", "claude.jsonl"))
	if err != nil || !strings.Contains(string(log), "ended with an error") {
		t.Errorf("the log says %q, %v", log, err)
	}
	run(append(env, "HOME=/dev/null/home")) // nor is one started that could only fail
	if starts, err := os.ReadFile(count); err != nil || string(starts) != "x\n" {
		t.Errorf("starts: %q, %v, want one", starts, err)
	}
}

// Both programs are the same code; this holds them to the same bytes.
func TestHook_bothProgramsAnswerAlike(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in runtime here is a Unix socket")
	}
	dir, env := home(t)
	listen(t, socketOf(t, dir), func(c net.Conn) {
		io.WriteString(c, `{"v":1,"version":"v1","ok":true,"away":{"lid":"closed","displays":0,"away":true}}`+"\n")
		io.Copy(io.Discard, c)
	})
	for _, name := range []string{"PermissionRequest", "PreToolUse", "Stop", "UserPromptSubmit"} {
		var outs []string
		for _, program := range []string{thin, full} {
			cmd := exec.Command(program, "claude-hook")
			cmd.Env, cmd.Stdin = env, bytes.NewReader(payload(t, name))
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			outs = append(outs, fmt.Sprintf("%v\n%s\n%s", err, stdout.String(), stderr.String()))
		}
		if outs[0] != outs[1] {
			t.Errorf("%s: lidguard-hook says %q, lidguard %q", name, outs[0], outs[1])
		}
		if denies := strings.Contains(outs[0], `"deny"`); denies != (name == "PermissionRequest") {
			t.Errorf("%s with the lid closed: %q", name, outs[0])
		}
	}
}

func TestRun_unknownEntryIsNoBlock(t *testing.T) {
	var stderr bytes.Buffer
	for _, args := range [][]string{nil, {"no-such-hook"}} {
		code := entry.Run(args, entry.Env{}, strings.NewReader(""), io.Discard, &stderr)
		if code != 1 {
			t.Errorf("Run(%q) = %d, want 1: 2 would block the agent", args, code)
		}
	}
	if !strings.Contains(stderr.String(), "hint:") {
		t.Errorf("stderr %q has no hint", stderr.String())
	}
}

// A person at a terminal who types a hook entry with --help is told what it is, at
// once and not when standard input ends.
func TestRun_help(t *testing.T) {
	for _, name := range []string{"claude-hook", "codex-hook", "copilot-hook", "opencode-hook", entry.WakeEntry} {
		for _, flag := range []string{"--help", "-h"} {
			var stdout, stderr bytes.Buffer
			code := entry.Run([]string{name, flag}, entry.Env{}, iotest.ErrReader(errors.New("it was read")), &stdout, &stderr)
			if code != 0 || !strings.HasPrefix(stdout.String(), "lidguard "+name+" - ") || stderr.Len() > 0 {
				t.Errorf("%s %s: exit %d\n%s%s", name, flag, code, &stdout, &stderr)
			}
		}
	}
}

// TestDependencies holds what every event of every agent pays for.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/lidguard-go/lidguard/cmd/lidguard-hook").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, forbidden := range []struct{ path, reason string }{
			{"net/http", "0.6 ms of start-up; only the runtime calls webhooks"},
			{"crypto/tls", "comes with net/http and its tables"},
			{"log/slog", "a hook has no log of its own"},
			{"text/template", "nothing here is rendered"},
			{"github.com/spf13/", "the command line framework belongs to people's commands"},
			{"github.com/modelcontextprotocol/", "1.4 ms of start-up; MCP servers are commands of their own"},
			{"github.com/godbus/", "only the runtime talks to the bus"},
			{"github.com/fsnotify/", "only the runtime watches files"},
			{"charm.land/", "screens belong to people's commands"},
			{"github.com/lidguard-go/lidguard/internal/daemon", "the runtime is another process"},
			{"github.com/lidguard-go/lidguard/internal/cli", "commands for people"},
		} {
			if dep == forbidden.path || strings.HasPrefix(dep, forbidden.path+"/") || strings.HasSuffix(forbidden.path, "/") && strings.HasPrefix(dep, forbidden.path) {
				t.Errorf("the hook program links %s: %s", dep, forbidden.reason)
			}
		}
	}
}

// TestDependencies_ownRegexp: the shell parser's printer brings regexp and compiles
// two patterns at start (mvdan.cc/sh/v3/fileutil); nothing of ours may add to it.
// What has expressions of a rulebook or a ruleset compiles them on demand.
func TestDependencies_ownRegexp(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Imports}}", "github.com/lidguard-go/lidguard/cmd/lidguard-hook").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	onDemand := []string{"github.com/lidguard-go/lidguard/internal/policy", "github.com/lidguard-go/lidguard/internal/policy/redact"}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "github.com/lidguard-go/") && !slices.Contains(onDemand, name) && slices.Contains(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" []\n", r) }), "regexp") {
			t.Errorf("patterns compile at start; the hot path matches by hand: %s", line)
		}
	}
}

// world is an Env whose runtime is a function.
func world(t *testing.T, dir string, dial func() (net.Conn, error)) (entry.Env, *[][]string) {
	t.Helper()
	var started [][]string
	return entry.Env{OS: runtime.GOOS, Now: time.Now, Executable: filepath.Join(dir, "lidguard"),
		Getenv: func(name string) string {
			return map[string]string{"HOME": dir, "USERPROFILE": dir, "LOCALAPPDATA": dir, "APPDATA": dir}[name]
		},
		Environ: []string{"HOME=" + dir, "ANTHROPIC_API_KEY=secret", "LIDGUARD_MACHINE=fake:x", "LC_ALL=C", "PATHOLOGICAL=1"},
		Dial:    func(context.Context, string) (net.Conn, error) { return dial() },
		Owner:   func(int) *event.Process { return &event.Process{PID: 7, Start: 9} },
		Start: func(program string, argv, environ []string, dir string) (int, error) {
			started = append(started, append(argv, environ...))
			return 1, nil
		}}, &started
}

func TestRun_startsARuntimeOnlyForWork(t *testing.T) {
	for _, c := range []struct {
		event string
		left  string // sessions file of a dead runtime
		want  bool
	}{
		{"UserPromptSubmit", "", true},
		{"PreToolUse", "", true},
		{"PostToolUse", "", true},
		{"PermissionRequest", "", true},
		{"SessionStart", "", false},
		{"Stop", "", false},
		{"Stop", `{"live":false,"core":{}}`, false},
		{"Stop", `{"live":true,"core":{}}`, true},
		{"SessionStart", `{"live":true,"core":{}}`, true},
	} {
		dir, _ := home(t)
		if err := os.WriteFile(filepath.Join(dir, "lidguard"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
		env, started := world(t, dir, func() (net.Conn, error) { return nil, errors.New("refused") })
		dirs, err := paths.Resolve(env.OS, env.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		if c.left != "" {
			if err := os.MkdirAll(dirs.State, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dirs.Sessions(), []byte(c.left), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		if code := entry.Run([]string{"claude-hook"}, env, bytes.NewReader(payload(t, c.event)), &stdout, &stderr); code != 0 || stdout.Len()+stderr.Len() > 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.event, code, &stdout, &stderr)
		}
		if got := len(*started) > 0; got != c.want {
			t.Errorf("%s with %q left: started %v, want %v", c.event, c.left, got, c.want)
		}
		for _, words := range *started {
			line := strings.Join(words, " ")
			if strings.Contains(line, "secret") || strings.Contains(line, "PATHOLOGICAL") {
				t.Errorf("%s: the runtime was given %q", c.event, line)
			}
			if !strings.Contains(line, " runtime ") || !strings.Contains(line, "LIDGUARD_MACHINE=") || !strings.Contains(line, "LC_ALL=") {
				t.Errorf("%s: the runtime was started as %q", c.event, line)
			}
		}
	}
}
