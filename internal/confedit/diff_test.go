package confedit

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	tests := []struct{ name, before, after, want string }{
		{"nothing changed", "a\nb\n", "a\nb\n", ""},
		{"a new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"a file gone", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"a line in the middle", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"two changes near each other", "1\n2\n3\n4\n5\n6\n", "one\n2\n3\n4\n5\nsix\n", "@@ -1,6 +1,6 @@\n-1\n+one\n 2\n 3\n 4\n 5\n-6\n+six\n"},
		{"two changes far apart", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n"},
		{"no final newline before", "a", "a\nb\n", "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"},
		{"no final newline after", "a\nb\n", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		{"moved lines", "a\nb\nc\n", "c\na\nb\n", "@@ -1,3 +1,3 @@\n+c\n a\n b\n-c\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want != "" {
				want = "--- s.json\n+++ s.json\n" + want
			}
			if got := Diff([]byte(tt.before), []byte(tt.after), "s.json"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// patch applies a diff of ours the way patch(1) would.
func patch(before, diff string) (string, error) {
	lines := splitLines(before)
	var out strings.Builder
	at := 0
	rest := splitLines(diff)[2:]
	for i := 0; i < len(rest); i++ {
		line := rest[i]
		if strings.HasPrefix(line, "@@ ") {
			var from, count int
			old := strings.Fields(line)[1]
			if n, _ := fmt.Sscanf(old, "-%d,%d", &from, &count); n < 2 {
				count = 1
			}
			if count > 0 {
				from--
			}
			for ; at < from; at++ {
				out.WriteString(lines[at])
			}
			continue
		}
		text := line[1:]
		if i+1 < len(rest) && strings.HasPrefix(rest[i+1], `\`) {
			text = strings.TrimSuffix(text, "\n")
			i++
		}
		if line[0] == '+' {
			out.WriteString(text)
			continue
		}
		if at >= len(lines) || lines[at] != text {
			return "", fmt.Errorf("line %d does not match %q", at+1, line)
		}
		at++
		if line[0] == ' ' {
			out.WriteString(text)
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String(), nil
}

func TestDiff_patchLeadsToAfter(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "a\r\n"}), 0, 40).Draw(t, "lines")
		return strings.Join(lines, "") + rapid.SampledFrom([]string{"", "", "a", "end"}).Draw(t, "last")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		diff := Diff([]byte(before), []byte(after), "f")
		if before == after {
			if diff != "" {
				t.Fatalf("equal texts differ: %s", diff)
			}
			return
		}
		if got, err := patch(before, diff); err != nil || got != after {
			t.Fatalf("patched %q to %q, %v, want %q with\n%s", before, got, err, after, diff)
		}
	})
}

func TestDiff_hugeChangeStaysBounded(t *testing.T) {
	var a, b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&a, "old %d\n", i)
		fmt.Fprintf(&b, "new %d\n", i)
	}
	diff := Diff([]byte("head\n"+a.String()), []byte("head\n"+b.String()), "f")
	if got, err := patch("head\n"+a.String(), diff); err != nil || got != "head\n"+b.String() {
		t.Errorf("the diff does not lead from one to the other: %v", err)
	}
}
