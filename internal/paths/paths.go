// Package paths names every file, folder and socket of lidguard's own. In come
// an operating system's name and an environment lookup, out come absolute
// paths. It creates and reads nothing, so that both path styles can be tested
// anywhere and a hook pays nothing for it.
package paths

import (
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
)

// ErrNoHome is returned when the environment names no home folder, so that
// there is no place that belongs to the user.
var ErrNoHome = errors.New("no home folder: HOME (or USERPROFILE) is not set")

// Env looks up one environment variable; the empty string means unset.
type Env func(name string) string

// Dirs are lidguard's places for one user.
type Dirs struct {
	Home string // the user's home folder

	Config string // settings.json, rules.toml
	State  string // sessions.json, logs, backups, history; survives a reboot
	Run    string // the runtime's socket and lock, mode 0700

	// Socket is what the runtime listens on: a Unix socket, or on Windows a
	// named pipe.
	Socket string
	sep    string
}

// maxSocket is the longest socket path that every system takes: sun_path has
// 104 bytes on macOS and 108 on Linux (unix(7)), the last one NUL.
const maxSocket = 100

// Resolve finds the places for goos ("linux", "darwin", "windows").
//
// LIDGUARD_HOME puts everything below one folder. Else XDG_CONFIG_HOME and
// XDG_STATE_HOME count on Linux and macOS, and APPDATA and LOCALAPPDATA on
// Windows. The run folder depends on nothing but the home folder: clients start
// helpers with most of the environment removed (Codex gives MCP servers only
// HOME, LANG, PATH and TERM: contracts/codex §8), and they all have to find the
// same socket.
func Resolve(goos string, env Env) (Dirs, error) {
	d := Dirs{sep: "/"}
	if goos == "windows" {
		d.sep = `\`
	}
	d.Home = env("HOME")
	if goos == "windows" {
		if p := env("USERPROFILE"); p != "" {
			d.Home = p
		}
	}
	root := env("LIDGUARD_HOME")
	if d.Home == "" && root == "" {
		return Dirs{}, ErrNoHome
	}
	if goos != "windows" {
		// A hook runs in the agent's project, which is no place for files of
		// ours, and the runtime would look elsewhere.
		for name, dir := range map[string]string{"HOME": d.Home, "LIDGUARD_HOME": root} {
			if dir != "" && absolute(dir) == "" {
				return Dirs{}, errors.New(name + " is " + strconv.Quote(dir) + ", which is no absolute path")
			}
		}
	}
	switch {
	case root != "":
		d.Config, d.State, d.Run = d.Join(root, "config"), d.Join(root, "state"), d.Join(root, "run")
		if d.Home == "" {
			d.Home = root
		}
	case goos == "windows":
		d.Config = d.Join(or(env("APPDATA"), d.Join(d.Home, "AppData", "Roaming")), "lidguard")
		d.State = d.Join(or(env("LOCALAPPDATA"), d.Join(d.Home, "AppData", "Local")), "lidguard")
		d.Run = d.Join(d.Home, "AppData", "Local", "lidguard", "run")
	default:
		d.Config = d.Join(or(absolute(env("XDG_CONFIG_HOME")), d.Join(d.Home, ".config")), "lidguard")
		d.State = d.Join(or(absolute(env("XDG_STATE_HOME")), d.Join(d.Home, ".local", "state")), "lidguard")
		d.Run = d.Join(d.Home, ".local", "state", "lidguard", "run")
	}
	h := fnv.New64a()
	h.Write([]byte(d.Run))
	tag := strconv.FormatUint(h.Sum64(), 36)
	d.Socket = d.Join(d.Run, "sock")
	if goos == "windows" {
		d.Socket = `\\.\pipe\lidguard-` + tag
	} else if len(d.Socket) > maxSocket {
		d.Run = "/tmp/lidguard-" + tag
		d.Socket = d.Run + "/sock"
	}
	return d, nil
}

// Join puts path elements together in the style of the system that d was
// resolved for.
func (d Dirs) Join(elem ...string) string { return strings.Join(elem, d.sep) }

// Settings is the settings file, one per user.
func (d Dirs) Settings() string { return d.Join(d.Config, "settings.json") }

// Rules is the user's rulebook.
func (d Dirs) Rules() string { return d.Join(d.Config, "rules.toml") }

// Packs says which hook packs are on.
func (d Dirs) Packs() string { return d.Join(d.Config, "packs.json") }

// TrustedBooks says which rulebooks of projects a person trusts, by digest.
func (d Dirs) TrustedBooks() string { return d.Join(d.Config, "trusted-books.json") }

// Gate is the folder of what the gate keeps: its audit log and the exceptions
// that a person made.
func (d Dirs) Gate() string { return d.Join(d.State, "gate") }

// Sessions is where the runtime keeps what it must find again after a crash.
func (d Dirs) Sessions() string { return d.Join(d.State, "sessions.json") }

// Pending is the backup of lasting system values that are changed right now.
func (d Dirs) Pending() string { return d.Join(d.State, "pending-backup.json") }

// Telemetry is the folder of what waits for the person's telemetry sink.
func (d Dirs) Telemetry() string { return d.Join(d.State, "telemetry") }

// History is the list of the last suspends.
func (d Dirs) History() string { return d.Join(d.State, "suspend-history.json") }

// AwayReport is what happened while the lid was closed.
func (d Dirs) AwayReport() string { return d.Join(d.State, "away-report.json") }

// Log is the runtime's log (JSON lines, UTC, rotated to Log() + ".1").
func (d Dirs) Log() string { return d.Join(d.State, "runtime.log") }

// Inputs is the record of everything the core was told, which `why` replays.
func (d Dirs) Inputs() string { return d.Join(d.State, "inputs.jsonl") }

// Installed is the record of which files of other programs were changed and how
// to undo it.
func (d Dirs) Installed() string { return d.Join(d.State, "installed.json") }

// HookEvents is the bounded log of one provider's hook events.
func (d Dirs) HookEvents(provider string) string {
	return d.Join(d.State, "hook-events", provider+".jsonl")
}

// Lock is the file whose lock makes the runtime single.
func (d Dirs) Lock() string { return d.Join(d.Run, "lock") }

// absolute is dir, or nothing for a relative one, which the XDG Base Directory
// Specification has ignored.
func absolute(dir string) string {
	if strings.HasPrefix(dir, "/") {
		return dir
	}
	return ""
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
