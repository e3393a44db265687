package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/session"
)

// maxID bounds the ids a client may make us remember, in bytes.
const maxID = 512

// handle answers one request. It runs in the connection's goroutine; what needs
// the Core is done by the owner.
func (d *daemon) handle(ctx context.Context, req *ipc.Request) *ipc.Reply {
	if err := check(req); err != nil {
		return &ipc.Reply{Error: err.Error()}
	}
	if req.Op == ipc.OpDispatch {
		return d.dispatch(ctx, req.Dispatch)
	}
	if req.Ask || req.Op == ipc.OpAway || req.Op == ipc.OpStatus || req.Op == ipc.OpPhone {
		d.look(ctx)
	}
	done := make(chan *ipc.Reply, 1)
	d.inbox.put(func() {
		switch {
		case d.stopping:
			done <- nil // what it tells would end with us
		case (d.successor || d.gone) && req.Op != ipc.OpRelease && req.Op != ipc.OpHandover:
			done <- &ipc.Reply{Error: ipc.HandingOver}
		default:
			reply := d.answer(req)
			if !d.stayed() {
				reply = nil
			}
			done <- reply
		}
	})
	select {
	case reply := <-done:
		if reply != nil && reply.OK && len(req.Telemetry) > 0 && d.outbox != nil {
			d.outbox.Add(req.Telemetry)
		}
		if reply != nil && reply.Status != nil {
			d.confirm(ctx, reply.Status)
			d.tellTelemetry(reply.Status)
		}
		return reply
	case <-ctx.Done():
		return nil
	}
}

// look reads lid and displays afresh before they are told: whoever answers for an
// absent person should not go by a memory, and at rest nothing watches them.
func (d *daemon) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	// What cannot be read is unknown, which is an answer; what was not read in
	// time is none, and the last one stands.
	lid, _ := d.Machine.Lid(ctx)
	displays, _ := d.Machine.Displays(ctx)
	if ctx.Err() != nil {
		return
	}
	d.inbox.put(func() {
		if a := d.core.Awake(); a.Lid != lid || a.Displays != displays || !a.SeenDisplays {
			d.apply(MachineInput(awake.Input{Kind: awake.InLid, Lid: lid}))
			d.apply(MachineInput(awake.Input{Kind: awake.InDisplays, Displays: displays}))
		}
	})
}

// check refuses what no program of ours sends.
func check(req *ipc.Request) error {
	keys := make([]event.SessionKey, 0, 4)
	if req.Session != nil {
		keys = append(keys, *req.Session)
	}
	if req.Phone != nil {
		keys = append(keys, req.Phone.Session)
	}
	for _, s := range slices.Concat(req.Signals, req.Here) {
		keys = append(keys, s.Session)
	}
	for _, k := range keys {
		switch _, known := event.ParseProvider(string(k.Provider)); {
		case !known:
			return fmt.Errorf("no provider %q", k.Provider)
		case k.ID == "" || len(k.ID) > maxID || len(k.Name) > maxID:
			return fmt.Errorf("a session id has 1 to %d bytes", maxID)
		case k.Provider == event.MCP && k.Name == "":
			return fmt.Errorf("a session of provider %q needs a provider name", k.Provider)
		}
	}
	if h := req.Hook; h != nil {
		if _, known := event.ParseProvider(string(h.Provider)); !known {
			return fmt.Errorf("no provider %q", h.Provider) // it names a file
		}
	}
	return nil
}

