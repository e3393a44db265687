// Package until keeps an agent going until a goal is proven. In come the end of a
// turn, goals (a token the agent has to say, a command that has to succeed) and a
// durable counter; out comes "go on, because …" or nothing. It never continues
// after a failure or an interruption, never while background work is still
// running, and gives up by its own count well before the client would.
package until

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in chains and logs.
const Name = "until"

// MaxTimes is the most continuations of one prompt. The smallest cap of a client is
// 8 (contracts/claude §3, contracts/copilot §3); to run into it would end the turn
// in a way that looks like an error.
const MaxTimes = 7

// MaxPerSession bounds the continuations of a whole session, whatever prompts come:
// some clients make prompts of their own.
const MaxPerSession = 50

// MaxLimit is the longest that a goal's command may take: the client waits, and its
// own limit for the hook is 30 s.
const MaxLimit = 20 * time.Second

// Goal is one row of the table. Token and Command may both be given; then both have
// to be met.
type Goal struct {
	ID string `toml:"id"`
	// Token is a text that the agent's last answer has to hold as a line of its own.
	Token string `toml:"token"`
	// Command proves the goal by its exit code 0. It is a line for the shell, and
	// runs in the session's folder.
	Command string `toml:"command"`
	// Limit ends the command; 10 s where it is not given. A command that does not
	// end in time proves nothing either way: the agent may stop.
	Limit policy.Duration `toml:"limit"`
	// Dir is where sessions have to be for the goal to be theirs: a folder, with all
	// below it; empty is everywhere.
	Dir string `toml:"dir"`
	// Agents are the types of the subagents that the goal is for; empty is for the
	// session's own agent alone.
	Agents []string `toml:"agents"`
	// Times is how often one prompt is continued at most; 1 where it is not given.
	Times int `toml:"times"`
	// Text is what the agent reads, before what the command said.
	Text string `toml:"text"`
}

// Check finds the first goal that could not work, and says why; -1 where all could.
func Check(goals []Goal) (row int, key, problem string) {
	seen := map[string]bool{}
	for i, g := range goals {
		switch {
		case strings.TrimSpace(g.ID) == "" || strings.ContainsAny(g.ID, "[]\n"):
			return i, "id", fmt.Sprintf("it is %q; it takes a name without brackets", g.ID)
		case seen[g.ID]:
			return i, "id", fmt.Sprintf("there are two with the id %q", g.ID)
		case g.Token == "" && g.Command == "":
			return i, "", fmt.Sprintf("%q needs a token or a command that proves it", g.ID)
		case strings.ContainsAny(g.Token, "\n\r") || strings.TrimSpace(g.Token) != g.Token:
			return i, "token", "it takes one line without space around it"
		case g.Times < 0 || g.Times > MaxTimes:
			return i, "times", fmt.Sprintf("it is %d; 1 to %d are possible", g.Times, MaxTimes)
		case time.Duration(g.Limit) > MaxLimit:
			return i, "limit", fmt.Sprintf("it is %v; at most %v are possible", time.Duration(g.Limit), MaxLimit)
		}
		seen[g.ID] = true
	}
	return -1, "", ""
}

// World is what the handler needs from outside.
type World struct {
	Store policy.Store
	Run   func(context.Context, policy.Command) (policy.Result, error)
	// History reads the session's log, for clients that do not send the last answer.
	History func(*event.Event) (iter.Seq[event.Item], error)
}

// count is what is kept of one session.
type count struct {
	Goals   map[string]int `json:"goals"`             // goal and subagent: tries since it was proven, or since the last prompt
	Prompt  int            `json:"prompt"`            // continuations since the last prompt
	Session int            `json:"session"`           // and since ever
	GaveUp  []string       `json:"gave_up,omitempty"` // of Goals: whom the person was told of since the last prompt
}

// mark begins every text of ours, so that a client that sends it as a prompt is not
// taken for a person.
const mark = "lidguard until ["

