package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
)

// Agent checks how lidguard stands in one client. title is the client's name for
// people.
func Agent(title string, r install.Report) []Finding {
	name := string(r.Provider)
	put := "`lidguard hook-install --provider " + name + "`"
	var out []Finding
	switch r.State {
	case install.Missing:
		if !r.Present {
			out = append(out, one(AgentNotConnected, "nothing, unless you mean to use it: "+put, "%s has not been used here, so it has no hooks of lidguard", title)...)
			break
		}
		out = append(out, one(AgentNotConnected, put, "%s is used here and has no hooks of lidguard", title)...)
	case install.NeedsUpdate:
		out = append(out, one(install.HooksOutdated, put, "%s: %s", title, differences(r.Hooks))...)
	case install.NotTrusted:
		out = append(out, one(install.HooksNotTrusted,
			"start `codex` and trust them there (or use /hooks), or `lidguard hook-install --provider codex --trust-codex-hooks`",
			"%s skips %s without a word, since you have not trusted them there", title, howMany(r.Hooks, install.NotTrusted))...)
	case install.Off:
		if n := count(r.Hooks, install.Off); n > 0 {
			out = append(out, one(install.HookDisabled, "switch them on again in "+title+" (/hooks)",
				"%s: %s of lidguard switched off there", title, howMany(r.Hooks, install.Off))...)
		}
	}
	for _, p := range r.Problems {
		out = append(out, Finding{Code: p.Code, Text: p.Text, Remedy: p.Remedy})
	}
	return out
}

func count(hooks []install.Hook, s install.State) int {
	n := 0
	for _, h := range hooks {
		if h.State == s {
			n++
		}
	}
	return n
}

func howMany(hooks []install.Hook, s install.State) string {
	if n := count(hooks, s); n != 1 {
		return fmt.Sprintf("%d hooks", n)
	}
	return "1 hook"
}

// differences sums up what is not as it should be, by the first hook of each kind.
func differences(hooks []install.Hook) string {
	missing, outdated := count(hooks, install.Missing), count(hooks, install.NeedsUpdate)
	text := ""
	if outdated > 0 {
		for _, h := range hooks {
			if h.State == install.NeedsUpdate {
				text = fmt.Sprintf("%s not as this version writes them (%s: %s)", howMany(hooks, install.NeedsUpdate), h.Event, h.Detail)
				break
			}
		}
	}
	if missing > 0 {
		if text != "" {
			text += ", "
		}
		text += howMany(hooks, install.Missing) + " missing"
	}
	return text
}

// Canary tells of hooks that were run with a made-up payload and did not do what
// they should. events are theirs, at least one.
func Canary(title string, provider event.Provider, events []string, why string) Finding {
	which := "the hook of " + events[0] + " does not work"
	if n := len(events); n > 1 {
		which = fmt.Sprintf("%d hooks (%s and others) do not work", n, events[0])
	}
	return Finding{Code: CanaryFailed, Text: fmt.Sprintf("%s: %s: %s", title, which, why),
		Remedy: fmt.Sprintf("`lidguard hook-install --provider %s` writes them anew; `lidguard hook-status --provider %[1]s --json` shows their command lines", provider)}
}

// Server checks how lidguard's MCP server stands in a client's file. recorded: an
// installer of ours put it there. put is the command that does it again. Who has none,
// or has switched it off, has decided so.
func Server(title string, r install.ServerReport, recorded bool, put string) []Finding {
	switch {
	case r.State == install.Unreadable:
		return one(MCPFileBroken, r.Remedy, "%s: %s cannot be used: %s", title, r.File, r.Detail)
	case r.State == install.NeedsUpdate:
		return one(MCPOutdated, "`"+put+"`", "%s: lidguard's MCP server in %s is not as this version writes it (%s)", title, r.File, r.Detail)
	case r.State == install.Missing && recorded:
		return one(MCPLost, "`"+put+"` puts it back; `"+strings.Replace(put, "-install", "-remove", 1)+"` forgets it",
			"%s: lidguard's MCP server is no longer in %s", title, r.File)
	case r.State == install.Foreign && recorded:
		return one(MCPLost, "remove or rename that entry, then `"+put+"`",
			"%s: another server has the name of lidguard's in %s", title, r.File)
	}
	return nil
}

// Nobody is the finding that there is no agent to connect.
func Nobody() Finding {
	return Finding{Code: NoAgents, Text: "no coding agent has been used here", Remedy: "start one once, then run `lidguard setup`"}
}

// NotRunning says in one sentence which hooks that lidguard installed the agent
// will not run in a session that begins now, and what to do; "" when it runs them
// all, or when the person switched them off there. It is for the start of a session:
// other tools, and the agents themselves, drop hooks without a word (claude-code#93742).
func NotRunning(title string, r install.Report) string {
	gone, untrusted := count(r.Hooks, install.Missing), count(r.Hooks, install.NotTrusted)
	what, remedy := "", "`lidguard hook-install --provider "+string(r.Provider)+"` puts them back."
	switch {
	case r.State == install.Unreadable || slices.ContainsFunc(r.Problems, func(p install.Problem) bool { return p.Voids }):
		what, remedy = fmt.Sprintf("%s cannot use %s, so it runs none of lidguard's hooks", title, r.File), "`lidguard doctor` tells what is wrong in it."
	case gone > 0 && gone == len(r.Hooks):
		what = fmt.Sprintf("%s has lost all hooks of lidguard", r.File)
	case gone > 0:
		what = fmt.Sprintf("%s has lost %s of lidguard (%s)", r.File, howMany(r.Hooks, install.Missing), first(r.Hooks, install.Missing))
	case untrusted > 0:
		what, remedy = fmt.Sprintf("%s does not run %s of lidguard (%s), which nobody trusted there", title, howMany(r.Hooks, install.NotTrusted),
			first(r.Hooks, install.NotTrusted)), "Start `codex` and trust them there."
	default:
		return ""
	}
	return what + ": what they would see or refuse goes unseen, and the machine may sleep while work goes on. " + remedy
}

// first names the first hook of a state, and that there are more.
func first(hooks []install.Hook, s install.State) string {
	text := ""
	for _, h := range hooks {
		switch {
		case h.State != s:
		case text != "":
			return text + " and others"
		default:
			text = h.Event
		}
	}
	return text
}
