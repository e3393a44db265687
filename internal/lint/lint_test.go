package lint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codex/setup"
)

// The cases are txtar files, one each. The comment on top is prose, and lines that
// begin with a word and a colon:
//
//	want: RULE FILE:LINE      a finding, exactly these and no others
//	files: FILE …             lint these instead of the usual places
//	mode: FILE OCTAL          instead of 755 for files with #! and 644 for others
//	trust: FILE               what the hooks file holds is trusted in Codex
//	trustas: FILE KEY EVENT GROUP INDEX   the hook at that place is trusted under KEY
//
// Files below home and project are the person's home and the working folder, which
// is a repository; @ROOT@ in a text is the folder that both are in.

// programs are on PATH in every case.
var programs = []string{"sh", "bash", "zsh", "python3", "node", "jq", "git", "npx", "uv", "prettier", "gofmt", "lidguard-hook", "notify-send", "curl", "cat", "grep", "tee", "date", "sleep", "xargs", "make"}

type testCase struct {
	host  Host
	files []File
	want  []string
}

// lay puts the files of a case into a folder of its own; bin has the programs.
func lay(t *testing.T, file, bin string) testCase {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	comment := string(archive.Comment)
	project := filepath.Join(root, "project")
	if strings.Contains(comment, "\nblank:") || strings.HasPrefix(comment, "blank:") {
		project = filepath.Join(root, "my project")
	}
	for _, dir := range []string{"bin", "home"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	must(t, os.MkdirAll(filepath.Join(project, ".git"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "bin", "lidguard-hook"), []byte("\x7fELF"), 0o755))
	name := func(path string) string {
		if rest, ok := strings.CutPrefix(path, "project/"); ok {
			return filepath.Join(project, filepath.FromSlash(rest))
		}
		return filepath.Join(root, filepath.FromSlash(path))
	}
	for _, f := range archive.Files {
		path := name(f.Name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		text := strings.ReplaceAll(string(f.Data), "@ROOT@", filepath.ToSlash(root))
		text = strings.ReplaceAll(text, "@CR@", "\r")
		text = strings.ReplaceAll(text, "@BOM@", "\ufeff")
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		must(t, os.WriteFile(path, []byte(text), mode))
	}
	c := testCase{host: Host{GOOS: "linux", Managed: filepath.Join(root, "etc", "managed-settings.json"), Home: filepath.Join(root, "home"), WorkDir: project, Env: func(name string) string {
		return map[string]string{"PATH": bin}[name]
	}}}
	var named []string
	for line := range strings.Lines(comment) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		args := strings.Fields(rest)
		switch word {
		case "want":
			c.want = append(c.want, strings.TrimSpace(rest))
		case "files":
			for _, f := range args {
				named = append(named, name(f))
			}
		case "mode":
			mode, err := strconv.ParseUint(args[1], 8, 32)
			must(t, err)
			must(t, os.Chmod(name(args[0]), os.FileMode(mode)))
		case "trust":
			trust(t, c.host, name(args[0]), nil)
		case "trustas":
			trust(t, c.host, name(args[0]), args[1:])
		}
	}
	c.files = Places(c.host)
	if named != nil {
		c.files = nil
		for _, path := range named {
			data, err := os.ReadFile(path)
			must(t, err)
			f, ok := Guess(c.host, path, data, "")
			if !ok {
				t.Fatalf("nothing knows what %s is", path)
			}
			c.files = append(c.files, f)
		}
	}
	slices.Sort(c.want)
	return c
}

// path makes a folder with the programs in it.
func path(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range programs {
		must(t, os.WriteFile(filepath.Join(bin, name), []byte("\x7fELF"), 0o755))
	}
	return bin
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// trust writes into the person's config.toml that a hooks file's handlers are
// trusted as they stand; with as, the one at a place, under another key.
func trust(t *testing.T, host Host, path string, as []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	kind := CodexHooks
	if strings.HasSuffix(path, ".toml") {
		kind = CodexConfig
	}
	src, found := read(host, file(path, kind, User), data)
	if src == nil {
		t.Fatalf("%s: %v", path, found)
	}
	var out strings.Builder
	for _, e := range src.entries {
		key := setup.TrustKey(path, e.event, e.index, e.inner)
		if as != nil {
			if e.event != as[1] || strconv.Itoa(e.index) != as[2] || strconv.Itoa(e.inner) != as[3] {
				continue
			}
			key = strings.TrimSuffix(setup.TrustKey(path, "x", 0, 0), "x:0:0") + as[0]
		}
		raw, err := json.Marshal(e.fields)
		must(t, err)
		hash, err := setup.TrustHash(e.event, e.matcher, raw)
		must(t, err)
		fmt.Fprintf(&out, "\n[hooks.state.%q]\ntrusted_hash = %q\n", key, hash)
	}
	config := filepath.Join(host.Home, ".codex", "config.toml")
	must(t, os.MkdirAll(filepath.Dir(config), 0o755))
	old, err := os.ReadFile(config)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	must(t, os.WriteFile(config, append(old, out.String()...), 0o644))
}

func show(host Host, findings []Finding) []string {
	var out []string
	for _, f := range findings {
		root := filepath.Dir(host.Home)
		rel, err := filepath.Rel(root, f.File)
		if err != nil {
			rel = f.File
		}
		out = append(out, fmt.Sprintf("%s %s:%d", f.Rule, strings.Replace(filepath.ToSlash(rel), "my project/", "project/", 1), f.Line))
	}
	slices.Sort(out)
	return out
}

func cases(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFaulty_allFound: each of the faulty configurations has exactly the findings
// that its file says.
func TestFaulty_allFound(t *testing.T) {
	files := cases(t, "faulty")
	if len(files) < 60 {
		t.Errorf("only %d faulty configurations", len(files))
	}
	seen := map[string]bool{}
	bin := path(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c := lay(t, file, bin)
			if len(c.want) == 0 {
				t.Fatal("a faulty configuration that wants no finding")
			}
			report := Files(c.host, c.files)
			for _, f := range report.Findings {
				seen[f.Rule] = true
				if !slices.Contains(byID(f.Rule).Providers, f.Provider) {
					t.Errorf("%s is not said to be about %s", f.Rule, f.Provider)
				}
				if f.Message == "" || f.Cause == "" || f.Fix == "" || f.Severity == "" || f.Provider == "" {
					t.Errorf("a finding lacks something: %+v", f)
				}
			}
			if diff := cmp.Diff(c.want, show(c.host, report.Findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
				for _, f := range report.Findings {
					t.Logf("%s %s:%d:%d %s: %s", f.Rule, f.File, f.Line, f.Column, f.Event, f.Message)
				}
			}
		})
	}
	for _, r := range Rules() {
		if !seen[r.ID] && r.ID != fileUnreadable {
			t.Errorf("no faulty configuration shows %s", r.ID)
		}
	}
}

// TestClean_noReport: none of the clean configurations has a finding of any kind.
func TestClean_noReport(t *testing.T) {
	files := cases(t, "clean")
	if len(files) < 60 {
		t.Errorf("only %d clean configurations", len(files))
	}
	bin := path(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c := lay(t, file, bin)
			if len(c.files) == 0 {
				t.Fatal("there is no file to look at")
			}
			for _, f := range Files(c.host, c.files).Findings {
				t.Errorf("%s %s:%d:%d %s: %s", f.Rule, f.File, f.Line, f.Column, f.Event, f.Message)
			}
		})
	}
}

