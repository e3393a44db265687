package confedit

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// tomlEdit is one thing an installer does to a TOML document.
type tomlEdit struct {
	tables []Table // append these, or
	path   Path    // set this
	value  string
	isIn   func(d *TOML) (Path, bool) // where ours is
}

func hookGroup(event, command string) tomlEdit {
	return tomlEdit{
		tables: []Table{
			{Key: []string{"hooks", event}, Array: true, Pairs: []Pair{{"matcher", "Bash"}}},
			{Key: []string{"hooks", event, "hooks"}, Array: true, Pairs: []Pair{{"type", "command"}, {"command", command}, {"timeout", 30}}},
		},
		isIn: func(d *TOML) (Path, bool) {
			groups, _ := d.Get(Path{"hooks", event})
			list, _ := groups.([]any)
			for i := range list {
				p := Path{"hooks", event, i}
				if got, ok := d.Get(p.With("hooks", 0, "command")); ok && got == command {
					return p, true
				}
			}
			return nil, false
		},
	}
}

func server(name string) tomlEdit {
	p := Path{"mcp_servers", name}
	return tomlEdit{
		tables: []Table{
			{Key: []string{"mcp_servers", name}, Pairs: []Pair{{"command", "lidguard"}, {"args", []string{"mcp-server"}}}},
			{Key: []string{"mcp_servers", name, "env"}, Pairs: []Pair{{"A B", "C:\\x\n"}}},
		},
		isIn: func(d *TOML) (Path, bool) { _, ok := d.Get(p); return p, ok },
	}
}

func setting(p Path, value string) tomlEdit {
	return tomlEdit{path: p, value: value, isIn: func(d *TOML) (Path, bool) { _, ok := d.Get(p); return p, ok }}
}

var tomlEdits = []tomlEdit{
	hookGroup("Stop", "lidguard 1"),
	hookGroup("Stop", "lidguard 2 \"q\""),
	hookGroup("PermissionRequest", "lidguard 3"),
	server("lidguard"),
	server("lid guard"),
	setting(Path{"hooks", "state", "/home/dev/.codex/hooks.json:stop:0:0", "trusted_hash"}, "sha256:ab"),
	setting(Path{"features", "lidguard"}, "on"),
	setting(Path{"lidguard"}, "root"),
}

func (e tomlEdit) install(d *TOML) error {
	if e.tables == nil {
		return d.Set(e.path, e.value)
	}
	if _, ok := e.isIn(d); ok {
		return nil
	}
	return d.AppendTables(e.tables...)
}

func (e tomlEdit) remove(d *TOML) error {
	p, ok := e.isIn(d)
	if !ok {
		return fmt.Errorf("ours is not there")
	}
	return d.Remove(p)
}

func checkTOMLLaws(t rapid.TB, text string, edits []tomlEdit, order []int) {
	t.Helper()
	d, err := ParseTOML([]byte(text))
	if err != nil {
		t.Fatalf("ParseTOML(%q): %v", text, err)
	}
	if got := string(d.Bytes()); got != text {
		t.Fatalf("round trip:\n got %q\nwant %q", got, text)
	}
	for _, e := range edits {
		if err := e.install(d); err != nil {
			t.Fatalf("install into %q: %v", d.Bytes(), err)
		}
		if _, ok := e.isIn(d); !ok {
			t.Fatalf("not installed: %q", d.Bytes())
		}
	}
	installed := d.Bytes()
	if !subsequence(text, string(installed)) {
		t.Fatalf("installing took bytes away:\nbefore %q\nafter  %q", text, installed)
	}
	created := d.Created()
	if d, err = ParseTOML(installed); err != nil {
		t.Fatalf("ParseTOML(%q): %v", installed, err)
	}
	for _, e := range edits {
		if err := e.install(d); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Bytes(); !bytes.Equal(got, installed) {
		t.Fatalf("the second install changed something:\n got %q\nwant %q", got, installed)
	}
	for _, i := range order {
		if err := edits[i].remove(d); err != nil {
			t.Fatalf("remove from %q: %v", d.Bytes(), err)
		}
	}
	if err := d.Prune(created...); err != nil {
		t.Fatal(err)
	}
	if got := string(d.Bytes()); got != text {
		t.Fatalf("removed in order %v:\n     got %q\n    want %q\ninstalled %q", order, got, text, installed)
	}
}

func TestTOML_lawsOnNastyFiles(t *testing.T) {
	for _, f := range nastyTOML() {
		t.Run(f.name, func(t *testing.T) {
			checkTOMLLaws(t, f.text, tomlEdits, reversed(len(tomlEdits)))
			for _, e := range tomlEdits {
				checkTOMLLaws(t, f.text, []tomlEdit{e}, []int{0})
			}
		})
	}
}

func TestTOML_lawsInAnyOrder(t *testing.T) {
	files := nastyTOML()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(files).Draw(t, "file")
		edits := rapid.Permutation(tomlEdits).Draw(t, "edits")
		edits = edits[:rapid.IntRange(1, len(edits)).Draw(t, "count")]
		var order []int
		for i := range edits {
			order = append(order, i)
		}
		checkTOMLLaws(t, f.text, edits, rapid.Permutation(order).Draw(t, "order"))
	})
}
