package redact

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// limit is what a search may take beyond the hook's own time: outputs of several MiB
// on a machine that has other things to do.
const limit = 3 * time.Second

// Report is what is noted about one event: rules and numbers, nothing of a secret.
type Report struct {
	Result
	// Masked is false where something was found and could not be taken away.
	Masked bool
	// Out is set for what a call would send.
	Out bool
}

// New returns the pack's handlers: one for outputs, one for inputs. engine is called
// for the first event that needs one. note, which may be nil, is told what was found.
func New(cfg Config, engine func() *Engine, note func(*event.Event, Report)) []policy.Handler {
	p := &pack{cfg: cfg, engine: engine, note: note}
	if note == nil {
		p.note = func(*event.Event, Report) {}
	}
	list := []policy.Handler{{
		Name: Name, Band: policy.BandRewrite, Role: policy.Gate, Limit: limit,
		Wants: func(ev *event.Event) bool {
			return ev.Tool != nil && (ev.Name == event.PostToolUse && len(ev.Tool.Response) > 0 || ev.Name == event.PostToolUseFailure && ev.Error != "")
		},
		Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
			if ev.Name == event.PostToolUseFailure {
				return p.failure(ev), nil
			}
			return p.inbound(ev), nil
		},
	}}
	if cfg.Outbound != OffOutbound {
		list = append(list, policy.Handler{
			Name: Name, Band: policy.BandRewrite, Role: policy.Gate, Limit: limit,
			Wants: func(ev *event.Event) bool {
				return ev.Name == event.PreToolUse && ev.Tool != nil && len(ev.Tool.Input) > 0
			},
			Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) { return p.outbound(ev), nil },
		})
	}
	return list
}

type pack struct {
	cfg    Config
	engine func() *Engine
	note   func(*event.Event, Report)
}

// counted says a number of secrets and by which rules they were found.
func counted(r *Result) string {
	n := max(r.Masked+r.Keys, 1)
	text := "1 secret"
	if n > 1 {
		text = fmt.Sprintf("%d secrets", n)
	}
	rules := r.Rules
	more := ""
	if len(rules) > 8 {
		rules, more = rules[:8], ", …"
	}
	return text + " (" + strings.Join(rules, ", ") + more + ")"
}

// masked is what the model is told beside an output with masks in it. Without it a
// model that edits a file it has read would write the masks into it.
func masked(r *Result) string {
	if r.Withheld {
		return "lidguard redact: this output was too costly to search for secrets, so its longer texts were withheld. Ask for less of it at once."
	}
	return "lidguard redact took " + counted(r) + " out of this output and put [redacted:…] there; the original still has the value. Do not look for it and do not write the mark into a file; let programs read the secret by themselves, or leave it to the person."
}

// inbound masks a tool's output.
func (p *pack) inbound(ev *event.Event) event.Verdict {
	// Codex takes any text in the output's place, so names can be masked as well.
	out, r, ok := p.engine().JSON(ev.Tool.Response, ev.Provider == event.Codex)
	if !ok {
		if _, r = p.engine().Text(string(ev.Tool.Response)); r.Clean() {
			return event.Verdict{}
		}
		return p.unmasked(ev, r, nil, "its output has no shape that could be kept")
	}
	switch {
	case r.Clean():
		return event.Verdict{}
	case r.Keys > 0:
		if r.Masked == 0 {
			out = nil
		}
		return p.unmasked(ev, r, out, "a secret is the name of a field there")
	case !known(ev):
		return p.unmasked(ev, r, out, "it is not known whether the client takes another output of this tool")
	}
	p.note(ev, Report{Result: r, Masked: true})
	return event.Verdict{UpdatedOutput: out, Contexts: []string{masked(&r)}}
}

// unmasked answers for an output that holds a secret and cannot be made to hold none
// for certain. out, where it is not nil, is the best that can be done.
func (p *pack) unmasked(ev *event.Event, r Result, out []byte, why string) event.Verdict {
	p.note(ev, Report{Result: r})
	v := event.Verdict{
		Rule:          r.Rules[0],
		SystemMessage: fmt.Sprintf("lidguard redact: the output of %s holds %s that may have reached the model: %s. Change what leaked.", ev.Tool.Name, counted(&r), why),
	}
	told := fmt.Sprintf("lidguard redact: the output of %s holds %s, which could not be masked: %s. Treat it as leaked: do not repeat it, do not write it anywhere, do not use it; tell the person to change it.", ev.Tool.Name, counted(&r), why)
	if p.cfg.UnknownShape == WarnUnmasked {
		v.Contexts, v.UpdatedOutput = []string{told}, out
		return v
	}
	v.Decision, v.Reason = event.Deny, told
	if ev.Provider == event.Claude {
		// A block stands beside the output there and takes nothing away; only the
		// end of the turn keeps the model from reading it now.
		v.UpdatedOutput = out
		v.StopTurn = r.Keys > 0 || out == nil
		v.StopReason = "lidguard redact: " + ev.Tool.Name + " printed a secret that could not be masked (" + why + ")."
	}
	return v
}

// failure warns of a secret in an error's text, which no client lets a hook change.
func (p *pack) failure(ev *event.Event) event.Verdict {
	_, r := p.engine().Text(ev.Error)
	if r.Clean() {
		return event.Verdict{}
	}
	p.note(ev, Report{Result: r})
	told := fmt.Sprintf("lidguard redact: the error of %s holds %s, and the client does not let lidguard mask it. Treat it as leaked: do not repeat it, do not write it anywhere, do not use it; tell the person to change it.", ev.Tool.Name, counted(&r))
	return event.Verdict{Contexts: []string{told}, Rule: r.Rules[0],
		SystemMessage: fmt.Sprintf("lidguard redact: an error of %s holds %s, and it has reached the model. Change what leaked.", ev.Tool.Name, counted(&r))}
}

// known tells whether the client takes another output of this tool in the same shape.
func known(ev *event.Event) bool {
	res := ev.Tool.Response
	switch ev.Provider {
	case event.Codex:
		return true
	case event.Copilot:
		return has(res, "textResultForLlm") || has(res, "text_result_for_llm")
	case event.OpenCode:
		return has(res, "output")
	case event.Claude:
		if ev.Tool.MCPServer != "" {
			return true
		}
		switch ev.Tool.Name {
		case "Bash", "PowerShell", "Read", "Grep", "Glob", "LS", "Write", "Edit", "MultiEdit", "NotebookEdit", "WebFetch", "WebSearch",
			"Agent", "Task", "TaskOutput", "AgentOutputTool", "BashOutput", "KillShell", "TaskStop", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate",
			"TodoWrite", "TodoRead", "Monitor", "Skill", "AskUserQuestion", "ExitPlanMode", "ListMcpResourcesTool", "ReadMcpResourceTool", "ToolSearch", "LSP":
			return true
		}
	}
	return false
}

// has tells whether a JSON object names a member.
func has(object []byte, name string) bool {
	v, ok := readJSON(object)
	if !ok {
		return false
	}
	for _, p := range v.parts {
		if p.key && string(v.text[p.from:p.to]) == name {
			return true
		}
	}
	return false
}
