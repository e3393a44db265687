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

	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
)

func noEnv(string) string { return "" }

// bench is one person's home with an OpenCode in it.
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
	b := &bench{t: t, home: home, setup: setup.New("linux", noEnv, home, filepath.Join(home, "project")), store: install.Store{Path: filepath.Join(home, "state", "installed.json")}}
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

func TestInstallRemove(t *testing.T) {
	b := newBench(t)
	if b.setup.Present() || b.state() != install.Missing {
		t.Errorf("before: present %v, %s", b.setup.Present(), b.state())
	}
	if n := b.install(); n != 1 || b.state() != install.Installed {
		t.Errorf("installed %d files, state %s", n, b.state())
	}
	if r := b.setup.Status(b.program); r.Hooks[0].Command != b.program.Path {
		t.Errorf("the plugin calls %q", r.Hooks[0].Command)
	}
	if n := b.install(); n != 0 {
		t.Errorf("a second installation changed %d files", n)
	}
	b.remove()
	if _, err := os.Stat(b.setup.Root); !os.IsNotExist(err) {
		t.Errorf("the folder that the installation made is still there: %v", err)
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
	if _, err := os.Stat(b.setup.File); !os.IsNotExist(err) {
		t.Errorf("the plugin is still there: %v", err)
	}
}

func TestStatus_needsUpdate(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ name, file, text, detail string }{
		{"of another version", b.setup.File, "// lidguard plugin for OpenCode, version 0\nexport const X = async () => ({})\n", "another program"},
		{"by another name of the folder", filepath.Join(b.setup.Root, "plugin", "lidguard.js"), "// lidguard plugin for OpenCode, version 1\n", "stands in"},
		{"in the project", filepath.Join(b.home, "project", ".opencode", "plugins", "lidguard.js"), "// lidguard plugin for OpenCode, version 1\n", "stands in"},
	} {
		b.install()
		b.write(c.file, c.text)
		r := b.setup.Status(b.program)
		if last := r.Hooks[len(r.Hooks)-1]; r.State != install.NeedsUpdate || !strings.Contains(last.Detail, c.detail) {
			t.Errorf("%s: %s %+v", c.name, r.State, last)
		}
		b.install()
		if b.state() != install.Installed {
			t.Errorf("%s: after installing %s", c.name, b.state())
		}
	}
	b.program = b.at("/elsewhere/lidguard")
	if r := b.setup.Status(b.program); r.State != install.NeedsUpdate || r.Hooks[0].Detail != "another program" {
		t.Errorf("after the program moved: %s %+v", r.State, r.Hooks[0])
	}
}

// TestLaw_foreignFilesStay: whatever somebody has under the plugin's name is
// refused, never overwritten and never removed.
func TestLaw_foreignFilesStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := fmt.Sprintf("// plugin %d%sexport const X = async () => ({})%s", r.IntN(1000), []string{"\n", "\r\n", "\n\n// lidguard plugin for OpenCode\n"}[r.IntN(3)], []string{"", "\n", "\n\n"}[r.IntN(3)])
		b.write(b.setup.File, text)
		if _, err := b.setup.Install(b.program, install.Records{}); !errors.Is(err, install.ErrForeign) || !strings.Contains(err.Error(), "lidguard.js") {
			t.Fatalf("installing over %q: %v", text, err)
		}
		b.remove()
		if data, _ := os.ReadFile(b.setup.File); string(data) != text {
			t.Fatalf("%q became %q", text, data)
		}
		if rep := b.setup.Status(b.program); rep.State != install.Foreign || len(rep.Problems) != 1 || rep.Problems[0].Remedy == "" {
			t.Fatalf("state %s, %+v", rep.State, rep.Problems)
		}
	}
	b.write(b.setup.File, " \n")
	if b.install(); b.state() != install.Installed {
		t.Errorf("an empty file: %s", b.state())
	}
	b.remove()
	if data, _ := os.ReadFile(b.setup.File); string(data) != " \n" {
		t.Errorf("an empty file became %q", data)
	}
}

func TestNew_places(t *testing.T) {
	for _, c := range []struct{ name, key, value, want string }{
		{"by default", "", "", "/home/dev/.config/opencode/plugins/lidguard.js"},
		{"with XDG_CONFIG_HOME", "XDG_CONFIG_HOME", "/x", "/x/opencode/plugins/lidguard.js"},
		{"with OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_DIR", "/o", "/o/plugins/lidguard.js"},
	} {
		s := setup.New("linux", func(name string) string {
			if name == c.key {
				return c.value
			}
			return ""
		}, "/home/dev", "")
		if s.File != filepath.FromSlash(c.want) {
			t.Errorf("%s: %s", c.name, s.File)
		}
	}
}

// TestInstall_leavesOneCopy: both folders are read, so a copy in each would tell
// everything twice.
func TestInstall_leavesOneCopy(t *testing.T) {
	b := newBench(t)
	b.install()
	own := filepath.Join(b.home, "own")
	second := setup.New("linux", func(name string) string {
		if name == "OPENCODE_CONFIG_DIR" {
			return own
		}
		return ""
	}, b.home, "")
	if n := b.apply(second.Install(b.program, b.records())); n != 2 {
		t.Errorf("changed %d files, want 2", n)
	}
	if _, err := os.Stat(b.setup.File); !os.IsNotExist(err) {
		t.Errorf("two copies: %v", err)
	}
	if r := second.Status(b.program); r.State != install.Installed {
		t.Errorf("state %s", r.State)
	}
	b.apply(second.Remove(b.records()))
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