// New returns the handlers: one judges the end of a turn, one begins to count anew
// when a person types.
func New(goals []Goal, w World) []policy.Handler {
	var longest time.Duration
	for _, g := range goals {
		if g.Command != "" {
			longest += g.Limit.Or(defaultLimit)
		}
	}
	stop := policy.Handler{
		Name: Name, Band: policy.BandPolicy + 50, Role: policy.Observer, Limit: min(max(longest, time.Second), MaxLimit),
		Wants: func(ev *event.Event) bool {
			return ends(ev) && slices.ContainsFunc(goals, func(g Goal) bool { return g.isFor(ev) })
		},
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			return judge(ctx, goals, w, ev)
		},
	}
	prompt := policy.Handler{
		Name: Name, Band: policy.BandPolicy + 50, Role: policy.Observer,
		Wants: func(ev *event.Event) bool {
			return policy.Asked(ev) && !strings.Contains(ev.Prompt, mark)
		},
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			return event.Verdict{}, update(ctx, w.Store, ev, func(c *count) { c.Goals, c.Prompt, c.GaveUp = nil, 0, nil })
		},
	}
	return []policy.Handler{stop, prompt}
}

const defaultLimit = 10 * time.Second

// ends tells the ends of turns that went well. A turn that failed or was interrupted
// has other events (StopFailure, Interrupt), and a subagent without a type is the
// client's own (contracts/claude §2).
func ends(ev *event.Event) bool {
	switch ev.Name {
	case event.Stop:
		return ev.Error == ""
	case event.SubagentStop:
		return ev.AgentType != ""
	}
	return false
}

// isFor reports whether the goal is one of the agent whose turn ended.
func (g *Goal) isFor(ev *event.Event) bool {
	if g.Dir != "" && ev.Cwd != g.Dir && !strings.HasPrefix(ev.Cwd, strings.TrimSuffix(path.Clean(g.Dir), "/")+"/") {
		return false
	}
	if ev.Name == event.SubagentStop {
		return slices.Contains(g.Agents, ev.AgentType)
	}
	return len(g.Agents) == 0
}

// key names a goal's counter: each subagent has its own.
func (g *Goal) key(ev *event.Event) string { return g.ID + "\n" + ev.AgentID }

func judge(ctx context.Context, goals []Goal, w World, ev *event.Event) (event.Verdict, error) {
	if working(ev) {
		return event.Verdict{}, nil // this is a pause and not the end
	}
	for i := range goals {
		g := &goals[i]
		if !g.isFor(ev) {
			continue
		}
		missing, err := g.missing(ctx, w, ev)
		if err != nil || missing == "" {
			if err == nil {
				err = update(ctx, w.Store, ev, func(c *count) {
					delete(c.Goals, g.key(ev))
					c.GaveUp = slices.DeleteFunc(c.GaveUp, func(key string) bool { return key == g.key(ev) })
				})
			}
			if err != nil {
				return event.Verdict{}, err
			}
			continue
		}
		return g.goOn(ctx, w.Store, ev, missing)
	}
	return event.Verdict{}, nil
}

// working reports whether something that the agent started still runs, whose end
// will bring it back.
func working(ev *event.Event) bool {
	return slices.ContainsFunc(ev.Tasks, func(t event.Task) bool { return !t.Idle && t.Type != event.TaskTodo && t.Type != event.TaskCron })
}

// missing says what is not proven yet; "" where the goal is met or nobody can tell.
func (g *Goal) missing(ctx context.Context, w World, ev *event.Event) (string, error) {
	if g.Token != "" {
		said, known := said(w, ev)
		if !known {
			return "", nil
		}
		if !holds(said, g.Token) {
			return fmt.Sprintf("When it is done, say so with the line %s", g.Token), nil
		}
	}
	if g.Command == "" {
		return "", nil
	}
	r, err := w.Run(ctx, policy.Command{Script: g.Command, Dir: ev.Cwd, Limit: g.Limit.Or(defaultLimit), MaxOutput: 1 << 20,
		Env: []string{"LIDGUARD_UNTIL=" + g.ID, "LIDGUARD_SESSION=" + string(ev.Session.ID)}})
	if err != nil || r.Late || r.Code == 0 {
		return "", err
	}
	return fmt.Sprintf("`%s` ends with %s:\n%s", g.Command, r.Ended(), lastLines(r.Stdout, r.Stderr)), nil
}

