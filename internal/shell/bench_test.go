package shell

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func BenchmarkGitStatus(b *testing.B) {
	w := testWorld()
	b.ReportAllocs()
	for b.Loop() {
		Inspect("git status", Bash, w)
	}
}

func BenchmarkTypical(b *testing.B) {
	w := testWorld()
	b.ReportAllocs()
	for b.Loop() {
		Inspect(`cd /code/app && go test ./... 2>&1 | tail -n 40; rm -rf "$TMPDIR/out"`, Bash, w)
	}
}

// hostile returns inputs made to cost: each has a name, a dialect and a text.
func hostile() []struct {
	name string
	d    Dialect
	text string
} {
	type h = struct {
		name string
		d    Dialect
		text string
	}
	r := strings.Repeat
	nest := "rm -rf /"
	for range 12 {
		nest = "bash -c " + quoteForTest(nest)
		if len(nest) > 1<<19 {
			break
		}
	}
	return []h{
		{"unclosed substitutions", Bash, "rm -rf / ; " + r("$(", 100000)},
		{"substitutions with a quoted bracket", Bash, r("$( ')' ", 100000)},
		{"backquotes", Bash, r("`", 100000)},
		{"one long word", Bash, r("a", 1<<20)},
		{"one long quoted word", Bash, `"` + r("a", 1<<20-2) + `"`},
		{"many words", Bash, r("a ", 1<<19)},
		{"many pipes", Bash, r("a|", 200000) + "a"},
		{"many ands", Bash, r("a&&", 200000) + "a"},
		{"many branches", Bash, r("if a; then x=1; fi;", 20000)},
		{"many variables and subshells", Bash, func() string {
			var b strings.Builder
			for i := range 5000 {
				b.WriteString("v" + string(rune('a'+i%26)) + r("x", i%200) + "=1;(a);")
			}
			return b.String()
		}()},
		{"doubling", Bash, "x=a;" + r("x=$x$x;", 60) + "rm $x"},
		{"doubling the unknown", Bash, r("x=$x$x;", 60) + "rm $x"},
		{"copies of a large value", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 16) + r("y=$x.;", 20000)},
		{"words of a large value", Bash, "x='a a a a ';" + r("x=$x$x;", 16) + r("rm $x;", 10000)},
		{"quotes of a large value", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 16) + r(`rm "$x.";`, 10000)},
		{"outputs of a large value", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 16) + r("y=$(echo $x.);", 10000)},
		{"outputs that double", Bash, "x=a;" + r("x=$(echo $x$x);", 60) + "rm $x"},
		{"arguments that double", Bash, "set -- a;" + r(`set -- "$@" "$@";`, 60) + `rm "$@"`},
		{"arrays that double", Bash, "a=(a);" + r(`a=("${a[@]}" "${a[@]}");`, 60) + `rm "${a[@]}"`},
		{"here-documents of a large value", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 16) + r("cat <<E\n$x.\nE\n", 10000)},
		{"replacements in a large value", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 16) + r("y=${x//a/b};", 10000)},
		{"replacements that grow", Bash, "x=aa;" + r("x=${x//a/$x};", 20) + "rm $x"},
		{"printf of a large value", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 16) + r("printf -v y %s $x.;", 10000)},
		{"files of a large value", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 16) + r("echo $x. > f;", 10000) + "sh f"},
		{"appended files", Bash, "x=aaaaaaaa;" + r("x=$x$x;", 10) + r("echo $x >> f;", 20000) + "sh f"},
		{"appended variables", Bash, r("x+=aaaaaaaaaaaaaaaaaaaaaaaa;", 30000) + "rm $x"},
		{"powershell doubling", PowerShell, "$x = 'a';" + r("$x = $x + $x;", 60) + "rm $x"},
		{"powershell copies", PowerShell, "$x = 'aaaaaaaa';" + r("$x = $x + $x;", 16) + r("$y = $x + '.';", 20000)},
		{"powershell quotes of a large value", PowerShell, "$x = 'aaaaaaaa';" + r("$x = $x + $x;", 16) + r(`rm "$x.";`, 20000)},
		{"powershell appended", PowerShell, r("$x += 'aaaaaaaaaaaaaaaaaaaaaaaa';", 30000) + "rm $x"},
		{"powershell replaced", PowerShell, "$x = 'aaaaaaaa';" + r("$x = $x + $x;", 16) + r("$y = $x.Replace('a','b');", 20000)},
		{"powershell times", PowerShell, "$x = 'aaaaaaaa';" + r("$y = $x * 100000;", 20000)},
		{"powershell formats", PowerShell, "$x = 'aaaaaaaa';" + r("$x = $x + $x;", 16) + r("$y = '{0}' -f $x;", 20000)},
		{"powershell joins", PowerShell, "$x = 'aaaaaaaa';" + r("$x = $x + $x;", 16) + r("$y = ($x,$x) -join ',';", 20000)},
		{"cmd copies", Cmd, "set x=aaaaaaaa&" + r("set x=%x%%x%&", 16) + r("set y=%x%.&", 20000)},
		{"cmd delayed copies", Cmd, "set x=aaaaaaaa&" + r("set x=!x!!x!&", 16) + r("set y=!x!.&", 20000)},
		{"cmd words of a large value", Cmd, "set x=aaaaaaaa&" + r("set x=%x%%x%&", 16) + r("del %x%&", 20000)},
		{"ever deeper", Bash, r("cd aaaaaaaa; rm b;", 20000)},
		{"ever deeper into the unknown", Bash, r("cd a$x; rm b;", 20000)},
		{"brace bomb", Bash, "echo " + r("{a,b}", 40)},
		{"nested braces", Bash, "echo " + r("{a,", 50000) + r("}", 50000)},
		{"brace range", Bash, "echo {1..1000000000}{1..1000000000}"},
		{"glob bomb", Bash, "x=" + r("a", 4000) + "; echo ${x//" + r("*a", 60) + "b/c}"},
		{"trim bomb", Bash, "x=" + r("a", 4000) + "; echo ${x##" + r("*a", 60) + "b}"},
		{"arithmetic", Bash, "echo $((" + r("1+", 200000) + "1))"},
		{"deep arithmetic", Bash, "echo $((" + r("(", 200000)},
		{"functions that call twice", Bash, func() string {
			var b strings.Builder
			b.WriteString("f0(){ a; };")
			for i := 1; i < 60; i++ {
				b.WriteString("f" + strconv.Itoa(i) + "(){ f" + strconv.Itoa(i-1) + "; f" + strconv.Itoa(i-1) + "; };")
			}
			return b.String() + "f59"
		}()},
		{"nested loops", Bash, r("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "a" + r("; done", 12)},
		{"alternatives", Bash, r("case $q in a) x=$x.a;; b) x=$x.b;; esac;", 2000) + "rm $x"},
		{"array growth", Bash, r("a+=(x y z);", 20000)},
		{"exports", Bash, func() string {
			var b strings.Builder
			for i := range 20000 {
				b.WriteString("export v" + strconv.Itoa(i) + "=1;")
			}
			return b.String()
		}()},
		{"nested shells", Bash, nest},
		{"eval of itself", Bash, `x='eval "$x$x"'; eval "$x"`},
		{"files that stand for each other", Bash, "cat a a a > b; cat b b b > a; sh a"},
		{"file doubling", Bash, r("cat a a > b; cat b b > a;", 40) + "sh a"},
		{"here-documents", Bash, r("<<a ", 50000) + "\n" + r("a\n", 50000)},
		{"xargs of xargs", Bash, "echo " + r("x ", 2000) + "|" + r("xargs echo|", 50) + "xargs rm"},
		{"xargs that start xargs", Bash, r("xargs ", 170000) + "rm"},
		{"words for env", Bash, "env -S '" + r("a ", 500000) + "'"},
		{"programs of sed", Bash, "sed " + r("-e s/a/b/e ", 90000) + "x"},
		{"one list in braces", Bash, "rm {" + r("a,", 500000) + "b}"},
		{"cmd loops with brackets", Cmd, r("for %i in (a) do ", 60000) + "b"},
		{"printf rounds", Bash, "printf '%s' " + r("a ", 200000) + "| sh"},
		{"powershell brackets", PowerShell, r("(", 100000)},
		{"powershell nested", PowerShell, r("(", 10000) + r(")", 10000)},
		{"powershell blocks", PowerShell, r("{", 10000) + r("}", 10000)},
		{"powershell strings", PowerShell, `"` + r("$(", 50000)},
		{"powershell pipes", PowerShell, r("a|", 100000) + "a"},
		{"powershell quotes", PowerShell, r(`"a" `, 100000)},
		{"powershell typographic quotes", PowerShell, r("‘", 60000)},
		{"powershell typographic quotes apart", PowerShell, r("“a‘", 30000)},
		{"powershell typographic quotes open", PowerShell, r("“$(", 40000)},
		{"powershell typographic here-strings", PowerShell, r("@‘\n’ @", 20000)},
		{"powershell typographic here-strings open", PowerShell, r("@“\n", 40000)},
		{"powershell at signs without lines", PowerShell, r("@“", 100000)},
		{"powershell at signs in front of blanks", PowerShell, r("@“ ", 90000) + "\n"},
		{"powershell typographic dashes", PowerShell, r("–x ‘", 25000)},
		{"powershell typographic quotes escaped", PowerShell, r("`’“", 30000)},
		{"powershell members", PowerShell, "$x" + r(".a()", 100000)},
		{"powershell types", PowerShell, r("[", 50000)},
		{"powershell at signs", PowerShell, r("@'\n", 50000)},
		{"powershell comments", PowerShell, r("<#", 100000)},
		{"powershell expression pipes", PowerShell, r("((1)|", 5000)},
		{"cmd brackets", Cmd, r("(", 100000)},
		{"cmd percents", Cmd, r("%a", 200000)},
		{"cmd carets", Cmd, r("^", 400000)},
		{"cmd words", Cmd, "x (" + r("a( ", 100000)},
		{"cmd for", Cmd, r("for %i in (a) do ", 20000) + "b"},
		{"cmd if", Cmd, r("if a==b ", 50000) + "b"},
		{"cmd doubling", Cmd, "set x=aaaaaaaaaaaaaaaa&" + r("set x=%x%%x%&", 60) + "del %x%"},
	}
}

func quoteForTest(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// TestInspect_hostileInputEndsSoon runs inputs made to cost. The bound is wide,
// since tests share the machine; what it catches is growth that is not linear.
func TestInspect_hostileInputEndsSoon(t *testing.T) {
	for _, h := range hostile() {
		t.Run(h.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			f := Inspect(h.text, h.d, testWorld())
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 1000 {
				t.Errorf("%d bytes made %d MiB", len(h.text), made)
			}
			if took > time.Minute {
				t.Errorf("%d bytes took %v", len(h.text), took)
			}
			over := "-"
			if f.Over != nil {
				over = f.Over.What
			}
			t.Logf("%v, %d MiB, %d bytes, %d leaves, over %s, %d problems", took.Round(time.Microsecond), (after.TotalAlloc-before.TotalAlloc)>>20, len(h.text), len(f.Leaves), over, len(f.Problems))
		})
	}
}
