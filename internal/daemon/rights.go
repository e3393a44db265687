package daemon

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/platform/bus"
	"github.com/lidguard-go/lidguard/internal/platform/polkit"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

// Rights are what this process may do with the power of a Linux machine, and
// whether that machine is one that a program in here can keep awake at all.
type Rights struct {
	polkit.Rights
	// Guest names what stands between this Linux and the machine: "wsl", or a
	// kind of container. Empty: nothing.
	Guest string `json:"guest,omitempty"`
	// IdleDaemons are what may suspend an idle machine here besides the system.
	IdleDaemons []IdleDaemon `json:"idle_daemons,omitempty"`
}

// IdleDaemon is one of them.
type IdleDaemon = sleep.IdleDaemon

// Verdict is polkit's word on one action.
type Verdict = polkit.Verdict

// PowerRule is the rule file that grants them to one user.
type PowerRule = polkit.Rule

// The states of a PowerRule.
const (
	RuleInstalled = polkit.Installed
	RuleOutdated  = polkit.Outdated
	RuleMissing   = polkit.Missing
)

// RuleText is the rule for one user as it would be written.
func RuleText(user string) ([]byte, error) { return polkit.Text(user) }

// CheckRights asks polkit and login1 what this process may do. Nothing is held,
// nobody is asked, and nothing sleeps. env is as for OpenMachine.
func CheckRights(ctx context.Context, env func(string) string) Rights {
	address, root := env("DBUS_SYSTEM_BUS_ADDRESS"), env("LIDGUARD_ROOT")
	if address == "" {
		address = bus.SystemBus
	}
	r := Rights{Rights: polkit.Check(ctx, polkit.Options{SystemBus: address, Root: root}), Guest: sleep.InContainer(root),
		IdleDaemons: sleep.IdleDaemons(root)}
	if sleep.InWSL(root) {
		r.Guest = "wsl"
	}
	return r
}
