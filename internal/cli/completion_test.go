package cli

import "testing"

func TestTakesFiles(t *testing.T) {
	for use, want := range map[string]bool{
		"status": false, "suspend-history [N]": false, "disable PACK": false,
		"why [--at TIME] [--replay FILE]": false, "enable PACK [--audit] [--root DIR]": false, "remove-session --all | --session ID": false,
		"lint [FILE …] [--provider P]": true, "new PACK|body [--lang L] [DIR]": true, "trust [FILE] [--yes]": true,
		"explain COMMAND [--cwd DIR]": true, "replay --provider P [--payload FILE] [-- COMMAND...]": true, "audit -- COMMAND...": true,
	} {
		if got := takesFiles(use); got != want {
			t.Errorf("%q: %v, want %v", use, got, want)
		}
	}
}
