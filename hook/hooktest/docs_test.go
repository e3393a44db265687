package hooktest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/hook"
)

// What docs/sdk.md says of each verdict on each client is what happens.
func TestDocs_theTableOfVerdictsIsTrue(t *testing.T) {
	call := func(c Client) Payload { return c.PreToolUse(shellOf(c), "ls") }
	permission := func(c Client) Payload { return c.PermissionRequest(shellOf(c), "ls") }
	result := func(c Client) Payload { return c.PostToolUse(shellOf(c), "ls", "out") }
	prompt := func(c Client) Payload { return c.UserPromptSubmit("hi") }
	rows := map[string]struct {
		v func(hook.Event) hook.Verdict
		f func(Client) Payload
	}{
		"`Deny` before a call":       {f: call, v: says(hook.Deny("why"))},
		"`Ask` before a call":        {f: call, v: says(hook.Ask("why"))},
		"`Allow` before a call":      {f: call, v: says(hook.Allow())},
		"`Deny` a permission":        {f: permission, v: says(hook.Deny("why"))},
		"`Allow` a permission":       {f: permission, v: says(hook.Allow())},
		"`RewriteInput`":             {f: call, v: says(hook.RewriteInput(map[string]string{"command": "pwd"}))},
		"`Deny` a result":            {f: result, v: says(hook.Deny("why"))},
		"`AddContext` to a prompt":   {f: prompt, v: says(hook.AddContext("fact"))},
		"`AddContext` to a session":  {f: func(c Client) Payload { return c.SessionStart("startup") }, v: says(hook.AddContext("fact"))},
		"`AddContext` before a call": {f: call, v: says(hook.AddContext("fact"))},
		"`AddContext` to a result":   {f: result, v: says(hook.AddContext("fact"))},
		"`Continue`":                 {f: func(c Client) Payload { return c.Stop("done") }, v: says(hook.Continue("go on"))},
		"`EndTurn` at a prompt":      {f: prompt, v: says(hook.EndTurn("why"))},
		"`EndTurn` before a call":    {f: call, v: says(hook.EndTurn("why"))},
		"`RewriteOutput`": {f: result, v: func(ev hook.Event) hook.Verdict {
			res, _ := ev.Result()
			masked, _ := res.MapStrings(func(s string) string { return strings.ReplaceAll(s, "out", "***") })
			return hook.RewriteOutput(masked)
		}},
	}
	means := map[string]func(Outcome) bool{
		"refused":           func(o Outcome) bool { return o.Effect == Refused },
		"asks":              func(o Outcome) bool { return o.Effect == Asks },
		"spares the prompt": func(o Outcome) bool { return o.Effect == Runs },
		"said beside it":    func(o Outcome) bool { return o.Effect == Objected },
		"replaced":          func(o Outcome) bool { return o.Effect == Replaced },
		"works on":          func(o Outcome) bool { return o.Effect == WorksOn },
		"ends":              func(o Outcome) bool { return o.Effect == TurnEnds },
		"yes":               func(o Outcome) bool { return len(o.Lost) == 0 && !o.Silent() },
		"–":                 func(o Outcome) bool { return len(o.Lost) == 1 && o.Silent() },
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "sdk.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		row, ok := rows[strings.TrimSpace(cells[0])]
		if !ok || len(cells) != 5 {
			continue
		}
		seen++
		for i, client := range []Client{Claude, Codex, Copilot, OpenCode} {
			cell := strings.TrimSpace(cells[i+1])
			o := Run(t, func(_ context.Context, ev hook.Event) hook.Verdict { return row.v(ev) }, row.f(client))
			fits := 0
			for word, is := range means {
				if strings.HasPrefix(cell, word) {
					fits++
					if !is(o) {
						t.Errorf("%s on %s is said to be %q; the agent %s, lost %q\n%s", cells[0], client, cell, told(o.Effect), o.Lost, o.Stdout)
					}
				}
			}
			if fits != 1 {
				t.Errorf("%s on %s: nobody can check %q", cells[0], client, cell)
			}
			if slices.Contains(o.Lost, "ask (refused instead)") && !strings.Contains(cell, "with the reason") {
				t.Errorf("%s on %s: an ask becomes a refusal", cells[0], client)
			}
		}
	}
	if seen != len(rows) {
		t.Errorf("%d of %d rows are in the document", seen, len(rows))
	}
}

func says(v hook.Verdict) func(hook.Event) hook.Verdict {
	return func(hook.Event) hook.Verdict { return v }
}

func shellOf(c Client) string {
	if c.provider == hook.Claude || c.provider == hook.Codex || c.pascal {
		return "Bash"
	}
	return "bash"
}
