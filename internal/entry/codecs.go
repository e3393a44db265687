package entry

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/codex"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
)

// Codec is what the hot path needs of one client's folder.
type Codec interface {
	Provider() event.Provider
	// Decode reads a payload. native is the event's name from the command line
	// (--event), for clients whose payload does not carry it.
	Decode(payload []byte, env func(string) string, native string) (event.Event, error)
	// Encode says a verdict in the client's words. With an error the Output is
	// still the safest thing to say.
	Encode(*event.Event, event.Verdict) (event.Output, error)
	// Signals is what the event, answered with the verdict, means for its session.
	Signals(*event.Event, event.Verdict) []event.Signal
	// Refuse answers for a payload that could not be read: it blocks with
	// reason where the client has a way to, and says nothing elsewhere.
	Refuse(ev *event.Event, reason string) event.Output
}

// row is one hook entry.
type row struct {
	name  string
	codec Codec
}

// rows lists every hook entry: the word on the command line and whose codec reads
// it. A new client is one line here.
var rows = [...]row{
	{"claude-hook", claude.Codec{}},
	{"codex-hook", codex.Codec{}},
	{"copilot-hook", copilot.Codec{}},
	{"opencode-hook", opencode.Codec{}},
}

func find(name string) Codec {
	for _, r := range rows {
		if r.name == name {
			return r.codec
		}
	}
	return nil
}

// called is the codec of whoever runs the entry. Copilot also runs the hooks of a
// project's .claude/settings.json, with payloads and answers of its own
// (contracts/copilot §1.17): an answer in Claude Code's words would be lost on it.
//
// Both clients name themselves in the environment and pass on what they were started
// with. Where both are named one of them runs in a shell of the other, and whose
// program stands nearer above this process has called; where that cannot be seen,
// Claude Code, whose entry it is.
func called(codec Codec, env Env) Codec {
	if codec.Provider() != event.Claude || !copilot.Called(env.Getenv) ||
		claude.Called(env.Getenv) && nearest(env) != event.Copilot {
		return codec
	}
	return copilotAsClaude{}
}

// copilotAsClaude is Copilot at a hook whose command line does not name the event.
type copilotAsClaude struct{ copilot.Codec }

// Refuse refuses what may be a call where nobody can tell: exit 2 is a denial before
// one and a warning elsewhere (contracts/copilot §3).
func (copilotAsClaude) Refuse(ev *event.Event, reason string) event.Output {
	if ev.Native == "" {
		return claude.Refuse(ev, reason)
	}
	return copilot.Refuse(ev, reason)
}

func names() string {
	var all []string
	for _, r := range rows {
		all = append(all, r.name)
	}
	return strings.Join(all, ", ")
}

// Help tells a person who types a hook entry what it is.
func Help(name string) string {
	provider, usage := string(event.Claude), name
	if codec := find(name); codec != nil {
		provider = string(codec.Provider())
	}
	if provider == string(event.Copilot) || provider == string(event.OpenCode) {
		usage += " --event NAME"
	}
	return "lidguard " + name + " - a hook entry, which the agent calls\n\n" +
		"examples\n" +
		"  lidguard hook-install --provider " + provider + "    put it into the agent's config\n" +
		"  lidguard hooks replay --provider " + provider + " --event Stop    see what it answers\n\n" +
		"It reads one event of the agent as JSON on standard input, and answers in the agent's words or not at all.\n\n" +
		"usage: lidguard " + usage + "\n"
}

// eventFlag reads `--event NAME` or `--event=NAME`; unknown words are an error,
// since they would mean that the installed entry is of another version.
func eventFlag(args []string) (string, error) {
	native := ""
	for i := 0; i < len(args); i++ {
		switch value, inline := strings.CutPrefix(args[i], "--event="); {
		case inline:
			native = value
		case args[i] == "--event" && i+1 < len(args):
			i++
			native = args[i]
		default:
			return native, fmt.Errorf("unknown argument %q", args[i])
		}
	}
	return native, nil
}
