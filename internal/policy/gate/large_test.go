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

// large are texts of nearly 1 MiB after which a command can stand, made to cost:
// what once took long between two looks at the clock, and the common shapes.
func large() []struct {
	name, text string
	dialect    shell.Dialect
} {
	type l = struct {
		name, text string
		dialect    shell.Dialect
	}
	const size = 1<<20 - 100
	fill := func(before, part, after string) string {
		return before + strings.Repeat(part, (size-len(before)-len(after))/len(part)) + after
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
		{"types of PowerShell", fill("", "[a]", ""), shell.PowerShell},
		{"one word of cmd", fill("", "a", ""), shell.Cmd},
		{"commands of cmd", fill("", "a&", "a"), shell.Cmd},
		{"percents of cmd", fill("echo ", "%a", ""), shell.Cmd},
		{"brackets of cmd", fill("", "(", ""), shell.Cmd},
		{"loops of cmd", fill("", "for %i in (a) do ", "b"), shell.Cmd},
	}
}

func judgeInTime(text string, d shell.Dialect) gate.Result {
	w := project()
	end := time.Now().Add(gate.Budget)
	w.Budget = func() bool { return time.Now().Before(end) }
	return gate.Command(gate.Config{}, text, d, w)
}

// TestLarge_hidesNothing: whatever stands before it, and however long it takes, a
// deletion of everything is refused; for itself, or since there was no time.
func TestLarge_hidesNothing(t *testing.T) {
	for _, c := range large() {
		after := map[shell.Dialect]string{shell.Bash: "\nrm -rf /", shell.PowerShell: "\nRemove-Item -Recurse C:\\", shell.Cmd: "\nrd /s /q C:\\"}[c.dialect]
		if got := judgeInTime(c.text+after, c.dialect); got.Decision != event.Deny {
			t.Errorf("%s: got %s: %v", c.name, word(got.Decision), hazards(got))
		}
	}
}

// BenchmarkLarge measures how long a judgement of 1 MiB may take, the budget of
// 50 ms included: what is over it is the longest time between two looks at the
// clock.
func BenchmarkLarge(b *testing.B) {
	for _, c := range large() {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				judgeInTime(c.text, c.dialect)
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
