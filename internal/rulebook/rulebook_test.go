package rulebook_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// mode is a word, as the decoder by itself would not read it.
type mode string

func (m *mode) UnmarshalText(text []byte) error {
	if *m = mode(text); *m != "on" && *m != "off" {
		return fmt.Errorf("%q is neither on nor off", text)
	}
	return nil
}

type book struct {
	Packs  map[string]mode `toml:"packs"`
	Lists  []row           `toml:"lists"`
	Redact struct {
		Off   []string        `toml:"off"`
		Match policy.Pattern  `toml:"match"`
		Limit policy.Duration `toml:"limit"`
		Max   int             `toml:"max"`
		Mode  mode            `toml:"mode"`
		Modes []mode          `toml:"modes"`
		Rows  []row           `toml:"rows"`
		Sub   struct {
			Mode *mode `toml:"mode"`
		} `toml:"sub"`
	} `toml:"redact"`
}

type row struct {
	Mode mode `toml:"mode"`
}

func TestDecode_saysWhere(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a key nobody knows", "[redact]\nof = []\n", "rules.toml:2:1: redact.of: there is no such key"},
		{"a section nobody knows", "[redakt]\noff = []\n", "rules.toml:1:2: redakt: there is no such key"},
		{"a wrong type", "[redact]\nmax = \"three\"\n", "rules.toml:2:7: redact.max: "},
		{"a wrong expression", "[redact]\nmatch = \"(\"\n", "rules.toml:2:9: redact.match: \"(\" is no regular expression"},
		{"a wrong duration", "[redact]\nlimit = \"soon\"\n", "rules.toml:2:9: redact.limit: \"soon\" is no duration"},
		{"a wrong word", "[redact]\nmode = 'om'\n", "rules.toml:2:1: redact.mode: \"om\" is neither on nor off"},
		{"in a list", "[redact]\nmax = 1\nmodes = ['on', 'om']\n", "rules.toml:3:1: redact.modes: \"om\" is"},
		{"in a map", "[packs]\nx = 'on'\ny = 'om'\n", "rules.toml:3:1: packs.y: \"om\" is"},
		{"in the second row", "[[lists]]\nmode = 'on'\n[[lists]]\nmode = 'om'\n", "rules.toml:4:1: lists.mode: \"om\" is"},
		{"in a row of a section", "[[redact.rows]]\nmode = 'on'\n[[redact.rows]]\nmode = 'om'\n", "rules.toml:4:1: redact.rows.mode: \"om\" is"},
		{"in a row written inline", "[redact]\nrows = [{mode = 'om'}]\n", "rules.toml:2:1: redact.rows.mode: \"om\" is"},
		{"in a table of a section", "[redact]\n[redact.sub]\nmode = 'om'\n", "rules.toml:3:1: redact.sub.mode: \"om\" is"},
		{"no TOML", "[redact\n", "rules.toml:1:"},
		{"a key twice", "[redact]\nmax = 1\nmax = 2\n", "rules.toml:3:1: max: key max is already defined"},
	} {
		var b book
		err := rulebook.Decode("rules.toml", []byte(c.text), &b)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s…", c.name, err, c.want)
		}
	}
	var b book
	if err := rulebook.Decode("rules.toml", []byte("[redact]\nmatch = 'a+'\nlimit = '2s'\nmax = 3\n"), &b); err != nil {
		t.Fatal(err)
	}
	if !b.Redact.Match.Match("caat") || b.Redact.Match.Match("ct") || b.Redact.Limit.Or(1) != 2e9 || b.Redact.Max != 3 {
		t.Errorf("got %+v", b)
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.toml")
	var b book
	if err := rulebook.Load(file, &b); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("# long\n", rulebook.MaxBook/7+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rulebook.Load(file, &b); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v, want a complaint about the size", err)
	}
}
