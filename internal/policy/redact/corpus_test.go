package redact_test

import (
	"encoding/json"
	"strings"
)

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shapes are the outputs of the clients' tools, as they are in the payloads that the
// clients sent (docs/contracts) or in their typings. S stands for a text.
var shapes = []struct{ client, tool, response string }{
	{"claude", "Bash", `{"stdout":S,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`},
	{"claude", "Bash", `{"stdout":"","stderr":S,"interrupted":false,"isImage":false,"returnCodeInterpretation":"x","dangerouslyDisableSandbox":null}`},
	{"claude", "Read", `{"type":"text","file":{"filePath":"/p/.env","content":S,"numLines":3,"startLine":1,"totalLines":3}}`},
	{"claude", "Read", `{"type":"notebook","file":{"filePath":"/p/a.ipynb","cells":[{"cellType":"code","source":S,"execution_count":1,"outputs":[{"output_type":"stream","text":S}]}]}}`},
	{"claude", "Grep", `{"mode":"content","numFiles":0,"filenames":[],"content":S,"numLines":1}`},
	{"claude", "Grep", `{"mode":"files_with_matches","filenames":["a.txt",S],"numFiles":2}`},
	{"claude", "Glob", `{"filenames":[S],"durationMs":12,"numFiles":1,"truncated":false}`},
	{"claude", "LS", S0},
	{"claude", "WebFetch", `{"bytes":12,"code":200,"codeText":"OK","result":S,"durationMs":900,"url":"https://acme.dev/"}`},
	{"claude", "WebSearch", `{"query":"x","results":[{"tool_use_id":"srvtoolu_1","content":[{"title":S,"url":"https://acme.dev"}]},S],"durationSeconds":1.25}`},
	{"claude", "Write", `{"type":"create","filePath":"/p/a","content":S,"structuredPatch":[],"originalFile":null,"userModified":false}`},
	{"claude", "Write", `{"type":"update","filePath":"/p/a","content":S,"structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":L}],"originalFile":S}`},
	{"claude", "Edit", `{"filePath":"/p/a","oldString":S,"newString":"b","originalFile":S,"structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":L}],"userModified":false,"replaceAll":false}`},
	{"claude", "MultiEdit", `{"filePath":"/p/a","edits":[{"old_string":"a","new_string":S,"replace_all":false}],"originalFileContents":S,"structuredPatch":[]}`},
	{"claude", "NotebookEdit", `{"new_source":S,"cell_type":"code","language":"python","edit_mode":"replace","cell_id":"c1","error":"","notebook_path":"/p/a.ipynb"}`},
	{"claude", "Agent", `{"status":"completed","prompt":"p","agentId":"a0000000000000001","content":[{"type":"text","text":"frame"},{"type":"text","text":S}],"totalDurationMs":2632,"usage":{"input_tokens":10,"iterations":[],"fallback_credit":null}}`},
	{"claude", "Agent", `{"isAsync":true,"status":"async_launched","agentId":"a0000000000000001","description":"d","prompt":S,"outputFile":"/t/o"}`},
	{"claude", "TaskOutput", `{"retrieval_status":"success","task":{"task_id":"b1","task_type":"local_bash","status":"completed","description":"d","output":S,"exitCode":0}}`},
	{"claude", "BashOutput", `{"shellId":"b1","command":"c","status":"running","exitCode":null,"stdout":S,"stderr":"","stdoutLines":2,"stderrLines":0,"timestamp":"2026-01-01T00:00:00Z"}`},
	{"claude", "TaskStop", `{"message":S,"task_id":"b1","task_type":"local_bash","command":"c"}`},
	{"claude", "TaskCreate", `{"task":{"id":"1","subject":"s","description":S}}`},
	{"claude", "TodoWrite", `{"oldTodos":[],"newTodos":[{"content":S,"status":"pending","activeForm":"a"}]}`},
	{"claude", "AskUserQuestion", `{"questions":[{"question":"Which?","header":"h","options":[{"label":"l","description":S}],"multiSelect":false}],"answers":{"Which?":S},"annotations":{}}`},
	{"claude", "Skill", `{"success":true,"commandName":"s","allowedTools":[S]}`},
	{"claude", "mcp__lab__read", `[{"type":"text","text":S}]`},
	{"claude", "mcp__lab__mixed", `[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":S}]`},
	{"claude", "mcp__lab__resource", `[{"type":"resource","resource":{"uri":"file:///p/x","mimeType":"text/plain","text":S}}]`},
	{"claude", "mcp__lab__structured", `{"content":[{"type":"text","text":S}],"structuredContent":{"rows":[{"id":1,"note":S,"price":1.50e3}],"total":1}}`},
	{"claude", "mcp__lab__string", S0},
	{"claude", "ListMcpResourcesTool", `[{"uri":"lab://x","name":S,"mimeType":"text/plain","server":"lab"}]`},
	{"claude", "ReadMcpResourceTool", `{"contents":[{"uri":"lab://x","mimeType":"text/plain","text":S}]}`},
	{"codex", "Bash", S0},
	{"codex", "apply_patch", `"Exit code: 0\nWall time: 0 seconds\nOutput:\n" S`},
	{"codex", "mcp__lab__echo", `{"content":[{"type":"text","text":S}]}`},
	{"codex", "mcp__lab__rows", `{"content":[{"type":"text","text":S}],"structuredContent":{"rows":L},"isError":false}`},
	{"copilot", "bash", `{"resultType":"success","textResultForLlm":S}`},
	{"copilot", "view", `{"resultType":"success","textResultForLlm":S,"sessionLog":S}`},
	{"copilot", "Bash", `{"result_type":"success","text_result_for_llm":S}`},
	{"opencode", "bash", `{"title":"t","output":S,"metadata":{"output":S,"exit":0,"description":"d","truncated":false}}`},
	{"opencode", "read", `{"title":"a.txt","output":S,"metadata":{"preview":S,"truncated":false,"loaded":[]}}`},
	{"opencode", "edit", `{"title":"a","output":"","metadata":{"diagnostics":{},"diff":S,"filediff":{"file":"a","before":S,"after":S,"additions":1,"deletions":0}}}`},
	{"opencode", "task", `{"title":"t","output":S,"metadata":{"sessionId":"ses_1","summary":[{"id":"prt_1","tool":"bash","state":{"status":"completed","title":S}}]}}`},
}

// S0 is a shape that is a text and nothing more.
const S0 = "S"

// fill puts a text into a shape.
func fill(shape, text string) string {
	if prefix, rest, ok := strings.Cut(shape, `" S`); ok && rest == "" {
		var s string
		if err := json.Unmarshal([]byte(prefix+`"`), &s); err != nil {
			panic(err)
		}
		return quote(s + text)
	}
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		lines = append(lines, quote("+"+l))
	}
	var b strings.Builder
	for i := 0; i < len(shape); i++ {
		bare := (i == 0 || strings.IndexByte(":[,", shape[i-1]) >= 0) && (i+1 == len(shape) || strings.IndexByte(",]}", shape[i+1]) >= 0)
		switch {
		case shape[i] == 'S' && bare:
			b.WriteString(quote(text))
		case shape[i] == 'L' && bare:
			b.WriteString("[" + strings.Join(lines, ",") + "]")
		default:
			b.WriteByte(shape[i])
		}
	}
	return b.String()
}
