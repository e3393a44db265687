//go:build linux

package prereq

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestPackages_areThoseOfTheList(t *testing.T) {
	text, err := os.ReadFile("../../prerequisites.txt")
	if err != nil {
		t.Fatal(err)
	}
	var listed, known []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			listed = append(listed, line)
		}
	}
	for _, p := range Packages {
		if p.Name != "nodejs" && p.Name != "npm" {
			known = append(known, p.Name)
		}
	}
	slices.Sort(known)
	if !slices.Equal(listed, known) {
		t.Errorf("prerequisites.txt has %v, want, sorted, %v", listed, known)
	}
}

func TestMissing_namesTheCommand(t *testing.T) {
	saved := Packages
	defer func() { Packages = saved }()
	Packages = []Package{{"base-files", []string{"/etc/os-release"}}, {"lab-nonsense", []string{"no-such-program-here"}}}
	err := Missing()
	if err == nil || !strings.Contains(err.Error(), "apt-get install -y --no-install-recommends lab-nonsense") {
		t.Errorf("Missing() = %v, want the command that installs lab-nonsense", err)
	}
}
