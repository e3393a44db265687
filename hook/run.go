package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Body is a hook: it looks at an event and says what should happen. It must
// return when ctx ends. In resident mode it is called from several goroutines.
type Body func(ctx context.Context, ev Event) Verdict

// Role says what it means that the body fails: that the payload is malformed or
// cut off, that the body panics, that it gives no answer before its deadline, or
// that its verdict cannot be said. A Role is an Option.
type Role int

const (
	// Gate fails closed and is the default: its own failure refuses what the
	// event is about, with a reason, in the client's words. After a call
	// (PostToolUse) the result is withheld. Where a refusal would not stop
	// anything (Stop, SessionStart, …) a failed gate says nothing.
	Gate Role = iota
	// Helper fails open: its verdict counts, its failure says nothing. It is
	// the role of what adds context, rewrites for comfort or keeps a turn going.
	Helper
	// Observer only watches: it always exits 0 and prints nothing, whatever
	// the body returns.
	Observer
)

func (r Role) apply(c *config) { c.role = r }

// String names the role.
func (r Role) String() string { return [...]string{"gate", "helper", "observer"}[r] }

// Limits of a run.
const (
	// MaxPayload is how many bytes of payload are read. A longer one is not
	// judged in part: it is a failure.
	MaxPayload = 8 << 20
	// GateDeadline is how long a Gate may take, unless Deadline says otherwise.
	// A hook that the client has to kill lets the call through, so a gate
	// answers long before that.
	GateDeadline = 80 * time.Millisecond
	// BodyDeadline is the same for the other roles.
	BodyDeadline = 5 * time.Second
	// endDeadline bounds every role at the end of a session or turn, where
	// Codex kills after one second (docs/contracts/codex.md §2).
	endDeadline = 800 * time.Millisecond
	// payloadLimit is how long a payload may take to arrive.
	payloadLimit = 900 * time.Millisecond
)

// Option sets a hook up. A Role is one.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// ForProvider says whose payloads these are. --provider on the command line,
// which is written when the hook is installed, counts more; the payload's own
// marks count less.
func ForProvider(p Provider) Option { return option(func(c *config) { c.provider = p }) }

// ForEvent names the event in the client's own spelling, for payloads that do
// not carry it (Copilot, OpenCode). --event counts more.
func ForEvent(native string) Option { return option(func(c *config) { c.event = native }) }

// Deadline is how long the body may take, from the moment the payload is read.
// Zero or less means the default of its role.
func Deadline(d time.Duration) Option { return option(func(c *config) { c.deadline = d }) }

// Named is what the hook calls itself in the reason of a failed gate; the
// default is the program's name.
func Named(name string) Option { return option(func(c *config) { c.name = name }) }

// OnError hears of every failure that a role makes silent or turns into a
// refusal, for a log of your own. It must not write to standard output.
func OnError(f func(error)) Option { return option(func(c *config) { c.report = f }) }

// within hands the environment in.
func within(env func(string) string) Option { return option(func(c *config) { c.env = env }) }

type config struct {
	body     Body
	role     Role
	provider Provider
	event    string
	deadline time.Duration
	name     string
	report   func(error)
	env      func(string) string
}

func configure(body Body, opts []Option) *config {
	c := &config{body: body, name: "a hook", report: func(error) {}, env: func(string) string { return "" }}
	for _, o := range opts {
		o.apply(c)
	}
	return c
}

// limit is how long the body may take at this event.
func (c *config) limit(name event.Name) time.Duration {
	d := c.deadline
	switch {
	case d > 0:
	case c.role == Gate:
		d = GateDeadline
	default:
		d = BodyDeadline
	}
	if name == event.SessionEnd || name == event.Interrupt {
		d = min(d, endDeadline)
	}
	return d
}

// Main is a whole hook program: it reads the payload from standard input, runs
// body once, answers in the client's dialect and ends the process. It takes
// --provider and --event from the command line and leaves other words to the
// program; with --resident it goes on to serve one request after another, as
// Serve does.
//
// While it runs, os.Stdout is the same as os.Stderr, since a stray line on
// standard output would void the answer. A panic in body is caught; one in a
// goroutine that body started is not, and Go then ends the process with exit
// code 2, which most clients take for a refusal: an Observer must not start
// goroutines that may panic.
func Main(body Body, opts ...Option) {
	stdout := seam()
	if !resident(os.Args[1:]) {
		// One event allocates a small multiple of its payload and is gone
		// before a collection would have paid; a bound stays.
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(256 << 20)
	}
	os.Exit(Run(body, os.Args[1:], os.Getenv, os.Stdin, stdout, os.Stderr, named(opts)...))
}

