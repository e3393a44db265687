package entry

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/deadline"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
)

// patience is how long a hook waits for a runtime that it has just started.
// Starting takes some ten milliseconds; the rest is for a loaded machine.
const patience = 600 * time.Millisecond

// A connection that ends without a reply is tried again a few times: a process
// that was killed may still be listened to for as long as its threads take to go.
const (
	hungUpTries = 5
	hungUpPause = 5 * time.Millisecond
)

// askAway is the one question a policy may put to the runtime. What the event
// means if it stays unanswered goes with it, to count only when somebody is there:
// so a prompt left to a person costs one round trip, and one that is answered for
// an absent person never looks as if it had waited.
func (h *hook) askAway(ctx context.Context) (ipc.Away, error) {
	if !h.asked && !h.dry {
		h.asked = true
		reply, err := h.tell(ctx, &ipc.Request{Op: ipc.OpSignal, Ask: true, Here: h.codec.Signals(&h.ev, event.Verdict{})})
		if err != nil {
			return ipc.Away{}, err
		}
		h.away = reply.Away
	}
	if h.away == nil {
		return ipc.Away{}, errors.New("the runtime did not say whether somebody is there")
	}
	return *h.away, nil
}

// conclude reports what the event means now that its answer is known.
func (h *hook) conclude(ctx context.Context) {
	if h.dry {
		return
	}
	h.makeReport()
	if h.away != nil && !h.away.Away && h.verdict.IsZero() {
		return // it was counted with the question
	}
	signals := h.codec.Signals(&h.ev, h.verdict)
	if h.asked {
		// The agent waits for its answer; the runtime may hear of it later.
		h.after = append(h.after, signals...)
		return
	}
	req := &ipc.Request{Op: ipc.OpSignal, Signals: signals}
	if len(signals) == 0 {
		req.Op = ipc.OpHookEvent
	}
	req.Telemetry = h.telemetry
	// The error was logged; the agent goes on without us.
	if _, err := h.tell(ctx, req); err != nil {
		h.unheard = true
	} else {
		h.telemetry = nil
	}
}

// settle sends what the runtime should know after the client has its answer.
func (h *hook) settle() {
	req := &ipc.Request{Op: ipc.OpSignal, Signals: h.after}
	if h.away != nil && h.away.Away {
		req.Hook = h.logged() // with the answer, which the question could not have
	}
	defer h.leaveReport()
	if !h.unheard {
		req.Telemetry = h.telemetry
	}
	if len(h.after) == 0 && req.Hook == nil && req.Telemetry == nil || h.noHome != nil {
		return
	}
	if len(h.after) == 0 {
		req.Op = ipc.OpHookEvent
	}
	ctx, cancel := deadline.At(context.Background(), h.deadline)
	defer cancel()
	if _, err := h.client().Call(ctx, req); err != nil {
		h.complain(err)
	} else if req.Telemetry != nil {
		h.telemetry = nil
	}
}

// tell sends req and starts a runtime where the signals in it are worth one.
func (h *hook) tell(ctx context.Context, req *ipc.Request) (*ipc.Reply, error) {
	if h.noHome != nil {
		return nil, h.noHome
	}
	ctx, cancel := deadline.In(ctx, Limit)
	defer cancel()
	req.Hook = h.logged()
	if slices.ContainsFunc(req.Signals, introduces) {
		h.attachOwner(req)
	}
	client := h.client()
	reply, err := client.Call(ctx, req)
	for range hungUpTries {
		if !errors.Is(err, ipc.ErrHungUp) || ctx.Err() != nil {
			break
		}
		// It died or left just now; in a moment nobody listens any more.
		time.Sleep(hungUpPause)
		reply, err = client.Call(ctx, req)
	}
	switch protocol := (*ipc.ProtocolError)(nil); {
	case errors.As(err, &protocol) && ipc.Newer(client.Version, protocol.Version):
		// The old one hands its sessions to the new one and leaves.
		if err = h.startRuntime("--replace"); err == nil {
			reply, err = h.callPatiently(ctx, req)
		}
	case changesHands(err):
		reply, err = h.callPatiently(ctx, req)
	case errors.Is(err, ipc.ErrNotRunning):
		if !h.worthStarting(req) {
			h.logAlone(*req.Hook)
			return nil, err // nothing is kept awake and nothing needs to be
		}
		if err = h.startRuntime(); err == nil {
			// A runtime without memory of the session needs its process.
			h.attachOwner(req)
			reply, err = h.callPatiently(ctx, req)
		}
	case err == nil && ipc.Newer(client.Version, reply.Version):
		if err := h.startRuntime("--replace"); err != nil {
			h.complain(err)
		}
	}
	if err != nil {
		h.complain(err)
		return nil, err
	}
	if reply.Owner {
		// The runtime knows no process for this session. It asks once.
		if owner := h.findOwner(); owner != nil {
			h.after = append(h.after, event.Signal{Kind: event.Active, Session: h.ev.Session,
				Source: "hook " + h.ev.Native, AgentID: h.ev.AgentID, Process: owner})
		}
	}
	return reply, nil
}

// logAlone writes an event to the hook-event log in place of a runtime, without its
// prompt: see complain.
func (h *hook) logAlone(e ipc.HookEvent) {
	e.Prompt = ""
	_ = ipc.AppendHookLog(h.dirs.HookEvents(string(h.codec.Provider())), &e) // as there
}

func (h *hook) client() *ipc.Client {
	dial := h.env.Dial
	if dial == nil {
		dial = endpoint.DialDirect
	}
	return &ipc.Client{Version: ipc.Version(), Dial: func(ctx context.Context) (net.Conn, error) {
		return dial(ctx, h.dirs.Socket)
	}}
}

// callPatiently repeats the call until the runtime just started answers.
func (h *hook) callPatiently(ctx context.Context, req *ipc.Request) (*ipc.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, errSlowStart
		}
		if h.started != 0 && failed(h.started) {
			return nil, errors.New("the runtime was started and ended with an error; `lidguard runtime` shows it")
		}
		reply, err := h.client().Call(ctx, req)
		var protocol *ipc.ProtocolError
		if errors.Is(err, ipc.ErrNotRunning) || errors.As(err, &protocol) || changesHands(err) || errors.Is(err, ipc.ErrHungUp) {
			continue
		}
		return reply, err
	}
}

// errSlowStart: a runtime was started and does not answer yet.
var errSlowStart = errors.New("the runtime was started and does not answer in time")

// changesHands reports whether the runtime that answered is giving way to another.
func changesHands(err error) bool {
	var refused *ipc.RefusedError
	return errors.As(err, &refused) && refused.Text == ipc.HandingOver
}

// introduces reports whether a signal may be the first the runtime hears of a
// session's present process.
func introduces(s event.Signal) bool { return s.Kind == event.Opened || s.Kind == event.Began }

// attachOwner names the agent's process in the signals of req. Finding it costs
// a few reads of /proc, so it is done only where it can be news.
func (h *hook) attachOwner(req *ipc.Request) {
	owner := h.findOwner()
	for _, signals := range [][]event.Signal{req.Signals, req.Here} {
		for i := range signals {
			signals[i].Process = owner
		}
	}
}
