package daemon

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
)

// deafWorld is a receiver that takes a webhook and never answers.
type deafWorld struct{}

func (deafWorld) Webhook(ctx context.Context, _ *awake.Webhook) error {
	<-ctx.Done()
	return ctx.Err()
}
func (deafWorld) Sound(ctx context.Context) error   { <-ctx.Done(); return ctx.Err() }
func (deafWorld) History(*awake.HistoryEntry) error { return nil }
func (deafWorld) Reason() string                    { return "test" }

// A webhook that hangs holds up nothing that is done to the machine, and is given
// up after its limit; a runtime that leaves does not wait for it.
func TestHands_aHangingWebhookDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		type answer struct {
			in    awake.Input
			after time.Duration
		}
		var got []answer
		done := make(chan awake.Input, 10)
		h := newHands(fakelaptop.New(fakelaptop.Options{}).Machine(), deafWorld{}, slog.New(slog.NewTextHandler(io.Discard, nil)),
			func(in awake.Input) { done <- in })
		h.do([]awake.Effect{
			{Kind: awake.DoAcquire, ID: 1, Hold: awake.HoldIdle},
			{Kind: awake.DoWebhook, ID: 2, Webhook: &awake.Webhook{Kind: awake.PostSessionEnd}},
			{Kind: awake.DoSound, ID: 3},
			{Kind: awake.DoRelease, ID: 1, Hold: awake.HoldIdle},
			{Kind: awake.DoWebhook, ID: 4, Webhook: &awake.Webhook{Kind: awake.PreSuspend}},
		})
		for range 4 {
			got = append(got, answer{<-done, time.Since(began)})
		}
		for _, want := range []struct {
			kind  awake.InputKind
			id    uint64
			after time.Duration
		}{{awake.InTaken, 1, 0}, {awake.InReleased, 1, 0}, {awake.InWebhookDone, 2, awake.WebhookLimit}, {awake.InWebhookDone, 4, awake.WebhookLimit}} {
			if !slices.ContainsFunc(got, func(a answer) bool { return a.in.Kind == want.kind && a.in.ID == want.id && a.after == want.after }) {
				t.Errorf("no %s of %d after %v: %+v", want.kind, want.id, want.after, got)
			}
		}
		h.do([]awake.Effect{{Kind: awake.DoWebhook, ID: 5, Webhook: &awake.Webhook{Kind: awake.PostSessionEnd}}})
		synctest.Wait()
		leaving := time.Now()
		h.close()
		if took := time.Since(leaving); took != 0 {
			t.Errorf("leaving took %v: it waited for a webhook", took)
		}
	})
}