// answer does what req asks for. It belongs to the owner goroutine.
func (d *daemon) answer(req *ipc.Request) *ipc.Reply {
	reply := &ipc.Reply{OK: true}
	if !sameFile(d.settingsFile, d.statSettings()) {
		d.reload() // edited by hand: whoever asks sees the same file
	}
	// A hook that asks whether somebody is there, and hears that nobody is,
	// answers in their place and reports the event once more with its answer.
	if h := req.Hook; h != nil && !(req.Ask && d.core.Away().Away) {
		if !d.settings.PromptPreviews {
			h.Prompt = ""
		}
		d.hookLogs.add(h, d.Now().Wall)
		d.absence.answered(h)
	}
	switch req.Op {
	case ipc.OpSignal:
		d.signal(req, reply)
	case ipc.OpAway:
		away := d.core.Away()
		reply.Away = &away
	case ipc.OpStatus:
		status := d.core.Status()
		status.PID, status.Started = os.Getpid(), d.started
		status.Config, status.State = d.Dirs.Config, d.Dirs.State
		if d.saveErr != nil {
			status.Findings = append(status.Findings, ipc.Finding{Code: "state-not-saved",
				Text:   "the sessions cannot be written to the disk, so a runtime that crashes forgets them until their next event: " + d.saveErr.Error(),
				Remedy: "make room on that disk, or make the folder yours to write; it is tried again with every event"})
		}
		reply.Status = &status
	case ipc.OpReload:
		d.reload()
	case ipc.OpRemove:
		before := len(d.core.Sessions().All())
		switch {
		case req.All:
			d.apply(SessionInput(session.Input{Kind: session.InRemoveAll}))
		case req.Session == nil:
			return &ipc.Reply{Error: "which session is to be removed?"}
		case d.core.Sessions().Get(*req.Session) != nil:
			d.apply(SignalInput(event.Signal{Kind: event.Removed, Session: *req.Session, Source: "cli remove-session"}))
		}
		reply.Removed = before - len(d.core.Sessions().All())
	case ipc.OpOrphans:
		reply.Removed = d.sweep()
	case ipc.OpWhy:
		why, err := json.Marshal(d.core.Why(req.At))
		if err != nil {
			return &ipc.Reply{Error: err.Error()}
		}
		reply.Why = why
	case ipc.OpHandover:
		return d.handOver(req)
	case ipc.OpRelease:
		d.release()
	case ipc.OpStop:
		d.log.Info("asked to end", "by", req.Version)
		d.shutdown()
	case ipc.OpPhone:
		if req.Phone == nil {
			return &ipc.Reply{Error: "what is the phone to be asked?"}
		}
		reply.Phone = d.askPhone(req.Phone)
	case ipc.OpHookEvent:
	default:
		return &ipc.Reply{Error: fmt.Sprintf("no operation %q", req.Op)}
	}
	return reply
}

func (d *daemon) signal(req *ipc.Request, reply *ipc.Reply) {
	signals := req.Signals
	if req.Ask {
		away := d.core.Away()
		reply.Away = &away
		if !away.Away {
			signals = append(signals, req.Here...)
		}
	}
	for _, s := range signals {
		d.apply(SignalInput(d.discreet(s)))
		// A hook can name the agent's process; we ask once per session, since
		// where there is none to be found asking again costs each hook a walk.
		if req.Hook != nil && s.Process == nil && d.settings.WatchParentProcess && !d.asked[s.Session] {
			if x := d.core.Sessions().Get(s.Session); x != nil && x.Live() && x.Process == nil {
				d.asked[s.Session] = true
				reply.Owner = true
			}
		}
	}
}

// confirm marks the holds that the system itself lists. It may take a while, so
// it is done in the connection's goroutine.
func (d *daemon) confirm(ctx context.Context, status *ipc.Status) {
	ctx, cancel := context.WithTimeout(ctx, holdLimit)
	defer cancel()
	held, err := d.Machine.Held(ctx)
	if err != nil {
		status.Findings = append(status.Findings, ipc.Finding{Code: "holds-unconfirmed",
			Text: "what is held could not be read back from the system: " + err.Error()})
	}
	if m, more := d.Machine.(interface {
		More(context.Context) More
	}); more {
		m.More(ctx).into(status)
	}
	for i := range status.Held {
		h := &status.Held[i]
		if h.What == HoldSessionBus {
			continue // read back where it came from
		}
		h.Confirmed = slices.Contains(held, awake.Hold(h.What))
		switch {
		case h.Confirmed:
			h.Error = "" // granted, and the Core has yet to hear of it
		case err == nil && h.Error == "":
			h.Error = "the system does not list it"
		}
	}
}
