package setup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
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
	var servers, members []string
	for i := range r.IntN(3) {
		servers = append(servers, fmt.Sprintf(`"server%d": {"command": "tool-%d", "args": ["--x", "<&> ü"]%s}`, i, r.IntN(1000), mcpPick(r, "", `, "env": {"KEY": "1"}`)))
	}
	for i := range r.IntN(4) {
		members = append(members, fmt.Sprintf(`"key%d": %s`, i, mcpPick(r, `true`, `"text // not a comment"`, `{"a": [1, 2.50, null]}`, `[]`)))
	}
	if r.IntN(3) > 0 {
		members = append(members, `"mcpServers": {`+strings.Join(servers, ", ")+`}`)
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := []byte("{" + strings.Join(members, ", ") + "}")
	if indent := mcpPick(r, "one line", "  ", "\t"); indent != "one line" {
		out, err := json.MarshalIndent(json.RawMessage(text), "", indent)
		if err != nil {
			panic(err)
		}
		text = out
	}
	if r.IntN(3) == 0 {
		text = append([]byte("// mine\n"), text...)
	}
	if r.IntN(3) == 0 {
		text = slices.Insert(text, slices.Index(text, '{')+1, []byte(" /* first */ ")...)
	}
	return mcpLayout(r, string(text))
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
		return "\xef\xbb\xbf " + rest
	}
	return " " + rest
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

const written = `{
  "mcpServers": {
    "lidguard": {
      "tools": [
        "*"
      ],
      "type": "local",
      "command": "/opt/it's here/lidguard",
      "args": [
        "mcp-server"
      ]
    }
  }
}
`

var states = []stateCase{
	{"no place", "{\n  \"mcpServers\": []}", install.Unreadable, "line 2, column 3: mcpServers is no object"},
	{"an older path", `{"mcpServers": {"lidguard": {"tools": ["mine"], "type": "local", "command": "/old/lidguard", "args": ["mcp-server"]}}}`, install.NeedsUpdate, "another program: /old/lidguard"},
	{"no tool is on", `{"mcpServers": {"lidguard": {"tools": [], "type": "local", "command": "/opt/it's here/lidguard", "args": ["mcp-server"]}}}`, install.NeedsUpdate, "none of its tools"},
	{"another type", `{"mcpServers": {"lidguard": {"tools": ["*"], "type": "http", "command": "/opt/it's here/lidguard", "args": ["mcp-server"]}}}`, install.NeedsUpdate, `type "http"`},
	{"as it should be", "{\"mcpServers\": { // mine\n\"lidguard\": {\"tools\": [\"*\"], \"type\": \"local\", \"command\": \"/opt/it's here/lidguard\", \"args\": [\"mcp-server\"]},}}", install.Installed, ""},
	{"somebody else's program", `{"mcpServers": {"lidguard": {"tools": ["*"], "command": "npx", "args": ["mcp-server"]}}}`, install.Foreign, "not lidguard's"},
	{"cut off", "{\n", install.Unreadable, "line 2"},
}

const addArgv = "/usr/bin/copilot mcp add lidguard -- /opt/it's here/lidguard mcp-server"

var delegations = []delegation{
	{"nothing there", "", addArgv, "", false},
	{"an older one is removed first", `{"mcpServers": {"lidguard": {"tools": ["*"], "type": "local", "command": "/old/lidguard", "args": ["mcp-server"]}}}`,
		"/usr/bin/copilot mcp remove lidguard\n" + addArgv, "/usr/bin/copilot mcp remove lidguard", false},
	{"one with settings is edited", `{"mcpServers": {"lidguard": {"tools": ["*"], "type": "local", "command": "/old/lidguard", "args": ["mcp-server"], "timeout": 5}}}`,
		"", "/usr/bin/copilot mcp remove lidguard", true},
	{"comments would get lost", "{ // mine\n}", "", "", true},
}
