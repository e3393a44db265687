//go:build unix

package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
)

// These tests run the real programs, with the fake laptop in place of this
// machine, in a home folder of their own.

var bins string // folder with "old" and "new", each with both programs

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bins")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bins = dir
	for _, version := range []struct{ folder, number string }{{"old", "v1.0.0"}, {"new", "v1.1.0"}} {
		cmd := exec.Command("go", "build", "-ldflags", "-X github.com/lidguard-go/lidguard/internal/ipc.linkedVersion="+version.number,
			"-o", filepath.Join(dir, version.folder)+"/", "github.com/lidguard-go/lidguard/cmd/...")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the programs: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// lab is one user's home with a fake laptop.
type lab struct {
	t       *testing.T
	home    string
	control string
	version string // folder of the programs in use
	extra   []string
	dirs    paths.Dirs
	served  []int // pids that answered; a log of them may be deleted
}

func newLab(t *testing.T) *lab {
	t.Helper()
	dir, err := os.MkdirTemp("", "l") // short: a socket will be in it
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, home: dir, control: filepath.Join(dir, "laptop"), version: "new"}
	// No process above the tests is looked at: the process table is empty,
	// unless a test says otherwise.
	l.extra = []string{"LIDGUARD_ROOT=" + filepath.Join(dir, "root")}
	if l.dirs, err = paths.Resolve(runtime.GOOS, l.getenv); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(l.dirs.Log())
			t.Logf("runtime log:\n%s", log)
		}
		for _, pid := range slices.Compact(slices.Sorted(slices.Values(append(l.runtimes(), l.served...)))) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		os.RemoveAll(dir)
	})
	return l
}

func (l *lab) environ() []string {
	return append([]string{"HOME=" + l.home, "PATH=/usr/bin:/bin", "LIDGUARD_MACHINE=fake:" + l.control}, l.extra...)
}

func (l *lab) getenv(name string) string {
	value := ""
	for _, e := range l.environ() {
		if k, v, _ := strings.Cut(e, "="); k == name {
			value = v
		}
	}
	return value
}

// hook runs one hook event of session id and returns its stdout.
func (l *lab) hook(name, id string, change ...string) string {
	l.t.Helper()
	out, err := l.tryHook(name, id, change...)
	if err != nil {
		l.t.Fatalf("%s: %v", name, err)
	}
	return out
}

func (l *lab) tryHook(name, id string, change ...string) (string, error) {
	cmd := exec.Command(filepath.Join(bins, l.version, "lidguard-hook"), "claude-hook")
	cmd.Env, cmd.Stdin = l.environ(), strings.NewReader(l.payload(name, id, change...))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil && stderr.Len() > 0 {
		err = fmt.Errorf("stderr %q", stderr.String())
	}
	return stdout.String(), err
}

func (l *lab) payload(name, id string, change ...string) string {
	l.t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "claude", name+".json"))
	if err != nil {
		l.t.Fatal(err)
	}
	change = append(change, "00000000-0000-4000-8000-000000000001", id)
	return strings.NewReplacer(change...).Replace(string(b))
}

// laptop puts the fake laptop into a state.
func (l *lab) laptop(c daemon.FakeControl) {
	l.t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := os.MkdirAll(l.control, 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.control, ".new"), b, 0o600); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(l.control, ".new"), filepath.Join(l.control, "laptop.json")); err != nil {
		l.t.Fatal(err)
	}
}

