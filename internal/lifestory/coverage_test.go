package lifestory

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSeedCoverage_namesExistingTests: the coverage pages are promises, so every
// test they name must exist in the file they name, every line must name one or say
// why not, and every contract section a line refers to must be there.
func TestSeedCoverage_namesExistingTests(t *testing.T) {
	for _, page := range []struct {
		name string
		rows int // at least
	}{
		{"seed-coverage.md", 100},
		{"seed-coverage-hooks.md", 70},
	} {
		t.Run(page.name, func(t *testing.T) { coverage(t, page.name, page.rows) })
	}
}

func coverage(t *testing.T, name string, atLeast int) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9_/]+_test\\.go):(Test\\w+)`")
	section := regexp.MustCompile(`contracts/(claude|codex|copilot|opencode) §(\d+)`)
	files := map[string]string{}
	read := func(name string) string {
		if _, known := files[name]; !known {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				t.Error(err)
			}
			files[name] = string(data)
		}
		return files[name]
	}
	script := regexp.MustCompile("`(\\w+\\.txtar)`")
	rows, tests := 0, 0
	for line := range strings.Lines(string(page)) {
		found := named.FindAllStringSubmatch(line, -1)
		for _, m := range found {
			tests++
			if !strings.Contains(read(m[1]), "func "+m[2]+"(") {
				t.Errorf("%s has no test %s", m[1], m[2])
			}
		}
		for _, m := range script.FindAllStringSubmatch(line, -1) {
			read("internal/cli/testdata/script/" + m[1])
		}
		for _, m := range section.FindAllStringSubmatch(line, -1) {
			if !strings.Contains(read("docs/contracts/"+m[1]+".md"), "\n## "+m[2]+". ") {
				t.Errorf("contracts/%s has no section %s: %s", m[1], m[2], line)
			}
		}
		if cells := strings.Split(line, "|"); len(cells) == 6 && strings.ContainsAny(cells[1], "0123456789") {
			rows++
			if len(found) == 0 && strings.TrimSpace(cells[4]) == "" {
				t.Errorf("nothing holds %q and nothing says why", strings.TrimSpace(line))
			}
		}
	}
	if rows < atLeast || tests < rows {
		t.Errorf("%d lines and %d tests: the page is not what this test reads", rows, tests)
	}
}
