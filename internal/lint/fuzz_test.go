package lint

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// kinds are all kinds of files, by the number that a fuzz input has for them.
var kinds = []Kind{ClaudeSettings, ClaudePlugin, ClaudeFront, CodexHooks, CodexConfig, CopilotHooks, CopilotSettings, CopilotConfig, OpenCodePlugin, OpenCodeConfig}

// nowhere is a machine without files.
var nowhere = Host{GOOS: "linux", Managed: "/nowhere/managed", Home: "/nowhere/home", WorkDir: "/nowhere/project"}

// configs are the configuration files of the cases, as fuzz seeds and for laws.
func configs(t testing.TB, dir string, f func(kind Kind, text []byte)) {
	t.Helper()
	paths, err := os.ReadDir("testdata/" + dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range paths {
		archive, err := txtar.ParseFile("testdata/" + dir + "/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			if g, ok := Guess(nowhere, "/nowhere/"+file.Name, file.Data, ""); ok && !strings.Contains(file.Name, "/hooks/gate") {
				f(g.Kind, file.Data)
			}
		}
	}
}

// FuzzLint: no text makes the lint panic; every finding is of a rule, names a place
// inside the text, and is said the same way twice.
func FuzzLint(f *testing.F) {
	for _, dir := range []string{"faulty", "clean"} {
		configs(f, dir, func(kind Kind, text []byte) {
			for i, k := range kinds {
				if k == kind {
					f.Add(i, text)
				}
			}
		})
	}
	f.Fuzz(func(t *testing.T, n int, text []byte) {
		if n < 0 || n >= len(kinds) || len(text) > 16<<10 {
			return
		}
		where := file("/nowhere/home/.x/settings.json", kinds[n], Other)
		found := Text(nowhere, where, text)
		lines := 1 + bytes.Count(text, []byte("\n"))
		for _, finding := range found {
			if byID(finding.Rule).ID == "" || finding.Message == "" || finding.Fix == "" {
				t.Errorf("a finding without a rule: %+v", finding)
			}
			if finding.Line < 0 || finding.Line > lines+1 {
				t.Errorf("%s is on line %d of %d", finding.Rule, finding.Line, lines)
			}
		}
		again := Text(nowhere, where, text)
		if len(again) != len(found) {
			t.Errorf("%d findings, then %d", len(found), len(again))
		}
		for i := range found {
			if i < len(again) && found[i] != again[i] {
				t.Errorf("said otherwise the second time: %+v, %+v", found[i], again[i])
			}
		}
	})
}

// TestClean_whateverTheFormat: white space, key order and, where the client takes
// them, comments and trailing commas change nothing about a clean file.
func TestClean_whateverTheFormat(t *testing.T) {
	tried := 0
	configs(t, "clean", func(kind Kind, text []byte) {
		text = bytes.ReplaceAll(text, []byte("@BOM@"), nil)
		f := file("/nowhere/home/x.json", kind, Other)
		var v any
		switch kind {
		case ClaudeSettings, ClaudePlugin, CodexHooks, CopilotHooks, OpenCodeConfig, CopilotSettings:
			if json.Unmarshal(text, &v) != nil {
				return // has comments already
			}
		default:
			return
		}
		// Nothing of what the commands name is there, which is not what this is about.
		before := rulesOf(Text(nowhere, f, text))
		sorted, err := json.Marshal(v) // keys in another order
		must(t, err)
		indented, err := json.MarshalIndent(v, "\t", "   ")
		must(t, err)
		forms := [][]byte{sorted, indented, append([]byte("\ufeff"), text...), bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), append([]byte("\n\n  "), text...)}
		comments := [][]byte{append([]byte("// mine\n"), text...), append(bytes.Clone(text), "\n/* and that was all */\n"...)}
		if kind == OpenCodeConfig || kind == CopilotSettings {
			forms = append(forms, comments...)
		} else {
			for _, form := range comments {
				if rules := rulesOf(Text(nowhere, f, form)); rules != jsonComment+" "+before {
					t.Errorf("%s: a comment is let through: %q", kind, rules)
				}
			}
		}
		for _, form := range forms {
			tried++
			if rules := rulesOf(Text(nowhere, f, form)); rules != before {
				t.Errorf("%s: another form gives %q instead of %q: %s", kind, rules, before, form)
			}
		}
	})
	if tried < 200 {
		t.Errorf("only %d forms tried", tried)
	}
}

func rulesOf(found []Finding) string {
	count := map[string]int{}
	for _, f := range found {
		count[f.Rule]++
	}
	var b strings.Builder
	for _, r := range Rules() {
		for range count[r.ID] {
			b.WriteString(r.ID + " ")
		}
	}
	return b.String()
}
