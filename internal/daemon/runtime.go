package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
	policy "github.com/lidguard-go/lidguard/internal/policy/telemetry"
	"github.com/lidguard-go/lidguard/internal/resident"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/lidguard-go/lidguard/internal/telemetry"
	"github.com/lidguard-go/lidguard/internal/watch"
)

// ErrRunning is matched by Run's error when another runtime of this user serves
// already. It is no fault: two hooks may start one at the same moment.
var ErrRunning = errors.New("another runtime is running")

// Times of the runner itself. They share the one timer with the Core.
const (
	// saveSoon and saveLate are how long a change of the state may wait for its
	// snapshot: soon where a session began, ended or waits, late where it only
	// showed life. A step with effects is saved before they are carried out.
	// What a crash can lose the session's next hook event tells again.
	saveSoon = 100 * time.Millisecond
	saveLate = 5 * time.Second
	// busyPace is how often the process trees of silent tools are sampled.
	busyPace = 30 * time.Second
	// lookLimit bounds the look at lid and displays that a hook waits for.
	lookLimit = 250 * time.Millisecond
	// settleAfter is how long after the start, and after the last work ended, the
	// process gives back what only that needed: by then it is written and sent.
	settleAfter = 5 * time.Second
	// leaveLimit bounds an orderly end: a system that does not answer must not
	// keep a runtime that was told to go.
	leaveLimit = 10 * time.Second
)

// Options are what a runtime is made of. Dirs, Version, Machine and Settings must
// be set.
type Options struct {
	Dirs    paths.Dirs
	Version string
	Machine awake.Machine
	// Settings reads the settings file; with an error the defaults count.
	Settings func() (settings.Settings, error)
	// Play plays the system sound or .wav file named sound to its end, at volume
	// percent (0: as it is). nil: this build plays nothing.
	Play func(ctx context.Context, sound string, volume int) error
	// Settle gives memory back to the system: once after the start, and each time
	// that nothing is left to do (rest); Resume is called when something happens
	// after a rest. It may take some milliseconds. nil: what the process has it keeps.
	Settle func(rest bool)
	Resume func()
	// Replace takes over from a running runtime of an older version.
	Replace bool

	BootID string               // names the boot of the machine, see Core
	Now    func() event.Instant // nil: the system's clocks
	Table  proc.Table
	Listen func(socket string) (net.Listener, error)                  // nil: package endpoint
	Dial   func(ctx context.Context, socket string) (net.Conn, error) // nil: package endpoint
	// Detector returns a reader of the session's transcript, nil where its
	// client has none. nil: no transcripts are read.
	Detector func(event.SessionKey) watch.Detector
	// Helper finds a resident helper of the rulebooks that count in a folder. It is
	// called from many goroutines. nil: there are none.
	Helper func(name, cwd string) (resident.Spec, error)
	// Environ is what helpers see of the environment.
	Environ []string
	// Telemetry reads what the rulebook says about telemetry; nil without an error:
	// the pack is off. It is called from many goroutines. nil: there is none.
	Telemetry func() (*policy.Plan, error)
	// Locate finds a transcript that no event named, "" for none. It is called
	// in a goroutine of its own. nil: only named ones are read.
	Locate func(event.SessionKey) string
}

// daemon is one run. Fields without a remark belong to the owner goroutine, the
// one in loop.
type daemon struct {
	Options
	started time.Time
	log     *slog.Logger      // any goroutine
	inbox   *inbox            // any goroutine
	hands   *hands            // any goroutine
	outward *outward          // any goroutine
	outbox  *telemetry.Outbox // any goroutine; nil: no telemetry
	pool    *resident.Pool    // any goroutine
	tailer  *watch.Tailer
	procs   *watch.Processes

	core     *Core
	settings settings.Settings
	// settingsFile is the file when it was last read; nil: there was none.
	settingsFile fs.FileInfo

	server   *server      // nil while not listening; then no file of ours is written
	listener net.Listener // of server
	work     context.Context
	journal  journal
	hookLogs hookLogs
	absence  absence

	watched  uint64 // the Core's count at the last syncWatches
	resync   bool   // sessions began or ended since
	followed map[event.SessionKey]string
	offsets  map[event.SessionKey]int64  // from the snapshot, until followed
	located  map[event.SessionKey]string // transcripts that Locate found; "" while or after it looked
	asked    map[event.SessionKey]bool   // whose owner hooks were asked for

	// Deadlines on the machine's Awake clock; 0: none.
	saveAt, busyAt, heatAt, leaveBy time.Duration
	settleAt                        time.Duration
	settled, resting                bool          // Settle was called; with rest
	saveCost                        time.Duration // of the last save, real time
	saveErr                         error         // of the last save; nil: it was written
	sampling                        bool
	cpu                             map[event.SessionKey]time.Duration // at the last sample

	slow      slow
	questions map[string]*question // to the phone, by the id that hooks have
	unwatch   context.CancelFunc   // ends the machine's Watch; nil while it is not watched
	unwatched chan struct{}        // closed when the last Watch ended

	helpers   sync.WaitGroup // goroutines that end with work
	closing   sync.WaitGroup // servers that end with their connections
	retired   *server        // the one that handed over, whose connections go on
	parting   *server        // given up on the Core's word, while what it had read is answered
	stopping  bool           // told to go: nothing is taken any more
	rebooted  bool           // the snapshot is from before a reboot, which no process survived
	successor bool           // our state was handed over; we hold until released
	quit      bool           // leave the loop
	gone      bool           // the files belong to another runtime now
}

