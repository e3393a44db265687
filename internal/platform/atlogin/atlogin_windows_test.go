package atlogin

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// The registry of the test's user is written to and left as it was.
func TestArm(t *testing.T) {
	if line, err := Armed(); err != nil || line != "" {
		t.Fatalf("something of ours waits already: %q, %v", line, err)
	}
	t.Cleanup(func() {
		if err := Disarm(); err != nil {
			t.Error(err)
		}
	})
	for _, program := range []string{`C:\old\lidguard.exe`, `C:\Program Files\lidguard.exe`} {
		if err := Arm(program, "keeper", "--login"); err != nil {
			t.Fatal(err)
		}
		if line, err := Armed(); err != nil || line != Line(program, "keeper", "--login") {
			t.Errorf("got %q, %v", line, err)
		}
	}
	if err := Arm(`C:\` + strings.Repeat("x", longest)); err == nil {
		t.Error("a command that Windows would ignore was taken")
	}
	for range 2 {
		if err := Disarm(); err != nil {
			t.Error(err)
		}
	}
	if line, err := Armed(); err != nil || line != "" {
		t.Errorf("after Disarm: %q, %v", line, err)
	}
}

// Windows itself splits what Line makes.
func TestLine_asWindowsSplitsIt(t *testing.T) {
	words := []string{`C:\Program Files\lidguard.exe`, "", `a\`, `say "hi"`, `a\"b`, `tab	and blank `, `\\server\share\`, `^&|<>%PATH%`}
	got, err := windows.DecomposeCommandLine(Line(words[0], words[1:]...))
	if err != nil || !slices.Equal(got, words) {
		t.Errorf("got %q, %v, want %q", got, err, words)
	}
}
