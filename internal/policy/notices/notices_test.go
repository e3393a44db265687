package notices_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/notices"
)

func note(kind, message string) *event.Event {
	return &event.Event{Provider: event.Claude, Name: event.Notification, Cwd: "/home/dev/shop", Notification: &event.Note{Type: kind, Message: message}}
}

func TestNotices_sayWhatTheClientSays(t *testing.T) {
	all := []notices.Way{notices.Bell, notices.OSC9, notices.OSC777, notices.OSC99, notices.Title, notices.Bell}
	for _, c := range []struct {
		name string
		cfg  notices.Config
		ev   *event.Event
		want string
	}{
		{"a bell is the standard", notices.Config{}, note("permission_prompt", "may I?"), "\a"},
		{"every way once", notices.Config{With: all}, note("idle_prompt", "done; really\n"),
			"\a\x1b]9;shop: done, really\x1b\\\x1b]777;notify;lidguard;shop: done, really\x1b\\\x1b]99;i=lidguard:d=1;shop: done, really\x1b\\\x1b]2;shop: done, really\x1b\\"},
		{"no words of the client's", notices.Config{Plain: true, With: []notices.Way{notices.OSC9}}, note("elicitation_dialog", "secret"), "\x1b]9;an agent waits for you\x1b\\"},
		{"no words at all", notices.Config{With: []notices.Way{notices.OSC9}}, note("quota_auto_resume_fired", ""), "\x1b]9;shop: a usage limit has news\x1b\\"},
		{"an occasion that is not wanted", notices.Config{On: []notices.Occasion{notices.Limit}}, note("permission_prompt", "may I?"), ""},
		{"news that need nobody", notices.Config{}, note("auth_success", "hello"), ""},
		{"another event", notices.Config{}, &event.Event{Name: event.Stop}, ""},
	} {
		h := notices.New(c.cfg)
		got := ""
		if h.Wants(c.ev) {
			v, err := h.Handle(t.Context(), c.ev)
			if err != nil {
				t.Fatal(err)
			}
			got = v.TerminalSequence
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDeniedText(t *testing.T) {
	got := notices.DeniedText(&event.Event{Tool: &event.Tool{Name: "Bash\x1b[2J"}}, &event.Verdict{Rule: "no-deploy", Reason: "Ask\na person."})
	if want := "lidguard refused a call of Bash [2J (no-deploy): Ask a person."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestConfig_refusesOtherWords(t *testing.T) {
	for _, text := range []string{"", "OSC9", "osc52", "clipboard"} {
		if new(notices.Way).UnmarshalText([]byte(text)) == nil || new(notices.Occasion).UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// listed is every sequence that may come out, and nothing else.
var listed = regexp.MustCompile(`^(?:\x07|\x1b\](?:9|777;notify;lidguard|99;i=lidguard:d=1|2);[^\x00-\x1f\x7f-\x9f;]*\x1b\\)+$`)

func FuzzNotice_isOnTheList(f *testing.F) {
	f.Add("done", "/w")
	f.Add("\x1b]52;c;cm0gLXJmIC8=\x07", "/\x1b[2J")
	f.Add("4;1;50\u009c\u202e", `C:\x\u0007`)
	f.Add(strings.Repeat("ü;", 4000), "")
	f.Fuzz(func(t *testing.T, message, cwd string) {
		ev := note("permission_prompt", message)
		ev.Cwd = cwd
		v, err := notices.New(notices.Config{With: []notices.Way{notices.Bell, notices.OSC9, notices.OSC777, notices.OSC99, notices.Title}}).Handle(t.Context(), ev)
		if err != nil || !listed.MatchString(v.TerminalSequence) || !utf8.ValidString(v.TerminalSequence) {
			t.Fatalf("%q: %v", v.TerminalSequence, err)
		}
		if regexp.MustCompile(`\x1b\]9;[0-9]`).MatchString(v.TerminalSequence) {
			t.Fatalf("%q is a command of ConEmu's", v.TerminalSequence)
		}
	})
}