func TestRules_areWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] {
			t.Errorf("%s is there twice", r.ID)
		}
		seen[r.ID] = true
		if r.Title == "" || r.Cause == "" || r.Fix == "" || len(r.Providers) == 0 || !strings.HasSuffix(r.Cause, ".") || !strings.HasSuffix(r.Fix, ".") && !strings.HasSuffix(r.Fix, "}") && !strings.HasSuffix(r.Fix, "]") {
			t.Errorf("%s lacks something: %+v", r.ID, r)
		}
	}
}

func TestFiles_unreadable(t *testing.T) {
	host := Host{GOOS: "linux", Managed: "/nowhere", Home: t.TempDir()}
	r := Files(host, []File{file(filepath.Join(host.Home, "none.json"), ClaudeSettings, Other), file(host.Home, ClaudeSettings, Other)})
	if len(r.Findings) != 2 || r.Findings[0].Rule != fileUnreadable || !r.Worst(Error) {
		t.Errorf("got %+v", r.Findings)
	}
	if r := Files(host, nil); r.Worst(Error) || r.Findings == nil || r.Files == nil {
		t.Errorf("nothing to look at gives %+v", r)
	}
}

func TestGuess(t *testing.T) {
	host := Host{GOOS: "linux", Managed: "/nowhere", Home: t.TempDir(), WorkDir: t.TempDir()}
	for _, c := range []struct {
		path, text string
		provider   event.Provider
		want       Kind
	}{
		{"x/.claude/settings.json", "{}", "", ClaudeSettings},
		{"x/settings.local.json", "{}", "", ClaudeSettings},
		{"x/hooks/hooks.json", `{"description":"x","hooks":{}}`, "", ClaudePlugin},
		{"x/agents/a.md", "", "", ClaudeFront},
		{"x/.codex/hooks.json", "{}", "", CodexHooks},
		{"x/config.toml", "", "", CodexConfig},
		{"x/hooks.json", "{}", event.Codex, CodexHooks},
		{"x/.github/hooks/a.json", "{}", "", CopilotHooks},
		{"x/a.json", `{"hooks":{"preToolUse":[]}}`, "", CopilotHooks},
		{"x/.copilot/settings.json", "{}", "", CopilotSettings},
		{"x/.copilot/config.json", "{}", "", CopilotConfig},
		{"x/opencode.jsonc", "{}", "", OpenCodeConfig},
		{"x/plugin/a.ts", "", "", OpenCodePlugin},
		{"x/a.json", "{}", event.OpenCode, OpenCodeConfig},
		{"x/a.json", "{}", "", ClaudeSettings},
	} {
		if f, ok := Guess(host, c.path, []byte(c.text), c.provider); !ok || f.Kind != c.want {
			t.Errorf("%s (%s) is guessed to be %q, want %q", c.path, c.provider, f.Kind, c.want)
		}
	}
	if _, ok := Guess(host, "x/README.txt", nil, ""); ok {
		t.Error("a text file is taken for a configuration")
	}
	if _, ok := Guess(host, "x/config.toml", nil, event.Claude); ok {
		t.Error("a TOML file is taken for Claude Code's")
	}
}

