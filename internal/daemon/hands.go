package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// Limits of one effect. They only bound a system that hangs: login1 answers in
// milliseconds.
const (
	holdLimit    = 5 * time.Second
	suspendLimit = 30 * time.Second
	restoreLimit = 10 * time.Second
	heatLimit    = 5 * time.Second
)

// teller carries notices to the world outside the machine: see package notify.
type teller interface {
	// Webhook delivers w and returns nil once the receiver took it. It ends
	// when ctx does.
	Webhook(ctx context.Context, w *awake.Webhook) error
	// Sound plays the warning sound to its end.
	Sound(ctx context.Context) error
	// History appends one entry to the suspend history.
	History(h *awake.HistoryEntry) error
	// Reason is what the system shows beside a lock.
	Reason() string
}

// hands carries out effects. Those that touch the machine are done one at a time
// in the order given, by one goroutine; webhooks and sounds run beside them, each
// in its own. Every effect that wants an answer gets exactly one, through answer,
// which may block.
type hands struct {
	machine awake.Machine
	tell    teller
	answer  func(awake.Input)
	log     *slog.Logger

	ctx    context.Context // ends when the runtime leaves
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex // guards queue
	queue []awake.Effect
	wake  chan struct{} // capacity 1: the queue is not empty

	locks map[uint64]held // of the worker alone
}

type held struct {
	awake.Lock
	released chan struct{} // closed when we let go, so that its watcher ends
}

func newHands(m awake.Machine, t teller, log *slog.Logger, answer func(awake.Input)) *hands {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hands{machine: m, tell: t, answer: answer, log: log, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), locks: map[uint64]held{}}
	h.wg.Add(1)
	go h.work() // ends when close cancels ctx; close waits for it
	return h
}

// do puts effects in line. It never blocks.
func (h *hands) do(effects []awake.Effect) {
	if len(effects) == 0 || h.ctx.Err() != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range effects {
		switch e.Kind {
		case awake.DoCheck:
			h.check(e.ID)
		case awake.DoWebhook:
			h.beside(func(ctx context.Context) awake.Input {
				ctx, cancel := context.WithTimeout(ctx, awake.WebhookLimit)
				defer cancel()
				err := h.tell.Webhook(ctx, e.Webhook)
				if err != nil {
					h.log.Warn("webhook not delivered", "event", e.Webhook.Kind, "reason", e.Webhook.Reason, "err", err)
				}
				return awake.Input{Kind: awake.InWebhookDone, ID: e.ID, Why: text(err)}
			})
		case awake.DoSound:
			h.beside(func(ctx context.Context) awake.Input {
				ctx, cancel := context.WithTimeout(ctx, awake.SoundLimit)
				defer cancel()
				err := h.tell.Sound(ctx)
				if err != nil {
					h.log.Warn("warning sound not played", "err", err)
				}
				return awake.Input{Kind: awake.InSoundDone, ID: e.ID, Why: text(err)}
			})
		default:
			h.queue = append(h.queue, e)
		}
	}
	h.nudge()
}

func (h *hands) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// beside runs f in a goroutine of its own, which close waits for, and passes its
// answer on.
func (h *hands) beside(f func(context.Context) awake.Input) {
	h.wg.Add(1)
	go func() {
		defer h.wg.Done()
		h.answer(f(h.ctx))
	}()
}

func (h *hands) work() {
	defer h.wg.Done()
	for {
		select {
		case <-h.wake:
		case <-h.ctx.Done():
			return
		}
		for {
			h.mu.Lock()
			batch := h.queue
			h.queue = nil
			h.mu.Unlock()
			if len(batch) == 0 {
				break
			}
			for _, e := range batch {
				h.carryOut(e)
			}
		}
	}
}

func (h *hands) carryOut(e awake.Effect) {
	switch e.Kind {
	case awake.DoAcquire:
		h.acquire(e)
	case awake.DoRelease:
		h.release(e)
	case awake.DoSuspend:
		ctx, cancel := context.WithTimeout(h.ctx, suspendLimit)
		defer cancel()
		in := awake.Input{Kind: awake.InSuspended, ID: e.ID}
		if err := h.machine.Suspend(ctx, e.Mode); err != nil {
			in.Kind = awake.InRefused
			in.Who, in.Why = blame(err)
			h.log.Warn("suspend refused", "mode", e.Mode, "reason", e.Reason, "err", err)
		} else {
			h.log.Info("suspend asked for", "mode", e.Mode, "reason", e.Reason)
		}
		h.answer(in)
	case awake.DoRestore:
		ctx, cancel := context.WithTimeout(h.ctx, restoreLimit)
		defer cancel()
		in := awake.Input{Kind: awake.InRestored, ID: e.ID}
		if err := h.machine.Restore(ctx); err != nil {
			in.Kind, in.Why = awake.InFailed, err.Error()
			h.log.Error("system values not put back", "err", err)
		}
		h.answer(in)
	case awake.DoHistory:
		if err := h.tell.History(e.History); err != nil {
			h.log.Warn("suspend history not written", "err", err)
		}
	}
}

