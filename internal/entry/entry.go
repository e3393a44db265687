// Package entry is the hot path: one process per hook event. In come the hook
// entry's name ("claude-hook"), the environment and the client's payload on
// stdin; out come at most one write to stdout, one to stderr and an exit code.
// It decodes the payload, runs the policy chain, tells the runtime what the event
// means for its session (starting one where work begins), and encodes the answer.
//
// Rules that hold here: every path ends in a defined stdout and exit code; a hook
// that only watches exits 0 and prints nothing, whatever happens to the runtime,
// the disk or the payload; nothing waits longer than Limit; payload contents never
// reach a log; and what is linked here is paid by every event of every agent, so
// a test holds the list of packages.
package entry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/lidguard-go/lidguard/internal/deadline"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/closedlid"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
	"github.com/lidguard-go/lidguard/internal/policy/telemetry"
)

// Limit is how long a hook may wait for its payload and the runtime together.
// The shortest time a client gives a hook is one second (Codex, Interrupt and
// SessionEnd: contracts/codex §2).
const Limit = 900 * time.Millisecond

// MaxPayload bounds the payload in bytes. A longer one is not judged in part.
const MaxPayload = 8 << 20

// Env is what a hook process takes from the world around it.
type Env struct {
	OS         string // runtime.GOOS
	Getenv     func(string) string
	Environ    []string // as os.Environ; what a started runtime may see is picked from it
	Executable string   // this program's path; the runtime is looked for beside it
	// FindExecutable tells Executable where that is empty, once it is needed; nil: the
	// runtime is looked for on PATH alone.
	FindExecutable func() (string, error)
	PID            int // this process, whose ancestors are searched for the agent
	Now            func() time.Time

	// Seams for tests; nil means the real thing.
	Dial  func(ctx context.Context, socket string) (net.Conn, error)
	Start func(program string, argv, environ []string, dir string) (pid int, err error)
	Owner func(clientPID int) *event.Process
}

// program is this program's path, "" where it is not known.
func (e *Env) program() string {
	if e.Executable == "" && e.FindExecutable != nil {
		e.Executable, _ = e.FindExecutable()
	}
	return e.Executable
}

// Is reports whether name is a hook entry, so that the program's main can send
// it here before anything else is set up.
func Is(name string) bool { return find(name) != nil || name == WakeEntry }

// Run handles one hook event and returns the exit code. args[0] is the hook
// entry's name.
func Run(args []string, env Env, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 2 && (args[1] == "--help" || args[1] == "-h") && Is(args[0]) {
		io.WriteString(stdout, Help(args[0]))
		return 0
	}
	var codec Codec
	if len(args) > 0 {
		codec = find(args[0])
	}
	if codec == nil && len(args) > 0 && args[0] == WakeEntry {
		return runWake(env, stdin, stderr)
	}
	if codec == nil {
		// Not 2: that is a block in the hook protocol of several clients, and
		// a mistyped entry must not block an agent.
		fmt.Fprintf(stderr, "lidguard: no hook entry %q\nhint: one of %s\n", args, names())
		return 1
	}
	h := &hook{env: env, codec: called(codec, env), args: args[1:], deadline: env.Now().Add(Limit)}
	out := h.run(stdin)
	// Errors are of no use here: a client that closed the pipe has stopped
	// listening, and there is nobody else to tell.
	if len(out.Stdout) > 0 {
		stdout.Write(out.Stdout)
	}
	if len(out.Stderr) > 0 {
		stderr.Write(out.Stderr)
	}
	h.settle()
	return out.Code
}

// hook is one run.
type hook struct {
	env      Env
	codec    Codec
	args     []string
	deadline time.Time

	dirs   paths.Dirs
	noHome error // why dirs is empty

	ev      event.Event
	verdict event.Verdict

	packs    Packs  // see loadPacks
	own      *Books // the person's own book, where it was read before
	books    *Books // nil until they were read
	packsErr error
	pass     string // the digest of a call that a person excepted, see excepted

	started int            // pid of the runtime that this hook started
	asked   bool           // the away question was put, see askAway
	away    *ipc.Away      // its answer; nil unknown
	after   []event.Signal // to send once the client has its answer

	report    func() *telemetry.Record // makes the event's record once its answer is known; nil: none is wanted
	telemetry []byte                   // the record, until a runtime has it
	notice    Mode                     // whether the person is told of a denied call; "" is off
	unheard   bool                     // the runtime could not be told

	dry     bool     // nothing is told, noted or taken: see Rehearsal
	folders *folders // what a Rehearsal has read of projects; nil elsewhere
	// world is gateWorld for a Rehearsal whose disk stands still; nil elsewhere, so
	// that nothing of it is linked into a hook.
	world func(goos, dir string, getenv func(string) string, home string) gate.World
}

// run does everything up to the answer.
func (h *hook) run(stdin io.Reader) (out event.Output) {
	defer h.survive(&out)
	h.dirs, h.noHome = paths.Resolve(h.env.OS, h.env.Getenv)

	payload, err := readPayload(stdin, h.deadline.Sub(h.env.Now()))
	return h.answer(payload, err)
}

