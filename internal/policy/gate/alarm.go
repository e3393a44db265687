package gate

import "github.com/lidguard-go/lidguard/internal/event"

// watchedFrom is the size in bytes from which an input is judged under an alarm.
// Nearly no call of a day has it, and a smaller one cannot hold a judgement up for
// long between two looks at its budget.
const watchedFrom = 8 << 10

// watched reports whether a judgement has to be ended from outside.
func (w *World) watched(ev *event.Event) bool {
	return w.Alarm != nil && ev.Tool != nil && len(ev.Tool.Input) >= watchedFrom
}

// beforeAlarm judges on a goroutine of its own and reports false if the alarm comes
// first. The goroutine then ends by itself, at the next look at the budget; nobody
// waits for it, and a hook process is gone before.
func beforeAlarm[T any](w *World, ev *event.Event, judgement func(*event.Event) T) (result T, ok bool) {
	// Of its own, since what is left behind must not see what others do to theirs.
	own, tool := *ev, *ev.Tool
	own.Tool = &tool
	var panicked any
	alarm, done := w.Alarm(), make(chan struct{})
	var got T
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		got = judgement(&own)
	}()
	select {
	case <-done:
	case <-alarm:
		return result, false
	}
	if panicked != nil {
		panic(panicked) // as if it had been here
	}
	return got, true
}

// overdue is the result of a judgement that the alarm ended.
func overdue(cfg *Config) Result {
	j := judge{cfg: cfg}
	j.addAt(Unjudged, AnyScope, "command-over-limit", "judging the call takes longer than it may", 0, 0)
	return j.result("")
}
