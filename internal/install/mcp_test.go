package install_test

import (
	"context"
	"encoding/json"
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
)

func TestRegistered(t *testing.T) {
	want := install.ProviderServer("/opt/lidguard", "acme")
	for _, c := range []struct {
		name    string
		command []string
		state   install.State
	}{
		{"the same", []string{"/opt/lidguard", "provider-mcp-server", "--provider-name", "acme"}, install.Installed},
		{"another path", []string{"lidguard.exe", "provider-mcp-server", "--provider-name", "acme"}, install.NeedsUpdate},
		{"another provider", []string{"/opt/lidguard", "provider-mcp-server", "--provider-name", "other"}, install.NeedsUpdate},
		{"lidguard's other server", []string{"/opt/lidguard", "mcp-server"}, install.Foreign},
		{"another program", []string{"npx", "provider-mcp-server"}, install.Foreign},
		{"no arguments", []string{"/opt/lidguard"}, install.Foreign},
		{"nothing", nil, install.Foreign},
	} {
		if got, detail := install.Registered(c.command, want); got != c.state || (detail == "") != (got == install.Installed) {
			t.Errorf("%s: %s (%s), want %s", c.name, got, detail, c.state)
		}
	}
	renamed := install.MainServer("/opt/lidguard-1.2")
	if got, _ := install.Registered([]string{"/opt/lidguard-1.2", "mcp-server"}, renamed); got != install.Installed {
		t.Errorf("what this program wrote under a name of its own is %s", got)
	}
}

func TestRegistration_Run(t *testing.T) {
	var ran []string
	run := func(_ context.Context, argv []string) (string, error) {
		ran = append(ran, strings.Join(argv, " "))
		if argv[0] == "bad" {
			return "no such thing", errors.New("exit status 1")
		}
		return "", nil
	}
	r := install.Registration{Commands: []install.Command{{Argv: []string{"bad", "may"}, MayFail: true}, {Argv: []string{"good"}}, {Argv: []string{"bad"}}, {Argv: []string{"never"}}}}
	err := r.Run(t.Context(), run)
	if err == nil || err.Error() != "`bad` ended with exit status 1: \"no such thing\"" {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"bad may", "good", "bad"}, ran); diff != "" {
		t.Error(diff)
	}
}

// TestLaw_serverFile: any JSON config, with comments or without, gets back every
// byte, also after somebody edited it.
func TestLaw_serverFile(t *testing.T) {
	dir := t.TempDir()
	store := install.Store{Path: filepath.Join(dir, "state", "installed.json")}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	apply := func(plan install.Plan, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Second)
		done, err := plan.Apply(t.Context(), clock, store)
		if err != nil {
			t.Fatal(err)
		}
		return len(done)
	}
	records := func() install.Records {
		r, err := store.Load()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := install.ProviderServer("/opt/lidguard", "acme")
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(words ...string) string { return words[r.IntN(len(words))] }
		before := pick("", "// mine\n", "/* mine */ ") + "{" + pick("", "\n  ", " ") + `"a": [1, 2.50]` +
			pick("", fmt.Sprintf(`,%s"`+pick("mcpServers", "servers")+`": {"x": {"command": "tool-%d"}%s}`, pick("", "\n  ", " // mine\n"), r.IntN(100), pick("", ",", " /* mine */"))) + pick("", ",", "\n") + "}" + pick("", "\n")
		path := filepath.Join(dir, fmt.Sprint(seed), "mcp.json")
		write(t, path, before, 0o600)
		f := install.ServerFile{Path: path}
		if n := apply(f.Register(want, records())); n != 1 || f.Status(want).State != install.Installed {
			t.Fatalf("seed %d: changed %d files, %+v", seed, n, f.Status(want))
		}
		if n := apply(f.Register(want, records())); n != 0 {
			t.Fatalf("seed %d: a second time changed %d files", seed, n)
		}
		if seed%3 == 0 { // as versions before wrote it
			data, err := os.ReadFile(store.Path)
			if err != nil || !strings.Contains(string(data), install.ProviderRecord(path)) {
				t.Fatalf("seed %d: the record is %s, %v", seed, data, err)
			}
			write(t, store.Path, strings.ReplaceAll(string(data), install.ProviderRecord(path), install.ServerRecord(path)), 0o600)
		}
		left := before
		if seed%2 == 1 {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, " "+string(data), 0o600)
			left = " " + before
		}
		apply(f.Unregister(install.ProviderServer("/opt/lidguard", ""), records()))
		if data, _ := os.ReadFile(path); string(data) != left {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(left, string(data)))
		}
		if r := records(); len(r) > 0 {
			t.Fatalf("seed %d: records are left: %v", seed, r)
		}
	}
}

