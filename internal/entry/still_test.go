package entry_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// A rehearsal sees what becomes of the files, and a frozen one what they were, from
// as many goroutines as ask.
func TestRehearsal_Freeze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no budget is spent while time stands still
		for _, frozen := range []bool{false, true} {
			home := t.TempDir()
			r := rehearsal(t, home, nil)
			if frozen {
				r.Freeze()
			}
			project := filepath.Join(home, "project")
			script := filepath.Join(project, "run.sh")
			if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
			cwd := strings.NewReplacer(`"tool_name"`, `"cwd":"`+filepath.ToSlash(project)+`","tool_name"`)
			payload := []byte(cwd.Replace(strings.Replace(call, "COMMAND", "sh run.sh && rm run.sh", 1)))
			denied := func() bool {
				out, err := r.Judge([]string{"claude-hook"}, payload)
				if err != nil {
					t.Error(err)
				}
				return strings.Contains(string(out.Stdout), `"deny"`)
			}
			for _, c := range []struct {
				text string
				want bool
			}{{"rm -rf /\n", true}, {"ls\n", frozen}} {
				if err := os.WriteFile(script, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() {
						if got := denied(); got != c.want {
							t.Errorf("frozen %t, %q: denied is %t, want %t", frozen, c.text, got, c.want)
						}
					})
				}
				all.Wait()
			}
		}
	})
}
