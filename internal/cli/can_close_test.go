package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/daemon"
)

func TestCanClose_afterTheRuntimeDied(t *testing.T) {
	for _, c := range []struct {
		name, saved string
		code        int
	}{
		{"in this boot, with work under way", `{"live":true,"boot":` + strconv.Quote(daemon.BootID("")) + `}`, ExitFailed},
		{"in this boot, at rest", `{"live":false,"boot":` + strconv.Quote(daemon.BootID("")) + `}`, ExitDone},
		{"in another boot, which no agent survived", `{"live":true,"boot":"other"}`, ExitDone},
		{"and its file is torn", `{"live":true,"boo`, ExitDone},
	} {
		w := newWorld(t)
		file := filepath.Join(w.home, ".local", "state", "lidguard", "sessions.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(c.saved), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, _ := w.run("can-close")
		if died := strings.Contains(out, "died with sessions under way"); code != c.code || died != (c.code == ExitFailed) {
			t.Errorf("%s: exit %d\n%s", c.name, code, out)
		}
	}
}
