package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/session"
)

// CoreSchema is the version of Core's snapshot.
const CoreSchema = 1

// MaxDecisions bounds the decisions that a Core remembers for `why`.
const MaxDecisions = 512

// CoreConfig is both halves' configuration, mapped from the settings.
type CoreConfig struct {
	Session session.Config `json:"session"`
	Awake   awake.Config   `json:"awake"`
}

// Input is one fact for the Core. Exactly one field is set; none at all is a
// tick, which only lets deadlines pass (as every input does).
type Input struct {
	Session *session.Input `json:"session,omitempty"`
	Machine *awake.Input   `json:"machine,omitempty"`
	Config  *CoreConfig    `json:"config,omitempty"`
}

// SignalInput wraps one observation about a session.
func SignalInput(sig event.Signal) Input {
	return Input{Session: &session.Input{Kind: session.InSignal, Signal: &sig}}
}

// SessionInput wraps any other input of the session registry.
func SessionInput(in session.Input) Input { return Input{Session: &in} }

// MachineInput wraps a fact about the machine or the result of an effect.
func MachineInput(in awake.Input) Input { return Input{Machine: &in} }

// ConfigInput wraps changed settings.
func ConfigInput(c CoreConfig) Input { return Input{Config: &c} }

// Step is what one input led to.
type Step struct {
	// Effects are to be carried out in order.
	Effects []awake.Effect `json:"effects,omitempty"`
	// Changes are what happened to sessions, for logs and notifications. They ask
	// for nothing.
	Changes []session.Change `json:"changes,omitempty"`
}

// Decision is one remembered cause or consequence, for `why`.
type Decision struct {
	At   event.Instant     `json:"at"`
	What string            `json:"what"`
	Key  *event.SessionKey `json:"key,omitempty"`
	Text string            `json:"text,omitempty"`
	// Protected is whether the machine was to be kept awake after it, and Bare the
	// locks that the system did not grant then, or had taken away.
	Protected bool         `json:"protected"`
	Bare      []awake.Hold `json:"bare,omitempty"`
}

// Core is the whole decision: the session registry and the awake decision as one
// pure step. It is owned by one goroutine, reads no clock and touches nothing.
//
// The runner's duty: stamp and Apply one input at a time, write Snapshot to disk
// before carrying out the step's effects, feed the answer of each effect back as
// an input, and call Apply with the zero Input when Next has passed.
type Core struct {
	sessions *session.State
	awake    *awake.State

	bootID string
	// shift is added to the machine's clocks, so that the reducers' clocks go on
	// over a reboot instead of starting again at zero.
	shiftAwake, shiftBoot time.Duration
	now                   event.Instant // shifted; of the last step

	decisions []Decision
	last      session.Summary
	sent      bool // awake has been told a summary at least once
}

// NewCore returns the Core of a first start. bootID names the boot of the
// machine (/proc/sys/kernel/random/boot_id); any string that changes with it.
func NewCore(config CoreConfig, bootID string) *Core {
	return &Core{sessions: session.New(config.Session), awake: awake.New(config.Awake), bootID: bootID}
}

// Apply takes one input at now, by the machine's clocks, and returns what to do.
// Clocks that go back count as standing still.
func (c *Core) Apply(in Input, now event.Instant) Step {
	t := c.clock(now)
	var step Step

	sin := session.Input{Kind: session.InTick}
	switch {
	case in.Session != nil:
		sin = *in.Session
	case in.Config != nil:
		sin = session.Input{Kind: session.InConfig, Config: &in.Config.Session}
	}
	step.Changes = c.sessions.Apply(sin, t)

	if in.Config != nil {
		step.Effects = append(step.Effects, c.awake.Apply(awake.Input{Kind: awake.InConfig, Config: &in.Config.Awake}, t)...)
	}
	if s := sin.Signal; s != nil && s.Kind == event.Failed && !s.Resets.IsZero() {
		limit := awake.Input{Kind: awake.InLimit, At: s.Resets, Who: s.Session.String()}
		step.Effects = append(step.Effects, c.awake.Apply(limit, t)...)
	}
	// The sessions' news comes before the machine's, so that work that began
	// wins over a deadline that passed at the same moment.
	if news, any := c.news(step.Changes); any {
		step.Effects = append(step.Effects, c.awake.Apply(news, t)...)
	}
	switch {
	case in.Machine != nil:
		step.Effects = append(step.Effects, c.awake.Apply(*in.Machine, t)...)
	default:
		step.Effects = append(step.Effects, c.awake.Apply(awake.Input{Kind: awake.InTick}, t)...)
	}
	c.remember(step, t)
	return step
}

