//go:build linux

package laptop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// Inhibitor is one lock as logind lists it.
type Inhibitor struct {
	What string // colon-separated: sleep, idle, handle-lid-switch, …
	Who  string
	Why  string
	Mode string // block or delay
	UID  uint32
	PID  uint32 // as the laptop counts
}

// matches tells whether the lock is one of the wanted kind: every word of
// want.What is among its words, and the other fields that want has are equal.
func (i Inhibitor) matches(want Inhibitor) bool {
	words := strings.Split(i.What, ":")
	for word := range strings.SplitSeq(want.What, ":") {
		if word != "" && !slices.Contains(words, word) {
			return false
		}
	}
	return (want.Who == "" || want.Who == i.Who) && (want.Why == "" || want.Why == i.Why) &&
		(want.Mode == "" || want.Mode == i.Mode) && (want.UID == 0 || want.UID == i.UID) && (want.PID == 0 || want.PID == i.PID)
}

func (l *Laptop) manager() dbus.BusObject {
	return l.bus.Object("org.freedesktop.login1", "/org/freedesktop/login1")
}

func (l *Laptop) property(name string) (any, error) {
	value, err := l.manager().GetProperty("org.freedesktop.login1.Manager." + name)
	return value.Value(), err
}

func (l *Laptop) waitProperty(name string, want any) {
	l.t.Helper()
	wait.Until(l.t, wait.Long, fmt.Sprintf("logind to have %s %v", name, want), func() (bool, string) {
		got, err := l.property(name)
		return err == nil && got == want, fmt.Sprint(got, err)
	})
}

func (l *Laptop) waitAnswer() {
	l.t.Helper()
	wait.Until(l.t, wait.Long, "logind to answer", func() (bool, string) {
		_, err := l.inhibitors()
		return err == nil, fmt.Sprint(err)
	})
}

func (l *Laptop) inhibitors() ([]Inhibitor, error) {
	var list []Inhibitor
	err := l.manager().Call("org.freedesktop.login1.Manager.ListInhibitors", 0).Store(&list)
	return list, err
}

// Inhibitors lists what is held now. UPower's own delay lock, which every
// laptop has, is left out.
func (l *Laptop) Inhibitors() []Inhibitor {
	l.t.Helper()
	list, err := l.inhibitors()
	if err != nil {
		l.t.Fatalf("asking logind for its inhibitors: %v", err)
	}
	return slices.DeleteFunc(list, func(i Inhibitor) bool { return i.Who == "UPower" })
}

// Held tells whether a lock of that kind is held now; empty fields of want fit
// everything, and want.What names words that must be among the lock's.
func (l *Laptop) Held(want Inhibitor) bool {
	l.t.Helper()
	return slices.ContainsFunc(l.Inhibitors(), func(i Inhibitor) bool { return i.matches(want) })
}

// WaitInhibitor waits until a lock of that kind is held and returns it.
func (l *Laptop) WaitInhibitor(want Inhibitor) Inhibitor {
	l.t.Helper()
	var found Inhibitor
	wait.Until(l.t, wait.Long, fmt.Sprintf("an inhibitor like %+v", want), func() (bool, string) {
		list, err := l.inhibitors()
		for _, i := range list {
			if i.matches(want) {
				found = i
				return true, ""
			}
		}
		return false, fmt.Sprintf("%+v %v", list, err)
	})
	return found
}

// WaitNoInhibitor waits until no lock of that kind is held any more.
func (l *Laptop) WaitNoInhibitor(want Inhibitor) {
	l.t.Helper()
	wait.Until(l.t, wait.Long, fmt.Sprintf("no inhibitor like %+v", want), func() (bool, string) {
		list, err := l.inhibitors()
		return err == nil && !slices.ContainsFunc(list, func(i Inhibitor) bool { return i.matches(want) }), fmt.Sprintf("%+v %v", list, err)
	})
}

// Sleep is one time the machine would have slept.
type Sleep struct {
	Verb  string // suspend, hibernate, …
	State string // what was written to /sys/power/state: mem, disk, …
}

// Sleeps lists the sleeps so far, oldest first, with the one that is going on.
func (l *Laptop) Sleeps() []Sleep {
	l.t.Helper()
	var list []Sleep
	for line := range strings.Lines(l.state("share/sleep.log")) {
		// time pre|post verb state=…; the state is known in the second line
		fields := strings.Fields(line)
		if len(fields) == 4 && fields[1] == "post" {
			list = append(list, Sleep{Verb: fields[2], State: strings.TrimPrefix(fields[3], "state=")})
		}
	}
	return list
}

// WaitSleeps waits until the machine has slept n times; more than n ends the
// test.
func (l *Laptop) WaitSleeps(n int) {
	l.t.Helper()
	wait.Until(l.t, wait.Long, fmt.Sprintf("sleep number %d", n), func() (bool, string) {
		list := l.Sleeps()
		return len(list) >= n, fmt.Sprintf("%d sleeps: %+v; inhibitors: %+v", len(list), list, l.Inhibitors())
	})
	if list := l.Sleeps(); len(list) != n {
		l.t.Fatalf("the laptop slept %d times, want %d: %+v", len(list), n, list)
	}
}

// StaysAwake watches for the time given and ends the test if the machine
// sleeps once more than it has.
func (l *Laptop) StaysAwake(during time.Duration) {
	l.t.Helper()
	before := len(l.Sleeps())
	wait.Never(l.t, during, "the laptop slept", func() (bool, string) {
		list := l.Sleeps()
		return len(list) != before, fmt.Sprintf("%+v; inhibitors: %+v", list, l.Inhibitors())
	})
}
