package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/e2e/lab/secrets"
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

var nouns = strings.Fields("parser token session cache key secret password handler request client server build index buffer config module worker queue schema auth user table stream")
var verbs = strings.Fields("fix add drop keep move rename load read write check guard retry hash")

func sentence(d secrets.Dice) string {
	var w []string
	for range 4 + d.IntN(5) {
		w = append(w, d.One(nouns...))
	}
	return d.One(verbs...) + " " + strings.Join(w, " ")
}

// clean are outputs in which nothing is secret, though much looks like it.
var clean = []func(d secrets.Dice) string{
	func(d secrets.Dice) string { // git log
		var b strings.Builder
		for range 12 {
			fmt.Fprintf(&b, "commit %s\nAuthor: Dev <dev@example.org>\nDate:   Mon Nov %d 10:%02d:00 2026 +0000\n\n    %s\n\n", d.Of(secrets.Hexes, 40), 1+d.IntN(28), d.IntN(60), sentence(d))
		}
		return b.String()
	},
	func(d secrets.Dice) string { // git log --oneline, diffs
		var b strings.Builder
		for range 20 {
			fmt.Fprintf(&b, "%s %s (#%d)\n", d.Of(secrets.Hexes, 9), sentence(d), d.IntN(9000))
		}
		fmt.Fprintf(&b, "diff --git a/auth/token.go b/auth/token.go\nindex %s..%s 100644\n--- a/auth/token.go\n+++ b/auth/token.go\n@@ -1,4 +1,4 @@\n-\ttoken := readToken(ctx)\n+\ttoken, err := readToken(ctx, cfg.SecretName)\n", d.Of(secrets.Hexes, 9), d.Of(secrets.Hexes, 9))
		return b.String()
	},
	func(d secrets.Dice) string { // checksums
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "%s  dist/lidguard_%d_linux_amd64.tar.gz\n", d.Of(secrets.Hexes, 64), i)
		}
		return b.String() + "MD5 (password.txt) = " + d.Of(secrets.Hexes, 32) + "\n"
	},
	func(d secrets.Dice) string { // UUIDs
		var b strings.Builder
		for range 20 {
			fmt.Fprintf(&b, `{"id":"%s","session_id":"%s","trace_id":"%s","token_count":%d}`+"\n", d.UUID(), d.UUID(), d.Of(secrets.Hexes, 32), d.IntN(90000))
		}
		return b.String()
	},
	func(d secrets.Dice) string { // an image
		return "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA" + base64.StdEncoding.EncodeToString(d.Bytes(3000+d.IntN(3000)))
	},
	func(d secrets.Dice) string { // package-lock.json
		var b strings.Builder
		for range 12 {
			n := d.One("js-tokens", "password-prompt", "secretly", "token-types", "left-pad", "@aws-sdk/token-providers", "keyv", "auth-header")
			fmt.Fprintf(&b, "    \"node_modules/%s\": {\n      \"version\": \"%d.%d.%d\",\n      \"resolved\": \"https://registry.npmjs.org/%s/-/%s-%d.%d.0.tgz\",\n      \"integrity\": \"sha512-%s==\",\n      \"dev\": true\n    },\n",
				n, d.IntN(9), d.IntN(40), d.IntN(90), n, n, d.IntN(9), d.IntN(9), d.Of(secrets.Base64, 86))
		}
		return b.String()
	},
	func(d secrets.Dice) string { // go.sum, Cargo.lock
		var b strings.Builder
		for range 10 {
			fmt.Fprintf(&b, "github.com/acme/secret-%s v1.%d.0 h1:%s=\ngithub.com/acme/token v0.%d.0/go.mod h1:%s=\n", d.Of(secrets.Lowers, 5), d.IntN(30), d.Of(secrets.Base64, 43), d.IntN(30), d.Of(secrets.Base64, 43))
		}
		for range 6 {
			fmt.Fprintf(&b, "[[package]]\nname = \"secrecy\"\nversion = \"0.%d.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%s\"\n\n", d.IntN(20), d.Of(secrets.Hexes, 64))
		}
		return b.String()
	},
	func(d secrets.Dice) string { // requirements, poetry.lock, yarn.lock
		var b strings.Builder
		for range 8 {
			fmt.Fprintf(&b, "secretstorage==3.3.%d \\\n    --hash=sha256:%s \\\n    --hash=sha256:%s\n", d.IntN(9), d.Of(secrets.Hexes, 64), d.Of(secrets.Hexes, 64))
			fmt.Fprintf(&b, "    {file = \"tokenizers-0.%d.1-cp310-cp310-manylinux_2_17_x86_64.whl\", hash = \"sha256:%s\"},\n", d.IntN(30), d.Of(secrets.Hexes, 64))
			fmt.Fprintf(&b, "\"@types/jsonwebtoken@^9.0.%d\":\n  version \"9.0.%d\"\n  resolved \"https://registry.yarnpkg.com/@types/jsonwebtoken/-/jsonwebtoken-9.0.1.tgz#%s\"\n  integrity sha512-%s==\n", d.IntN(9), d.IntN(9), d.Of(secrets.Hexes, 40), d.Of(secrets.Base64, 86))
		}
		return b.String()
	},
	func(d secrets.Dice) string { // minified JavaScript
		var b strings.Builder
		for range 60 {
			a, c := d.Of(secrets.Lowers, 1), d.Of(secrets.Lowers+secrets.Uppers, 2)
			fmt.Fprintf(&b, `function %s(%s){return %s.token=%s.password||"",%s.apiKey===void 0?null:{token:%s.accessToken,secret:%s.secretKey,k:"%s"}}`, c, a, a, a, a, a, a, d.Of(secrets.Lowers, 3))
		}
		return b.String()
	},
	func(d secrets.Dice) string { // test output
		var b strings.Builder
		for range 30 {
			fmt.Fprintf(&b, "=== RUN   Test%s_%s\n--- PASS: Test%s (%d.%02ds)\n", d.One("Token", "Password", "SecretKey", "Auth"), d.Of(secrets.Lowers, 8), d.One("Token", "Password"), d.IntN(3), d.IntN(100))
		}
		return b.String() + fmt.Sprintf("ok  \tgithub.com/acme/auth/token\t%d.%03ds\ncoverage: %d.%d%% of statements\n", d.IntN(9), d.IntN(1000), d.IntN(100), d.IntN(10))
	},
	func(d secrets.Dice) string { // source code
		return fmt.Sprintf("const password = process.env.DB_PASSWORD;\nconst token = await getToken(ctx, %q);\nvar apiKey = os.Getenv(\"ACME_API_KEY\")\npassword: z.string().min(%d),\nif (password !== confirmPassword) throw new Error(\"passwords differ\");\nSECRET_KEY = os.environ['DJANGO_SECRET_KEY']\ntoken_url: https://auth.acme.dev/oauth/token\nsecretName: postgres-credentials-v%d\npasswordHash: string\nexport TOKEN=$(cat /run/secrets/token)\nDB_PASSWORD=${DB_PASSWORD:-}\nAPI_KEY=<your-api-key>\nclass TokenBucket%d extends Bucket {}\n", d.One(nouns...), d.IntN(20), d.IntN(5), d.IntN(9))
	},
	func(d secrets.Dice) string { // manifests and logs
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  uid: %s\n  resourceVersion: \"%s\"\nspec:\n  containers:\n  - image: acme/api@sha256:%s\n    env:\n    - name: DB_PASSWORD\n      valueFrom:\n        secretKeyRef:\n          name: db\n          key: password\n2026-11-30T10:00:00.%sZ INFO token refreshed for user=%d request_id=%s\nGET https://acme.dev:8443/a/b?page=2&next_page_token=%s 200\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA%s dev@host\nmail dev@example.org, see http://user@host/path and git@github.com:acme/a.git\n-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n",
			d.UUID(), d.Of(secrets.Digits, 9), d.Of(secrets.Hexes, 64), d.Of(secrets.Digits, 6), d.IntN(9999), d.UUID(), d.Of(secrets.Alnums, 24), d.Of(secrets.Base64, 43), d.Of(secrets.Base64, 64), d.Of(secrets.Base64, 64))
	},
	func(d secrets.Dice) string { // hexadecimal dumps, ids of all sorts
		var b strings.Builder
		for i := range 16 {
			fmt.Fprintf(&b, "%08x: %s %s  %s\n", i*16, d.Of(secrets.Hexes, 4), d.Of(secrets.Hexes, 4), d.Of(secrets.Lowers, 8))
		}
		fmt.Fprintf(&b, "arn:aws:iam::%s:role/deploy sha256:%s req_%s toolu_%s msg_%s ses_%s call_%s\n", d.Of(secrets.Digits, 12), d.Of(secrets.Hexes, 64), d.Of(secrets.Alnums, 16), d.Of(secrets.Alnums, 24), d.Of(secrets.Alnums, 24), d.Of(secrets.Alnums, 20), d.Of(secrets.Alnums, 24))
		return b.String()
	},
	func(d secrets.Dice) string { // documents
		var b strings.Builder
		for range 20 {
			b.WriteString(strings.Repeat(sentence(d)+". ", 3) + "\n")
		}
		return b.String() + "Set `GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` or `sk-...`; AKIAIOSFODNN7EXAMPLE is from the manual. Password: at least 12 characters. Token: see below.\n"
	},
}
