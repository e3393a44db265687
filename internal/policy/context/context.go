// Package context tells the model where it is when a session starts. In come the
// start of a session, probes (small commands with time limits) and the environment;
// out come factual statements, the terminal pane in which the session runs, and the
// variables that a client keeps for later commands. It gives no orders, waits for no
// network unless it was told to, and a probe that fails or is late says nothing.
package context

import (
	std "context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in chains and logs.
const Name = "context"

// Config is the rulebook's section. The zero value is the standard.
type Config struct {
	// Probes are the built-in ones that are asked; none given: branch, dirty and
	// toolchain. An empty list asks none.
	Probes []string `toml:"probes"`
	// Limit ends each probe; 2 s where it is not given.
	Limit policy.Duration `toml:"limit"`
	// Commands are a person's own probes.
	Commands []Probe `toml:"probe"`
	// Env are variables for the commands of the session, where the client has a
	// place for them (Claude Code: CLAUDE_ENV_FILE).
	Env map[string]string `toml:"env"`
	// Pane set to false does not note in which terminal pane a session runs.
	Pane *bool `toml:"pane"`
}

// Probe is a command whose first line of output is a fact.
type Probe struct {
	Name    string `toml:"name"`    // "database"
	Command string `toml:"command"` // a line for the shell, run in the session's folder
	Needs   string `toml:"needs"`   // a file in the session's folder or above without which it is not asked
}

const (
	defaultLimit = 2 * time.Second
	maxLimit     = 10 * time.Second
	maxFact      = 300 // bytes
	maxFacts     = 4000
)

// builtin are the probes that everybody needs.
var builtin = []struct {
	name string
	ask  func(*asker) string
}{
	{"branch", (*asker).branch},
	{"dirty", (*asker).dirty},
	{"toolchain", (*asker).toolchain},
	{"ci", (*asker).ci},
}

// Check says what is wrong with the section, and at which key; row is the index of
// the probe at fault, -1 for the section itself.
func (c *Config) Check() (row int, key, problem string) {
	for _, p := range c.Probes {
		if !slices.ContainsFunc(builtin, func(b struct {
			name string
			ask  func(*asker) string
		}) bool {
			return b.name == p
		}) {
			return -1, "probes", fmt.Sprintf("there is no probe %q; there are branch, dirty, toolchain, ci", p)
		}
	}
	if time.Duration(c.Limit) > maxLimit {
		return -1, "limit", fmt.Sprintf("it is %v; at most %v are possible", time.Duration(c.Limit), maxLimit)
	}
	for i, p := range c.Commands {
		if strings.TrimSpace(p.Name) == "" || strings.TrimSpace(p.Command) == "" {
			return i, "", "a probe needs a name and a command"
		}
	}
	for name := range c.Env {
		if !variable(name) {
			return -1, "env", fmt.Sprintf("%q is no name of a variable", name)
		}
	}
	return -1, "", ""
}

// variable reports whether a shell takes the name.
func variable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// World is what the pack may do.
type World struct {
	policy.Runner
	Store  policy.Store
	Getenv func(string) string
	// Exists reports whether a name is in a folder or above it, and where.
	Exists func(dir, name string) bool
	// Append adds lines to a file of the client's.
	Append func(file string, lines []byte) error
	// Mask takes secrets out of a text.
	Mask func(string) string
}

// New returns the handler.
func New(c Config, w World) policy.Handler {
	limit := c.Limit.Or(defaultLimit)
	return policy.Handler{
		Name: Name, Band: policy.BandContext + 10, Role: policy.Observer, Limit: limit + time.Second,
		// A session that goes on after a compaction knows all this.
		Wants: func(ev *event.Event) bool {
			return ev.Name == event.SessionStart && ev.AgentID == "" && ev.Source != "compact"
		},
		Handle: func(ctx std.Context, ev *event.Event) (event.Verdict, error) {
			var v event.Verdict
			if facts := probe(ctx, c, w, ev, limit); facts != "" {
				v.Contexts = []string{facts}
			}
			// A full disk is no reason to keep the facts back.
			if err := persist(c.Env, w); err != nil {
				v.SystemMessage = "lidguard context: " + err.Error()
			}
			if c.Pane == nil || *c.Pane {
				if err := notePane(ctx, w, ev); err != nil && v.IsZero() {
					return v, err
				}
			}
			return v, nil
		},
	}
}

// probe asks all probes at once and tells what they found, in their order.
func probe(ctx std.Context, c Config, w World, ev *event.Event, limit time.Duration) string {
	names := c.Probes
	if names == nil {
		names = []string{"branch", "dirty", "toolchain"}
	}
	ctx, cancel := std.WithTimeout(ctx, limit)
	defer cancel()
	a := &asker{ctx: ctx, w: w, ev: ev}
	found := make([]string, len(builtin)+len(c.Commands))
	var all sync.WaitGroup
	for i, b := range builtin {
		if slices.Contains(names, b.name) {
			all.Go(func() { found[i] = b.ask(a) })
		}
	}
	for i, p := range c.Commands {
		if p.Needs == "" || w.Exists(ev.Cwd, p.Needs) {
			all.Go(func() {
				if line := a.script(p.Command); line != "" {
					found[len(builtin)+i] = p.Name + ": " + line
				}
			})
		}
	}
	all.Wait()
	text := ""
	for _, fact := range found {
		if fact = strings.TrimSpace(w.Mask(fact)); fact != "" && len(text)+len(fact) < maxFacts {
			text += "\n- " + fact
		}
	}
	if text == "" {
		return ""
	}
	return "Facts about this session's folder, as of its start:" + text
}

// asker runs the probes of one session.
type asker struct {
	ctx std.Context
	w   World
	ev  *event.Event
}

// run is what a program prints, "" where it fails.
func (a *asker) run(argv ...string) string {
	r, err := a.w.Run(a.ctx, policy.Command{Argv: argv, Dir: a.ev.Cwd, Env: []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "NO_COLOR=1"}})
	if err != nil || r.Late || r.Code != 0 {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(r.Stdout), "?"))
}

