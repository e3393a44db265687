package build

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	opencode "github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// removable is a client with the way back.
type removable interface {
	Client
	Remove(install.Records) (install.Plan, error)
}

// home is a person's home with a rulebook.
type home struct {
	t       *testing.T
	dir     string
	dirs    paths.Dirs
	store   install.Store
	program install.Program
}

func newHome(t *testing.T, book string) *home {
	t.Helper()
	dir := t.TempDir()
	dirs, err := paths.Resolve("linux", func(name string) string { return map[string]string{"HOME": dir}[name] })
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, dirs: dirs, store: install.Store{Path: dirs.Installed()}}
	program := filepath.Join(t.TempDir(), "lidguard")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	h.program, err = install.FindProgram("linux", func(string) string { return "" }, program)
	if err != nil {
		t.Fatal(err)
	}
	h.write(dirs.Rules(), book)
	return h
}

func (h *home) write(path, text string) {
	h.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) client(p event.Provider) removable {
	none := func(string) string { return "" }
	switch p {
	case event.Claude:
		return claude.New("linux", none, h.dir)
	case event.Codex:
		return codex.New("linux", none, h.dir)
	case event.Copilot:
		return copilot.New("linux", none, h.dir, "")
	}
	return opencode.New("linux", none, h.dir, "")
}

func (h *home) source(cwd string, project bool) Source {
	h.t.Helper()
	s, err := Load(h.dirs, cwd, project)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *home) plan(p event.Provider) install.Plan {
	h.t.Helper()
	records, err := h.store.Load()
	if err != nil {
		h.t.Fatal(err)
	}
	plan, err := h.source("", false).Listening(h.client(p)).Install(h.program, records)
	if err != nil {
		h.t.Fatal(err)
	}
	return plan
}

func (h *home) apply(plan install.Plan) {
	h.t.Helper()
	if _, err := plan.Apply(context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), h.store); err != nil {
		h.t.Fatal(err)
	}
}

// files are all files below the home but lidguard's own, with what is in them.
func (h *home) files() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, h.dirs.Config) || strings.HasPrefix(path, h.dirs.State) {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, h.dir)] = strings.ReplaceAll(string(data), h.program.Path, "/opt/lidguard")
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

const book = `
[redact]
[compact]

[[rule]]
id = "no-push"
command = "git push"
decision = "ask"
deny = ["git push"]
allow = ["git status"]

[[handler]]
name = "follow"
command = ["true"]
events = ["CwdChanged", "PostToolBatch", "Stop"]

[[until]]
id = "proof"
token = "DONE"

[telemetry]
url = "http://127.0.0.1:1/events"
events = ["PreModelRequest", "UserPromptTransformed"]
`

// homes are what is there before: something foreign in each client's file.
var homes = []struct {
	name     string
	provider event.Provider
	file     string
	text     string
}{
	{"claude", event.Claude, ".claude/settings.json", "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"CwdChanged\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"direnv\"}]}],\n        \"Stop\": []\n    }\n}\n"},
	{"codex-json", event.Codex, ".codex/hooks.json", "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./guard\"}]}]}}\n"},
	{"codex-toml", event.Codex, ".codex/config.toml", "model = \"o5\" # mine\n\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"./guard\"\n"},
	{"copilot", event.Copilot, ".copilot/hooks/50-mine.json", "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"type\": \"command\", \"command\": \"./guard\"}]}}\n"},
	{"opencode", event.OpenCode, ".config/opencode/plugins/mine.js", "export const Mine = async () => ({})\n"},
}

// TestBuild_writesWhatTheRulebookNeeds holds the change of each client's files, that
// a second time changes nothing, and that the way back ends where it began.
func TestBuild_writesWhatTheRulebookNeeds(t *testing.T) {
	for _, tc := range homes {
		t.Run(tc.name, func(t *testing.T) {
			h := newHome(t, book)
			h.write(tc.file, tc.text)
			before := h.files()
			plan := h.plan(tc.provider)
			var diffs strings.Builder
			for _, e := range plan.Edits {
				diffs.WriteString(strings.ReplaceAll(strings.ReplaceAll(e.Diff(), h.dir, "~"), h.program.Path, "/opt/lidguard"))
			}
			if diff := cmp.Diff(before, h.files()); diff != "" {
				t.Fatalf("planning wrote: %s", diff)
			}
			if tc.provider != event.OpenCode { // its plugin is a file of ours, the same for all
				golden(t, tc.name+".diff", diffs.String())
			}
			h.apply(plan)
			if again := h.plan(tc.provider); len(again.Edits) > 0 {
				t.Errorf("the second time changes %s", again.Edits[0].Diff())
			}
			for _, hook := range h.client(tc.provider).Status(h.program).Hooks {
				if hook.State == install.NeedsUpdate || hook.State == install.Missing {
					t.Errorf("%s is %s (%s)", hook.Event, hook.State, hook.Detail)
				}
			}
			records, err := h.store.Load()
			if err != nil {
				t.Fatal(err)
			}
			// An installation without a rulebook's needs leaves these entries alone.
			if plain, err := h.client(tc.provider).Install(h.program, records); err != nil || len(plain.Edits) > 0 {
				t.Errorf("a plain installation changes %d files, %v", len(plain.Edits), err)
			}
			remove, err := h.client(tc.provider).Remove(records)
			if err != nil {
				t.Fatal(err)
			}
			h.apply(remove)
			if diff := cmp.Diff(before, h.files()); diff != "" {
				t.Errorf("after the removal: %s", diff)
			}
		})
	}
}

