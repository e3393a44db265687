//go:build linux

package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// node is one process of a fake table.
type node struct {
	pid, parent int
	start       uint64
	state       string
	comm, exe   string
	argv        []string
	cpu         [4]int
	tty         int
	env         []string
}

// plant writes processes as a fake /proc and returns its table.
func plant(t testing.TB, dir string, nodes ...node) Table {
	t.Helper()
	for _, n := range nodes {
		d := filepath.Join(dir, "proc", strconv.Itoa(n.pid))
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		state := n.state
		if state == "" {
			state = "S"
		}
		stat := fmt.Sprintf("%d (%s) %s %d 1 1 %d -1 4194560 9 9 0 0 %d %d %d %d 20 0 1 0 %d 1 1 1\n",
			n.pid, n.comm, state, n.parent, n.tty, n.cpu[0], n.cpu[1], n.cpu[2], n.cpu[3], n.start)
		cmdline := ""
		if len(n.argv) > 0 {
			cmdline = strings.Join(n.argv, "\x00") + "\x00"
		}
		for name, content := range map[string]string{"stat": stat, "cmdline": cmdline, "environ": strings.Join(n.env, "\x00") + "\x00"} {
			if err := os.WriteFile(filepath.Join(d, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if n.exe != "" {
			os.Remove(filepath.Join(d, "exe"))
			if err := os.Symlink(n.exe, filepath.Join(d, "exe")); err != nil {
				t.Fatal(err)
			}
		}
	}
	return Table{Root: dir}
}

type ownerCase struct {
	name, provider string
	hint           int
	nodes          []node
	want           string
}

// readCases reads testdata/owners.txt, whose head explains the format.
func readCases(t testing.TB) []ownerCase {
	t.Helper()
	b, err := os.ReadFile("testdata/owners.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []ownerCase
	for i, block := range strings.Split(string(b), "\n== ") {
		if i == 0 {
			continue // the head
		}
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		c := ownerCase{name: lines[0]}
		find := strings.Fields(strings.TrimPrefix(lines[1], "find"))
		for j, w := range find {
			switch {
			case w == "hint":
				c.hint, _ = strconv.Atoi(find[j+1])
			case j == 0:
				c.provider = w
			}
		}
		for _, line := range lines[2:] {
			f := strings.Fields(line)
			switch f[0] {
			case "want":
				c.want = strings.Join(f[1:], " ")
				continue
			case "ends":
				c.nodes[len(c.nodes)-1].parent = 1
				continue
			}
			for j := range f[1:] {
				f[j+1] = strings.ReplaceAll(f[j+1], "_", " ")
			}
			pid, err := strconv.Atoi(f[0])
			if err != nil {
				t.Fatalf("case %q: line %q", c.name, line)
			}
			if n := len(c.nodes); n > 0 && c.nodes[n-1].parent == 0 {
				c.nodes[n-1].parent = pid
			}
			// x86_64 keeps its underscore.
			for j := range f {
				f[j] = strings.ReplaceAll(f[j], "x86 64", "x86_64")
			}
			n := node{pid: pid, start: uint64(pid), comm: f[1], argv: f[3:]}
			if f[2] != "-" {
				n.exe = f[2]
			}
			c.nodes = append(c.nodes, n)
		}
		c.nodes[len(c.nodes)-1].parent = max(c.nodes[len(c.nodes)-1].parent, 1)
		cases = append(cases, c)
	}
	return cases
}

func describe(o Owner, ok bool) string {
	if !ok {
		return "none"
	}
	s := fmt.Sprintf("%d %s", o.PID, o.Provider)
	if o.Shared {
		s += " shared"
	}
	if o.Wrapper {
		s += " wrapper"
	}
	return s
}

func TestFindOwner(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.name, func(t *testing.T) {
			table := plant(t, t.TempDir(), c.nodes...)
			if got := describe(table.FindOwner(900, c.provider, c.hint)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Whatever arguments a program has, only its own name and a runtime's script
// decide.
func TestFindOwner_argumentsOfOthersNeverMatter(t *testing.T) {
	words := []string{"claude", "codex", "copilot", "opencode", "claude.md", "/usr/bin/claude", "@openai/codex",
		"/x/@anthropic-ai/claude-code/cli.js", "exec", "--", "-p", "app-server", "--managed-daemon", "run"}
	programs := []string{"vim", "bash", "python3", "less", "git", "make", "code", "tmux", "ssh", "emacs"}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "proc")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		n := rapid.IntRange(1, 6).Draw(rt, "depth")
		nodes := []node{{pid: 900, parent: 899, start: 900, comm: "lidguard-hook", exe: "/usr/bin/lidguard-hook", argv: []string{"lidguard-hook", "claude"}}}
		for i := range n {
			name := rapid.SampledFrom(programs).Draw(rt, "program")
			args := rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(rt, "arguments")
			nodes = append(nodes, node{pid: 899 - i, parent: 898 - i, start: uint64(899 - i), comm: name,
				exe: "/usr/bin/" + name, argv: append([]string{name}, args...)})
		}
		nodes[n].parent = 1
		table := plant(t, dir, nodes...)
		if o, ok := table.FindOwner(900, "", 0); ok {
			rt.Fatalf("took %q for %s", o.Argv, o.Provider)
		}
		// The same tree with an agent on top finds exactly that.
		nodes[n].parent = 100
		plant(t, dir, nodes[n], node{pid: 100, parent: 1, start: 100, comm: "claude", exe: "/x/claude", argv: []string{"claude"}})
		if o, ok := table.FindOwner(900, "", 0); !ok || o.PID != 100 {
			rt.Fatalf("got %s, want 100 claude", describe(o, ok))
		}
	})
}

// Command lines are what anybody wrote; none may crash the hook.
func FuzzIdentify(f *testing.F) {
	for _, c := range readCases(f) {
		for _, n := range c.nodes {
			f.Add(n.comm, n.exe, strings.Join(n.argv, "\x00"))
		}
	}
	f.Fuzz(func(t *testing.T, comm, exe, argv string) {
		p := Process{Comm: comm, Exe: exe}
		if argv != "" {
			p.Argv = strings.Split(argv, "\x00")
		}
		o, ok := identify(p)
		if !ok {
			return
		}
		switch o.Provider {
		case Claude, Codex, Copilot, OpenCode:
		default:
			t.Errorf("unknown provider %q", o.Provider)
		}
		// Reading is a function of the process alone, and case counts.
		if again, _ := identify(p); again.Provider != o.Provider || again.Shared != o.Shared {
			t.Errorf("two answers for %+v", p)
		}
	})
}

func TestAncestry_endsAtLoopsDepthAndReusedIds(t *testing.T) {
	dir := t.TempDir()
	table := plant(t, dir,
		node{pid: 10, parent: 11, start: 5, comm: "a"}, node{pid: 11, parent: 10, start: 5, comm: "b"},
		node{pid: 20, parent: 21, start: 5, comm: "child"}, node{pid: 21, parent: 1, start: 6, comm: "younger than its child"},
		node{pid: 30, parent: 31, start: 5, comm: "orphan of a vanished parent"},
		node{pid: 40, parent: 1, start: 5, comm: "child of init"},
	)
	if n := len(table.Ancestry(10)); n != maxDepth {
		t.Errorf("a loop gave %d ancestors, want the bound %d", n, maxDepth)
	}
	for _, pid := range []int{20, 30, 40, 99} {
		if a := table.Ancestry(pid); len(a) != 0 {
			t.Errorf("process %d: got %+v, want no ancestors", pid, a)
		}
	}
	for i := range 200 {
		plant(t, dir, node{pid: 1000 + i, parent: 1001 + i, start: 5, comm: "deep"})
	}
	if n := len(table.Ancestry(1000)); n != maxDepth {
		t.Errorf("a deep tree gave %d ancestors, want the bound %d", n, maxDepth)
	}
}
