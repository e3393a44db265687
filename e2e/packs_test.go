//go:build linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/client/opencode"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
)

// book is written once, for all four clients: a call is refused, a fact is told
// with the prompt, and a turn goes on until a file proves its goal.
const book = `
[[rule]]
id = "no-deploy"
command = "touch *deployed*"
decision = "deny"
reason = "Deploys are a person's."
instead = "describe what you would deploy"
deny = ["touch ./deployed"]
allow = ["touch ./proof"]

[[nudge]]
id = "house"
match = "task"
text = "The house colour is green."

[[until]]
id = "proof"
command = "test -e proof"
times = 2
`

// The model deploys, is refused, and says that it is done; told that it is not, it
// makes the proof.
var (
	deploy = "touch ${PROJECT}/deployed"
	prove  = "touch ${PROJECT}/proof"
)

func TestPacks_oneBookOnFourClients(t *testing.T) {
	t.Parallel()
	for _, client := range []struct {
		name string
		run  func(t *testing.T, m machine.Machine, project string) (code int, model *modelserver.Journal)
	}{
		{"claude", func(t *testing.T, m machine.Machine, project string) (int, *modelserver.Journal) {
			c := claude.Run(t, m, claude.Options{NoRecorder: true, Project: project, Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
				messages.Bash(deploy), messages.Say("Done."), messages.Bash(prove), messages.Say("Done now.")}}})
			return c.Wait(), &c.Model.Journal
		}},
		{"codex", func(t *testing.T, m machine.Machine, project string) (int, *modelserver.Journal) {
			c := codex.Exec(t, m, codex.Options{NoRecorder: true, Project: project, Sandbox: codex.FullAccess, Script: responses.Script{Turns: []responses.Turn{
				responses.Shell(deploy), responses.Say("Done."), responses.Shell(prove), responses.Say("Done now.")}}})
			return c.Wait(), &c.Model.Journal
		}},
		{"copilot", func(t *testing.T, m machine.Machine, project string) (int, *modelserver.Journal) {
			c := copilot.Run(t, m, copilot.Options{NoRecorder: true, Project: project, Args: []string{"--allow-all-tools", "--allow-all-paths"}, Script: completions.Script{Turns: []completions.Turn{
				completions.Bash(deploy), completions.Say("Done."), completions.Bash(prove), completions.Say("Done now.")}}})
			return c.Wait(), &c.Model.Journal
		}},
		{"opencode", func(t *testing.T, m machine.Machine, project string) (int, *modelserver.Journal) {
			// Its headless run leaves the moment that a turn ends; a server stays.
			c := opencode.Serve(t, m, opencode.Options{NoRecorder: true, Project: project, Script: completions.Script{Turns: []completions.Turn{
				completions.Bash(deploy), completions.Say("Done."), completions.Bash(prove), completions.Say("Done now.")}}})
			c.Say("Do the task.")
			c.Model.WaitRequests(t, 4)
			return 0, &c.Model.Journal
		}},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			m := machine.Bench(t)
			lidguard.Install(t, m, client.name)
			machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "rules.toml"), book)
			project := machine.Project(t, m, "project", true)
			code, model := client.run(t, m, project)
			if code != 0 {
				t.Errorf("exit %d", code)
			}
			for _, want := range []string{`Note \[house\].*The house colour is green\.`, `no-deploy.*Deploys are a person's`, `lidguard until \[proof\] try 1 of 2: .test -e proof. ends with exit code 1`} {
				if !model.Saw(want) {
					t.Errorf("the model was not told %q", want)
				}
			}
			if model.Saw(`try 2 of 2`) {
				t.Error("a proven goal was tried again")
			}
			if exists(project, "deployed") || !exists(project, "proof") {
				t.Errorf("deployed: %t, proof: %t", exists(project, "deployed"), exists(project, "proof"))
			}
			if n := strings.Count(lastRequest(model), "The house colour is green"); n != 1 {
				t.Errorf("the fact was told %d times", n)
			}
		})
	}
}

// lastRequest is the whole conversation as the model saw it in the end.
func lastRequest(model *modelserver.Journal) string {
	requests := model.Requests()
	if len(requests) == 0 {
		return ""
	}
	return requests[len(requests)-1].Text
}

// changes is for what follows a change: a formatter, a check beside the work, facts at
// the start, and a yes that was given beforehand.
const changes = `
[context]
probes = []
env = { GREETING = "it's here" }
[[context.probe]]
name = "harbour"
command = "echo open"

[[format]]
match = ["*.up"]
command = ["tr", "a-z", "A-Z"]

[[check]]
id = "vet"
match = ["*.up"]
command = "cat found.txt; exit 1"
wait = "20s"
`

// inPane is what tmux gives the programs in it.
var inPane = map[string]string{"TMUX": "/tmp/tmux-1000/default,4242,0", "TMUX_PANE": "%7"}

func TestPacks_afterAChange(t *testing.T) {
	t.Parallel()
	for _, client := range []struct {
		name string
		run  func(t *testing.T, m machine.Machine, project string) (code int, model *modelserver.Journal)
	}{
		{"claude", func(t *testing.T, m machine.Machine, project string) (int, *modelserver.Journal) {
			c := claude.Run(t, m, claude.Options{NoRecorder: true, Project: project, Allow: []string{"Write", "Bash"}, Vars: inPane, Script: messages.Script{Turns: []messages.Turn{
				messages.Use(messages.Tool("Write", map[string]any{"file_path": "${PROJECT}/a.up", "content": "loud\n"})),
				messages.Bash(`echo "$GREETING" > greeting`), messages.Say("Done."), messages.Say("It stays so.")}}})
			return c.Wait(), &c.Model.Journal
		}},
		{"codex", func(t *testing.T, m machine.Machine, project string) (int, *modelserver.Journal) {
			c := codex.Exec(t, m, codex.Options{NoRecorder: true, Project: project, Sandbox: codex.FullAccess, Vars: inPane, Script: responses.Script{Turns: []responses.Turn{
				{Patch: "*** Begin Patch\n*** Add File: a.up\n+loud\n*** End Patch\n"}, responses.Say("Done."), responses.Say("It stays so.")}}})
			return c.Wait(), &c.Model.Journal
		}},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			m := machine.Bench(t)
			g := lidguard.Install(t, m, client.name)
			machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "rules.toml"), changes)
			project := machine.Project(t, m, "project", true)
			machine.Write(t, m, filepath.Join(project, "found.txt"), "a.up:1: too loud\n")
			code, model := client.run(t, m, project)
			if code != 0 {
				t.Errorf("exit %d", code)
			}
			end := lastRequest(model)
			for _, want := range []string{"harbour: open", "lidguard format: tr has reformatted", "vet: a.up:1: too loud"} {
				if n := strings.Count(end, want); n != 1 {
					t.Errorf("the model was told %q %d times", want, n)
				}
			}
			if got := read(t, filepath.Join(project, "a.up")); got != "LOUD\n" {
				t.Errorf("a.up is %q", got)
			}
			if got := g.Run("hooks", "panes"); !strings.Contains(got, client.name) || !strings.Contains(got, "tmux -S /tmp/tmux-1000/default switch-client -t %7") {
				t.Errorf("the session's pane is not known: %s", got)
			}
			if client.name == "claude" {
				if got := read(t, filepath.Join(project, "greeting")); got != "it's here\n" {
					t.Errorf("the variable is %q", got)
				}
			}
		})
	}
}
