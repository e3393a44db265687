package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

// livePace is how often the screen asks the runtime. Asking is never activity.
const livePace = time.Second

func (a *app) liveStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "live-status",
		Short:   "status on a screen that refreshes",
		Example: `lidguard live-status`,
		Long:    "Arrow keys, page up and down, home and end scroll the sessions; q quits. Needs a\nterminal.",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !isTerminal(a.Stdout) || !isTerminal(a.Stdin) || a.json {
				return hint(errors.New("live-status needs a terminal"), "`lidguard status` prints once, `lidguard status --json` for scripts")
			}
			return a.runLive(cmd.Context())
		},
	}
}

// runLive shows the screen until the person quits or ctx ends.
func (a *app) runLive(ctx context.Context) error {
	m := live{now: a.Now, ask: func() (statusReport, error) { return a.status(ctx) }}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(a.Stdin), tea.WithOutput(a.Stdout))
	_, err := program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil // the person's own Ctrl-C
	}
	return err
}

// live is the screen. It is plain data: Update returns the next one.
type live struct {
	now func() time.Time
	ask func() (statusReport, error)

	report        statusReport
	err           error
	loaded        bool
	top           int // first session shown
	width, height int
}

// liveReport is an answer, liveTick the time for a question.
type (
	liveReport struct {
		report statusReport
		err    error
	}
	liveTick struct{}
)

func (m live) load() tea.Msg {
	r, err := m.ask()
	return liveReport{r, err}
}

// Init asks at once.
func (m live) Init() tea.Cmd { return m.load }

// Update takes in a key, a size or an answer.
func (m live) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case liveReport:
		m.report, m.err, m.loaded = msg.report, msg.err, true
		next = tea.Tick(livePace, func(time.Time) tea.Msg { return liveTick{} })
	case liveTick:
		next = m.load
	case tea.KeyPressMsg:
		page := max(m.room(), 1)
		switch msg.String() {
		case "q", "ctrl+c", "esc":
			return m, tea.Quit
		case "down", "j":
			m.top++
		case "up", "k":
			m.top--
		case "pgdown", "space", "f":
			m.top += page
		case "pgup", "b":
			m.top -= page
		case "home", "g":
			m.top = 0
		case "end", "G":
			m.top = len(m.sessions())
		}
	}
	m.top = max(0, min(m.top, len(m.sessions())-max(m.room(), 1)))
	return m, next
}

func (m live) sessions() []ipc.Session {
	if m.report.Runtime == nil {
		return nil
	}
	return m.report.Runtime.Sessions
}

// room is how many sessions fit between what is always shown.
func (m live) room() int {
	fixed := len(m.above()) + len(m.below()) + 3 // the two "more" lines and the keys
	return max(m.height-fixed, 1)
}

// View draws the screen.
func (m live) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	return v
}

// lines are the screen, never more or longer than it is.
func (m live) lines() []string {
	out := m.above()
	all := m.sessions()
	last := min(m.top+m.room(), len(all))
	if m.top > 0 {
		out = append(out, fmt.Sprintf("  ↑ %d more", m.top))
	}
	for _, s := range all[min(m.top, last):last] {
		holds := "-"
		if s.Holds {
			holds = "holds"
		}
		now := m.now()
		out = append(out, clean(fmt.Sprintf("  %-28s %-10s %-5s %6s  %s", s.Key.String(), s.State, holds, span(now.Sub(s.Activity)), sessionNote(s, now))))
	}
	if n := len(all) - last; n > 0 {
		out = append(out, fmt.Sprintf("  ↓ %d more", n))
	}
	out = append(out, m.below()...)
	out = append(out, "q quits, ↑ ↓ scroll")
	if m.height > 0 && len(out) > m.height {
		out = append(out[:m.height-1], out[len(out)-1])
	}
	for i, line := range out {
		if runes := []rune(line); m.width > 0 && len(runes) > m.width {
			out[i] = string(runes[:m.width])
		}
	}
	return out
}

func (m live) above() []string {
	switch {
	case m.err != nil:
		return []string{clean("error: " + m.err.Error())}
	case !m.loaded:
		return []string{"asking the runtime"}
	case m.report.Runtime == nil:
		return []string{m.report.silence()}
	}
	st := m.report.Runtime.Status
	out := []string{when(m.now(), m.now()) + "  " + headline(st)}
	if p := st.Suspend; p != nil {
		out = append(out, pending(p, m.now()))
	}
	return out
}

func (m live) below() []string {
	var out []string
	if r := m.report.Runtime; r != nil && m.err == nil {
		var held, machine []string
		for _, h := range r.Held {
			word := h.What
			if !h.Confirmed {
				word += " NOT HELD"
			}
			held = append(held, word)
		}
		if held != nil {
			out = append(out, clean("held: "+strings.Join(held, ", ")))
		}
		for _, row := range machineRows(r.Status) {
			machine = append(machine, row[0]+" "+row[1])
		}
		out = append(out, strings.Join(machine, ", "))
	}
	// Findings must not push the sessions off the screen.
	for i, f := range m.report.Findings {
		if i == 3 {
			out = append(out, fmt.Sprintf("%d more findings: `lidguard status`", len(m.report.Findings)-i))
			break
		}
		out = append(out, clean(f.Code+": "+f.Text))
	}
	return out
}