// Run serves until nothing was left to do for the configured time, ctx ends (a
// signal), a person asks it to stop, or a newer runtime takes over. When it
// returns nothing is held any more. The error matches ErrRunning when another one
// serves.
func Run(ctx context.Context, o Options) error {
	d := &daemon{Options: o, started: time.Now(), inbox: newInbox(),
		followed: map[event.SessionKey]string{}, located: map[event.SessionKey]string{}, asked: map[event.SessionKey]bool{},
		cpu:     map[event.SessionKey]time.Duration{},
		outward: &outward{history: o.Dirs.History(), play: o.Play}}
	if d.Now == nil {
		d.Now = systemNow
	}
	d.pool = &resident.Pool{Start: d.startHelper, Log: func(text string, args ...any) { d.log.Info(text, args...) }}
	if d.Telemetry != nil {
		d.outbox = telemetry.New(telemetry.Options{Dir: o.Dirs.Telemetry(), Version: o.Version, Plan: d.Telemetry, Getenv: lookup(o.Environ),
			Log: func(text string, args ...any) { d.log.Warn(text, args...) }})
	}
	if d.Listen == nil {
		d.Listen = d.listenEndpoint
	}
	if d.Dial == nil {
		d.Dial = endpoint.Dial
	}
	logs := openRotating(o.Dirs.Log(), maxLog, time.Now)
	defer logs.Close()
	d.log = newLogger(logs)
	d.journal.file = openRotating(o.Dirs.Inputs(), maxInputs, time.Now)
	d.journal.file.keep = true
	defer d.journal.file.Close()
	d.hookLogs.path = func(p event.Provider) string { return o.Dirs.HookEvents(string(p)) }
	d.absence = absence{file: o.Dirs.AwayReport(), warn: func(err error) { d.log.Warn("away report not written", "err", err) }}

	var from *predecessor
	if o.Replace {
		var err error
		if from, err = d.takeOver(ctx); err != nil {
			return err
		}
	}
	listener, err := d.listenOnceFree(ctx)
	if err != nil {
		from.abandon()
		return err
	}
	d.run(ctx, listener, from)
	return nil
}

// freeLimit is how long a runtime waits for one that is leaving: from giving up
// the name to giving up the lock it is microseconds, on a loaded machine more.
const freeLimit = time.Second

