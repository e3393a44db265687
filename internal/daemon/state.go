package daemon

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/watch"
)

// restore brings back what a dead or replaced runtime left, or begins anew.
func (d *daemon) restore(from *predecessor) {
	config, now := ConfigOf(d.settings), d.Now()
	d.core = NewCore(config, d.BootID)
	file := d.Dirs.Sessions()
	s, err := loadSaved(file)
	how := AfterCrash
	if from != nil {
		how = AfterHandover
		if from.state != nil {
			s, err = from.state, nil
		}
	}
	if err == nil && s != nil {
		var core *Core
		if core, err = RestoreCore(s.Core, d.BootID, how, now); err == nil {
			d.core, d.offsets = core, s.offsets()
			d.rebooted = s.Boot != d.BootID
		}
	}
	if err != nil {
		// Kept for whoever wants to know why; the runtime must start.
		d.log.Error("saved state not readable; beginning anew", "err", err)
		_ = os.Rename(file, file+".bad")
	}
}

// sweep ends the sessions whose process is gone, after a reboot all of them, and
// returns how many that were.
func (d *daemon) sweep() int {
	var gone []event.SessionKey
	for _, x := range d.core.Sessions().All() {
		p := x.Process
		if d.rebooted || p != nil && !d.Table.Alive(proc.ID{PID: p.PID, Start: p.Start}) {
			gone = append(gone, x.Key)
		}
	}
	d.rebooted = false
	if len(gone) > 0 {
		d.apply(SessionInput(session.Input{Kind: session.InOrphans, Keys: gone}))
	}
	return len(gone)
}

// saveWithin has the state saved after at most limit, or later where saving has
// become dear: with hundreds of sessions it takes some ten milliseconds, and shall
// not take more than a twentieth of the time.
func (d *daemon) saveWithin(now event.Instant, limit time.Duration) {
	if at := now.Awake + max(limit, 20*d.saveCost); d.saveAt == 0 || at < d.saveAt {
		d.saveAt = at
	}
}

// save writes the snapshot, unless the files belong to another runtime. That it
// cannot be written changes nothing else, and status tells it.
func (d *daemon) save() {
	d.saveAt = 0
	if d.server == nil || d.gone {
		return
	}
	began := time.Now()
	data, err := d.snapshot().bytes()
	if err == nil {
		err = replaceFile(d.Dirs.Sessions(), data)
	}
	if d.saveErr = err; err != nil {
		d.log.Warn("state not saved", "err", err)
	}
	if len(data) > trimAbove {
		// A snapshot of hundreds of sessions leaves megabytes of garbage, which
		// Go would keep for the next one.
		data = nil
		debug.FreeOSMemory()
	}
	d.saveCost = time.Since(began)
}

// trimAbove is the size of a snapshot, in bytes, whose garbage is worth a
// collection of its own (some milliseconds).
const trimAbove = 128 << 10

func (d *daemon) snapshot() *saved {
	s := &saved{Live: d.core.Sessions().Summary().Live > 0, Boot: d.BootID}
	if core, err := d.core.Snapshot(); err == nil {
		s.Core = core
	}
	for key, offset := range d.tailer.Offsets() {
		s.Offsets = append(s.Offsets, savedOffset{key, offset})
	}
	return s
}

// syncWatches makes what is watched outside follow the sessions.
func (d *daemon) syncWatches() {
	if count := d.core.Sessions().Watched(); count != d.watched || d.resync {
		d.watched, d.resync = count, false
	} else {
		return
	}
	w := d.core.Watches()
	if err := d.procs.Keep(w.Processes); err != nil {
		d.log.Warn("process not watched; the time-out covers it", "err", err)
	}
	d.locate(w.Transcripts)
	// Only sessions at work: what an idle one writes is bookkeeping, and a
	// machine at rest should have nothing to look at.
	for key := range d.followed {
		x := d.core.Sessions().Get(key)
		if x == nil || !x.Live() || w.Transcripts[key] == "" {
			d.tailer.Forget(key)
			delete(d.followed, key)
		}
	}
	for key, path := range w.Transcripts {
		if x := d.core.Sessions().Get(key); d.Detector == nil || d.followed[key] == path || x == nil || !x.Live() {
			continue
		}
		detector := d.Detector(key)
		if detector == nil {
			continue
		}
		offset := int64(watch.Unread)
		if at, known := d.offsets[key]; known {
			offset = at
			delete(d.offsets, key)
		}
		d.followed[key] = path
		d.tailer.Follow(key, path, offset, detector)
	}
	for key := range d.asked {
		if d.core.Sessions().Get(key) == nil {
			delete(d.asked, key)
		}
	}
}