// events is what happened to the laptop so far.
func (l *lab) events() []daemon.FakeEvent {
	data, err := os.ReadFile(filepath.Join(l.control, "laptop.log"))
	if err != nil {
		return nil
	}
	var all []daemon.FakeEvent
	for line := range strings.Lines(string(data)) {
		var e daemon.FakeEvent
		if json.Unmarshal([]byte(line), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

// held is the holds of the runtime with pid.
func (l *lab) held(pid int) []string {
	var held []string
	for _, e := range l.events() {
		if e.PID != pid {
			continue
		}
		switch i := slices.Index(held, e.Hold); {
		case e.What == "hold":
			held = append(held, e.Hold)
		case e.What == "release" && i >= 0:
			held = slices.Delete(held, i, i+1)
		}
	}
	return held
}

// runtimes are the pids of all runtimes that ever used the laptop or logged.
func (l *lab) runtimes() []int {
	var pids []int
	data, _ := os.ReadFile(l.dirs.Log())
	for line := range strings.Lines(string(data)) {
		var entry struct {
			Msg string `json:"msg"`
			PID int    `json:"pid"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "runtime started" {
			pids = append(pids, entry.PID)
		}
	}
	return pids
}

func (l *lab) client() *ipc.Client {
	return &ipc.Client{Version: "v1.1.0", DialTimeout: time.Minute, CallTimeout: time.Minute,
		Dial: func(ctx context.Context) (net.Conn, error) { return endpoint.Dial(ctx, l.dirs.Socket) }}
}

func (l *lab) status() *ipc.Status {
	l.t.Helper()
	reply, err := l.client().Call(l.t.Context(), &ipc.Request{Op: ipc.OpStatus})
	if err != nil {
		l.t.Fatalf("status: %v", err)
	}
	l.served = append(l.served, reply.Status.PID)
	return reply.Status
}

// until waits for what to come true.
func (l *lab) until(what string, is func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("never came true: %s", what)
		}
	}
}

func (l *lab) alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestJourney(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a")
	pid := l.status().PID
	l.until("both holds are taken", func() bool { return len(l.held(pid)) == 2 })
	if got := l.status(); !got.Protected || len(got.Sessions) != 1 || !got.Sessions[0].Holds || !got.Held[0].Confirmed {
		t.Errorf("status while working: %+v", got)
	}
	for range 3 { // a busy turn takes no second hold
		l.hook("PreToolUse", "a")
		l.hook("PostToolUse", "a")
	}
	if got := len(l.events()); got != 2 {
		t.Errorf("%d laptop events after tool calls, want the 2 holds", got)
	}
	l.hook("Stop", "a")
	l.until("the holds are released", func() bool { return len(l.held(pid)) == 0 })
	if got := l.status(); got.Protected || got.PID != pid {
		t.Errorf("status after Stop: %+v", got)
	}
}

func TestCrash_nextEventFindsEverythingAgain(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a", "make x please", "build the thing")
	first := l.status()
	l.until("the holds are taken", func() bool { return len(l.held(first.PID)) == 2 })
	syscall.Kill(first.PID, syscall.SIGKILL)
	l.until("the runtime is dead", func() bool { return !l.alive(first.PID) })

	l.hook("PreToolUse", "a")
	second := l.status()
	if second.PID == first.PID {
		t.Fatal("no new runtime")
	}
	l.until("the holds are taken again", func() bool { return len(l.held(second.PID)) == 2 })
	if len(second.Sessions) != 1 || !second.Sessions[0].Since.Equal(first.Sessions[0].Since) || second.Sessions[0].Prompt != "build the thing" {
		t.Errorf("sessions after the crash: %+v, want those of before: %+v", second.Sessions, first.Sessions)
	}

	syscall.Kill(second.PID, syscall.SIGKILL)
	l.until("the second runtime is dead", func() bool { return !l.alive(second.PID) })
	l.hook("Stop", "a") // an end alone restarts it too, since live sessions were left
	third := l.status().PID
	l.until("the third runtime holds nothing", func() bool { return !l.status().Protected && len(l.held(third)) == 0 })
}

func TestCrash_twelveHooksAtOnceStartOneRuntime(t *testing.T) {
	l := newLab(t)
	var hooks sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		hooks.Go(func() {
			out, err := l.tryHook("UserPromptSubmit", fmt.Sprint("s", i))
			if out != "" {
				err = fmt.Errorf("stdout %q", out)
			}
			errs[i] = err
		})
	}
	hooks.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := l.runtimes(); len(got) != 1 {
		t.Errorf("runtimes that served: %v, want one", got)
	}
	l.until("every prompt became a session", func() bool { return len(l.status().Sessions) == 12 })
}

func TestAgentExit_releases(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the stand-in agent is found through /proc")
	}
	l := newLab(t)
	l.extra = nil // the real process table: the hook's parent is the test's own shell
	prompt := filepath.Join(l.home, "prompt.json")
	if err := os.WriteFile(prompt, []byte(l.payload("UserPromptSubmit", "a")), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := exec.Command("/bin/sh", "-c", `export CLAUDE_PID=$$; "$0" claude-hook < "$1"; echo told; read line`,
		filepath.Join(bins, "new", "lidguard-hook"), prompt)
	agent.Env = l.environ()
	stdin, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	buf := make([]byte, 16)
	if n, err := stdout.Read(buf); err != nil || string(buf[:n]) != "told\n" {
		t.Fatalf("the agent says %q, %v", buf[:n], err)
	}
	st := l.status()
	if len(st.Sessions) != 1 || st.Sessions[0].Process == nil || st.Sessions[0].Process.PID != agent.Process.Pid {
		t.Fatalf("sessions: %+v, want one owned by %d", st.Sessions, agent.Process.Pid)
	}
	l.until("the holds are taken", func() bool { return len(l.held(st.PID)) == 2 })
	agent.Process.Kill()
	agent.Wait()
	l.until("the holds are released", func() bool { return len(l.held(st.PID)) == 0 })

	// The same with the runtime dead at the moment of the exit.
	sleeper := exec.Command("/bin/sh", "-c", `export CLAUDE_PID=$$; "$0" claude-hook < "$1"; echo told; read line`,
		filepath.Join(bins, "new", "lidguard-hook"), prompt)
	sleeper.Env = l.environ()
	in, err := sleeper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := sleeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(buf); err != nil {
		t.Fatal(err)
	}
	l.until("the new owner is saved", func() bool {
		b, _ := os.ReadFile(l.dirs.Sessions())
		return strings.Contains(string(b), fmt.Sprintf(`"pid":%d`, sleeper.Process.Pid))
	})
	syscall.Kill(st.PID, syscall.SIGKILL)
	l.until("the runtime is dead", func() bool { return !l.alive(st.PID) })
	sleeper.Process.Kill()
	sleeper.Wait()
	l.hook("UserPromptSubmit", "b")
	l.until("only the new session is left", func() bool {
		s := l.status().Sessions
		return len(s) == 1 && s[0].Key.ID == "b"
	})
}

func TestHandover_losesNothing(t *testing.T) {
	l := newLab(t)
	l.version = "old"
	l.hook("UserPromptSubmit", "a")
	old := l.status().PID
	l.until("the old one holds", func() bool { return len(l.held(old)) == 2 })
	l.version = "new"
	l.hook("PreToolUse", "a")
	l.until("a newer runtime serves and the old one is gone", func() bool {
		reply, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpStatus})
		return err == nil && reply.Version == "v1.1.0" && !l.alive(old)
	})
	st := l.status()
	if len(st.Sessions) != 1 || st.Sessions[0].Tools != 1 || !st.Protected {
		t.Errorf("status after the hand-over: %+v", st)
	}
	// In the order of the log the laptop is never without a hold.
	held := map[string]int{}
	for i, e := range l.events() {
		switch e.What {
		case "hold":
			held[e.Hold]++
		case "release":
			if held[e.Hold]--; held[e.Hold] == 0 {
				t.Errorf("event %d leaves %q without a holder: %+v", i, e.Hold, l.events())
			}
		}
	}
	// The other way round nothing happens: an older program keeps its hands off.
	l.version = "old"
	l.hook("PostToolUse", "a")
	if got := l.status(); got.PID != st.PID {
		t.Errorf("an older hook replaced runtime %d by %d", st.PID, got.PID)
	}
}

func TestClosedLid_answersForTheAbsentPerson(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a")
	if out := l.hook("PermissionRequest", "a"); out != "" {
		t.Errorf("with the lid open: %q, want silence", out)
	}
	l.until("the open prompt is a soft lock", func() bool { return l.status().Sessions[0].SoftLock != "" })
	l.laptop(daemon.FakeControl{Lid: "closed"})
	l.until("the runtime knows that nobody is there", func() bool { return l.status().Away })
	l.hook("UserPromptSubmit", "b")
	out := l.hook("PermissionRequest", "b")
	if !strings.Contains(out, `"behavior":"deny"`) {
		t.Errorf("with the lid closed: %q, want a denial", out)
	}
	for _, s := range l.status().Sessions {
		if s.Key.ID == "b" && (s.SoftLock != "" || !s.Holds) {
			t.Errorf("an answered prompt counts as waiting: %+v", s)
		}
	}
	// A runtime that is started for the question looks at the lid first.
	pid := l.status().PID
	syscall.Kill(pid, syscall.SIGKILL)
	l.until("the runtime is dead", func() bool { return !l.alive(pid) })
	if out := l.hook("PermissionRequest", "b"); !strings.Contains(out, `"behavior":"deny"`) {
		t.Errorf("with the lid closed and no runtime: %q, want a denial", out)
	}
}

func TestSuspend_afterTheLastSession(t *testing.T) {
	l := newLab(t)
	if err := os.MkdirAll(l.dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.dirs.Settings(), []byte(`{"post-stop-suspend-delay-seconds": 0}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.hook("UserPromptSubmit", "a")
	pid := l.status().PID
	l.until("the holds are taken", func() bool { return len(l.held(pid)) == 2 })
	l.laptop(daemon.FakeControl{Lid: "closed"})
	l.until("away", func() bool { return l.status().Away })
	l.hook("Stop", "a")
	l.until("the laptop sleeps", func() bool {
		return slices.ContainsFunc(l.events(), func(e daemon.FakeEvent) bool { return e.What == "sleep" })
	})
	l.laptop(daemon.FakeControl{Lid: "open", Wakes: 1})
	l.until("the history tells", func() bool {
		b, _ := os.ReadFile(l.dirs.History())
		return strings.Contains(string(b), `"slept"`)
	})
	for i, e := range l.events() {
		if e.What == "sleep" && e.By == "lid" {
			t.Logf("event %d: the system slept by itself, as logind does when the lid hold goes", i)
		}
	}
}

func TestStop_isOrderly(t *testing.T) {
	for _, how := range []string{"SIGTERM", "SIGINT", "request"} {
		l := newLab(t)
		l.hook("UserPromptSubmit", "a")
		pid := l.status().PID
		l.until("the holds are taken", func() bool { return len(l.held(pid)) == 2 })
		switch how {
		case "SIGTERM":
			syscall.Kill(pid, syscall.SIGTERM)
		case "SIGINT":
			syscall.Kill(pid, syscall.SIGINT)
		default:
			if _, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpStop}); err != nil {
				t.Errorf("stop: %v", err)
			}
		}
		l.until(how+" ends the runtime", func() bool { return !l.alive(pid) })
		if held := l.held(pid); len(held) > 0 {
			t.Errorf("%s: %v were not released", how, held)
		}
		if _, err := os.Stat(l.dirs.Socket); !os.IsNotExist(err) {
			t.Errorf("%s: the socket is still there", how)
		}
		l.hook("PreToolUse", "a")
		if got := l.status(); len(got.Sessions) != 1 || !got.Protected {
			t.Errorf("%s: the session is not found again: %+v", how, got)
		}
	}
}

func TestRuntime_refusesWordsItDoesNotKnow(t *testing.T) {
	l := newLab(t)
	for _, args := range [][]string{{"--bogus"}, {"--replace", "now"}, {"--help"}} {
		cmd := exec.Command(filepath.Join(bins, l.version, "lidguard"), append([]string{"runtime"}, args...)...)
		cmd.Env = l.environ()
		out, err := cmd.CombinedOutput()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), fmt.Sprintf("unexpected %q", args[len(args)-1])) {
			t.Errorf("runtime %q: %v\n%s", args, err, out)
		}
	}
	if len(l.runtimes()) != 0 {
		t.Error("one of them ran")
	}
}

func TestLimits(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a")
	pid := l.status().PID

	talk := func(request string) string {
		t.Helper()
		conn, err := endpoint.Dial(t.Context(), l.dirs.Socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(time.Minute))
		go conn.Write([]byte(request)) // ends with the connection
		line, err := ipc.NewReader(conn).Next()
		if err != nil {
			t.Fatalf("no reply to %.60q: %v", request, err)
		}
		return string(line)
	}
	for _, c := range []struct{ name, request, want string }{
		{"oversized", `{"v":1,"op":"signal","x":"` + strings.Repeat("y", ipc.MaxMessage) + "\"}\n", "larger than"},
		{"endless", strings.Repeat("z", 2*ipc.MaxMessage), "larger than"},
		{"no JSON", "hello\n", "no valid message"},
		{"another protocol", `{"v":7,"op":"status"}` + "\n", "speaks protocol 1"},
		{"an operation nobody knows", `{"v":1,"op":"explode"}` + "\n", "no operation"},
		{"a provider nobody knows", `{"v":1,"op":"signal","signals":[{"kind":"began","session":{"provider":"x","session_id":"a"}}]}` + "\n", "no provider"},
		{"a log of a provider with a path in it", `{"v":1,"op":"hook-event","hook":{"time":"2026-01-02T03:04:05Z","provider":"../../x","event":"e"}}` + "\n", "no provider"},
		{"a session without an id", `{"v":1,"op":"signal","signals":[{"kind":"began","session":{"provider":"claude","session_id":""}}]}` + "\n", "session id"},
		{"a release out of nowhere", `{"v":1,"op":"release"}` + "\n", ""},
	} {
		if got := talk(c.request); !strings.Contains(got, c.want) || c.want != "" && strings.Contains(got, `"ok":true`) {
			t.Errorf("%s: reply %q, want one with %q", c.name, got, c.want)
		}
	}
	// More connections than are allowed: those inside go on, later ones are
	// turned away, and the service comes back.
	var open []net.Conn
	for range 100 {
		conn, err := endpoint.Dial(t.Context(), l.dirs.Socket)
		if err != nil {
			break
		}
		open = append(open, conn)
	}
	for _, c := range open {
		c.Close()
	}
	l.until("the service is back", func() bool {
		reply, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpStatus})
		return err == nil && reply.Status.PID == pid && reply.Status.Protected
	})
}

