package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// TestDocs holds docs/cli.md against the commands and settings there are; -update
// rewrites those parts of it.
func TestDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "cli.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := fill(t, string(data), "commands", commandTable())
	text = fill(t, text, "settings", settingTable())
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data), text); diff != "" {
		t.Errorf("docs/cli.md is not up to date (go test ./internal/cli -update): %s", diff)
	}
}

// fill puts body between the marks called name.
func fill(t *testing.T, text, name, body string) string {
	t.Helper()
	open, shut := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	head, rest, ok1 := strings.Cut(text, open)
	_, tail, ok2 := strings.Cut(rest, shut)
	if !ok1 || !ok2 {
		t.Fatalf("docs/cli.md has no marks for %s", name)
	}
	return head + open + body + shut + tail
}

func commandTable() string {
	a := newApp(Options{Env: func(string) string { return "" }, GOOS: "linux"})
	root := a.root()
	var b strings.Builder
	b.WriteString("| group | command | does |\n| --- | --- | --- |\n")
	for _, g := range root.Groups() {
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && c.IsAvailableCommand() {
				b.WriteString("| " + g.Title + " | `" + strings.ReplaceAll(strings.TrimPrefix(c.UseLine(), "lidguard "), "|", `\|`) + "` | " + c.Short + " |\n")
			}
		}
	}
	for _, e := range hookEntries {
		b.WriteString("| hook entries | `" + e[0] + "` | " + e[1] + " |\n")
	}
	return b.String()
}

func settingTable() string {
	var b strings.Builder
	b.WriteString("| key | default | allowed | does |\n| --- | --- | --- | --- |\n")
	for _, k := range settings.Keys() {
		b.WriteString("| `" + k.Name + "` | " + k.Default() + " | " + k.Allowed() + " | " + k.Help + " |\n")
	}
	return b.String()
}

// TestDocs_nameEveryFinding: a code that a person may meet has a row in
// docs/findings.md.
func TestDocs_nameEveryFinding(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "findings.md"))
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^\t[A-Z]\w+\s+= "([a-z]+(?:-[a-z]+)+)"`)
	found := 0
	for _, file := range []string{"../doctor/doctor.go", "../doctor/power.go", "../install/install.go"} {
		src, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(src), -1) {
			found++
			if !strings.Contains(string(doc), "| "+m[1]+" |") {
				t.Errorf("docs/findings.md has no row for %s", m[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d codes found: this test looks at nothing", found)
	}
}
