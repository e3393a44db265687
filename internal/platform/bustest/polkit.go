//go:build linux

package bustest

import (
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Polkit doubles polkitd: each action has the answer it was given.
type Polkit struct {
	*service

	mu      sync.Mutex
	answers map[string]string
}

// NewPolkit puts a double of polkitd on the bus that grants everything.
func NewPolkit(t testing.TB, address string) *Polkit {
	p := &Polkit{service: newService(t, address, "org.freedesktop.PolicyKit1"), answers: map[string]string{}}
	p.service.answer = p.answer
	p.Begin()
	return p
}

// Say sets the answer for an action: "yes", "no", or "challenge".
func (p *Polkit) Say(action, answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[action] = answer
}

type authorization struct {
	Authorized, Challenge bool
	Details               map[string]string
}

func (p *Polkit) answer(r Request) ([]any, *dbus.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method != "CheckAuthorization" {
		return unknown(r)
	}
	a := p.answers[r.Args[1].(string)]
	return []any{authorization{a == "" || a == "yes", a == "challenge", map[string]string{}}}, nil
}
