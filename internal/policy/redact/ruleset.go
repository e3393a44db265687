package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/policy"
)

// Ruleset is a published set of rules, in the form a hook reads: text, one rule on a
// line, below a line that says what it is and has the rest's digest.
type Ruleset struct {
	// Source says where it is from, for people: a module and its version.
	Source string
	rules  []regexpRule
}

// Len is how many rules it has.
func (s *Ruleset) Len() int { return len(s.rules) }

// Foreign is one rule of a published set as its own format tells it.
type Foreign struct {
	ID       string
	Regex    string
	Group    int
	Entropy  float64
	Keywords []string
	Allow    []string // expressions: a secret or a match that fits one is none
	Stop     []string // texts: a secret that holds one is none
}

// head begins the first line; its number changes with the format.
const head = "lidguard secret rules 1"

// FormatRuleset writes rules in the form ParseRuleset reads. Rules that would slow the
// hook down are left out: those without a keyword of three bytes, which the built-in
// rules have better. The error names a rule whose expression Go does not read.
func FormatRuleset(source string, rules []Foreign) ([]byte, error) {
	var b strings.Builder
	for _, r := range rules {
		var words []string
		for _, k := range r.Keywords {
			if len(k) < minKeyword {
				words = nil
				break
			}
			words = append(words, strings.ToLower(k))
		}
		if len(words) == 0 || r.Regex == "" {
			continue
		}
		for _, expr := range append([]string{r.Regex}, r.Allow...) {
			if _, err := policy.NewPattern(expr); err != nil {
				return nil, fmt.Errorf("rule %q: %w", r.ID, err)
			}
		}
		b.WriteString(strings.Join([]string{
			strconv.Quote(r.ID), strconv.Itoa(r.Group), strconv.FormatFloat(r.Entropy, 'g', -1, 64),
			quoteAll(words), quoteAll(r.Allow), quoteAll(r.Stop), strconv.Quote(r.Regex),
		}, "\t"))
		b.WriteByte('\n')
	}
	body := b.String()
	return []byte(fmt.Sprintf("%s\t%s\t%s\n%s", head, strconv.Quote(source), digest(body), body)), nil
}

func digest(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

func quoteAll(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, strconv.Quote(s))
	}
	return strings.Join(out, " ")
}

func unquoteAll(s string) ([]string, error) {
	var out []string
	for s != "" {
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, err
		}
		text, err := strconv.Unquote(q)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
		s = strings.TrimPrefix(s[len(q):], " ")
	}
	return out, nil
}

// errDamaged means that a set is not what was written.
var errDamaged = errors.New("the secret rules are damaged")

// ParseRuleset reads what FormatRuleset wrote. source is what it must be from; another
// one is an error, as is a set whose digest does not fit. Expressions are compiled
// when a text has one of their keywords.
func ParseRuleset(data []byte, source string) (*Ruleset, error) {
	first, body, ok := strings.Cut(string(data), "\n")
	fields := strings.Split(first, "\t")
	if !ok || len(fields) != 3 || fields[0] != head {
		return nil, fmt.Errorf("%w: they do not begin with %q", errDamaged, head)
	}
	if from, err := strconv.Unquote(fields[1]); err != nil || from != source {
		return nil, fmt.Errorf("the secret rules are from %s, want %q", fields[1], source)
	}
	if digest(body) != fields[2] {
		return nil, fmt.Errorf("%w: their digest does not fit", errDamaged)
	}
	set := &Ruleset{Source: source}
	for line := range strings.Lines(body) {
		r, err := parseRule(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		set.rules = append(set.rules, r)
	}
	return set, nil
}

func parseRule(line string) (r regexpRule, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 7 {
		return r, fmt.Errorf("a rule has %d fields", len(f))
	}
	if r.id, err = strconv.Unquote(f[0]); err != nil {
		return r, err
	}
	if r.group, err = strconv.Atoi(f[1]); err != nil {
		return r, err
	}
	if r.entropy, err = strconv.ParseFloat(f[2], 64); err != nil {
		return r, err
	}
	if r.words, err = unquoteAll(f[3]); err != nil {
		return r, err
	}
	allow, err := unquoteAll(f[4])
	if err != nil {
		return r, err
	}
	for _, a := range allow {
		r.allow = append(r.allow, lazy{source: a})
	}
	if r.stop, err = unquoteAll(f[5]); err != nil {
		return r, err
	}
	text, err := strconv.Unquote(f[6])
	if err != nil {
		return r, err
	}
	r.re = lazy{source: text}
	for _, w := range r.words {
		if len(w) < minKeyword {
			return r, fmt.Errorf("keyword %q is too short", w)
		}
	}
	return r, err
}
