package census_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/census"
)

// TestDocs_eventsPage holds docs/events.md against the census; -update writes it.
func TestDocs_eventsPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "events.md")
	want := page()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/events.md is not up to date (go test ./internal/census -update): %s", diff)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString("# Every event of every client\n\n" +
		"Written from `internal/census` (`go test ./internal/census -update`); `lidguard hooks events` shows the same, with `--json` for scripts. " +
		"What is marked read was found in documentation or typings and not triggered; everything else was measured on the version named. " +
		"The evidence is in docs/contracts.\n\n" +
		"\"Strongest answer\" is what a hook can do at most: stop what was about to happen, keep a turn going, replace an output. " +
		"A `?` behind a member of a payload means that not every payload of the event has it.\n")
	for _, p := range census.Providers() {
		c, _ := census.Of(p)
		fmt.Fprintf(&b, "\n## %s\n\nMeasured on %s; see `%s`.\n\n", c.Title, c.Version, c.Contract)
		for _, n := range c.Notes {
			b.WriteString("- " + n + "\n")
		}
		if len(c.Common) > 0 {
			b.WriteString("\nEvery payload: " + members(c.Common) + ".\n")
		}
		b.WriteString("\n| handler | timeout | does |\n| --- | --- | --- |\n")
		for _, h := range c.Handlers {
			limit := "–"
			if h.Default != 0 {
				limit = strconv.FormatFloat(h.Default, 'g', -1, 64) + " s"
			}
			does := h.Does
			if h.Mark == census.Read {
				does += " (read)"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", h.Kind, limit, does)
		}
		b.WriteString("\n| event | matched by | strongest answer | given by | timeout | handlers | since |\n| --- | --- | --- | --- | --- | --- | --- |\n")
		for _, e := range census.Events(p) {
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s | %s | %s | %s |\n", cell(title(e)), anchor(c, e), cell(orDash(e.Matcher.Field)), effect(e), cell(channels(e)), timeout(e), kinds(e), orDash(e.Since))
		}
		for _, e := range census.Events(p) {
			detail(&b, c, e)
		}
	}
	return b.String()
}

func title(e census.Event) string {
	if e.Pascal != "" {
		return e.Native + " (" + e.Pascal + ")"
	}
	return e.Native
}

func heading(c census.Client, e census.Event) string {
	return c.Title + ": " + e.Native
}

// anchor is the name under which a heading is linked to: lower case, blanks as
// hyphens, and no punctuation.
func anchor(c census.Client, e census.Event) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(heading(c, e)))
}

func detail(b *strings.Builder, c census.Client, e census.Event) {
	fmt.Fprintf(b, "\n### %s\n\n", heading(c, e))
	fmt.Fprintf(b, "Fires: %s.", e.When)
	if e.Mark == census.Read {
		b.WriteString(" (Read, not measured.)")
	}
	b.WriteString("\n\n")
	if e.Matcher.Field != "" {
		fmt.Fprintf(b, "- matcher: on `%s`; %s", e.Matcher.Field, e.Matcher.Law)
		if len(e.Matcher.Values) > 0 {
			b.WriteString("; values " + strings.Join(e.Matcher.Values, ", "))
		}
		b.WriteString("\n")
	} else {
		fmt.Fprintf(b, "- matcher: %s\n", e.Matcher.Law)
	}
	if len(e.Input) > 0 {
		b.WriteString("- payload: " + members(e.Input) + "\n")
	}
	for _, o := range e.Outputs {
		b.WriteString("- output `" + o.Key + "`: " + o.Does)
		if o.Mark == census.Read && e.Mark != census.Read {
			b.WriteString(" (read)")
		}
		b.WriteString("\n")
	}
	if e.Exit2 != "" {
		b.WriteString("- exit 2: " + e.Exit2 + "\n")
	}
	if e.Timeout.Note != "" {
		b.WriteString("- timeout: " + timeout(e) + "; " + e.Timeout.Note + "\n")
	}
	for _, n := range e.Notes {
		b.WriteString("- " + n + "\n")
	}
}

func members(fields []census.Field) string {
	var out []string
	for _, f := range fields {
		s := "`" + f.Name + "`"
		if f.Optional {
			s += "?"
		}
		s += " " + f.Type
		if f.Note != "" {
			s += " (" + f.Note + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func effect(e census.Event) string {
	s := string(e.Blocks.Effect)
	if e.Blocks.Mark == census.Read {
		s += " (read)"
	}
	return s
}

func channels(e census.Event) string {
	var out []string
	if e.Blocks.Exit2 {
		out = append(out, "exit 2")
	}
	for _, k := range e.Blocks.Keys {
		out = append(out, "`"+k+"`")
	}
	return orDash(strings.Join(out, ", "))
}

func timeout(e census.Event) string {
	if e.Timeout.Default == 0 {
		return "none"
	}
	s := strconv.FormatFloat(e.Timeout.Default, 'g', -1, 64) + " s"
	if e.Timeout.Max != 0 {
		s += ", at most " + strconv.FormatFloat(e.Timeout.Max, 'g', -1, 64) + " s"
	}
	return s
}

func kinds(e census.Event) string {
	var out []string
	for _, k := range e.Kinds {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// cell keeps a bar from ending a table's cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
