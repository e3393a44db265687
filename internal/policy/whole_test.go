package policy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/policy"
)

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		text, yes, no string
		plain         bool
	}{
		{"Bash", "Bash", "BashOutput bash xBash", true},
		{"Edit|Write", "Edit Write", "NotebookEdit EditX", true},
		{"mcp__db__.*", "mcp__db__ mcp__db__drop", "xmcp__db__drop mcp__web", true},
		{"mcp__.*|Web.*", "mcp__x WebFetch", "Fetch", true},
		{"mcp__(a|b)__x", "mcp__a__x mcp__b__x", "mcp__c__x mcp__a__xy", false},
		{"a+", "a aa", "ab b", false},
	} {
		var w policy.Whole
		if err := w.UnmarshalText([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if w.Plain() != c.plain {
			t.Errorf("%s: plain is %t", c.text, w.Plain())
		}
		for _, name := range strings.Fields(c.yes) {
			if !w.Matches(name) {
				t.Errorf("%s is not for %s", c.text, name)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if w.Matches(name) {
				t.Errorf("%s is for %s", c.text, name)
			}
		}
	}
	var w policy.Whole
	if w.UnmarshalText(nil) == nil || w.UnmarshalText([]byte("(")) == nil {
		t.Error("nothing, or half an expression, was taken")
	}
	if (&policy.Whole{}).Matches("") || !(&policy.Whole{}).IsZero() {
		t.Error("nothing is for something")
	}
}

// FuzzWhole: it means what the anchored expression means.
func FuzzWhole(f *testing.F) {
	f.Add("Edit|Write", "Write")
	f.Add("mcp__.*", "mcp__a\n")
	f.Add("a|", "")
	f.Add(".*", "x")
	f.Fuzz(func(t *testing.T, text, name string) {
		var w policy.Whole
		if len(text) > 200 || w.UnmarshalText([]byte(text)) != nil {
			return
		}
		want, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			t.Fatalf("%q was taken, and is no expression: %v", text, err)
		}
		if got := w.Matches(name); got != want.MatchString(name) {
			t.Fatalf("%q on %q: %t", text, name, got)
		}
	})
}
