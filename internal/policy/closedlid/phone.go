package closedlid

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

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
		return event.Verdict{Decision: event.Deny, Rule: RulePhoneDeny, Policy: Name,
			Reason: "The person was asked on their phone and refused " + call(ev) + ". " + goOn}
	case "here":
		return event.Verdict{}
	}
	return v
}

// maxShown bounds what a phone is shown, in bytes: a notification is read at a
// glance, and ntfy takes 4,096 bytes of it.
const maxShown = 1500

// Title says on the phone who asks: the client, and the folder it works in.
func Title(ev *event.Event) string {
	title := string(ev.Provider) + " asks"
	if dir := path.Base(strings.ReplaceAll(ev.Cwd, `\`, "/")); ev.Cwd != "" && dir != "/" {
		title += " in " + event.Preview(dir)
	}
	return title
}

// Shown is all that the call of ev would do, as a person on a phone can judge it:
// the tool and every member of its input, a shell's command first. Characters that
// cannot be seen, or that turn text around, are spelled out. whole is false where
// that is not everything: what cannot be shown must not be approved.
func Shown(ev *event.Event) (text string, whole bool) {
	if ev.Tool == nil {
		return "", false
	}
	var b strings.Builder
	b.WriteString(visible(ev.Tool.Name))
	var input map[string]json.RawMessage
	if err := json.Unmarshal(ev.Tool.Input, &input); err != nil {
		return b.String(), false
	}
	names := slices.SortedFunc(maps.Keys(input), func(x, y string) int {
		return strings.Compare(order(x), order(y))
	})
	for _, name := range names {
		value := string(input[name])
		var s string
		if json.Unmarshal(input[name], &s) == nil && value != "null" {
			value = s
		}
		if name == "command" {
			fmt.Fprintf(&b, "\n%s", visible(value))
		} else {
			fmt.Fprintf(&b, "\n%s: %s", visible(name), visible(value))
		}
		if b.Len() > maxShown {
			return strings.ToValidUTF8(b.String()[:maxShown], "") + " … (cut: it can only be denied from here)", false
		}
	}
	return b.String(), true
}

// order puts the command before everything and the model's own words about it last.
func order(name string) string {
	switch name {
	case "command":
		return "0"
	case "description":
		return "2"
	}
	return "1" + name
}

func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || unicode.IsPrint(r) && r != unicode.ReplacementChar {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
	}
	return b.String()
}
