//go:build linux

package terminal

import "testing"

func TestTitles(t *testing.T) {
	for _, c := range []struct{ name, give, want string }{
		{"text passes", "plain ✳ text", "plain ✳ text"},
		{"other escapes pass", "\x1b[31mred\x1b[0m \x1b(B", "\x1b[31mred\x1b[0m \x1b(B"},
		{"a title in ASCII passes", "a\x1b]0;title\x07b", "a\x1b]0;title\x07b"},
		{"a title with other letters is dropped, ended by a bell", "a\x1b]0;✳ title\x07b", "ab"},
		{"or by a string terminator", "a\x1b]2;✳ title\x1b\\b", "ab"},
		{"the nearer end counts", "\x1b]0;✳\x07 and \x1b]8;;\x1b\\", " and \x1b]8;;\x1b\\"},
	} {
		var whole titles
		if got := string(whole.filter([]byte(c.give))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		var bytewise titles
		var got string
		for i := range len(c.give) {
			got += string(bytewise.filter([]byte{c.give[i]}))
		}
		if got != c.want {
			t.Errorf("%s, byte by byte: got %q, want %q", c.name, got, c.want)
		}
	}
}
