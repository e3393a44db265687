//go:build linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// slowCheck ends when the test lets it, and finds what the test says.
const slowCheck = `
[[check]]
id = "vet"
match = ["*.up"]
command = "until [ -e go ]; do sleep 0.05; done; rm go; cat found.txt; exit 1"
`

// woke is how often the model was told of a finding.
func woke(c *claude.Interactive, finding string) int {
	return strings.Count(lastRequest(&c.Model.Journal), "vet: "+finding)
}

// TestChecks_wakeClaude: a check that takes longer than the turn wakes Claude Code once
// for each new finding and never for an old one; the turn's end does not wait for it,
// the machine sleeps while only the check is left, and stays awake while the model
// works on what it found.
func TestChecks_wakeClaude(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude")
	machine.Write(t, l, filepath.Join(l.Home(), ".config", "lidguard", "rules.toml"), slowCheck)
	g.Run("hook-install", "--provider", "claude")
	project := machine.Project(t, l, "project", true)
	change := func(name, content string) messages.Turn {
		return messages.Use(messages.Tool("Write", map[string]any{"file_path": "${PROJECT}/" + name, "content": content}))
	}
	// A check of one change starts, prints and ends when the test wants it to.
	finds := func(text string) {
		machine.Write(t, l, filepath.Join(project, "found.txt"), text)
		machine.Write(t, l, filepath.Join(project, "go"), "")
	}
	look := filepath.Join(project, "look")
	c := claude.Open(t, l, claude.Options{Project: project, Allow: []string{"Write", "Bash"}, Script: messages.Script{Turns: []messages.Turn{
		change("a.up", "one"), messages.Say("Written."), // the turn ends
		messages.Bash("until [ -e " + look + " ]; do sleep 0.05; done"), messages.Say("Looked."), // woken by the first finding
		change("b.up", "two"), messages.Say("Again."), // finds the same
		change("c.up", "three"), messages.Say("Once more."), // finds another
		messages.Say("Seen."),
	}}})
	stops := 0
	ended := func() {
		t.Helper()
		stops++
		c.WaitHook(stops, "Stop")
		l.WaitNoInhibitor(laptop.Inhibitor{What: "handle-lid-switch"})
	}

	c.Say("Do it.")
	ended()
	if n := woke(c, "a.up:1: first"); n != 0 {
		t.Errorf("told %d times before it was found", n)
	}
	finds("a.up:1: first\n")
	c.WaitHook(2, "UserPromptSubmit")
	l.WaitInhibitor(laptop.Inhibitor{What: "handle-lid-switch"})
	machine.Write(t, l, look, "")
	ended()
	if n := woke(c, "a.up:1: first"); n != 1 {
		t.Errorf("the first finding was told %d times", n)
	}

	c.Say("Go on.")
	ended()
	finds("a.up:7: first\n")
	wait.Until(t, wait.Long, "the check to end", func() (bool, string) { return !exists(project, "go"), "" })
	c.Say("And on.")
	ended()
	finds("a.up:7: first\nb.up:2: second\n")
	ended() // woken
	if first, second := woke(c, "a.up:"), woke(c, "b.up:2: second"); first != 1 || second != 1 {
		t.Errorf("told %d and %d times", first, second)
	}
	c.Exit()
	if n := len(c.Model.Requests()); n != 9 {
		t.Errorf("%d requests to the model, want 9: %v", n, c.Model.Notes())
	}
}

// TestChecks_headlessClaude: where the client would wait for the hook that wakes it,
// the end of the turn waits instead, and the call does not.
func TestChecks_headlessClaude(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude")
	machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "rules.toml"), slowCheck)
	g.Run("hooks", "build", "--provider", "claude")
	project := machine.Project(t, m, "project", true)
	machine.Write(t, m, filepath.Join(project, "found.txt"), "a.up:1: first\n")
	c := claude.Run(t, m, claude.Options{Project: project, Allow: []string{"Write", "Bash"}, Script: messages.Script{Turns: []messages.Turn{
		messages.Use(messages.Tool("Write", map[string]any{"file_path": "${PROJECT}/a.up", "content": "one"})),
		messages.Bash("touch ${PROJECT}/go"), messages.Say("Done."), messages.Say("Seen.")}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	// What continues a turn the client says in two forms: as the hook's feedback, and
	// as an error of its command.
	text := lastRequest(&c.Model.Journal)
	if n := strings.Count(text, "vet: a.up:1: first") - strings.Count(text, `claude-hook": lidguard check: `); n != 1 {
		t.Errorf("told %d times: %s", n, text)
	}
	began, ended := c.WaitHook(1, "PostToolUse", "tool_name=Write").At, c.WaitHook(1, "PostToolBatch").At
	bar(t, "a call whose check goes on", ended.Sub(began), 5*time.Second)
}
