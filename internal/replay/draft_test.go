package replay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
)

// put writes a draft to a folder.
func put(t *testing.T, d replay.Draft) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range d.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		mode := os.FileMode(0o644)
		if f.Run {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Text, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Every pack's draft passes the audit as it is written, in this process and spawned.
func TestNewPack_passesItsOwnAudit(t *testing.T) {
	var suites []replay.Suite
	for _, name := range replay.CorpusNames() {
		d, err := replay.NewPack(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := put(t, d)
		s, err := replay.Corpus(name, os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(s.Rules), "# ") || !strings.Contains(string(s.Rules), "["+name) {
			t.Errorf("%s: rules.toml is no commented section:\n%s", name, s.Rules)
		}
		suites = append(suites, s)
	}
	r, err := replay.Audit(t.Context(), replay.AuditOptions{Suites: suites, Inside: true, Spawn: true, Program: spawned(t), Path: os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	report(t, r)
	for _, name := range replay.CorpusNames() {
		var danger, benign bool
		for _, row := range r.Rows {
			danger = danger || row.Suite == name && row.Kind == "block"
			benign = benign || row.Suite == name && row.Kind == "allow"
		}
		if !danger || !benign {
			t.Errorf("%s: its cases are not of both kinds", name)
		}
	}
}

// Every pack that can be switched has a draft.
func TestNewPack_thereIsOneForEach(t *testing.T) {
	for _, name := range entry.PackNames() {
		if !slices.Contains(replay.CorpusNames(), name) {
			t.Errorf("there is no corpus/%s, so `hooks new %s` has nothing to write", name, name)
		}
	}
	if _, err := replay.NewPack("no such pack"); err == nil {
		t.Error("a pack that does not exist has a draft")
	}
}

func TestNewBody_passesTheAudit(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range replay.Languages() {
		t.Run(language, func(t *testing.T) {
			d, err := replay.NewBody(language, "my-hook")
			if err != nil {
				t.Fatal(err)
			}
			dir := put(t, d)
			if language == "go" {
				for _, args := range [][]string{
					{"mod", "edit", "-require", "github.com/lidguard-go/lidguard@v0.0.0", "-replace", "github.com/lidguard-go/lidguard=" + root},
					{"build", "-mod=mod", "-o", "my-hook", "."}, {"vet", "-mod=mod", "."},
				} {
					cmd := exec.Command("go", args...)
					cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0")
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("go %v: %v\n%s", args, err, out)
					}
				}
			}
			// As the draft says that it is proven.
			at := slices.Index(d.Audit, "--")
			s, err := replay.Corpus("mine", os.DirFS(dir))
			if err != nil {
				t.Fatal(err)
			}
			o := replay.AuditOptions{Suites: []replay.Suite{s, replay.Protocol(replay.RoleGate, false)},
				Foreign: &replay.ForeignHook{Argv: d.Audit[at+1:], WorkDir: dir, Environ: os.Environ(), Role: replay.RoleGate, Events: []string{"PreToolUse"}, Limit: 20 * time.Second}}
			if slices.Contains(d.Audit, "claude") {
				o.Providers = []event.Provider{event.Claude}
			}
			r, err := replay.Audit(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			report(t, r)
			if r.Cases < 20 {
				t.Errorf("only %d cases were tried", r.Cases)
			}
		})
	}
}