// seam keeps standard output for the answer alone and returns it. A client that
// stops listening must not kill the hook in the middle.
func seam() *os.File {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	signal.Ignore(syscall.SIGPIPE)
	return stdout
}

// named puts the program's name in front of the author's options.
func named(opts []Option) []Option {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	return append([]Option{Named(name)}, opts...)
}

// Run is Main with everything handed in: the arguments behind the program's
// name, the environment, the streams. It returns the exit code. When the
// deadline passes it does not wait for body, whose goroutine is left to end.
func Run(body Body, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer, opts ...Option) int {
	opts = append(opts[:len(opts):len(opts)], within(env))
	c := configure(body, opts)
	flagError := c.flags(args)
	if resident(args) {
		if err := ServeOn(context.Background(), stdin, stdout, body, append(opts, ForProvider(c.provider), ForEvent(c.event))...); err != nil {
			return 1
		}
		return 0
	}
	out := c.once(stdin, flagError)
	if c.role == Observer {
		return 0
	}
	// Errors are of no use here: a client that closed the pipe has stopped
	// listening, and there is nobody else to tell.
	if len(out.Stdout) > 0 {
		stdout.Write(out.Stdout)
	}
	if len(out.Stderr) > 0 {
		stderr.Write(out.Stderr)
	}
	return out.Code
}

// flags takes our own words from the command line.
func (c *config) flags(args []string) error {
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		if name != "--provider" && name != "--event" {
			continue
		}
		if !inline {
			if i+1 >= len(args) {
				return fmt.Errorf("%s has no value", name)
			}
			i++
			value = args[i]
		}
		if name == "--event" {
			c.event = value
			continue
		}
		if codecOf(Provider(value)) == nil {
			return fmt.Errorf("no provider %q; known are %s", value, known())
		}
		c.provider = Provider(value)
	}
	return nil
}

func resident(args []string) bool {
	for _, a := range args {
		if a == "--resident" {
			return true
		}
	}
	return false
}

// once answers one event.
func (c *config) once(stdin io.Reader, flagError error) (out event.Output) {
	defer func() {
		if r := recover(); r != nil { // our own bug, or one in OnError
			out = c.portable(c.event, fmt.Errorf("panic: %v", r))
		}
	}()
	payload, err := readPayload(stdin)
	if err == nil {
		err = flagError
	}
	codec := codecOf(c.client(payload))
	if codec == nil {
		if err == nil {
			err = errors.New("the payload does not tell which client sent it; --provider does")
		}
		c.report(err)
		native := c.event
		if native == "" {
			native = jsontext.Text(payload, "hook_event_name")
		}
		return c.portable(native, err)
	}
	ev, decodeError := decode(codec, payload, c.event, c.env)
	if err == nil {
		err = decodeError
	}
	if err != nil {
		c.report(err)
		if c.role != Gate {
			return event.Output{}
		}
		return codec.Refuse(&ev, c.refusal(err))
	}
	v := c.answer(context.Background(), &ev, c.limit(ev.Name))
	if c.role == Observer {
		return event.Output{}
	}
	out, err = codec.Encode(&ev, v.internal())
	if err == nil {
		return out
	}
	c.report(err)
	if c.role != Gate {
		return out
	}
	closed := c.closed(&ev, err)
	if v.Decision == Denied && closed.Decision == Denied {
		closed.Reason = v.Reason
	}
	if again, err := codec.Encode(&ev, closed.internal()); err == nil {
		return again
	}
	return out
}

// client tells whose payload this is: the author's or installer's word, else the
// payload's own marks. One thing overrules the word: Copilot also runs the hooks of
// a project's .claude/settings.json (docs/contracts/copilot.md §1.17), and where
// both the environment and the payload say so, an answer in Claude Code's dialect
// would be lost on it.
func (c *config) client(payload []byte) Provider {
	p := c.provider
	if p != "" && !(p == Claude && copilot.Called(c.env)) {
		return p
	}
	if told, ok := guess(payload); ok && (p == "" || told == Copilot) {
		return told
	}
	return p
}

// answer runs the body and gives its verdict, or the one its role stands for.
func (c *config) answer(ctx context.Context, ev *event.Event, limit time.Duration) Verdict {
	v, err := c.judge(ctx, public(ev), limit)
	if err != nil {
		c.report(err)
		return c.closed(ev, err)
	}
	return v.settled(ev)
}

