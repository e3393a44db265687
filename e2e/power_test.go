//go:build linux

package e2e

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// What happened under the closed lid is told by the next status once it is open,
// once; away-report has it for as long as one likes.
func TestPower_theAwayReportIsToldOnce(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	g.Set("post-stop-suspend-delay-seconds", "1")
	g.Run("start", "--session", "first")
	g.Run("start", "--session", "second")
	l.WaitInhibitor(lidLock)
	l.CloseLid()
	waitText(t, g, "lid closed since", "away-report")
	if text := g.Run("status"); strings.Contains(text, "lid closed") {
		t.Errorf("status tells of a time away that is not over:\n%s", text)
	}
	g.Run("stop", "--session", "first")
	g.Run("stop", "--session", "second")
	l.WaitSleeps(1)
	l.OpenLid()
	waitText(t, g, "slept", "suspend-history")

	var report []struct {
		Closed, Opened time.Time
		Ended          []struct{ Session string } `json:"sessions_ended"`
		Suspends       []struct{ Mode, Reason, Result string }
	}
	wait.Until(t, wait.Long, "the away report to be complete", func() (bool, string) {
		text, _, _ := g.Try("away-report", "--json")
		return json.Unmarshal([]byte(text), &report) == nil && len(report) == 1 && !report[0].Opened.IsZero() && len(report[0].Suspends) == 1, text
	})
	r := report[0]
	if len(r.Ended) != 2 || r.Suspends[0].Reason != "Completed" || r.Suspends[0].Result != "slept" || !r.Opened.After(r.Closed) {
		t.Errorf("the report: %+v", r)
	}
	for i, want := range []bool{true, false} {
		text := g.Run("status")
		told := strings.Contains(text, "lid closed") && strings.Contains(text, "ended") && strings.Contains(text, "sleep (Completed)")
		if told != want {
			t.Errorf("status number %d tells of it: %v, want %v\n%s", i+1, told, want, text)
		}
	}
	if text := g.Run("away-report"); !strings.Contains(text, "sleep (Completed)") {
		t.Errorf("away-report has forgotten it:\n%s", text)
	}
}

// Reports: PowerToys#34479 and its like; an unreadable sensor must neither cook the
// machine in secret nor put it to sleep.
func TestPower_unreadableSensorsTriggerNothingAndAreSaid(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	g.Run("start", "--session", "hot")
	l.WaitInhibitor(lidLock)
	l.Temperature(95)
	l.Root("sh", "-c", "for f in /sys/class/thermal/thermal_zone*/temp /sys/class/hwmon/hwmon*/temp*_input; do echo nonsense > $f; done")
	l.CloseLid()
	if _, stderr, code := g.Try("current-temperature"); code == 0 || !strings.Contains(stderr, "no temperature") {
		t.Errorf("current-temperature: exit %d, %s", code, stderr)
	}
	if text, _, _ := g.Try("can-close"); !strings.Contains(text, "no temperature can be read") {
		t.Errorf("can-close does not say that nothing can be read:\n%s", text)
	}
	l.StaysAwake(11 * time.Second) // the sensors are asked every 10 s
	l.Temperature(95)
	l.WaitSleeps(1) // they were asked, all the while
	l.OpenLid()
	waitText(t, g, "EmergencyHibernation", "suspend-history")
}

// Reports: PowerToys#15137 and others want the machine held on mains only.
func TestPower_mainsOnly(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	g.Set("protect-on-battery", "false")
	g.Set("post-stop-suspend-delay-seconds", "0")
	g.Run("start", "--session", "mains")
	l.WaitInhibitor(lidLock)
	l.Unplug()
	l.WaitNoInhibitor(laptop.Inhibitor{Who: "lidguard"})
	s := statusOf(g)
	i := slices.IndexFunc(s.Findings, func(f finding) bool { return f.Code == "protection-blocked" })
	if s.Awake || i < 0 || !strings.Contains(s.Findings[i].Text, "on battery") || s.Findings[i].Remedy == "" {
		t.Errorf("status on battery: %+v", s)
	}
	l.PlugIn()
	l.WaitInhibitor(lidLock)
	l.CloseLid()
	l.StaysAwake(2 * time.Second)
	l.Unplug()
	l.WaitSleeps(1)
	l.OpenLid()
}

