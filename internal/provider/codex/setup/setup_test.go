package setup_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/provider/codex/setup"
)

// bench is one person's home with a Codex in it.
type bench struct {
	t       *testing.T
	home    string
	setup   setup.Setup
	program install.Program
	store   install.Store
}

var update = flag.Bool("update", false, "rewrite golden files")

func noEnv(string) string { return "" }

func newBench(t *testing.T) *bench {
	t.Helper()
	home := t.TempDir()
	b := &bench{t: t, home: home, setup: setup.New("linux", noEnv, home), store: install.Store{Path: filepath.Join(home, "state", "installed.json")}}
	// A test that would touch the person's own files must not run at all.
	if own, err := os.UserHomeDir(); err == nil && strings.HasPrefix(b.setup.JSON, filepath.Join(own, ".codex")) {
		t.Fatalf("%s is the real home", b.setup.JSON)
	}
	b.program = b.at(filepath.Join(home, "bin", "lidguard"))
	return b
}

func (b *bench) at(path string) install.Program {
	b.t.Helper()
	p, err := install.FindProgram("linux", noEnv, path)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) write(path, text string) {
	b.t.Helper()
	if err := os.MkdirAll(b.setup.Root, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(path string) string {
	b.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return string(data)
}

// carry plans and applies; it returns the files that changed.
func (b *bench) carry(plan func(install.Records) (install.Plan, error)) []string {
	b.t.Helper()
	records, err := b.store.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := plan(records)
	if err != nil {
		b.t.Fatal(err)
	}
	done, err := p.Apply(context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, d := range done {
		names = append(names, filepath.Base(d.Path))
	}
	return names
}

func (b *bench) install() []string {
	b.t.Helper()
	return b.carry(func(r install.Records) (install.Plan, error) { return b.setup.Install(b.program, r) })
}

func (b *bench) trust() []string {
	b.t.Helper()
	return b.carry(b.setup.Trust)
}

func (b *bench) remove() []string {
	b.t.Helper()
	return b.carry(b.setup.Remove)
}

func (b *bench) state() install.State { return b.setup.Status(b.program).State }

func TestLifeOfAnInstallation(t *testing.T) {
	b := newBench(t)
	config := "model = \"gpt\" # mine\n"
	b.write(b.setup.Config, config)
	step := func(name string, changed []string, want []string, state install.State) {
		t.Helper()
		if diff := cmp.Diff(want, changed); diff != "" {
			t.Errorf("%s changed %v", name, changed)
		}
		if got := b.state(); got != state {
			t.Errorf("after %s: %s, want %s", name, got, state)
		}
	}
	step("nothing", nil, nil, install.Missing)
	step("install", b.install(), []string{"hooks.json"}, install.NotTrusted)
	step("install again", b.install(), nil, install.NotTrusted)
	step("trust", b.trust(), []string{"config.toml"}, install.Installed)
	step("trust again", b.trust(), nil, install.Installed)
	b.program = b.at(filepath.Join(b.home, "moved", "lidguard"))
	step("a moved program", nil, nil, install.NeedsUpdate)
	step("install", b.install(), []string{"hooks.json"}, install.NotTrusted)
	if d := b.setup.Status(b.program).Hooks[0].Detail; d != "changed since it was trusted in Codex" {
		t.Errorf("detail %q", d)
	}
	step("trust", b.trust(), []string{"config.toml"}, install.Installed)
	step("remove", b.remove(), []string{"hooks.json", "config.toml"}, install.Missing)
	if got := b.read(b.setup.Config); got != config {
		t.Errorf("config.toml is %q", got)
	}
	if _, err := os.Stat(b.setup.JSON); !os.IsNotExist(err) {
		t.Errorf("hooks.json is still there: %v", err)
	}
}

func TestRemove_afterCodexWroteItsConfig(t *testing.T) {
	b := newBench(t)
	b.write(b.setup.Config, "model = \"gpt\"\n")
	b.install()
	b.trust()
	b.write(b.setup.Config, b.read(b.setup.Config)+"\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n\n[hooks.state.\"/other/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n")
	b.remove()
	want := "model = \"gpt\"\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n\n[hooks.state.\"/other/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n"
	if diff := cmp.Diff(want, b.read(b.setup.Config)); diff != "" {
		t.Error(diff)
	}
}

// TestRemove_leavesForeignTrustAlone: a foreign group came behind ours. Its
// position is part of its trust key, so ours stays as an empty group.
func TestRemove_leavesForeignTrustAlone(t *testing.T) {
	b := newBench(t)
	b.write(b.setup.JSON, "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"first\"}]}]\n  }\n}\n")
	b.install()
	b.write(b.setup.JSON, strings.Replace(b.read(b.setup.JSON), `"timeout": 30}]}]`, `"timeout": 30}]}, {"hooks": [{"type": "command", "command": "behind"}]}]`, 1))
	b.remove()
	want := "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"first\"}]}, {\"hooks\": []}, {\"hooks\": [{\"type\": \"command\", \"command\": \"behind\"}]}]\n  }\n}\n"
	if diff := cmp.Diff(want, b.read(b.setup.JSON)); diff != "" {
		t.Error(diff)
	}
	b.install()
	if strings.Contains(b.read(b.setup.JSON), `"hooks": []`) {
		t.Error("the place that was kept is not used again")
	}
}

// TestRemove_trustOfAMovedHook: a foreign group was put in front of ours, so that the
// trust in ours stands under what is now its key. That of others stays.
func TestRemove_trustOfAMovedHook(t *testing.T) {
	foreign := "\n[hooks.state.\"/other/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n"
	for _, again := range []bool{false, true} { // trusted anew where it stands now
		b := newBench(t)
		b.write(b.setup.Config, "model = \"gpt\"\n")
		b.install()
		b.trust()
		b.write(b.setup.JSON, strings.Replace(b.read(b.setup.JSON), `"Stop": [`, `"Stop": [{"hooks": [{"type": "command", "command": "first"}]}, `, 1))
		if again {
			b.trust()
		}
		b.write(b.setup.Config, b.read(b.setup.Config)+foreign)
		if n := strings.Count(b.read(b.setup.Config), "hooks.json:stop:"); n < 2 {
			t.Fatalf("%d entries of trust for Stop:\n%s", n, b.read(b.setup.Config))
		}
		b.remove()
		if diff := cmp.Diff("model = \"gpt\"\n"+foreign, b.read(b.setup.Config)); diff != "" {
			t.Errorf("trusted again %v: %s", again, diff)
		}
	}
}

func TestInstall_whereThePersonKeepsHooks(t *testing.T) {
	for _, c := range []struct {
		name, json, toml string
		want             string
	}{
		{"nowhere", "", "", "hooks.json"},
		{"in hooks.json", `{"hooks": {"Stop": []}}`, "", "hooks.json"},
		{"in config.toml", "", "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n", "config.toml"},
		{"in both", `{"hooks": {"Stop": []}}`, "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n", "hooks.json"},
		{"config.toml has trust only", "", "[hooks.state.\"/x:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n", "hooks.json"},
		{"config.toml is broken", "", "x = = 1\n", "hooks.json"},
	} {
		b := newBench(t)
		if c.json != "" {
			b.write(b.setup.JSON, c.json)
		}
		if c.toml != "" {
			b.write(b.setup.Config, c.toml)
		}
		if diff := cmp.Diff([]string{c.want}, b.install()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if got := b.install(); got != nil {
			t.Errorf("%s: a second installation changed %v", c.name, got)
		}
		if c.name == "config.toml is broken" {
			continue
		}
		b.trust()
		if r := b.setup.Status(b.program); r.State != install.Installed {
			t.Errorf("%s: trusted, and yet %s: %+v", c.name, r.State, r.Hooks[0])
		}
		b.remove()
		if b.read(b.setup.JSON) != c.json || b.read(b.setup.Config) != c.toml {
			t.Errorf("%s: after removal\n%s\n%s", c.name, b.read(b.setup.JSON), b.read(b.setup.Config))
		}
	}
}

func TestInstall_refusesBrokenFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a comment", "{\n  // mine\n}", "line 2, column 3"},
		{"cut off", "{\n\"hooks\": {", "line 2"},
		{"hooks is no object", "{\n \"hooks\": []}", "line 2, column 2"},
		{"an event is no array", "{\"hooks\": {\n\t\"Stop\": {}}}", "line 2, column 2"},
		{"a group is none", "{\"hooks\": {\"Stop\": [{\"hooks\":\n 3}]}}", "line 1"},
	} {
		b := newBench(t)
		b.write(b.setup.JSON, c.text)
		_, err := b.setup.Install(b.program, install.Records{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hooks.json") {
			t.Errorf("%s: got %v, want the file and %s", c.name, err, c.want)
		}
		if _, err := b.setup.Remove(install.Records{}); err == nil {
			t.Errorf("%s: removal did not refuse", c.name)
		}
		if b.read(b.setup.JSON) != c.text {
			t.Errorf("%s: the file was touched", c.name)
		}
		if r := b.setup.Status(b.program); r.State != install.Unreadable || len(r.Problems) != 1 {
			t.Errorf("%s: status %s %v", c.name, r.State, r.Problems)
		}
	}
}

func TestTrust_needsAnInstallation(t *testing.T) {
	b := newBench(t)
	if _, err := b.setup.Trust(install.Records{}); !errors.Is(err, setup.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}

func TestStatus_switchedOffByThePerson(t *testing.T) {
	b := newBench(t)
	b.install()
	b.trust()
	text := strings.Replace(b.read(b.setup.Config), "trusted_hash", "enabled = false\ntrusted_hash", 1)
	b.write(b.setup.Config, text)
	r := b.setup.Status(b.program)
	if r.State != install.Off || r.Hooks[0].State != install.Off {
		t.Errorf("state %s, %+v", r.State, r.Hooks[0])
	}
	b.trust() // trusting is not switching on
	if got := b.read(b.setup.Config); got != text {
		t.Errorf("config.toml changed:\n%s", got)
	}
}

func TestStatus_problems(t *testing.T) {
	for _, c := range []struct {
		name, json, toml string
		state            install.State
		code             string
	}{
		{"hooks are off", "", "[features]\nhooks = false\n", install.Off, install.HooksOff},
		{"an old name of the switch, inline", "", "features = { codex_hooks = true }\n", install.NotTrusted, install.FeatureDeprecated},
		{"an old name of the switch, off", "", "[features]\ncodex_hooks = false\n", install.Off, install.HooksOff},
		{"an http hook voids the file", `{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}}`, "", install.Unreadable, install.HookFileBroken},
		{"a fraction voids the file", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 1.5}]}]}}`, "", install.Unreadable, install.HookFileBroken},
		{"two files", `{"hooks": {"Stop": []}}`, "[[hooks.Stop]]\nhooks = []\n", install.NotTrusted, install.TwoHookFiles},
		{"a broken config", "", "x = = 1\n", install.Unreadable, install.HookFileBroken},
	} {
		b := newBench(t)
		if c.json != "" {
			b.write(b.setup.JSON, c.json)
		}
		if c.toml != "" {
			b.write(b.setup.Config, c.toml)
		}
		b.install()
		r := b.setup.Status(b.program)
		if r.State != c.state || len(r.Problems) != 1 || r.Problems[0].Code != c.code || r.Problems[0].Remedy == "" {
			t.Errorf("%s: %s %+v", c.name, r.State, r.Problems)
		}
	}
}

// Reports: cctop#151 and cmux#4035 are of the old switch that warns for ever.
func TestInstall_givesTheOldSwitchItsPresentName(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"alone":          {"[features] # mine\ncodex_hooks = true # why\nx = 1\n", "[features] # mine\nhooks = true # why\nx = 1\n"},
		"dotted":         {"features.codex_hooks = true\n", "features.hooks = true\n"},
		"beside the new": {"[features]\nhooks = true\ncodex_hooks = true\n", "[features]\nhooks = true\n"},
		"off stays":      {"[features]\ncodex_hooks = false\n", "[features]\ncodex_hooks = false\n"},
		"inline stays":   {"features = { codex_hooks = true }\n", "features = { codex_hooks = true }\n"},
		"broken stays":   {"[features\ncodex_hooks = true\n", "[features\ncodex_hooks = true\n"},
		"nothing to do":  {"[features]\nhooks = true\n", "[features]\nhooks = true\n"},
	} {
		b := newBench(t)
		b.write(b.setup.Config, c.before)
		b.install()
		if got := b.read(b.setup.Config); got != c.after {
			t.Errorf("%s: %q, want %q", name, got, c.after)
		}
		if again := b.install(); len(again) > 0 {
			t.Errorf("%s: a second installation changes %q", name, again)
		}
		if name == "broken stays" {
			continue // and then Remove says so
		}
		b.remove()
		if got := b.read(b.setup.Config); got != c.before {
			t.Errorf("%s: after the removal %q, want %q", name, got, c.before)
		}
	}
	// Where hooks go into config.toml itself, it is one edit.
	b := newBench(t)
	hooks := "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n"
	b.write(b.setup.Config, "[features]\ncodex_hooks = true\n\n"+hooks)
	if files := b.install(); len(files) != 1 || !strings.HasPrefix(b.read(b.setup.Config), "[features]\nhooks = true\n") {
		t.Errorf("changed %q:\n%s", files, b.read(b.setup.Config))
	}
	b.remove()
	if got := b.read(b.setup.Config); got != "[features]\ncodex_hooks = true\n\n"+hooks {
		t.Errorf("after the removal:\n%s", got)
	}
}

func TestInstall_bringsOldEntriesUpToDate(t *testing.T) {
	for _, c := range []struct{ name, stop string }{
		{"an old path", `[{"hooks": [{"type": "command", "command": "/old/lidguard codex-hook", "timeout": 30}]}, {"hooks": [{"type": "command", "command": "x"}]}]`},
		{"no timeout", `[{"hooks": [{"type": "command", "command": "lidguard codex-hook"}]}]`},
		{"twice", `[{"hooks": [{"type": "command", "command": "lidguard codex-hook"}]}, {"hooks": [{"type": "command", "command": "lidguard  codex-hook"}]}, {"hooks": [{"type": "command", "command": "x"}]}]`},
		{"async", `[{"hooks": [{"type": "command", "command": "lidguard codex-hook", "async": true}]}]`},
	} {
		b := newBench(t)
		b.write(b.setup.JSON, `{"hooks": {"Stop": `+c.stop+`}}`)
		if got := b.state(); got != install.NeedsUpdate {
			t.Errorf("%s: %s before", c.name, got)
		}
		b.install()
		if got := b.state(); got != install.NotTrusted {
			t.Errorf("%s: %s after:\n%s", c.name, got, b.read(b.setup.JSON))
		}
		if strings.Contains(c.stop, `"x"`) != strings.Contains(b.read(b.setup.JSON), `"x"`) {
			t.Errorf("%s: something foreign is gone", c.name)
		}
	}
}

func TestForeignHooks_survive(t *testing.T) {
	var groups []string
	for i := range 49 {
		groups = append(groups, fmt.Sprintf("      { \"hooks\": [ { \"type\": \"command\", \"command\": \"foreign-%02d\" } ] }", i))
	}
	before := "{\n  \"hooks\": {\n    \"PreToolUse\": [\n" + strings.Join(groups, ",\n") + "\n    ]\n  }\n}\n"
	b := newBench(t)
	b.write(b.setup.JSON, before)
	b.install()
	for i := range 49 {
		if strings.Count(b.read(b.setup.JSON), fmt.Sprintf("foreign-%02d", i)) != 1 {
			t.Errorf("foreign hook %d is gone", i)
		}
	}
	b.remove()
	if b.read(b.setup.JSON) != before {
		t.Error("removal is not byte-identical")
	}
}

func TestHooks_timeoutsStayBelowTheClientsCap(t *testing.T) {
	for _, h := range setup.Hooks() {
		if (h.Event == "SessionEnd" || h.Event == "Interrupt") && h.Timeout > 3 {
			t.Errorf("%s has %d s; Codex would warn at every start", h.Event, h.Timeout)
		}
	}
}

// TestCommand_isStable pins the text that people have trusted.
func TestCommand_isStable(t *testing.T) {
	b := newBench(t)
	b.program = b.at("/usr/local/bin/lidguard")
	text, err := b.setup.Snippet(b.program, false)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "hooks.json")
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("everybody would have to trust the hooks again: %s", diff)
	}
	out, err := exec.Command("/bin/sh", "-n", "-c", b.program.Command(setup.Entry)).CombinedOutput()
	if err != nil {
		t.Errorf("the command does not parse: %s", out)
	}
}

func TestSnippet_bothForms(t *testing.T) {
	for _, toml := range []bool{false, true} {
		b := newBench(t)
		text, err := b.setup.Snippet(b.program, toml)
		if err != nil {
			t.Fatal(err)
		}
		path := b.setup.JSON
		if toml {
			path = b.setup.Config
		}
		b.write(path, string(text))
		if got := b.state(); got != install.NotTrusted {
			t.Errorf("toml %v: %s of\n%s", toml, got, text)
		}
	}
}

// On Windows the client takes the session's shell, or cmd: the one line of both.
// commandWindows would only repeat it.
func TestWindows_oneLineForEveryShell(t *testing.T) {
	p, err := install.FindProgram("windows", func(string) string { return "" }, `C:\Program Files\lidguard.exe`)
	if err != nil {
		t.Fatal(err)
	}
	for _, toml := range []bool{false, true} {
		text, err := setup.New("windows", func(string) string { return "" }, t.TempDir()).Snippet(p, toml)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "[ -x 'C:/Program Files/lidguard.exe' ] || exit 0"); n != len(setup.Hooks()) || strings.Contains(string(text), `C:\`) {
			t.Errorf("toml %v: %d lines for every shell, want %d:\n%s", toml, n, len(setup.Hooks()), text)
		}
	}
}