// TestBuild_dropsWhatNobodyNeedsAnyMore and nothing else: the entries that every
// installation has keep their bytes, and so Codex's trust.
func TestBuild_dropsWhatNobodyNeedsAnyMore(t *testing.T) {
	for _, tc := range homes {
		t.Run(tc.name, func(t *testing.T) {
			plain := newHome(t, "[redact]\n")
			plain.write(tc.file, tc.text)
			plain.apply(plain.plan(tc.provider))
			want := plain.files()

			h := newHome(t, book)
			h.write(tc.file, tc.text)
			h.apply(h.plan(tc.provider))
			h.write(h.dirs.Rules(), "[redact]\n")
			h.apply(h.plan(tc.provider))
			got := h.files()
			for name, text := range want {
				if strings.Contains(name, "lidguard-backup") {
					continue
				}
				if diff := cmp.Diff(text, got[name]); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		})
	}
}

// TestBuild_trustGoesWithItsHook: what a person trusted in Codex for an entry that is
// dropped is dropped as well, so that the way back ends where it began; the trust of
// the others holds.
func TestBuild_trustGoesWithItsHook(t *testing.T) {
	for _, tc := range homes[1:3] {
		t.Run(tc.name, func(t *testing.T) {
			h := newHome(t, book)
			h.write(tc.file, tc.text)
			before := h.files()
			h.apply(h.plan(event.Codex))
			records, err := h.store.Load()
			if err != nil {
				t.Fatal(err)
			}
			trust, err := codex.New("linux", func(string) string { return "" }, h.dir).Trust(records)
			if err != nil {
				t.Fatal(err)
			}
			h.apply(trust)
			trusted := h.files()["/.codex/config.toml"]
			if !strings.Contains(trusted, ":pre_model_request:") {
				t.Fatalf("nothing to drop in %s", trusted)
			}
			h.write(h.dirs.Rules(), "[redact]\n")
			h.apply(h.plan(event.Codex))
			if config := h.files()["/.codex/config.toml"]; strings.Contains(config, ":pre_model_request:") || strings.Count(config, "trusted_hash") != strings.Count(trusted, "trusted_hash")-1 {
				t.Errorf("after the build the trust is %s", config)
			}
			for _, hook := range h.client(event.Codex).Status(h.program).Hooks {
				if hook.State != install.Installed {
					t.Errorf("%s is %s", hook.Event, hook.State)
				}
			}
			if records, err = h.store.Load(); err != nil {
				t.Fatal(err)
			}
			remove, err := h.client(event.Codex).Remove(records)
			if err != nil {
				t.Fatal(err)
			}
			h.apply(remove)
			after := h.files()
			for name := range after {
				if strings.Contains(name, "lidguard-backup") {
					delete(after, name) // dated copies of files that changed more than once stay
				}
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("after the removal: %s", diff)
			}
		})
	}
}

// TestBuild_refusesABrokenFile with the place, and leaves it alone.
func TestBuild_refusesABrokenFile(t *testing.T) {
	for _, tc := range []struct {
		provider    event.Provider
		file, text  string
		line, where string
	}{
		{event.Claude, ".claude/settings.json", "{\n  // mine\n}\n", "line 2", "column 3"},
		{event.Codex, ".codex/hooks.json", "{\"hooks\": {}\n", "line 2", "column 1"},
		{event.Copilot, ".copilot/hooks/" + copilot.FileName, "{\"version\": 1,}\n", "line 1", "column 14"},
	} {
		t.Run(string(tc.provider), func(t *testing.T) {
			h := newHome(t, book)
			h.write(tc.file, tc.text)
			before := h.files()
			plan, err := h.source("", false).Listening(h.client(tc.provider)).Install(h.program, install.Records{})
			if err == nil || !strings.Contains(err.Error(), tc.line) || !strings.Contains(err.Error(), tc.where) {
				t.Errorf("it says %v, want %s, %s", err, tc.line, tc.where)
			}
			for _, e := range plan.Edits {
				if strings.HasSuffix(e.Path, filepath.Base(tc.file)) {
					t.Errorf("it plans to change %s", e.Path)
				}
			}
			if diff := cmp.Diff(before, h.files()); diff != "" {
				t.Error(diff)
			}
		})
	}
	h := newHome(t, "[redact]\ncolour = \"red\"\n")
	if _, err := Load(h.dirs, "", false); err == nil || !strings.Contains(err.Error(), "rules.toml:2:1") {
		t.Errorf("a broken rulebook is %v", err)
	}
}

// TestLoad_projects: what a trusted project needs is listened to everywhere, what an
// untrusted one says is reported where that is asked for, and only what may tighten.
func TestLoad_projects(t *testing.T) {
	h := newHome(t, "")
	project := filepath.Join(h.dir, "src", "p")
	path := filepath.Join(project, filepath.FromSlash(rulebook.ProjectBook))
	h.write(path, "[[handler]]\nname = \"follow\"\ncommand = [\"true\"]\nevents = [\"FileChanged\"]\n\n[[rule]]\nid = \"mine\"\ntool = \"Bash\"\ndecision = \"ask\"\n")
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	names := func(s Source) (list []string) {
		for _, i := range s.Items {
			list = append(list, i.Name)
		}
		return list
	}
	if got := names(h.source(project, false)); got != nil {
		t.Errorf("without --project it reports on %q", got)
	}
	s := h.source(project, true)
	if got := names(s); !slices.Equal(got, []string{"rule mine (project)"}) {
		t.Errorf("untrusted it reports on %q", got)
	}
	if got := Named(event.Claude, s.needed); len(got) > 0 {
		t.Errorf("untrusted it listens to %q", got)
	}
	trust, err := rulebook.LoadTrust(h.dirs)
	if err != nil {
		t.Fatal(err)
	}
	f, err := rulebook.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Add(f, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	s = h.source("", false)
	if got := Named(event.Claude, s.needed); !slices.Equal(got, []event.Name{event.FileChanged}) {
		t.Errorf("trusted it listens to %q", got)
	}
	if got := names(h.source(project, true)); !slices.Equal(got, []string{"rule mine", "handler follow"}) {
		t.Errorf("trusted it reports on %q", got)
	}
}

// TestReport_tellsWhoLosesWhat for one rulebook, client by client.
func TestReport_tellsWhoLosesWhat(t *testing.T) {
	h := newHome(t, book)
	s := h.source("", false)
	var all strings.Builder
	for _, p := range []event.Provider{event.Claude, event.Codex, event.Copilot, event.OpenCode} {
		all.WriteString(string(p) + "\n")
		for _, l := range Report(p, s.Items) {
			all.WriteString("  " + l.String() + "\n")
		}
	}
	golden(t, "report.txt", all.String())
	if strings.Contains(all.String(), "follow: what is typed") {
		t.Error("a handler that judges no call loses what is typed into a shell")
	}
}

// TestReport_auditAndObserversLoseNothing: they say nothing, so nothing is lost but
// calls that never come.
func TestReport_auditAndObserversLoseNothing(t *testing.T) {
	h := newHome(t, "[packs]\ngate = \"audit\"\nredact = \"audit\"\nuntil = \"off\"\n\n[[until]]\nid = \"x\"\ntoken = \"X\"\n\n"+
		"[[handler]]\nname = \"w\"\ncommand = [\"true\"]\nevents = [\"SessionStart\", \"Setup\"]\nrole = \"observer\"\n")
	for _, p := range []event.Provider{event.Claude, event.Codex, event.Copilot, event.OpenCode} {
		got := Report(p, h.source("", false).Items)
		want := 0
		if p != event.Claude {
			want = 1 // Setup is Claude Code's
		}
		if len(got) != want || want == 1 && got[0].Event != "Setup" {
			t.Errorf("%s: %v", p, got)
		}
	}
}

// TestItems_coverEveryPack: a new pack has to say here what it says.
func TestItems_coverEveryPack(t *testing.T) {
	var rows entry.Rules
	for _, name := range entry.PackNames() {
		known := itemsOf(name, &rows) != nil
		if listed := slices.Contains([]string{"rule", "approve", "handler", "until", "check"}, name); known == listed {
			t.Errorf("%s without a row has items: %v", name, known)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (go test ./internal/build -update): %s", name, diff)
	}
}
