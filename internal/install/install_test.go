package install_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/shell"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestFindProgram(t *testing.T) {
	for _, c := range []struct {
		name string
		lay  func(dir string) (executable, path string)
		want string // below dir
	}{
		{"alone and not on PATH", func(d string) (string, string) {
			return filepath.Join(d, "opt/lidguard"), filepath.Join(d, "bin")
		}, "opt/lidguard"},
		{"the hook program beside it is preferred", func(d string) (string, string) {
			write(t, filepath.Join(d, "opt/lidguard-hook"), "x", 0o755)
			return filepath.Join(d, "opt/lidguard"), filepath.Join(d, "bin")
		}, "opt/lidguard-hook"},
		{"a hook program that cannot run is not", func(d string) (string, string) {
			write(t, filepath.Join(d, "opt/lidguard-hook"), "x", 0o644)
			return filepath.Join(d, "opt/lidguard"), filepath.Join(d, "bin")
		}, "opt/lidguard"},
		{"the name on PATH stays over upgrades", func(d string) (string, string) {
			link(t, filepath.Join(d, "opt/lidguard"), filepath.Join(d, "bin/lidguard"))
			return filepath.Join(d, "opt/lidguard"), "relative:" + filepath.Join(d, "bin")
		}, "bin/lidguard"},
		{"and the hook program beside that name even more", func(d string) (string, string) {
			write(t, filepath.Join(d, "opt/lidguard-hook"), "x", 0o755)
			link(t, filepath.Join(d, "opt/lidguard"), filepath.Join(d, "bin/lidguard"))
			link(t, filepath.Join(d, "opt/lidguard-hook"), filepath.Join(d, "bin/lidguard-hook"))
			return filepath.Join(d, "opt/lidguard"), filepath.Join(d, "bin")
		}, "bin/lidguard-hook"},
		{"another lidguard on PATH does not count", func(d string) (string, string) {
			write(t, filepath.Join(d, "bin/lidguard"), "old", 0o755)
			return filepath.Join(d, "opt/lidguard"), filepath.Join(d, "bin")
		}, "opt/lidguard"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "opt/lidguard"), "x", 0o755)
		executable, path := c.lay(dir)
		p, err := install.FindProgram("linux", env("PATH", path), executable)
		if err != nil || p.Path != filepath.Join(dir, c.want) {
			t.Errorf("%s: got %q (%v), want %q", c.name, p.Path, err, c.want)
		}
	}
	if _, err := install.FindProgram("linux", env(), ""); !errors.Is(err, install.ErrNoProgram) {
		t.Errorf("without an executable: %v", err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// odd are folder names that a careless quoting would break.
var odd = []string{"plain", "with blank", "it's", `a"b`, "$HOME", "`id`", "ünïcode ‘quotes’", "semi;colon", "back\\slash", "new\nline", "--help", "*"}

// TestCommand_runsThroughTheShell runs the very text that config files get.
func TestCommand_runsThroughTheShell(t *testing.T) {
	for _, name := range odd {
		dir := filepath.Join(t.TempDir(), name)
		program := filepath.Join(dir, "lidguard-hook")
		write(t, program, "#!/bin/sh\necho \"got $1 $(cat)\"\nexit 3\n", 0o755)
		p, err := install.FindProgram("linux", env(), program)
		if err != nil {
			t.Fatal(err)
		}
		command := p.Command("claude-hook")
		if !install.Calls(command, "claude-hook") || install.Calls(command, "codex-hook") {
			t.Errorf("%q: own command not recognized: %s", name, command)
		}
		run := func() (string, int) {
			cmd := exec.Command("/bin/sh", "-c", command)
			cmd.Stdin = strings.NewReader("payload")
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return string(out), exit.ExitCode()
			}
			return string(out), 0
		}
		if out, code := run(); out != "got claude-hook payload\n" || code != 3 {
			t.Errorf("%q: got %q and %d from %s", name, out, code, command)
		}
		// Deleted first, configured still: nothing may be heard of it.
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if out, code := run(); out != "" || code != 0 {
			t.Errorf("%q: after the program was deleted: %q and %d", name, out, code)
		}
	}
}

func TestCommand_windows(t *testing.T) {
	p, err := install.FindProgram("windows", env(), `C:\Program Files\it's\lidguard.exe`)
	if err != nil {
		t.Fatal(err)
	}
	want := `set lidguard='"' is="\"; if (Test-Path -LiteralPath 'C:/Program Files/it''s/lidguard.exe') ` +
		`{ . 'C:/Program Files/it''s/lidguard.exe' claude-hook; exit $LASTEXITCODE } #"; : '"'; ` +
		`[ -x 'C:/Program Files/it'\''s/lidguard.exe' ] || exit 0; exec 'C:/Program Files/it'\''s/lidguard.exe' claude-hook # " ` +
		`& if exist "C:/Program Files/it's/lidguard.exe" "C:/Program Files/it's/lidguard.exe" claude-hook`
	if got := p.Command("claude-hook"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !install.Calls(want, "claude-hook") || install.Calls(want, "codex-hook") {
		t.Error("own command line for Windows not recognized")
	}
	// What versions before wrote.
	if !install.Calls(`if (Test-Path -LiteralPath 'C:\it''s\lidguard.exe') { & 'C:\it''s\lidguard.exe' claude-hook; exit $LASTEXITCODE }`, "claude-hook") {
		t.Error("the command line of versions before is not recognized")
	}
}

// windowsNames are folders as Windows has them, made here too.
var windowsNames = []string{"Program Files", "it's", "R&D (x86)", "50% off", "100%PATH%", "a^b", "a;b, c", "Müller", "#1", "[a]{b}", "-x", "~", "!now!", "a=b+c@d"}

// The line that PowerShell is meant for, run by a client that takes Git's bash
// after all. Reports: claude-code#88578 and its like.
func TestCommand_windowsInBash(t *testing.T) {
	for _, shell := range []string{"bash", "sh"} {
		for _, name := range append([]string{"‘x’"}, windowsNames...) {
			dir := filepath.Join(t.TempDir(), name)
			program := filepath.Join(dir, "lidguard-hook.exe")
			write(t, program, "#!/bin/sh\necho \"got $* $(cat)\"\nexit 2\n", 0o755)
			p, err := install.FindProgram("windows", env(), program)
			if err != nil {
				t.Fatal(err)
			}
			command := p.Command("claude-hook", "--event", "Stop")
			run := func() (string, int) {
				cmd := exec.Command(shell, "-c", command)
				cmd.Stdin = strings.NewReader("payload")
				out, err := cmd.CombinedOutput()
				if exit, ok := errors.AsType[*exec.ExitError](err); ok {
					return string(out), exit.ExitCode()
				} else if err != nil {
					t.Fatal(err)
				}
				return string(out), 0
			}
			if out, code := run(); out != "got claude-hook --event Stop payload\n" || code != 2 {
				t.Errorf("%s, %q: got %q and %d from %s", shell, name, out, code, command)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if out, code := run(); out != "" || code != 0 {
				t.Errorf("%s, %q: after the program was deleted: %q and %d", shell, name, out, code)
			}
		}
	}
}

// PowerShell runs nowhere in our tests. What the project's own reader of it makes
// of the line must be the one call, and nothing that it cannot read.
func TestCommand_windowsInPowerShell(t *testing.T) {
	for _, name := range append([]string{"a$b", "a`b", "$(calc)"}, windowsNames...) {
		p, err := install.FindProgram("windows", env(), `C:\`+name+`\lidguard-hook.exe`)
		if err != nil {
			t.Fatal(err)
		}
		facts := shell.Inspect(p.Command("claude-hook"), shell.PowerShell, shell.World{})
		var calls []string
		for i := range facts.Leaves {
			var words []string
			for j := range facts.Leaves[i].Argv {
				words = append(words, facts.Leaves[i].Argv[j].String())
			}
			if line := strings.Join(words, " "); strings.Contains(line, "lidguard-hook.exe") && words[0] != "Test-Path" {
				calls = append(calls, line)
			}
		}
		want := "C:/" + name + "/lidguard-hook.exe claude-hook"
		if !slices.Equal(calls, []string{want}) || len(facts.Problems)+len(facts.Opaque) > 0 {
			t.Errorf("%q: calls %q, want %q; problems %v, opaque %v", name, calls, want, facts.Problems, facts.Opaque)
		}
	}
}

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		command string
		want    bool
	}{
		{"lidguard claude-hook", true},
		{"/usr/bin/lidguard claude-hook", true},
		{"lidguard-hook claude-hook", true},
		{`"/opt/my tools/lidguard" claude-hook`, true},
		{`C:\lidguard\lidguard.exe claude-hook`, true},
		{`"C:/x/LidGuard.EXE" claude-hook`, false}, // another program of that name
		{`"C:/x/lidguard.EXE"  claude-hook`, true},
		{"LIDGUARD_HOME=/x lidguard claude-hook", true},
		{"[ -x /p/lidguard ] || exit 0; exec /p/lidguard claude-hook", true},
		{"lidguard claude-hook 2>/dev/null", true},
		{"lidguard claude-hooks settings-json", false},
		{"lidguard codex-hook", false},
		{"mylidguard claude-hook", false},
		{"/home/lidguard/tool claude-hook", false},
		{"lidguardclaude-hook", false},
		{"echo claude-hook", false},
		{"claude-hook", false},
		{"", false},
	} {
		if got := install.Calls(c.command, "claude-hook"); got != c.want {
			t.Errorf("Calls(%q) = %v, want %v", c.command, got, c.want)
		}
	}
}

// add plans to append a line; removing takes it out again.
func add(data []byte, _ []confedit.Path) (confedit.Draft, error) {
	return confedit.Draft{Text: append(append([]byte{}, data...), "ours\n"...)}, nil
}

func takeOut(data []byte, _ []confedit.Path) (confedit.Draft, error) {
	return confedit.Draft{Text: []byte(strings.ReplaceAll(string(data), "ours\n", ""))}, nil
}

func TestPlan_addThenRemoveLeavesNoTrace(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, before := range []string{"theirs\n", ""} {
		dir := t.TempDir()
		path := filepath.Join(dir, "sub", "config")
		if before != "" {
			write(t, path, before, 0o640)
		}
		store := install.Store{Path: filepath.Join(dir, "state", "installed.json")}
		var plan install.Plan
		if err := plan.Add(path, false, install.Records{}, add); err != nil {
			t.Fatal(err)
		}
		if got := string(plan.Edits[0].After); got != before+"ours\n" {
			t.Errorf("planned %q", got)
		}
		if data, _ := os.ReadFile(path); string(data) != before {
			t.Errorf("planning wrote %q", data)
		}
		done, err := plan.Apply(ctx, now, store)
		if err != nil || len(done) != 1 || (done[0].Backup != "") != (before != "") {
			t.Fatalf("Apply: %v %v", done, err)
		}
		records, err := store.Load()
		if err != nil || records[path] == nil {
			t.Fatalf("records %v %v", records, err)
		}
		var removal install.Plan
		if err := removal.Add(path, true, records, takeOut); err != nil {
			t.Fatal(err)
		}
		if _, err := removal.Apply(ctx, now, store); err != nil {
			t.Fatal(err)
		}
		left := []string{}
		filepath.Walk(dir, func(p string, info os.FileInfo, _ error) error {
			if !info.IsDir() && !strings.HasSuffix(p, ".lock") {
				left = append(left, p)
			}
			return nil
		})
		if before == "" && len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		if before != "" {
			if data, _ := os.ReadFile(path); string(data) != before || len(left) != 1 {
				t.Errorf("after removal %q, files %v", data, left)
			}
		}
	}
}

// TestPlan_removalAfterSomebodyElse: where a client or a person took our entries out
// already, or the whole file, the removal has nothing to write and forgets the file all
// the same.
func TestPlan_removalAfterSomebodyElse(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct{ before, then, left string }{
		{"theirs\n", "theirs\n", "config"},
		{"theirs\n", "theirs, changed\n", "config config.lidguard-backup-20260102-030405"},
		{"theirs\n", "", "config.lidguard-backup-20260102-030405"},
		{"", "theirs\n", "config"},
		{"", "", ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "sub", "config")
		if c.before != "" {
			write(t, path, c.before, 0o640)
		}
		store := install.Store{Path: filepath.Join(dir, "state", "installed.json")}
		var plan, removal install.Plan
		if err := plan.Add(path, false, install.Records{}, add); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Apply(ctx, now, store); err != nil {
			t.Fatal(err)
		}
		write(t, path, c.then, 0o640)
		if c.then == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		records, err := store.Load()
		if err == nil {
			err = removal.Add(path, true, records, takeOut)
		}
		if err != nil || len(removal.Edits) != 0 {
			t.Fatalf("%+v: planned %v, %v", c, removal.Edits, err)
		}
		if done, err := removal.Apply(ctx, now, store); err != nil || len(done) != 0 {
			t.Fatalf("%+v: changed %v, %v", c, done, err)
		}
		var left []string
		for _, sub := range []string{"sub", "state"} {
			entries, err := os.ReadDir(filepath.Join(dir, sub))
			if err == nil && len(entries) == 0 {
				t.Errorf("%+v: the empty folder %s is left", c, sub)
			}
			for _, e := range entries {
				left = append(left, e.Name())
			}
		}
		if got := strings.Join(left, " "); got != c.left {
			t.Errorf("%+v: left %q", c, got)
		}
		if data, _ := os.ReadFile(path); string(data) != c.then {
			t.Errorf("%+v: the file is %q", c, data)
		}
	}
}

// TestPlan_foldersGoWithTheLastFile: whatever is removed first, the folders that
// were made go with the last file in them, links included.
func TestPlan_foldersGoWithTheLastFile(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		dir := t.TempDir()
		link(t, filepath.Join(dir, "new", "dots", "linked"), filepath.Join(dir, "here", "linked"))
		files := []string{filepath.Join(dir, "new", "deep", "a"), filepath.Join(dir, "new", "b"), filepath.Join(dir, "here", "linked")}
		store := install.Store{Path: filepath.Join(dir, "state", "installed.json")}
		do := func(path string, removes bool, change install.Change) {
			t.Helper()
			records, err := store.Load()
			var plan install.Plan
			if err == nil {
				err = plan.AddAs(install.ServerRecord(path), path, removes, records, change)
			}
			if err == nil {
				_, err = plan.Apply(ctx, now, store)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range files {
			do(path, false, add)
		}
		for _, i := range order {
			do(files[i], true, takeOut)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "here" {
			t.Errorf("order %v: left %v (%v)", order, entries, err)
		}
	}
}

func TestRemedy_fitsWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	_, folder := confedit.Open(dir)
	_, loop := confedit.Open(filepath.Join(dir, "loop"))
	_, syntax := confedit.ParseJSON([]byte("{"), confedit.Strict)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a folder", folder, "move what is there away"},
		{"links in a circle", loop, "move what is there away"},
		{"a mistake in the text", syntax, "correct that place by hand"},
		{"no right to read", os.ErrPermission, "give yourself the right"},
		{"a file of somebody else's", install.ErrForeign, "move it away or rename it"},
	} {
		if got := install.Remedy(fmt.Errorf("x: %w", c.err)); c.err == nil || !strings.HasPrefix(strings.TrimPrefix(got, "it was left alone; "), c.want) {
			t.Errorf("%s: %q for %v", c.name, got, c.err)
		}
	}
	if got := install.Remedy(errors.New("x")); got != "" {
		t.Errorf("%q for an unknown error", got)
	}
}

// TestPlan_touchesNoFileThatNeedsNothing: an empty file of the person's is neither
// a change to plan nor, without one, anything to undo.
func TestPlan_touchesNoFileThatNeedsNothing(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	nothing := func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		return confedit.Draft{Text: slices.Concat(data)}, nil // nil where it is empty
	}
	for _, before := range []string{"", "theirs\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "config")
		write(t, path, before, 0o600)
		store := install.Store{Path: filepath.Join(dir, "state", "installed.json")}
		for _, removes := range []bool{false, true} {
			records, err := store.Load()
			if err != nil {
				t.Fatal(err)
			}
			var plan install.Plan
			if err := plan.Add(path, removes, records, nothing); err != nil || len(plan.Edits) != 0 {
				t.Errorf("%q, removes %v: %d edits, %v", before, removes, len(plan.Edits), err)
			}
		}
		// Somebody else may have done it between planning and applying: then there is
		// no way back but taking entries out, and the file was there before.
		once := func(data []byte, created []confedit.Path) (confedit.Draft, error) {
			if strings.Contains(string(data), "ours\n") {
				return nothing(data, created)
			}
			return add(data, created)
		}
		var late, removal install.Plan
		if err := late.Add(path, false, install.Records{}, once); err != nil {
			t.Fatal(err)
		}
		write(t, path, before+"ours\n", 0o600)
		if done, err := late.Apply(ctx, now, store); err != nil || len(done) != 0 {
			t.Fatalf("Apply: %v %v", done, err)
		}
		records, err := store.Load()
		if err == nil {
			err = removal.Add(path, true, records, takeOut)
		}
		if err == nil {
			_, err = removal.Apply(ctx, now, store)
		}
		if data, readErr := os.ReadFile(path); err != nil || readErr != nil || string(data) != before {
			t.Errorf("%q became %q (%v, %v)", before, data, err, readErr)
		}
	}
}

func TestPlan_leavesReadOnlyFilesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	write(t, path, "theirs\n", 0o444)
	var plan install.Plan
	if err := plan.Add(path, false, install.Records{}, add); !errors.Is(err, install.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
}

func TestStore_brokenRecordCountsAsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "installed.json")
	write(t, path, "{", 0o600)
	records, err := install.Store{Path: path}.Load()
	if err != nil || records == nil || len(records) != 0 {
		t.Errorf("got %v, %v", records, err)
	}
}

func TestReport_Settle(t *testing.T) {
	h := func(states ...install.State) []install.Hook {
		var out []install.Hook
		for _, s := range states {
			out = append(out, install.Hook{State: s})
		}
		return out
	}
	off, prompt := install.Problem{Code: install.HooksOff}, install.Problem{Code: install.PromptHooks}
	broken := install.Problem{Code: install.HookFileBroken, Voids: true}
	for _, c := range []struct {
		name     string
		hooks    []install.Hook
		problems []install.Problem
		want     install.State
	}{
		{"all there", h(install.Installed, install.Installed), nil, install.Installed},
		{"none there", h(install.Missing, install.Missing), nil, install.Missing},
		{"one of two there", h(install.Installed, install.Missing), nil, install.NeedsUpdate},
		{"one untrusted", h(install.Installed, install.NotTrusted), nil, install.NotTrusted},
		{"old and untrusted", h(install.NeedsUpdate, install.NotTrusted), nil, install.NeedsUpdate},
		{"the client runs no hooks", h(install.Installed), []install.Problem{off}, install.Off},
		{"not there and the client runs no hooks", h(install.Missing), []install.Problem{off}, install.Missing},
		{"the client drops the file they are in", h(install.Installed), []install.Problem{prompt, broken}, install.Unreadable},
		{"none there, in a file that the client drops", h(install.Missing), []install.Problem{broken, off}, install.Unreadable},
		{"a broken file of theirs beside ours", h(install.Installed), []install.Problem{{Code: install.HookFileBroken}}, install.Installed},
		{"prompt hooks beside ours", h(install.Installed), []install.Problem{prompt}, install.Conflicts},
	} {
		r := install.Report{Hooks: c.hooks, Problems: c.problems}
		r.Settle()
		if r.State != c.want {
			t.Errorf("%s: %s, want %s", c.name, r.State, c.want)
		}
	}
}

// Whoever is killed between the record and the file has left a way back, and litter
// that the removal takes along.
func TestPlan_removesWhatTheKilledLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "made", "hooks.json")
	store := install.Store{Path: filepath.Join(dir, "state", "installed.json")}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := func(removes bool, change install.Change) {
		t.Helper()
		records, err := store.Load()
		if err != nil {
			t.Fatal(err)
		}
		var plan install.Plan
		if err := plan.Add(path, removes, records, change); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Apply(t.Context(), clock, store); err != nil {
			t.Fatal(err)
		}
	}
	run(false, add)
	if err := os.Rename(path, filepath.Join(dir, "made", ".hooks.json.lidguard-1.tmp")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "made", ".hooks.json.lidguard-lock"), "", 0o600)
	write(t, filepath.Join(dir, "state", "installed.json.lock"), "", 0o600)
	write(t, filepath.Join(dir, "state", ".installed-1.tmp"), "half", 0o600)
	run(true, takeOut)
	for _, name := range []string{"made", "state"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	write(t, store.Path+".lock", "", 0o600)
	if err := store.Tidy(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "state")); err == nil {
		t.Error("the lock of the killed is left")
	}
	if err := store.Tidy(); err != nil {
		t.Error(err)
	}
}
