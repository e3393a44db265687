package doctor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/doctor"
)

func TestBooks(t *testing.T) {
	bad := errors.New("rules.toml:2:1: gate.x: there is no such key")
	for _, c := range []struct {
		name  string
		facts doctor.BookFacts
		codes string
		says  string
	}{
		{"nothing to say", doctor.BookFacts{}, "", ""},
		{"a trusted project", doctor.BookFacts{Project: "/p/.lidguard/rules.toml", Trusted: true, Held: []string{"handler"}}, "", ""},
		{"an untrusted one that only tightens", doctor.BookFacts{Project: "/p/.lidguard/rules.toml"}, "", ""},
		{"one that wants more", doctor.BookFacts{Project: "/p/.lidguard/rules.toml", Held: []string{"handler", "until"}}, "book-untrusted", "held back: handler, until"},
		{"one that changed", doctor.BookFacts{Project: "/p/.lidguard/rules.toml", Changed: true, Held: []string{"handler"}}, "book-changed", "has changed"},
		{"a broken one", doctor.BookFacts{Project: "/p/.lidguard/rules.toml", Broken: bad}, "book-broken", "rules.toml:2:1"},
		{"the person's own", doctor.BookFacts{RulesError: bad}, "rules-broken", "rules.toml:2:1"},
		{"no published rules for secrets", doctor.BookFacts{SecretRules: bad}, "secret-rules-missing", "built-in rules alone"},
		{"shared ones", doctor.BookFacts{Stale: []error{bad}, Refused: bad}, "shared-book-pinned shared-book-pinned", "every call is refused"},
	} {
		var codes []string
		text := ""
		for _, f := range doctor.Books(c.facts) {
			codes = append(codes, f.Code)
			text += f.Text + "\n"
			if f.Remedy == "" {
				t.Errorf("%s: %s has no remedy", c.name, f.Code)
			}
		}
		if strings.Join(codes, " ") != c.codes || !strings.Contains(text, c.says) {
			t.Errorf("%s: got %q: %s", c.name, codes, text)
		}
	}
}
