// Package doctor turns facts about an installation into named findings. In come
// facts that somebody else collected; out come findings, each with a code that
// does not change over versions, what is the case, and what to do about it. It
// reads no file, asks no runtime and prints nothing, and it is silent about
// everything that is well.
package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// Finding is what a person should know; it is shown by status, doctor and the
// live-status alike.
type Finding = ipc.Finding

// The codes of the findings made here. Scripts may match them.
const (
	SettingsBroken     = "settings-broken"
	SettingsUnknownKey = "settings-unknown-key"
	TimeoutOff         = "session-timeout-off"
	PhoneMissing       = "phone-missing"
	RuntimeUnreachable = "runtime-unreachable"
	RuntimeFolder      = "runtime-folder"
	RuntimeVersion     = "runtime-version"
	OtherFolders       = "other-folders"
	HookBinaryVersion  = "hook-version"
	BackupPending      = "backup-pending"
	LockNotHeld        = "lock-not-held"
	LidUnknown         = "lid-unknown"
	NotOnPath          = "not-on-path"
	OtherOnPath        = "other-on-path"
	AgentNotConnected  = "agent-not-connected"
	NoAgents           = "no-agents"
	RecordUnreadable   = "record-unreadable"
	CanaryFailed       = "canary-failed"
	MCPOutdated        = "mcp-outdated"
	MCPLost            = "mcp-lost"
	MCPFileBroken      = "mcp-file-broken"
)

// RuntimeFacts are what the checks of lidguard itself look at.
type RuntimeFacts struct {
	Version string // of this program

	Settings      settings.Settings
	SettingsError error
	UnknownKeys   []string // of the settings file

	Config, State string // this program's folders

	Status         *ipc.Status // nil: no answer
	RuntimeVersion string
	RuntimeError   string // an answer that could not be used
	RuntimePID     int    // who gave it, or none; 0: not known
	Socket         string
	SocketExists   bool   // although nothing answered
	SocketOdd      string // what it is in place of a socket; "" if one, or not there

	// Run is the socket's folder, and RunMode and RunOdd what it is: RunOdd says
	// what is there in place of a folder of this user that nobody else may enter.
	Run     string
	RunMode fs.FileMode
	RunOdd  RunOdd
	RunShut string // a folder on the way to Run that may not be entered; "" if none
	// RunStuck is the folder in which Run, or what belongs in it, cannot be made,
	// with the reason, while no runtime runs; "" if there is none.
	RunStuck      string
	RunStuckError error

	// HookBinary is the lidguard-hook beside this program, empty if there is
	// none; HookVersion is its version, empty if that could not be read.
	HookBinary, HookVersion string

	PendingBackup bool // a changed system value has not been put back
}

// RunOdd is what is wrong with the folder of the socket.
type RunOdd string

// What can be wrong with it.
const (
	RunIsOther  RunOdd = "other"  // no folder
	RunIsOpen   RunOdd = "open"   // others may enter it, or its owner may not
	RunIsTheirs RunOdd = "theirs" // of another user
)

// Runtime checks lidguard itself: settings, runtime, hook program.
func Runtime(f RuntimeFacts) []Finding {
	var out []Finding
	for _, check := range []func(RuntimeFacts) []Finding{settingsBroken, unknownKeys, timeoutOff, phoneMissing, unreachable,
		runtimeVersion, otherFolders, hookVersion, backupPending, locks, lidUnknown} {
		out = append(out, check(f)...)
	}
	return out
}

func one(code, remedy, format string, args ...any) []Finding {
	return []Finding{{Code: code, Text: fmt.Sprintf(format, args...), Remedy: remedy}}
}

func settingsBroken(f RuntimeFacts) []Finding {
	if f.SettingsError == nil {
		return nil
	}
	remedy := "correct that place in the file, or move the file away to have the defaults"
	if errors.Is(f.SettingsError, fs.ErrPermission) { // "sudo -E lidguard settings" makes such a file
		remedy = "make it yours to read: `ls -ld` with that path, and with the folder above it, shows whose it is"
	}
	return one(SettingsBroken, remedy,
		"the settings cannot be read, so the defaults count: %v", f.SettingsError)
}

