package simulate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// Bench is a World that a script drives: no faults, no randomness, and the
// oracle watching every step. It is how a story of a person and their laptop
// becomes a test.
type Bench struct {
	*World
	story strings.Builder
}

// NewBench returns a bench with a fresh laptop and runtime.
func NewBench(cfg daemon.CoreConfig, opt fakelaptop.Options) *Bench {
	b := &Bench{}
	b.World = newWorld(rand.NewPCG(1, 1), &b.story, cfg, opt, Broken{}, false)
	b.userLid = "sleep" // stories start from a fresh system, whatever the draw
	b.laptop.SetLidSetting(b.userLid)
	b.Pass(time.Second)
	return b
}

// DefaultConfig is what fresh settings come to.
func DefaultConfig() daemon.CoreConfig {
	return daemon.CoreConfig{
		Session: session.Config{Timeout: 12 * time.Minute, MaxTool: 240 * time.Minute, MaxBackground: 120 * time.Minute},
		Awake: awake.Config{
			PreventIdle: true, ChangeLid: true, SuspendMode: awake.Sleep, SuspendDelay: 10 * time.Second,
			PreSuspendWebhook: true, PostSessionEndWebhook: true, ExitDelay: 10 * time.Minute,
			EmergencyHibernation: true, EmergencyCelsius: 93, FloorPercent: 10, ProtectOnBattery: true,
		},
	}
}

// Signal feeds one observation at the present moment.
func (b *Bench) Signal(sig event.Signal) {
	if sig.Source == "" {
		sig.Source = "hook " + string(sig.Kind)
	}
	b.signal(sig)
}

// Input feeds any other input.
func (b *Bench) Input(in daemon.Input) { b.feed("input", in) }

// Pass lets d go by; everything due on the way happens at its time.
func (b *Bench) Pass(d time.Duration) { b.pass(d) }

// Laptop is the machine, for moving its parts.
func (b *Bench) Laptop() *fakelaptop.Laptop { return b.laptop }

// Core is the runtime's core, nil when the runtime has left.
func (b *Bench) Core() *daemon.Core { return b.core }

// RestartService restarts what is behind locks and suspend.
func (b *Bench) RestartService() {
	b.laptop.RestartService()
	b.loseLocks()
}

// Kill kills the runtime and its keeper and starts it again from its last snapshot.
func (b *Bench) Kill() error {
	snap, err := b.core.Snapshot()
	if err != nil {
		return err
	}
	b.machine.Kill()
	b.keeper = false
	b.keep()
	b.startRuntime(snap)
	return nil
}

// Story is everything that happened, one line a step.
func (b *Bench) Story() string { return b.story.String() }

// Count counts the lines of the story that contain all words.
func (b *Bench) Count(words ...string) int {
	n := 0
	for line := range strings.Lines(b.Story()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			n++
		}
	}
	return n
}
