// Command bench measures what lidguard costs: the real hook program against a
// bare Go program that does the same input and output (bench/bare), a hook of the
// SDK (bench/sdkhook) against one by hand (bench/barehook), the gate against a bare
// program with the same parser (bench/baregate), all packs, and the runtime at rest. Run it
// with `go run ./bench` on an otherwise idle machine; it
// prints tables and judges nothing. Everything runs in a temporary home folder
// against the fake laptop.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
)

func main() {
	runs := flag.Int("runs", 200, "runs of each program per event")
	rest := flag.Duration("rest", 20*time.Second, "how long each look at the runtime at rest takes")
	flag.Parse()
	if err := bench(os.Stdout, *runs, *rest); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// lab is where everything runs.
type lab struct {
	dir, hook, bare, program string
	sdk, bareHook            string // a hook of the SDK, and the same by hand
	bareGate                 string // what the gate is measured against
	env                      []string
	dirs                     paths.Dirs
	echo                     string // a socket that answers every line, for bare
}

func bench(out io.Writer, runs int, rest time.Duration) error {
	l, cleanup, err := build()
	if err != nil {
		return err
	}
	defer cleanup()
	fmt.Fprintf(out, "%s/%s, %d processors, %s; interleaved, %d runs each; times in ms\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs)

	stop, err := l.start()
	if err != nil {
		return err
	}
	defer stop()
	if err := l.events(out, runs); err != nil {
		return err
	}
	if err := l.strangers(out, runs); err != nil {
		return err
	}
	if err := l.gate(out, runs); err != nil {
		return err
	}
	if err := l.telemetry(out, runs); err != nil {
		return err
	}
	if err := l.allPacks(out, runs); err != nil {
		return err
	}
	if err := l.parallel(out, max(runs/10, 3)); err != nil {
		return err
	}
	stop()
	if err := l.coldStart(out, max(runs/10, 3)); err != nil {
		return err
	}
	return l.atRest(out, rest)
}

func build() (*lab, func(), error) {
	dir, err := os.MkdirTemp("", "lgb")
	if err != nil {
		return nil, nil, err
	}
	cleanup := func() { os.RemoveAll(dir) }
	l := &lab{dir: dir, hook: filepath.Join(dir, "bin", "lidguard-hook"), program: filepath.Join(dir, "bin", "lidguard"), bare: filepath.Join(dir, "bin", "bare"),
		sdk: filepath.Join(dir, "bin", "sdkhook"), bareHook: filepath.Join(dir, "bin", "barehook"),
		bareGate: filepath.Join(dir, "bin", "baregate")}
	for program, pkg := range map[string]string{l.hook: "cmd/lidguard-hook", l.program: "cmd/lidguard", l.bare: "bench/bare", l.sdk: "bench/sdkhook", l.bareHook: "bench/barehook", l.bareGate: "bench/baregate"} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "github.com/lidguard-go/lidguard/"+pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
		if text, err := cmd.CombinedOutput(); err != nil {
			cleanup()
			return nil, nil, fmt.Errorf("building %s: %w\n%s", pkg, err, text)
		}
	}
	root := filepath.Join(dir, "root")
	if err := os.MkdirAll(filepath.Join(root, "proc"), 0o700); err != nil {
		cleanup()
		return nil, nil, err
	}
	l.env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "LIDGUARD_MACHINE=fake:" + filepath.Join(dir, "laptop"), "LIDGUARD_ROOT=" + root}
	l.dirs, err = paths.Resolve(runtime.GOOS, func(name string) string {
		for _, e := range l.env {
			if k, v, _ := strings.Cut(e, "="); k == name {
				return v
			}
		}
		return ""
	})
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	// bare talks to a peer that does as little as can be done.
	l.echo = filepath.Join(dir, "echo")
	listener, err := net.Listen("unix", l.echo)
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	go func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := ipc.NewReader(conn).Next(); err == nil {
					io.WriteString(conn, `{"v":1,"version":"devel","ok":true}`+"\n")
				}
			}()
		}
	}()
	return l, func() { listener.Close(); cleanup() }, nil
}