func (a *asker) script(line string) string {
	r, err := a.w.Run(a.ctx, policy.Command{Script: line, Dir: a.ev.Cwd})
	if err != nil || r.Late || r.Code != 0 {
		return ""
	}
	return first(strings.ToValidUTF8(string(r.Stdout), "?"))
}

// first is the first line of a text, cut.
func first(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.ToValidUTF8(line[:min(len(line), maxFact)], "")
}

func (a *asker) branch() string {
	if !a.w.Exists(a.ev.Cwd, ".git") {
		return ""
	}
	if branch := a.run("git", "symbolic-ref", "--short", "-q", "HEAD"); branch != "" {
		return "The git branch is " + first(branch) + "."
	}
	if commit := a.run("git", "rev-parse", "--short", "HEAD"); commit != "" {
		return "Git is on no branch, at commit " + first(commit) + "."
	}
	return ""
}

func (a *asker) dirty() string {
	if !a.w.Exists(a.ev.Cwd, ".git") {
		return ""
	}
	r, err := a.w.Run(a.ctx, policy.Command{Argv: []string{"git", "status", "--porcelain"}, Dir: a.ev.Cwd, Env: []string{"GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"}, MaxOutput: 256 << 10})
	if err != nil || r.Late || r.Code != 0 {
		return ""
	}
	n := strings.Count(string(r.Stdout), "\n")
	switch {
	case r.Cut:
		return fmt.Sprintf("More than %d files have uncommitted changes.", n)
	case n == 0:
		return "Nothing is uncommitted."
	case n == 1:
		return "One file has uncommitted changes: " + first(strings.TrimSpace(string(r.Stdout))[2:]) + "."
	}
	return fmt.Sprintf("%d files have uncommitted changes.", n)
}

// tools are the versions worth telling, by the file that makes them matter.
var tools = [...]struct {
	file string
	argv []string
}{
	{"go.mod", []string{"go", "env", "GOVERSION"}},
	{"Cargo.toml", []string{"rustc", "--version"}},
	{"package.json", []string{"node", "--version"}},
	{"pyproject.toml", []string{"python3", "--version"}},
	{"Gemfile", []string{"ruby", "--version"}},
	{"pom.xml", []string{"java", "--version"}},
}

