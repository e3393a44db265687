package shell

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkLaws asserts what holds for the facts about any text.
func checkLaws(t interface {
	Helper()
	Errorf(string, ...any)
}, f *Facts, lim Limits) {
	t.Helper()
	lim = lim.withDefaults()
	if f.Over != nil && f.Over.What == "bug" {
		t.Errorf("reading %q panicked: %s", f.Text, f.bug)
	}
	n := len(f.Leaves)
	if n > lim.Leaves {
		t.Errorf("%d leaves, limit %d", n, lim.Leaves)
	}
	span := func(what string, s Span) {
		if s.From < 0 || s.To > n+1 || s.From > s.To {
			t.Errorf("%s span %v with %d leaves", what, s, n)
		}
	}
	value := func(what string, v Value) {
		for _, one := range v.Each() {
			if len(one.Alts) > 0 {
				t.Errorf("%s: alternatives of alternatives", what)
			}
			last := 0
			for _, h := range one.Holes {
				if h.At < last || h.At > len(one.Text) || h.Kind == 0 {
					t.Errorf("%s: hole %+v in %q", what, h, one.Text)
				}
				last = h.At
				span(what, h.From)
			}
		}
	}
	for i := range f.Leaves {
		l := &f.Leaves[i]
		if l.Offset < 0 || l.Offset > len(f.Text) || l.End > len(f.Text) {
			t.Errorf("leaf %d at %d-%d of %d bytes", i, l.Offset, l.End, len(f.Text))
		}
		for _, a := range l.Argv {
			value("argument", a.Value)
			if a.Offset < 0 || a.Offset > len(f.Text) || a.End > len(f.Text) {
				t.Errorf("argument at %d-%d of %d bytes", a.Offset, a.End, len(f.Text))
			}
		}
		value("directory", l.Dir)
		span("runs", l.Runs)
		span("stdin", l.Stdin.From)
		span("stdout", l.Stdout.To)
		for range f.Feeders(i) {
		}
		line, col := f.Position(l.Offset)
		if line < 1 || col < 1 {
			t.Errorf("position %d:%d", line, col)
		}
	}
	for _, o := range f.Opaque {
		value("opaque", o.Text)
		if o.Leaf >= n {
			t.Errorf("opaque text of leaf %d of %d", o.Leaf, n)
		}
	}
	for _, c := range f.Code {
		value("code", c.Text)
		if c.Leaf >= n || c.Leaf < 0 {
			t.Errorf("code of leaf %d of %d", c.Leaf, n)
		}
	}
}

// corpus returns the commands of the golden files of one dialect.
func corpus(t testing.TB, name string) []string {
	data, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range strings.Split("\n"+string(data), "\n## ")[1:] {
		_, rest, _ := strings.Cut(b, "\n")
		cmd, _, _ := strings.Cut(rest, "\n=>\n")
		out = append(out, cmd)
	}
	return out
}

func FuzzInspect(f *testing.F) {
	for name, d := range map[string]Dialect{"bash": Bash, "posix": POSIX, "zsh": Zsh, "powershell": PowerShell, "cmd": Cmd} {
		for _, c := range corpus(f, name) {
			f.Add(c, uint8(d))
		}
	}
	for _, h := range hostile() {
		if len(h.text) < 2000 {
			f.Add(h.text, uint8(h.d))
		}
	}
	// Bytes that are not UTF-8 and letters whose lower case is longer once put
	// offsets wrong.
	for d := Bash; d <= Cmd; d++ {
		f.Add("for %\xff\xff\xffi in (a) do b", uint8(d))
		f.Add("foreach ($\u0130\u0130 in 'a') { b }", uint8(d))
	}
	lim := Limits{Steps: 50000, Leaves: 500}
	f.Fuzz(func(t *testing.T, command string, d uint8) {
		w := testWorld()
		w.Limits = lim
		checkLaws(t, Inspect(command, Dialect(d%5), w), lim)

		// Nothing known of the world, and a budget that is used up soon.
		asked := 0
		blind := World{Limits: lim, Budget: func() bool { asked++; return asked <= 3 }}
		facts := Inspect(command, Dialect(d%5), blind)
		checkLaws(t, facts, lim)
		if asked > 3 && (facts.Over == nil || facts.Over.What != "budget") && facts.Over == nil {
			t.Errorf("budget refused, over is %v", facts.Over)
		}
		if asked > 4 {
			t.Errorf("asked %d times after the budget was refused", asked-4)
		}
	})
}

// TestInspect_truncations reads every prefix of the golden commands: unfinished
// text must neither break the reader nor the laws.
func TestInspect_truncations(t *testing.T) {
	for name, d := range map[string]Dialect{"bash": Bash, "powershell": PowerShell, "cmd": Cmd} {
		for _, c := range corpus(t, name) {
			for i := range c {
				checkLaws(t, Inspect(c[:i], d, testWorld()), Limits{})
			}
		}
	}
}

