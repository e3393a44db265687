// Package compact carries facts over a compaction. In come a session's history
// before it and the start of the session after it; out go a typed summary (goals,
// files, commands, failures, what is open) and the same as context for the model.
// It reads nothing itself, invents nothing and judges nothing: each line is
// something that was said or done, cut to a bound, with secrets masked by whoever
// calls it.
package compact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in chains and logs.
const Name = "compact"

// limitBefore is for reading a long log.
const limitBefore = 5 * time.Second

// Config is the rulebook's section. The zero value is the standard.
type Config struct {
	// Max bounds the text for the model in bytes; 0 means 4000. Clients cut what is
	// longer than 10,000 characters (contracts/claude §3).
	Max int `toml:"max"`
	// Off leaves parts out: goals, files, commands, failures, open.
	Off []string `toml:"off"`
}

// The parts of a summary, as Config.Off names them.
var parts = [...]string{"goals", "files", "commands", "failures", "open"}

// Check says what is wrong with the section, and at which key.
func (c Config) Check() (key, problem string) {
	if c.Max != 0 && (c.Max < 200 || c.Max > 9000) {
		return "max", fmt.Sprintf("it is %d bytes; 200 to 9000 are possible", c.Max)
	}
	for _, p := range c.Off {
		if !slices.Contains(parts[:], p) {
			return "off", fmt.Sprintf("there is no part %q; there are %s", p, strings.Join(parts[:], ", "))
		}
	}
	return "", ""
}

// Summary is what happened before a compaction, in the order in which it did.
type Summary struct {
	Goals    []string  `json:"goals,omitempty"` // what the person asked for
	Files    []File    `json:"files,omitempty"`
	Commands []Command `json:"commands,omitempty"`
	Failures []Failure `json:"failures,omitempty"` // that nothing later set right
	Open     []string  `json:"open,omitempty"`     // to-do items that are not done, and the last thing said
}

// File is a file that a tool changed.
type File struct {
	Path    string `json:"path"`
	Changes int    `json:"changes"`
}

// Command is a line that a shell was given.
type Command struct {
	Text   string `json:"text"`
	Runs   int    `json:"runs"`
	Failed bool   `json:"failed,omitempty"` // the last time
}

// Failure is a call that failed.
type Failure struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

// Bounds of a summary's parts: the last of each are the ones that matter.
const (
	maxGoals, maxFiles, maxCommands, maxFailures, maxOpen = 6, 40, 20, 5, 12
	maxLine                                               = 240 // bytes of one entry
)

// Summarize tells what a history holds. mask takes secrets out of a text.
func Summarize(history iter.Seq[event.Item], mask func(string) string) Summary {
	g := gatherer{mask: mask, calls: map[string]event.Item{}}
	for it := range history {
		if it.Agent == "" { // what a subagent did, its own answer tells
			g.take(it)
		}
	}
	return g.summary()
}

// gatherer collects the parts.
type gatherer struct {
	mask     func(string) string
	calls    map[string]event.Item // not answered yet
	goals    []string
	files    []File
	commands []Command
	failures []Failure
	todo     []string
	last     string
}

func (g *gatherer) take(it event.Item) {
	switch it.Kind {
	case event.ItemPrompt:
		if text := g.line(it.Text); text != "" && !strings.HasPrefix(text, "<") { // a client's own markup
			g.goals = append(g.goals, text)
		}
	case event.ItemSaid:
		g.last = g.line(it.Text)
	case event.ItemCall:
		g.call(it)
	case event.ItemResult:
		g.result(it)
	}
}

