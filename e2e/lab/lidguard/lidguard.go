//go:build linux

// Package lidguard puts the program under test on a machine. In come the
// commands of the checkout, built once, and what a person types; out go the
// answers. It knows lidguard by its command line only.
package lidguard

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/build"
	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/client/opencode"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
)

// Guard is lidguard on one machine.
type Guard struct {
	t testing.TB
	m machine.Machine
}

// providers are the clients whose hooks Install can set up, and how each gets
// on the machine before and is trusted after.
var providers = map[string]struct {
	install func(testing.TB, machine.Machine)
	trust   func(testing.TB, machine.Machine)
}{
	"claude": {claude.Install, func(testing.TB, machine.Machine) {}},
	"codex": {codex.Install, func(t testing.TB, m machine.Machine) {
		codex.Trust(t, m, filepath.Join(m.Home(), ".codex", "hooks.json"))
	}},
	"copilot":  {copilot.Install, func(testing.TB, machine.Machine) {}},
	"opencode": {opencode.Install, func(testing.TB, machine.Machine) {}},
}

// Put builds both programs and puts them into the person's PATH; nothing is
// set up yet.
func Put(t testing.TB, m machine.Machine) *Guard {
	t.Helper()
	return put(t, m, "bin", "./cmd/lidguard", "./cmd/lidguard-hook")
}

// For is the same lidguard for another test, such as a part of the one that put
// it there.
func (g *Guard) For(t testing.TB) *Guard { return &Guard{t: t, m: g.m} }

// Copy builds both programs and puts copies of them into a folder of the person's
// own, outside PATH, for a test that takes them away again. It returns lidguard's
// path.
func Copy(t testing.TB, m machine.Machine) string {
	t.Helper()
	dir := machine.Mkdir(t, m, filepath.Join(m.Home(), "lidguard-copy"))
	for _, path := range []string{"./cmd/lidguard", "./cmd/lidguard-hook"} {
		program, err := os.ReadFile(build.Program(t, "bin", path))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.Base(path))
		machine.Write(t, m, to, string(program))
		if err := os.Chmod(to, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "lidguard")
}

func put(t testing.TB, m machine.Machine, set string, programs ...string) *Guard {
	t.Helper()
	for _, path := range programs {
		m.PrependPath(filepath.Dir(build.Program(t, set, path)))
	}
	g := &Guard{t: t, m: m}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		why, _, _ := g.Try("why")
		t.Logf("lidguard why:\n%s", why)
		log, err := os.ReadFile(filepath.Join(m.Home(), ".local", "state", "lidguard", "runtime.log"))
		if err == nil {
			t.Logf("lidguard's log:\n%s", log)
		}
	})
	return g
}

// Install does what a person does first: it puts lidguard on the machine and
// installs its hooks for the named clients (which are installed before), and
// trusts them where the client asks for that. Without names it is claude.
func Install(t testing.TB, m machine.Machine, names ...string) *Guard {
	t.Helper()
	g := Put(t, m)
	if len(names) == 0 {
		names = []string{"claude"}
	}
	for _, name := range names {
		g.Hooks(name)
	}
	return g
}

// Hooks installs the client, then lidguard's hooks for it, and trusts them
// where the client asks for that.
func (g *Guard) Hooks(name string) {
	g.t.Helper()
	p, known := providers[name]
	if !known {
		g.t.Fatalf("no client %q in the lab", name)
	}
	p.install(g.t, g.m)
	g.Run("hook-install", "--provider", name)
	p.trust(g.t, g.m)
}

// Run runs one lidguard command as the person would, in their home, and
// returns what it printed. A command that fails ends the test.
func (g *Guard) Run(args ...string) string {
	g.t.Helper()
	stdout, stderr, code := g.Try(args...)
	if code != 0 {
		g.t.Fatalf("lidguard %s: exit %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// Try runs one lidguard command and returns all it said.
func (g *Guard) Try(args ...string) (stdout, stderr string, code int) {
	g.t.Helper()
	return machine.Run(g.t, g.m, machine.Spec{Args: append([]string{"lidguard"}, args...)})
}

// JSON runs a command with --json and reads its answer into a value.
func (g *Guard) JSON(into any, args ...string) {
	g.t.Helper()
	text := g.Run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		g.t.Fatalf("lidguard %s --json: %v\n%s", strings.Join(args, " "), err, text)
	}
}

// Set changes one setting.
func (g *Guard) Set(name, value string) { g.t.Helper(); g.Run("settings", "--"+name, value) }
