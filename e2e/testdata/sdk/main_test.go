package main

import (
	"testing"

	"github.com/lidguard-go/lidguard/hook"
	"github.com/lidguard-go/lidguard/hook/hooktest"
)

func TestGuard(t *testing.T) {
	hooktest.Cases(t, guard, []hooktest.Case{
		{Name: "a push is refused", Payload: hooktest.Claude.PreToolUse("Bash", "git push"), Want: hooktest.Refused, Says: "[no-push]"},
		{Name: "on Copilot, too", Payload: hooktest.Copilot.PreToolUse("bash", "git push"), Want: hooktest.Refused},
		{Name: "a pull passes", Payload: hooktest.Claude.PreToolUse("Bash", "git pull"), Want: hooktest.GoesOn},
		{Name: "a token is masked", Payload: hooktest.Codex.PostToolUse("Bash", "env", "KEY=tok_12345678"), Want: hooktest.Replaced, Says: "KEY=tok_***"},
		{Name: "other output is left alone", Payload: hooktest.Codex.PostToolUse("Bash", "env", "KEY=none"), Want: hooktest.GoesOn},
		{Name: "tests are asked for", Payload: hooktest.Claude.Stop("Done."), Want: hooktest.WorksOn},
		{Name: "but once", Payload: hooktest.Claude.Stop("Done.").Again(), Want: hooktest.GoesOn},
	}, hook.Gate)
}

func TestGuard_keepsAGatesPromise(t *testing.T) { hooktest.Contract(t, guard, hook.Gate) }
