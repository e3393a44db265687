package daemon

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/notify"
	"github.com/lidguard-go/lidguard/internal/session"
)

const (
	// maxQuestions is how many wait for the phone at once; a person answers one at
	// a time.
	maxQuestions = 8
	// hookGone is how long a question lives that nobody looks at. A hook looks
	// twice a second; the rest is for a loaded machine.
	hookGone = 10 * time.Second
)

// question waits for an answer from the phone. It belongs to the owner goroutine.
type question struct {
	key     event.SessionKey
	toolUse string // the call it is about, where known
	live    bool   // the session was at work when it asked
	answer  ipc.PhoneAnswer
	alive   *time.Timer        // ends the wait once the hook is gone
	cancel  context.CancelFunc // ends the wait
	settled time.Time          // when answer was decided
}

// askPhone puts a question to the phone, or tells how it stands. An answer is given
// out once.
func (d *daemon) askPhone(a *ipc.PhoneAsk) *ipc.PhoneReply {
	if a.ID != "" {
		q := d.questions[a.ID]
		if q == nil {
			return &ipc.PhoneReply{Answer: ipc.PhoneNone}
		}
		if q.answer != ipc.PhoneWaits {
			delete(d.questions, a.ID)
		}
		q.alive.Reset(hookGone)
		return &ipc.PhoneReply{ID: a.ID, Answer: q.answer}
	}
	for id, q := range d.questions {
		if q.answer != ipc.PhoneWaits && time.Since(q.settled) > hookGone {
			delete(d.questions, id) // whoever asked never came for it
		}
	}
	switch s := d.settings; {
	case s.PhoneURL == "" || s.ClosedLidPermissionDecision != "phone" || len(d.questions) >= maxQuestions:
		return &ipc.PhoneReply{Answer: ipc.PhoneNone}
	case !d.core.Away().Away:
		return &ipc.PhoneReply{Answer: ipc.PhoneHere}
	}
	ctx, cancel := context.WithTimeout(d.work, time.Duration(d.settings.PhoneWaitSeconds)*time.Second)
	q := &question{key: a.Session, cancel: cancel, alive: time.AfterFunc(hookGone, cancel)}
	if x := d.core.Sessions().Get(a.Session); x != nil {
		q.live, q.toolUse = x.Live(), onlyCall(x.Tools, a.Tool)
	}
	id := rand.Text()
	if d.questions == nil {
		d.questions = map[string]*question{}
	}
	d.questions[id] = q
	phone := notify.Phone{Address: d.settings.PhoneURL}
	d.log.Info("phone asked", "session", a.Session.String(), "tool", a.Tool)
	d.helpers.Go(func() { // ends with its context, of which work is the parent
		defer cancel()
		allow, err := phone.Ask(ctx, notify.Question{Title: a.Title, Text: a.Text, Whole: a.Whole})
		answer := ipc.PhoneDeny
		switch {
		case err != nil:
			answer = ipc.PhoneNone
			d.log.Warn("phone did not answer", "session", a.Session.String(), "err", err)
		case allow:
			answer = ipc.PhoneAllow
		}
		d.inbox.put(func() { d.decide(q, answer) })
	})
	return &ipc.PhoneReply{ID: id, Answer: q.answer}
}

// decide ends the wait of a question. The first decision counts.
func (d *daemon) decide(q *question, answer ipc.PhoneAnswer) {
	if q.answer != ipc.PhoneWaits {
		return
	}
	q.answer, q.settled = answer, time.Now()
	q.alive.Stop()
	q.cancel()
	d.log.Info("phone question decided", "session", q.key.String(), "answer", string(answer))
}

// onlyCall is the one call of tool that is under way. A permission request names
// none, so among several nobody can tell which of them it is about.
func onlyCall(tools []session.Tool, tool string) (id string) {
	for _, t := range tools {
		if t.Name != tool {
			continue
		}
		if id != "" {
			return ""
		}
		id = t.ID
	}
	return id
}

// withdraw decides the questions that a step has made idle: somebody is at the
// machine again or answered there, the turn is over, or the machine goes to sleep.
func (d *daemon) withdraw(in Input, effects []awake.Effect) {
	if len(d.questions) == 0 {
		return
	}
	sleeps := slices.ContainsFunc(effects, func(e awake.Effect) bool {
		return e.Kind == awake.DoSuspend || e.Kind == awake.DoCancelReplies
	})
	for _, q := range d.questions {
		x := d.core.Sessions().Get(q.key)
		over := q.live && (x == nil || !x.Live()) // what was no work before is not over now
		switch {
		case sleeps:
			d.decide(q, ipc.PhoneNone)
		case !d.core.Away().Away, over, in.Session != nil && in.Session.Signal != nil && q.answeredBy(in.Session.Signal):
			d.decide(q, ipc.PhoneHere)
		}
	}
}

// answeredBy reports whether s shows that the prompt is no longer open: the call it
// was about ended, or the turn went on without it.
func (q *question) answeredBy(s *event.Signal) bool {
	if s.Session != q.key {
		return false
	}
	switch s.Kind {
	case event.ToolEnded:
		return q.toolUse != "" && s.ToolUse == q.toolUse
	case event.Began, event.Stopped, event.Failed, event.Interrupted, event.Closed, event.Removed:
		return s.AgentID == ""
	}
	return false
}
