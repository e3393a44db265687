package doctor

import "strings"

// The codes of findings about rulebooks.
const (
	RulesBroken      = "rules-broken"
	BookBroken       = "book-broken"
	BookUntrusted    = "book-untrusted"
	BookChanged      = "book-changed"
	SharedBookPinned = "shared-book-pinned"
	SecretRulesGone  = "secret-rules-missing"
)

// BookFacts are what is known of the rulebooks that count in one folder.
type BookFacts struct {
	RulesError error // of the person's own book or switches

	Project string   // the project's book; empty if there is none
	Broken  error    // why it cannot be read
	Trusted bool     // as it is now
	Changed bool     // something else was trusted there
	Held    []string // what of it does not count without trust

	Stale   []error // shared books that changed and count from their copy
	Refused error   // a shared book that is missing: every call is refused

	SecretRules error // why the redact pack is on without the published rules
}

// Books checks the rulebooks.
func Books(f BookFacts) []Finding {
	var out []Finding
	if f.RulesError != nil {
		out = append(out, one(RulesBroken, "correct that place in the file; until then only the gate's standard profile holds",
			"your rules cannot be read: %v", f.RulesError)...)
	}
	if f.Refused != nil {
		out = append(out, one(SharedBookPinned, "look at that file; `lidguard hooks trust FILE` shows it and prints the new digest for your rulebook",
			"every call is refused: %v", f.Refused)...)
	}
	for _, problem := range f.Stale {
		out = append(out, one(SharedBookPinned, "look at that file; `lidguard hooks trust FILE` shows it and prints the new digest for your rulebook",
			"a shared rulebook is not as it was pinned, and counts as it was: %v", problem)...)
	}
	if f.SecretRules != nil {
		out = append(out, one(SecretRulesGone, "`lidguard setup` writes them",
			"the redact pack has its built-in rules alone, without the published ones of this version: %v", f.SecretRules)...)
	}
	switch {
	case f.Project == "":
	case f.Broken != nil:
		out = append(out, one(BookBroken, "correct that place in the file; until then the gate's standard profile holds in this project",
			"this project's rules cannot be read: %v", f.Broken)...)
	case f.Changed:
		out = append(out, one(BookChanged, "`lidguard hooks trust` shows what changed",
			"%s has changed since you trusted it: it may only tighten, and what it refused before is refused", f.Project)...)
	case !f.Trusted && len(f.Held) > 0:
		out = append(out, one(BookUntrusted, "`lidguard hooks trust` shows what it would do",
			"%s is not trusted, so it may only tighten; held back: %s", f.Project, strings.Join(f.Held, ", "))...)
	}
	return out
}
