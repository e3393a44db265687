package doctor_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// well is an installation without a fault.
func well() doctor.RuntimeFacts {
	return doctor.RuntimeFacts{Version: "v1.2.3", Settings: settings.Default(), Socket: "/run/sock",
		Status: &ipc.Status{Lid: "open"}, RuntimeVersion: "v1.2.3", HookBinary: "/bin/lidguard-hook", HookVersion: "v1.2.3"}
}

func codes(findings []doctor.Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, f.Code)
	}
	return out
}

func TestRuntime(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*doctor.RuntimeFacts)
		want   []string
	}{
		{"all is well", func(*doctor.RuntimeFacts) {}, []string{}},
		{"no runtime is well too", func(f *doctor.RuntimeFacts) { f.Status, f.RuntimeVersion = nil, "" }, []string{}},
		{"no hook program is well too", func(f *doctor.RuntimeFacts) { f.HookBinary, f.HookVersion = "", "" }, []string{}},
		{"broken settings", func(f *doctor.RuntimeFacts) { f.SettingsError = errors.New("x") }, []string{doctor.SettingsBroken}},
		{"settings that may not be read", func(f *doctor.RuntimeFacts) {
			f.SettingsError = &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}
		}, []string{doctor.SettingsBroken}},
		{"unknown keys", func(f *doctor.RuntimeFacts) { f.UnknownKeys = []string{"a", "max-tool-minute"} }, []string{doctor.SettingsUnknownKey, doctor.SettingsUnknownKey}},
		{"no timeout", func(f *doctor.RuntimeFacts) { f.Settings.SessionTimeoutMinutes = 0 }, []string{doctor.TimeoutOff}},
		{"a phone that is to be asked and none", func(f *doctor.RuntimeFacts) { f.Settings.ClosedLidPermissionDecision = "phone" }, []string{doctor.PhoneMissing}},
		{"a phone", func(f *doctor.RuntimeFacts) {
			f.Settings.ClosedLidPermissionDecision, f.Settings.PhoneURL = "phone", "https://n.example/0123456789abcdef"
		}, []string{}},
		{"a dead runtime's socket", func(f *doctor.RuntimeFacts) { f.Status, f.SocketExists = nil, true }, []string{doctor.RuntimeUnreachable}},
		{"an odd answer", func(f *doctor.RuntimeFacts) { f.Status, f.RuntimeError = nil, "x" }, []string{doctor.RuntimeUnreachable}},
		{"an open folder", func(f *doctor.RuntimeFacts) {
			f.Status, f.RuntimeError, f.RunOdd, f.RunMode = nil, "x", doctor.RunIsOpen, 0o755
		}, []string{doctor.RuntimeFolder}},
		{"another user's folder", func(f *doctor.RuntimeFacts) { f.Status, f.RuntimeError, f.RunOdd = nil, "x", doctor.RunIsTheirs }, []string{doctor.RuntimeFolder}},
		{"a folder that may not be entered", func(f *doctor.RuntimeFacts) { f.Status, f.RuntimeError, f.RunShut = nil, "x", "/home/a b/.local" }, []string{doctor.RuntimeFolder}},
		{"a folder that may not be written", func(f *doctor.RuntimeFacts) {
			f.Status, f.RunStuck, f.RunStuckError = nil, "/home/a b/.local", fs.ErrPermission
		}, []string{doctor.RuntimeFolder}},
		{"a dead runtime's socket on a disk that is read-only now", func(f *doctor.RuntimeFacts) {
			f.Status, f.SocketExists, f.RunStuck, f.RunStuckError = nil, true, "/home/a b/.local", syscall.EROFS
		}, []string{doctor.RuntimeFolder}},
		{"no folder", func(f *doctor.RuntimeFacts) { f.Status, f.RuntimeError, f.RunOdd = nil, "x", doctor.RunIsOther }, []string{doctor.RuntimeFolder}},
		{"no socket", func(f *doctor.RuntimeFacts) { f.Status, f.SocketExists, f.SocketOdd = nil, true, "a file" }, []string{doctor.RuntimeFolder}},
		{"another runtime", func(f *doctor.RuntimeFacts) { f.RuntimeVersion = "v1.0.0" }, []string{doctor.RuntimeVersion}},
		{"a runtime with folders of its own", func(f *doctor.RuntimeFacts) {
			f.Config, f.State, f.Status.Config, f.Status.State = "/a", "/b", "/a", "/b"
		}, []string{}},
		{"a runtime with the folders of another environment", func(f *doctor.RuntimeFacts) {
			f.Config, f.State, f.Status.Config, f.Status.State = "/a", "/b", "/c", "/d"
		}, []string{doctor.OtherFolders, doctor.OtherFolders}},
		{"a runtime that tells no folders", func(f *doctor.RuntimeFacts) { f.Config, f.State = "/a", "/b" }, []string{}},
		{"another hook program", func(f *doctor.RuntimeFacts) { f.HookVersion = "v1.0.0" }, []string{doctor.HookBinaryVersion}},
		{"a hook program of unknown version", func(f *doctor.RuntimeFacts) { f.HookVersion = "" }, []string{doctor.HookBinaryVersion}},
		{"a value not put back", func(f *doctor.RuntimeFacts) { f.Status, f.PendingBackup = nil, true }, []string{doctor.BackupPending}},
		{"a value changed by a living runtime", func(f *doctor.RuntimeFacts) { f.PendingBackup = true }, []string{}},
		{"a lock that is not held", func(f *doctor.RuntimeFacts) {
			f.Status.Protected, f.Status.Held = true, []ipc.Hold{{What: "idle", Confirmed: true}, {What: "sleep"}}
		}, []string{doctor.LockNotHeld}},
		{"locks that one thing refuses", func(f *doctor.RuntimeFacts) {
			f.Status.Protected, f.Status.Held = true, []ipc.Hold{{What: "idle", Error: "no login1"}, {What: "sleep", Error: "no login1"}}
		}, []string{doctor.LockNotHeld}},
		{"nothing held", func(f *doctor.RuntimeFacts) { f.Status.Protected = true }, []string{doctor.LockNotHeld}},
		{"a lock on its way while nothing works", func(f *doctor.RuntimeFacts) { f.Status.Held = []ipc.Hold{{What: "idle"}} }, []string{}},
		{"no lid", func(f *doctor.RuntimeFacts) { f.Status.Lid = "unknown" }, []string{doctor.LidUnknown}},
	} {
		f := well()
		c.change(&f)
		got := doctor.Runtime(f)
		if diff := cmp.Diff(c.want, codes(got)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		for _, x := range got {
			if x.Text == "" || x.Remedy == "" || strings.HasSuffix(x.Text, ".") {
				t.Errorf("%s: %+v says too little, or ends in a full stop", c.name, x)
			}
		}
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts doctor.PathFacts
		want  []string
	}{
		{"found", doctor.PathFacts{Executable: "/a", OnPath: "/b", Same: true}, []string{}},
		{"not found", doctor.PathFacts{Executable: "/a"}, []string{doctor.NotOnPath}},
		{"another one found", doctor.PathFacts{Executable: "/a", OnPath: "/b"}, []string{doctor.OtherOnPath}},
	} {
		if diff := cmp.Diff(c.want, codes(doctor.Path(c.facts))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestRuntime_namesTheProcessThatDoesNotAnswer(t *testing.T) {
	f := well()
	f.Status, f.RuntimeError = nil, "x"
	if got := doctor.Runtime(f); !strings.Contains(got[0].Remedy, "pgrep") || strings.Contains(got[0].Text, "process") {
		t.Errorf("not known: %+v", got)
	}
	f.RuntimePID = 4711
	if got := doctor.Runtime(f); !strings.Contains(got[0].Remedy, "end process 4711") || !strings.Contains(got[0].Text, "(process 4711)") {
		t.Errorf("known: %+v", got)
	}
}

func TestAgent(t *testing.T) {
	hook := func(s install.State, detail string) install.Hook {
		return install.Hook{Event: "Stop", State: s, Detail: detail}
	}
	for _, c := range []struct {
		name   string
		report install.Report
		want   []string
		text   string
	}{
		{"installed", install.Report{State: install.Installed, Hooks: []install.Hook{hook(install.Installed, "")}}, []string{}, ""},
		{"missing", install.Report{State: install.Missing, Present: true, Provider: event.Claude}, []string{doctor.AgentNotConnected}, "X is used here and has no hooks of lidguard"},
		{"never used", install.Report{State: install.Missing, Provider: event.Claude}, []string{doctor.AgentNotConnected}, "X has not been used here, so it has no hooks of lidguard"},
		{"outdated", install.Report{State: install.NeedsUpdate, Hooks: []install.Hook{hook(install.NeedsUpdate, "another command line"), hook(install.Missing, "")}},
			[]string{install.HooksOutdated}, "X: 1 hook not as this version writes them (Stop: another command line), 1 hook missing"},
		{"some missing", install.Report{State: install.NeedsUpdate, Hooks: []install.Hook{hook(install.Installed, ""), hook(install.Missing, ""), hook(install.Missing, "")}},
			[]string{install.HooksOutdated}, "X: 2 hooks missing"},
		{"not trusted", install.Report{State: install.NotTrusted, Hooks: []install.Hook{hook(install.NotTrusted, "")}}, []string{install.HooksNotTrusted}, "skips 1 hook without a word"},
		{"switched off one by one", install.Report{State: install.Off, Hooks: []install.Hook{hook(install.Off, "")}}, []string{install.HookDisabled}, "X: 1 hook of lidguard switched off there"},
		{"switched off as a whole", install.Report{State: install.Off, Hooks: []install.Hook{hook(install.Installed, "")},
			Problems: []install.Problem{{Code: install.HooksOff, Text: "off", Remedy: "on"}}}, []string{install.HooksOff}, "off"},
		{"a problem beside", install.Report{State: install.Conflicts, Problems: []install.Problem{{Code: install.PromptHooks, Text: "p", Remedy: "r"}}}, []string{install.PromptHooks}, "p"},
	} {
		got := doctor.Agent("X", c.report)
		if diff := cmp.Diff(c.want, codes(got)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
			continue
		}
		if len(got) > 0 && (!strings.Contains(got[0].Text, c.text) || got[0].Remedy == "") {
			t.Errorf("%s: %+v, want %q", c.name, got[0], c.text)
		}
	}
}

func TestCanary(t *testing.T) {
	one := doctor.Canary("X", event.Codex, []string{"Stop"}, "y")
	many := doctor.Canary("X", event.Codex, []string{"Stop", "SessionEnd"}, "y")
	if one.Text != "X: the hook of Stop does not work: y" || many.Text != "X: 2 hooks (Stop and others) do not work: y" || one.Code != doctor.CanaryFailed ||
		strings.Count(one.Remedy, "--provider codex") != 2 {
		t.Errorf("%+v %+v", one, many)
	}
}

func TestServer(t *testing.T) {
	const put = "lidguard mcp-install x"
	for _, c := range []struct {
		state    install.State
		recorded bool
		code     string
		remedy   string
	}{
		{install.Installed, true, "", ""},
		{install.Off, true, "", ""},
		{install.Missing, false, "", ""},
		{install.Foreign, false, "", ""},
		{install.NeedsUpdate, false, doctor.MCPOutdated, "`" + put + "`"},
		{install.Missing, true, doctor.MCPLost, "`" + put + "` puts it back; `lidguard mcp-remove x` forgets it"},
		{install.Foreign, true, doctor.MCPLost, "remove or rename that entry, then `" + put + "`"},
		{install.Unreadable, false, doctor.MCPFileBroken, "mend it"},
	} {
		got := doctor.Server("X", install.ServerReport{File: "/f", State: c.state, Detail: "d", Remedy: "mend it"}, c.recorded, put)
		if c.code == "" {
			if len(got) > 0 {
				t.Errorf("%s, recorded %v: %+v", c.state, c.recorded, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Code != c.code || got[0].Remedy != c.remedy || !strings.Contains(got[0].Text, "/f") {
			t.Errorf("%s, recorded %v: %+v", c.state, c.recorded, got)
		}
	}
}

func TestMac(t *testing.T) {
	lid := doctor.Right{Action: "/usr/bin/pmset -a disablesleep 1", For: "keep the lid from suspending"}
	mode := doctor.Right{Action: "/usr/bin/pmset -a hibernatemode 25", For: "hibernate"}
	heat := doctor.Right{Action: "/usr/bin/powermetrics --samplers smc", For: "read temperatures"}
	for _, c := range []struct {
		name    string
		change  func(*settings.Settings)
		missing []doctor.Right
		want    string // without "lidguard may not "; empty: no finding
	}{
		{"all is granted", func(*settings.Settings) {}, nil, ""},
		{"nothing is granted", func(*settings.Settings) {}, []doctor.Right{lid, lid, mode, heat}, "keep the lid from suspending, hibernate, read temperatures"},
		{"no lid and no emergency", func(s *settings.Settings) { s.ChangeLidAction, s.EmergencyHibernation = false, false }, []doctor.Right{lid, mode, heat}, ""},
		{"hibernation as the way to suspend", func(s *settings.Settings) { s.SuspendMode, s.EmergencyHibernation = "hibernate", false }, []doctor.Right{mode, heat}, "hibernate"},
	} {
		s := settings.Default()
		c.change(&s)
		got := doctor.Mac(doctor.MacFacts{Settings: s, Missing: c.missing})
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: got %+v, want nothing", c.name, got)
		case c.want != "" && (len(got) != 1 || got[0].Code != doctor.RightsMissing || got[0].Text != "lidguard may not "+c.want):
			t.Errorf("%s: got %+v, want %q", c.name, got, c.want)
		}
	}
}

func TestPower_idleDaemons(t *testing.T) {
	f := doctor.PowerFacts{Settings: settings.Default(), HasSession: true, Active: true, Deaf: []string{"swayidle"}}
	got := doctor.Power(f)
	if diff := cmp.Diff([]string{doctor.IdleDaemon}, codes(got)); diff != "" || !strings.HasPrefix(got[0].Text, "swayidle acts") || got[0].Remedy == "" {
		t.Errorf("%s %+v", diff, got)
	}
	f.Settings.PreventSystemSleep = "off"
	if got := doctor.Power(f); len(got) != 0 {
		t.Errorf("though nothing is held off: %+v", got)
	}
	f.Settings, f.Deaf = settings.Default(), nil
	if got := doctor.Power(f); len(got) != 0 {
		t.Errorf("without such a daemon: %+v", got)
	}
}

func TestNotRunning(t *testing.T) {
	hooks := func(states ...install.State) []install.Hook {
		var list []install.Hook
		for i, s := range states {
			list = append(list, install.Hook{Event: []string{"SessionStart", "PreToolUse", "Stop"}[i], State: s})
		}
		return list
	}
	const ok, gone, untrusted, old, off = install.Installed, install.Missing, install.NotTrusted, install.NeedsUpdate, install.Off
	const then = ": what they would see or refuse goes unseen, and the machine may sleep while work goes on. "
	const again = then + "`lidguard hook-install --provider codex` puts them back."
	for _, c := range []struct {
		name   string
		report install.Report
		want   string
	}{
		{"all run", install.Report{Hooks: hooks(ok, ok, ok)}, ""},
		{"an old entry runs too", install.Report{Hooks: hooks(ok, old, ok)}, ""},
		{"the person's own switch", install.Report{Hooks: hooks(ok, off, ok)}, ""},
		{"one is gone", install.Report{Hooks: hooks(ok, gone, ok)}, "F has lost 1 hook of lidguard (PreToolUse)" + again},
		{"more are gone", install.Report{Hooks: hooks(untrusted, gone, gone)}, "F has lost 2 hooks of lidguard (PreToolUse and others)" + again},
		{"all are gone", install.Report{Hooks: hooks(gone, gone, gone)}, "F has lost all hooks of lidguard" + again},
		{"one is not trusted", install.Report{Hooks: hooks(ok, untrusted, ok)},
			"Codex does not run 1 hook of lidguard (PreToolUse), which nobody trusted there" + then + "Start `codex` and trust them there."},
		{"the file is broken", install.Report{State: install.Unreadable}, "Codex cannot use F, so it runs none of lidguard's hooks" + then + "`lidguard doctor` tells what is wrong in it."},
		{"a value voids the file", install.Report{Hooks: hooks(ok, ok, ok), Problems: []install.Problem{{Code: "x", Voids: true}}},
			"Codex cannot use F, so it runs none of lidguard's hooks" + then + "`lidguard doctor` tells what is wrong in it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.report.Provider, c.report.File = event.Codex, "F"
			if c.report.State == "" {
				c.report.Settle()
			}
			if got := doctor.NotRunning("Codex", c.report); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Only what is newer takes over; nobody is told to wait for what never comes.
func TestRuntime_whoTakesOver(t *testing.T) {
	for _, c := range []struct{ program, runtime, want string }{
		{"v1.1.0", "v1.0.0", "hands over"},
		{"v1.0.0", "v1.1.0", "only a newer program"},
		{"devel", "v1.1.0", "only a newer program"},
	} {
		f := well()
		f.Version, f.HookVersion, f.RuntimeVersion = c.program, c.program, c.runtime
		got := doctor.Runtime(f)
		if len(got) != 1 || got[0].Code != doctor.RuntimeVersion || !strings.Contains(got[0].Remedy, c.want) {
			t.Errorf("%s meets %s: %+v, want a remedy with %q", c.program, c.runtime, got, c.want)
		}
	}
}