func (a *asker) toolchain() string {
	var found []string
	for _, t := range tools {
		if !a.w.Exists(a.ev.Cwd, t.file) {
			continue
		}
		if v := first(a.run(t.argv...)); v != "" {
			if !strings.Contains(strings.ToLower(v), t.argv[0]) {
				v = t.argv[0] + " " + v
			}
			found = append(found, v)
		} else {
			found = append(found, t.argv[0]+" is not installed or does not answer")
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "Toolchain: " + strings.Join(found, "; ") + "."
}

// ci asks the GitHub CLI, which asks the network: it is not among the standard ones.
func (a *asker) ci() string {
	if !a.w.Exists(a.ev.Cwd, ".github") {
		return ""
	}
	branch := first(a.run("git", "symbolic-ref", "--short", "-q", "HEAD"))
	if branch == "" {
		return ""
	}
	var runs []struct {
		Status     string `json:"status"`
		Conclusion string `json:"conclusion"`
		Workflow   string `json:"workflowName"`
	}
	out := a.run("gh", "run", "list", "--branch", branch, "--limit", "1", "--json", "status,conclusion,workflowName")
	if json.Unmarshal([]byte(out), &runs) != nil || len(runs) == 0 {
		return ""
	}
	state := runs[0].Conclusion
	if state == "" {
		state = runs[0].Status
	}
	return fmt.Sprintf("The last CI run of the branch (%s): %s.", first(runs[0].Workflow), first(state))
}

// Pane is where a session can be seen.
type Pane struct {
	Session  event.SessionKey `json:"session"`
	Terminal string           `json:"terminal"` // tmux, wezterm, kitty, zellij, iterm2
	ID       string           `json:"pane"`
	Server   string           `json:"server,omitempty"` // tmux's socket, kitty's address, zellij's session
	Cwd      string           `json:"cwd,omitempty"`
}

// FindPane tells the pane from the environment that terminals give their programs;
// false outside of them. A multiplexer inside a terminal is the nearer one.
func FindPane(getenv func(string) string) (Pane, bool) {
	for _, t := range [...]struct{ terminal, id, server string }{
		{"tmux", "TMUX_PANE", "TMUX"},
		{"zellij", "ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME"},
		{"wezterm", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET"},
		{"kitty", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON"},
		{"iterm2", "ITERM_SESSION_ID", ""},
	} {
		id := getenv(t.id)
		if id == "" || len(id) > 200 {
			continue
		}
		p := Pane{Terminal: t.terminal, ID: id}
		if t.server != "" {
			p.Server, _, _ = strings.Cut(getenv(t.server), ",") // TMUX is socket,pid,session
		}
		return p, true
	}
	return Pane{}, false
}

// Focus is the command line that shows a pane; "" where its terminal has none.
func (p Pane) Focus() string {
	q := Quote
	switch p.Terminal {
	case "tmux":
		socket := ""
		if p.Server != "" {
			socket = "-S " + q(p.Server) + " "
		}
		return "tmux " + socket + "switch-client -t " + q(p.ID)
	case "wezterm":
		return "wezterm cli activate-pane --pane-id " + q(p.ID)
	case "kitty":
		to := ""
		if p.Server != "" {
			to = "--to " + q(p.Server) + " "
		}
		return "kitten @ " + to + "focus-window --match id:" + q(p.ID)
	case "zellij":
		if p.Server != "" {
			return "zellij attach " + q(p.Server)
		}
	}
	return ""
}

// maxPanes bounds how many panes are remembered, the newest of them.
const maxPanes = 100

// PanesKey is under which the store keeps them.
const PanesKey = "panes"

// notePane keeps the pane of the session for `lidguard hooks panes`.
func notePane(ctx std.Context, w World, ev *event.Event) error {
	p, ok := FindPane(w.Getenv)
	if !ok {
		return nil
	}
	p.Session, p.Cwd = ev.Session, ev.Cwd
	err := w.Store.Update(ctx, PanesKey, func(old []byte) ([]byte, error) {
		panes := slices.DeleteFunc(ParsePanes(old), func(o Pane) bool { return o.Session == p.Session })
		panes = append(panes, p)
		return json.Marshal(panes[max(0, len(panes)-maxPanes):])
	})
	if err != nil {
		return fmt.Errorf("noting the session's pane: %w", err)
	}
	return nil
}

// ParsePanes reads what the store keeps, oldest first; what is of another version is
// forgotten.
func ParsePanes(value []byte) []Pane {
	var panes []Pane
	if len(value) > 0 && json.Unmarshal(value, &panes) != nil {
		return nil
	}
	return panes
}

// persist hands variables to the client's later commands (contracts/claude §6).
func persist(env map[string]string, w World) error {
	file := w.Getenv("CLAUDE_ENV_FILE")
	if file == "" || len(env) == 0 {
		return nil
	}
	var names []string
	for name := range env {
		names = append(names, name)
	}
	slices.Sort(names)
	var lines strings.Builder
	for _, name := range names {
		lines.WriteString("export " + name + "=" + Quote(env[name]) + "\n")
	}
	if err := w.Append(file, []byte(lines.String())); err != nil {
		return fmt.Errorf("keeping variables for the session: %w", err)
	}
	return nil
}

// Quote is a text as one word for a POSIX shell.
func Quote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_%+,-./:@") == "" && !strings.ContainsAny(text, "\n") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
