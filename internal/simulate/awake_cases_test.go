package simulate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The page of reported cases is a promise: every number has a row, and every row
// names tests that exist.
func TestAwakeCases_everyOneHasATest(t *testing.T) {
	numbers := []int{1, 3, 4, 5, 6, 8, 9, 11, 13, 14, 15, 16, 17, 19, 20, 22, 24, 25, 26, 27, 29, 30, 31, 33, 35, 36, 38, 39, 40, 41, 42,
		43, 45, 46, 48, 50, 51, 53, 54, 55, 56, 57, 60, 61, 63, 66, 67}
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "awake-cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9_/]+_test\\.go):(Test\\w+)`")
	row := regexp.MustCompile(`^\| (\d+) \| .* \| .* \| (.*) \|\n$`)
	var got []int
	for line := range strings.Lines(string(page)) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
		tests := named.FindAllStringSubmatch(m[2], -1)
		if len(tests) == 0 || strings.Contains(m[2], "not built") {
			t.Errorf("case %d: %d tests: %s", n, len(tests), m[2])
		}
		for _, x := range tests {
			file, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(x[1])))
			if err != nil {
				t.Errorf("case %d: %v", n, err)
			} else if !strings.Contains(string(file), "\nfunc "+x[2]+"(") {
				t.Errorf("case %d: %s has no test %s", n, x[1], x[2])
			}
		}
	}
	if !slices.Equal(got, numbers) {
		t.Errorf("the page has rows for\n%v, want\n%v", got, numbers)
	}
}