func unknownKeys(f RuntimeFacts) []Finding {
	var out []Finding
	for _, key := range f.UnknownKeys {
		remedy := "harmless if another version of lidguard wrote it; else remove it from the file"
		if near := settings.Nearest(key); near != "" {
			remedy = "did you mean " + near + "? change it with `lidguard settings --" + near + " VALUE`"
		}
		out = append(out, one(SettingsUnknownKey, remedy, "the settings file has the key %q, which means nothing to this version", key)...)
	}
	return out
}

func timeoutOff(f RuntimeFacts) []Finding {
	if f.Settings.SessionTimeoutMinutes != 0 {
		return nil
	}
	return one(TimeoutOff, "`lidguard settings --session-timeout-minutes 12`",
		"session-timeout-minutes is off: a session whose end gets lost keeps the machine awake for ever")
}

func phoneMissing(f RuntimeFacts) []Finding {
	if f.Settings.ClosedLidPermissionDecision != "phone" || f.Settings.PhoneURL != "" {
		return nil
	}
	return one(PhoneMissing, "`lidguard settings --phone-url https://ntfy.sh/TOPIC` with a topic that nobody can guess",
		"permission prompts are to be put to your phone, and no phone-url is set: they are denied while the lid is closed")
}

func unreachable(f RuntimeFacts) []Finding {
	switch {
	case f.RunShut != "":
		// "sudo -E lidguard" makes such folders.
		return one(RuntimeFolder, "`sudo chown -R \"$(id -u)\" "+install.ShellWord(f.RunShut)+"; chmod u+rwx "+install.ShellWord(f.RunShut)+"`, or set LIDGUARD_HOME to a folder of your own, for your agents as well",
			"%s may not be entered by you, so a runtime in it cannot be asked, and none starts", f.RunShut)
	case f.RunStuck != "":
		remedy := "`sudo chown \"$(id -u)\" " + install.ShellWord(f.RunStuck) + "; chmod u+rwx " + install.ShellWord(f.RunStuck) + "`"
		if !errors.Is(f.RunStuckError, fs.ErrPermission) {
			remedy = "make it writable"
		}
		return one(RuntimeFolder, remedy+", or set LIDGUARD_HOME to a folder of your own, for your agents as well",
			"the runtime keeps its socket in %s, and you cannot write in %s, so none starts and nothing keeps the machine awake: %v", f.Run, f.RunStuck, f.RunStuckError)
	case f.RunOdd == RunIsOpen:
		return one(RuntimeFolder, "`chmod 700 "+install.ShellWord(f.Run)+"`",
			"%s has mode %#o instead of 0700, so no runtime is trusted there and none starts", f.Run, f.RunMode.Perm())
	case f.RunOdd == RunIsTheirs:
		return one(RuntimeFolder, "have its owner remove it, or set LIDGUARD_HOME to a folder of your own, for your agents as well",
			"%s belongs to another user, so no runtime is trusted there and none starts", f.Run)
	case f.RunOdd == RunIsOther:
		return one(RuntimeFolder, "`mv "+install.ShellWord(f.Run)+" "+install.ShellWord(f.Run+".old")+"`; the next hook makes a folder there",
			"%s is no folder, so no runtime can start", f.Run)
	case f.SocketOdd != "":
		return one(RuntimeFolder, "`mv "+install.ShellWord(f.Socket)+" "+install.ShellWord(f.Socket+".old")+"`; the next hook starts a runtime",
			"%s is %s and no socket, which lidguard does not overwrite, so no runtime can start", f.Socket, f.SocketOdd)
	case f.RuntimeError != "":
		if f.RuntimePID != 0 {
			return one(RuntimeUnreachable, fmt.Sprintf("if it persists, end process %d; the next hook starts a runtime", f.RuntimePID),
				"the runtime (process %d) does not answer as it should: %s", f.RuntimePID, f.RuntimeError)
		}
		return one(RuntimeUnreachable, "if it persists, end the process named `lidguard runtime`, which owns "+f.Socket+" (`pgrep -fl 'lidguard runtime'` or the task manager finds it)",
			"the runtime does not answer as it should: %s", f.RuntimeError)
	case f.SocketExists:
		return one(RuntimeUnreachable, "`lidguard start` or the next hook starts a new runtime; nothing needs to be removed by hand",
			"%s exists, but nothing answers there: a runtime ended without cleaning up", f.Socket)
	}
	return nil
}

