package setup_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/provider/codex/setup"
)

var server = install.MainServer("/opt/it's here/lidguard")

// nowhere is a PATH without the client; there is one with it.
func nowhere(string) string { return "" }

func there(program string) string { return "/usr/bin/" + program }

// mcpBench is one person's home with the client's file of MCP servers in it.
type mcpBench struct {
	t     *testing.T
	mcp   setup.MCP
	file  string
	store install.Store
	runs  int
}

func newMCPBench(t *testing.T, text string) *mcpBench {
	t.Helper()
	home := t.TempDir()
	b := &mcpBench{t: t, mcp: setup.NewMCP(func(string) string { return "" }, home), store: install.Store{Path: filepath.Join(home, "state", "installed.json")}}
	b.file = b.mcp.Status(server).File
	if text != "" {
		b.write(text)
	}
	return b
}

func (b *mcpBench) write(text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.file, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *mcpBench) read() string {
	b.t.Helper()
	data, err := os.ReadFile(b.file)
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *mcpBench) records() install.Records {
	b.t.Helper()
	records, err := b.store.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	return records
}

func (b *mcpBench) apply(r install.Registration, err error) int {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	b.runs++ // backups are named by the second
	done, err := r.Plan.Apply(context.Background(), time.Date(2026, 1, 2, 3, 4, 5+b.runs, 0, time.UTC), b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(done)
}

func (b *mcpBench) register() int {
	b.t.Helper()
	return b.apply(b.mcp.Register(server, b.records(), nowhere))
}

func (b *mcpBench) unregister() int {
	b.t.Helper()
	return b.apply(b.mcp.Unregister(server, b.records(), nowhere))
}

func (b *mcpBench) state() install.State { return b.mcp.Status(server).State }

// argv returns the commands of a registration, one to a line.
func argv(r install.Registration) string {
	var out []string
	for _, c := range r.Commands {
		line := strings.Join(c.Argv, " ")
		if c.MayFail {
			line += " (may fail)"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func mcpPick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// randomServers makes a config the way people, editors and tools leave them.
func randomServers(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(mcpPick(r, "", "# my Codex\n") + "model = \"gpt\"" + mcpPick(r, "", " # the good one") + "\n")
	if r.IntN(2) == 0 {
		b.WriteString("\n[features]\nweb = true\n")
	}
	for i := range r.IntN(3) {
		fmt.Fprintf(&b, "\n[mcp_servers.tool%d]%s\ncommand = 'tool-%d'\nargs = [\"<&>\", 'ü']%s\n", i, mcpPick(r, "", " # mine"), r.IntN(1000), mcpPick(r, "", " # mine"))
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "\n[mcp_servers.tool%d.env]\nKEY = \"1\"\n", i)
		}
	}
	if r.IntN(2) == 0 {
		b.WriteString("\n[projects.\"/home/dev/x\"]\ntrust_level = \"trusted\"\n")
	}
	return mcpLayout(r, strings.TrimSuffix(b.String(), "\n"))
}

func mcpLayout(r *rand.Rand, text string) string {
	text += mcpPick(r, "", "\n", "\n\n")
	if r.IntN(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if r.IntN(6) == 0 {
		text = "\xef\xbb\xbf" + text
	}
	return text
}

// touched is a file after somebody wrote something at its top.
func touched(text string) string {
	rest, mark := strings.CutPrefix(text, "\xef\xbb\xbf")
	if mark {
		return "\xef\xbb\xbf# somebody\n" + rest
	}
	return "# somebody\n" + rest
}

// TestMCPLaw_unregisterUndoesRegister: byte for byte, on the disk, both when nobody
// touched the file and when somebody did.
func TestMCPLaw_unregisterUndoesRegister(t *testing.T) {
	t.Parallel()
	b := newMCPBench(t, "")
	for seed := range uint64(200) {
		before := randomServers(rand.New(rand.NewPCG(seed, 11)))
		b.write(before)
		if n := b.register(); n != 1 || b.state() != install.Installed {
			t.Fatalf("seed %d: registering changed %d files; %+v\n%s", seed, n, b.mcp.Status(server), before)
		}
		if n := b.register(); n != 0 {
			t.Fatalf("seed %d: a second time changed %d files", seed, n)
		}
		want := before
		if seed%2 == 1 { // somebody was there
			b.write(touched(b.read()))
			want = touched(before)
		}
		if n := b.unregister(); n != 1 || b.state() != install.Missing {
			t.Fatalf("seed %d: unregistering changed %d files, state %s", seed, n, b.state())
		}
		if diff := cmp.Diff(want, b.read()); diff != "" {
			t.Fatalf("seed %d leaves a difference (-want +got):\n%s", seed, diff)
		}
		backups, err := filepath.Glob(b.file + ".lidguard-backup-*")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range backups { // each write reads them all
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestMCP_freshHome(t *testing.T) {
	b := newMCPBench(t, "")
	if b.state() != install.Missing || b.mcp.Present() {
		t.Errorf("before: %s, present %v", b.state(), b.mcp.Present())
	}
	b.register()
	if got := b.read(); got != written {
		t.Errorf("wrote\n%s\nwant\n%s", got, written)
	}
	if n := b.unregister(); n != 1 {
		t.Errorf("unregistering changed %d files", n)
	}
	if _, err := os.Stat(b.file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	if n := b.unregister(); n != 0 {
		t.Errorf("a second time changed %d files", n)
	}
}

func TestMCP_states(t *testing.T) {
	for _, c := range states {
		b := newMCPBench(t, c.text)
		r := b.mcp.Status(server)
		if r.State != c.state || !strings.Contains(r.Detail, c.detail) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, r.State, r.Detail, c.state, c.detail)
		}
		reg, err := b.mcp.Register(server, b.records(), nowhere)
		switch c.state {
		case install.Foreign:
			if !errors.Is(err, install.ErrForeignServer) {
				t.Errorf("%s: registering over it: %v", c.name, err)
			}
			if n := b.unregister(); n != 0 || b.read() != c.text {
				t.Errorf("%s: unregistering took it out", c.name)
			}
		case install.Unreadable:
			if err == nil || !strings.Contains(err.Error(), "line ") {
				t.Errorf("%s: registering: %v", c.name, err)
			}
			if c.name == "no place" { // where nothing can be, nothing need be taken out
				un, err := b.mcp.Unregister(server, b.records(), there)
				if err != nil || len(un.Commands)+len(un.Plan.Edits) > 0 {
					t.Errorf("%s: unregistering: %+v %v", c.name, un, err)
				}
			}
			if b.read() != c.text {
				t.Errorf("%s: the file was touched", c.name)
			}
		case install.Off, install.Installed:
			if err != nil || len(reg.Plan.Edits) > 0 {
				t.Errorf("%s: registering would change it: %v", c.name, err)
			}
		default:
			b.apply(reg, err)
			if b.state() != install.Installed || strings.Contains(c.text, "mine") != strings.Contains(b.read(), "mine") {
				t.Errorf("%s: afterwards %s\n%s", c.name, b.state(), b.read())
			}
		}
	}
}

func TestMCP_delegates(t *testing.T) {
	for _, c := range delegations {
		b := newMCPBench(t, c.text)
		reg, err := b.mcp.Register(server, b.records(), there)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.add, argv(reg)); diff != "" || (reg.Why != "") != c.why {
			t.Errorf("%s: add: %s; why %q", c.name, diff, reg.Why)
		}
		reg, err = b.mcp.Unregister(server, b.records(), there)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.remove, argv(reg)); diff != "" {
			t.Errorf("%s: remove: %s", c.name, diff)
		}
	}
	// What lidguard wrote itself it takes out itself, so that every byte comes back.
	b := newMCPBench(t, "")
	b.register()
	if reg, err := b.mcp.Unregister(server, b.records(), there); err != nil || len(reg.Commands) > 0 || len(reg.Plan.Edits) != 1 {
		t.Errorf("an entry of our own writing: %+v, %v", reg, err)
	}
}

type stateCase struct {
	name, text string
	state      install.State
	detail     string
}

type delegation struct {
	name, text, add, remove string
	why                     bool
}

const written = `[mcp_servers.lidguard]
command = "/opt/it's here/lidguard"
args = ["mcp-server"]
`

var states = []stateCase{
	{"no place", "a = 1\nmcp_servers = []\n", install.Unreadable, "line 2, column 1: mcp_servers is no table"},
	{"an older path", "[mcp_servers.lidguard]\ncommand = \"/old/lidguard\" # mine\nargs = [\"mcp-server\"]\n", install.NeedsUpdate, "another program: /old/lidguard"},
	{"switched off", "[mcp_servers.lidguard]\ncommand = \"/opt/it's here/lidguard\"\nargs = [\"mcp-server\"]\nenabled = false\n", install.Off, "enabled is false"},
	{"as it should be", "mcp_servers.lidguard = {command = \"/opt/it's here/lidguard\", args = [\"mcp-server\"], startup_timeout_sec = 5}\n", install.Installed, ""},
	{"somebody else's program", "[mcp_servers.lidguard]\ncommand = \"npx\"\nargs = [\"mcp-server\"]\n", install.Foreign, "not lidguard's"},
	{"somebody else's address", "[mcp_servers.lidguard]\nurl = \"https://example.org\"\n", install.Foreign, ""},
	{"cut off", "a = 1\n[mcp_servers", install.Unreadable, "line 2"},
}

const addArgv = "/usr/bin/codex mcp add lidguard -- /opt/it's here/lidguard mcp-server"

// `codex mcp add` replaces what is there, so nothing needs to be removed first.
var delegations = []delegation{
	{"nothing there", "", addArgv, "", false},
	{"an older one", "[mcp_servers.lidguard]\ncommand = \"/old/lidguard\"\nargs = [\"mcp-server\"]\n", addArgv, "/usr/bin/codex mcp remove lidguard", false},
	{"comments on lines of their own stay anyway", "# mine\n[mcp_servers.x]\n  # mine\ncommand = 'x'\n[y]\na = 1 # mine\n", addArgv, "", false},
	{"a comment behind a value would get lost", "[mcp_servers.x]\ncommand = 'x' # mine\n", "", "", true},
	{"and behind a dotted key", "mcp_servers.x.command = 'x' # mine\n", "", "", true},
	{"one with settings is edited", "[mcp_servers.lidguard]\ncommand = \"/old/lidguard\"\nargs = [\"mcp-server\"]\n\n[mcp_servers.lidguard.env]\nA = \"1\"\n", "", "/usr/bin/codex mcp remove lidguard", true},
}

// TestMCP_besideHooks: both live in config.toml, and taking one out must not take
// the other, in whatever order.
func TestMCP_besideHooks(t *testing.T) {
	before := "model = \"gpt\" # mine\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = 'theirs'\n"
	for _, c := range []struct {
		name  string
		steps string
	}{
		{"last in, first out", "h+ m+ m- h-"}, {"first in, first out", "h+ m+ h- m-"},
		{"the other way round", "m+ h+ m- h-"}, {"and that in order", "m+ h+ h- m-"}, {"hooks twice", "h+ m+ h- h+ m- h-"},
	} {
		b := newMCPBench(t, before)
		s := setup.New("linux", nowhere, filepath.Dir(filepath.Dir(b.file)))
		p, err := install.FindProgram("linux", nowhere, "/opt/lidguard")
		if err != nil {
			t.Fatal(err)
		}
		hooks, mcp := install.Missing, install.Missing
		for _, step := range strings.Fields(c.steps) {
			switch step {
			case "m+":
				b.register()
				mcp = install.Installed
			case "m-":
				b.unregister()
				mcp = install.Missing
			case "h+", "h-":
				plan, err := s.Remove(b.records())
				hooks = install.Missing
				if step == "h+" {
					plan, err = s.Install(p, b.records())
					hooks = install.NotTrusted
				}
				b.apply(install.Registration{Plan: plan}, err)
			}
			if got := s.Status(p).State; got != hooks || b.state() != mcp {
				t.Fatalf("%s: after %s hooks are %s and the server %s, want %s and %s\n%s", c.name, step, got, b.state(), hooks, mcp, b.read())
			}
		}
		if diff := cmp.Diff(before, b.read()); diff != "" {
			t.Errorf("%s leaves a difference: %s", c.name, diff)
		}
	}
}
