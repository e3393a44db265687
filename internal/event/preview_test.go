package event_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
)

func TestPreview(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a short prompt stays", "fix the bug", "fix the bug"},
		{"lines become one", "fix\n\tthe   bug\r\n", "fix the bug"},
		{"cut at a word", "please rewrite the whole parser so that it accepts everything", "please rewrite the whole parser so that it..."},
		{"one endless word is cut hard", strings.Repeat("x", 80), strings.Repeat("x", 47) + "..."},
		{"escapes cannot reach a terminal", "a\x1b[31mred", "a [31mred"},
		{"exactly fifty stays", strings.Repeat("y", 50), strings.Repeat("y", 50)},
		{"nothing", "", ""},
		{"binary", "\xff\xfe", "?"},
	} {
		if got := event.Preview(c.in); got != c.want {
			t.Errorf("%s: Preview(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func FuzzPreview(f *testing.F) {
	f.Add("hello\x00world")
	f.Add(strings.Repeat("ü ", 4000))
	f.Fuzz(func(t *testing.T, in string) {
		got := event.Preview(in)
		if n := utf8.RuneCountInString(got); n > event.PreviewLen {
			t.Fatalf("Preview(%q) has %d characters", in, n)
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x1b\x00") {
			t.Fatalf("Preview(%q) = %q is no clean line", in, got)
		}
		if again := event.Preview(got); again != got {
			t.Fatalf("Preview is not idempotent: %q then %q", got, again)
		}
	})
}
