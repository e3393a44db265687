package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestPreviewSound(t *testing.T) {
	w := newWorld(t)
	var played []string
	w.play = func(_ context.Context, sound string, volume int) error {
		played = append(played, fmt.Sprint(sound, " ", volume))
		if sound == "Beep" {
			return errors.New("no player")
		}
		return nil
	}
	for _, c := range []struct {
		args []string
		code int
		want string // of what was played, or of stderr
	}{
		{[]string{"preview-current-sound"}, ExitFailed, "no warning sound is set"},
		{[]string{"preview-system-sound", "Hand"}, ExitDone, "Hand 0"},
		{[]string{"preview-system-sound"}, ExitUsage, "followed by"},
		{[]string{"preview-system-sound", "Gong"}, ExitUsage, ""},
		{[]string{"settings", "--post-stop-suspend-sound", "Question", "--post-stop-suspend-sound-volume-override-percent", "40"}, ExitDone, ""},
		{[]string{"preview-current-sound", "--json"}, ExitDone, "Question 40"},
		{[]string{"preview-system-sound", "Asterisk"}, ExitDone, "Asterisk 40"},
		{[]string{"preview-system-sound", "Beep"}, ExitFailed, "no player"},
	} {
		played = nil
		code, _, stderr := w.run(c.args...)
		if got := strings.Join(played, ",") + stderr; code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%q: exit %d, %s", c.args, code, got)
		}
	}
	w.play = nil
	if code, _, stderr := w.run("preview-system-sound", "Hand"); code != ExitFailed || !strings.Contains(stderr, "plays no sounds") {
		t.Errorf("without a player: exit %d, %s", code, stderr)
	}
}