// start runs a runtime until the function returned is called, which may be twice.
func (l *lab) start() (func(), error) {
	cmd := exec.Command(l.program, "runtime")
	cmd.Env, cmd.Stderr = l.env, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := sync.OnceFunc(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	for range 1000 {
		if _, err := l.call(&ipc.Request{Op: ipc.OpAway}); err == nil {
			return stop, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	return nil, errors.New("the runtime does not answer")
}

func (l *lab) call(req *ipc.Request) (*ipc.Reply, error) {
	c := &ipc.Client{Version: "bench", CallTimeout: 5 * time.Second, Dial: func(ctx context.Context) (net.Conn, error) { return endpoint.Dial(ctx, l.dirs.Socket) }}
	return c.Call(context.Background(), req)
}

// cost is one run of a program.
type cost struct{ wall, cpu time.Duration }

func (l *lab) run(payload []byte, program string, args ...string) (cost, error) {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdin = l.env, bytes.NewReader(payload)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		return cost{}, fmt.Errorf("%s %v: %w\n%s", program, args, err, stderr.String())
	}
	return cost{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

func payload(name string, extra int) []byte {
	fields := map[string]any{
		"session_id": "00000000-0000-4000-8000-000000000001", "transcript_path": "/nonexistent/t.jsonl", "cwd": "/home/dev/project",
		"hook_event_name": name, "permission_mode": "default", "prompt_id": "00000000-0000-4000-8000-000000000002",
	}
	switch name {
	case "UserPromptSubmit":
		fields["prompt"] = "please fix the failing test in the parser package"
	case "PreToolUse", "PostToolUse":
		fields["tool_name"], fields["tool_use_id"] = "Bash", "toolu_000000000000000000000001"
		fields["tool_input"] = map[string]string{"command": "go test ./...", "description": "run the tests"}
		if name == "PostToolUse" {
			fields["tool_response"] = map[string]any{"stdout": strings.Repeat("ok  \tgithub.com/x/y\t0.012s\n", extra/25), "stderr": "", "interrupted": false, "isImage": false}
		}
	case "Stop":
		fields["stop_hook_active"], fields["last_assistant_message"] = false, "All tests pass."
		fields["background_tasks"], fields["session_crons"] = []any{}, []any{}
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings marshal
	}
	return b
}

// events compares both programs event by event, taking turns.
func (l *lab) events(out io.Writer, runs int) error {
	fmt.Fprintf(out, "%-28s %26s %26s %17s\n", "one event", "lidguard-hook", "bare", "ratio")
	fmt.Fprintf(out, "%-28s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "p50", "p95", "cpu", "p50", "p95", "cpu", "wall", "cpu")
	for _, c := range []struct {
		label string
		name  string
		extra int
	}{
		{"UserPromptSubmit", "UserPromptSubmit", 0}, {"PreToolUse", "PreToolUse", 0}, {"PostToolUse, 2 KB", "PostToolUse", 2 << 10},
		{"PostToolUse, 400 KB", "PostToolUse", 400 << 10}, {"Stop", "Stop", 0},
	} {
		body := payload(c.name, c.extra)
		var ours, theirs []cost
		for i := range runs + 5 {
			a, err := l.run(body, l.hook, "claude-hook")
			if err != nil {
				return err
			}
			b, err := l.run(body, l.bare, l.echo)
			if err != nil {
				return err
			}
			if i >= 5 { // the first warm the caches
				ours, theirs = append(ours, a), append(theirs, b)
			}
		}
		a, b := sum(ours), sum(theirs)
		fmt.Fprintf(out, "%-28s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx\n", c.label, a.p50, a.p95, a.cpu, b.p50, b.p95, b.cpu, a.p50/b.p50, a.cpu/b.cpu)
	}
	fmt.Fprintln(out)
	return nil
}

// strangers compares a hook written with the SDK with one written by hand.
func (l *lab) strangers(out io.Writer, runs int) error {
	fmt.Fprintf(out, "%-28s %26s %26s %17s\n", "a hook of one's own", "with the SDK", "by hand", "ratio")
	fmt.Fprintf(out, "%-28s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "p50", "p95", "cpu", "p50", "p95", "cpu", "wall", "cpu")
	refused := bytes.ReplaceAll(payload("PreToolUse", 0), []byte("go test ./..."), []byte("git push"))
	for _, c := range []struct {
		label string
		body  []byte
	}{{"PreToolUse, let pass", payload("PreToolUse", 0)}, {"PreToolUse, refused", refused}, {"PostToolUse, 400 KB", payload("PostToolUse", 400<<10)}} {
		var ours, theirs []cost
		for i := range runs + 5 {
			a, err := l.run(c.body, l.sdk, "--provider", "claude")
			if err != nil {
				return err
			}
			b, err := l.run(c.body, l.bareHook)
			if err != nil {
				return err
			}
			if i >= 5 {
				ours, theirs = append(ours, a), append(theirs, b)
			}
		}
		a, b := sum(ours), sum(theirs)
		fmt.Fprintf(out, "%-28s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx\n", c.label, a.p50, a.p95, a.cpu, b.p50, b.p95, b.cpu, a.p50/b.p50, a.cpu/b.cpu)
	}
	fmt.Fprintln(out)
	return nil
}

// gate compares the hook with the gate on with a bare program that parses the same
// command, and for the difference with the hook without the gate.
func (l *lab) gate(out io.Writer, runs int) error {
	fmt.Fprintf(out, "%-28s %26s %26s %26s %17s\n", "the gate", "gate on", "bare with the parser", "gate off", "ratio to bare")
	fmt.Fprintf(out, "%-28s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "p50", "p95", "cpu", "p50", "p95", "cpu", "p50", "p95", "cpu", "wall", "cpu")
	for _, command := range []string{"git status", "rm -rf /", "cd sub && go test ./... 2>&1 | tail -n 40"} {
		body := bytes.ReplaceAll(payload("PreToolUse", 0), []byte("go test ./..."), []byte(command))
		var on, bare, off []cost
		// The switch is a file that the hook reads, so the turns are by the dozen.
		for round := 0; len(on) < runs; round++ {
			for _, step := range []struct {
				word    string
				program []string
				into    *[]cost
			}{{"enable", []string{l.hook, "claude-hook"}, &on}, {"", []string{l.bareGate, l.echo}, &bare}, {"disable", []string{l.hook, "claude-hook"}, &off}} {
				if step.word != "" {
					if _, err := l.run(nil, l.program, "hooks", step.word, "gate"); err != nil {
						return err
					}
				}
				for i := range 14 {
					c, err := l.run(body, step.program[0], step.program[1:]...)
					if err != nil {
						return err
					}
					if i >= 2 { // the first warm the caches
						*step.into = append(*step.into, c)
					}
				}
			}
		}
		a, b, c := sum(on), sum(bare), sum(off)
		fmt.Fprintf(out, "%-28.28s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx\n", command,
			a.p50, a.p95, a.cpu, b.p50, b.p95, b.cpu, c.p50, c.p95, c.cpu, a.p50/b.p50, a.cpu/b.cpu)
	}
	fmt.Fprintln(out)
	return nil
}

type summary struct{ p50, p95, cpu float64 }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func sum(costs []cost) summary {
	var walls []time.Duration
	var cpu time.Duration
	for _, c := range costs {
		walls = append(walls, c.wall)
		cpu += c.cpu
	}
	slices.Sort(walls)
	return summary{ms(walls[len(walls)/2]), ms(walls[len(walls)*95/100]), ms(cpu) / float64(len(costs))}
}

// telemetry compares the hook with the telemetry pack on, for a sink that takes
// connections and never answers, with the same rulebook and the pack off.
func (l *lab) telemetry(out io.Writer, runs int) error {
	sink, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer sink.Close()
	if err := os.MkdirAll(l.dirs.Config, 0o700); err != nil {
		return err
	}
	book := fmt.Sprintf("[telemetry]\nurl = \"http://%s/\"\nprivacy = \"metadata\"\n", sink.Addr())
	if err := os.WriteFile(l.dirs.Rules(), []byte(book), 0o600); err != nil {
		return err
	}
	defer os.Remove(l.dirs.Rules())
	fmt.Fprintf(out, "%-28s %26s %26s %17s\n", "telemetry, dead sink", "on", "off", "ratio")
	fmt.Fprintf(out, "%-28s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "p50", "p95", "cpu", "p50", "p95", "cpu", "wall", "cpu")
	for _, c := range []struct {
		label, name string
		extra       int
	}{{"PreToolUse", "PreToolUse", 0}, {"PostToolUse, 400 KB", "PostToolUse", 400 << 10}} {
		body := payload(c.name, c.extra)
		var on, off []cost
		// The switch is a file that the hook reads, so the turns are by the dozen.
		for round := 0; len(on) < runs; round++ {
			for _, step := range []struct {
				word string
				into *[]cost
			}{{"enable", &on}, {"disable", &off}} {
				if _, err := l.run(nil, l.program, "hooks", step.word, "telemetry"); err != nil {
					return err
				}
				for i := range 14 {
					c, err := l.run(body, l.hook, "claude-hook")
					if err != nil {
						return err
					}
					if i >= 2 { // the first warm the caches
						*step.into = append(*step.into, c)
					}
				}
			}
		}
		a, b := sum(on), sum(off)
		fmt.Fprintf(out, "%-28s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx\n", c.label, a.p50, a.p95, a.cpu, b.p50, b.p95, b.cpu, a.p50/b.p50, a.cpu/b.cpu)
	}
	fmt.Fprintln(out)
	return nil
}

// fullBook has something for every pack. What a program of the person's costs is
// theirs, so the only one is for another event.
const fullBook = `
[packs]
gate = "on"
context = "on"
compact = "on"
[gate]
profile = "standard"
[[rule]]
id = "no-push"
command = "git push"
decision = "deny"
reason = "Pushing is for people."
[[rule]]
id = "generated"
tool = "Edit|Write"
path = "gen/**"
decision = "deny"
[sandbox]
roots = [".", "/tmp"]
[[approve]]
id = "tests"
tool = "shell"
command = ["go", "test", "./..."]
[[handler]]
name = "policy"
command = ["true"]
events = ["Stop"]
[redact]
outbound = "mask"
[[format]]
match = ["*.sql"]
command = ["pg_format", "-"]
[[nudge]]
id = "deploy-hours"
match = '(?i)\bdeploy'
text = "Deploys end on Fridays at noon."
[[until]]
id = "tests"
command = "true"
[[check]]
id = "vet"
match = ["*.go"]
command = "true"
[telemetry]
url = "http://%s/"
privacy = "metadata"
[notices]
with = ["bell"]
`

// allPacks compares a hook with every pack on with a bare program.
func (l *lab) allPacks(out io.Writer, runs int) error {
	sink, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		return err
	}
	defer sink.Close()
	if err := os.MkdirAll(l.dirs.Config, 0o700); err != nil {
		return err
	}
	// What the tables before switched would count more than the book.
	if err := os.Remove(l.dirs.Packs()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(l.dirs.Rules(), fmt.Appendf(nil, fullBook, sink.Addr()), 0o600); err != nil {
		return err
	}
	defer os.Remove(l.dirs.Rules())
	list := exec.Command(l.program, "hooks", "list")
	list.Env = l.env
	if text, err := list.Output(); err != nil || bytes.Contains(text, []byte(" off ")) {
		return fmt.Errorf("not every pack is on: %w\n%s", err, text)
	}
	fmt.Fprintf(out, "%-28s %26s %26s %17s\n", "all packs on", "lidguard-hook", "bare", "ratio")
	fmt.Fprintf(out, "%-28s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "p50", "p95", "cpu", "p50", "p95", "cpu", "wall", "cpu")
	for _, bare := range []string{l.bare, l.bareGate} {
		body := payload("PreToolUse", 0)
		var ours, theirs []cost
		for i := range runs + 5 {
			a, err := l.run(body, l.hook, "claude-hook")
			if err != nil {
				return err
			}
			b, err := l.run(body, bare, l.echo)
			if err != nil {
				return err
			}
			if i >= 5 { // the first warm the caches
				ours, theirs = append(ours, a), append(theirs, b)
			}
		}
		a, b := sum(ours), sum(theirs)
		fmt.Fprintf(out, "%-28s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx\n", "PreToolUse, "+filepath.Base(bare), a.p50, a.p95, a.cpu, b.p50, b.p95, b.cpu, a.p50/b.p50, a.cpu/b.cpu)
	}
	fmt.Fprintln(out)
	return nil
}

// parallel runs several hooks at once, as several agents do: twelve, and fewer to
// show what it costs where each processor has fewer of them to start. The same
// requests from a program that runs already are what the runtime alone adds.
func (l *lab) parallel(out io.Writer, rounds int) error {
	body := payload("PreToolUse", 0)
	key := event.SessionKey{Provider: event.Claude, ID: "00000000-0000-4000-8000-000000000001"}
	told := func() *ipc.Request {
		return &ipc.Request{Op: ipc.OpSignal, Ask: true,
			Signals: []event.Signal{{Kind: event.ToolBegan, Session: key, Source: "hook PreToolUse", Tool: "Bash", ToolUse: "toolu_000000000000000000000001", Cwd: "/home/dev/project"}},
			Hook:    &ipc.HookEvent{Time: time.Now().UTC(), Provider: event.Claude, Event: "PreToolUse", Session: key.ID, Tool: "Bash"}}
	}
	kinds := []struct {
		label string
		call  func() error
	}{
		{"lidguard-hook", func() error { _, err := l.run(body, l.hook, "claude-hook"); return err }},
		{"bare", func() error { _, err := l.run(body, l.bare, l.echo); return err }},
		{"the runtime alone", func() error { _, err := l.call(told()); return err }},
	}
	at := []int{1, 2, 4, 6, 12}
	fmt.Fprintf(out, "%-28s", "at once, until the last")
	for _, n := range at {
		fmt.Fprintf(out, " %8d", n)
	}
	fmt.Fprintf(out, " %17s\n", "12 as a multiple")
	for _, k := range kinds {
		walls := make([][]cost, len(at))
		for range rounds {
			for j, n := range at {
				errs := make([]error, n)
				var all sync.WaitGroup
				began := time.Now()
				for i := range n {
					all.Go(func() { errs[i] = k.call() })
				}
				all.Wait()
				if err := errors.Join(errs...); err != nil {
					return err
				}
				walls[j] = append(walls[j], cost{wall: time.Since(began)})
			}
		}
		fmt.Fprintf(out, "%-28s", k.label)
		for j := range at {
			fmt.Fprintf(out, " %8.2f", sum(walls[j]).p50)
		}
		fmt.Fprintf(out, " %16.1fx\n", sum(walls[len(at)-1]).p50/sum(walls[0]).p50)
	}
	fmt.Fprintln(out)
	return nil
}

// coldStart measures a prompt that finds no runtime, until the first hold.
func (l *lab) coldStart(out io.Writer, rounds int) error {
	var hooks, holds []cost
	for i := range rounds {
		log := filepath.Join(l.dir, "laptop", "laptop.log")
		os.Remove(log)
		body := bytes.ReplaceAll(payload("UserPromptSubmit", 0), []byte("0001"), fmt.Appendf(nil, "%04d", i))
		began := time.Now()
		c, err := l.run(body, l.hook, "claude-hook")
		if err != nil {
			return err
		}
		for time.Since(began) < 10*time.Second {
			if b, _ := os.ReadFile(log); bytes.Contains(b, []byte(`"hold"`)) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		hooks, holds = append(hooks, c), append(holds, cost{wall: time.Since(began)})
		if _, err := l.call(&ipc.Request{Op: ipc.OpRemove, All: true}); err != nil {
			return err
		}
		if _, err := l.call(&ipc.Request{Op: ipc.OpStop}); err != nil {
			return err
		}
		for time.Since(began) < 20*time.Second {
			if _, err := l.call(&ipc.Request{Op: ipc.OpAway}); errors.Is(err, ipc.ErrNotRunning) {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	a, b := sum(hooks), sum(holds)
	fmt.Fprintf(out, "%-28s %8s %8s\n", "first prompt, no runtime", "p50", "p95")
	fmt.Fprintf(out, "%-28s %8.2f %8.2f\n%-28s %8.2f %8.2f\n\n", "until the hook is back", a.p50, a.p95, "until the first hold", b.p50, b.p95)
	return nil
}

// atRest looks at a runtime that has nothing to do. Linux only.
func (l *lab) atRest(out io.Writer, rest time.Duration) error {
	if runtime.GOOS != "linux" {
		fmt.Fprintln(out, "the runtime at rest is measured on Linux only")
		return nil
	}
	stop, err := l.start()
	if err != nil {
		return err
	}
	defer stop()
	reply, err := l.call(&ipc.Request{Op: ipc.OpStatus})
	if err != nil {
		return err
	}
	pid := reply.Status.PID
	fmt.Fprintf(out, "%-28s %10s %14s %10s %12s\n", fmt.Sprintf("runtime, %v each", rest), "cpu s", "switches", "RSS MiB", "private MiB")
	n := 0
	for _, want := range []int{0, 1, 500} {
		for ; n < want; n++ {
			key := event.SessionKey{Provider: event.Claude, ID: event.SessionID(fmt.Sprint("bench-", n))}
			if _, err := l.call(&ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{
				{Kind: event.Began, Session: key, Source: "bench", Cwd: "/home/dev/project", Prompt: "the prompt of one session among many of them"},
				{Kind: event.ToolBegan, Session: key, Source: "bench", Tool: "Bash", ToolUse: fmt.Sprint("toolu_", n)}}}); err != nil {
				return err
			}
		}
		time.Sleep(8 * time.Second) // saved, collected, settled
		before, err := usage(pid)
		if err != nil {
			return err
		}
		time.Sleep(rest)
		after, err := usage(pid)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-28s %10.2f %14d %10.1f %12.1f\n", fmt.Sprintf("%d sessions", want),
			(after.cpu - before.cpu).Seconds(), after.switches-before.switches, float64(after.rss)/1024, float64(after.private)/1024)
	}
	return nil
}

type used struct {
	cpu          time.Duration
	switches     int
	rss, private int // KiB
}

// usage reads proc(5) for all threads of pid.
func usage(pid int) (u used, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	for _, i := range []int{11, 12} {
		ticks, err := strconv.Atoi(f[i])
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	number := func(text, key string) int {
		_, after, _ := strings.Cut(text, "\n"+key+":")
		n, _ := strconv.Atoi(strings.Fields(after + " 0")[0]) // absent: 0
		return n
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	u.rss, u.private = number(string(status), "VmRSS"), number(string(status), "RssAnon")
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return u, err
	}
	for _, t := range threads {
		if b, err := os.ReadFile(t); err == nil {
			u.switches += number(string(b), "voluntary_ctxt_switches") + number(string(b), "nonvoluntary_ctxt_switches")
		}
	}
	return u, nil
}
