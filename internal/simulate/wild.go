package simulate

import (
	"math/rand/v2"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
)

// Wild is a World that a property test drives act by act, with faults. What an
// act does follows from its seed and the state it meets; acts know nothing of
// each other, so that any of them can be left out.
type Wild struct {
	chaos
	keys []event.SessionKey
}

// NewWild returns a laptop with settings, habits and faults of seed. seen is
// called after every step, before its effects are carried out; nil is allowed.
func NewWild(seed uint64, seen func(Seen)) *Wild {
	src := rand.NewPCG(seed, 0)
	rng := rand.New(src)
	cfg, opt := randomConfig(rng), randomOptions(rng)
	w := &Wild{chaos: chaos{World: newWorld(src, nil, cfg, opt, Broken{}, rng.IntN(4) != 0)}}
	w.stepped = seen
	for range 1 + w.rng.IntN(4) {
		w.keys = append(w.keys, pick(w.rng, chaosKeys...))
	}
	return w
}

// Config is what the settings say now.
func (w *Wild) Config() daemon.CoreConfig { return w.cfg }

// Act does the act of seed: a signal, time, the lid, a fault, …
func (w *Wild) Act(seed uint64) {
	w.src.Seed(seed, 1)
	if w.laptop.Asleep() {
		w.asleep()
		return
	}
	w.act(w.keys)
}

// End ends every session, takes all obstacles away, and lets half an hour pass.
func (w *Wild) End() { w.drain() }

// Running reports whether a runtime is there.
func (w *Wild) Running() bool { return w.core != nil }

// LidSettings returns the lasting lid setting and what the user had chosen.
func (w *Wild) LidSettings() (now, chosen string) { return w.laptop.LidSetting(), w.userLid }

// Locks counts the runtime's locks of one hold that the laptop has.
func (w *Wild) Locks(h awake.Hold) int { return w.laptop.Locks(h) }
