package lasting

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestLoginAgent_text(t *testing.T) {
	for name, a := range map[string]LoginAgent{
		"plain.plist":    {Program: "/usr/local/bin/lidguard"},
		"home.plist":     {Program: "/opt/lidguard", LidguardHome: "/Users/lab/Lid & guard"},
		"odd-path.plist": {Program: "/Users/a <b> & \"c\"/lidguard"},
	} {
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, a.Text(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(a.Text()) != string(want) {
			t.Errorf("%s is now\n%s, %v", name, a.Text(), err)
		}
		words := ""
		for dec := xml.NewDecoder(strings.NewReader(string(a.Text()))); ; {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s is no XML: %v", name, err)
			}
			if text, ok := token.(xml.CharData); ok {
				words += strings.TrimSpace(string(text)) + "\n"
			}
		}
		if !strings.Contains(words, "\n"+a.Program+"\n") || !strings.Contains(words, "\nkeeper\n") {
			t.Errorf("%s reads as %q", name, words)
		}
	}
}

func TestLoginAgent_ours(t *testing.T) {
	a := LoginAgent{Home: "/Users/lab", Program: "/opt/lidguard"}
	moved := LoginAgent{Home: "/Users/lab", Program: "/elsewhere/lidguard"}
	if !a.Ours(moved.Text()) || a.Ours([]byte("<plist/>")) || a.Ours(nil) {
		t.Error("which files are lidguard's does not go by the mark")
	}
	if want := filepath.Join("/Users/lab", "Library", "LaunchAgents", "io.github.lidguard-go.restore.plist"); a.Path() != want {
		t.Errorf("the file is %s, want %s", a.Path(), want)
	}
}