// call notes what a call says that it will do.
func (g *gatherer) call(it event.Item) {
	if it.CallID != "" {
		g.calls[it.CallID] = it
	}
	in := input(it.Input)
	files, patched := policy.Patched(it.Input)
	switch {
	case !patched && in.command() != "":
		text := g.line(in.command())
		if i := slices.IndexFunc(g.commands, func(c Command) bool { return c.Text == text }); i >= 0 {
			c := g.commands[i]
			c.Runs++
			g.commands = append(slices.Delete(g.commands, i, i+1), c)
		} else {
			g.commands = append(g.commands, Command{Text: text, Runs: 1})
		}
	case patched:
		for _, p := range files {
			g.file(p)
		}
	case in.todo() != nil:
		g.todo = nil
		for _, t := range in.todo() {
			g.todo = append(g.todo, g.line(t))
		}
	case policy.Writes(it.Tool):
		g.file(policy.Named(it.Input))
	}
}

func (g *gatherer) file(p string) {
	if p = g.line(p); p == "" {
		return
	}
	n := 1
	if i := slices.IndexFunc(g.files, func(f File) bool { return f.Path == p }); i >= 0 {
		n = g.files[i].Changes + 1
		g.files = slices.Delete(g.files, i, i+1)
	}
	g.files = append(g.files, File{Path: p, Changes: n})
}

// result notes how a call ended. A failure that the same call later overcame is
// none any more.
func (g *gatherer) result(it event.Item) {
	call, ok := g.calls[it.CallID]
	if !ok {
		return
	}
	delete(g.calls, it.CallID)
	what := g.line(call.Tool)
	if command := input(call.Input).command(); command != "" && !strings.HasPrefix(command, "*** Begin Patch") {
		what = g.line(command)
		for i := range g.commands {
			if g.commands[i].Text == what {
				g.commands[i].Failed = it.Failed
			}
		}
	} else if p := policy.Named(call.Input); p != "" {
		what = g.line(call.Tool + " " + p)
	}
	g.failures = slices.DeleteFunc(g.failures, func(f Failure) bool { return f.Call == what })
	if it.Failed {
		g.failures = append(g.failures, Failure{Call: what, Text: g.line(it.Text)})
	}
}

func (g *gatherer) summary() Summary {
	s := Summary{Goals: lastOf(g.goals, maxGoals), Files: lastOf(g.files, maxFiles), Commands: lastOf(g.commands, maxCommands),
		Failures: lastOf(g.failures, maxFailures), Open: lastOf(g.todo, maxOpen)}
	if len(g.goals) > maxGoals {
		s.Goals[0] = g.goals[0] // the first prompt is what all of it is about
	}
	if g.last != "" {
		s.Open = append(s.Open, "last said: "+g.last)
	}
	return s
}

func lastOf[T any](list []T, n int) []T { return slices.Clone(list[max(0, len(list)-n):]) }

// line is a text as one masked line within the bound.
func (g *gatherer) line(text string) string {
	// Masked before it is cut: half a secret is no secret to a mask.
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(g.mask(text), "?")), " ")
	if len(text) > maxLine {
		text = text[:maxLine]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += " …"
	}
	return text
}

