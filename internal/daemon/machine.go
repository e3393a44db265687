package daemon

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// OpenMachine opens the computer a runtime works on: this one, or, for the demo
// and tests, the fake laptop that LIDGUARD_MACHINE names ("fake:" and a control
// folder). env looks up variables; DBUS_SYSTEM_BUS_ADDRESS and
// DBUS_SESSION_BUS_ADDRESS say where the buses are, and LIDGUARD_ROOT is prefixed
// to paths under /proc and /sys. The function returned lets go of it.
func OpenMachine(env func(string) string) (awake.Machine, func(), error) {
	if dir, fake := strings.CutPrefix(env("LIDGUARD_MACHINE"), fakePrefix); fake {
		m, closeIt, err := openFake(dir)
		if err != nil {
			return nil, nil, err
		}
		return withLastingLid(m, closeIt, env, dir)
	}
	m, closeIt := openSystem(env)
	return m, closeIt, nil
}
