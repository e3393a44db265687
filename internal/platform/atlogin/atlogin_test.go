package atlogin

import "testing"

func TestLine(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{`C:\Tools\lidguard.exe`, "keeper", "--login"}, `"C:\Tools\lidguard.exe" "keeper" "--login"`},
		{[]string{`C:\Program Files\lidguard.exe`}, `"C:\Program Files\lidguard.exe"`},
		{[]string{"p", `C:\ends in one\`}, `"p" "C:\ends in one\\"`},
		{[]string{"p", `a\\b`}, `"p" "a\\b"`},
		{[]string{"p", `say "hi"`}, `"p" "say \"hi\""`},
		{[]string{"p", `a\"b`}, `"p" "a\\\"b"`},
		{[]string{"p", ""}, `"p" ""`},
	} {
		if got := Line(c.words[0], c.words[1:]...); got != c.want {
			t.Errorf("%q: got %s, want %s", c.words, got, c.want)
		}
	}
	if n := len(Line(`C:\Program Files\lidguard\lidguard.exe`, "keeper", "--login")); n > longest {
		t.Errorf("the usual command has %d characters, Windows takes %d", n, longest)
	}
}
