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
// line, below a line that says what it is and has the rest's digest, and one for what
// all rules excuse. A rule begins with its id and its keywords, as they are; what comes
// after these is read when a text has one of them.
type Ruleset struct {
	// Source says where it is from, for people: a module and its version.
	Source string
	rules  []regexpRule
	common excuses
}

// excuses are what a rule takes for no secret.
type excuses struct {
	allow []lazy
	stop  []string
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

// Set is a published set as its own format tells it.
type Set struct {
	Rules []Foreign
	Allow []string // as Foreign.Allow, for all rules
	Stop  []string
}

// FormatRuleset writes a set in the form ParseRuleset reads. Rules that would slow the
// hook down are left out: those without a keyword of three bytes, which the built-in
// rules have better. The error names a rule whose expression Go does not read.
func FormatRuleset(source string, set Set) ([]byte, error) {
	var b strings.Builder
	check := func(id string, exprs ...string) error {
		for _, expr := range exprs {
			if _, err := policy.NewPattern(expr); err != nil {
				return fmt.Errorf("rule %q: %w", id, err)
			}
		}
		return nil
	}
	if err := check("for all", set.Allow...); err != nil {
		return nil, err
	}
	b.WriteString(quoteAll(set.Allow) + "\t" + quoteAll(set.Stop) + "\n")
	for _, r := range set.Rules {
		var words []string
		for _, k := range r.Keywords {
			if len(k) < minKeyword || strings.ContainsAny(k, "\t\n\x1f") {
				words = nil
				break
			}
			words = append(words, strings.ToLower(k))
		}
		if len(words) == 0 || r.Regex == "" || strings.ContainsAny(r.ID, "\t\n") {
			continue
		}
		if err := check(r.ID, append([]string{r.Regex}, r.Allow...)...); err != nil {
			return nil, err
		}
		b.WriteString(strings.Join([]string{
			r.ID, strings.Join(words, "\x1f"), strconv.Itoa(r.Group), strconv.FormatFloat(r.Entropy, 'g', -1, 64),
			quoteAll(r.Allow), quoteAll(r.Stop), strconv.Quote(r.Regex),
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
	line, body, _ := strings.Cut(body, "\n")
	allow, stop, ok := strings.Cut(line, "\t")
	if err := set.common.read(allow, stop); !ok || err != nil {
		return nil, errDamaged
	}
	for line := range strings.Lines(body) {
		id, line, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words, rest, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, errDamaged
		}
		set.rules = append(set.rules, regexpRule{id: id, words: strings.Split(words, "\x1f"), rest: rest, common: &set.common})
	}
	return set, nil
}

func (x *excuses) read(allow, stop string) error {
	list, err := unquoteAll(allow)
	if err != nil {
		return err
	}
	for _, a := range list {
		x.allow = append(x.allow, lazy{source: a})
	}
	x.stop, err = unquoteAll(stop)
	return err
}

// open reads the rest of a rule. The digest has told that it is what was written, so
// that a fault here is ours; the rule then finds nothing.
func (r *regexpRule) open() {
	if r.rest == "" {
		return
	}
	f := strings.Split(r.rest, "\t")
	r.rest = ""
	if len(f) != 5 {
		return
	}
	var errs [4]error
	var expr string
	r.group, errs[0] = strconv.Atoi(f[0])
	r.entropy, errs[1] = strconv.ParseFloat(f[1], 64)
	errs[2] = r.own.read(f[2], f[3])
	expr, errs[3] = strconv.Unquote(f[4])
	if errors.Join(errs[:]...) == nil {
		r.re = lazy{source: expr}
	}
}