func (h *hands) acquire(e awake.Effect) {
	ctx, cancel := context.WithTimeout(h.ctx, holdLimit)
	defer cancel()
	lock, err := h.machine.Acquire(ctx, e.Hold, h.tell.Reason())
	if err != nil {
		in := awake.Input{Kind: awake.InFailed, ID: e.ID}
		if errors.Is(err, awake.ErrDenied) {
			in.Kind = awake.InDenied
		}
		in.Who, in.Why = blame(err)
		h.log.Warn("hold not granted", "hold", e.Hold, "err", err)
		h.answer(in)
		return
	}
	l := held{lock, make(chan struct{})}
	h.locks[e.ID] = l
	h.log.Info("hold taken", "hold", e.Hold, "id", e.ID)
	h.answer(awake.Input{Kind: awake.InTaken, ID: e.ID})
	h.wg.Add(1)
	go func() { // ends with the lock or with close, which waits for it
		defer h.wg.Done()
		select {
		case <-lock.Lost():
		case <-l.released:
			return
		case <-h.ctx.Done():
			return
		}
		h.log.Warn("hold lost", "hold", e.Hold, "id", e.ID)
		h.answer(awake.Input{Kind: awake.InLost, ID: e.ID})
	}()
}

func (h *hands) release(e awake.Effect) {
	l, ok := h.locks[e.ID]
	if ok {
		if err := l.Release(); err != nil {
			h.log.Error("hold not released", "hold", e.Hold, "id", e.ID, "err", err)
			h.answer(awake.Input{Kind: awake.InFailed, ID: e.ID, Why: err.Error()})
			return
		}
		close(l.released)
		delete(h.locks, e.ID)
		h.log.Info("hold released", "hold", e.Hold, "id", e.ID)
	}
	// A lock of a runtime that died went with its process.
	h.answer(awake.Input{Kind: awake.InReleased, ID: e.ID})
}

// readHeat reads the temperature beside everything else.
func (h *hands) readHeat(mode string) {
	h.beside(func(ctx context.Context) awake.Input {
		ctx, cancel := context.WithTimeout(ctx, heatLimit)
		defer cancel()
		c, err := h.machine.Heat(ctx, mode)
		if err != nil {
			return awake.Input{Kind: awake.InHeat, Unreadable: true, Why: err.Error()}
		}
		return awake.Input{Kind: awake.InHeat, Celsius: c}
	})
}

// check reads lid and displays afresh and answers with both, then with id.
func (h *hands) check(id uint64) {
	h.beside(func(ctx context.Context) awake.Input {
		ctx, cancel := context.WithTimeout(ctx, holdLimit)
		defer cancel()
		lid, err := h.machine.Lid(ctx)
		if err != nil {
			h.log.Warn("lid not readable", "err", err)
		}
		displays, err := h.machine.Displays(ctx)
		if err != nil {
			h.log.Warn("displays not readable", "err", err)
		}
		h.answer(awake.Input{Kind: awake.InLid, Lid: lid})
		h.answer(awake.Input{Kind: awake.InDisplays, Displays: displays})
		return awake.Input{Kind: awake.InChecked, ID: id}
	})
}

// close ends every goroutine and lets go of what is still held. The answer
// function must not block any more when it is called.
func (h *hands) close() {
	h.cancel()
	h.wg.Wait()
	for id, l := range h.locks {
		if err := l.Release(); err != nil {
			h.log.Error("hold not released at exit", "id", id, "err", err)
		}
		delete(h.locks, id)
	}
}

// blame tells who turned a request down, where the system said so, and why.
func blame(err error) (who, why string) {
	var r *awake.Refusal
	if errors.As(err, &r) {
		return r.Who, r.Why
	}
	return "", text(err)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