func runtimeVersion(f RuntimeFacts) []Finding {
	if f.Status == nil || f.RuntimeVersion == f.Version {
		return nil
	}
	remedy := "it hands over to this one by itself with the next event of an agent"
	if !ipc.Newer(f.Version, f.RuntimeVersion) {
		remedy = "only a newer program takes over: install one release everywhere, or wait until the runtime leaves"
	}
	return one(RuntimeVersion, remedy,
		"the runtime is version %s, this program is %s", f.RuntimeVersion, f.Version)
}

// otherFolders: the environment of the client that started the runtime, and of its
// hooks, names other folders than that of the shell.
func otherFolders(f RuntimeFacts) []Finding {
	var out []Finding
	check := func(what, name, theirs, ours string) {
		if theirs != "" && theirs != ours {
			out = append(out, one(OtherFolders, "give your agents and your shells the same "+name+"; a runtime takes it from the agent that starts it",
				"the runtime keeps %s in %s, and this command looks in %s", what, theirs, ours)...)
		}
	}
	if st := f.Status; st != nil {
		check("settings", "XDG_CONFIG_HOME", st.Config, f.Config)
		check("its records", "XDG_STATE_HOME", st.State, f.State)
	}
	return out
}

func hookVersion(f RuntimeFacts) []Finding {
	if f.HookBinary == "" || f.HookVersion == f.Version {
		return nil
	}
	version := f.HookVersion
	if version == "" {
		version = "unknown"
	}
	return one(HookBinaryVersion, "install both programs from one release; agents call lidguard-hook",
		"%s is version %s, this program is %s", f.HookBinary, version, f.Version)
}

func backupPending(f RuntimeFacts) []Finding {
	if !f.PendingBackup || f.Status != nil {
		return nil
	}
	return one(BackupPending, "`lidguard start` puts it back; then `lidguard remove-session --all`",
		"a power setting of the system was changed and not put back, and no runtime runs")
}

func locks(f RuntimeFacts) []Finding {
	if f.Status == nil || !f.Status.Protected {
		return nil
	}
	var reasons []string
	locks := map[string][]string{} // by reason, which is often one for all
	for _, h := range f.Status.Held {
		if !h.Confirmed {
			reason := h.Error
			if reason == "" {
				reason = "the system does not list it"
			}
			if locks[reason] == nil {
				reasons = append(reasons, reason)
			}
			locks[reason] = append(locks[reason], strconv.Quote(h.What))
		}
	}
	var out []Finding
	for _, reason := range reasons {
		what := "lock " + locks[reason][0] + " is"
		if all := locks[reason]; len(all) > 1 {
			what = "locks " + strings.Join(all, ", ") + " are"
		}
		out = append(out, one(LockNotHeld, "`lidguard why` tells since when, `lidguard doctor` what is in the way", "the %s not held: %s", what, reason)...)
	}
	if len(f.Status.Held) == 0 {
		out = append(out, one(LockNotHeld, "`lidguard why` tells since when", "sessions are at work, and nothing keeps the machine awake")...)
	}
	return out
}

func lidUnknown(f RuntimeFacts) []Finding {
	if f.Status == nil || f.Status.Lid == "open" || f.Status.Lid == "closed" {
		return nil
	}
	return one(LidUnknown, "nothing to do on a machine without a lid",
		"the state of the lid cannot be read: prompts are never answered and the machine is never suspended by lidguard")
}

// PathFacts say what a shell would run as lidguard.
type PathFacts struct {
	Executable string // this program's file
	OnPath     string // what PATH finds; empty if nothing
	Same       bool   // both are the same file
}

// Path checks that a person and an agent run the same lidguard.
func Path(f PathFacts) []Finding {
	switch {
	case f.OnPath == "":
		return one(NotOnPath, "add its folder to PATH; the hooks work either way, since they name the file",
			"lidguard is not on PATH (it is %s)", f.Executable)
	case !f.Same:
		return one(OtherOnPath, "remove one of the two, or put the folder of the other first in PATH",
			"PATH finds %s, but this program is %s", f.OnPath, f.Executable)
	}
	return nil
}

// Record reports that the record of what installers changed cannot be read; without
// it a removal cannot bring back the bytes from before.
func Record(path string, err error) Finding {
	return Finding{Code: RecordUnreadable, Text: fmt.Sprintf("what setup changed in other programs' files is not known: %v", err),
		Remedy: "make it yours to read (`ls -l " + install.ShellWord(path) + "` shows whose it is); setup, hook-install and uninstall do nothing before"}
}
