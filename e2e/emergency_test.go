//go:build linux

package e2e

import (
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
)

// Reports: PowerToys#34479 and its like are of laptops awake and very hot in a
// bag.
func TestEmergency_aHotClosedMachineSleeps(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	g.Set("prevent-system-sleep", "strict")
	g.Run("start", "--session", "hot")
	l.WaitInhibitor(laptop.Inhibitor{What: "handle-lid-switch", Who: "lidguard", Mode: "block"})
	if l.Held(laptop.Inhibitor{What: "sleep", Who: "lidguard", Mode: "block"}) {
		t.Error("with the lid open the strict lock refuses the person's own suspend")
	}
	l.Temperature(95) // with the lid open nobody needs saving
	l.StaysAwake(time.Second)
	l.Temperature(60)
	l.CloseLid()
	l.WaitInhibitor(laptop.Inhibitor{What: "sleep", Who: "lidguard", Mode: "block"})
	l.StaysAwake(2 * time.Second)
	ramped := time.Now()
	l.Temperature(95)
	l.WaitSleeps(1)
	bar(t, "from 95 °C to the sleep", time.Since(ramped), 12*time.Second) // one poll and the call
	l.OpenLid()                                                           // which wakes it
	waitText(t, g, "EmergencyHibernation", "suspend-history")
}

// Reports: daintree#12516, t3code#5535 and others want a battery floor.
func TestBatteryFloor_aLowClosedMachineSleeps(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	g.Set("post-stop-suspend-delay-seconds", "0")
	g.Run("start", "--session", "low")
	l.WaitInhibitor(laptop.Inhibitor{What: "handle-lid-switch", Who: "lidguard", Mode: "block"})
	l.Unplug()
	l.Battery(11)
	l.CloseLid()
	l.StaysAwake(2 * time.Second)
	l.Battery(9)
	l.WaitSleeps(1)
	l.OpenLid()
	waitText(t, g, "BatteryFloor", "suspend-history")
}
