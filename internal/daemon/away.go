package daemon

import (
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/notify"
	"github.com/lidguard-go/lidguard/internal/session"
)

// absence records what happens while the lid is closed, for `away-report`. It
// belongs to the owner goroutine, decides nothing, and keeps no prompt.
type absence struct {
	file  string
	warn  func(err error)
	now   *notify.Absence // nil while the lid is not closed
	last  *notify.Absence // the one before, which may have to be completed
	dirty bool
	// resumed: the file was asked for an absence that a runtime before us began.
	resumed bool
}

// step takes in what one input led to. It is called after the Core has applied it.
func (a *absence) step(c *Core, step Step) {
	at := c.Now().Wall
	shut := c.Awake().Lid == awake.LidClosed
	switch {
	case shut && a.now == nil:
		a.begin(c, at)
	case a.now == nil:
		a.complete(step)
		return
	case c.Awake().Lid == awake.LidOpen:
		a.add(c, step, at)
		a.now.Opened, a.dirty = at, true
		a.save()
		a.now, a.last = nil, a.now
		return
	}
	a.add(c, step, at)
	a.save()
}

// complete adds the sleep that opening the lid has ended: it is known to be over
// only after the lid was heard of.
func (a *absence) complete(step Step) {
	if a.last == nil {
		return
	}
	for i := range step.Effects {
		e := &step.Effects[i]
		if e.Kind != awake.DoHistory {
			continue
		}
		if at := e.History.At.Wall; at.Before(a.last.Closed) || at.After(a.last.Opened) {
			continue
		}
		notify.Keep(a.last, &a.last.Suspends, suspendOf(e.History))
		if err := notify.SaveAbsence(a.file, *a.last); err != nil {
			a.warn(err)
		}
	}
}

// begin starts a record, or goes on with that of a runtime that ended meanwhile.
func (a *absence) begin(c *Core, at time.Time) {
	if !a.resumed {
		a.resumed = true
		if all, err := notify.Absences(a.file); err == nil && len(all) > 0 && all[len(all)-1].Opened.IsZero() {
			a.now = &all[len(all)-1]
			return
		}
	}
	a.now = &notify.Absence{Closed: at}
	if b := c.Awake().Battery; b.Known {
		a.now.BatteryFrom = &b.Percent
	}
}

func (a *absence) add(c *Core, step Step, at time.Time) {
	for i := range step.Changes {
		switch ch := &step.Changes[i]; ch.Kind {
		case session.Ended:
			notify.Keep(a.now, &a.now.Ended, notify.AwayEnd{Time: at, Session: ch.Key.String(), Reason: ch.Reason})
			a.dirty = true
		case session.Locked:
			notify.Keep(a.now, &a.now.Waiting, notify.AwayEnd{Time: at, Session: ch.Key.String(), Reason: ch.Reason})
			a.dirty = true
		}
	}
	for i := range step.Effects {
		switch e := &step.Effects[i]; {
		case e.Kind == awake.DoHistory:
			notify.Keep(a.now, &a.now.Suspends, suspendOf(e.History))
			a.dirty = true
		case e.Kind == awake.DoNote && told[e.Code]:
			notify.Keep(a.now, &a.now.Notes, notify.AwayNote{Time: at, Code: e.Code, Text: e.Text})
			a.dirty = true
		}
	}
	if t := c.Awake().Celsius; t != nil {
		if a.now.Highest == nil || *t > *a.now.Highest {
			a.now.Highest, a.dirty = t, true
		}
		if a.now.Lowest == nil || *t < *a.now.Lowest {
			a.now.Lowest, a.dirty = t, true
		}
	}
	if b := c.Awake().Battery; b.Known && (a.now.BatteryTo == nil || *a.now.BatteryTo != b.Percent) {
		a.now.BatteryTo = &b.Percent // written with the next thing that happens
	}
}

// told are the notes of package awake that a person who was away should hear of.
var told = map[string]bool{"heat": true, "battery-floor": true, "suspend-refused": true, "hold-lost": true, "hold-back": true, "hold-denied": true,
	"reachable": true, "remote-login": true, "network-lost": true, "network-back": true, "wake-asked": true, "wake-refused": true, "limit-over": true}

// answered takes in what a hook answered for the absent person.
func (a *absence) answered(h *ipc.HookEvent) {
	x := a.now
	if x == nil && a.last != nil && h.Time.Sub(a.last.Opened) < lateAnswer && strings.HasSuffix(h.Answer, ipc.ByPhone) {
		x = a.last // given before the lid opened
	}
	if x == nil || h.Answer == "" {
		return
	}
	key := event.SessionKey{Provider: h.Provider, ID: h.Session}
	v := notify.AwayAnswer{Time: h.Time, Session: key.String(), Tool: h.Tool, Answer: h.Answer}
	switch {
	case asksPerson(h.Event):
		notify.Keep(x, &x.Answered, v)
	case h.Tool != "" && h.Answer == event.Deny.String():
		notify.Keep(x, &x.Blocked, v)
	default:
		return
	}
	if err := notify.SaveAbsence(a.file, *x); err != nil {
		a.warn(err)
	}
}

// lateAnswer is how long after the person's answer from the phone its hook may tell:
// it looks twice a second.
const lateAnswer = 2 * time.Second

// asksPerson reports whether a client's event, by its own name, is a question to
// the person at the machine.
func asksPerson(name string) bool {
	switch name {
	case "PermissionRequest", "permissionRequest", "permission.asked", "Elicitation", "question.asked":
		return true
	}
	return false
}

func (a *absence) save() {
	if !a.dirty {
		return
	}
	a.dirty = false
	if err := notify.SaveAbsence(a.file, *a.now); err != nil {
		a.warn(err)
	}
}