// clock turns the machine's clocks into the reducers': going on over reboots,
// never going back, and never zero, which the reducers read as "never".
func (c *Core) clock(now event.Instant) event.Instant {
	t := event.Instant{Awake: now.Awake + c.shiftAwake, Boot: now.Boot + c.shiftBoot, Wall: now.Wall.Round(0).UTC()}
	t.Awake = max(t.Awake, c.now.Awake, 1)
	t.Boot = max(t.Boot, c.now.Boot, 1)
	c.now = t
	return t
}

// news is what the awake decision needs to hear of the sessions; false if
// nothing changed.
func (c *Core) news(changes []session.Change) (awake.Input, bool) {
	sum := c.sessions.Summary()
	in := awake.Input{Kind: awake.InSessions, Live: sum.Live, Holding: sum.Holding, Locked: sum.Locked}
	for i := range changes {
		switch ch := &changes[i]; ch.Kind {
		case session.Ended:
			in.Ends = append(in.Ends, awake.SessionEnd{
				Key: ch.Key, Normal: ch.End == session.Normal, Cancelled: ch.End == session.Cancelled, Reason: ch.Reason,
				Started: ch.Session.Started, Activity: ch.Session.Activity, Ended: ch.At,
				Cwd: ch.Session.Cwd, Transcript: ch.Session.Transcript, Prompt: ch.Session.Prompt,
				LastMessage: ch.Session.LastMessage,
			})
		case session.Locked, session.GraceOver:
			in.NewlyLocked = true
		}
	}
	changed := !c.sent || sum != c.last || len(in.Ends) > 0
	c.last, c.sent = sum, true
	return in, changed
}

// remember keeps the decisions of a step for `why`.
func (c *Core) remember(step Step, t event.Instant) {
	protected, bare := c.protected(), c.bare()
	add := func(d Decision) {
		d.At, d.Protected, d.Bare = t, protected, bare
		if len(c.decisions) >= MaxDecisions {
			n := copy(c.decisions, c.decisions[MaxDecisions/4:])
			c.decisions = c.decisions[:n]
		}
		c.decisions = append(c.decisions, d)
	}
	for i := range step.Changes {
		ch := &step.Changes[i]
		key := ch.Key
		text := ch.Reason
		if ch.Text != "" {
			text = ch.Text
		}
		if ch.To != nil {
			text = ch.To.String()
		}
		add(Decision{What: "session " + string(ch.Kind), Key: &key, Text: text})
	}
	for i := range step.Effects {
		e := &step.Effects[i]
		d := Decision{What: string(e.Kind)}
		switch e.Kind {
		case awake.DoNote:
			d.What, d.Text = e.Code, e.Text
		case awake.DoAcquire, awake.DoRelease:
			d.Text = string(e.Hold)
		case awake.DoSuspend:
			d.Text = string(e.Mode) + ": " + string(e.Reason)
		case awake.DoHistory:
			d.Text = e.History.Result
		case awake.DoWebhook:
			d.Text = string(e.Webhook.Kind) + ": " + string(e.Reason)
		}
		add(d)
	}
	if n := len(c.decisions); n > 0 {
		for _, h := range c.decisions[n-1].Bare {
			if protected && !slices.Contains(bare, h) { // a later try went through
				add(Decision{What: "held", Text: string(h)})
			}
		}
	}
}

// protected reports whether the machine is to be kept awake, and anything does.
func (c *Core) protected() bool { return c.awake.Protected() && !c.awake.Lockless() }

// bare are the wanted locks that are known not to be held.
func (c *Core) bare() (all []awake.Hold) {
	for i := range c.awake.Holds {
		if h := &c.awake.Holds[i]; h.Wanted && h.Held == 0 && (h.Why != "" || !h.Lost.IsZero()) {
			all = append(all, h.Hold)
		}
	}
	return all
}