// args are the members of a call's input that are looked at; the clients' names
// differ (docs/contracts, tables of tools).
type args struct {
	Command any    `json:"command"`
	Cmd     string `json:"cmd"`
	Todos   []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"todos"`
	Plan []struct {
		Step   string `json:"step"`
		Status string `json:"status"`
	} `json:"plan"`
}

// input reads a call's input; one that is no object has no members.
func input(raw json.RawMessage) *args {
	a := &args{}
	if json.Unmarshal(raw, a) != nil {
		return &args{}
	}
	return a
}

func (a *args) command() string {
	if text, ok := a.Command.(string); ok {
		return text
	}
	return a.Cmd
}

// todo are the items of a to-do list that are not done; nil where there is no list.
func (a *args) todo() []string {
	if a.Todos == nil && a.Plan == nil {
		return nil
	}
	open := []string{}
	for _, t := range a.Todos {
		if t.Status != "completed" && t.Status != "cancelled" {
			open = append(open, "to do: "+t.Content)
		}
	}
	for _, t := range a.Plan {
		if t.Status != "completed" {
			open = append(open, "to do: "+t.Step)
		}
	}
	return open
}

// Text is the summary for the model, at most limit bytes long. Parts that do not fit
// lose their oldest lines.
func (s *Summary) Text(limit int, off []string) string {
	const head = "Facts from before the compaction, taken from the session's log:"
	sections := []struct {
		name, title string
		lines       []string
	}{
		{"goals", "Asked for:", s.Goals},
		{"open", "Open:", s.Open},
		{"failures", "Failed last:", nil},
		{"files", "Files changed:", nil},
		{"commands", "Commands run:", nil},
	}
	for _, f := range s.Failures {
		sections[2].lines = append(sections[2].lines, f.Call+": "+f.Text)
	}
	for _, f := range s.Files {
		sections[3].lines = append(sections[3].lines, fmt.Sprintf("%s (%d×)", f.Path, f.Changes))
	}
	for _, c := range s.Commands {
		line := c.Text
		if c.Failed {
			line += " (failed)"
		}
		sections[4].lines = append(sections[4].lines, line)
	}
	var b strings.Builder
	b.WriteString(head)
	for i, sec := range sections {
		if slices.Contains(off, sec.name) || len(sec.lines) == 0 {
			continue
		}
		// Each part may use an even share of what is left.
		left := (limit - b.Len()) / (len(sections) - i)
		kept, size := len(sec.lines), len(sec.title)+1
		for kept > 0 && size+len(sec.lines[kept-1])+3 <= left {
			size += len(sec.lines[kept-1]) + 3
			kept--
		}
		if kept == len(sec.lines) {
			continue
		}
		b.WriteString("\n" + sec.title)
		for _, line := range sec.lines[kept:] {
			b.WriteString("\n- " + line)
		}
	}
	if b.Len() == len(head) {
		return ""
	}
	return b.String()
}

// New returns the handlers: one writes the summary before a compaction, one gives
// it back after it. history reads the session's log, and may know of none.
func New(cfg Config, store policy.Store, history func(*event.Event) (iter.Seq[event.Item], error), mask func(string) string) []policy.Handler {
	limit := cfg.Max
	if limit == 0 {
		limit = 4000
	}
	before := policy.Handler{
		Name: Name, Band: policy.BandContext + 50, Role: policy.Observer, Limit: limitBefore,
		Wants: func(ev *event.Event) bool { return ev.Name == event.PreCompact },
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			items, err := history(ev)
			if err != nil {
				return event.Verdict{}, fmt.Errorf("reading the session's log: %w", err)
			}
			s := Summarize(items, mask)
			value, err := json.Marshal(s)
			if err != nil {
				return event.Verdict{}, fmt.Errorf("writing the summary: %w", err)
			}
			return event.Verdict{}, store.Update(ctx, ev.Session.String(), func([]byte) ([]byte, error) { return value, nil })
		},
	}
	after := policy.Handler{
		Name: Name, Band: policy.BandContext + 50, Role: policy.Observer,
		Wants: givesBack,
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			var v event.Verdict
			err := store.Update(ctx, ev.Session.String(), func(old []byte) ([]byte, error) {
				if old == nil {
					return nil, nil
				}
				var s Summary
				if err := json.Unmarshal(old, &s); err != nil {
					return nil, nil // of another version; it is of no use any more
				}
				if text := s.Text(limit, cfg.Off); text != "" {
					v.Contexts = []string{text}
				}
				return nil, nil // once
			})
			if err != nil {
				return event.Verdict{}, errors.New("reading the summary: " + err.Error())
			}
			return v, nil
		},
	}
	return []policy.Handler{before, after}
}

// givesBack tells the first event after a compaction at which the client takes a
// text: the start of the session with that source, or, for Copilot, which sends
// none, the next prompt (contracts/copilot §2).
func givesBack(ev *event.Event) bool {
	if ev.Provider == event.Copilot {
		return ev.Name == event.UserPromptSubmit && ev.AgentID == ""
	}
	return ev.Name == event.SessionStart && ev.Source == "compact"
}
