package setup_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/provider/claude/setup"
)

// bench is one person's home with a Claude Code in it.
type bench struct {
	t       *testing.T
	home    string
	setup   setup.Setup
	program install.Program
	store   install.Store
}

func newBench(t *testing.T) *bench {
	t.Helper()
	home := t.TempDir()
	b := &bench{t: t, home: home, setup: setup.New("linux", noEnv, home), store: install.Store{Path: filepath.Join(home, "state", "installed.json")}}
	// A test that would touch the person's own files must not run at all.
	if own, err := os.UserHomeDir(); err == nil && strings.HasPrefix(b.setup.File, filepath.Join(own, ".claude")) {
		t.Fatalf("%s is the real home", b.setup.File)
	}
	b.program = b.at(filepath.Join(home, "bin", "lidguard"))
	return b
}

func noEnv(string) string { return "" }

var update = flag.Bool("update", false, "rewrite golden files")

func (b *bench) at(path string) install.Program {
	b.t.Helper()
	p, err := install.FindProgram("linux", noEnv, path)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) write(text string) {
	b.t.Helper()
	if err := os.MkdirAll(b.setup.Root, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.setup.File, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read() string {
	b.t.Helper()
	data, err := os.ReadFile(b.setup.File)
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return string(data)
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (b *bench) install() (changed int) {
	b.t.Helper()
	records, err := b.store.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	plan, err := b.setup.Install(b.program, records)
	if err != nil {
		b.t.Fatal(err)
	}
	done, err := plan.Apply(context.Background(), now, b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(done)
}

func (b *bench) remove() {
	b.t.Helper()
	records, err := b.store.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	plan, err := b.setup.Remove(records)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := plan.Apply(context.Background(), now, b.store); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) state() install.State { return b.setup.Status(b.program).State }

// TestInstallRemove_onDisk is the promise of the installer, with backups, records
// and all; TestLaw_removeUndoesInstall makes it over many more files in memory.
func TestInstallRemove_onDisk(t *testing.T) {
	for seed := range uint64(4) {
		before := setup.RandomSettings(rand.New(rand.NewPCG(seed, 1)))
		b := newBench(t)
		b.write(before)
		if b.install() != 1 {
			t.Fatalf("seed %d: nothing was installed", seed)
		}
		after := b.read()
		if !json.Valid([]byte(strings.TrimPrefix(after, "\xef\xbb\xbf"))) {
			t.Fatalf("seed %d: not JSON any more:\n%s", seed, after)
		}
		if state := b.state(); state != install.Installed {
			t.Fatalf("seed %d: state %s", seed, state)
		}
		if b.install() != 0 || b.read() != after {
			t.Fatalf("seed %d: a second installation changed something", seed)
		}
		b.remove()
		if got := b.read(); got != before {
			t.Fatalf("seed %d: removal left a difference:\n%s", seed, confedit.Diff([]byte(before), []byte(got), "settings"))
		}
		if state := b.state(); state != install.Missing {
			t.Fatalf("seed %d: state %s after removal", seed, state)
		}
	}
}

// TestRemove_keepsEditsOfOthers: entries are taken out one by one where somebody
// edited the file in between, and the rest of it stays.
func TestRemove_keepsEditsOfOthers(t *testing.T) {
	for seed := range uint64(4) {
		b := newBench(t)
		before := setup.RandomSettings(rand.New(rand.NewPCG(seed, 2)))
		b.write(before)
		b.install()
		d, err := confedit.ParseJSON([]byte(b.read()), confedit.Strict)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Set(confedit.Path{"added by somebody"}, 1); err != nil {
			t.Fatal(err)
		}
		b.write(string(d.Bytes()))
		b.remove()
		got := b.read()
		if strings.Contains(got, "lidguard") || !strings.Contains(got, `"added by somebody": 1`) && !strings.Contains(got, `"added by somebody":1`) {
			t.Fatalf("seed %d:\n%s", seed, got)
		}
		if diff := cmp.Diff(meaning(t, before), meaning(t, got)); diff != "" {
			t.Fatalf("seed %d: the rest of the file changed its meaning: %s", seed, diff)
		}
	}
}

// meaning is the file as a value, without what the test itself added.
func meaning(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\xef\xbb\xbf")), &v); err != nil {
		t.Fatal(err)
	}
	delete(v, "added by somebody")
	return v
}

// TestForeignHooks_survive: 49 hooks and 16 other keys, as in reports against
// other installers that replaced the file.
func TestForeignHooks_survive(t *testing.T) {
	doc := map[string]any{}
	for i := range 16 {
		doc[fmt.Sprintf("key%02d", i)] = map[string]any{"n": i}
	}
	events := map[string]any{}
	for i := range 49 {
		name := []string{"PreToolUse", "PostToolUse", "Stop", "SessionStart", "Notification"}[i%5]
		list, _ := events[name].([]any)
		events[name] = append(list, map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": fmt.Sprintf("foreign-%02d", i)}}})
	}
	doc["hooks"] = events
	before, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.write(string(before))
	b.install()
	after := b.read()
	for i := range 49 {
		if strings.Count(after, fmt.Sprintf("foreign-%02d", i)) != 1 {
			t.Errorf("foreign hook %d is gone", i)
		}
	}
	b.remove()
	if b.read() != string(before) {
		t.Error("removal is not byte-identical")
	}
}

func TestInstall_refusesBrokenFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a comment drops the whole file in the client", "{\n  // mine\n  \"model\": \"opus\"\n}", "line 2, column 3"},
		{"a trailing comma", `{"model": "opus",}`, "line 1, column 17"},
		{"cut off", "{\n\"hooks\": {", "line 2"},
		{"a list", `[]`, "line 1, column 1"},
		{"hooks is no object", "{\n \"hooks\": []}", "line 2, column 2"},
		{"an event is no array", "{\"hooks\": {\n\t\"Stop\": {}}}", "line 2, column 2"},
		{"not UTF-8", "{\"a\": \"\xff\"}", "line 1"},
	} {
		b := newBench(t)
		b.write(c.text)
		_, err := b.setup.Install(b.program, install.Records{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "settings.json") {
			t.Errorf("%s: got %v, want the file and %s", c.name, err, c.want)
		}
		if _, err := b.setup.Remove(install.Records{}); err == nil {
			t.Errorf("%s: removal did not refuse", c.name)
		}
		if b.read() != c.text {
			t.Errorf("%s: the file was touched", c.name)
		}
		r := b.setup.Status(b.program)
		if r.State != install.Unreadable || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, c.want) {
			t.Errorf("%s: status %s %v", c.name, r.State, r.Problems)
		}
	}
}

func TestInstall_freshHome(t *testing.T) {
	b := newBench(t)
	if b.setup.Present() {
		t.Error("a client that was never used is present")
	}
	b.install()
	if b.state() != install.Installed {
		t.Errorf("state %s", b.state())
	}
	b.remove()
	if _, err := os.Stat(b.setup.Root); !os.IsNotExist(err) {
		t.Errorf("the folder that the installation made is still there: %v", err)
	}
}

func TestInstall_throughSymlinks(t *testing.T) {
	b := newBench(t)
	real := filepath.Join(b.home, "dotfiles", "claude.json")
	if err := os.MkdirAll(filepath.Dir(real), 0o755); err != nil {
		t.Fatal(err)
	}
	before := `{"model": "opus"}`
	if err := os.WriteFile(real, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(b.setup.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "dotfiles", "claude.json"), b.setup.File); err != nil {
		t.Fatal(err)
	}
	b.install()
	if info, err := os.Lstat(b.setup.File); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the target's mode changed: %v %v", info.Mode(), err)
	}
	b.remove()
	if got, _ := os.ReadFile(real); string(got) != before {
		t.Errorf("the target holds %s", got)
	}
}

func TestInstall_readOnlyFile(t *testing.T) {
	b := newBench(t)
	b.write(`{}`)
	if err := os.Chmod(b.setup.File, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := b.setup.Install(b.program, install.Records{}); !errors.Is(err, install.ErrReadOnly) {
		t.Errorf("got %v", err)
	}
}

// TestInstall_bringsOldEntriesUpToDate: every form an earlier version, or a
// person, may have left becomes the one of this version, once, where it stood.
func TestInstall_bringsOldEntriesUpToDate(t *testing.T) {
	for _, c := range []struct {
		name, stop string
		group      int // where the entry is afterwards
	}{
		{"an old path", `[{"hooks": [{"type": "command", "command": "/old/lidguard claude-hook", "timeout": 30}]}, {"hooks": [{"type": "command", "command": "x"}]}]`, 0},
		{"an old timeout", `[{"hooks": [{"type": "command", "command": "[ -x HOME/bin/lidguard ] || exit 0; exec HOME/bin/lidguard claude-hook", "timeout": 600}]}]`, 0},
		{"the exec form", `[{"hooks": [{"type": "command", "command": "/old/lidguard", "args": ["claude-hook"], "timeout": 30}]}]`, 0},
		{"twice", `[{"hooks": [{"type": "command", "command": "lidguard claude-hook"}]}, {"hooks": [{"type": "command", "command": "x"}, {"type": "command", "command": "lidguard  claude-hook"}]}]`, 0},
		{"in a group with a matcher", `[{"matcher": "Bash", "hooks": [{"type": "command", "command": "lidguard claude-hook"}, {"type": "command", "command": "x"}]}]`, 1},
		{"async", `[{"hooks": [{"type": "command", "command": "lidguard claude-hook", "async": true}]}]`, 0},
		{"with a key of somebody's", `[{"hooks": [{"type": "command", "statusMessage": "kept", "command": "lidguard claude-hook"}]}]`, 0},
	} {
		b := newBench(t)
		b.write(strings.ReplaceAll(`{"hooks": {"Stop": `+c.stop+`}}`, "HOME", b.home))
		if r := b.setup.Status(b.program); r.State != install.NeedsUpdate {
			t.Errorf("%s: state %s before", c.name, r.State)
		}
		b.install()
		var got struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []struct {
					Command, StatusMessage string
					Timeout                int
					Async                  bool
				}
			}
		}
		if err := json.Unmarshal([]byte(b.read()), &got); err != nil {
			t.Fatal(err)
		}
		var at []int
		for g, group := range got.Hooks["Stop"] {
			for _, h := range group.Hooks {
				if install.Calls(h.Command, setup.Entry) {
					at = append(at, g)
					if h.Command != b.program.Command(setup.Entry) || h.Timeout != 30 || h.Async || group.Matcher != "" {
						t.Errorf("%s: %+v", c.name, h)
					}
				}
			}
		}
		if diff := cmp.Diff([]int{c.group}, at); diff != "" {
			t.Errorf("%s: entries in groups %v\n%s", c.name, at, b.read())
		}
		if strings.Contains(c.stop, `"x"`) != strings.Contains(b.read(), `"x"`) || strings.Contains(c.stop, "kept") != strings.Contains(b.read(), "kept") {
			t.Errorf("%s: something foreign is gone:\n%s", c.name, b.read())
		}
		if b.state() != install.Installed {
			t.Errorf("%s: state %s after", c.name, b.state())
		}
	}
}

// TestInstall_wakeEntry: whatever stands under its name becomes the one entry, beside
// the one of every event, and goes where nobody asks for it.
func TestInstall_wakeEntry(t *testing.T) {
	for _, c := range []struct{ name, groups string }{
		{"nothing", ``},
		{"waited for", `{"matcher": "Edit|MultiEdit|NotebookEdit|Write", "hooks": [{"type": "command", "command": "lidguard claude-wake", "timeout": 1900}]}`},
		{"for every call", `{"hooks": [{"type": "command", "command": "lidguard claude-wake", "asyncRewake": true}, {"type": "command", "command": "x"}]}`},
		{"twice", `{"matcher": "Write", "hooks": [{"type": "command", "command": "/old/lidguard", "args": ["claude-wake"]}]}, {"matcher": "Edit", "hooks": [{"type": "command", "command": "lidguard claude-wake"}]}`},
		{"never returning", `{"matcher": "Edit|MultiEdit|NotebookEdit|Write", "hooks": [{"type": "command", "command": "lidguard claude-wake", "asyncRewake": true, "async": true}]}`},
		{"the other one is async", `{"hooks": [{"type": "command", "command": "lidguard claude-hook", "asyncRewake": true}]}`},
	} {
		b := newBench(t)
		b.write(`{"hooks": {"PostToolUse": [` + c.groups + `]}}`)
		plain := b.setup
		b.setup = plain.Wake()
		if r := b.setup.Status(b.program); r.State != install.NeedsUpdate && r.State != install.Missing {
			t.Errorf("%s: state %s before", c.name, r.State)
		}
		b.install()
		if r := b.setup.Status(b.program); r.State != install.Installed || len(r.Hooks) != len(setup.Hooks())+1 {
			t.Errorf("%s: state %s of %d hooks after", c.name, r.State, len(r.Hooks))
		}
		var got struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []map[string]any
			}
		}
		if err := json.Unmarshal([]byte(b.read()), &got); err != nil {
			t.Fatal(err)
		}
		var ours []string
		for _, g := range got.Hooks["PostToolUse"] {
			for _, h := range g.Hooks {
				if h["command"] != "x" {
					ours = append(ours, fmt.Sprint(g.Matcher, " ", strings.HasSuffix(fmt.Sprint(h["command"]), setup.WakeEntry), " ", h["asyncRewake"], " ", h["async"], " ", h["timeout"]))
				}
			}
		}
		slices.Sort(ours)
		if diff := cmp.Diff([]string{" false <nil> <nil> 30", "Edit|MultiEdit|NotebookEdit|Write true true <nil> 1900"}, ours); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		b.setup = plain.Listen(nil)
		if b.state() != install.NeedsUpdate || b.install() != 1 || b.state() != install.Installed || strings.Contains(b.read(), setup.WakeEntry) {
			t.Errorf("%s: it does not go:\n%s", c.name, b.read())
		}
	}
}

