package proc

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// Detached says why nobody can have started the process pid by hand, or "" where
// somebody may have. A terminal alone proves nothing, since any program can make
// one. What counts is what stands above: a terminal of a desktop, a login, an ssh
// from elsewhere, or someone who is attached to its tmux or screen.
//
// It is a hurdle and no wall: a program that is made for it can look like any other.
func (t Table) Detached(pid int) string { return t.detached(pid, 4) }

// detached allows for that many tmux and screen inside each other.
func (t Table) detached(pid, nested int) string {
	own, err := t.lookup(pid)
	switch {
	case errors.Is(err, ErrUnsupported):
		return ""
	case err != nil: // as where something else was mounted over /proc
		return "what stands above it cannot be seen"
	}
	chain := append([]Process{own}, t.Ancestry(pid)...)
	top := own
	for i, p := range chain {
		if sameMachine(t.Getenv(p.PID, "SSH_CONNECTION")) {
			return "it came by ssh from this machine itself"
		}
		if client := multiplexer(p); client != "" {
			if nested == 0 || !t.attached(client, nested-1) {
				return "nobody is attached to its " + client
			}
			return ""
		}
		if i > 0 && reaper(p) {
			top.Parent = 1
			break
		}
		if i > 0 && !loose(p) {
			return ""
		}
		top = p
	}
	// In a container the first process may be the shell that somebody sits at.
	if top.Parent != 1 || t.shareTerminal(pid, 1) {
		return ""
	}
	return "only shells and the like stand above it, and what started them is gone"
}

// sameMachine reports whether an SSH_CONNECTION ("client port server port") came
// from where it went.
func sameMachine(connection string) bool {
	f := strings.Fields(connection)
	if len(f) != 4 {
		return false
	}
	from, err := netip.ParseAddr(f[0])
	return f[0] == f[2] || err == nil && from.Unmap().IsLoopback()
}

// multiplexer tells the server of a tmux or screen, which has no terminal itself.
func multiplexer(p Process) string {
	switch name := base(p.Exe); {
	case p.Comm == "tmux: server":
		return "tmux"
	case name == "screen" && first(p.Argv) == "SCREEN":
		return "screen"
	}
	return ""
}

// reaper tells programs that are given the children of those that ended.
func reaper(p Process) bool {
	return slices.Contains([]string{"systemd", "init", "launchd", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runsvdir", "supervisord"}, p.Comm)
}

// loose tells programs that open no terminal for a person by themselves: shells,
// interpreters, and what starts other programs. Not node and java, in which editors
// are written that do.
func loose(p Process) bool {
	if slices.Contains([]string{"terminator", "guake", "jupyter-lab", "jupyter-noteboo", "jupyter-server"}, p.Comm) {
		return false // written in Python
	}
	name := base(p.Exe)
	if name == "" {
		name = p.Comm
	}
	if isShell(name) {
		return true
	}
	switch name = strings.TrimRight(name, "0123456789."); name {
	case "ash", "tcsh", "csh", "mksh", "elvish", "nu", "xonsh",
		"python", "pypy", "perl", "ruby", "bun", "deno", "php", "lua", "luajit", "tclsh", "expect",
		"script", "socat", "unbuffer", "dtach", "abduco", "reptyr", "sudo", "su", "doas", "runuser", "env", "setsid", "nohup", "nice", "ionice", "timeout", "stdbuf",
		"xargs", "find", "make", "gmake", "parallel", "watch", "flock", "time", "strace", "unshare", "nsenter", "bwrap", "chroot", "taskset",
		"at", "atd", "cron", "crond", "fcron", "anacron", "systemd-run", "lidguard":
		return true
	}
	return false
}
