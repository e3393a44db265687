package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// The secrets of the tests are rolled anew in every run, from their formats and a
// seed, so that no text in this repository looks like one. The formats are told here a
// second time, apart from the rules, so that a rule that is wrong does not prove itself.

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	hexes  = "0123456789abcdef"
	alnums = lowers + uppers + digits
	urls   = alnums + "-_"
	b64s   = alnums + "+/"
)

// dice rolls texts.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 77))} }

func (d dice) of(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[d.IntN(len(set))]
	}
	return string(b)
}

func (d dice) one(list ...string) string { return list[d.IntN(len(list))] }

func (d dice) uuid() string {
	return d.of(hexes, 8) + "-" + d.of(hexes, 4) + "-4" + d.of(hexes, 3) + "-a" + d.of(hexes, 3) + "-" + d.of(hexes, 12)
}

func (d dice) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.Uint32())
	}
	return b
}

// mixed rolls until the text has a small letter, a capital and a digit, as anything of
// this length nearly always has.
func (d dice) mixed(n int) string {
	for {
		s := d.of(alnums, n)
		if strings.ContainsAny(s, lowers) && strings.ContainsAny(s, uppers) && strings.ContainsAny(s, digits) {
			return s
		}
	}
}

// sample is a secret as it stands in a text: around it, and itself.
type sample struct {
	kind string
	text string // what is printed
	// secret is what must be gone; parts of it, where the text breaks it.
	secret []string
}