// Next returns how long after now, by the machine's clocks, the next tick is
// due; false if nothing is timed. Both clocks run alike while the machine is
// awake, so a plain timer serves; after a wake-up apply an input and ask again.
func (c *Core) Next(now event.Instant) (time.Duration, bool) {
	t := event.Instant{Awake: max(now.Awake+c.shiftAwake, c.now.Awake), Boot: max(now.Boot+c.shiftBoot, c.now.Boot)}
	wait, ok := c.awake.Next(t)
	if due, more := c.sessions.Next(); more {
		if w := max(due-t.Awake, 0); !ok || w < wait {
			wait, ok = w, true
		}
	}
	return wait, ok
}

// Sessions is the registry, for reading.
func (c *Core) Sessions() *session.State { return c.sessions }

// Awake is the state of the awake decision, for reading.
func (c *Core) Awake() *awake.State { return c.awake }

// Now is the instant of the last step by the reducers' clocks, in which all
// deadlines of Sessions and Awake are given.
func (c *Core) Now() event.Instant { return c.now }

// snapshot is a Core as JSON.
type snapshot struct {
	Schema    int             `json:"schema"`
	BootID    string          `json:"boot_id"`
	Shift     [2]int64        `json:"shift_ns"` // awake, boot
	Now       event.Instant   `json:"now"`
	Sessions  *session.Saved  `json:"sessions"`
	Awake     *awake.State    `json:"awake"`
	Last      session.Summary `json:"last"`
	Sent      bool            `json:"sent"`
	Decisions []Decision      `json:"decisions,omitempty"`
}

// ForgetPrompts takes every prompt out of what the Core remembers and reports
// whether there was one. It decides nothing; only what webhooks and status tell
// changes.
func (c *Core) ForgetPrompts() (any bool) {
	for _, x := range c.sessions.All() {
		any = any || x.Prompt != ""
		x.Prompt = ""
	}
	forget := func(e *awake.SessionEnd) {
		if e != nil {
			any = any || e.Prompt != ""
			e.Prompt = ""
		}
	}
	if p := c.awake.Pending; p != nil {
		forget(p.Owed)
	}
	for i := range c.awake.Sending {
		forget(c.awake.Sending[i].Webhook.End)
	}
	return any
}

// Snapshot returns everything the Core remembers as JSON.
func (c *Core) Snapshot() ([]byte, error) {
	sessions := c.sessions.Save()
	return json.Marshal(snapshot{Schema: CoreSchema, BootID: c.bootID,
		Shift: [2]int64{int64(c.shiftAwake), int64(c.shiftBoot)}, Now: c.now,
		Sessions: &sessions, Awake: c.awake, Last: c.last, Sent: c.sent, Decisions: c.decisions})
}

// How a snapshot comes back to life.
type Revival int

const (
	// AfterCrash: the writer is dead and so are its locks.
	AfterCrash Revival = iota
	// AfterHandover: the writer lives and holds until it is released.
	AfterHandover
	// Exactly: the same process goes on, as a replay does.
	Exactly
)

// RestoreCore reads a snapshot at now. After a reboot, which another bootID
// shows, the time between counts as spent asleep. An unreadable or foreign
// snapshot is an error; the caller starts anew then.
func RestoreCore(data []byte, bootID string, how Revival, now event.Instant) (*Core, error) {
	var snap snapshot
	if err := json.Unmarshal(data, &snap); err != nil {
		return nil, fmt.Errorf("reading the runtime's snapshot: %w", err)
	}
	switch {
	case snap.Schema != CoreSchema:
		return nil, fmt.Errorf("snapshot has schema %d, this program reads %d", snap.Schema, CoreSchema)
	case snap.Sessions == nil || snap.Awake == nil:
		return nil, errors.New("snapshot is incomplete")
	case snap.Awake.Schema != awake.Schema:
		return nil, fmt.Errorf("awake state has schema %d, this program reads %d", snap.Awake.Schema, awake.Schema)
	}
	sessions, err := snap.Sessions.State()
	if err != nil {
		return nil, fmt.Errorf("reading the runtime's snapshot: %w", err)
	}
	c := &Core{sessions: sessions, awake: snap.Awake, bootID: bootID, now: snap.Now, last: snap.Last, sent: snap.Sent,
		shiftAwake: time.Duration(snap.Shift[0]), shiftBoot: time.Duration(snap.Shift[1]), decisions: snap.Decisions}
	if how == Exactly {
		return c, nil
	}
	if bootID != snap.BootID {
		off := max(now.Wall.Sub(snap.Now.Wall), 0)
		if snap.Now.Wall.IsZero() {
			off = 0 // it had no first step; centuries would overflow the clock
		}
		c.shiftAwake = snap.Now.Awake - now.Awake
		c.shiftBoot = snap.Now.Boot + off - now.Boot
	}
	t := c.clock(now)
	c.awake.Resume(how == AfterHandover, t)
	c.sent = false
	return c, nil
}

