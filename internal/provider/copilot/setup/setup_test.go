package setup_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
)

func noEnv(string) string { return "" }

// bench is one person's home with a Copilot CLI and a project in it.
type bench struct {
	t             *testing.T
	home, project string
	setup         setup.Setup
	program       install.Program
	store         install.Store
}

func newBench(t *testing.T) *bench {
	t.Helper()
	home := t.TempDir()
	b := &bench{t: t, home: home, project: filepath.Join(home, "work", "project"), store: install.Store{Path: filepath.Join(home, "state", "installed.json")}}
	b.setup = setup.New("linux", noEnv, home, b.project)
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
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
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

func (b *bench) apply(plan install.Plan, err error) int {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	done, err := plan.Apply(context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(done)
}

func (b *bench) records() install.Records {
	b.t.Helper()
	records, err := b.store.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	return records
}

func (b *bench) install() int { b.t.Helper(); return b.apply(b.setup.Install(b.program, b.records())) }
func (b *bench) remove() int  { b.t.Helper(); return b.apply(b.setup.Remove(b.records())) }

func (b *bench) state() install.State { return b.setup.Status(b.program).State }

// left lists the files below the client's folder.
func (b *bench) left() []string {
	var out []string
	_ = filepath.Walk(b.setup.Root, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && !strings.HasSuffix(path, ".lock") {
			out = append(out, path)
		}
		return nil
	})
	return out
}

func TestInstallRemove_freshHome(t *testing.T) {
	b := newBench(t)
	if b.setup.Present() || b.state() != install.Missing {
		t.Errorf("before: present %v, %s", b.setup.Present(), b.state())
	}
	if n := b.install(); n != 1 || b.state() != install.Installed {
		t.Errorf("installed %d files, state %s", n, b.state())
	}
	if n := b.install(); n != 0 {
		t.Errorf("a second installation changed %d files", n)
	}
	b.remove()
	if left := b.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if n := b.remove(); n != 0 {
		t.Errorf("a second removal changed %d files", n)
	}
}

func TestRemove_withoutTheRecord(t *testing.T) {
	b := newBench(t)
	b.install()
	if err := os.Remove(b.store.Path); err != nil {
		t.Fatal(err)
	}
	b.remove()
	// Whether somebody had a file there is not known any more: a copy stays.
	if left := b.left(); len(left) != 1 || !strings.Contains(left[0], ".json.lidguard-backup-") {
		t.Errorf("left behind: %v", left)
	}
}

func TestRemove_keepsWhatOthersPutIntoOurFile(t *testing.T) {
	b := newBench(t)
	b.install()
	text := b.read(b.setup.File)
	b.write(b.setup.File, strings.Replace(text, `"hooks": {`, `"hooks": {
    "agentStop ": [],`, 1))
	b.remove()
	if got := b.read(b.setup.File); !strings.Contains(got, `"agentStop "`) || strings.Contains(got, "lidguard") {
		t.Errorf("got %s", got)
	}
}

func TestInstall_movesEntriesFromOtherFiles(t *testing.T) {
	entry := `{"type": "command", "bash": "/old/lidguard copilot-hook --event agentStop", "timeoutSec": 30}`
	foreign := `{"type": "command", "bash": "tool", "timeoutSec": 5}`
	for _, c := range []struct{ name, file, before, after string }{
		{"under the old name", "hooks/lidguard-copilot-cli.json", `{"version": 1, "hooks": {"agentStop": [` + entry + `]}}`, ""},
		{"beside foreign ones", "hooks/mine.json", `{"version": 1, "hooks": {"sessionEnd": [` + entry + `, ` + foreign + `]}}`, `{"version": 1, "hooks": {"sessionEnd": [` + foreign + `]}}`},
		{"in the settings, with comments", "settings.json", "{\n  // mine\n  \"hooks\": {\"sessionEnd\": [" + entry + "]},\n  \"theme\": 1\n}", "{\n  // mine\n  \"theme\": 1\n}"},
		{"in a subfolder", "hooks/sub/x.json", `{"a": 1, "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [` + entry + `, ` + foreign + `]}]}}`, `{"a": 1, "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [` + foreign + `]}]}}`},
	} {
		b := newBench(t)
		path := filepath.Join(b.setup.Root, filepath.FromSlash(c.file))
		b.write(path, c.before)
		if b.state() != install.NeedsUpdate {
			t.Errorf("%s: state %s before", c.name, b.state())
		}
		b.install()
		if got := b.read(path); got != c.after {
			t.Errorf("%s: the other file is %s", c.name, got)
		}
		if b.state() != install.Installed {
			t.Errorf("%s: state %s after: %+v", c.name, b.state(), b.setup.Status(b.program))
		}
	}
}

func TestInstall_bringsOldEntriesUpToDate(t *testing.T) {
	for _, c := range []struct{ name, entry string }{
		{"an old path", `{"type": "command", "command": "/old/lidguard copilot-hook --event agentStop", "timeoutSec": 30}`},
		{"the exec form, which cannot be guarded", `{"type": "command", "exec": "/old/lidguard", "args": ["copilot-hook", "--event", "agentStop"], "timeoutSec": 30}`},
		{"in bash", `{"type": "command", "bash": "lidguard copilot-hook --event agentStop", "timeoutSec": 30}`},
		{"without a timeout", `{"type": "command", "command": "lidguard copilot-hook --event agentStop"}`},
		{"with a matcher that lets nothing through", `{"type": "command", "matcher": "*", "command": "lidguard copilot-hook --event agentStop", "timeoutSec": 30}`},
		{"twice", `{"type": "command", "command": "lidguard copilot-hook --event agentStop", "timeoutSec": 30}, {"command": "lidguard copilot-hook --event agentStop"}`},
		{"nested", `{"hooks": [{"type": "command", "command": "lidguard copilot-hook --event agentStop", "timeoutSec": 30}]}`},
	} {
		b := newBench(t)
		b.write(b.setup.File, `{"version": 1, "hooks": {"agentStop": [`+c.entry+`], "userPromptTransformed": [`+c.entry+`]}}`)
		if b.state() != install.NeedsUpdate {
			t.Errorf("%s: state %s before", c.name, b.state())
		}
		b.install()
		if r := b.setup.Status(b.program); r.State != install.Installed || strings.Count(b.read(b.setup.File), "--event agentStop") != 1 {
			t.Errorf("%s: %s\n%s", c.name, r.State, b.read(b.setup.File))
		}
	}
}

func TestInstall_refusesBrokenFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a comment keeps the client from loading it", "{\n  // mine\n}", "line 2, column 3"},
		{"cut off", "{\n\"hooks\": {", "line 2"},
		{"hooks is no object", "{\n \"hooks\": []}", "line 2, column 2"},
		{"an event is no array", "{\"hooks\": {\n\t\"agentStop\": {}}}", "line 2, column 2"},
	} {
		b := newBench(t)
		b.write(b.setup.File, c.text)
		if _, err := b.setup.Install(b.program, install.Records{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: install says %v, want %s", c.name, err, c.want)
		}
		if _, err := b.setup.Remove(install.Records{}); err == nil {
			t.Errorf("%s: removal did not refuse", c.name)
		}
		if b.read(b.setup.File) != c.text {
			t.Errorf("%s: the file was touched", c.name)
		}
		if r := b.setup.Status(b.program); r.State != install.Unreadable || len(r.Problems) != 1 {
			t.Errorf("%s: status %s %v", c.name, r.State, r.Problems)
		}
	}
}

func TestInstall_readOnlyFile(t *testing.T) {
	b := newBench(t)
	b.write(b.setup.File, `{}`)
	if err := os.Chmod(b.setup.File, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := b.setup.Install(b.program, install.Records{}); !errors.Is(err, install.ErrReadOnly) {
		t.Errorf("got %v", err)
	}
}

func TestStatus_problems(t *testing.T) {
	stop := `{"hooks": {"agentStop": [{"command": "go on"}]}}`
	ask := `{"hooks": {"permissionRequest": [{"command": "decide"}]}}`
	for _, c := range []struct {
		name, file, text string
		state            install.State
		codes            []string
	}{
		{"a foreign agentStop hook", "~/hooks/other.json", stop, install.Conflicts, []string{install.ForeignStopHooks}},
		{"in PascalCase and nested", "~/hooks/other.json", `{"hooks": {"Stop": [{"hooks": [{"command": "go on"}]}]}}`, install.Conflicts, []string{install.ForeignStopHooks}},
		{"in the person's settings", "~/settings.json", stop, install.Conflicts, []string{install.ForeignStopHooks}},
		{"in the repository", "./.github/hooks/x.json", stop, install.Conflicts, []string{install.ForeignStopHooks}},
		{"in the repository's settings", "./.github/copilot/settings.json", stop, install.Conflicts, []string{install.ForeignStopHooks}},
		{"in the project's settings for Claude Code", "./.claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"command": "go on"}]}]}}`, install.Conflicts, []string{install.ForeignStopHooks}},
		{"lidguard's own hook for Claude Code is none", "./.claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"command": "lidguard claude-hook"}]}]}}`, install.Installed, nil},
		{"a permission hook that runs before ours", "~/hooks/other.json", ask, install.Installed, nil},
		{"one that has the last word by its name", "~/hooks/0-first.json", ask, install.Conflicts, []string{install.ForeignPermission}},
		{"one that has it since settings come later", "~/settings.json", ask, install.Conflicts, []string{install.ForeignPermission}},
		{"one of the project", "./.github/hooks/z.json", ask, install.Conflicts, []string{install.ForeignPermission}},
		{"hooks off in our file's own folder mate", "~/hooks/other.json", `{"disableAllHooks": true}`, install.Installed, nil},
		{"hooks off in the person's settings, which is only for that file", "~/settings.json", `{"disableAllHooks": true}`, install.Installed, nil},
		{"hooks off in the project", "./.claude/settings.json", `{"disableAllHooks": true}`, install.Off, []string{install.HooksOff}},
		{"hooks off in the repository", "./.github/copilot/settings.json", `{"disableAllHooks": true}`, install.Off, []string{install.HooksOff}},
		{"the client's own keep-awake", "~/settings.json", "{\"keepAlive\": \"busy\" /* x */}", install.Installed, []string{install.KeepAwakeTwice}},
		{"which is off", "~/settings.json", `{"keepAlive": "off"}`, install.Installed, nil},
		{"a broken hook file of the person's", "~/hooks/other.json", `{`, install.Installed, []string{install.HookFileBroken}},
	} {
		b := newBench(t)
		b.install()
		root := b.setup.Root
		if strings.HasPrefix(c.file, ".") {
			root = b.project
		}
		b.write(filepath.Join(root, filepath.FromSlash(c.file[2:])), c.text)
		r := b.setup.Status(b.program)
		var codes []string
		for _, p := range r.Problems {
			codes = append(codes, p.Code)
			if p.Remedy == "" {
				t.Errorf("%s: no remedy for %s", c.name, p.Text)
			}
		}
		if r.State != c.state || !slices.Equal(codes, c.codes) {
			t.Errorf("%s: %s %v, want %s %v\n%+v", c.name, r.State, codes, c.state, c.codes, r.Problems)
		}
		b.install()
		if b.state() != c.state {
			t.Errorf("%s: another installation makes it %s", c.name, b.state())
		}
	}
}

func TestStatus_ourFileSwitchedOff(t *testing.T) {
	b := newBench(t)
	b.write(b.setup.File, `{"disableAllHooks": true}`)
	b.install()
	if b.state() != install.Off {
		t.Errorf("state %s", b.state())
	}
}

func TestStatus_projectIsTheRepositoryAround(t *testing.T) {
	b := newBench(t)
	b.install()
	b.write(filepath.Join(b.project, ".git", "HEAD"), "x")
	b.write(filepath.Join(b.project, ".github", "hooks", "x.json"), `{"hooks": {"agentStop": [{"command": "x"}]}}`)
	deep := filepath.Join(b.project, "a", "b")
	for dir, want := range map[string]install.State{deep: install.Conflicts, b.home: install.Installed, "": install.Installed} {
		if r := setup.New("linux", noEnv, b.home, dir).Status(b.program); r.State != want {
			t.Errorf("from %q: %s, want %s", dir, r.State, want)
		}
	}
}

func TestNew_places(t *testing.T) {
	s := setup.New("linux", func(name string) string {
		if name == "COPILOT_HOME" {
			return "/etc/copilot"
		}
		return ""
	}, "/home/dev", "")
	if want := filepath.Join("/etc/copilot", "hooks", setup.FileName); s.File != want {
		t.Errorf("with COPILOT_HOME: %s", s.File)
	}
}

// TestFile_hasTheLastWord: the client runs hook files in descending order, so ours
// must sort before the names that people give.
func TestFile_hasTheLastWord(t *testing.T) {
	for _, name := range []string{"hooks.json", "01-first.json", "zz.json", "Audit.json", "000.json", "0-first.json"} {
		if last := setup.FileName < name; last != (name != "0-first.json") {
			t.Errorf("%s: ours runs last: %v", name, last)
		}
	}
}

// TestSnippet is what the seed's list of events asks for, to the letter.
func TestSnippet(t *testing.T) {
	b := newBench(t)
	text, err := b.setup.Snippet(b.at("/usr/bin/lidguard-hook"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version int
		Hooks   map[string][]struct {
			Type, Command, Matcher string
			TimeoutSec             int
		}
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Version != 1 {
		t.Fatalf("%v, version %d", err, got.Version)
	}
	for _, name := range []string{"sessionStart", "sessionEnd", "userPromptSubmitted", "preToolUse", "postToolUse", "permissionRequest",
		"agentStop", "subagentStart", "subagentStop", "errorOccurred", "notification"} {
		list := got.Hooks[name]
		if len(list) != 1 {
			t.Fatalf("%s has %d entries", name, len(list))
		}
		want := "[ -x /usr/bin/lidguard-hook ] || exit 0; exec /usr/bin/lidguard-hook copilot-hook --event " + name
		if e := list[0]; e.Type != "command" || e.Command != want || e.TimeoutSec == 0 || (e.Matcher != "") != (name == "notification") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if diff := cmp.Diff("permission_prompt|elicitation_dialog|shell_completed|shell_detached_completed|agent_completed|agent_idle", got.Hooks["notification"][0].Matcher); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(string(text), "{\n  \"version\": 1,\n") || !strings.HasSuffix(string(text), "}\n") {
		t.Errorf("laid out as %s", text)
	}
}

func TestWindows_usesPowerShell(t *testing.T) {
	s := setup.New("windows", noEnv, t.TempDir(), "")
	p, err := install.FindProgram("windows", noEnv, `C:\Tools\lidguard.exe`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Snippet(p)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `if (Test-Path -LiteralPath 'C:/Tools/lidguard.exe')`); n != len(setup.Hooks()) || strings.Contains(string(text), `"command":`) {
		t.Errorf("%d PowerShell entries in %s", n, text)
	}
}

// TestInstalledCommand_isSilentWithoutTheProgram runs what was written after the
// program was deleted: a failing hook would refuse every call.
func TestInstalledCommand_isSilentWithoutTheProgram(t *testing.T) {
	b := newBench(t)
	b.install()
	for _, h := range b.setup.Status(b.program).Hooks {
		if out, err := exec.Command("/bin/sh", "-c", h.Command).CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%s: %v %s", h.Event, err, out)
		}
	}
}