// kinds roll a secret each. Those with a place around them (context) are found by it.
var kinds = []struct {
	name string
	roll func(d dice) (text string, secret []string)
}{
	{"github-pat", alone(func(d dice) string { return "ghp_" + d.of(alnums, 36) })},
	{"github-oauth", alone(func(d dice) string { return "gho_" + d.of(alnums, 36) })},
	{"github-app", alone(func(d dice) string { return d.one("ghu_", "ghs_") + d.of(alnums, 36) })},
	{"github-refresh", alone(func(d dice) string { return "ghr_" + d.of(alnums, 76) })},
	{"github-fine", alone(func(d dice) string { return "github_pat_" + d.of(alnums, 22) + "_" + d.of(alnums, 59) })},
	{"gitlab-pat", alone(func(d dice) string { return "glpat-" + d.of(urls, 19) + "x" })},
	{"gitlab-routable", alone(func(d dice) string { return "glpat-" + d.of(urls, 27) + ".01." + d.of(lowers+digits, 9) })},
	{"gitlab-runner", alone(func(d dice) string { return "glrt-" + d.of(urls, 19) + "9" })},
	{"aws-id", alone(func(d dice) string { return d.one("AKIA", "ASIA") + d.of(uppers+"234567", 16) })},
	{"aws-pair", func(d dice) (string, []string) {
		id, key := "AKIA"+d.of(uppers+"234567", 16), d.of(b64s, 38)+"aZ"
		key = "0" + key[1:]
		return id + "," + key, []string{id, key}
	}},
	{"aws-secret", named(func(d dice) string { return "0" + d.of(b64s, 37) + "aZ" }, "aws_secret_access_key = %s", `"SecretAccessKey": "%s"`)},
	{"aws-session", named(func(d dice) string { return "IQoJb3JpZ2luX2Vj" + d.of(b64s, 300) }, "aws_session_token=%s", `"SessionToken": "%s",`)},
	{"google-api", alone(func(d dice) string { return "AIza" + d.of(urls, 34) + "k" })},
	{"google-oauth", alone(func(d dice) string { return "ya29.a0" + d.of(urls, 120) + "7" })},
	{"google-secret", alone(func(d dice) string { return "GOCSPX-" + d.of(urls, 27) + "e" })},
	{"google-refresh", alone(func(d dice) string { return "1//0" + d.of(urls, 60) + "a" })},
	{"azure-storage", named(func(d dice) string { return d.of(b64s, 86) + "==" }, "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=%s;EndpointSuffix=core.windows.net")},
	{"azure-client", alone(func(d dice) string { return d.of(alnums, 3) + "8Q~" + d.of(alnums, 34) })},
	{"azure-sas", named(func(d dice) string { return d.of(alnums, 42) + "%3D" }, "https://acme.blob.core.windows.net/c/f?sv=2024-11-04&se=2026-12-01&sp=r&sig=%s")},
	{"azure-devops", alone(func(d dice) string { return d.of(alnums, 76) + "AZDO" + d.of(alnums, 4) })},
	{"slack-bot", alone(func(d dice) string {
		return "xoxb-" + d.of(digits, 12) + "-" + d.of(digits, 13) + "-" + d.of(alnums, 24)
	})},
	{"slack-user", alone(func(d dice) string {
		return "xoxp-" + d.of(digits, 12) + "-" + d.of(digits, 12) + "-" + d.of(digits, 13) + "-" + d.of(hexes, 32)
	})},
	{"slack-app", alone(func(d dice) string {
		return "xapp-1-A" + d.of(uppers+digits, 10) + "-" + d.of(digits, 13) + "-" + d.of(hexes, 64)
	})},
	{"slack-webhook", alone(func(d dice) string {
		return "hooks.slack.com/services/T" + d.of(uppers+digits, 10) + "/B" + d.of(uppers+digits, 10) + "/" + d.of(alnums, 24)
	})},
	{"discord-webhook", alone(func(d dice) string {
		return "discord.com/api/webhooks/" + d.of(digits, 18) + "/" + d.of(urls, 67) + "q"
	})},
	{"stripe-live", alone(func(d dice) string { return d.one("sk_live_", "rk_live_") + d.of(alnums, 24) })},
	{"stripe-test", alone(func(d dice) string { return "sk_test_51" + d.of(alnums, 97) })},
	{"stripe-webhook", alone(func(d dice) string { return "whsec_" + d.of(alnums, 32) })},
	{"openai-project", alone(func(d dice) string { return "sk-proj-" + d.of(urls, 74) + "T3BlbkFJ" + d.of(urls, 73) + "w" })},
	{"openai-old", alone(func(d dice) string { return "sk-" + d.of(alnums, 20) + "T3BlbkFJ" + d.of(alnums, 20) })},
	{"anthropic", alone(func(d dice) string { return "sk-ant-" + d.one("api03-", "admin01-", "oat01-") + d.of(urls, 93) + "AA" })},
	{"openrouter", alone(func(d dice) string { return "sk-or-v1-" + d.of(hexes, 64) })},
	{"huggingface", alone(func(d dice) string { return "hf_" + d.of(lowers+uppers, 34) })},
	{"groq", alone(func(d dice) string { return "gsk_" + d.of(alnums, 52) })},
	{"xai", alone(func(d dice) string { return "xai-" + d.of(alnums, 80) })},
	{"replicate", alone(func(d dice) string { return "r8_" + d.of(alnums, 37) })},
	{"npm", alone(func(d dice) string { return "npm_" + d.of(alnums, 36) })},
	{"pypi", alone(func(d dice) string { return "pypi-AgEIcHlwaS5vcmc" + d.of(urls, 130) + "b" })},
	{"rubygems", alone(func(d dice) string { return "rubygems_" + d.of(hexes, 48) })},
	{"docker", alone(func(d dice) string { return "dckr_pat_" + d.of(urls, 26) + "1" })},
	{"sendgrid", alone(func(d dice) string { return "SG." + d.of(urls, 22) + "." + d.of(urls, 42) + "z" })},
	{"mailgun", alone(func(d dice) string { return "key-" + d.of(hexes, 32) })},
	{"mailchimp", alone(func(d dice) string { return d.of(hexes, 32) + "-us" + d.one("6", "12", "21") })},
	{"telegram", alone(func(d dice) string { return "1" + d.of(digits, 9) + ":AA" + d.of(urls, 32) + "h" })},
	{"shopify", alone(func(d dice) string { return "shpat_" + d.of(hexes, 32) })},
	{"square", alone(func(d dice) string { return "sq0atp-" + d.of(urls, 21) + "0" })},
	{"digitalocean", alone(func(d dice) string { return "dop_v1_" + d.of(hexes, 64) })},
	{"databricks", alone(func(d dice) string { return "dapi" + d.of(hexes, 32) })},
	{"vault", alone(func(d dice) string { return "hvs." + d.of(urls, 90) + "g" })},
	{"terraform", alone(func(d dice) string { return d.of(alnums, 14) + ".atlasv1." + d.of(urls, 66) + "p" })},
	{"doppler", alone(func(d dice) string { return "dp.pt." + d.of(alnums, 43) })},
	{"planetscale", alone(func(d dice) string { return "pscale_pw_" + d.of(urls, 42) + "c" })},
	{"pulumi", alone(func(d dice) string { return "pul-" + d.of(hexes, 40) })},
	{"grafana", alone(func(d dice) string { return "glsa_" + d.of(alnums, 32) + "_" + d.of(hexes, 8) })},
	{"newrelic", alone(func(d dice) string { return "NRAK-" + d.of(uppers+digits, 27) })},
	{"sentry", alone(func(d dice) string { return "sntryu_" + d.of(hexes, 64) })},
	{"linear", alone(func(d dice) string { return "lin_api_" + d.of(alnums, 40) })},
	{"notion", alone(func(d dice) string { return "ntn_" + d.of(digits, 11) + d.of(alnums, 35) })},
	{"figma", alone(func(d dice) string { return "figd_" + d.of(urls, 39) + "u" })},
	{"postman", alone(func(d dice) string { return "PMAK-" + d.of(hexes, 24) + "-" + d.of(hexes, 34) })},
	{"airtable", alone(func(d dice) string { return "pat" + d.of(alnums, 14) + "." + d.of(hexes, 64) })},
	{"supabase", alone(func(d dice) string { return "sbp_" + d.of(hexes, 40) })},
	{"tailscale", alone(func(d dice) string { return "tskey-auth-k" + d.of(alnums, 11) + "CNTRL-" + d.of(alnums, 32) })},
	{"age", alone(func(d dice) string { return "AGE-SECRET-KEY-1" + d.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) })},
	{"atlassian", alone(func(d dice) string { return "ATATT3xFfGF0" + d.of(urls, 170) + "=" + d.of("0123456789ABCDEF", 8) })},
	{"jwt", alone(func(d dice) string {
		seg := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return seg(`{"alg":"HS256","typ":"JWT"}`) + "." + seg(fmt.Sprintf(`{"sub":"%s","iat":17%s}`, d.of(digits, 10), d.of(digits, 8))) + "." + d.of(urls, 42) + "s"
	})},
	{"rsa-key", pem("RSA PRIVATE KEY", 25)},
	{"openssh-key", pem("OPENSSH PRIVATE KEY", 6)},
	{"pkcs8-key", pem("PRIVATE KEY", 24)},
	{"ec-key", pem("EC PRIVATE KEY", 3)},
	{"postgres-url", named(func(d dice) string { return d.mixed(16) }, "postgres://app:%s@db.internal:5432/prod?sslmode=require")},
	{"mongo-url", named(func(d dice) string { return d.mixed(12) + "!x" }, "mongodb+srv://svc:%s@cluster0.abcde.mongodb.net/app")},
	{"redis-url", named(func(d dice) string { return d.mixed(20) }, "redis://:%s@10.0.0.5:6379/0")},
	{"git-url", named(func(d dice) string { return d.mixed(30) }, "https://oauth2:%s@git.example.org/a/b.git")},
	{"bearer", named(func(d dice) string { return d.mixed(40) }, "Authorization: Bearer %s", "> authorization: Bearer %s")},
	{"basic", named(func(d dice) string { return base64.StdEncoding.EncodeToString([]byte("svc:" + d.mixed(14))) }, "Authorization: Basic %s")},
	{"env-password", named(func(d dice) string {
		return d.one("hunter", "sunny", "winter") + d.of(digits, 4) + "!" + d.of(lowers, 3)
	}, "export DB_PASSWORD=%s", "POSTGRES_PASSWORD=%s", "MYSQL_PWD='%s'")},
	{"env-token", named(func(d dice) string { return d.mixed(32) }, "export DEPLOY_TOKEN=%s", "CI_JOB_TOKEN=%s", `SESSION_SECRET="%s"`)},
	{"json-key", named(func(d dice) string { return d.mixed(32) }, `  "apiKey": "%s",`, `"client_secret":"%s"`, `{\"api_key\": \"%s\"}`)},
	{"yaml-secret", named(func(d dice) string { return d.mixed(24) }, "  secret_key: %s", "clientSecret: '%s'")},
	{"flag", named(func(d dice) string { return d.mixed(20) }, "agent --api-key %s --verbose", "mysqldump --password=%s app")},
	{"netrc", named(func(d dice) string { return d.mixed(18) }, "machine api.acme.dev login ci password %s")},
	{"docker-auth", named(func(d dice) string { return base64.StdEncoding.EncodeToString([]byte("ci:" + d.mixed(20))) }, `"auths": {"r.acme.dev": {"auth": "%s"}}`)},
	{"xml", named(func(d dice) string { return d.mixed(16) }, "<password>%s</password>")},
	{"wireguard", named(func(d dice) string { return base64.StdEncoding.EncodeToString(d.bytes(32)) }, "PrivateKey = %s")},
	{"base64-of-token", alone(func(d dice) string {
		return base64.StdEncoding.EncodeToString([]byte("token: ghp_" + d.of(alnums, 36) + "\n"))
	})},
	{"unicode-escaped", func(d dice) (string, []string) {
		tail := d.of(alnums, 36)
		return `{"t":"\u0067hp_` + tail + `"}`, []string{tail}
	}},
	{"coloured", func(d dice) (string, []string) {
		tail := d.of(alnums, 36)
		return "\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K" + tail, []string{tail}
	}},
}

