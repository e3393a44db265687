//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	"github.com/lidguard-go/lidguard/e2e/lab/record"
	"github.com/lidguard-go/lidguard/e2e/lab/secrets"
)

// vault is a project whose files are full of secrets. Every file also has a line that
// is none, "kept N", by which a test sees that the model was told the rest.
type vault struct {
	project string
	files   [][]secrets.Secret
}

// fill lays n secrets of all kinds into so many files, s0.txt and on.
func fill(t testing.TB, m machine.Machine, n, files int) vault {
	t.Helper()
	v := vault{project: machine.Project(t, m, "project", true), files: make([][]secrets.Secret, files)}
	for i, s := range secrets.Roll(uint64(files), n) {
		v.files[i%files] = append(v.files[i%files], s)
	}
	for i, list := range v.files {
		machine.Write(t, m, filepath.Join(v.project, fmt.Sprintf("s%d.txt", i)), v.text(i, list))
	}
	return v
}

func (v vault) text(i int, list []secrets.Secret) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(s.Text + "\n")
	}
	fmt.Fprintf(&b, "kept %d\n", i)
	return b.String()
}

// shut fails the test for every secret that a request to the model holds, and for
// every file of which the model was not told the rest.
func (v vault) shut(t testing.TB, requests []modelserver.Request) {
	t.Helper()
	var all bytes.Buffer
	for _, r := range requests {
		all.Write(r.Body)
	}
	body := all.Bytes()
	for i, list := range v.files {
		for _, s := range list {
			for _, part := range s.Parts {
				quoted, err := json.Marshal(part)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(body, []byte(part)) || bytes.Contains(body, bytes.Trim(quoted, `"`)) {
					t.Errorf("the model has read the %s of file %d: %.20q…", s.Kind, i, part)
					break
				}
			}
		}
		if !bytes.Contains(body, fmt.Appendf(nil, "kept %d", i)) {
			t.Errorf("the model was not told what file %d has beside its secrets", i)
		}
	}
	if n := bytes.Count(body, []byte("[redacted:")); n < len(v.files) {
		t.Errorf("the model sees %d masks", n)
	}
}

// shelf is an MCP server whose one tool hands a file out in the form it is asked for.
const shelf = `const fs = require("fs");
const send = (m) => process.stdout.write(JSON.stringify({jsonrpc: "2.0", ...m}) + "\n");
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const {id, method, params} = JSON.parse(line);
  if (method === "initialize") send({id, result: {protocolVersion: params.protocolVersion, capabilities: {tools: {}}, serverInfo: {name: "shelf", version: "1"}}});
  else if (method === "tools/list") send({id, result: {tools: [{name: "fetch", description: "hands out a file", annotations: {readOnlyHint: true},
    inputSchema: {type: "object", properties: {file: {type: "string"}, form: {type: "string"}, note: {type: "string"}}}}]}});
  else if (method === "tools/call") {
    const a = params.arguments, text = a.file ? fs.readFileSync(a.file, "utf8") : "got " + JSON.stringify(a);
    const result = {content: [{type: "text", text}]};
    if (a.form === "structured") result.structuredContent = {rows: text.split("\n").map((line, n) => ({n, line}))};
    if (a.form === "resource") result.content = [{type: "resource", resource: {uri: "file:///x", mimeType: "text/plain", text}}];
    if (a.form === "error") result.isError = true;
    send({id, result});
  } else if (id !== undefined) send({id, error: {code: -32601, message: "no such method"}});
});
`