// spell writes a word so that the shell reads it back unchanged, in one of many
// ways.
func spell(t *rapid.T, word string) string {
	if rapid.IntRange(0, 5).Draw(t, "variable") == 0 && !strings.ContainsAny(word, "'}") {
		return `"${nx:-` + doubleQuoted(word) + `}"`
	}
	var b strings.Builder
	for i, r := range word {
		if i > 0 && rapid.IntRange(0, 9).Draw(t, "between") == 0 {
			b.WriteString(rapid.SampledFrom([]string{`""`, `''`, "\\\n", `$''`}).Draw(t, "nothing"))
		}
		s := string(r)
		switch rapid.IntRange(0, 4).Draw(t, "quote") {
		case 0:
			if !strings.Contains(" \t'\"\\$`*?[]{}()<>|&;#~!=\n", s) {
				b.WriteString(s)
				continue
			}
			b.WriteString(`\` + s)
		case 1:
			if s == "'" {
				b.WriteString(`\'`)
			} else {
				b.WriteString("'" + s + "'")
			}
		case 2:
			b.WriteString(`"` + doubleQuoted(s) + `"`)
		case 3:
			b.WriteString(`$'` + ansiQuoted(s) + `'`)
		case 4:
			b.WriteString(`\` + s)
		}
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

func doubleQuoted(s string) string {
	for _, c := range []string{`\`, `"`, "$", "`"} {
		s = strings.ReplaceAll(s, c, `\`+c)
	}
	return s
}

func ansiQuoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		const hex = "0123456789abcdef"
		b.WriteString(`\x` + string(hex[s[i]>>4]) + string(hex[s[i]&15]))
	}
	return b.String()
}

// TestInspect_noiseInvariance: spelling, line breaks and transparent wrappers
// do not change what runs.
func TestInspect_noiseInvariance(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abrmxyz0/-._ $'\"\\*?;&|(){}#~=é")), 1, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		argv := append([]string{rapid.SampledFrom([]string{"rm", "gitx", "foo", "/bin/rm", "terraform"}).Draw(t, "program")},
			rapid.SliceOfN(word, 0, 5).Draw(t, "words")...)
		var parts []string
		for _, a := range argv {
			parts = append(parts, spell(t, a))
		}
		cmd := strings.Join(parts, rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n "}).Draw(t, "space"))
		for range rapid.IntRange(0, 3).Draw(t, "wrappers") {
			switch rapid.IntRange(0, 9).Draw(t, "wrapper") {
			case 0:
				cmd = "command " + cmd
			case 1:
				cmd = "env " + cmd
			case 2:
				cmd = "env A=1 -- " + cmd
				cmd = strings.Replace(cmd, "A=1 -- ", "A=1 ", 1)
			case 3:
				cmd = "sh -c " + quoteForTest(cmd)
			case 4:
				cmd = "bash -lc " + quoteForTest(cmd)
			case 5:
				cmd = "eval " + quoteForTest(cmd)
			case 6:
				cmd = "{ " + cmd + "; }"
				cmd = "eval " + quoteForTest(cmd)
			case 7:
				cmd = "timeout 5 sh -c " + quoteForTest("("+cmd+")")
			case 8:
				cmd = "sudo nohup bash -c " + quoteForTest("true && "+cmd)
			case 9:
				cmd = "bash -c " + quoteForTest("f() { "+cmd+"\n}; f")
			}
		}
		f := Inspect(cmd, Bash, World{Dir: "/code", Env: func(string) (string, bool) { return "", false }})
		var last *Leaf
		for i := range f.Leaves {
			if f.Leaves[i].Name != "true" {
				last = &f.Leaves[i]
			}
		}
		if last == nil {
			t.Fatalf("no leaf in %q: %s", cmd, show(f))
		}
		got, exact := last.ArgvText()
		if !exact || !slices.Equal(got, argv) {
			t.Fatalf("%s\ngot %q exact %v, want %q", cmd, got, exact, argv)
		}
	})
}

// TestInspect_unsetDefault pins what the noise law relies on.
func TestInspect_unsetDefault(t *testing.T) {
	f := Inspect(`rm "${nx:-a b}"`, Bash, World{Env: func(string) (string, bool) { return "", false }})
	if got := f.Leaves[0].Arg(1); got != "a b" {
		t.Errorf("got %q, want the default", got)
	}
}

// TestInspect_typographicTextCostsItsLength counts steps instead of time: four times
// the text may take about four times the work, and the budget is asked on the way.
func TestInspect_typographicTextCostsItsLength(t *testing.T) {
	for _, unit := range []string{"@“\n", "@“", "@“ \n“", "@‘\n@“\n", "‘", "“$(", "@“\n”@\n", "–x ‘a’ ", "“`”", "<#“"} {
		steps := func(n int) int {
			w := &walker{f: &Facts{}, world: &World{}, lim: Limits{Steps: 1 << 40}.withDefaults()}
			w.lim.Depth = 1 << 20
			w.plainQuotes(strings.Repeat(unit, n))
			return w.steps
		}
		if one, four := steps(2000), steps(8000); four > 5*one {
			t.Errorf("%q: %d steps for 2000, %d for 8000", unit, one, four)
		}
		if unit == "“$(" || unit == "<#“" {
			continue // too deep at once, a comment at once
		}
		asked := 0
		Inspect(strings.Repeat(unit, 40000), PowerShell, World{Budget: func() bool { asked++; return asked < 3 }})
		if asked != 3 {
			t.Errorf("%q: the budget was asked %d times, refused at the third", unit, asked)
		}
	}
}