func TestInstall_dropsEventsNoLongerUsed(t *testing.T) {
	b := newBench(t)
	b.write(`{"hooks": {"MessageDisplay": [{"hooks": [{"type": "command", "command": "lidguard claude-hook"}]}]}}`)
	b.install()
	r := b.setup.Status(b.program)
	if r.State != install.Installed || strings.Contains(b.read(), "lidguard claude-hook\"}") {
		t.Errorf("state %s\n%s", r.State, b.read())
	}
}

func TestRemove_worksWithoutProgramAndRecord(t *testing.T) {
	b := newBench(t)
	before := "{\n  \"model\": \"opus\"\n}\n"
	b.write(before)
	b.install()
	if err := os.RemoveAll(filepath.Dir(b.store.Path)); err != nil {
		t.Fatal(err)
	}
	b.remove()
	if got := b.read(); got != before {
		t.Errorf("got %s", confedit.Diff([]byte(before), []byte(got), "settings"))
	}
}

func TestStatus_afterTheProgramMoved(t *testing.T) {
	b := newBench(t)
	b.install()
	b.program = b.at(filepath.Join(b.home, "elsewhere", "lidguard"))
	r := b.setup.Status(b.program)
	if r.State != install.NeedsUpdate || r.Hooks[0].Detail != "another command line" {
		t.Errorf("state %s, %+v", r.State, r.Hooks[0])
	}
	b.install()
	if b.state() != install.Installed {
		t.Errorf("state %s", b.state())
	}
}