func alone(roll func(dice) string) func(dice) (string, []string) {
	return func(d dice) (string, []string) { s := roll(d); return s, []string{s} }
}

func named(roll func(dice) string, places ...string) func(dice) (string, []string) {
	return func(d dice) (string, []string) {
		s := roll(d)
		return strings.Replace(d.one(places...), "%s", s, 1), []string{s}
	}
}

func pem(kind string, lines int) func(dice) (string, []string) {
	return func(d dice) (string, []string) {
		var body []string
		for range lines {
			body = append(body, d.of(b64s, 64))
		}
		return "-----BEGIN " + kind + "-----\n" + strings.Join(body, "\n") + "\n-----END " + kind + "-----", body
	}
}

// samples rolls n secrets, every kind in turn.
func samples(seed uint64, n int) []sample {
	d := newDice(seed)
	var out []sample
	for i := range n {
		k := kinds[i%len(kinds)]
		text, secret := k.roll(d)
		out = append(out, sample{k.name, text, secret})
	}
	return out
}

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

func (d dice) sentence() string {
	var w []string
	for range 4 + d.IntN(5) {
		w = append(w, d.one(nouns...))
	}
	return d.one(verbs...) + " " + strings.Join(w, " ")
}

// clean are outputs in which nothing is secret, though much looks like it.
var clean = []func(d dice) string{
	func(d dice) string { // git log
		var b strings.Builder
		for range 12 {
			fmt.Fprintf(&b, "commit %s\nAuthor: Dev <dev@example.org>\nDate:   Mon Nov %d 10:%02d:00 2026 +0000\n\n    %s\n\n", d.of(hexes, 40), 1+d.IntN(28), d.IntN(60), d.sentence())
		}
		return b.String()
	},
	func(d dice) string { // git log --oneline, diffs
		var b strings.Builder
		for range 20 {
			fmt.Fprintf(&b, "%s %s (#%d)\n", d.of(hexes, 9), d.sentence(), d.IntN(9000))
		}
		fmt.Fprintf(&b, "diff --git a/auth/token.go b/auth/token.go\nindex %s..%s 100644\n--- a/auth/token.go\n+++ b/auth/token.go\n@@ -1,4 +1,4 @@\n-\ttoken := readToken(ctx)\n+\ttoken, err := readToken(ctx, cfg.SecretName)\n", d.of(hexes, 9), d.of(hexes, 9))
		return b.String()
	},
	func(d dice) string { // checksums
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "%s  dist/lidguard_%d_linux_amd64.tar.gz\n", d.of(hexes, 64), i)
		}
		return b.String() + "MD5 (password.txt) = " + d.of(hexes, 32) + "\n"
	},
	func(d dice) string { // UUIDs
		var b strings.Builder
		for range 20 {
			fmt.Fprintf(&b, `{"id":"%s","session_id":"%s","trace_id":"%s","token_count":%d}`+"\n", d.uuid(), d.uuid(), d.of(hexes, 32), d.IntN(90000))
		}
		return b.String()
	},
	func(d dice) string { // an image
		return "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA" + base64.StdEncoding.EncodeToString(d.bytes(3000+d.IntN(3000)))
	},
	func(d dice) string { // package-lock.json
		var b strings.Builder
		for range 12 {
			n := d.one("js-tokens", "password-prompt", "secretly", "token-types", "left-pad", "@aws-sdk/token-providers", "keyv", "auth-header")
			fmt.Fprintf(&b, "    \"node_modules/%s\": {\n      \"version\": \"%d.%d.%d\",\n      \"resolved\": \"https://registry.npmjs.org/%s/-/%s-%d.%d.0.tgz\",\n      \"integrity\": \"sha512-%s==\",\n      \"dev\": true\n    },\n",
				n, d.IntN(9), d.IntN(40), d.IntN(90), n, n, d.IntN(9), d.IntN(9), d.of(b64s, 86))
		}
		return b.String()
	},
	func(d dice) string { // go.sum, Cargo.lock
		var b strings.Builder
		for range 10 {
			fmt.Fprintf(&b, "github.com/acme/secret-%s v1.%d.0 h1:%s=\ngithub.com/acme/token v0.%d.0/go.mod h1:%s=\n", d.of(lowers, 5), d.IntN(30), d.of(b64s, 43), d.IntN(30), d.of(b64s, 43))
		}
		for range 6 {
			fmt.Fprintf(&b, "[[package]]\nname = \"secrecy\"\nversion = \"0.%d.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%s\"\n\n", d.IntN(20), d.of(hexes, 64))
		}
		return b.String()
	},
	func(d dice) string { // requirements, poetry.lock, yarn.lock
		var b strings.Builder
		for range 8 {
			fmt.Fprintf(&b, "secretstorage==3.3.%d \\\n    --hash=sha256:%s \\\n    --hash=sha256:%s\n", d.IntN(9), d.of(hexes, 64), d.of(hexes, 64))
			fmt.Fprintf(&b, "    {file = \"tokenizers-0.%d.1-cp310-cp310-manylinux_2_17_x86_64.whl\", hash = \"sha256:%s\"},\n", d.IntN(30), d.of(hexes, 64))
			fmt.Fprintf(&b, "\"@types/jsonwebtoken@^9.0.%d\":\n  version \"9.0.%d\"\n  resolved \"https://registry.yarnpkg.com/@types/jsonwebtoken/-/jsonwebtoken-9.0.1.tgz#%s\"\n  integrity sha512-%s==\n", d.IntN(9), d.IntN(9), d.of(hexes, 40), d.of(b64s, 86))
		}
		return b.String()
	},
	func(d dice) string { // minified JavaScript
		var b strings.Builder
		for range 60 {
			a, c := d.of(lowers, 1), d.of(lowers+uppers, 2)
			fmt.Fprintf(&b, `function %s(%s){return %s.token=%s.password||"",%s.apiKey===void 0?null:{token:%s.accessToken,secret:%s.secretKey,k:"%s"}}`, c, a, a, a, a, a, a, d.of(lowers, 3))
		}
		return b.String()
	},
	func(d dice) string { // test output
		var b strings.Builder
		for range 30 {
			fmt.Fprintf(&b, "=== RUN   Test%s_%s\n--- PASS: Test%s (%d.%02ds)\n", d.one("Token", "Password", "SecretKey", "Auth"), d.of(lowers, 8), d.one("Token", "Password"), d.IntN(3), d.IntN(100))
		}
		return b.String() + fmt.Sprintf("ok  \tgithub.com/acme/auth/token\t%d.%03ds\ncoverage: %d.%d%% of statements\n", d.IntN(9), d.IntN(1000), d.IntN(100), d.IntN(10))
	},
	func(d dice) string { // source code
		return fmt.Sprintf("const password = process.env.DB_PASSWORD;\nconst token = await getToken(ctx, %q);\nvar apiKey = os.Getenv(\"ACME_API_KEY\")\npassword: z.string().min(%d),\nif (password !== confirmPassword) throw new Error(\"passwords differ\");\nSECRET_KEY = os.environ['DJANGO_SECRET_KEY']\ntoken_url: https://auth.acme.dev/oauth/token\nsecretName: postgres-credentials-v%d\npasswordHash: string\nexport TOKEN=$(cat /run/secrets/token)\nDB_PASSWORD=${DB_PASSWORD:-}\nAPI_KEY=<your-api-key>\nclass TokenBucket%d extends Bucket {}\n", d.one(nouns...), d.IntN(20), d.IntN(5), d.IntN(9))
	},
	func(d dice) string { // manifests and logs
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  uid: %s\n  resourceVersion: \"%s\"\nspec:\n  containers:\n  - image: acme/api@sha256:%s\n    env:\n    - name: DB_PASSWORD\n      valueFrom:\n        secretKeyRef:\n          name: db\n          key: password\n2026-11-30T10:00:00.%sZ INFO token refreshed for user=%d request_id=%s\nGET https://acme.dev:8443/a/b?page=2&next_page_token=%s 200\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA%s dev@host\nmail dev@example.org, see http://user@host/path and git@github.com:acme/a.git\n-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n",
			d.uuid(), d.of(digits, 9), d.of(hexes, 64), d.of(digits, 6), d.IntN(9999), d.uuid(), d.of(alnums, 24), d.of(b64s, 43), d.of(b64s, 64), d.of(b64s, 64))
	},
	func(d dice) string { // hexadecimal dumps, ids of all sorts
		var b strings.Builder
		for i := range 16 {
			fmt.Fprintf(&b, "%08x: %s %s  %s\n", i*16, d.of(hexes, 4), d.of(hexes, 4), d.of(lowers, 8))
		}
		fmt.Fprintf(&b, "arn:aws:iam::%s:role/deploy sha256:%s req_%s toolu_%s msg_%s ses_%s call_%s\n", d.of(digits, 12), d.of(hexes, 64), d.of(alnums, 16), d.of(alnums, 24), d.of(alnums, 24), d.of(alnums, 20), d.of(alnums, 24))
		return b.String()
	},
	func(d dice) string { // documents
		var b strings.Builder
		for range 20 {
			b.WriteString(strings.Repeat(d.sentence()+". ", 3) + "\n")
		}
		return b.String() + "Set `GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` or `sk-...`; AKIAIOSFODNN7EXAMPLE is from the manual. Password: at least 12 characters. Token: see below.\n"
	},
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
