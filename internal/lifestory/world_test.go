package lifestory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/lidguard-go/lidguard/internal/simulate"
	"github.com/lidguard-go/lidguard/internal/watch"
)

// world is one laptop on which one story happens.
type world struct {
	t        *testing.T
	provider event.Provider
	bench    *simulate.Bench
	dirs     paths.Dirs
	home     string
	shut     bool // the person leaves once work runs
	closed   bool // the lid is shut
	early    bool // it was shut while nothing held the machine

	logs  map[event.SessionKey]*followed
	asked map[event.SessionKey]bool
	owner event.Process // of the client whose hook runs
}

// followed is one transcript as the runtime's tailer sees it.
type followed struct {
	size     int64
	detector watch.Detector // nil while nobody reads
}

// owners are the clients on the machine, by number.
func (w *world) process(client int) event.Process {
	return event.Process{PID: 4700 + client, Start: uint64(client) + 1}
}

func newWorld(t *testing.T, provider event.Provider, shut bool) *world {
	w := &world{t: t, provider: provider, home: t.TempDir(), shut: shut,
		bench: simulate.NewBench(simulate.DefaultConfig(), fakelaptop.Options{}),
		logs:  map[event.SessionKey]*followed{}, asked: map[event.SessionKey]bool{}}
	var err error
	if w.dirs, err = paths.Resolve("linux", w.getenv); err != nil {
		t.Fatal(err)
	}
	return w
}

// getenv is a hook's environment: a home of its own and nothing else.
func (w *world) getenv(name string) string {
	switch name {
	case "HOME":
		return w.home
	case "XDG_RUNTIME_DIR":
		return filepath.Join(w.home, "run")
	}
	return ""
}

func (w *world) key(id string) event.SessionKey {
	return event.SessionKey{Provider: w.provider, ID: event.SessionID(id)}
}

// run tells the story and then sends the person away.
func (w *world) run(steps []step) {
	for i, s := range steps {
		what := fmt.Sprintf("step %d, %s", i+1, s)
		w.do(what, s)
		w.look(what)
		if w.t.Failed() || len(w.bench.Bad) > 0 {
			break
		}
	}
	if !w.t.Failed() && len(w.bench.Bad) == 0 {
		w.finish()
	}
	for _, bad := range w.bench.Bad {
		w.t.Errorf("invariant: %s", bad)
	}
	if w.t.Failed() {
		w.t.Log("\n" + w.bench.Story())
	}
}

// look holds after every step: the machine never sleeps while somebody works.
func (w *world) look(what string) {
	if core := w.bench.Core(); core != nil && core.Sessions().Summary().Holding > 0 && w.bench.Laptop().Asleep() {
		w.t.Errorf("%s: the machine sleeps while a session works", what)
	}
	w.follow()
}

// finish is the end of every story: the work is over, the person is away, the
// machine sleeps once, and nothing is left behind.
func (w *world) finish() {
	laptop := w.bench.Laptop()
	if n := w.bench.Core().Sessions().Summary().Holding; n != 0 {
		w.t.Errorf("%d sessions hold the machine at the end of the story", n)
	}
	// Whoever shuts the lid while nothing holds the machine sends it to sleep alone.
	// With the person away from the beginning, a story that ends in silence or at a
	// dialog has its sleep already; with the person there, none is ours.
	calls := 1
	if !w.closed {
		if n := len(laptop.Sleeps()); n != 0 {
			w.t.Errorf("the machine slept %d times with its lid open", n)
		}
		calls = 0 // it sleeps by itself, since nothing holds it any more
		laptop.SetLid(awake.LidClosed)
	}
	if w.early {
		calls = 0
	}
	w.bench.Pass(15 * time.Minute)
	if n := len(laptop.Sleeps()); n != 1 {
		w.t.Errorf("away and done: the machine slept %d times, want once", n)
	}
	if n := w.bench.Count(" -> suspend "); n != calls {
		w.t.Errorf("away and done: lidguard suspended %d times, want %d", n, calls)
	}
	laptop.SetLid(awake.LidOpen)
	laptop.Wake()
	w.bench.Pass(15 * time.Minute)
	if n := laptop.Locks(awake.HoldIdle) + laptop.Locks(awake.HoldLid); n != 0 {
		w.t.Errorf("%d locks are held at the end", n)
	}
	if core := w.bench.Core(); core != nil && core.Sessions().Summary().Live == 0 {
		w.t.Error("the runtime stayed although nothing lives")
	}
}

