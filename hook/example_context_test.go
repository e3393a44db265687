package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/hook"
)

// brief tells a new session which branch it is on. It is a helper: if the branch
// cannot be told, the session starts without it.
func brief(_ context.Context, ev hook.Event) hook.Verdict {
	start, ok := ev.Started()
	if !ok || start.Source == "resume" { // it knows already
		return hook.None()
	}
	head, err := os.ReadFile(filepath.Join(ev.Cwd, ".git", "HEAD"))
	if err != nil {
		return hook.None()
	}
	branch := strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	return hook.AddContext("The session starts on branch " + branch + ".")
}

// A context injector.
func Example_contextInjector() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Mkdir(filepath.Join(dir, ".git"), 0o700)
	os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600)

	payload := fmt.Sprintf(`{"session_id":"s","hook_event_name":"SessionStart","source":"startup","cwd":%q}`, dir)
	hook.Run(brief, []string{"--provider", "claude"}, os.Getenv, strings.NewReader(payload), os.Stdout, os.Stdout, hook.Helper)
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"The session starts on branch main."}}
}