// Record is one line of the input log.
type Record struct {
	At    event.Instant `json:"at"` // the machine's clocks
	Input Input         `json:"input"`
	// Effects are what was decided then, to compare a replay with.
	Effects []awake.Effect `json:"effects,omitempty"`
}

// Mismatch is a step of a replay that decided otherwise than the recorded run.
type Mismatch struct {
	Index     int            // of the record
	Got, Want []awake.Effect // replayed, recorded
}

// Replay applies records, in order, to the snapshot they started from, and
// returns the Core at the end, every step, and each step that differs from what
// was recorded. A nil snapshot starts with config.
func Replay(start []byte, config CoreConfig, records []Record) (*Core, []Step, []Mismatch, error) {
	c := NewCore(config, "")
	if start != nil {
		var err error
		if c, err = RestoreCore(start, "", Exactly, event.Instant{}); err != nil {
			return nil, nil, nil, err
		}
	}
	var steps []Step
	var wrong []Mismatch
	for i, r := range records {
		step := c.Apply(r.Input, r.At)
		steps = append(steps, step)
		got, err := json.Marshal(step.Effects)
		if err != nil {
			return nil, nil, nil, err
		}
		want, err := json.Marshal(r.Effects)
		if err != nil {
			return nil, nil, nil, err
		}
		if !bytes.Equal(got, want) {
			wrong = append(wrong, Mismatch{Index: i, Got: step.Effects, Want: r.Effects})
		}
	}
	return c, steps, wrong, nil
}

// ReadRecords reads a log of records, one JSON object a line. A partial last
// line, as a crash leaves it, is dropped.
func ReadRecords(r io.Reader) ([]Record, error) {
	dec := json.NewDecoder(r)
	var all []Record
	for {
		var rec Record
		err := dec.Decode(&rec)
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(all)+1, err)
		}
		if rec.At.Wall.IsZero() {
			return nil, fmt.Errorf("record %d has no time", len(all)+1)
		}
		all = append(all, rec)
	}
}

// gapShown is how long status tells of a time without a lock that was wanted.
const gapShown = time.Hour

// Away tells what a closed-lid policy needs. It is no input: asking is never
// activity.
func (c *Core) Away() ipc.Away {
	return ipc.Away{Lid: c.awake.Lid.String(), Displays: c.awake.Displays, Away: c.awake.Away()}
}