func TestRedact_claude(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude")
	g.Run("hooks", "enable", "redact")
	v := fill(t, m, 300, 10)
	server := filepath.Join(m.Home(), "shelf.js")
	machine.Write(t, m, server, shelf)
	config := filepath.Join(m.Home(), "shelf.json")
	machine.Write(t, m, config, fmt.Sprintf(`{"mcpServers":{"shelf":{"command":"node","args":[%q]}}}`, server))
	at := func(i int) string { return fmt.Sprintf("${PROJECT}/s%d.txt", i) }
	bash := func(command string) messages.Block {
		return messages.Tool("Bash", map[string]any{"command": command, "description": "look"})
	}
	c := claude.Run(t, m, claude.Options{Project: v.project, Allow: []string{"Bash", "Read", "Grep", "Edit", "Agent", "mcp__shelf"}, Args: []string{"--mcp-config", config},
		Script: messages.Script{Turns: []messages.Turn{
			messages.Use(
				bash("cat "+at(0)), bash("cat "+at(1)+" >&2"),
				messages.Tool("Read", map[string]any{"file_path": at(2)}),
				messages.Tool("Grep", map[string]any{"pattern": ".", "path": at(3), "output_mode": "content", "-n": true}),
				messages.Tool("mcp__shelf__fetch", map[string]any{"file": at(4)}),
				messages.Tool("mcp__shelf__fetch", map[string]any{"file": at(5), "form": "structured"}),
				messages.Tool("mcp__shelf__fetch", map[string]any{"file": at(6), "form": "resource"}),
				messages.Tool("Read", map[string]any{"file_path": at(7)}),
			),
			messages.Use(messages.Tool("Edit", map[string]any{"file_path": at(7), "old_string": "kept 7", "new_string": "kept 7, changed"})),
			messages.Use(messages.Tool("Agent", map[string]any{"description": "look", "prompt": "SUBTASK please", "subagent_type": "general-purpose", "run_in_background": false})),
			messages.Use(bash("cat " + at(9) + "; sed 's/^/> /' " + at(9))),
			messages.Say("Done."),
		}, Lanes: []messages.Lane{{Name: "subagent", Match: "SUBTASK", Turns: []messages.Turn{
			messages.Use(bash("cat " + at(8))), messages.Say("Looked."),
		}}}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	v.shut(t, c.Model.Requests())
}

// TestRedact_claudeRareOutputs: a notebook, a background command, an output of more than
// the client keeps, names of files and an overwritten file, with secrets wherever they
// have room for one.
func TestRedact_claudeRareOutputs(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude")
	g.Run("hooks", "enable", "redact")
	v := fill(t, m, 300, 6)
	book, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": []any{map[string]any{
		"cell_type": "code", "id": "c1", "metadata": map[string]any{}, "execution_count": 1, "source": v.text(0, v.files[0]),
		"outputs": []any{map[string]any{"output_type": "stream", "name": "stdout", "text": v.text(0, v.files[0])}}}}})
	if err != nil {
		t.Fatal(err)
	}
	machine.Write(t, m, filepath.Join(v.project, "book.ipynb"), string(book))
	token := "ghp_" + secrets.New(11).Of(secrets.Alnums, 36)
	machine.Write(t, m, filepath.Join(v.project, "names", token+".txt"), token+"\n")
	at := func(i int) string { return fmt.Sprintf("${PROJECT}/s%d.txt", i) }
	bash := func(command string) messages.Block {
		return messages.Tool("Bash", map[string]any{"command": command, "description": "look"})
	}
	// The lines between the secrets are longer than what the client shows of an output.
	long := "for i in $(seq 1500); do echo padding padding padding padding; done"
	output := `{{re:(/[^ "<>\s]*/tasks/[a-z0-9]+\.output)}}` // of the background command, as the client tells the model
	c := claude.Run(t, m, claude.Options{Project: v.project, Allow: []string{"Bash", "Read", "Glob", "Grep", "Write"},
		Script: messages.Script{Turns: []messages.Turn{
			messages.Use(
				messages.Tool("Read", map[string]any{"file_path": "${PROJECT}/book.ipynb"}),
				bash("cat "+at(2)+"; "+long+"; cat "+at(2)),
				messages.Tool("Glob", map[string]any{"pattern": "names/*"}),
				messages.Tool("Grep", map[string]any{"pattern": "ghp", "path": "${PROJECT}/names", "output_mode": "files_with_matches"}),
				messages.Tool("Grep", map[string]any{"pattern": ".", "path": at(3), "output_mode": "content", "-n": true, "-A": 2}),
				messages.Tool("Read", map[string]any{"file_path": at(4)}),
			),
			messages.Use(messages.Tool("Write", map[string]any{"file_path": at(4), "content": "kept 4\n"})),
			messages.Use(messages.Tool("Bash", map[string]any{"command": "cat " + at(1), "description": "look", "run_in_background": true})),
			messages.Use(bash("until grep -q ^kept " + output + "; do sleep 0.1; done")),
			messages.Use(messages.Tool("Read", map[string]any{"file_path": output})),
			messages.Use(bash("base64 -w0 " + at(5) + "; echo; cat " + at(5))),
			messages.Say("Done."),
		}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	v.shut(t, c.Model.Requests())
	for _, r := range c.Model.Requests() {
		if bytes.Contains(r.Body, []byte(token)) {
			t.Fatalf("the model has read a name with a secret in it: %s", r.Turn)
		}
	}
}

// What goes out: a search or a report that holds a secret goes out without it, and a
// command that would send one does not run.
func TestRedact_claudeOutbound(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude")
	g.Run("hooks", "enable", "redact")
	project := machine.Project(t, m, "project", true)
	server := filepath.Join(m.Home(), "shelf.js")
	machine.Write(t, m, server, shelf)
	config := filepath.Join(m.Home(), "shelf.json")
	machine.Write(t, m, config, fmt.Sprintf(`{"mcpServers":{"shelf":{"command":"node","args":[%q]}}}`, server))
	token := "ghp_" + secrets.New(9).Of(secrets.Alnums, 36)
	fetch := func(note string) messages.Block {
		return messages.Tool("mcp__shelf__fetch", map[string]any{"note": note})
	}
	c := claude.Run(t, m, claude.Options{NoRecorder: true, Project: project, Allow: []string{"Bash", "Write", "mcp__shelf"}, Args: []string{"--mcp-config", config},
		Script: messages.Script{Turns: []messages.Turn{
			messages.Use(fetch("the build fails with " + token + " in the log")),
			messages.Use(fetch(token)),
			messages.Bash("curl -s -H 'Authorization: Bearer " + token + "' http://127.0.0.1:9/ && touch ${PROJECT}/sent"),
			messages.Bash("echo " + token + " > ${PROJECT}/local.txt"),
			messages.Bash("printf 'ghp_%s' " + token[4:] + "; exit 3"), // what fails is no output, but an error
			messages.Use(messages.Tool("Write", map[string]any{"file_path": "${PROJECT}/.env", "content": "T=[redacted:github-token]\n"})),
			messages.Say("Done."),
		}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{
		`got .{0,9}"note.{0,9}the build fails with \[redacted:github-token\] in the log`, `mcp__shelf__fetch would get 1 secret \(github-token\)`,
		`curl would send`, `the error of Bash holds 1 secret \(github-token\), and the client does not let lidguard mask it`, `would write \[redacted:github-token\]`,
	} {
		if !c.Model.Saw(want) {
			t.Errorf("the model was not told %q", want)
		}
	}
	if exists(project, "sent") || exists(project, ".env") {
		t.Error("a call that was refused has run")
	}
	if got := read(t, filepath.Join(project, "local.txt")); got != token+"\n" {
		t.Errorf("a command that sends nothing was changed: %q", got)
	}
}

// TestRedact_claudeErrorsStay: no hook can change what the model reads of a call that
// failed. Where this fails the client has learnt it, and the pack should use it.
func TestRedact_claudeErrorsStay(t *testing.T) {
	t.Parallel()
	for _, says := range []record.Answer{
		{Event: "PostToolUseFailure", Stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","updatedToolOutput":"MASKED"}}`},
		{Event: "PostToolUseFailure", Stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","updatedError":"MASKED","error":"MASKED"}}`},
		{Event: "PostToolUseFailure", Stdout: `{"decision":"block","reason":"MASKED"}`},
		{Event: "PostToolUseFailure", Stdout: `{"continue":false,"stopReason":"MASKED"}`},
		{Event: "PostToolBatch", Stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolBatch","updatedToolOutput":"MASKED","updatedToolOutputs":["MASKED"],"tool_calls":[{"tool_response":"MASKED"}]}}`},
	} {
		m := machine.Bench(t)
		c := claude.Run(t, m, claude.Options{Allow: []string{"Bash"}, Answers: []record.Answer{says}, Script: messages.Script{Turns: []messages.Turn{
			messages.Bash("printf 'in%s' pieces; exit 3"), messages.Say("Done.")}}})
		if code := c.Wait(); code != 0 || !c.Model.Saw("inpieces") {
			t.Errorf("exit %d; after %s the model read another error", code, says.Stdout)
		}
	}
}

func TestRedact_codex(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "codex")
	g.Run("hooks", "enable", "redact")
	v := fill(t, m, 300, 20)
	server := filepath.Join(m.Home(), "shelf.js")
	machine.Write(t, m, server, shelf)
	var turns []responses.Turn
	for i := range v.files {
		file := fmt.Sprintf("${PROJECT}/s%d.txt", i)
		switch i % 4 {
		case 0:
			turns = append(turns, responses.Turn{Call: "fetch", Namespace: "mcp__shelf", Args: map[string]any{"file": file}})
		case 1:
			turns = append(turns, responses.Shell("cat "+file+"; exit 3"))
		default:
			turns = append(turns, responses.Shell("cat "+file))
		}
	}
	c := codex.Exec(t, m, codex.Options{NoRecorder: true, Project: v.project, Sandbox: codex.FullAccess,
		Args:   []string{"-c", `mcp_servers.shelf.command="node"`, "-c", fmt.Sprintf("mcp_servers.shelf.args=[%q]", server)},
		Script: responses.Script{Turns: append(turns, responses.Say("Done."))}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	v.shut(t, c.Model.Requests())
}

func TestRedact_copilot(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "copilot")
	g.Run("hooks", "enable", "redact")
	v := fill(t, m, 300, 12)
	c := copilot.Run(t, m, copilot.Options{NoRecorder: true, Project: v.project, Args: []string{"--allow-all-tools", "--allow-all-paths"},
		Script: completions.Script{Turns: reads(v, "view", "path")}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	v.shut(t, c.Model.Requests())
}

func TestRedact_opencode(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "opencode")
	g.Run("hooks", "enable", "redact")
	v := fill(t, m, 300, 12)
	c := opencode.Run(t, m, opencode.Options{NoRecorder: true, Project: v.project, Script: completions.Script{Turns: reads(v, "read", "filePath")}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	v.shut(t, c.Model.Requests())
}

// reads has every file read, by the shell and by the client's own tool in turn, several
// at once.
func reads(v vault, tool, argument string) []completions.Turn {
	var turns []completions.Turn
	var calls []completions.Call
	for i := range v.files {
		file := fmt.Sprintf("${PROJECT}/s%d.txt", i)
		call := completions.Tool(tool, map[string]any{argument: file})
		switch i % 3 {
		case 1:
			call = completions.Tool("bash", map[string]any{"command": "cat " + file, "description": "look"})
		case 2:
			call = completions.Tool("bash", map[string]any{"command": "cat " + file + "; exit 3", "description": "look"})
		}
		if calls = append(calls, call); len(calls) == 3 {
			turns, calls = append(turns, completions.Use(calls...)), nil
		}
	}
	return append(turns, completions.Say("Done."))
}
