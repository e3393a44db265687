package replay_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/internal/replay"
)

// program builds lidguard's hook program, once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "lidguard-hook")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	build := exec.Command("go", "build", "-o", name, "github.com/lidguard-go/lidguard/cmd/lidguard-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the hook: %w\n%s", err, out)
	}
	return name, nil
})

func TestMain(m *testing.M) {
	// As in lidguard itself, which links nothing that reads it; or every benchmark
	// would measure a twentieth of this.
	runtime.MemProfileRate = 0
	code := m.Run()
	if name, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

func spawned(t testing.TB) string {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func report(t *testing.T, r *replay.Report) {
	t.Helper()
	shown := 0
	for _, row := range r.Rows {
		if row.Miss {
			if shown++; shown <= 60 {
				t.Errorf("%s %s %s/%s %s %q: got %s, want %s (%s)", row.Suite, row.Provider, row.Rule, row.Kind, row.Mode, row.Case, row.Actual, row.Expected, row.Reason)
			}
		}
	}
	if shown > 60 {
		t.Errorf("and %d more", shown-60)
	}
}

func TestAudit_everyCorpusInThisProcess(t *testing.T) {
	suites, err := replay.Corpora()
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Audit(t.Context(), replay.AuditOptions{Suites: append(suites, replay.Protocol(replay.RoleGate, true)), Inside: true, Path: "/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	report(t, r)
	t.Logf("%+v", r.Modes)
}

// Spawned and in this process the chain says the same, to the byte.
func TestAudit_bothModesAgree(t *testing.T) {
	suites, err := replay.Corpora()
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Audit(t.Context(), replay.AuditOptions{Suites: append(suites, replay.Protocol(replay.RoleGate, true)),
		Inside: true, Spawn: true, Program: spawned(t), Every: 40, Path: "/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cases < 200 || r.Modes[replay.Spawned].Cases < 200 || r.Modes[replay.Inside].Cases < 200 {
		t.Errorf("only %d cases were tried: %+v", r.Cases, r.Modes)
	}
	report(t, r)
	t.Logf("%+v", r.Modes)
}
