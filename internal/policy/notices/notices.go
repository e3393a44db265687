// Package notices draws a person's eye to a terminal. In comes what a client says it
// wants a person for; out goes a sequence for the terminal, from a short list of
// those that only ring, notify or name a window, with text in which nothing can act.
// It never writes to a terminal itself: the client does, where it can.
package notices

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in chains and logs.
const Name = "notices"

// Occasion is what a notice is about.
type Occasion string

// The occasions.
const (
	Waiting  Occasion = "waiting"  // a person is asked something
	Finished Occasion = "finished" // the agent is done and nobody has looked
	Limit    Occasion = "limit"    // a usage limit begins or ends
	Denied   Occasion = "denied"   // a call was refused by the chain
)

// UnmarshalText reads an occasion.
func (o *Occasion) UnmarshalText(text []byte) error {
	if v := Occasion(text); slices.Contains([]Occasion{Waiting, Finished, Limit, Denied}, v) {
		*o = v
		return nil
	}
	return fmt.Errorf("an occasion is %q, %q, %q or %q, not %q", Waiting, Finished, Limit, Denied, text)
}

// Way is how a terminal is told.
type Way string

// The ways; the zero value is Bell.
const (
	Bell   Way = "bell"   // BEL
	OSC9   Way = "osc9"   // iTerm2, WezTerm, Ghostty, Windows Terminal, ConEmu
	OSC777 Way = "osc777" // urxvt, foot, VTE, Ghostty
	OSC99  Way = "osc99"  // kitty
	Title  Way = "title"  // the window's title, OSC 2
)

// UnmarshalText reads a way.
func (w *Way) UnmarshalText(text []byte) error {
	if v := Way(text); slices.Contains([]Way{Bell, OSC9, OSC777, OSC99, Title}, v) {
		*w = v
		return nil
	}
	return fmt.Errorf("a way is %q, %q, %q, %q or %q, not %q", Bell, OSC9, OSC777, OSC99, Title, text)
}

// Config is the rulebook's section. The zero value rings for what waits, is finished
// or is limited, and tells what was denied.
type Config struct {
	// On are the occasions; none means all.
	On []Occasion `toml:"on"`
	// With are the ways, all of which are used.
	With []Way `toml:"with"`
	// Plain leaves the client's words out: a notice may be read by whoever passes by.
	Plain bool `toml:"plain"`
}

// Wants reports whether an occasion is told.
func (c *Config) Wants(o Occasion) bool { return len(c.On) == 0 || slices.Contains(c.On, o) }

// OccasionOf is what a client's notification is about, "" for nothing that needs a
// person (contracts/claude §5).
func OccasionOf(ev *event.Event) Occasion {
	if ev.Name != event.Notification || ev.Notification == nil {
		return ""
	}
	switch t := ev.Notification.Type; {
	case t == "permission_prompt", t == "elicitation_dialog", t == "elicitation_url_dialog", t == "agent_needs_input":
		return Waiting
	case t == "idle_prompt", t == "agent_completed":
		return Finished
	case strings.HasPrefix(t, "quota_"):
		return Limit
	}
	return ""
}

// New returns the handler for notifications.
func New(cfg Config) policy.Handler {
	return policy.Handler{
		Name: Name, Band: policy.BandContext + 90,
		Wants: func(ev *event.Event) bool {
			o := OccasionOf(ev)
			return o != "" && cfg.Wants(o)
		},
		Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
			return event.Verdict{TerminalSequence: Sequence(cfg.With, cfg.text(ev))}, nil
		},
	}
}

// words are what is said where the client's own are not wanted or not there.
func words(o Occasion) string {
	switch o {
	case Waiting:
		return "an agent waits for you"
	case Finished:
		return "an agent is done"
	case Limit:
		return "a usage limit has news"
	}
	return ""
}

func (c *Config) text(ev *event.Event) string {
	text := Clean(ev.Notification.Message)
	if c.Plain || text == "" {
		text = words(OccasionOf(ev))
	}
	if dir := Clean(base(ev.Cwd)); dir != "" && !c.Plain {
		text = dir + ": " + text
	}
	return text
}

// base is the last element of a path of any system.
func base(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// maxText bounds a notice in characters: terminals cut longer ones, or drop them.
const maxText = 120

// Clean is a text in which no terminal finds anything to do: one line without control
// or format characters, and without the ";" that separates the parts of a sequence.
func Clean(text string) string {
	if len(text) > 16*maxText {
		text = text[:16*maxText]
	}
	line := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co) || r == unicode.ReplacementChar
	}), " ")
	line = strings.ReplaceAll(line, ";", ",")
	if runes := []rune(line); len(runes) > maxText {
		line = strings.TrimRight(string(runes[:maxText-3]), " ") + "..."
	}
	return line
}

// Sequence is what the client is to write: for each way one sequence of the list,
// closed by the string terminator that every terminal knows.
func Sequence(with []Way, text string) string {
	if len(with) == 0 {
		with = []Way{Bell}
	}
	const bel, st = "\x07", "\x1b\\"
	var b strings.Builder
	for i, w := range with {
		if slices.Contains(with[:i], w) {
			continue
		}
		switch w {
		case OSC9:
			b.WriteString("\x1b]9;" + trimDigits(text) + st)
		case OSC777:
			b.WriteString("\x1b]777;notify;lidguard;" + text + st)
		case OSC99:
			b.WriteString("\x1b]99;i=lidguard:d=1;" + text + st)
		case Title:
			b.WriteString("\x1b]2;" + text + st)
		default:
			b.WriteString(bel)
		}
	}
	return b.String()
}

// trimDigits keeps a text from being read as one of ConEmu's commands, which OSC 9
// takes where a number comes first ("4;…" is a progress bar). Clean has taken the ";"
// away; this takes the number itself.
func trimDigits(text string) string {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		return "lidguard: " + text
	}
	return text
}

// DeniedText is what a person is told of a refused call.
func DeniedText(ev *event.Event, v *event.Verdict) string {
	what := "a call"
	if ev.Tool != nil && ev.Tool.Name != "" {
		what = "a call of " + Clean(ev.Tool.Name)
	}
	text := "lidguard refused " + what
	if v.Rule != "" {
		text += " (" + Clean(v.Rule) + ")"
	}
	if reason := Clean(v.Reason); reason != "" {
		text += ": " + reason
	}
	return text
}
