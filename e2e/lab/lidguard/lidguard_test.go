//go:build linux

package lidguard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
)

func TestMain(m *testing.M) { os.Exit(guard.Main(m)) }

func TestGuard_withAStandIn(t *testing.T) {
	l := laptop.Start(t)
	g := put(t, l, "stand-in", "./e2e/lab/lidguard/testdata/lidguard")
	g.Hooks("claude")
	g.Hooks("codex")
	g.Set("suspend-mode", "none")
	var status struct {
		Sessions int `json:"sessions"`
	}
	if g.JSON(&status, "status"); status.Sessions != 2 {
		t.Errorf("status is %+v", status)
	}
	if _, stderr, code := g.Try("fail"); code != 3 || stderr != "as asked\n" {
		t.Errorf("fail: exit %d, %q", code, stderr)
	}
	calls, err := os.ReadFile(filepath.Join(l.Home(), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	want := "hook-install --provider claude\nhook-install --provider codex\nsettings --suspend-mode none\nstatus --json\nfail\n"
	if string(calls) != want {
		t.Errorf("calls:\n%swant:\n%s", calls, want)
	}
	config, err := os.ReadFile(filepath.Join(l.Home(), ".codex", "config.toml"))
	if err != nil || !strings.Contains(string(config), ".codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:") {
		t.Errorf("the hooks are not trusted in\n%s%v", config, err)
	}
	if _, err := os.Stat(filepath.Join(l.Home(), ".claude")); err != nil {
		t.Errorf("claude was not installed first: %v", err)
	}
}
