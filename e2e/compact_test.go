//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/secrets"
)

// factsOf is the summary that a request gives the model, up to the end of its lines.
func factsOf(request string) string {
	const head = "Facts from before the compaction, taken from the session's log:"
	_, text, ok := strings.Cut(request, head)
	if !ok || strings.Contains(text, head) {
		return ""
	}
	return text
}

// TestCompact_claude: what was asked, changed and tried before a /compact of the real
// client is told once after it, without the secret that was among it.
func TestCompact_claude(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude")
	g.Run("hooks", "enable", "compact")
	project := machine.Project(t, m, "project", true)
	token := "ghp_" + secrets.New(4).Of(secrets.Alnums, 36)
	c := claude.Open(t, m, claude.Options{Project: project, Allow: []string{"Bash", "Write"}, Script: messages.Script{
		Turns: []messages.Turn{
			messages.Use(messages.Tool("Write", map[string]any{"file_path": "${PROJECT}/pier.txt", "content": "wood\n"})),
			messages.Bash("echo berth " + token + " is full; exit 3"), messages.Say("The pier stands."),
			messages.Say("<summary>Piers.</summary>"), // the client's own summary
			messages.Say("On it."), messages.Say("Still on it."),
		}}})
	c.Say("Build the harbour.")
	c.WaitHook(1, "Stop")
	kept := filepath.Join(m.Home(), ".local", "state", "lidguard", "hooks", "compact")
	values := func() int {
		found, err := filepath.Glob(filepath.Join(kept, "*.value"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	c.Say("/compact")
	c.WaitHook(1, "PostCompact")
	c.WaitHook(1, "SessionStart", "source=compact")
	c.WaitScreen(`Compacted`)
	c.Say("Go on.")
	c.WaitHook(2, "Stop")
	if strings.Contains(lastRequest(&c.Model.Journal), "berth "+token) {
		t.Error("the conversation was not compacted")
	}
	facts := factsOf(lastRequest(&c.Model.Journal))
	for _, want := range []string{"Asked for:\n- Build the harbour.", "last said: The pier stands.", "Files changed:\n- " + project + "/pier.txt (1×)",
		"echo berth [redacted:github-token] is full; exit 3 (failed)", "Failed last:\n- echo berth"} {
		if !strings.Contains(facts, want) {
			t.Errorf("the model was not told %q, but %q", want, facts)
		}
	}
	if strings.Contains(facts, token) {
		t.Error("the facts hold the secret")
	}
	if n := values(); n != 0 {
		t.Errorf("%d summaries are kept after they were given", n)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("no summary was ever written: %v", err)
	}
	c.Say("And on.")
	c.WaitHook(3, "Stop")
	if n := strings.Count(lastRequest(&c.Model.Journal), "Facts from before the compaction"); n != 1 {
		t.Errorf("told %d times", n)
	}
	c.Exit()
}

// TestCompact_claudeByItself: a context that is full is compacted by the client in the
// middle of a turn, and the model is told before it goes on, of the last call as well.
func TestCompact_claudeByItself(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude")
	g.Run("hooks", "enable", "compact")
	full := messages.Bash("echo berth is full; exit 3")
	full.Usage = map[string]int{"input_tokens": 990_000, "output_tokens": 10}
	c := claude.Run(t, m, claude.Options{Prompt: "Build the harbour.", Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
		messages.Bash("echo pier"), full, messages.Say("<summary>Piers.</summary>"), messages.Say("It stands.")}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if n := len(c.Hooks.Of(t, "PreCompact", "trigger=auto")); n != 1 {
		t.Fatalf("%d compactions by the client", n)
	}
	facts := factsOf(lastRequest(&c.Model.Journal))
	for _, want := range []string{"Asked for:\n- Build the harbour.", "Commands run:\n- echo pier\n- echo berth is full; exit 3 (failed)"} {
		if !strings.Contains(facts, want) {
			t.Errorf("the model was not told %q, but %q", want, facts)
		}
	}
}

// TestCompact_codex is the same with Codex, as an editor asks it to compact.
func TestCompact_codex(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "codex")
	g.Run("hooks", "enable", "compact")
	project := machine.Project(t, m, "project", true)
	a := codex.Open(t, m, codex.Options{NoRecorder: true, Project: project, Sandbox: codex.FullAccess, Script: responses.Script{Turns: []responses.Turn{
		{Patch: "*** Begin Patch\n*** Add File: pier.txt\n+wood\n*** End Patch\n"}, responses.Shell("echo berth is full; exit 3"), responses.Say("The pier stands."),
		responses.Say("Piers."), // the client's own summary
		responses.Say("On it."), responses.Say("Still on it."),
	}}})
	a.Say("Build the harbour.")
	a.WaitTurns(1)
	a.Compact()
	a.WaitTurns(2)
	a.Say("Go on.")
	a.WaitTurns(3)
	facts := factsOf(lastRequest(&a.Model.Journal))
	for _, want := range []string{"Asked for:\n- Build the harbour.", "last said: The pier stands.", "pier.txt (1×)", "echo berth is full; exit 3 (failed)"} {
		if !strings.Contains(facts, want) {
			t.Errorf("the model was not told %q, but %q", want, facts)
		}
	}
	a.Say("And on.")
	a.WaitTurns(4)
	if n := strings.Count(lastRequest(&a.Model.Journal), "Facts from before the compaction"); n != 1 {
		t.Errorf("told %d times", n)
	}
	a.Exit()
}
