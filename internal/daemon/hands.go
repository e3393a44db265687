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
	tell   teller
	answer func(awake.Input)
	log    *slog.Logger

	ctx    context.Context // ends when the runtime leaves
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex // guards queue
	queue []awake.Effect
	wake  chan struct{} // capacity 1: the queue is not empty

	// Of the worker alone. released is closed when a lock is let go, so that its
	// watcher ends.
	grip     *Grip
	released map[uint64]chan struct{}
}

func newHands(m awake.Machine, t teller, log *slog.Logger, answer func(awake.Input)) *hands {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hands{tell: t, answer: answer, log: log, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), grip: NewGrip(m), released: map[uint64]chan struct{}{}}
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
		in, err := h.grip.Do(ctx, e, "")
		if err != nil {
			h.log.Warn("suspend refused", "mode", e.Mode, "reason", e.Reason, "err", err)
		} else {
			h.log.Info("suspend asked for", "mode", e.Mode, "reason", e.Reason)
		}
		h.answer(in)
	case awake.DoWake:
		ctx, cancel := context.WithTimeout(h.ctx, holdLimit)
		defer cancel()
		in, err := h.grip.Do(ctx, e, "")
		if err != nil {
			h.log.Warn("wake-up not set", "at", e.At, "err", err)
		}
		h.answer(in)
	case awake.DoRestore:
		ctx, cancel := context.WithTimeout(h.ctx, restoreLimit)
		defer cancel()
		in, err := h.grip.Do(ctx, e, "")
		if err != nil {
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
	in, err := h.grip.Do(ctx, e, h.tell.Reason())
	if err != nil {
		h.log.Warn("hold not granted", "hold", e.Hold, "err", err)
		h.answer(in)
		return
	}
	lock, released := h.grip.Lock(e.ID), make(chan struct{})
	h.released[e.ID] = released
	h.log.Info("hold taken", "hold", e.Hold, "id", e.ID)
	h.answer(in)
	h.wg.Add(1)
	go func() { // ends with the lock or with close, which waits for it
		defer h.wg.Done()
		select {
		case <-lock.Lost():
		case <-released:
			return
		case <-h.ctx.Done():
			return
		}
		h.log.Warn("hold lost", "hold", e.Hold, "id", e.ID)
		h.answer(awake.Input{Kind: awake.InLost, ID: e.ID})
	}()
}

func (h *hands) release(e awake.Effect) {
	in, err := h.grip.Do(h.ctx, e, "")
	if err != nil {
		h.log.Error("hold not released", "hold", e.Hold, "id", e.ID, "err", err)
	} else if released, ok := h.released[e.ID]; ok {
		close(released)
		delete(h.released, e.ID)
		h.log.Info("hold released", "hold", e.Hold, "id", e.ID)
	}
	h.answer(in)
}

// readHeat reads the temperature beside everything else.
func (h *hands) readHeat(mode string) {
	h.beside(func(ctx context.Context) awake.Input {
		ctx, cancel := context.WithTimeout(ctx, heatLimit)
		defer cancel()
		return h.grip.Heat(ctx, mode)
	})
}

// readBeside reads what read asks for beside everything else. What cannot be read
// is unknown, and nobody.
func (h *hands) readBeside(what string, read func(context.Context) (awake.Input, error)) {
	h.beside(func(ctx context.Context) awake.Input {
		ctx, cancel := context.WithTimeout(ctx, heatLimit)
		defer cancel()
		in, err := read(ctx)
		if err != nil && !errors.Is(err, awake.ErrUnsupported) {
			h.log.Warn(what+" not readable", "err", err)
		}
		return in
	})
}

// check reads lid and displays afresh and answers with both, then with id.
func (h *hands) check(id uint64) {
	h.beside(func(ctx context.Context) awake.Input {
		ctx, cancel := context.WithTimeout(ctx, holdLimit)
		defer cancel()
		answers, err := h.grip.Check(ctx, id)
		if err != nil {
			h.log.Warn("lid or displays not readable", "err", err)
		}
		last := len(answers) - 1
		for _, in := range answers[:last] {
			h.answer(in)
		}
		return answers[last]
	})
}

// close ends every goroutine and lets go of what is still held. The answer
// function must not block any more when it is called.
func (h *hands) close() {
	h.cancel()
	h.wg.Wait()
	if err := h.grip.Close(); err != nil {
		h.log.Error("holds not released at exit", "err", err)
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
