package shell

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestInspect_golden reads testdata/*.txt: blocks that start with a line
// "## title", the command below it, a line "=>" and the facts as show prints
// them. The facts of a changed reader are reviewed as a diff of these files.
func TestInspect_golden(t *testing.T) {
	for file, d := range map[string]Dialect{"bash": Bash, "posix": POSIX, "zsh": Zsh, "powershell": PowerShell, "cmd": Cmd} {
		t.Run(file, func(t *testing.T) {
			path := "testdata/" + file + ".txt"
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			blocks := strings.Split("\n"+string(data), "\n## ")
			var out strings.Builder
			out.WriteString(strings.TrimPrefix(blocks[0], "\n"))
			if len(blocks) < 2 {
				t.Fatal("no blocks")
			}
			for _, b := range blocks[1:] {
				title, rest, _ := strings.Cut(b, "\n")
				cmd, want, ok := strings.Cut(rest, "\n=>\n")
				if !ok {
					cmd = strings.TrimSuffix(strings.TrimSpace(rest), "\n=>")
				}
				want = strings.TrimSpace(want)
				got := strings.TrimSpace(show(Inspect(cmd, d, testWorld())))
				if got != want && !*update {
					t.Errorf("%s\n%s\ngot\n%s\nwant\n%s", title, cmd, got, want)
				}
				out.WriteString("\n## " + title + "\n" + cmd + "\n=>\n" + got + "\n")
			}
			if *update {
				if err := os.WriteFile(path, []byte(strings.TrimPrefix(out.String(), "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