func TestManySessions(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "first")
	pid := l.status().PID
	conn, err := l.client().Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i := range 500 {
		key := event.SessionKey{Provider: event.Custom, ID: event.SessionID(fmt.Sprint("s", i))}
		if _, err := conn.Call(t.Context(), &ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{
			{Kind: event.Began, Session: key, Source: "test", Prompt: "the work of one session among many", Cwd: "/home/dev/project"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.status(); len(got.Sessions) != 501 {
		t.Fatalf("%d sessions, want 501", len(got.Sessions))
	}
	l.until("two holds are taken", func() bool { return len(l.held(pid)) == 2 })
	syscall.Kill(pid, syscall.SIGTERM)
	l.until("the runtime ended", func() bool { return !l.alive(pid) })
	l.hook("PreToolUse", "first")
	if got := len(l.status().Sessions); got != 501 {
		t.Errorf("%d sessions after a restart, want 501", got)
	}
	reply, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpRemove, All: true})
	if err != nil || reply.Removed != 501 {
		t.Errorf("remove all: %+v, %v", reply, err)
	}
}

func TestState_thatCannotBeWrittenChangesNothing(t *testing.T) {
	l := newLab(t)
	l.extra = append(l.extra, "XDG_STATE_HOME=/dev/null/state")
	l.hook("UserPromptSubmit", "a")
	st := l.status()
	t.Cleanup(func() { syscall.Kill(st.PID, syscall.SIGKILL) })
	l.until("the holds are taken", func() bool { return len(l.held(st.PID)) == 2 })
	l.hook("Stop", "a")
	l.until("the holds are released", func() bool { return len(l.held(st.PID)) == 0 })
}

// That a crash would lose sessions is told, as long as it is so.
func TestState_thatCannotBeWrittenIsTold(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a")
	if err := os.Remove(l.dirs.Sessions()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(l.dirs.Sessions(), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	told := func() bool {
		return slices.ContainsFunc(l.status().Findings, func(f ipc.Finding) bool {
			return f.Code == "state-not-saved" && strings.Contains(f.Text, l.dirs.Sessions()) && f.Remedy != ""
		})
	}
	l.hook("UserPromptSubmit", "b")
	l.until("it is told", told)
	if err := os.RemoveAll(l.dirs.Sessions()); err != nil {
		t.Fatal(err)
	}
	l.hook("UserPromptSubmit", "c")
	l.until("it is told no longer", func() bool { return !told() })
}

func TestState_thatIsTornIsSetAside(t *testing.T) {
	l := newLab(t)
	if err := os.MkdirAll(l.dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.dirs.Sessions(), []byte(`{"live":true,"core":{"sch`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.hook("UserPromptSubmit", "a")
	if got := l.status(); len(got.Sessions) != 1 {
		t.Errorf("sessions: %+v", got.Sessions)
	}
	if _, err := os.Stat(l.dirs.Sessions() + ".bad"); err != nil {
		t.Errorf("the torn file was not kept: %v", err)
	}
}

func TestTranscript_interruptEndsTheTurn(t *testing.T) {
	l := newLab(t)
	transcript := filepath.Join(l.home, "t.jsonl")
	const fixture = "/home/dev/.claude/projects/-home-dev-project/00000000-0000-4000-8000-000000000001.jsonl"
	l.hook("UserPromptSubmit", "a", fixture, transcript)
	pid := l.status().PID
	l.until("the holds are taken", func() bool { return len(l.held(pid)) == 2 })
	l.interrupted(transcript, pid)
}

// interrupted waits until an interrupt in the transcript releases the holds. It is
// appended until it is seen: when the runtime begins to read is not told, and what
// stands there by then is history to it.
func (l *lab) interrupted(transcript string, pid int) {
	l.t.Helper()
	marker := `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"uuid":"x"}`
	l.until("an interrupt in the transcript releases the holds", func() bool {
		f, err := os.OpenFile(transcript, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			l.t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprintln(f, marker)
		time.Sleep(50 * time.Millisecond)
		return len(l.held(pid)) == 0
	})
}

func TestTranscript_thatNoEventNamedIsFound(t *testing.T) {
	l := newLab(t)
	const fixture = "/home/dev/.claude/projects/-home-dev-project/00000000-0000-4000-8000-000000000001.jsonl"
	project := filepath.Join(l.home, ".claude", "projects", "-home-dev-project")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(project, "a.jsonl")
	if err := os.WriteFile(transcript, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.hook("UserPromptSubmit", "a", fixture, "")
	pid := l.status().PID
	l.until("the holds are taken", func() bool { return len(l.held(pid)) == 2 })
	l.interrupted(transcript, pid)
}

func TestJournal_replaysToTheSameDecisions(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a")
	pid := l.status().PID
	l.hook("PreToolUse", "a")
	l.hook("PostToolUse", "a")
	l.hook("Stop", "a", `"last_assistant_message": "`, `"last_assistant_message": "a secret `)
	l.until("the holds are released", func() bool { return len(l.held(pid)) == 0 })
	data, err := os.ReadFile(l.dirs.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "a secret") {
		t.Error("the journal keeps what the assistant said")
	}
	start, config, records, err := daemon.ReadJournal(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	core, _, wrong, err := daemon.Replay(start, config, records)
	if err != nil || len(wrong) > 0 {
		t.Fatalf("replay: %v, differs at %+v", err, wrong)
	}
	if s := core.Status(); s.Protected || len(records) < 8 {
		t.Errorf("after %d records: %+v", len(records), s)
	}
}

// Receivers that hang, with real sockets: the locks go and requests are answered
// while the receiver still has the connection, and the machine sleeps although its
// PreSuspend never got an answer.
func TestWebhook_thatHangsHoldsNothingUp(t *testing.T) {
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	calls := make(chan net.Conn, 10)
	go func() { // ends with the listener
		for {
			conn, err := deaf.Accept()
			if err != nil {
				return
			}
			calls <- conn
		}
	}()
	l := newLab(t)
	address := "http://" + deaf.Addr().String()
	settings := fmt.Sprintf(`{"post-stop-suspend-delay-seconds": 0, "pre-suspend-webhook-url": %q, "post-session-end-webhook-url": %q}`, address, address)
	if err := errors.Join(os.MkdirAll(l.dirs.Config, 0o700), os.WriteFile(l.dirs.Settings(), []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}

	l.hook("UserPromptSubmit", "a")
	pid := l.status().PID
	l.until("the holds are taken", func() bool { return len(l.held(pid)) == 2 })
	l.hook("Stop", "a")
	conn := <-calls // PostSessionEnd, and no answer
	l.until("the holds are gone", func() bool { return len(l.held(pid)) == 0 })
	// The receiver still has the call; given up, it would have ended.
	if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the holds went only after the webhook was given up: %v", err)
	}
	l.hook("UserPromptSubmit", "b")
	l.until("the next session is held", func() bool { return len(l.held(pid)) == 2 })
	conn.Close()

	l.laptop(daemon.FakeControl{Lid: "closed"})
	l.until("away", func() bool { return l.status().Away })
	l.hook("Stop", "b")
	conn = <-calls // PreSuspend
	defer conn.Close()
	l.until("the laptop sleeps", func() bool {
		return slices.ContainsFunc(l.events(), func(e daemon.FakeEvent) bool { return e.What == "sleep" })
	})
}

// Settings may be edited by hand, and a file that cannot be read means the defaults.
func TestSettings_editedByHandCount(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a")
	if err := os.MkdirAll(l.dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string // "": none
		want int    // locks
	}{{`{"change-lid-action": false}`, 1}, {`{"change-lid-action": fals`, 2}, {`{"change-lid-action": false, "prevent-system-sleep": "off"}`, 0}, {"", 2}} {
		if err := os.Remove(l.dirs.Settings()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if c.file != "" {
			if err := os.WriteFile(l.dirs.Settings(), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pid := l.status().PID
		l.until(fmt.Sprintf("%d locks by the file %q", c.want, c.file), func() bool { return len(l.held(pid)) == c.want })
	}
}

// Whoever deletes the socket or the folders around it leaves a runtime that nobody can
// reach: it comes back, or leaves to the one that a hook started meanwhile.
func TestSocket_thatIsDeletedComesBack(t *testing.T) {
	ways := map[string]func(*lab) error{
		"the run folder":        func(l *lab) error { return os.RemoveAll(l.dirs.Run) },
		"the run folder, moved": func(l *lab) error { return os.Rename(l.dirs.Run, l.dirs.Run+".old") },
		"the state folder":      func(l *lab) error { return os.RemoveAll(l.dirs.State) },
	}
	if runtime.GOOS != "darwin" { // there it is no event
		ways["the socket"] = func(l *lab) error { return os.Remove(l.dirs.Socket) }
	}
	for name, remove := range ways {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.hook("UserPromptSubmit", "a")
			pid := l.status().PID
			l.until("the holds are taken", func() bool { return len(l.held(pid)) == 2 })
			if err := remove(l); err != nil {
				t.Fatal(err)
			}
			l.until("it is reached again", func() bool {
				reply, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpStatus})
				return err == nil && reply.Status.PID == pid && len(reply.Status.Sessions) == 1
			})
			if held := l.held(pid); len(held) != 2 {
				t.Errorf("held %v", held)
			}
			l.hook("UserPromptSubmit", "b")
			if st := l.status(); st.PID != pid || len(st.Sessions) != 2 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// A hook that comes before it is back starts another one; in the end there is one.
func TestSocket_thatIsDeletedAndTakenByAnother(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "a")
	old := l.status().PID
	if err := os.RemoveAll(l.dirs.State); err != nil {
		t.Fatal(err)
	}
	l.hook("UserPromptSubmit", "b")
	pid := l.status().PID
	l.until("the other one let go and left", func() bool { return pid == old || len(l.held(old)) == 0 && !l.alive(old) })
	l.until("the one that serves holds", func() bool { return len(l.held(pid)) == 2 })
	if st := l.status(); st.PID != pid {
		t.Errorf("status %+v", st)
	}
}
