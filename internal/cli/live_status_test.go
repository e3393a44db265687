package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// screen feeds messages to a live screen.
func screen(t *testing.T, m live, msgs ...tea.Msg) live {
	t.Helper()
	for _, msg := range msgs {
		next, _ := m.Update(msg)
		m = next.(live)
	}
	return m
}

func key(text string) tea.KeyPressMsg {
	switch text {
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "end":
		return tea.KeyPressMsg{Code: tea.KeyEnd}
	case "pgup":
		return tea.KeyPressMsg{Code: tea.KeyPgUp}
	}
	return tea.KeyPressMsg{Code: rune(text[0]), Text: text}
}

// Report: adrafinil#23 is of 33 holds that pushed the controls off the screen.
func TestLive_twoHundredSessionsStayOnTheScreen(t *testing.T) {
	st := busy()
	st.Sessions = nil
	for i := range 200 {
		st.Sessions = append(st.Sessions, ipc.Session{Key: event.SessionKey{Provider: event.Claude, ID: event.SessionID(fmt.Sprintf("s%03d", i))},
			State: "working", Holds: true, Activity: now, Prompt: "an escape \x1b[31m and " + strings.Repeat("long ", 50)})
	}
	var findings []ipc.Finding
	for range 30 {
		findings = append(findings, ipc.Finding{Code: "lock-not-held", Text: "no"})
	}
	m := live{now: func() time.Time { return now }, ask: func() (statusReport, error) {
		return statusReport{Running: true, Runtime: &runtimeView{"v1", st}, Findings: findings}, nil
	}}
	m = screen(t, m, tea.WindowSizeMsg{Width: 80, Height: 24}, m.Init()())
	check := func(m live, first, last string) {
		t.Helper()
		lines := m.lines()
		text := strings.Join(lines, "\n")
		if len(lines) > 24 {
			t.Errorf("%d lines on a screen of 24", len(lines))
		}
		for _, line := range lines {
			if len([]rune(line)) > 80 || strings.Contains(line, "\x1b") {
				t.Errorf("line %q", line)
			}
		}
		for _, want := range []string{"200 sessions", first, last, "held: idle, handle-lid-switch NOT HELD", "q quits"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q on the screen:\n%s", want, text)
			}
		}
	}
	check(m, "claude:s000", "↓ ")
	m = screen(t, m, key("down"), key("down"))
	check(m, "claude:s002", "↑ 2 more")
	m = screen(t, m, key("end"))
	check(m, "claude:s199", "↑ ")
	m = screen(t, m, key("pgup"), key("down"), key("g"))
	check(m, "claude:s000", "↓ ")
	m = screen(t, m, key("end"))
	st.Sessions = st.Sessions[:3] // the rest ended meanwhile
	m = screen(t, m, m.load())
	if text := strings.Join(m.lines(), "\n"); !strings.Contains(text, "claude:s000") || strings.Contains(text, "more\n") && strings.Contains(text, "↑") {
		t.Errorf("after the sessions ended:\n%s", text)
	}
	m = screen(t, m, tea.WindowSizeMsg{Width: 20, Height: 5})
	if n := len(m.lines()); n > 5 {
		t.Errorf("%d lines on a screen of 5", n)
	}
}

func TestLive_quitsAndGoesOn(t *testing.T) {
	m := live{now: func() time.Time { return now }, ask: func() (statusReport, error) { return statusReport{}, errors.New("no answer") }}
	for _, k := range []string{"q"} {
		_, cmd := m.Update(key(k))
		if cmd == nil {
			t.Fatalf("%s does nothing", k)
		}
		if _, quit := cmd().(tea.QuitMsg); !quit {
			t.Errorf("%s does not quit", k)
		}
	}
	if text := strings.Join(m.lines(), "\n"); !strings.Contains(text, "asking the runtime") {
		t.Errorf("before the first answer:\n%s", text)
	}
	next, tick := m.Update(m.load())
	if text := strings.Join(next.(live).lines(), "\n"); !strings.Contains(text, "error: no answer") || tick == nil {
		t.Errorf("an error ends it:\n%s", text)
	}
	if _, ask := next.Update(liveTick{}); ask == nil {
		t.Error("a tick asks nothing")
	}
}

func TestLive_needsATerminal(t *testing.T) {
	w := newWorld(t)
	if code, _, stderr := w.run("live-status"); code != ExitFailed || !strings.Contains(stderr, "needs a terminal\nhint: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
