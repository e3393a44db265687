package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// large is a text of nearly 1 MiB after which a command can stand, made to cost.
type large struct {
	name, text string
	dialect    shell.Dialect
}

// larges are what once took long between two looks at the clock, and the common
// shapes.
func larges() []large {
	type l = large
	const size = 1<<20 - 100
	fill := func(before, part, after string) string {
		return before + strings.Repeat(part, (size-len(before)-len(after))/len(part)) + after
	}
	numbered := func(part, after string) string {
		var b strings.Builder
		for i := 0; b.Len() < size-len(after)-40; i++ {
			fmt.Fprintf(&b, part, i)
		}
		return b.String() + after
	}
	// quotedDeep is a command that starts another, and so on, each quoted once more.
	quotedDeep := func(starter string) string {
		text := "rm -rf a"
		for {
			next := starter + "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
			if len(next) > size {
				return text
			}
			text = next
		}
	}
	return []l{
		{"one word", fill("", "a", ""), shell.Bash},
		{"quotes", fill(`"`, "a", `"`), shell.Bash},
		{"words", fill("rm -rf ", "a ", ""), shell.Bash},
		{"commands", fill("", "a;", "a"), shell.Bash},
		{"a pipe", fill("", "a|", "a"), shell.Bash},
		{"braces", fill("echo ", "{a,b}", ""), shell.Bash},
		{"stars", fill("rm ", "*", ""), shell.Bash},
		{"a path", fill("rm -rf /", "a/", ""), shell.Bash},
		{"steps up", fill("rm -rf /", "../", ""), shell.Bash},
		{"variables", fill("echo ", "$x", ""), shell.Bash},
		{"assignments", fill("", "a=b;", "a"), shell.Bash},
		{"sums", fill("echo $((", "1+", "1))"), shell.Bash},
		{"prose", fill("cat <<'E'\n", "a $x\n", "E\n"), shell.Bash},
		{"a script", fill("bash <<'E'\n", "a $x\n", "E\n"), shell.Bash},
		{"python", fill("python3 -c \"", "open(x)\n", "\""), shell.Bash},
		{"constants", "python3 -c 'x=system(" + strings.Repeat(`"a"+`, 60_000) + "1)'", shell.Bash},
		{"a list of constants", "python3 -c 'x=system(" + strings.Repeat(`"rm","-r",`, 25_000) + "1)'", shell.Bash},
		{"quotes that are escaped", "python3 -c 'system(" + strings.Repeat(`\"`, 125_000) + "'", shell.Bash},
		{"commands for an unknown program", fill("x", " rm -r a", ""), shell.Bash},
		{"unknown programs", fill("", "x rm -r a;", "a"), shell.Bash},
		{"settings of an unknown program", fill("x", " 'a=rm -r a'", ""), shell.Bash},
		{"node", fill("node -e '", `require("fs").rmSync(x);`, "'"), shell.Bash},
		{"statements", fill("psql -c '", "DELETE FROM t;", "'"), shell.Bash},
		{"a code", fill("echo ", "YTth", "|base64 -d|sh"), shell.Bash},
		{"wrappers", fill("", "sudo ", "ls"), shell.Bash},
		{"settings", fill("git ", "-c a=b ", "status"), shell.Bash},
		{"a list of words", fill("a=(", "x ", "); rm ${a[@]}"), shell.Bash},
		{"addresses", fill("curl ", "http://a.b/ ", ""), shell.Bash},
		{"one word of PowerShell", fill("", "a", ""), shell.PowerShell},
		{"a string of PowerShell", fill(`"`, "$x ", `"`), shell.PowerShell},
		{"commands of PowerShell", fill("", "a;", "a"), shell.PowerShell},
		{"a sum of PowerShell", fill("$x=", "'a'+", "'a'"), shell.PowerShell},
		{"a sum of what is not known", fill("$x=", "$a+", "1"), shell.PowerShell},
		{"a list that grows", fill("$x=@();", "$x+='a';", "rm $x"), shell.PowerShell},
		{"types of PowerShell", fill("", "[a]", ""), shell.PowerShell},
		{"one word of cmd", fill("", "a", ""), shell.Cmd},
		{"commands of cmd", fill("", "a&", "a"), shell.Cmd},
		{"percents of cmd", fill("echo ", "%a", ""), shell.Cmd},
		{"brackets of cmd", fill("", "(", ""), shell.Cmd},
		{"loops of cmd", fill("", "for %i in (a) do ", "b"), shell.Cmd},
		{"parentheses", fill("", "(", ""), shell.Bash},
		{"groups", fill("", "{ ", ""), shell.Bash},
		{"groups that end", strings.Repeat("{ ", 60) + "a" + strings.Repeat(";}", 60), shell.Bash},
		{"substitutions", fill("rm -rf / ; ", "$(", ""), shell.Bash},
		{"substitutions side by side", fill("echo ", "$(a) ", ""), shell.Bash},
		{"substitutions in quotes", fill("echo ", `"$(a)"`, ""), shell.Bash},
		{"substitutions of what is printed", fill("rm ", "$(echo a) ", ""), shell.Bash},
		{"backquotes", fill("", "`", ""), shell.Bash},
		{"backquotes side by side", fill("rm ", "`a` ", ""), shell.Bash},
		{"backquotes that are escaped", fill("echo `", "\\`", "`"), shell.Bash},
		{"processes", fill("cat ", "<(a) ", ""), shell.Bash},
		{"processes in processes", fill("cat ", "<(", ""), shell.Bash},
		{"parameters in parameters", fill("echo ", "${x:-", ""), shell.Bash},
		{"replacements", fill("x=aaaa; echo ", "${x//a/b}", ""), shell.Bash},
		{"many kinds of parameters", fill("rm ", "${x:-a}${y#b}${#z}", ""), shell.Bash},
		{"sums in sums", fill("echo ", "$((", ""), shell.Bash},
		{"brackets in a sum", fill("echo $((", "(", "1))"), shell.Bash},
		{"signs in a sum", fill("echo $((", "- ", "1))"), shell.Bash},
		{"questions in a sum", fill("echo $((", "1?", "1))"), shell.Bash},
		{"sums side by side", fill("", "((x++));", "a"), shell.Bash},
		{"tests", fill("[[ ", "a && ", "a ]]"), shell.Bash},
		{"tests in tests", fill("[[ ", "( ", "a ]]"), shell.Bash},
		{"noes of a test", fill("[[ ", "! ", "a ]]"), shell.Bash},
		{"noes", fill("", "! ", "a"), shell.Bash},
		{"conditions", fill("", "if a; then b; fi;", ""), shell.Bash},
		{"conditions in conditions", fill("", "if a; then ", ""), shell.Bash},
		{"other conditions", fill("if a; then b;", "elif a; then b;", "fi"), shell.Bash},
		{"loops", fill("", "for i in a b; do rm $i; done;", ""), shell.Bash},
		{"loops in loops", fill("", "while a; do ", ""), shell.Bash},
		{"a loop over many", fill("for i in ", "a ", "; do rm $i; done"), shell.Bash},
		{"patterns", fill("case x in ", "a|", "b) rm c;; esac"), shell.Bash},
		{"cases", fill("case $x in ", "a) b;;", "esac"), shell.Bash},
		{"cases in cases", fill("", "case a in a) ", ""), shell.Bash},
		{"redirections", fill("a ", ">b ", ""), shell.Bash},
		{"descriptors", fill("a ", "2>&1 ", ""), shell.Bash},
		{"redirections of redirections", fill("", ">a;", "b"), shell.Bash},
		{"assignments in front", fill("", "a=b ", "c"), shell.Bash},
		{"other assignments", numbered("x%d=y;", "rm $x1"), shell.Bash},
		{"exports", numbered("export x%d=y;", "env"), shell.Bash},
		{"elements", numbered("a[%d]=x;", "rm ${a[@]}"), shell.Bash},
		{"a list of pairs", fill("declare -A a=(", "[k]=v ", ")"), shell.Bash},
		{"lists that grow", fill("", "a+=(x);", "rm ${a[@]}"), shell.Bash},
		{"text that grows", fill("", "x+=a;", "rm $x"), shell.Bash},
		{"functions", numbered("f%d(){ a;};", "f1"), shell.Bash},
		{"functions that call", numbered("f(){ rm a%d;};f;", "f"), shell.Bash},
		{"aliases", numbered("alias x%d=rm\n", "x1 a"), shell.Bash},
		{"ands", fill("", "a&&", "a"), shell.Bash},
		{"ors", fill("", "a||", "a"), shell.Bash},
		{"ands and pipes", fill("", "a|b&&", "a"), shell.Bash},
		{"in the background", fill("", "a&", "a"), shell.Bash},
		{"in shells", fill("", "(a);", "a"), shell.Bash},
		{"short here-documents", fill("", "cat <<E\nE\n", ""), shell.Bash},
		{"here-documents of one line", fill("cat ", "<<a ", "\n"+strings.Repeat("a\n", 1000)), shell.Bash},
		{"here-strings", fill("", "cat <<<a;", ""), shell.Bash},
		{"a long line to read", fill("read x <<<", "a", "; rm $x"), shell.Bash},
		{"remarks", fill("", "#a\n", "ls"), shell.Bash},
		{"one remark", fill("#", "a", "\nls"), shell.Bash},
		{"empty lines", fill("", "\n", "ls"), shell.Bash},
		{"blanks", fill("", " ", "ls"), shell.Bash},
		{"lines that go on", fill("rm ", "\\\n", "a"), shell.Bash},
		{"lines of Windows", fill("", "a\r\n", "ls"), shell.Bash},
		{"zeros", fill("rm ", "\x00", "a"), shell.Bash},
		{"no letters", fill("rm ", "\xff\xfe", "a"), shell.Bash},
		{"broken letters", fill("rm '", "\xf3\xb0", "'"), shell.Bash},
		{"letters of others", fill("rm ", "\u00e9 ", "a"), shell.Bash},
		{"one list in braces", fill("rm {", "a,", "b}"), shell.Bash},
		{"braces in braces", fill("rm ", "{a,", ""), shell.Bash},
		{"ranges", fill("echo ", "{1..9}", ""), shell.Bash},
		{"words of ranges", fill("echo ", "{1..2000} ", ""), shell.Bash},
		{"patterns of files", fill("rm ", "*.a ", ""), shell.Bash},
		{"extended patterns", fill("shopt -s extglob\nrm ", "@(a|", ""), shell.Bash},
		{"brackets of a pattern", fill("rm ", "[a", "]"), shell.Bash},
		{"quoted letters", fill("rm ", "'a'", ""), shell.Bash},
		{"quotes in turn", fill("rm ", "'a'\"b\"", ""), shell.Bash},
		{"escapes", fill("rm ", "\\a", ""), shell.Bash},
		{"a quoted string of escapes", fill("rm $'", "\\x61", "'"), shell.Bash},
		{"tildes", fill("rm ", "~/a ", ""), shell.Bash},
		{"homes", fill("rm -r ", "$HOME/a ", ""), shell.Bash},
		{"folders", fill("", "cd a;", "ls"), shell.Bash},
		{"folders on a stack", fill("", "pushd a;", "ls"), shell.Bash},
		{"links", numbered("ln -s / l%d;", "rm -r l1/x"), shell.Bash},
		{"copies", numbered("cp a b%d;", "sh b1"), shell.Bash},
		{"files that are written", numbered("echo ls>f%d;", "sh f1"), shell.Bash},
		{"one file that grows", fill("", "echo ls>>f;", "sh f"), shell.Bash},
		{"programs that are evaluated", fill("", "eval a;", "ls"), shell.Bash},
		{"one program that is evaluated", fill("eval '", "a;", "'"), shell.Bash},
		{"shells", fill("", "sh -c a;", "ls"), shell.Bash},
		{"shells in shells", quotedDeep("bash -c "), shell.Bash},
		{"machines behind machines", quotedDeep("ssh h "), shell.Bash},
		{"traps", fill("", "trap a EXIT;", "ls"), shell.Bash},
		{"shells of a service", fill("ssh h '", "rm a;", "'"), shell.Bash},
		{"xargs", fill("", "xargs ", "rm"), shell.Bash},
		{"words for xargs", fill("echo ", "a ", "|xargs rm"), shell.Bash},
		{"what find starts", fill("find . ", "-exec rm {} ; ", "-print"), shell.Bash},
		{"what find starts, escaped", fill("find . ", "-exec rm {} \\; ", ""), shell.Bash},
		{"tests of find", fill("find . ", "-name a -o ", "-name b"), shell.Bash},
		{"wrappers with settings", fill("", "env a=b ", "ls"), shell.Bash},
		{"settings of a wrapper", fill("env ", "a=b ", "ls"), shell.Bash},
		{"texts of env", fill("env -S '", "a ", "'"), shell.Bash},
		{"wrappers in turn", fill("", "nice timeout 5 ", "ls"), shell.Bash},
		{"watches", fill("", "watch ", "ls"), shell.Bash},
		{"a program of awk", fill("awk '", "{print $1}\n", "'"), shell.Bash},
		{"calls of awk", fill("awk 'BEGIN{", "system(\"a\");", "}'"), shell.Bash},
		{"a program of sed", fill("sed '", "s/a/b/e;", "' x"), shell.Bash},
		{"programs of sed", fill("sed ", "-e s/a/b/e ", "x"), shell.Bash},
		{"calls of python", fill("python3 -c '", "os.system(\"ls\");", "'"), shell.Bash},
		{"imports of python", fill("python3 -c '", "import os\n", "'"), shell.Bash},
		{"calls of perl", fill("perl -e '", "system(\"ls\");", "'"), shell.Bash},
		{"calls of ruby", fill("ruby -e '", "`ls`;", "'"), shell.Bash},
		{"words of php", fill("php -r '", "exec($a);", "'"), shell.Bash},
		{"brackets of python", fill("python3 -c '", "f(", "'"), shell.Bash},
		{"codes", fill("", "echo bHM=|base64 -d|sh;", "ls"), shell.Bash},
		{"a code that is no code", fill("echo ", "!", "|base64 -d|sh"), shell.Bash},
		{"formats", fill("printf '%s' ", "a ", "|sh"), shell.Bash},
		{"one format", fill("printf '", "%s", "' a|sh"), shell.Bash},
		{"letters that change", fill("echo ", "a", "|tr a b|rev|tr b a|sh"), shell.Bash},
		{"targets of make", fill("make ", "a ", ""), shell.Bash},
		{"commits", fill("git commit ", "-m a ", ""), shell.Bash},
		{"a message", fill("git commit -m '", "words of a message\n", "'"), shell.Bash},
		{"commands of git", fill("", "git add a;", "git status"), shell.Bash},
		{"statements of a file", fill("psql <<'E'\n", "DROP TABLE t;\n", "E\n"), shell.Bash},
		{"a document", fill("curl -d '", "{\"a\":1}", "' http://a.b/"), shell.Bash},
		{"patches", fill("apply_patch <<'E'\n*** Begin Patch\n", "*** Add File: a\n+b\n", "*** End Patch\nE\n"), shell.Bash},
		{"secrets", fill("cat ", "~/.ssh/id_rsa ", ""), shell.Bash},
		{"copies to a machine", fill("scp ", "h:a ", "b"), shell.Bash},
		{"containers", fill("", "docker run a rm b;", "ls"), shell.Bash},
		{"options", fill("rm ", "-r ", "a"), shell.Bash},
		{"other options", numbered("rm --x%d a;", "ls"), shell.Bash},
		{"unknown programs by path", numbered("./x%d a;", "ls"), shell.Bash},
		{"variables as programs", fill("", "$x a;", "ls"), shell.Bash},
		{"zsh, its patterns", fill("rm ", "*(.) ", ""), shell.Zsh},
		{"zsh, its flags", fill("echo ", "${(f)x}", ""), shell.Zsh},
		{"zsh, commands", fill("", "a;", "a"), shell.Zsh},
		{"zsh, words", fill("rm ", "$x ", ""), shell.Zsh},
		{"sh, what bash cannot read", fill("", "a;", "if"), shell.POSIX},
		{"sh, variables", fill("echo ", "$x", ""), shell.POSIX},
		{"brackets of PowerShell", fill("", "(", ""), shell.PowerShell},
		{"blocks of PowerShell", fill("", "{", ""), shell.PowerShell},
		{"closed brackets of PowerShell", fill("", "(1);", ""), shell.PowerShell},
		{"substitutions of PowerShell", fill(`"`, "$(", ""), shell.PowerShell},
		{"pipes of PowerShell", fill("", "a|", "a"), shell.PowerShell},
		{"a here-string of PowerShell", fill("@'\n", "words\n", "'@"), shell.PowerShell},
		{"a here-string with variables", fill("@\"\n", "$x words\n", "\"@"), shell.PowerShell},
		{"here-strings of PowerShell", fill("", "@'\na\n'@;", "a"), shell.PowerShell},
		{"open here-strings of PowerShell", fill("", "@'\n", ""), shell.PowerShell},
		{"at signs of PowerShell", fill("", "@\u201c ", "\n"), shell.PowerShell},
		{"tables of PowerShell", fill("$x=@{", "a=1;", "}"), shell.PowerShell},
		{"lists of PowerShell", fill("$x=", "1,", "1"), shell.PowerShell},
		{"members of PowerShell", fill("$x", ".a", ""), shell.PowerShell},
		{"calls of PowerShell", fill("$x", ".a()", ""), shell.PowerShell},
		{"remarks of PowerShell", fill("", "#a\n", "ls"), shell.PowerShell},
		{"open remarks of PowerShell", fill("", "<#", ""), shell.PowerShell},
		{"backquotes of PowerShell", fill("rm ", "`a", ""), shell.PowerShell},
		{"assignments of PowerShell", fill("", "$x=1;", "rm $x"), shell.PowerShell},
		{"text of PowerShell that grows", fill("$x='';", "$x+='a';", "rm $x"), shell.PowerShell},
		{"functions of PowerShell", numbered("function f%d{a};", "f1"), shell.PowerShell},
		{"conditions of PowerShell", fill("", "if(a){b};", "ls"), shell.PowerShell},
		{"conditions in conditions of PowerShell", fill("", "if(a){", ""), shell.PowerShell},
		{"evaluations of PowerShell", fill("", "iex a;", "ls"), shell.PowerShell},
		{"formats of PowerShell", fill("iex ('", "{0}", "' -f 'a')"), shell.PowerShell},
		{"replacements of PowerShell", fill("iex ('a'", ".Replace('a','b')", ")"), shell.PowerShell},
		{"joins of PowerShell", fill("iex (", "'a',", "'b' -join '')"), shell.PowerShell},
		{"codes of PowerShell", fill("powershell -enc ", "YQBh", ""), shell.PowerShell},
		{"casts of PowerShell", fill("$x=", "[char]97+", "'a'"), shell.PowerShell},
		{"deletions of PowerShell", fill("", "Remove-Item a;", "ls"), shell.PowerShell},
		{"operands of PowerShell", fill("Remove-Item ", "a,", "b"), shell.PowerShell},
		{"no letters in PowerShell", fill("rm '", "\xff", "'"), shell.PowerShell},
		{"ands of cmd", fill("", "a&&", "a"), shell.Cmd},
		{"pipes of cmd", fill("", "a|", "a"), shell.Cmd},
		{"closed brackets of cmd", fill("", "(a)&", "a"), shell.Cmd},
		{"carets of cmd", fill("", "^", ""), shell.Cmd},
		{"escaped letters of cmd", fill("del ", "^a", ""), shell.Cmd},
		{"quotes of cmd", fill("del ", "\"a\" ", ""), shell.Cmd},
		{"conditions of cmd", fill("", "if a==b ", "c"), shell.Cmd},
		{"conditions with brackets", fill("", "if a==b (", ""), shell.Cmd},
		{"settings of cmd", fill("", "set x=a&", "del %x%"), shell.Cmd},
		{"text of cmd that grows", fill("", "set x=%x%a&", "del %x%"), shell.Cmd},
		{"known variables of cmd", fill("set x=a&del ", "%x% ", ""), shell.Cmd},
		{"parts of variables of cmd", fill("set x=abc&del ", "%x:~0,1%", ""), shell.Cmd},
		{"shells of cmd", fill("", "cmd /c ", "del a"), shell.Cmd},
		{"lines of cmd", fill("", "a\r\n", "a"), shell.Cmd},
		{"labels of cmd", numbered(":l%d\ncall :l%[1]d\n", "del a"), shell.Cmd},
		{"remarks of cmd", fill("", "rem a\n", "del a"), shell.Cmd},
		{"calls of cmd", fill("", "call ", "del a"), shell.Cmd},
		{"redirections of cmd", fill("a ", ">b ", ""), shell.Cmd},
		{"deletions of cmd", fill("", "del a&", "del b"), shell.Cmd},
		{"words of cmd", fill("del ", "a ", ""), shell.Cmd},
	}
}

