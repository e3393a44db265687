package census_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/lidguard-go/lidguard/internal/census"
)

// TestLaw_readsAsTheClientDoes is the table of contracts/claude §6, contracts/codex
// §2 and contracts/copilot §6, with what was measured.
func TestLaw_readsAsTheClientDoes(t *testing.T) {
	claude, codex, copilot := census.ListOrRegex, census.WordsOrRegex, census.FullRegex
	for _, c := range []struct {
		law     census.Law
		matcher string
		value   string
		want    bool
	}{
		{claude, "", "Bash", true},
		{claude, "*", "Bash", true},
		{claude, "Bash", "Bash", true},
		{claude, "Edit|Write", "Write", true},
		{claude, "Edit, Write", "Write", true},
		{claude, " Bash ", "Bash", true},
		{claude, "bash", "Bash", false},
		{claude, "Bas", "Bash", false},
		{claude, "Bash Write", "Bash", false},
		{claude, "mcp__server", "mcp__server__tool", false},
		{claude, "mcp__my-server", "mcp__my-server", true},
		{claude, "mcp__server__.*", "mcp__server__tool", true},
		{claude, "/Bash/", "Bash", false},
		{claude, "!Bash", "Bash", false},
		{claude, "(?i)bash", "Bash", false},
		{claude, "[", "Bash", false},
		{claude, "Edit.*", "NotebookEdit", true},
		{claude, "^Edit$", "NotebookEdit", false},
		{claude, "^(?!Bash).*", "Write", true},
		{claude, "^(?<tool>Bash)$", "Bash", true},
		{claude, `\u0042ash.*`, "Bash", true},
		{census.NarrowList, "rate_limit|server_error", "server_error", true},
		{census.NarrowList, "rate-limit", "rate_limit", false},
		{census.FileNames, ".env|.envrc", ".envrc", true},
		{census.FileNames, ".*", ".env", false},
		{census.Ignored, "nothing", "anything", true},
		{codex, "Ba", "Bash", false},
		{codex, "mcp__lab", "mcp__lab__echo", false},
		{codex, "mcp__.*", "mcp__lab__echo", true},
		{codex, "^Bash$", "Bash", true},
		{codex, "(?i)bash", "Bash", true},
		{codex, "bash", "Bash", false},
		{codex, "[", "Bash", false},
		{codex, "(?!x)Bash", "Bash", false},
		{copilot, "*", "bash", false},
		{copilot, "", "bash", false},
		{copilot, "bash", "bash", true},
		{copilot, "ba", "bash", false},
		{copilot, "ba.*", "bash", true},
		{copilot, "edit|create", "create", true},
	} {
		r := c.law.Read(c.matcher)
		if got := r.Matches(c.value); got != c.want {
			t.Errorf("%q by %q: %q matches %v, want %v (%+v)", c.matcher, c.law, c.value, got, c.want, r)
		}
	}
	if r := claude.Read("Edit.*"); !r.Matches("NotebookEdit") || r.Whole("NotebookEdit") || !r.Whole("Edit") {
		t.Error("Whole does not tell an unanchored match from a whole one")
	}
	if r := claude.Read("(?i)bash"); r.Fault == "" {
		t.Error("JavaScript has no flags inside a pattern, and nothing says so")
	}
	if r := claude.Read(`(\w)\1`); !r.Loose || r.Fault != "" {
		t.Errorf("a back reference is read as %+v", r)
	}
}

// FuzzLaw: no matcher breaks a reading; a fault matches nothing; what Go and
// JavaScript write alike means the same.
func FuzzLaw(f *testing.F) {
	for _, s := range []string{"", "*", "Bash", "Edit|Write", "[", "(?i)bash", `\u{1}`, `\x4`, "(?<n>a)\\k<n>", "[^]", "[]", `[\1-\d]`, "(?=", "a{2,1}", `\`, "é|\\é", "(?<!a)b", "[[:alpha:]]"} {
		f.Add(s, "Bash")
	}
	laws := []census.Law{census.Ignored, census.ListOrRegex, census.NarrowList, census.FileNames, census.WordsOrRegex, census.FullRegex, census.InPlugin, census.Untested}
	plain := regexp.MustCompile(`^[A-Za-z_.*+()|^$]+$`)
	f.Fuzz(func(t *testing.T, matcher, value string) {
		for _, law := range laws {
			r := law.Read(matcher)
			got := r.Matches(value)
			r.Whole(value)
			if r.Fault != "" && got {
				t.Errorf("%q by %q is at fault and matches %q", matcher, law, value)
			}
			if r.Names != nil && got != slices.Contains(r.Names, value) {
				t.Errorf("%q by %q: a list that matches by something else", matcher, law)
			}
		}
		if r := census.ListOrRegex.Read(matcher); r.Pattern != "" && r.Fault == "" && plain.MatchString(matcher) {
			expr, err := regexp.Compile(matcher)
			if err != nil || expr.MatchString(value) != r.Matches(value) {
				t.Errorf("%q is read otherwise than Go reads it (%v)", matcher, err)
			}
		}
	})
}
