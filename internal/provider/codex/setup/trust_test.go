package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestTrustHash holds the hash against vectors of the contract's recipe
// (docs/contracts/codex.md §6), which was compared with the client's own hashes.
func TestTrustHash(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Event   string
		Handler wireHandler
		Matcher *string
		Hash    string
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 28 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		if got := trustHash(v.Event, v.Handler, v.Matcher); got != v.Hash {
			t.Errorf("%s %+v: got %s, want %s", v.Event, v.Handler, got, v.Hash)
		}
	}
}

func TestTrustKey(t *testing.T) {
	home := t.TempDir()
	real := filepath.Join(home, "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(home, "link")
	if err := os.Symlink(real, root); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(home, "dotfiles.json")
	if err := os.WriteFile(elsewhere, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Setup{Root: root, JSON: filepath.Join(root, "hooks.json"), Config: filepath.Join(root, "config.toml")}
	if err := os.Symlink(elsewhere, s.JSON); err != nil {
		t.Fatal(err)
	}
	// The folder is resolved, a symlinked hooks.json is not.
	resolved, err := filepath.EvalSymlinks(real)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(resolved, "hooks.json") + ":permission_request:2:0"
	if got := s.trustKey(s.JSON, "PermissionRequest", 2, 0); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
