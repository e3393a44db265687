package entry

import (
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

// marks are the variables by which clients show what they start that it is theirs.
var marks = map[string]event.Provider{"CLAUDECODE": event.Claude, "CLAUDE_PID": event.Claude, "COPILOT_CLI": event.Copilot,
	"CODEX_SANDBOX": event.Codex, "CODEX_THREAD_ID": event.Codex, "OPENCODE_PID": event.OpenCode, "OPENCODE": event.OpenCode}

// NotByHand says why the process pid cannot have been started by a person, or "". What
// it or one above it says about itself in the environment counts only against it.
func NotByHand(pid int, getenv func(string) string) string {
	table := proc.Table{} // the real one: a variable must not point somewhere else here
	if owner, ok := table.FindOwner(pid, "", 0); ok {
		return "this runs inside " + owner.Provider
	}
	above := table.Ancestry(pid)
	for name, agent := range marks {
		marked := getenv(name) != ""
		for i := 0; i < len(above) && !marked; i++ {
			marked = table.Getenv(above[i].PID, name) != ""
		}
		if marked {
			return "this runs inside " + string(agent)
		}
	}
	return table.Detached(pid)
}