// judge runs the body in a goroutine of its own, so that one that never returns
// cannot keep the answer. That goroutine is left behind then.
func (c *config) judge(ctx context.Context, ev Event, limit time.Duration) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		v   Verdict
		err error
	}
	late := fmt.Errorf("no answer within %v", limit)
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("it ended without an answer")}
		defer func() {
			if r := recover(); r != nil {
				a = answer{err: fmt.Errorf("panic: %.300v", r)}
			}
			done <- a
		}()
		a.v = c.body(ctx, ev)
		// The body's own end counts, not when this process gets to hear of it.
		if a.err = a.v.check(); a.err == nil && c.role == Gate && ctx.Err() != nil {
			a.err = late // after its deadline it may be half an answer
		}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done: // in time, and beside the deadline
		return a.v, a.err
	default:
		return Verdict{}, late
	}
}

// closed is what a failure means for an event that could be read.
func (c *config) closed(ev *event.Event, problem error) Verdict {
	if c.role != Gate || !stoppable(ev.Name) {
		return Verdict{}
	}
	v := Verdict{Decision: Denied, Reason: c.refusal(problem), Rule: failedRule}
	if ev.Name == event.PostToolUse && ev.Tool != nil && ev.Tool.Response != nil {
		v.UpdatedOutput, _ = mapStrings(ev.Tool.Response, withhold)
	}
	return v
}

// failedRule is the rule of a refusal that no rule of the author made.
const failedRule = "hook-failed"

func (c *config) refusal(problem error) string {
	return jsontext.Clean(fmt.Sprintf("%s could not judge this (%v), so it is refused.", c.name, problem))
}

// portable answers without knowing the client: exit 2 with a reason on stderr is
// the one block that all clients share.
func (c *config) portable(native string, problem error) event.Output {
	if c.role != Gate {
		return event.Output{}
	}
	if name := canonical(native); slices.Contains(Names(), name) && !stoppable(event.Name(name)) {
		return event.Output{}
	}
	return event.Output{Stderr: []byte(c.refusal(problem)), Code: 2}
}

// canonical finds our word for any client's spelling of an event.
func canonical(native string) Name {
	for _, p := range []Provider{Copilot, OpenCode} { // the others spell as we do
		if ev, _ := decode(codecOf(p), []byte("{}"), native, nil); ev.Name != "" {
			return Name(ev.Name)
		}
	}
	return Name(native)
}

// withhold takes the place of a text that nobody has judged. Members that say of
// which kind their object is stay, or the client would not know the shape.
func withhold(key, text string) string {
	if (key == "type" || key == "status" || key == "resultType" || key == "result_type") && len(text) <= 40 && !strings.ContainsAny(text, " \n/:=") {
		return text
	}
	if text == "" {
		return ""
	}
	return "[withheld]"
}

// stoppable tells the events at which a refusal prevents something. It does not
// at the end of a turn, where it would keep the agent going for our own fault,
// nor around a compaction or a worktree, which it would break.
func stoppable(name event.Name) bool {
	switch name {
	case event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand, event.UserPromptSubmit,
		event.UserPromptExpansion, event.PreModelSwitch, event.ConfigChange, event.TaskCreated,
		event.Elicitation, event.ElicitationResult, event.QuestionAsked, event.PostToolUse:
		return true
	}
	return false
}

// readPayload reads all of stdin, within bounds of size and time. With an error
// it returns what was read.
func readPayload(stdin io.Reader) ([]byte, error) {
	type result struct {
		payload []byte
		err     error
	}
	done := make(chan result, 1)
	// The reader cannot be interrupted: stdin is a pipe that somebody else may
	// never close. It is left behind, and ends with the process.
	go func() {
		payload, err := readAll(stdin)
		done <- result{payload, err}
	}()
	timer := time.NewTimer(payloadLimit)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.payload, r.err
	case <-timer.C:
		return nil, errors.New("no complete payload on standard input in time")
	}
}

func readAll(stdin io.Reader) ([]byte, error) {
	buf := make([]byte, 0, 64<<10) // a pipe's worth
	for {
		n, err := stdin.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > MaxPayload:
			return buf[:MaxPayload], fmt.Errorf("a payload larger than %d bytes", MaxPayload)
		case errors.Is(err, io.EOF):
			if len(buf) == 0 {
				return nil, errors.New("an empty payload")
			}
			return buf, nil
		case err != nil:
			return buf, fmt.Errorf("reading standard input: %w", err)
		case len(buf) == cap(buf):
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
}
