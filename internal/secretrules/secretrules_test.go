package secretrules_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/secrets"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
	"github.com/lidguard-go/lidguard/internal/secretrules"
)

func ruleset(t *testing.T) *redact.Ruleset {
	t.Helper()
	rules, err := secretrules.Published()
	if err != nil {
		t.Fatal(err)
	}
	data, err := redact.FormatRuleset(entry.SecretSource, rules)
	if err != nil {
		t.Fatal(err)
	}
	set, err := redact.ParseRuleset(data, entry.SecretSource)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestPublished_hasTheSetsRules(t *testing.T) {
	if n := ruleset(t).Len(); n < 180 {
		t.Errorf("there are %d rules, the set has more than 200", n)
	}
}

// The hook is told by its source which set it reads; it must be the one linked.
func TestSource_isTheModuleOfThisBuild(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	path, version, _ := strings.Cut(entry.SecretSource, "@")
	if !strings.Contains(string(mod), path+" "+version) {
		t.Errorf("entry.SecretSource is %q, which is not what go.mod has of %s", entry.SecretSource, path)
	}
}

// Kinds that the built-in rules do not have are found by the published ones.
func TestPublished_findsMore(t *testing.T) {
	d := secrets.New(5)
	set := ruleset(t)
	for _, c := range []struct{ rule, text string }{
		{"adafruit-api-key", "adafruit_io_key = '" + d.Of(secrets.Lowers+secrets.Digits, 31) + "7'"},
		{"duffel-api-token", "duffel_live_" + d.Of(secrets.Alnums, 43)},
		{"dynatrace-api-token", "dt0c01." + d.Of(secrets.Uppers+"234567", 24) + "." + d.Of(secrets.Uppers+"234567", 64)},
		{"scalingo-api-token", "tk-us-" + d.Of(secrets.Alnums, 48)},
		{"frameio-api-token", "fio-u-" + d.Of(secrets.Alnums, 64)},
	} {
		e := redact.NewEngine(&redact.Config{}, set)
		out, r := e.Text("x " + c.text + "\n")
		if r.Clean() {
			t.Errorf("%s: nothing found", c.rule)
		}
		if again, r := e.Text(out); !r.Clean() {
			t.Errorf("%s: a second pass took %v from %q", c.rule, r.Rules, again)
		}
	}
}

func TestPublished_leavesCleanOutputAlone(t *testing.T) {
	e := redact.NewEngine(&redact.Config{}, ruleset(t))
	d := secrets.New(3)
	for i := range 1000 {
		in := secrets.Clean(d, i)
		if out, r := e.Text(in); out != in {
			t.Errorf("clean output %d: %v took something away: %.1500q", i%secrets.CleanKinds(), r.Rules, out)
		}
	}
}

func TestPublished_besideTheBuiltIn(t *testing.T) {
	e := redact.NewEngine(&redact.Config{}, ruleset(t))
	for _, s := range secrets.Roll(4, 300) {
		out, _ := e.Text("some text\n" + s.Text + "\nand more\n")
		for _, part := range s.Parts {
			if strings.Contains(out, part) {
				t.Errorf("the %s is still there: %q", s.Kind, out)
			}
		}
		if again, r := e.Text(out); again != out {
			t.Errorf("a second pass took %v from %q", r.Rules, out)
		}
	}
}

func BenchmarkText_mebibyte(b *testing.B) {
	rules, err := secretrules.Published()
	if err != nil {
		b.Fatal(err)
	}
	data, err := redact.FormatRuleset(entry.SecretSource, rules)
	if err != nil {
		b.Fatal(err)
	}
	d := secrets.New(3)
	var t strings.Builder
	for i := 0; t.Len() < 1<<20; i++ {
		t.WriteString(secrets.Clean(d, i))
	}
	b.SetBytes(int64(t.Len()))
	for b.Loop() {
		set, err := redact.ParseRuleset(data, entry.SecretSource)
		if err != nil {
			b.Fatal(err)
		}
		redact.NewEngine(&redact.Config{}, set).Text(t.String())
	}
}
