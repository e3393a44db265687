package entry

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

const selfCheckName = "self-check"

// selfCheckLimit bounds the look at the agent's config, which takes some ten
// milliseconds once in a session.
const selfCheckLimit = 2 * time.Second

// selfCheck tells at the start of a session that lidguard's other hooks will not
// run in it: agents write their settings from stale copies and drop hooks without a
// word (claude-code#93742), and Codex skips what nobody trusted. Only a hook that is
// left can tell; where none is, the MCP server does. It asks the program beside this
// one, since reading the config of every client is not for each event to link.
//
// OpenCode has one plugin file, of which no part can be missing.
func (h *hook) selfCheck() policy.Handler {
	return policy.Handler{
		Name: selfCheckName, Band: policy.BandContext, Limit: selfCheckLimit,
		Wants: func(ev *event.Event) bool {
			return ev.Name == event.SessionStart && ev.Source != "compact" && ev.Provider != event.OpenCode && !h.dry && h.installed()
		},
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			program, err := runtimeProgram(h.env.Executable)
			if err != nil {
				return event.Verdict{}, err
			}
			k := h.kit()
			k.Environ = PickEnviron(h.env.Environ)
			r, err := k.Run(ctx, policy.Command{Argv: []string{program, "hook-status", "--provider", string(ev.Provider), "--brief"}, Limit: selfCheckLimit})
			text := strings.TrimSpace(string(r.Stdout))
			if err != nil || text == "" {
				return event.Verdict{}, err
			}
			return event.Verdict{SystemMessage: "lidguard: " + text, Contexts: []string{"lidguard: " + text + " Tell the person so, and leave the repair to them."}}, nil
		},
	}
}

// installed reports whether lidguard changed any agent's files, by the record of it.
func (h *hook) installed() bool {
	if h.noHome != nil {
		return false
	}
	_, err := os.Lstat(h.dirs.Installed())
	return err == nil
}
