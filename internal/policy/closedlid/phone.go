package closedlid

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Answered is the verdict once the phone was asked about ev: the person's own where
// they gave one, silence where somebody is at the machine, so that the client's own
// prompt stays, and else v, the denial that was given before.
func Answered(v event.Verdict, ev *event.Event, answer string) event.Verdict {
	switch answer {
	case "allow":
		return event.Verdict{Decision: event.Allow, Rule: RulePhoneAllow, Policy: Name}
	case "deny":
		return event.Verdict{Decision: event.Deny, Rule: RulePhoneDeny, Policy: Name, Interrupt: v.Interrupt,
			Reason: "The person was asked on their phone and refused " + call(ev) + ". " + goOn}
	case "here":
		return event.Verdict{}
	}
	return v
}

// maxShown bounds what a phone is shown, in bytes: ntfy takes 4,096 of it. What is
// longer than glanceLines or glanceBytes says so at its beginning, since the buttons
// stand below a notification that shows no more than that of it.
const (
	maxShown    = 1500
	glanceLines = 8
	glanceBytes = 300
	maxSpaces   = 16 // spaces in a row that are shown as such
)

// Title says on the phone who asks: the client, and the folder it works in.
func Title(ev *event.Event) string {
	title := string(ev.Provider) + " asks"
	if dir := path.Base(strings.ReplaceAll(ev.Cwd, `\`, "/")); ev.Cwd != "" && dir != "/" {
		title += " in " + visible(event.Preview(dir))
	}
	return title
}

// Shown is all that the call of ev would do, as a person on a phone can judge it:
// the tool and every member of its input, a shell's command first, then the short
// ones. Only the tool and the members' names begin a line; what a value has in it is
// indented, so that it cannot pass for another member. Characters that cannot be
// seen, or that turn text around, are spelled out, and empty space is counted. whole
// is false where that is not everything: what cannot be shown must not be approved.
func Shown(ev *event.Event) (text string, whole bool) {
	if ev.Tool == nil {
		return "", false
	}
	tool := indented(ev.Tool.Name)
	var input map[string]json.RawMessage
	if err := json.Unmarshal(ev.Tool.Input, &input); err != nil {
		return tool, false
	}
	names := slices.SortedFunc(maps.Keys(input), func(x, y string) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(len(input[x]), len(input[y])), cmp.Compare(x, y))
	})
	var b strings.Builder
	for _, name := range names {
		value := string(input[name])
		var s string
		if json.Unmarshal(input[name], &s) == nil && value != "null" {
			value = s
		}
		b.WriteByte('\n')
		if name != "command" {
			b.WriteString(indented(name) + ": ")
		}
		b.WriteString(indented(value))
		if len(tool)+b.Len() > maxShown {
			return strings.ToValidUTF8((tool + b.String())[:maxShown], "") + " … (cut: it can only be denied from here)", false
		}
	}
	if lines := 1 + strings.Count(b.String(), "\n"); lines > glanceLines || b.Len() > glanceBytes {
		tool += fmt.Sprintf(" (long, read it to its end: %d lines, %d letters)", lines, utf8.RuneCountInString(b.String()))
	}
	return tool + b.String(), true
}

// rank puts the command before everything and the model's own words about it last.
func rank(name string) int {
	switch name {
	case "command":
		return 0
	case "description":
		return 2
	}
	return 1
}

// indented is s with every line but the first moved to the right, and what cannot be
// seen spelled out. Empty lines and long gaps, which would push the rest of s out of
// sight, are counted instead.
func indented(s string) string {
	var b strings.Builder
	empty := 0
	for n, line := range strings.Split(s, "\n") {
		if n > 0 && strings.Trim(line, " ") == "" {
			empty++
			continue
		}
		if empty > 0 {
			fmt.Fprintf(&b, "\n  (%d × empty line)", empty)
			empty = 0
		}
		if n > 0 {
			b.WriteString("\n  ")
		}
		b.WriteString(visible(line))
	}
	if empty > 0 {
		fmt.Fprintf(&b, "\n  (%d × empty line)", empty)
	}
	return b.String()
}

// visible spells out what cannot be seen in a line.
func visible(line string) string {
	var b strings.Builder
	spaces := 0
	gap := func() {
		if spaces > maxSpaces {
			fmt.Fprintf(&b, "(%d × space)", spaces)
		} else {
			b.WriteString(strings.Repeat(" ", spaces))
		}
		spaces = 0
	}
	for _, r := range line {
		if r == ' ' {
			spaces++
			continue
		}
		gap()
		if unicode.IsPrint(r) && !unseen(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
	}
	gap()
	return b.String()
}

// unseen tells characters that Unicode calls printable and a font leaves blank.
func unseen(r rune) bool {
	return r == unicode.ReplacementChar || r == '\u2800' || // the Braille pattern without a dot
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