// TestPatterns_compile: each pattern is compiled only when it is used, so that a
// broken one could hide; the cases use them all but for their rarest branches.
func TestPatterns_compile(t *testing.T) {
	for name, set := range map[string]map[string]*pattern{"exit1": exit1, "exit2": exit2, "exitAny": exitAny, "stderr": stderr, "elsewhere": elsewhere} {
		for lang, p := range set {
			if p.get() == nil {
				t.Errorf("%s of %s", name, lang)
			}
		}
	}
	for name, set := range codexRejects {
		for key, p := range set {
			if p.get() == nil {
				t.Errorf("%s of %s", key, name)
			}
		}
	}
	for _, p := range []*pattern{exportValue, exportClass, exportList, hookKey, eventType, serverAddress, clientMethod, alwaysAnswer, keyHook, leak, idle, prompts, counts,
		chatMessage, throwStatement, variable, projectVar, backslashPath, profile, literal, permissionRule, refusing, harmless, permissionDecision, eventName, oldDecision,
		behavior, cursor, anyDecision, blockDecision, rewriting, specific, stopActive, camelInput, snakeInput, payloadEnv, inlineEnv, sourcesProfile, loginShebang,
		unsetOnCodex, pythonBanner, filePath, patching} {
		if p.get() == nil {
			t.Errorf("%q does not compile", p.source)
		}
	}
}

// TestText_depthIsNoTrouble: lines that nobody would write, and that cost a parser
// the square of their length, are not looked into.
func TestText_depthIsNoTrouble(t *testing.T) {
	for _, unit := range []string{"$(", "(", "{ ", "\"$(", "<<a\n", "(a|b)*", "`", "$((", "${a:-"} {
		line := strings.Repeat(unit, 20000)
		text, err := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{
			"matcher": line, "hooks": []any{map[string]any{"type": "command", "command": line}}}}}})
		must(t, err)
		src, found := read(nowhere, file("/nowhere/settings.json", ClaudeSettings, Other), text)
		if src == nil || len(found) > 0 || len(src.entries) != 1 || src.entries[0].command != nil {
			t.Errorf("%q, often: %v, and the command is parsed", unit, found)
		}
		Text(nowhere, file("/nowhere/settings.json", ClaudeSettings, Other), text)
	}
}

// A file with ever so many unknown events costs the same for each: counted in
// allocations, since a clock would count what else the machine does.
func TestText_unknownEventsCostTheSameEach(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		provider event.Provider
	}{{ClaudeSettings, event.Claude}, {CodexHooks, event.Codex}, {CopilotHooks, event.Copilot}} {
		each := func(n int) float64 {
			var text strings.Builder
			text.WriteString(`{"hooks": {"Stop": []`)
			for i := range n {
				fmt.Fprintf(&text, ",\n"+`"Unknown%d": [{"hooks": [{"type": "command", "command": "true"}]}]`, i)
			}
			text.WriteString("}}")
			f := File{Path: "/x/hooks.json", Provider: c.provider, Kind: c.kind}
			found := 0
			allocs := testing.AllocsPerRun(1, func() {
				found = 0
				for _, finding := range Text(Host{GOOS: "linux", Env: func(string) string { return "" }, Home: "/home/x"}, f, []byte(text.String())) {
					if finding.Rule == eventUnknown {
						found++
					}
				}
			})
			if found != n {
				t.Errorf("%s: %d of %d events found unknown", c.provider, found, n)
			}
			return allocs / float64(n)
		}
		few, many := each(250), each(4000)
		t.Logf("%s: %.0f allocations for each of 250, %.0f for each of 4000", c.provider, few, many)
		if many > 1.2*few {
			t.Errorf("%s: it grows with their number", c.provider)
		}
		if many > 400 { // 300, most of them for reading the JSON
			t.Errorf("%s: that is more than looking one up and telling of it needs", c.provider)
		}
	}
}