// judgeInTime judges as a hook does, which has this thread to itself.
func judgeInTime(ev *event.Event) gate.Result {
	w := project()
	end := time.Now().Add(gate.Share)
	w.Budget = func() bool { return time.Now().Before(end) }
	w.Alarm = func() <-chan struct{} {
		late := make(chan struct{})
		time.AfterFunc(gate.Late, func() { close(late) })
		return late
	}
	return gate.Judge(gate.Config{}, ev, w)
}

func (l large) event(after string) *event.Event {
	text := l.text + after
	if l.dialect == shell.Zsh || l.dialect == shell.POSIX {
		text = l.dialect.String() + " <<'EOF'\n" + text + "\nEOF"
	}
	ev := bash(text)
	switch l.dialect {
	case shell.PowerShell:
		ev.Tool.Name = "PowerShell"
	case shell.Cmd:
		ev.Tool.Name = "cmd"
	}
	return ev
}

// TestLarge_hidesNothing: whatever stands before it, a deletion of everything is
// refused; for itself, or since there was no time. And once the budget is used up, a
// judgement comes to its end after a few looks more and hardly a question to the disk.
func TestLarge_hidesNothing(t *testing.T) {
	const last = 1200 // of which reading 1 MiB takes 1024
	for _, c := range larges() {
		after := map[shell.Dialect]string{shell.PowerShell: "\nRemove-Item -Recurse C:\\", shell.Cmd: "\nrd /s /q C:\\"}[c.dialect]
		if after == "" {
			after = "\nrm -rf /"
		}
		looks, asked := 0, 0
		w := project()
		w.Budget = func() bool { looks++; return looks <= last }
		kind := w.Kind
		w.Kind = func(p string) gate.FileKind {
			if looks > last {
				asked++
			}
			return kind(p)
		}
		if got := gate.Judge(gate.Config{}, c.event(after), w); got.Decision != event.Deny {
			t.Errorf("%s: got %s: %v", c.name, word(got.Decision), hazards(got))
		}
		if more := looks - last; more > 500 || asked > 500 {
			t.Errorf("%s: %d looks and %d questions more", c.name, more, asked)
		}
	}
}