// Report hyprland#9280: a compositor that handles the lid leaves with the lid shut,
// and its lock with it.
func TestPower_aCompositorLeavesWithTheLidShut(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	g.Set("post-stop-suspend-delay-seconds", "0")
	compositor := machine.Start(t, l, machine.Spec{Args: []string{"systemd-inhibit", "--what=handle-lid-switch", "--who=Compositor", "--mode=block", "sleep", "600"}})
	l.WaitInhibitor(laptop.Inhibitor{What: "handle-lid-switch", Who: "Compositor"})
	g.Run("start", "--session", "work")
	l.WaitInhibitor(lidLock)
	// handled waits until status names the compositor, or does no more.
	handled := func(want bool) {
		t.Helper()
		wait.Until(t, wait.Long, fmt.Sprintf("status to name who handles the lid: %v", want), func() (bool, string) {
			findings := statusOf(g).Findings
			return slices.ContainsFunc(findings, func(f finding) bool {
				return f.Code == "desktop-handles-lid" && strings.Contains(f.Text, "Compositor")
			}) == want, fmt.Sprintf("%+v", findings)
		})
	}
	handled(true)
	l.CloseLid()
	compositor.Kill()
	l.WaitNoInhibitor(laptop.Inhibitor{Who: "Compositor"})
	l.StaysAwake(2 * time.Second)
	handled(false)
	g.Run("stop", "--session", "work")
	l.WaitSleeps(1)
	l.OpenLid()
}

// tone is half a second of a loud 440 Hz, 8 kHz, 8 bit, mono.
func tone() string {
	const n = 4000
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36+n)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = append(b, 1, 0, 1, 0)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = append(b, 1, 0, 8, 0)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, n)
	for i := range n {
		b = append(b, byte(128+100*math.Sin(2*math.Pi*440*float64(i)/8000)))
	}
	return string(b)
}

// loudest is the largest sample of raw 16-bit sound.
func loudest(raw []byte) int {
	most := 0
	for i := 0; i+1 < len(raw); i += 2 {
		most = max(most, max(int(int16(binary.LittleEndian.Uint16(raw[i:]))), -int(int16(binary.LittleEndian.Uint16(raw[i:])))))
	}
	return most
}

// The warning sound is heard on a real sound server, at its own volume although the
// person's is low and muted, which both come back.
func TestPower_soundsAreHeard(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Put(t, m)
	socket := filepath.Join(machine.Mkdir(t, m, filepath.Join(m.Folder(), "pulse")), "s")
	vars := map[string]string{"PULSE_SERVER": "unix:" + socket, "PULSE_RUNTIME_PATH": filepath.Dir(socket), "PULSE_STATE_PATH": filepath.Dir(socket)}
	machine.Start(t, m, machine.Spec{Vars: vars, Args: []string{"pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--disable-shm=true", "--use-pid-file=false",
		"-L", "module-native-protocol-unix socket=" + socket + " auth-anonymous=1", "-L", "module-null-sink sink_name=lab"}})
	pactl := func(args ...string) (string, bool) {
		stdout, stderr, code := machine.Run(t, m, machine.Spec{Args: append([]string{"pactl"}, args...), Vars: vars})
		return stdout + stderr, code == 0
	}
	wait.Until(t, wait.Long, "the sound server", func() (bool, string) {
		text, ok := pactl("get-sink-volume", "lab")
		return ok, text
	})
	state := func() string {
		volume, _ := pactl("get-sink-volume", "@DEFAULT_SINK@")
		mute, _ := pactl("get-sink-mute", "@DEFAULT_SINK@")
		return volume + mute
	}
	pactl("set-sink-volume", "@DEFAULT_SINK@", "10%")
	pactl("set-sink-mute", "@DEFAULT_SINK@", "1")
	before := state()

	sound := filepath.Join(m.Home(), "warning.wav")
	machine.Write(t, m, sound, tone())
	g.Set("post-stop-suspend-sound", sound)
	g.Set("post-stop-suspend-sound-volume-override-percent", "80")
	ear := machine.Start(t, m, machine.Spec{Vars: vars, Args: []string{"parec", "--raw", "--format=s16le", "--channels=1", "--rate=8000", "--latency-msec=20", "-d", "lab.monitor"}})
	wait.Until(t, wait.Long, "the recorder to listen", func() (bool, string) {
		text, _ := pactl("list", "short", "source-outputs")
		return strings.TrimSpace(text) != "", text
	})
	stdout, stderr, code := machine.Run(t, m, machine.Spec{Args: []string{"lidguard", "preview-current-sound"}, Vars: vars})
	if code != 0 {
		t.Errorf("preview-current-sound: exit %d\n%s%s", code, stdout, stderr)
	}
	if after := state(); after != before {
		t.Errorf("before the sound\n%safter it\n%s", before, after)
	}
	// 80 % of PulseAudio's cubic scale is half the amplitude, 10 % a thousandth.
	wait.Until(t, wait.Long, "the sound to be heard at its volume", func() (bool, string) {
		heard := read(t, ear.Stdout)
		most := loudest([]byte(heard))
		return most >= 3000, fmt.Sprintf("the loudest of %d bytes is %d of %d", len(heard), most, math.MaxInt16)
	})
}
