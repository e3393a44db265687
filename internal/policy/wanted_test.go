package policy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// many are n handlers of which five want a call, and what they did.
func many(n int, asked, handled *int) []policy.Handler {
	var list []policy.Handler
	for i := range n {
		list = append(list, policy.Handler{Name: fmt.Sprint("h", i), Band: 999 - i,
			Wants: func(ev *event.Event) bool { *asked++; return ev.Name == event.PreToolUse && i%(n/5) == 0 },
			Handle: func(context.Context, *event.Event) (event.Verdict, error) {
				*handled++
				return event.Verdict{Contexts: []string{"x"}}, nil
			}})
	}
	return list
}

// TestWanted_eachIsAskedOnce is the law of dispatch: of many handlers each is asked
// once whether it wants the event, and only those that do are run.
func TestWanted_eachIsAskedOnce(t *testing.T) {
	for _, n := range []int{5, 50, 500} {
		var asked, handled int
		ev := &event.Event{Name: event.PreToolUse}
		v, said := policy.Run(t.Context(), ev, policy.Wanted(ev, many(n, &asked, &handled)))
		if asked != n || handled != 5 || len(said) != 5 || len(v.Contexts) != 5 {
			t.Errorf("of %d handlers %d were asked and %d ran", n, asked, handled)
		}
		asked, handled = 0, 0
		ev = &event.Event{Name: event.Stop}
		if policy.Run(t.Context(), ev, policy.Wanted(ev, many(n, &asked, &handled))); asked != n || handled != 0 {
			t.Errorf("of %d handlers %d were asked and %d ran for an event that none wants", n, asked, handled)
		}
	}
}

// BenchmarkDispatch shows that fifty handlers of which five want an event cost what
// those five cost: go test -bench Dispatch ./internal/policy
func BenchmarkDispatch(b *testing.B) {
	for _, n := range []int{5, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var asked, handled int
			handlers := many(n, &asked, &handled)
			ev := &event.Event{Name: event.PreToolUse}
			b.ReportAllocs()
			for b.Loop() {
				policy.Run(b.Context(), ev, policy.Wanted(ev, handlers))
			}
		})
	}
}