func TestStatus_problems(t *testing.T) {
	for _, c := range []struct {
		name, text string
		state      install.State
		code       string
	}{
		{"hooks are off", `{"disableAllHooks": true}`, install.Off, install.HooksOff},
		{"a prompt hook", `{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}`, install.Conflicts, install.PromptHooks},
		{"an agent hook", `{"hooks": {"Stop": [{"hooks": [{"type": "agent", "prompt": "x"}]}]}}`, install.Conflicts, install.PromptHooks},
		{"a badly typed permission", `{"permissions": {"allow": "Bash"}}`, install.Unreadable, install.HookFileBroken},
	} {
		b := newBench(t)
		b.write(c.text)
		b.install()
		r := b.setup.Status(b.program)
		if r.State != c.state || len(r.Problems) != 1 || r.Problems[0].Code != c.code || r.Problems[0].Remedy == "" {
			t.Errorf("%s: %s %+v", c.name, r.State, r.Problems)
		}
	}
}

func TestNew_places(t *testing.T) {
	s := setup.New("linux", func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return "/etc/claude"
		}
		return ""
	}, "/home/dev")
	if s.File != filepath.Join("/etc/claude", "settings.json") {
		t.Errorf("with CLAUDE_CONFIG_DIR: %s", s.File)
	}
	if s = setup.New("linux", noEnv, "/home/dev"); s.File != filepath.Join("/home/dev", ".claude", "settings.json") {
		t.Errorf("without: %s", s.File)
	}
}

