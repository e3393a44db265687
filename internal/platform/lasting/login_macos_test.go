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

func TestLoginAgent_installAndRemove(t *testing.T) {
	a := LoginAgent{Home: t.TempDir(), Program: "/opt/lidguard"}
	if removed, err := a.Remove(); removed || err != nil {
		t.Errorf("Remove of nothing = %v, %v", removed, err)
	}
	for i, want := range []bool{true, false} {
		if changed, err := a.Install(); changed != want || err != nil {
			t.Errorf("Install %d = %v, %v", i, changed, err)
		}
	}
	a.Program = "/elsewhere/lidguard"
	if changed, err := a.Install(); !changed || err != nil {
		t.Errorf("Install of a moved program = %v, %v", changed, err)
	}
	if removed, err := a.Remove(); !removed || err != nil {
		t.Errorf("Remove = %v, %v", removed, err)
	}
	if err := os.WriteFile(a.Path(), []byte("<plist/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := a.Install()
	_, err2 := a.Remove()
	if data, _ := os.ReadFile(a.Path()); err == nil || err2 == nil || string(data) != "<plist/>" {
		t.Errorf("another's file: Install = %v, Remove = %v, left %q", err, err2, data)
	}
}