func TestServerFile_standsWithTheOthers(t *testing.T) {
	for before, want := range map[string]string{
		`{}`:                                "mcpServers",
		`{"servers": {"x": {}}}`:            "servers",
		`{"mcpServers": {}, "servers": {}}`: "mcpServers",
		`{"servers": ["a"]}`:                "mcpServers",
	} {
		path := filepath.Join(t.TempDir(), "mcp.json")
		write(t, path, before, 0o600)
		plan, err := install.ServerFile{Path: path}.Register(install.ProviderServer("/opt/lidguard", "acme"), nil)
		if err != nil || len(plan.Edits) != 1 {
			t.Fatalf("%s: %v, %v", before, plan.Edits, err)
		}
		var after map[string]any
		if err := json.Unmarshal(plan.Edits[0].After, &after); err != nil {
			t.Fatal(err)
		}
		if servers, _ := after[want].(map[string]any); servers["lidguard-provider"] == nil {
			t.Errorf("%s becomes %s", before, plan.Edits[0].After)
		}
	}
}

func TestServerFile_states(t *testing.T) {
	entry := func(program, provider string) string {
		return fmt.Sprintf(`{"mcpServers": {"lidguard-provider": {"type": "stdio", "command": %q, "args": ["provider-mcp-server", "--provider-name", %q], "mine": 1}}}`, program, provider)
	}
	for _, c := range []struct {
		name, text, provider string
		state                install.State
	}{
		{"no file", "", "acme", install.Missing},
		{"as it should be", entry("/opt/lidguard", "acme"), "acme", install.Installed},
		{"whatever the provider's name", entry("/opt/lidguard", "acme"), "", install.Installed},
		{"another provider's name", entry("/opt/lidguard", "acme"), "other", install.NeedsUpdate},
		{"another path", entry("/old/lidguard", "acme"), "", install.NeedsUpdate},
		{"somebody else's", entry("npx", "acme"), "acme", install.Foreign},
		{"broken", "{", "acme", install.Unreadable},
		{"servers are no object", `{"mcpServers": 3}`, "acme", install.Unreadable},
		{"VS Code's key", strings.Replace(entry("/opt/lidguard", "acme"), "mcpServers", "servers", 1), "acme", install.Installed},
		{"VS Code's key, another path", strings.Replace(entry("/old/lidguard", "acme"), "mcpServers", "servers", 1), "acme", install.NeedsUpdate},
		{"another thing called servers", `{"servers": 3}`, "acme", install.Missing},
	} {
		path := filepath.Join(t.TempDir(), "mcp.json")
		if c.text != "" {
			write(t, path, c.text, 0o600)
		}
		f, want := install.ServerFile{Path: path}, install.ProviderServer("/opt/lidguard", c.provider)
		if r := f.Status(want); r.State != c.state {
			t.Errorf("%s: %s (%s), want %s", c.name, r.State, r.Detail, c.state)
		}
		plan, err := f.Register(want, nil)
		if (c.state == install.Foreign) != errors.Is(err, install.ErrForeignServer) || (c.state == install.Unreadable) && err == nil {
			t.Errorf("%s: registering: %v", c.name, err)
		}
		if c.state == install.NeedsUpdate && (len(plan.Edits) != 1 || !strings.Contains(string(plan.Edits[0].After), `"mine": 1`)) {
			t.Errorf("%s: an update drops somebody's member: %s", c.name, plan.Edits[0].After)
		}
		plan, err = f.Unregister(want, nil)
		ours := c.state == install.Installed || c.state == install.NeedsUpdate && c.name != "another provider's name"
		if (err != nil) != (c.name == "broken") || (len(plan.Edits) == 1) != ours {
			t.Errorf("%s: removing: %d edits, %v", c.name, len(plan.Edits), err)
		}
	}
}