func TestSnippet_isAWholeSettingsFile(t *testing.T) {
	b := newBench(t)
	text, err := b.setup.Snippet(b.program)
	if err != nil {
		t.Fatal(err)
	}
	b.write(string(text))
	if b.state() != install.Installed {
		t.Errorf("state %s of\n%s", b.state(), text)
	}
	if !strings.HasSuffix(string(text), "\n") {
		t.Error("no newline at the end")
	}
}

func TestWindows_namesTheShell(t *testing.T) {
	s := setup.New("windows", noEnv, t.TempDir())
	p, err := install.FindProgram("windows", noEnv, `C:\Tools\lidguard.exe`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Snippet(p)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"shell": "powershell"`); n != len(setup.Hooks()) {
		t.Errorf("%d entries name the shell, want %d", n, len(setup.Hooks()))
	}
}

// TestInstalledCommand_isSilentWithoutTheProgram runs what was written, after the
// program was deleted, as the client would.
func TestInstalledCommand_isSilentWithoutTheProgram(t *testing.T) {
	b := newBench(t)
	b.install()
	for _, h := range b.setup.Status(b.program).Hooks {
		out, err := exec.Command("/bin/sh", "-c", h.Command).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Fatalf("%s: %v %s", h.Event, err, out)
		}
	}
}

// TestSnippet_golden shows a person every event, timeout and command line that an
// installation writes.
func TestSnippet_golden(t *testing.T) {
	b := newBench(t)
	text, err := b.setup.Snippet(b.at("/usr/local/bin/lidguard"))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "settings.json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Error(diff)
	}
}

// Git's bash, which the client takes for hooks that name no shell, eats
// backslashes (claude-code#21878), and a guess at the shell went wrong as well
// (archgate/cli#442): every entry names PowerShell, is a line that bash and cmd
// understand as well (internal/install), and has no backslash in its path.
func TestWindows_pathsArriveWhole(t *testing.T) {
	for _, path := range []string{`C:\Tools\lidguard.exe`, `C:\Program Files\new\table\lidguard.exe`, `C:\Users\O'Neil & Söhne\$x\lidguard.exe`, `\\server\share\lidguard.exe`} {
		p, err := install.FindProgram("windows", noEnv, path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := setup.New("windows", noEnv, t.TempDir()).Snippet(p)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Hooks map[string][]struct {
				Hooks []struct{ Command, Shell string }
			}
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		quoted := "'" + strings.ReplaceAll(strings.ReplaceAll(path, `\`, "/"), "'", "''") + "'"
		n := 0
		for event, groups := range file.Hooks {
			for _, h := range groups[0].Hooks {
				n++
				if h.Shell != "powershell" || !strings.Contains(h.Command, ". "+quoted+" claude-hook") || !install.Calls(h.Command, setup.Entry) {
					t.Errorf("%s: shell %q runs %s", event, h.Shell, h.Command)
				}
			}
		}
		if n != len(setup.Hooks()) {
			t.Errorf("%d entries, want %d", n, len(setup.Hooks()))
		}
	}
}
