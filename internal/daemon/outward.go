package daemon

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/notify"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// outward is what the runtime tells the world besides its clients: webhooks, the
// warning sound, the suspend history. Its methods may be called from any
// goroutine.
type outward struct {
	history string                                                    // the file
	play    func(ctx context.Context, sound string, volume int) error // nil: no player

	current atomic.Pointer[settings.Settings]
}

func (o *outward) use(s settings.Settings) { o.current.Store(&s) }

// Reason is the text the system shows beside a lock.
func (o *outward) Reason() string { return o.current.Load().PowerRequestReason }

// Webhook delivers w to the address in the settings; one that was switched off
// since is no error.
func (o *outward) Webhook(ctx context.Context, w *awake.Webhook) error {
	s := o.current.Load()
	address := s.PreSuspendWebhookURL
	if w.Kind == awake.PostSessionEnd {
		address = s.PostSessionEndWebhookURL
	}
	if address == "" {
		return nil
	}
	return notify.Post(ctx, address, webhookBody(w, s.PromptPreviews))
}

func webhookBody(w *awake.Webhook, prompts bool) *notify.Body {
	b := &notify.Body{EventType: string(w.Kind), Reason: string(w.Reason)}
	if w.Reason == awake.SoftLocked {
		b.SoftLocked = &w.Locked
	}
	if e := w.End; e != nil {
		b.Provider, b.ProviderName, b.SessionID = string(e.Key.Provider), e.Key.Name, string(e.Key.ID)
		b.Started, b.Activity, b.Ended = utc(e.Started), utc(e.Activity), utc(e.Ended)
		b.EndReason, b.Active = e.Reason, &w.Live
		b.Cwd, b.Transcript, b.LastMessage = e.Cwd, e.Transcript, e.LastMessage
		if prompts {
			b.Prompt = e.Prompt
		}
	}
	return b
}

func utc(i event.Instant) *time.Time {
	if i.Wall.IsZero() {
		return nil
	}
	t := i.Wall.UTC()
	return &t
}

// Sound plays the warning sound of the settings to its end.
func (o *outward) Sound(ctx context.Context) error {
	s := o.current.Load()
	if s.PostStopSuspendSound == "off" {
		return nil
	}
	if o.play == nil {
		return errors.New("this build plays no sounds")
	}
	return o.play(ctx, s.PostStopSuspendSound, s.SoundVolumePercent)
}

// History appends to the suspend history.
func (o *outward) History(h *awake.HistoryEntry) error {
	return notify.AddHistory(o.history, suspendOf(h), o.current.Load().SuspendHistoryCount)
}

// suspendOf is h in the words of package notify.
func suspendOf(h *awake.HistoryEntry) notify.Suspend {
	entry := notify.Suspend{Time: h.At.Wall.UTC(), Mode: string(h.Mode), Reason: string(h.Reason), Result: h.Result,
		Detail: h.Detail, Tries: h.Tries, Sessions: h.Sessions, Celsius: h.Celsius}
	if !h.Woke.IsZero() {
		entry.Woke = h.Woke.Wall.UTC()
	}
	return entry
}
