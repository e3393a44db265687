package daemon

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// slow is when the network and the logins from afar are looked at next, on the
// machine's Awake clock; 0: they are not wanted. It belongs to the owner goroutine.
type slow struct{ network, remote time.Duration }

// readSlow has the network and the logins from afar read while the Core wants them.
func (d *daemon) readSlow() {
	now := d.Now().Awake
	due := func(wanted bool, at *time.Duration) bool {
		if !wanted {
			*at = 0
			return false
		}
		if *at > now {
			return false
		}
		*at = now + awake.SlowPoll
		return true
	}
	a := d.core.Awake()
	if due(a.WantsNetwork(), &d.slow.network) {
		d.hands.readBeside("network", d.hands.grip.Network)
	}
	if due(a.WantsRemote(), &d.slow.remote) {
		d.hands.readBeside("logins from afar", d.hands.grip.Remote)
	}
}