// TestLarge_rulesThatLookAgain: rules that look through all words for each of many
// come to an end without a clock, and the call is refused.
func TestLarge_rulesThatLookAgain(t *testing.T) {
	for _, command := range []string{
		"redis-cli x " + strings.Repeat("flushall ", 100_000),
		"x=" + strings.Repeat("a", 10) + "; scp " + strings.Repeat("a:b ", 200_000),
	} {
		start := time.Now()
		got := gate.Command(gate.Config{}, command, shell.Bash, project())
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%.20q took %v", command, took)
		}
		if got.Decision != event.Deny || got.Rule() != "command-over-limit" {
			t.Errorf("%.20q: got %s: %.200v", command, word(got.Decision), hazards(got))
		}
	}
}

// BenchmarkLarge measures how long a judgement of 1 MiB may take, where 50 ms are the
// budget for all of it.
func BenchmarkLarge(b *testing.B) {
	for _, c := range larges() {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			ev := c.event("")
			for b.Loop() {
				judgeInTime(ev)
			}
		})
	}
}

func percentile(took []time.Duration, p int) time.Duration {
	slices.Sort(took)
	return took[len(took)*p/100]
}

// BenchmarkTypical reports the 99th percentile beside the mean.
func BenchmarkTypical(b *testing.B) {
	for _, command := range []string{"git status", "rm -rf /", `cd sub && go test ./... 2>&1 | tail -n 40; rm -rf "$TMPDIR/out"`} {
		b.Run(fmt.Sprintf("%.12s", command), func(b *testing.B) {
			var took []time.Duration
			w := project()
			for b.Loop() {
				start := time.Now()
				gate.Command(gate.Config{}, command, shell.Bash, w)
				took = append(took, time.Since(start))
			}
			b.ReportMetric(percentile(took, 99).Seconds()*1e6, "p99-µs")
		})
	}
}
