package entry

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/until"
)

// untilPack keeps an agent going until a goal is proven.
var untilPack = pack{
	name: until.Name, band: policy.BandPolicy + 50, events: "Stop SubagentStop",
	told: func(r *Rules) bool { return len(r.Until) > 0 },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		k := h.kit()
		goals := append([]until.Goal(nil), r.Until...)
		for i := range goals {
			if rest, ok := strings.CutPrefix(goals[i].Dir, "~/"); ok {
				goals[i].Dir = h.dirs.Join(h.dirs.Home, rest)
			}
		}
		return until.New(goals, until.World{Store: k.Store(until.Name), Run: maskFailures(k.Run, secretMask(r, h.dirs)), History: history})
	},
	detail: func(r *Rules, _ *Packs) string {
		var ids []string
		for _, g := range r.Until {
			ids = append(ids, g.ID)
		}
		return strings.Join(ids, ", ")
	},
	check: func(r *Rules) *Fault {
		if row, key, problem := until.Check(r.Until); row >= 0 {
			return &Fault{Section: until.Name, Index: row, Key: key, Problem: problem}
		}
		return nil
	},
}
