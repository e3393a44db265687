//go:build linux

package laptop

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

func TestMain(m *testing.M) { os.Exit(guard.Main(m)) }

func TestLaptop_closedLidSleepsOnce(t *testing.T) {
	t.Parallel()
	l := Start(t)
	l.CloseLid()
	l.WaitSleeps(1)
	l.StaysAwake(2 * time.Second)
	if got := l.Sleeps()[0]; got.Verb != "suspend" || got.State != "mem" {
		t.Errorf("slept %+v, want suspend with state mem", got)
	}
	l.OpenLid()
	l.StaysAwake(time.Second)
}

func TestLaptop_inhibitorHolds(t *testing.T) {
	t.Parallel()
	l := Start(t)
	holder := machine.Start(t, l, machine.Spec{Args: []string{
		"systemd-inhibit", "--what=sleep:handle-lid-switch", "--who=holder", "--why=to see", "--mode=block", "sleep", "100"}})
	lock := l.WaitInhibitor(Inhibitor{What: "handle-lid-switch", Who: "holder"})
	if lock.UID != labUID || lock.Mode != "block" || lock.What != "sleep:handle-lid-switch" || lock.PID == 0 {
		t.Errorf("got %+v", lock)
	}
	l.CloseLid()
	l.StaysAwake(2 * time.Second)
	holder.Kill()
	l.WaitNoInhibitor(Inhibitor{Who: "holder"})
	l.WaitSleeps(1)
}

func TestLaptop_locksAcrossRestartsOfLogind(t *testing.T) {
	t.Parallel()
	l := Start(t)
	machine.Start(t, l, machine.Spec{Args: []string{"systemd-inhibit", "--what=handle-lid-switch", "--who=holder", "sleep", "100"}})
	before := l.WaitInhibitor(Inhibitor{Who: "holder"})
	l.RestartLogind()
	if after := l.WaitInhibitor(Inhibitor{Who: "holder"}); after != before {
		t.Errorf("after the restart %+v, before %+v", after, before)
	}
	l.CloseLid()
	l.StaysAwake(time.Second)
	l.ReplaceLogind()
	l.WaitNoInhibitor(Inhibitor{Who: "holder"})
	l.WaitSleeps(1)
}

func TestLaptop_hardwareIsSeen(t *testing.T) {
	t.Parallel()
	l := Start(t)
	l.Unplug()
	l.Battery(17)
	l.Temperature(91)
	l.ConnectDisplay("HDMI-A-1")
	l.waitProperty("Docked", true)
	stdout, stderr, code := machine.Run(t, l, machine.Spec{Args: []string{"sh", "-c",
		"cd /sys/class; cat power_supply/AC/online power_supply/BAT0/capacity thermal/thermal_zone0/temp drm/card0-HDMI-A-1/status; cat power_supply/BAT0/status"}})
	if got := strings.Fields(stdout); code != 0 || strings.Join(got, " ") != "0 17 91000 connected Discharging" {
		t.Errorf("read %q, exit %d, %s", got, code, stderr)
	}
	l.CloseLid()
	l.StaysAwake(1500 * time.Millisecond) // docked
	l.DisconnectDisplay("HDMI-A-1")
	l.WaitSleeps(1)
	l.OpenLid()
	l.PlugIn()
}

func TestLaptop_programsStandStillInSleep(t *testing.T) {
	t.Parallel()
	l := Start(t)
	ticker := machine.Start(t, l, machine.Spec{Args: []string{"sh", "-c", "while :; do echo tick; sleep 0.05; done"}})
	ticks := func() int64 {
		info, err := os.Stat(ticker.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	wait.Until(t, wait.Long, "the first tick", func() (bool, string) { return ticks() > 0, "none" })
	if refusal := l.Suspend(); refusal != "" {
		t.Fatal(refusal)
	}
	l.WaitSleeps(1)
	asleep := ticks()
	wait.Never(t, 500*time.Millisecond, "a program ran in a sleeping laptop", func() (bool, string) { return ticks() != asleep, "" })
	if !l.Asleep() {
		t.Error("the laptop woke by itself")
	}
	l.Wake()
	wait.Until(t, wait.Long, "a tick after the sleep", func() (bool, string) { return ticks() > asleep, "none" })
	l.StaysAwake(time.Second)
}

func TestLaptop_strangersAreDenied(t *testing.T) {
	t.Parallel()
	l := Start(t, Options{NoSession: true})
	inhibit := machine.Spec{Args: []string{"systemd-inhibit", "--what=handle-lid-switch", "--mode=block", "true"}}
	if _, stderr, code := machine.Run(t, l, inhibit); code == 0 {
		t.Errorf("somebody without a session blocked the lid; stderr %q", stderr)
	}
	l.PolkitRule("allow", `polkit.addRule(function(a, s) { if (a.id == "org.freedesktop.login1.inhibit-handle-lid-switch") return polkit.Result.YES; });`)
	wait.Until(t, wait.Long, "polkit to obey the rule", func() (bool, string) {
		_, stderr, code := machine.Run(t, l, inhibit)
		return code == 0, stderr
	})
}

func TestLaptop_isAMachine(t *testing.T) {
	t.Parallel()
	l := Start(t)
	listener := l.Listen(t)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "served from outside") })}
	go server.Serve(listener) // ends with Close below
	defer server.Close()
	project := machine.Project(t, l, "project", true)
	machine.Write(t, l, filepath.Join(project, "ask.js"), `
fetch(process.argv[2]).then(r => r.text()).then(text => { console.log(process.cwd() + " " + process.getuid() + " " + text) })`)
	stdout, stderr, code := machine.Run(t, l, machine.Spec{Dir: project,
		Args: []string{"node", "ask.js", "http://" + listener.Addr().String()}})
	if want := project + " " + strconv.Itoa(labUID) + " served from outside\n"; code != 0 || stdout != want {
		t.Errorf("got %q, exit %d, %s; want %q", stdout, code, stderr, want)
	}
	p := machine.Start(t, l, machine.Spec{Args: []string{"sh", "-c", "trap 'exit 9' INT; echo ready; while :; do sleep 0.05; done"}})
	wait.Until(t, wait.Long, "the program to be ready", func() (bool, string) {
		text, err := os.ReadFile(p.Stdout)
		return string(text) == "ready\n", fmt.Sprint(string(text), err)
	})
	p.Signal(t, syscall.SIGINT)
	if code := p.Wait(t); code != 9 {
		t.Errorf("exit %d after SIGINT, want the program's own 9", code)
	}
	stdout, _, _ = machine.Run(t, l, machine.Spec{Args: []string{"loginctl", "session-status", "--no-pager"}})
	if !strings.Contains(stdout, "Active: yes") && !strings.Contains(stdout, "State: active") {
		t.Errorf("the person has no active session:\n%s", stdout)
	}
}
