package gate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The page of reported cases is a promise: every id has a row, every row names
// tests that exist, and where cases are rows of a table, one of them has the id.
func TestReported_everyCaseHasATest(t *testing.T) {
	want := strings.Fields(`A1 A3 A4 A5 A7 A8 A9 A10 A13 A14 A15 A17 A19 A20 A21 A22 A23 A24 A25
		B1 B2 B4 B5 B6 B8 B10 B11 B13 B14 B16 B18 B19 C1 C2 C3 C5 C6 C7 C8 C9 C9b
		D1 D2 D3 D5 D6 D7 D8 D9 D10 D11 D12 D14 D15 D16 D17 D18 D19
		E1 E2 E3 E4 E7 E8 E9 E10 E11 F1 F3 F4 F5 F6 F8 G1 G2 G3 G4 G5 G6`)
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "hook-cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		id := strings.TrimPrefix(cells[0], "| ")
		if len(cells) != 4 || id == "case" || id == "---" {
			continue
		}
		got = append(got, id)
		named := false
		for i, ref := range strings.Split(cells[3], "`") {
			if i%2 == 0 {
				continue
			}
			file, test, _ := strings.Cut(ref, ":")
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err != nil {
				t.Errorf("%s: %v", id, err)
				continue
			}
			if filepath.Ext(file) == ".txtar" { // a script, which its package runs
				named = named || strings.HasPrefix(string(text), "# "+id+" ")
				continue
			}
			_, body, found := strings.Cut(string(text), "\nfunc "+test+"(")
			if !found {
				t.Errorf("%s: %s has no test %s", id, file, test)
			}
			body, _, _ = strings.Cut(body, "\n}\n")
			named = named || strings.Contains(test, "_"+id+"_") || strings.Contains(body, `"`+id+" ") ||
				!strings.Contains(test, "TestCases_bypasses") && !strings.Contains(test, "TestCases_falsePositives") && test != "TestLimits"
		}
		if !named {
			t.Errorf("%s: none of its tests has a row of that name", id)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has rows for\n%v, want\n%v", got, want)
	}
}