// Status returns the runtime's own view. The runner adds PID, Started and what
// the system confirms of Held. It is no input.
func (c *Core) Status() ipc.Status {
	a := c.awake
	st := ipc.Status{
		Sessions: []ipc.Session{}, Held: []ipc.Hold{}, Protected: c.protected(),
		Lid: a.Lid.String(), Displays: a.Displays, Away: a.Away(), Celsius: a.Celsius, LastWakeup: a.LastWoke.Wall,
	}
	for _, x := range c.sessions.All() {
		st.Sessions = append(st.Sessions, c.show(x))
	}
	for _, h := range a.Holds {
		if !h.Wanted && h.Held == 0 {
			continue
		}
		hold := ipc.Hold{What: string(h.Hold), Since: h.Since.Wall}
		if h.Held == 0 {
			hold.Error = "not held yet"
			if h.Why != "" || h.Who != "" {
				hold.Error = h.Why
				if h.Who != "" {
					hold.Error += " (" + h.Who + ")"
				}
			}
		}
		st.Held = append(st.Held, hold)
	}
	for _, d := range c.decisions {
		// Told for a while: what came through the gap, such as a lid that closed
		// in it, is only found later.
		if d.What == "hold-back" && a.Protected() && c.now.Wall.Sub(d.At.Wall) < gapShown {
			st.Findings = append(st.Findings, ipc.Finding{Code: "hold-gap", Text: d.Text + " without, as when login1 is restarted",
				Remedy: "nothing to do; `lidguard why` has the time"})
		}
	}
	if a.Battery.Known {
		onBattery, percent := a.Battery.OnBattery, a.Battery.Percent
		st.OnBattery, st.Battery = &onBattery, &percent
	}
	if p := a.Pending; p != nil {
		st.Suspend = &ipc.Pending{Due: c.wall(p.Due), Mode: string(p.Mode), Reason: string(p.Reason), Stage: string(p.Stage)}
	}
	if why := a.Blocked(); why != "" && a.Holding > 0 {
		st.Findings = append(st.Findings, ipc.Finding{Code: "protection-blocked", Text: "sessions work but the machine is not kept awake for them: " + why,
			Remedy: blockedRemedy[why]})
	}
	if a.Lockless() && a.Holding > 0 {
		st.Findings = append(st.Findings, ipc.Finding{Code: "protection-blocked",
			Text:   "sessions work but the machine is not kept awake: prevent-system-sleep and change-lid-action are off",
			Remedy: "`lidguard settings --prevent-system-sleep on --change-lid-action true`"})
	}
	if r := a.Refused; r != nil {
		times := "once"
		if r.Tries > 1 {
			times = fmt.Sprintf("%d times", r.Tries)
		}
		text := fmt.Sprintf("%s was refused %s: %s", r.Mode, times, r.Why)
		if r.Who != "" {
			text += " (" + r.Who + ")"
		}
		st.Findings = append(st.Findings, ipc.Finding{Code: "suspend-refused", Text: text,
			Remedy: "`lidguard suspend-history` has the last ones; on Linux see `lidguard linux-permission check`"})
	}
	if a.Offline {
		f := ipc.Finding{Code: "network-lost", Text: "no network since " + c.wall(a.OfflineSince).Local().Format("15:04") +
			", with the lid closed and agents at work"}
		if !a.Config.OfflineRelease { // else protection-blocked has it
			f.Remedy = "`lidguard settings --network-lost-release true` has the machine sleep then"
		}
		st.Findings = append(st.Findings, f)
	}
	if a.ReachUntil > c.now.Awake && a.Protected() {
		st.ReachableUntil = c.wall(a.ReachUntil)
	}
	if a.Config.CountRemote && a.Protected() {
		st.RemoteLogins = a.RemoteWho
	}
	if a.WakeSet {
		st.WakesAt = a.WakeAt
	}
	if !a.QuietSince.IsZero() && a.Config.ExitDelay >= 0 {
		st.ExitsAt = a.QuietSince.Wall.Add(a.Config.ExitDelay)
	}
	return st
}

// blockedRemedy is what to do about each word of awake.State.Blocked.
var blockedRemedy = map[string]string{
	"heat":          "let the machine cool down, or open the lid",
	"battery floor": "plug the charger in, open the lid, or change it with `lidguard settings --battery-floor-percent`",
	"on battery":    "plug the charger in, or `lidguard settings --protect-on-battery true`",
	"no network":    "open the lid, or `lidguard settings --network-lost-release false`",
}

// wall shows a deadline of the Awake clock as wall time, as if no sleep comes
// between; zero for none.
func (c *Core) wall(due time.Duration) time.Time {
	if due == 0 {
		return time.Time{}
	}
	return c.now.Wall.Add(due - c.now.Awake)
}

func (c *Core) show(x *session.Session) ipc.Session {
	s := ipc.Session{
		Key: x.Key, State: x.Doing(), Holds: x.Holds(), Since: x.Started.Wall, Activity: x.Activity.Wall,
		Cwd: x.Cwd, Prompt: x.Prompt, Process: x.Process, Transcript: x.Transcript,
		Tools: len(x.Tools), Tasks: slices.Clone(x.Tasks), Todos: len(x.Todos),
	}
	if x.Live() {
		s.TimesOut = c.wall(x.Due())
	}
	if x.Lock != nil {
		s.SoftLock, s.SoftLocked = x.Lock.Reason, x.Lock.At.Wall
	}
	s.Reason = reason(x)
	return s
}

