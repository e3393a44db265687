package entry

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// worthStarting reports whether req needs a runtime that does not run. Signs of
// work do, and so does a prompt that may have to be answered for an absent person.
// Everything else does only when a runtime died with live sessions, so that what
// it left can be put right. A hook that is only being proven needs none: whoever
// proves it plays the runtime, and has gone if nobody answers.
func (h *hook) worthStarting(req *ipc.Request) bool {
	if strings.HasPrefix(string(h.ev.Session.ID), event.CanaryPrefix) {
		return false
	}
	if req.Ask {
		return true
	}
	for _, s := range req.Signals {
		switch s.Kind {
		case event.Began, event.Active, event.ToolBegan, event.ToolEnded, event.TaskBegan, event.Resumed:
			return true
		}
	}
	return len(req.Signals) > 0 && liveSessions(h.dirs.Sessions())
}

// liveMark begins the sessions file while it holds a live session; the runtime
// writes it (daemon/store.go) and a hook need not parse the file for it.
const liveMark = `{"live":true,`

func liveSessions(file string) bool {
	f, err := smallfile.Open(file, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(liveMark))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte(liveMark))
}

// startRuntime starts `lidguard runtime` detached from the agent: own session, no
// inherited pipe or terminal, and only the environment it needs.
func (h *hook) startRuntime(args ...string) error {
	program, err := runtimeProgram(h.env.program())
	if err != nil {
		return err
	}
	start := h.env.Start
	if start == nil {
		start = endpoint.Start
	}
	// Where the socket's folder cannot be made a runtime would only fail, with
	// every event anew.
	if err := endpoint.PrepareDir(h.dirs.Run); err != nil {
		return err
	}
	argv := append([]string{program, "runtime"}, args...)
	h.started, err = start(program, argv, PickEnviron(h.env.Environ), rootOf(program))
	return err
}

// rootOf is a folder that a process may sit in for days without keeping a file
// system from being unmounted.
func rootOf(program string) string {
	return filepath.VolumeName(program) + string(filepath.Separator)
}

// runtimeProgram finds the lidguard program: the running one, the one beside it,
// or the one on PATH. The thin hook binary has no runtime in it.
func runtimeProgram(executable string) (string, error) {
	name := "lidguard"
	if ext := filepath.Ext(executable); strings.EqualFold(ext, ".exe") {
		name += ext
	}
	if executable != "" {
		beside := filepath.Join(filepath.Dir(executable), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("no %q beside %q or on PATH to run as runtime", name, executable)
	}
	return program, nil
}

// keptNames and keptPrefixes are what a runtime sees of a hook's environment. The
// rest stays behind: hooks inherit the client's API keys (contracts/codex §7),
// and a process that lives for hours has no use for them. A proxy's address may hold a
// login; without it nothing would get out.
var (
	keptNames = []string{"HOME", "PATH", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY",
		"CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", // the way out of webhooks, telemetry and phone, in either case
		"USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "COMSPEC", "PATHEXT"}
	keptPrefixes = []string{"LIDGUARD_", "XDG_", "DBUS_", "LC_", "PULSE_", "PIPEWIRE_"}
)

// PickEnviron returns what a runtime may see of environ.
func PickEnviron(environ []string) []string {
	var kept []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		keep := false
		for _, k := range keptNames {
			keep = keep || strings.EqualFold(name, k)
		}
		for _, p := range keptPrefixes {
			keep = keep || strings.HasPrefix(name, p)
		}
		if keep {
			kept = append(kept, entry)
		}
	}
	return kept
}