// survive makes silence of a panic. It is our bug; the agent must not pay for it.
// Policies have their own recover that fails as their role says.
func (h *hook) survive(out *event.Output) {
	if r := recover(); r != nil {
		h.complain(fmt.Errorf("panic: %v", r))
		*out = event.Output{}
	}
}

// answer is run from the moment that the payload is there, or cannot be had.
func (h *hook) answer(payload []byte, err error) event.Output {
	native, flagged := eventFlag(h.args)
	if err != nil {
		// Where the command line names the event, the refusal is for that one.
		h.ev, _ = h.codec.Decode([]byte("{}"), h.env.Getenv, native)
		return h.unreadable(err)
	}
	if flagged != nil {
		h.complain(flagged) // and go on: the payload may say it all
	}
	h.ev, err = h.codec.Decode(payload, h.env.Getenv, native)
	if err != nil {
		return h.unreadable(err)
	}

	handlers := policy.Wanted(&h.ev, h.handlers())
	more := chainTime(handlers)
	ctx, cancel := deadline.At(context.Background(), h.deadline.Add(more))
	defer cancel()
	h.verdict, _ = policy.Run(ctx, &h.ev, handlers)
	if h.askPhone() {
		more = 1 // it took long
	}
	if more > 0 || ctx.Err() != nil {
		// What took long was the packs; the runtime gets its time all the same.
		h.deadline = h.env.Now().Add(Limit)
	}
	ctx, cancel = deadline.At(context.Background(), h.deadline)
	defer cancel()
	h.verdict = h.resolve(ctx, h.verdict)
	h.noticeDenied()
	out, err := h.codec.Encode(&h.ev, h.verdict)
	if err != nil {
		h.complain(err)
	}
	h.conclude(ctx)
	return out
}

// unreadable is the answer to a payload that cannot be judged. With a gate in the
// chain that is a refusal, since nobody knows what would be let through. What a tool
// has put out cannot be refused any more: with the redact pack on, model and person
// are told that nobody looked for secrets in it.
func (h *hook) unreadable(problem error) event.Output {
	h.complain(problem)
	after := h.ev.Name == event.PostToolUse || h.ev.Name == event.PostToolUseFailure
	handlers := h.handlers()
	for _, p := range handlers {
		if after && p.Role == policy.Gate && p.Name == redact.Name {
			told := fmt.Sprintf("lidguard redact: the output of a tool could not be read (%v), so nobody looked for secrets in it.", problem)
			out, err := h.codec.Encode(&h.ev, event.Verdict{SystemMessage: told,
				Contexts: []string{told + " Do not repeat a secret that you see in it, and tell the person to change it."}})
			if err != nil {
				h.complain(err)
			}
			return out
		}
	}
	for _, p := range handlers {
		if p.Role == policy.Gate {
			return h.codec.Refuse(&h.ev, fmt.Sprintf("lidguard could not read what would be done (%v), so it is refused.", problem))
		}
	}
	return event.Output{}
}

// complain writes one line about what went wrong to the provider's bounded
// hook-event log. Nothing else can be done about it in a hook. The prompt stays
// out: whether it may be kept only the settings tell, which a hook does not read.
func (h *hook) complain(problem error) {
	if h.noHome != nil || h.dry {
		return
	}
	e := h.logged()
	e.Prompt, e.Error = "", problem.Error()
	// A full disk or a read-only home is no reason to trouble the agent.
	_ = ipc.AppendHookLog(h.dirs.HookEvents(string(h.codec.Provider())), e)
}

// logged is this event as the hook-event log tells it.
func (h *hook) logged() *ipc.HookEvent {
	e := &ipc.HookEvent{Time: h.env.Now().UTC(), Provider: h.codec.Provider(), Event: h.ev.Native,
		Session: h.ev.Session.ID, Prompt: event.Preview(h.ev.Prompt)}
	if e.Event == "" {
		e.Event = "?"
	}
	if h.ev.Tool != nil {
		e.Tool = h.ev.Tool.Name
	}
	if h.verdict.Decision != event.None {
		e.Answer = h.verdict.Decision.String()
		if h.verdict.Rule == closedlid.RulePhoneAllow || h.verdict.Rule == closedlid.RulePhoneDeny {
			e.Answer += ipc.ByPhone
		}
	}
	return e
}

// errSlowPayload: stdin stayed open and silent.
var errSlowPayload = errors.New("no complete payload on stdin in time")

// errEmptyPayload: stdin was closed before anything came.
var errEmptyPayload = errors.New("empty payload")

func readAll(stdin io.Reader) ([]byte, error) {
	// Pipes hand out 64 KiB at a time, so a small first buffer would be
	// outgrown by ordinary payloads with a tool's output in them.
	buf := make([]byte, 0, 64<<10)
	for {
		n, err := stdin.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > MaxPayload:
			return nil, fmt.Errorf("payload larger than %d bytes", MaxPayload)
		case errors.Is(err, io.EOF):
			if len(buf) == 0 {
				return nil, errEmptyPayload
			}
			return buf, nil
		case errors.Is(err, errSlowPayload):
			return nil, err
		case err != nil:
			var perr *os.PathError
			if errors.As(err, &perr) {
				err = perr.Err
			}
			return nil, fmt.Errorf("reading stdin: %w", err)
		case len(buf) == cap(buf):
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
}
