package entry

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/approve"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

// approvePack says yes to what a person named beforehand.
var approvePack = pack{
	name: approve.Name, band: policy.BandPolicy + 10, events: "PermissionRequest",
	told: func(r *Rules) bool { return len(r.Approve) > 0 },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		// Whether the gate is on or not, and however relaxed it is: what its
		// standard asks about is for a person.
		cfg := gateConfig(r, &h.packs)
		if cfg.Profile == gate.Relaxed {
			cfg.Profile = gate.Standard
		}
		return []policy.Handler{approve.New(r.Approve, h.gateWorld, func(ev *event.Event) bool {
			return gate.Judge(cfg, ev, h.gateWorld(ev)).Decision != event.None
		})}
	},
	detail: func(r *Rules, _ *Packs) string {
		var ids []string
		for _, a := range r.Approve {
			ids = append(ids, a.ID)
		}
		return strings.Join(ids, ", ")
	},
	check: func(r *Rules) *Fault {
		if row, problem := approve.Check(r.Approve); row >= 0 {
			return &Fault{Section: "approve", Index: row, Problem: problem}
		}
		return nil
	},
}
