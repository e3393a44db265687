package daemon

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// Probe is one direct look at the machine, for the time no runtime runs.
type Probe struct {
	Lid      awake.Lid
	Displays int                // suspend-blocking; awake.UnknownDisplays
	Celsius  map[string]float64 // by mode: low, average, high; nil with HeatErr
	HeatErr  error
}

// Look reads lid, displays and heat of m. What cannot be read is unknown, which is
// no error.
func Look(ctx context.Context, m awake.Machine) Probe {
	var p Probe
	p.Lid, _ = m.Lid(ctx)
	p.Displays, _ = m.Displays(ctx)
	p.Celsius = map[string]float64{}
	for _, mode := range []string{"low", "average", "high"} {
		c, err := m.Heat(ctx, mode)
		if err != nil {
			p.Celsius, p.HeatErr = nil, err
			break
		}
		p.Celsius[mode] = c
	}
	return p
}
