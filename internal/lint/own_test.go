package lint

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/install"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	opencode "github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
)

var update = flag.Bool("update", false, "rewrite docs/lint.md")

// home is a machine with lidguard's program on PATH and nothing else.
func home(t *testing.T) (Host, install.Program) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	bin := filepath.Join(root, "bin")
	work := filepath.Join(root, "project")
	must(t, os.MkdirAll(bin, 0o755))
	must(t, os.MkdirAll(filepath.Join(root, "home"), 0o755))
	must(t, os.MkdirAll(filepath.Join(work, ".git"), 0o755))
	program := filepath.Join(bin, "lidguard-hook")
	must(t, os.WriteFile(program, []byte("\x7fELF"), 0o755))
	env := func(name string) string { return map[string]string{"PATH": bin}[name] }
	p, err := install.FindProgram("linux", env, program)
	must(t, err)
	return Host{GOOS: "linux", Managed: filepath.Join(root, "none"), Home: filepath.Join(root, "home"), WorkDir: work, Env: env}, p
}

// TestClean_lidguardsOwnInstalls: what lidguard writes for each client is clean,
// by itself and all together; Codex's hooks once the person has trusted them.
func TestClean_lidguardsOwnInstalls(t *testing.T) {
	host, p := home(t)
	store := install.Store{Path: filepath.Join(host.Home, "installed.json")}
	apply := func(plan install.Plan, err error) {
		t.Helper()
		must(t, err)
		_, err = plan.Apply(context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), store)
		must(t, err)
	}
	clean := func(files int) {
		t.Helper()
		r := Files(host, Places(host))
		if len(r.Files) != files {
			t.Errorf("%d files are looked at, want %d: %v", len(r.Files), files, r.Files)
		}
		for _, f := range r.Findings {
			t.Errorf("%s %s:%d %s: %s", f.Rule, f.File, f.Line, f.Event, f.Message)
		}
	}
	apply(claude.New("linux", host.Env, host.Home).Install(p, nil))
	clean(1)
	apply(copilot.New("linux", host.Env, host.Home, host.WorkDir).Install(p, nil))
	clean(2)
	apply(opencode.New("linux", host.Env, host.Home, host.WorkDir).Install(p, nil))
	clean(3)
	own := codex.New("linux", host.Env, host.Home)
	apply(own.Install(p, nil))
	untrusted := 0
	for _, f := range Files(host, Places(host)).Findings {
		if f.Rule == codexUntrusted {
			untrusted++
		} else {
			t.Errorf("%s: %s", f.Rule, f.Message)
		}
	}
	if untrusted != len(codex.Hooks()) {
		t.Errorf("%d hooks are found untrusted, want %d", untrusted, len(codex.Hooks()))
	}
	apply(own.Trust(nil))
	clean(5)
}

// TestClean_snippets: what lidguard prints for people who keep such files by hand.
func TestClean_snippets(t *testing.T) {
	host, p := home(t)
	snippets := map[Kind]func() ([]byte, error){
		ClaudeSettings: func() ([]byte, error) { return claude.New("linux", host.Env, host.Home).Snippet(p) },
		CodexHooks:     func() ([]byte, error) { return codex.New("linux", host.Env, host.Home).Snippet(p, false) },
		CodexConfig:    func() ([]byte, error) { return codex.New("linux", host.Env, host.Home).Snippet(p, true) },
		CopilotHooks:   func() ([]byte, error) { return copilot.New("linux", host.Env, host.Home, "").Snippet(p) },
		OpenCodePlugin: func() ([]byte, error) { return opencode.New("linux", host.Env, host.Home, "").Snippet(p) },
	}
	for kind, make := range snippets {
		text, err := make()
		must(t, err)
		for _, f := range Text(host, file(filepath.Join(host.Home, "x"), kind, Other), text) {
			t.Errorf("%s: %s line %d %s: %s", kind, f.Rule, f.Line, f.Event, f.Message)
		}
	}
}

// TestDocs_lintPage holds docs/lint.md against the rules; -update writes it.
func TestDocs_lintPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "lint.md")
	want := page()
	if *update {
		must(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/lint.md is not up to date (go test ./internal/lint -update): %s", diff)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString("# What `lidguard hooks lint` finds\n\n" +
		"Written from the rules in `internal/lint` (`go test ./internal/lint -update`).\n\n" +
		"`lidguard hooks lint` reads hook configuration of Claude Code, Codex, Copilot CLI and OpenCode, whoever wrote it, and the scripts it calls. " +
		"Without a file it looks at the usual places of the person and of the project around the current folder: settings and managed settings, plugins' hooks.json, " +
		"the front matter of skills, agents and commands; hooks.json and config.toml; Copilot's hook files and settings; OpenCode's plugins and config. It runs nothing and changes nothing.\n\n" +
		"Each finding has a rule, a file, an event, a place, a cause and a fix. An **error** does not do what it is there for, a **warning** does it otherwise than it looks or costs something, " +
		"a **note** is worth knowing. The exit code is 1 when there is an error and 0 without one; with `--json` the same comes as data.\n\n" +
		"Scripts are looked at word by word and not understood: a rule on them needs a sure sign and is silent without one. " +
		"So no report is no proof; `lidguard hooks replay` shows what a hook really answers.\n\n" +
		"| rule | severity | agents | what |\n| --- | --- | --- | --- |\n")
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, r.ID, r.Severity, clients(r), r.Title)
	}
	for _, r := range Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n%s: %s. %s\n\nFix: %s\n", r.ID, strings.ToUpper(string(r.Severity)[:1])+string(r.Severity)[1:], r.Title, r.Cause, r.Fix)
	}
	return b.String()
}

func clients(r Rule) string {
	if len(r.Providers) == len(everyClient) {
		return "all"
	}
	var out []string
	for _, p := range r.Providers {
		c, _ := census.Of(p)
		out = append(out, c.Title)
	}
	return strings.Join(out, ", ")
}
