package hooktest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/hook"
)

var update = flag.Bool("update", false, "copy the recorded payloads anew")

// maxFixture keeps the embedded files small: a longer payload is left out, unless
// it is the plain case of its event.
const maxFixture = 4 << 10

// The embedded payloads are those the codecs are tested with, one a line.
func TestFixtures_areTheRecordedOnes(t *testing.T) {
	for _, provider := range hook.Providers() {
		files, err := filepath.Glob(filepath.Join("..", "..", "internal", "provider", string(provider), "testdata", "fixtures", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no payloads of %s: %v", provider, err)
		}
		var want bytes.Buffer
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			if provider == hook.Codex {
				name = strings.Replace(name, "-", ".", 1)
			}
			var line bytes.Buffer
			enc := json.NewEncoder(&line)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(recording{name, native(provider, name), text}); err != nil {
				t.Fatal(err)
			}
			if line.Len() > maxFixture && strings.Contains(strings.TrimPrefix(name, "pascal-"), ".") {
				continue
			}
			want.Write(line.Bytes())
		}
		path := filepath.Join("fixtures", string(provider)+".jsonl")
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := fixtures.ReadFile(filepath.ToSlash(path))
		if err != nil {
			t.Fatalf("%v (run with -update to write it)", err)
		}
		if diff := cmp.Diff(want.String(), string(got)); diff != "" {
			t.Errorf("%s differs (-want +got), run with -update:\n%s", path, diff)
		}
	}
}

// native is the event's name in the client's spelling by the recording's name.
func native(provider hook.Provider, name string) string {
	switch provider {
	case hook.OpenCode:
		_, name, _ = strings.Cut(name, "-")
		words := strings.Split(name, ".")
		n := 2 // session.idle
		switch {
		case words[0] == "dispose":
			n = 1
		case words[0] == "experimental" || words[0] == "tool" && words[1] == "execute":
			n = 3
		}
		return strings.Join(words[:n], ".")
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "pascal-"), ".")
	return name
}
