package cli

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// powerFindings tells what keeps lidguard from holding this machine.
func (a *app) powerFindings(ctx context.Context) []ipc.Finding {
	if a.Power == nil && a.MacPower == nil {
		return nil
	}
	d, err := a.dirs()
	if err != nil {
		return nil // told by whoever needs them
	}
	s, _, _ := readSettings(d.Settings()) // with an error the defaults count, and doctor tells it
	if a.Power == nil {
		f := doctor.MacFacts{Settings: s}
		for _, r := range a.MacPower.Rule.Check(ctx) {
			if !r.OK {
				f.Missing = append(f.Missing, doctor.Right{Action: r.Command, For: r.For})
			}
		}
		return doctor.Mac(f)
	}
	r := a.Power.Check(ctx)
	f := doctor.PowerFacts{Settings: s, Guest: r.Guest, Login1: r.Login1, Polkit: r.Polkit, HasSession: r.Session.ID != "",
		Active: r.Session.Active, CanHibernate: r.CanHibernate}
	for _, v := range r.Missing() {
		f.Missing = append(f.Missing, doctor.Right{Action: v.Action, For: v.For, Unknown: v.Verdict == "unknown"})
	}
	for _, d := range r.IdleDaemons {
		if !d.AsksLogin1 {
			f.Deaf = append(f.Deaf, d.Name)
		}
	}
	return doctor.Power(f)
}