func (w *world) do(what string, s step) {
	switch s.kind {
	case doHook:
		w.hook(what, s)
	case doLines:
		w.lines(what, s)
	case doExit:
		p := w.process(s.client)
		w.bench.Input(daemon.SessionInput(session.Input{Kind: session.InExited, Process: &p}))
	case doBusy:
		w.bench.Input(daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{w.key(s.session)}}))
	case doLid:
		w.closed = s.lid == awake.LidClosed
		w.early = w.closed && w.bench.Core().Sessions().Summary().Holding == 0
		w.bench.Laptop().SetLid(s.lid)
		w.bench.Pass(100 * time.Millisecond)
	case doWait:
		w.bench.Pass(s.wait)
	case doCrash:
		if err := w.bench.Kill(); err != nil {
			w.t.Errorf("%s: %v", what, err)
		}
		for _, f := range w.logs {
			f.detector = nil // begins anew, at the offset in the snapshot
		}
		w.asked = map[event.SessionKey]bool{}
		w.bench.Pass(100 * time.Millisecond)
	case doSet:
		w.set(s)
	case doExpect:
		w.expect(what, s)
	}
}

func (w *world) set(s step) {
	if _, err := settings.Update(w.dirs.Settings(), []settings.Change{{Key: s.file, Value: s.want.reason}}); err != nil {
		w.t.Fatal(err)
	}
}

// hook runs the hook process's own code on one payload.
func (w *world) hook(what string, s step) {
	payload, native, err := s.payload(w.provider)
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	if s.half {
		payload = payload[:len(payload)/2]
	}
	args := []string{string(w.provider) + "-hook"}
	if native != "" {
		args = append(args, "--event", native)
	}
	w.owner = w.process(s.client)
	env := entry.Env{OS: "linux", Getenv: w.getenv, Executable: filepath.Join(w.home, "lidguard-hook"), PID: 1, Now: time.Now,
		Dial:  w.dial,
		Start: func(string, []string, []string, string) (int, error) { return 0, errors.New("a runtime is running") },
		Owner: func(int) *event.Process { p := w.owner; return &p },
	}
	var stdout, stderr bytes.Buffer
	code := entry.Run(args, env, bytes.NewReader(payload), &stdout, &stderr)
	if code != 0 || stderr.Len() > 0 {
		w.t.Errorf("%s: exit %d, stderr %q", what, code, stderr.String())
	}
	if len(s.says) == 0 && stdout.Len() > 0 {
		w.t.Errorf("%s: answered %q, want silence", what, stdout.String())
	}
	for _, part := range s.says {
		if !strings.Contains(stdout.String(), part) {
			w.t.Errorf("%s: answered %q, want it to contain %q", what, stdout.String(), part)
		}
	}
	log := w.dirs.HookEvents(string(w.provider))
	if text, err := os.ReadFile(log); err == nil {
		if !s.half {
			w.t.Errorf("%s: the hook complains: %s", what, text)
		}
		os.Remove(log)
	} else if s.half {
		w.t.Errorf("%s: half a payload is not noted: %v", what, err)
	}
	w.bench.Pass(20 * time.Millisecond)
}

// dial connects a hook with the runtime.
func (w *world) dial(context.Context, string) (net.Conn, error) {
	if w.bench.Core() == nil {
		return nil, errors.New("the runtime has left in the middle of the story")
	}
	client, server := net.Pipe()
	go w.serve(server) // ends when the hook closes its end
	return client, nil
}

func (w *world) serve(conn net.Conn) {
	defer conn.Close()
	for in := ipc.NewReader(conn); ; {
		line, err := in.Next()
		if err != nil {
			return
		}
		req := new(ipc.Request)
		reply := &ipc.Reply{}
		if err := json.Unmarshal(line, req); err != nil {
			w.t.Errorf("the hook sent %q: %v", line, err)
		} else {
			reply = w.answer(req)
		}
		reply.Protocol, reply.Version = ipc.Protocol, ipc.Version()
		msg, err := ipc.AppendReply(nil, reply)
		if err == nil {
			err = ipc.WriteMessage(conn, msg)
		}
		if err != nil {
			w.t.Errorf("answering the hook: %v", err)
			return
		}
	}
}

