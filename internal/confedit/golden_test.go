package confedit

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the code does now to the golden files")

// goldenEdits holds what is done to the file of each golden archive, and how
// it is undone.
var goldenEdits = map[string]struct {
	install func(t *testing.T, text []byte) Draft
	remove  func(t *testing.T, text []byte, created []Path) Draft
}{
	"claude_settings": {
		func(t *testing.T, text []byte) Draft {
			d := mustJSON(t, string(text), Strict)
			check(t, d.Append(Path{"hooks", "Stop"}, ours), d.Append(Path{"hooks", "PermissionRequest"}, ours))
			return d.Draft()
		},
		func(t *testing.T, text []byte, created []Path) Draft {
			d := mustJSON(t, string(text), Strict)
			check(t, d.Remove(Path{"hooks", "Stop", 1}), d.Remove(Path{"hooks", "PermissionRequest", 0}), d.Prune(created...))
			return d.Draft()
		},
	},
	"opencode_mcp": {
		func(t *testing.T, text []byte) Draft {
			d := mustJSON(t, string(text), Comments)
			check(t, d.Set(Path{"mcp", "lidguard"}, struct {
				Type    string   `json:"type"`
				Command []string `json:"command"`
			}{"local", []string{"lidguard", "mcp-server"}}))
			return d.Draft()
		},
		func(t *testing.T, text []byte, created []Path) Draft {
			d := mustJSON(t, string(text), Comments)
			check(t, d.Remove(Path{"mcp", "lidguard"}), d.Prune(created...))
			return d.Draft()
		},
	},
	"codex_config": {
		func(t *testing.T, text []byte) Draft {
			d := mustTOML(t, string(text))
			check(t,
				d.AppendTables(hookGroup("PermissionRequest", "lidguard codex-hook").tables...),
				d.Set(Path{"hooks", "state", "/home/dev/.codex/config.toml:permission_request:1:0", "trusted_hash"}, "sha256:ab"),
				d.Set(Path{"features", "hooks"}, true))
			return d.Draft()
		},
		func(t *testing.T, text []byte, created []Path) Draft {
			d := mustTOML(t, string(text))
			check(t,
				d.Set(Path{"features", "hooks"}, false),
				d.Remove(Path{"hooks", "state", "/home/dev/.codex/config.toml:permission_request:1:0", "trusted_hash"}),
				d.Remove(Path{"hooks", "PermissionRequest", 1}),
				d.Prune(created...))
			return d.Draft()
		},
	},
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) != len(goldenEdits) {
		t.Fatalf("%d golden files, %v, want %d", len(files), err, len(goldenEdits))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			edits, ok := goldenEdits[name]
			if !ok {
				t.Fatalf("nothing is known about %s", file)
			}
			before := archive.Files[0].Data
			draft := edits.install(t, before)
			got := []txtar.File{
				{Name: "before", Data: before},
				{Name: "after", Data: draft.Text},
				{Name: "diff", Data: []byte(Diff(before, draft.Text, name))},
			}
			if back := edits.remove(t, draft.Text, draft.Created); string(back.Text) != string(before) {
				t.Errorf("after removal:\n%s", Diff(before, back.Text, name))
			}
			if *update {
				archive.Files = got
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := string(txtar.Format(archive))
			archive.Files = got
			if text := string(txtar.Format(archive)); text != want {
				t.Errorf("run with -update if this is what should happen:\n%s", Diff([]byte(want), []byte(text), file))
			}
		})
	}
}
