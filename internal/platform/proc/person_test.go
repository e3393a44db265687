//go:build linux

package proc

import (
	"strings"
	"testing"
)

// A person's terminal is told from one that a program made for itself.
func TestDetached(t *testing.T) {
	// tree is a line of descent, youngest first, as "comm" or "comm:exe"; the last
	// one's parent is the first process of the system.
	tree := func(names ...string) (nodes []node) {
		for i, n := range names {
			comm, exe, ok := strings.Cut(n, ":")
			if !ok {
				exe = "/usr/bin/" + comm
			}
			parent := 102 + i
			if i == len(names)-1 {
				parent = 1
			}
			nodes = append(nodes, node{pid: 101 + i, parent: parent, start: uint64(900 - i), comm: comm, exe: exe, argv: []string{comm}, tty: 34817})
		}
		return nodes
	}
	server := tree("lidguard", "bash")
	server[1].parent = 200
	server = append(server, node{pid: 200, parent: 1, start: 500, comm: "tmux: server", exe: "/usr/bin/tmux"})
	client := func(parents ...string) []node {
		nodes := tree(append([]string{"tmux: client:/usr/bin/tmux"}, parents...)...)
		for i := range nodes {
			nodes[i].pid += 200
			if nodes[i].parent > 1 {
				nodes[i].parent += 200
			}
		}
		return append(nodes, server...)
	}
	screen := tree("lidguard", "bash", "screen:/usr/bin/screen")
	screen[2].argv, screen[2].tty = []string{"SCREEN"}, 0
	ssh := func(connection string) []node {
		nodes := tree("lidguard", "bash", "sshd", "sshd")
		nodes[1].env = []string{"PATH=/bin", "SSH_CONNECTION=" + connection}
		return nodes
	}
	outside := tree("lidguard", "bash")
	outside[1].parent = 0
	unseen := tree("lidguard", "bash")
	unseen[1].parent = 4000
	first := func(tty int) node { return node{pid: 1, start: 1, comm: "bash", exe: "/usr/bin/bash", tty: tty} }
	for _, c := range []struct {
		name  string
		nodes []node
		want  string // a part of the reason; "" is a person
	}{
		{"a desktop's terminal", tree("lidguard", "zsh", "gnome-terminal-:/usr/libexec/gnome-terminal-server", "systemd"), ""},
		{"a terminal that its launcher's shell left", tree("lidguard", "zsh", "xterm", "sh"), ""},
		{"a terminal in Python", tree("lidguard", "bash", "terminator:/usr/bin/python3.12", "systemd"), ""},
		{"an editor's terminal", tree("lidguard", "bash", "node", "node", "sh"), ""},
		{"a login", tree("lidguard", "bash", "login"), ""},
		{"script in a terminal", tree("lidguard", "sh", "script", "bash", "kitty"), ""},
		{"ssh", ssh("192.0.2.7 50000 192.0.2.9 22"), ""},
		{"ssh to itself", ssh("127.0.0.1 50000 127.0.0.1 22"), "by ssh from this machine"},
		{"ssh to itself by its own address", ssh("192.0.2.9 50000 192.0.2.9 22"), "by ssh from this machine"},
		{"ssh to itself by IPv6", ssh("::1 50000 ::1 22"), "by ssh from this machine"},
		{"script that was let go", tree("lidguard", "sh", "script"), "only shells"},
		{"Python's pty that was let go", tree("lidguard", "python3:/usr/bin/python3.12"), "only shells"},
		{"expect under the user's manager", tree("lidguard", "expect", "sh", "systemd:/usr/lib/systemd/systemd"), "only shells"},
		{"a job at a time", tree("lidguard", "script", "sh", "atd"), "only shells"},
		{"a cron job", tree("lidguard", "script", "sh", "cron", "cron"), "only shells"},
		{"let go itself", tree("lidguard"), "only shells"},
		{"a container's own shell", append(tree("lidguard"), first(34817)), ""},
		{"beside a container's shell", append(tree("lidguard"), first(0)), "only shells"},
		{"a shell from outside the container", outside, ""},
		{"what we may not see", unseen, ""},
		{"tmux that nobody looks at", server, "nobody is attached to its tmux"},
		{"tmux at a terminal", client("bash", "foot"), ""},
		{"tmux that a program looks at", client("script", "sh"), "nobody is attached to its tmux"},
		{"tmux that an agent looks at", client("script", "bash", "claude"), "nobody is attached to its tmux"},
		{"screen that nobody looks at", screen, "nobody is attached to its screen"},
		{"screen at a terminal", append(tree("x", "x", "x", "x", "screen", "bash", "alacritty")[4:], screen...), ""},
		{"an empty /proc", nil, "cannot be seen"},
	} {
		got := plant(t, t.TempDir(), c.nodes...).Detached(101)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
