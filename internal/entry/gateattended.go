package entry

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

// unattended says why a question would reach nobody, or "". That somebody closed
// the lid is told later, by the runtime (closedlid.Resolve).
func (h *hook) unattended(ev *event.Event) string {
	if ev.Provider == event.Copilot {
		return copilotUnattended(h.env.Getenv, func() []string {
			if h.env.PID == 0 { // a rehearsal has nobody above it
				return nil
			}
			table := proc.Table{Root: h.env.Getenv("LIDGUARD_ROOT")}
			owner, _ := table.FindOwner(h.env.PID, proc.Copilot, 0)
			return owner.Argv
		})
	}
	return unattended(ev, h.env.Getenv)
}

// copilotUnattended reads it off how the client was started, since neither a
// payload nor the environment tells (contracts/copilot §2, §6). A client that
// cannot be seen counts as attended: with -p it refuses what it would have to ask,
// and only the reason is lost (§3).
func copilotUnattended(getenv func(string) string, argv func() []string) string {
	if getenv("COPILOT_CLI") != "1" {
		// Other programs that run Copilot's hooks; one is reported to go on
		// without asking.
		return "this client is not known to ask"
	}
	args := argv()
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return ""
		case a == "-p", a == "--prompt", strings.HasPrefix(a, "--prompt="):
			return "this run is headless"
		case a == "--autopilot":
			return "this run goes on by itself"
		case a == "-i", a == "--interactive":
			i++ // the first prompt, whatever it begins with
		}
	}
	return ""
}
