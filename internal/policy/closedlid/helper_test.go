package closedlid_test

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/event"
)

// fixed is a handler body that always answers v.
func fixed(v event.Verdict) func(context.Context, *event.Event) (event.Verdict, error) {
	return func(context.Context, *event.Event) (event.Verdict, error) { return v, nil }
}
