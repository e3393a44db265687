// Package secretrules takes the rules for secrets out of gitleaks' published set and
// hands them over in the redact pack's terms. Nothing comes in but the module that the
// program was built with; it reads no file and no network. It is for the program that a
// person runs, never for a hook: the set comes with the whole configuration machinery
// of gitleaks, which no hook could afford to link.
//
// Left out are rules that look at file names, which a tool's output does not tell, and
// generic-api-key, of which the pack has a stricter form: it takes many an id for a key.
package secretrules

import (
	"fmt"
	"strings"

	toml "github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"

	"github.com/lidguard-go/lidguard/internal/policy/redact"
)

// leftOut are rules whose matches in ordinary output are mostly no secrets.
var leftOut = map[string]bool{"generic-api-key": true, "pkcs12-file": true}

// published is what is used of the set's format (gitleaks' documentation, "Configuration").
type published struct {
	Allowlist allowlist `toml:"allowlist"`
	Rules     []struct {
		ID          string      `toml:"id"`
		Regex       string      `toml:"regex"`
		Path        string      `toml:"path"`
		SecretGroup int         `toml:"secretGroup"`
		Entropy     float64     `toml:"entropy"`
		Keywords    []string    `toml:"keywords"`
		Allowlists  []allowlist `toml:"allowlists"`
	} `toml:"rules"`
}

type allowlist struct {
	Regexes   []string `toml:"regexes"`
	StopWords []string `toml:"stopwords"`
	Paths     []string `toml:"paths"`
	Condition string   `toml:"condition"`
}

// Published returns the rules of the set.
func Published() (redact.Set, error) {
	var out redact.Set
	var set published
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &set); err != nil {
		return out, fmt.Errorf("reading the published secret rules: %w", err)
	}
	out.Allow, out.Stop = set.Allowlist.Regexes, small(set.Allowlist.StopWords)
	for _, r := range set.Rules {
		if r.Regex == "" || r.Path != "" || leftOut[r.ID] {
			continue
		}
		f := redact.Foreign{ID: r.ID, Regex: r.Regex, Group: r.SecretGroup, Entropy: r.Entropy, Keywords: r.Keywords}
		for _, a := range r.Allowlists {
			if len(a.Paths) > 0 && strings.EqualFold(a.Condition, "AND") {
				continue // it excuses a secret in certain files alone
			}
			f.Allow = append(f.Allow, a.Regexes...)
			f.Stop = append(f.Stop, small(a.StopWords)...)
		}
		out.Rules = append(out.Rules, f)
	}
	return out, nil
}

func small(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, strings.ToLower(w))
	}
	return out
}