// maxGaveUp bounds how many goals that were given up are remembered: each of a
// prompt's subagents has its own.
const maxGaveUp = 100

// goOn continues the turn, if neither the client nor the count says that it was
// enough.
func (g *Goal) goOn(ctx context.Context, store policy.Store, ev *event.Event, missing string) (event.Verdict, error) {
	times, ok, told := max(g.Times, 1), false, false
	var n int
	err := update(ctx, store, ev, func(c *count) {
		n = c.Goals[g.key(ev)]
		// The client says that a hook has continued this turn before. If that was
		// none of ours, two hooks would push each other on.
		stranger := ev.StopActive && c.Prompt == 0
		if ok = n < times && !stranger && c.Prompt < MaxTimes && c.Session < MaxPerSession; ok {
			n++
			c.Goals[g.key(ev)] = n
			c.Prompt++
			c.Session++
		} else if told = slices.Contains(c.GaveUp, g.key(ev)); !told {
			c.GaveUp = append(c.GaveUp[max(0, len(c.GaveUp)+1-maxGaveUp):], g.key(ev))
		}
	})
	if err != nil {
		return event.Verdict{}, err
	}
	if told {
		return event.Verdict{}, nil
	}
	if !ok {
		return event.Verdict{SystemMessage: fmt.Sprintf("lidguard until [%s]: not proven, and no further try is made (%d of %d).", g.ID, n, times)}, nil
	}
	reason := mark + g.ID + "] try " + strconv.Itoa(n) + " of " + strconv.Itoa(times) + ": "
	if g.Text != "" {
		reason += strings.TrimSpace(g.Text) + "\n"
	}
	return event.Verdict{Decision: event.Deny, Rule: g.ID, Reason: reason + missing}, nil
}

// update changes a session's counters.
func update(ctx context.Context, store policy.Store, ev *event.Event, change func(*count)) error {
	err := store.Update(ctx, ev.Session.String(), func(old []byte) ([]byte, error) {
		c := count{}
		if old != nil && json.Unmarshal(old, &c) != nil {
			// Of another version: better to stop too early than never.
			c = count{Session: MaxPerSession}
		}
		if c.Goals == nil {
			c.Goals = map[string]int{}
		}
		change(&c)
		if len(c.Goals) == 0 && c.Prompt == 0 && c.Session == 0 && len(c.GaveUp) == 0 {
			return nil, nil
		}
		return json.Marshal(c)
	})
	if err != nil {
		return fmt.Errorf("counting the continuations: %w", err)
	}
	return nil
}

// said is the agent's last answer: as the client sends it, else from the log. A
// client that tells neither is one whose agent may stop.
func said(w World, ev *event.Event) (string, bool) {
	if ev.LastMessage != "" {
		return ev.LastMessage, true
	}
	if w.History == nil {
		return "", false
	}
	items, err := w.History(ev)
	if err != nil {
		return "", false
	}
	text, found := "", false
	for it := range items {
		switch {
		case it.Kind == event.ItemSaid && it.Agent == ev.AgentID:
			text, found = it.Text, true
		case it.Kind == event.ItemPrompt:
			text, found = "", true // an answer to an earlier prompt is none to this
		}
	}
	return text, found
}

// holds reports whether a line of the text is the token, without what markdown puts
// around it.
func holds(text, token string) bool {
	for line := range strings.Lines(text) {
		if strings.Trim(line, " \t\r\n*_`#>-.") == strings.Trim(token, "*_`#>-.") || strings.TrimSpace(line) == token {
			return true
		}
	}
	return false
}

// lastLines is the end of what a command printed, for the model.
func lastLines(stdout, stderr []byte) string {
	const most = 2000
	text := strings.TrimSpace(strings.ToValidUTF8(string(stdout)+"\n"+string(stderr), "?"))
	if len(text) > most {
		text = text[len(text)-most:]
		for !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
		text = "… " + text
	}
	return text
}