// answer does with a request what the runtime does (daemon/requests.go), which
// needs a running daemon to do it itself.
func (w *world) answer(req *ipc.Request) *ipc.Reply {
	reply := &ipc.Reply{OK: true}
	signals := req.Signals
	if req.Ask {
		away := w.bench.Core().Away()
		reply.Away = &away
		if !away.Away {
			signals = append(signals, req.Here...)
		}
	}
	for _, sig := range signals {
		w.bench.Signal(sig)
		if x := w.session(string(sig.Session.ID)); sig.Process == nil && x != nil && x.Live() && x.Process == nil && !w.asked[sig.Session] {
			w.asked[sig.Session], reply.Owner = true, true
		}
	}
	w.follow()
	return reply
}

func (w *world) session(id string) *session.Session {
	if w.bench.Core() == nil {
		return nil
	}
	return w.bench.Core().Sessions().Get(w.key(id))
}

// follow lets the tailer follow the transcripts of sessions at work, as the
// runtime does: what is written while a session rests is never read.
func (w *world) follow() {
	if w.bench.Core() == nil {
		return
	}
	for _, x := range w.bench.Core().Sessions().All() {
		f := w.logs[x.Key]
		switch {
		case !x.Live() && f != nil:
			f.detector = nil
		case x.Live() && f == nil:
			f = &followed{}
			w.logs[x.Key] = f
			fallthrough
		case x.Live() && f.detector == nil:
			if d := daemon.Detector(x.Key); d != nil {
				f.detector = d
			}
		}
	}
}

// lines appends recorded lines to the transcript. The tailer gathers for a moment.
func (w *world) lines(what string, s step) {
	all := []string{s.text + "\n"}
	if s.text == "" {
		data, err := os.ReadFile(fixture(w.provider, s.file+".jsonl"))
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		if all = slices.Collect(strings.Lines(string(data))); s.to >= len(all) {
			w.t.Fatalf("%s: the file has %d lines", what, len(all))
		}
	}
	key := w.key(s.session)
	f := w.logs[key]
	if f == nil {
		f = &followed{}
		w.logs[key] = f
	}
	w.follow()
	w.bench.Pass(100 * time.Millisecond)
	for _, line := range all[s.from : s.to+1] {
		offset := f.size
		f.size += int64(len(line))
		if f.detector == nil {
			continue
		}
		for _, sig := range f.detector.Line([]byte(strings.TrimSuffix(line, "\n")), offset) {
			w.bench.Signal(sig)
		}
	}
	w.bench.Pass(20 * time.Millisecond)
}

func (w *world) expect(what string, s step) {
	if s.want.doing == endedWord {
		w.bench.Pass(session.Settle + 500*time.Millisecond)
	} else {
		w.bench.Pass(100 * time.Millisecond)
	}
	x, laptop := w.session(s.session), w.bench.Laptop()
	if x == nil {
		x = &session.Session{Phase: session.Idle}
	}
	doing, holds := x.Doing(), x.Holds()
	lock := ""
	if x.Lock != nil {
		lock = x.Lock.Reason
	}
	switch s.want.doing {
	case endedWord:
		last := ""
		for _, e := range x.Evidence {
			if strings.HasPrefix(e.What, "ended ") || strings.HasPrefix(e.What, "carried over to") {
				last = e.What
			}
		}
		if x.Live() || !strings.HasPrefix(last, s.want.reason) {
			w.t.Errorf("%s: it is %s and its last end was %q, want %q", what, doing, last, s.want.reason)
		}
	case "waiting":
		if doing != "waiting" || lock != s.want.reason {
			w.t.Errorf("%s: it is %s (%q), want waiting (%q)", what, doing, lock, s.want.reason)
		}
	default:
		if doing != s.want.doing {
			w.t.Errorf("%s: it is %s (%s), want %s", what, doing, lock, s.want.doing)
		}
	}
	if holds != s.want.holds {
		w.t.Errorf("%s: holds the machine: %v, want %v", what, holds, s.want.holds)
	}
	// What the core believes, the laptop must show.
	want := min(w.bench.Core().Sessions().Summary().Holding, 1)
	if w.bench.Core().Awake().Pending != nil {
		want = 1 // until the machine is put to sleep
	}
	if got := laptop.Locks(awake.HoldIdle); got != want && !laptop.Asleep() {
		w.t.Errorf("%s: the laptop has %d idle locks, want %d", what, got, want)
	}
	if holds && w.shut && !w.closed {
		w.do(what, step{kind: doLid, lid: awake.LidClosed})
	}
}