// reason says in a few words why a session holds or does not.
func reason(x *session.Session) string {
	last := ""
	if n := len(x.Evidence); n > 0 {
		last = x.Evidence[n-1].What
		if src := x.Evidence[n-1].Source; src != "" {
			last += " (" + src + ")"
		}
	}
	switch {
	case x.Lock != nil && x.Holds():
		return "waits for a person, within the grace: " + x.Lock.Reason
	case x.Lock != nil:
		return "waits for a person: " + x.Lock.Reason
	case x.Pending:
		return fmt.Sprintf("said Stop while background tasks run (%d)", len(x.Tasks))
	case len(x.Tools) > 0 && x.Tools[len(x.Tools)-1].Name != "":
		return "tool in flight: " + x.Tools[len(x.Tools)-1].Name
	}
	return last
}

// Why is what `why` prints for one moment.
type Why struct {
	At time.Time `json:"at"`
	// Protected is whether the machine was to be kept awake, and Bare the locks that
	// the system did not grant.
	Protected bool         `json:"protected"`
	Bare      []awake.Hold `json:"bare,omitempty"`
	// Since is when the oldest decision was made that is remembered; zero: none is.
	// Of what was before nothing is known.
	Since    time.Time    `json:"recorded_since,omitzero"`
	Sessions []WhySession `json:"sessions"`
	// Decisions lead up to the moment, oldest first.
	Decisions []Decision `json:"decisions"`
}

// WhySession is one session's evidence up to the moment.
type WhySession struct {
	Key      event.SessionKey   `json:"key"`
	Holds    bool               `json:"holds"`
	Evidence []session.Evidence `json:"evidence"`
}

// Why returns the evidence for what was decided at the moment at (wall time);
// zero is now. It reaches as far back as the bounded memory does. It is no
// input.
func (c *Core) Why(at time.Time) Why {
	now := at.IsZero() || at.After(c.now.Wall)
	if now {
		at = c.now.Wall
	}
	later := func(t event.Instant) bool { return !now && t.Wall.After(at) } // the wall clock may have gone back
	w := Why{At: at, Sessions: []WhySession{}, Decisions: []Decision{}}
	for _, x := range c.sessions.All() {
		ws := WhySession{Key: x.Key}
		for _, e := range x.Evidence {
			if later(e.At) {
				break
			}
			ws.Evidence = append(ws.Evidence, e)
			ws.Holds = e.Holds
		}
		if len(ws.Evidence) > 0 {
			w.Sessions = append(w.Sessions, ws)
		}
	}
	if len(c.decisions) > 0 {
		w.Since = c.decisions[0].At.Wall
	}
	for _, d := range c.decisions {
		if later(d.At) {
			break
		}
		w.Decisions = append(w.Decisions, d)
		w.Protected, w.Bare = d.Protected, d.Bare
	}
	if now { // settings may have changed it without a decision
		w.Protected, w.Bare = c.protected(), c.bare()
	}
	return w
}

// WatchList is what deserves watching from outside.
type WatchList struct {
	// Processes are to be watched for their exit, never Shared ones.
	Processes []event.Process
	// Transcripts are to be followed, by session.
	Transcripts map[event.SessionKey]string
	// Busy are the sessions whose process tree should be sampled for life:
	// something of them is in flight.
	Busy map[event.SessionKey]event.Process
}

// Watches returns what deserves watching now. It walks all sessions; compare
// Sessions().Watched() before and after an input to know whether Processes or
// Transcripts may have changed. Busy changes with every tool call; ask for it
// when it is time to sample.
func (c *Core) Watches() WatchList {
	w := WatchList{Transcripts: map[event.SessionKey]string{}, Busy: map[event.SessionKey]event.Process{}}
	seen := map[event.Process]bool{}
	for _, x := range c.sessions.All() {
		if x.Transcript != "" {
			w.Transcripts[x.Key] = x.Transcript
		}
		if p := x.Process; p != nil && !p.Shared {
			if !seen[*p] {
				seen[*p] = true
				w.Processes = append(w.Processes, *p)
			}
			if x.Phase == session.Working && (len(x.Tools) > 0 || len(x.Tasks) > 0) {
				w.Busy[x.Key] = *p
			}
		}
	}
	return w
}