// listenOnceFree takes the socket. Where another runtime has it the error matches
// ErrRunning; but one that no longer listens is only leaving, and whoever started
// this one would wait for it in vain.
func (d *daemon) listenOnceFree(ctx context.Context) (net.Listener, error) {
	for end := time.Now().Add(freeLimit); ; {
		listener, err := d.Listen(d.Dirs.Socket)
		if !errors.Is(err, endpoint.ErrInUse) {
			return listener, err
		}
		conn, refused := d.Dial(ctx, d.Dirs.Socket)
		if refused == nil {
			conn.Close()
		}
		if refused == nil || ctx.Err() != nil || time.Now().After(end) {
			return nil, errors.Join(ErrRunning, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (d *daemon) listenEndpoint(socket string) (net.Listener, error) {
	l, err := endpoint.Listen(socket)
	if err != nil {
		return nil, err
	}
	l.Refused = func(err error) { d.log.Warn("connection refused", "err", err) }
	return l, nil
}

// run serves with the socket in hand.
func (d *daemon) run(ctx context.Context, listener net.Listener, from *predecessor) {
	d.loadSettings()
	d.restore(from)
	d.forgetPrompts()
	d.log.Info("runtime started", "version", d.Version, "pid", os.Getpid(), "sessions", len(d.core.Sessions().All()), "took_over", from != nil)
	d.journal.begin(d.core, ConfigOf(d.settings))

	work, cancel := context.WithCancel(context.Background())
	d.work = work
	d.hands = newHands(d.Machine, d.outward, d.log, func(in awake.Input) {
		d.inbox.put(func() { d.apply(MachineInput(in)) })
	})
	d.tailer = watch.NewTailer(func(_ event.SessionKey, signals []event.Signal) {
		d.inbox.put(func() {
			for _, s := range signals {
				d.apply(SignalInput(d.discreet(s)))
			}
		})
	})
	d.procs = watch.NewProcesses(d.Table, func(p event.Process) {
		d.inbox.put(func() { d.apply(SessionInput(session.Input{Kind: session.InExited, Process: &p})) })
	})
	d.helpers.Go(func() { d.tailer.Run(work) })
	if _, ok := listener.(deletable); ok {
		d.helpers.Go(func() { d.guardSocket(work) })
	}
	if d.outbox != nil {
		d.helpers.Go(d.outbox.Start)
	}

	d.serve(listener)
	d.apply(ConfigInput(ConfigOf(d.settings)))
	d.sweep()
	d.settleSoon()
	d.loop(ctx, from)

	d.save()
	d.stopServing()
	if d.retired != nil {
		d.closing.Go(d.retired.close)
	}
	cancel()
	d.helpers.Wait()
	d.procs.Close()
	if d.outbox != nil {
		d.outbox.Close()
	}
	d.hands.close()
	d.pool.Close()
	d.closing.Wait() // for replies that are being written; each has a deadline
	d.log.Info("runtime ended", "handed_over", d.gone)
}

// loop is the owner goroutine until the runtime leaves.
func (d *daemon) loop(ctx context.Context, from *predecessor) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	stop := ctx.Done()
	for !d.quit {
		if from != nil && d.holdsAll() {
			from.release()
			from = nil
		}
		d.syncWatches()
		d.syncMachine()
		d.readHeat()
		d.readSlow()
		if wait, timed := d.next(); timed {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
		select {
		case <-d.inbox.wake:
			d.stir()
			for _, f := range d.inbox.take() {
				f()
			}
		case <-timer.C:
			d.stir() // a rest has no end of its own: something else is due
			d.due()
		case <-stop:
			stop = nil
			d.log.Info("asked to end by a signal")
			d.shutdown()
		}
	}
	from.abandon()
}

// next is how long until something is due by itself; false if nothing is timed,
// and then the process sleeps until somebody calls.
func (d *daemon) next() (time.Duration, bool) {
	now := d.Now()
	wait, timed := d.core.Next(now)
	for _, at := range []time.Duration{d.saveAt, d.busyAt, d.heatAt, d.settleAt, d.leaveBy, d.slow.network, d.slow.remote} {
		if w := at - now.Awake; at != 0 && (!timed || w < wait) {
			wait, timed = w, true
		}
	}
	// A deadline that the Core does not clear when it is reached would be a
	// bug of ours; it shall cost a percent of a processor, not all of one.
	return max(wait, time.Millisecond), timed
}

// due does what has become due.
func (d *daemon) due() {
	d.reappear() // before anything is done that another runtime may not want
	now := d.Now()
	passed := func(at *time.Duration) bool {
		if *at == 0 || *at > now.Awake {
			return false
		}
		*at = 0
		return true
	}
	if wait, timed := d.core.Next(now); timed && wait <= 0 {
		d.apply(Input{})
	}
	if passed(&d.busyAt) {
		d.sampleBusy()
	}
	if passed(&d.heatAt) {
		d.readHeat()
	}
	if passed(&d.saveAt) {
		d.save()
	}
	if passed(&d.settleAt) {
		d.settle()
	}
	if passed(&d.leaveBy) {
		d.overdue()
	}
}

// shutdown puts everything back and leaves. The socket is given up at once, so
// that work that begins meanwhile starts a runtime of its own.
func (d *daemon) shutdown() {
	d.save()
	d.stopping = true
	d.stopServing()
	d.leaveBy = d.Now().Awake + leaveLimit
	d.apply(MachineInput(awake.Input{Kind: awake.InShutdown}))
}

// overdue ends a wait that took too long: for our own end, or for the runtime
// that we handed over to.
func (d *daemon) overdue() {
	if !d.successor {
		d.log.Error("the machine did not answer in time; leaving all the same")
		d.quit = true
		return
	}
	d.successor = false
	listener, err := d.Listen(d.Dirs.Socket)
	if err != nil {
		// It serves, and only did not tell us.
		d.log.Warn("successor serves without a release", "err", err)
		d.release()
		return
	}
	d.log.Warn("successor never came; serving again")
	d.closing.Go(d.retired.close)
	d.retired = nil
	d.serve(listener)
}

// apply takes one input to the Core and has its effects carried out.
func (d *daemon) apply(in Input) {
	now := d.Now()
	if s := in.Session; s != nil && s.Signal != nil && s.Signal.Resets.IsZero() {
		s.Signal.Resets = limitOver(s.Signal, now.Wall)
	}
	step := d.core.Apply(in, now)
	if d.server != nil && d.journal.record(now, in, step.Effects) {
		d.journal.begin(d.core, ConfigOf(d.settings))
	}
	if !d.gone {
		d.absence.step(d.core, step)
	}
	for i := range step.Changes {
		c := &step.Changes[i]
		d.resync = true
		d.log.Info("session "+string(c.Kind), "session", c.Key.String(), "reason", c.Reason, "end", c.End, "note", c.Text)
	}
	switch {
	case len(step.Effects) > 0:
		d.save()
	case len(step.Changes) > 0, lastWord(in):
		d.saveWithin(now, saveSoon)
	case in != Input{}:
		d.saveWithin(now, saveLate)
	}
	if s := in.Session; s != nil && s.Signal != nil && d.busyAt == 0 {
		switch s.Signal.Kind {
		case event.ToolBegan, event.TaskBegan, event.Stopped:
			d.busyAt = now.Awake + busyPace
		}
	}
	d.withdraw(in, step.Effects)
	d.hands.do(step.Effects)
	for i := range step.Effects {
		switch e := &step.Effects[i]; e.Kind {
		case awake.DoNote:
			d.log.Warn(e.Text, "code", e.Code)
		case awake.DoExit:
			d.exit(e.HandedOver)
		}
	}
}

// lastWord reports whether in may be the last that is heard of a turn: no later
// event would tell it again after a crash.
func lastWord(in Input) bool {
	if in.Session == nil || in.Session.Signal == nil {
		return false
	}
	switch in.Session.Signal.Kind {
	case event.Stopped, event.Failed, event.Interrupted, event.Closed:
		return true
	}
	return false
}

// exit ends the runtime on the Core's word. The socket is closed first, and what
// was already read from it is answered; if that calls the runtime back, stayed has
// it go on.
func (d *daemon) exit(handedOver bool) {
	if handedOver || d.server == nil {
		d.quit = true
		return
	}
	d.save()
	server := d.server
	d.parting, d.server = server, nil
	server.stop()
	go func() { // waits for connections, which wait for the owner; ends with them
		server.close()
		d.inbox.put(func() {
			if d.parting == server && d.stayed() && d.parting != nil {
				d.quit = true
			}
		})
	}()
}

// stayed has a leaving runtime serve again that was called back. A request that
// does so is answered afterwards: whoever hears "done" must find it known at the
// socket. It is false where another runtime began meanwhile, which must be told
// instead, and true where nothing was to be done.
func (d *daemon) stayed() bool {
	if d.parting == nil || d.core.Awake().Leaving() {
		return true
	}
	d.parting = nil
	listener, err := d.Listen(d.Dirs.Socket)
	if err != nil {
		d.log.Warn("called back, and the socket is taken", "err", err)
		d.yield()
		return false
	}
	d.serve(listener)
	d.save()
	return true
}

// deletable is a listener whose name others can take away. Reached reports whether
// they have not.
type deletable interface{ Reached() bool }

// deletedFor is how long a socket is gone before it is put back: who deletes it may be
// deleting the folder around it.
const deletedFor = 200 * time.Millisecond

// guardSocket has the owner look after the socket whenever something is deleted from
// its folder, until ctx ends. Nothing else goes on there, so it costs no wake-up. On
// macOS the deletion of a socket is no event (kqueue opens what it watches); there due
// finds out, unless the folder went with it.
func (d *daemon) guardSocket(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		d.log.Warn("socket not watched", "err", err)
		return
	}
	defer watcher.Close()
	for {
		if err := watcher.Add(d.Dirs.Run); err != nil {
			d.log.Warn("socket not watched", "err", err)
			return
		}
		for deleted := false; !deleted; {
			select {
			case e := <-watcher.Events:
				deleted = e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
			case <-watcher.Errors:
				deleted = true // of what is not known
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-time.After(deletedFor):
		case <-ctx.Done():
			return
		}
		looked := make(chan struct{})
		d.inbox.put(func() {
			d.reappear()
			close(looked)
		})
		select {
		case <-looked:
		case <-ctx.Done():
			return
		}
	}
}

// reappear puts the socket back that somebody deleted. Else nobody could reach this
// runtime any more, and it would hold the machine, and suspend it, beside the one that
// the next hook starts. Where that one serves already, this one leaves.
func (d *daemon) reappear() {
	if l, ok := d.listener.(deletable); d.server == nil || !ok || l.Reached() {
		return
	}
	d.log.Warn("somebody deleted the socket")
	d.stopServing()
	switch listener, err := d.Listen(d.Dirs.Socket); {
	case err == nil:
		d.serve(listener)
		d.save()
	case errors.Is(err, endpoint.ErrInUse):
		d.yield()
	default:
		d.log.Error("the socket cannot be made anew; leaving", "err", err)
		d.shutdown()
	}
}

// yield leaves to another runtime that serves: it has the files, and puts back what is
// to be put back.
func (d *daemon) yield() {
	d.log.Warn("another runtime serves")
	d.gone = true
	d.leaveBy = d.Now().Awake + leaveLimit
	d.apply(MachineInput(awake.Input{Kind: awake.InHandedOver}))
}

// serve begins to take requests from listener.
func (d *daemon) serve(listener net.Listener) {
	s := newServer(listener, d.Version, d.handle)
	d.server, d.listener = s, listener
	go func() { // ends when the server is closed
		if err := s.serve(d.work); err != nil && d.work.Err() == nil {
			d.log.Error("socket", "err", err)
		}
	}()
}

// stopServing gives up the socket without waiting for requests under way, whose
// goroutines may wait for us.
func (d *daemon) stopServing() {
	if s := d.server; s != nil {
		d.server = nil
		s.stop()
		d.closing.Go(s.close)
	}
}

// holdsAll reports whether every hold that is wanted is held or was refused.
func (d *daemon) holdsAll() bool {
	for _, h := range d.core.Awake().Holds {
		if h.Wanted && h.Held == 0 && (h.Asking != 0 || h.RetryAt == 0) {
			return false
		}
	}
	return true
}

func (d *daemon) loadSettings() {
	d.settingsFile = d.statSettings() // before it is read: what is written meanwhile is read again
	s, err := d.Settings()
	if err != nil {
		d.log.Error("settings not readable; the defaults count", "err", err)
		s = settings.Default()
	}
	d.settings = s
	d.outward.use(s)
}

// reload applies settings that may have changed.
func (d *daemon) reload() {
	was := d.settings.PowerRequestReason
	d.loadSettings()
	d.forgetPrompts()
	d.apply(ConfigInput(ConfigOf(d.settings)))
	if d.settings.PowerRequestReason != was {
		d.apply(MachineInput(awake.Input{Kind: awake.InRenew}))
	}
}

// statSettings is the settings file as it is now; nil: none can be seen.
func (d *daemon) statSettings() fs.FileInfo {
	info, err := os.Stat(d.Dirs.Settings())
	if err != nil {
		return nil
	}
	return info
}

// sameFile reports whether nobody wrote to a file between two looks at it.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// forgetPrompts takes out of the memory, where the settings forbid to keep them,
// the prompts from before they did. The record of inputs starts anew, since a
// replay of the old one would come to other webhooks; lines that were written
// while it was allowed stay until their files are rotated away.
func (d *daemon) forgetPrompts() {
	if !d.settings.PromptPreviews && d.core.ForgetPrompts() && d.server != nil {
		d.journal.begin(d.core, ConfigOf(d.settings))
		d.save()
	}
}

// discreet takes out of a signal what the settings forbid to keep.
func (d *daemon) discreet(s event.Signal) event.Signal {
	if !d.settings.PromptPreviews {
		s.Prompt = ""
	}
	return s
}