// locate adds to paths the transcripts that no event named, and has those looked
// for that were not looked for yet.
func (d *daemon) locate(paths map[event.SessionKey]string) {
	if d.Locate == nil {
		return
	}
	for key := range d.located {
		if x := d.core.Sessions().Get(key); x == nil || !x.Live() {
			delete(d.located, key) // looked for again with its next work
		}
	}
	for _, x := range d.core.Sessions().All() {
		key := x.Key
		if x.Transcript != "" || !x.Live() {
			continue
		}
		path, looked := d.located[key]
		if path != "" {
			paths[key] = path
		}
		if looked {
			continue
		}
		d.located[key] = ""
		go func() { // ends by itself: it lists some folders
			if path := d.Locate(key); path != "" {
				d.inbox.put(func() { d.located[key], d.resync = path, true })
			}
		}()
	}
}

// sampleBusy looks whether the process trees of sessions with a tool in flight
// use the processor, beside everything else since it walks the process table.
func (d *daemon) sampleBusy() {
	busy := d.core.Watches().Busy
	if len(busy) == 0 {
		clear(d.cpu)
		return
	}
	d.busyAt = d.Now().Awake + busyPace
	if d.sampling {
		return
	}
	d.sampling = true
	go func() { // ends by itself: it reads the process table once per session
		used := make(map[event.SessionKey]time.Duration, len(busy))
		for key, p := range busy {
			if t, err := watch.ToolCPU(d.Table, p.PID); err == nil {
				used[key] = t
			}
		}
		d.inbox.put(func() {
			d.sampling = false
			var alive []event.SessionKey
			for key, now := range used {
				if before, known := d.cpu[key]; known && now-before >= busyShare {
					alive = append(alive, key)
				}
			}
			d.cpu = used
			if len(alive) > 0 {
				d.apply(SessionInput(session.Input{Kind: session.InBusy, Keys: alive}))
			}
		})
	}()
}

// busyShare is the processor time per busyPace that counts as work: a fifth of a
// percent (guessed). Too low a figure is bounded by max-tool-minutes; too high a
// one would let the machine sleep under a tool that mostly waits for a network.
const busyShare = busyPace / 500

// readHeat has the temperature read while the Core wants it.
func (d *daemon) readHeat() {
	if !d.core.Awake().WantsHeat() {
		d.heatAt = 0
		return
	}
	if d.heatAt == 0 {
		d.heatAt = d.Now().Awake + awake.HeatPoll
		d.hands.readHeat(d.settings.EmergencyHibernationMode)
	}
}

// syncMachine has the machine watched while that can matter: a session lives, a
// suspend is under way, or a hold is wanted. At rest some systems would have to be
// polled for nothing; a question then looks for itself.
func (d *daemon) syncMachine() {
	a := d.core.Awake()
	needed := a.Live > 0 || a.Pending != nil || a.Protected()
	for _, h := range a.Holds {
		needed = needed || h.Wanted || h.Held != 0
	}
	switch {
	case needed && d.unwatch == nil:
		ctx, cancel := context.WithCancel(d.work)
		before, ended := d.unwatched, make(chan struct{})
		d.unwatch, d.unwatched = cancel, ended
		d.helpers.Go(func() {
			defer close(ended)
			if before != nil {
				<-before // one Watch at a time
			}
			err := d.Machine.Watch(ctx, func(f awake.Fact) {
				d.inbox.put(func() { d.apply(MachineInput(f.Input())) })
			})
			if err != nil {
				d.log.Warn("machine not watched; lid and displays are read when asked", "err", err)
			}
		})
	case !needed && d.unwatch != nil:
		d.unwatch()
		d.unwatch = nil
		d.settleSoon()
	}
}

// settleSoon has memory given back when what is going on has died down.
func (d *daemon) settleSoon() {
	if d.Settle != nil {
		d.settleAt = d.Now().Awake + settleAfter
	}
}

// settle gives memory back, under work only what the start left: a process that is
// used keeps what it uses.
func (d *daemon) settle() {
	d.resting = d.unwatch == nil
	if d.resting || !d.settled {
		d.settled = true
		d.Settle(d.resting)
	}
}

// stir ends a rest, because something happens.
func (d *daemon) stir() {
	if d.resting {
		d.resting = false
		d.Resume()
		d.settleSoon()
	}
}
