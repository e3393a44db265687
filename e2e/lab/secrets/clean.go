package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
)

var nouns = strings.Fields("parser token session cache key secret password handler request client server build index buffer config module worker queue schema auth user table stream")
var verbs = strings.Fields("fix add drop keep move rename load read write check guard retry hash")

// Sentence rolls some words.
func (d Dice) Sentence() string {
	var w []string
	for range 4 + d.IntN(5) {
		w = append(w, d.One(nouns...))
	}
	return d.One(verbs...) + " " + strings.Join(w, " ")
}

// CleanKinds is how many kinds of clean output there are.
func CleanKinds() int { return len(clean) }

// Clean rolls an output of the nth kind in which nothing is secret, though much looks
// like it.
func Clean(d Dice, n int) string { return clean[n%len(clean)](d) }

var clean = []func(d Dice) string{
	func(d Dice) string { // git log
		var b strings.Builder
		for range 12 {
			fmt.Fprintf(&b, "commit %s\nAuthor: Dev <dev@example.org>\nDate:   Mon Nov %d 10:%02d:00 2026 +0000\n\n    %s\n\n", d.Of(Hexes, 40), 1+d.IntN(28), d.IntN(60), d.Sentence())
		}
		return b.String()
	},
	func(d Dice) string { // git log --oneline, diffs
		var b strings.Builder
		for range 20 {
			fmt.Fprintf(&b, "%s %s (#%d)\n", d.Of(Hexes, 9), d.Sentence(), d.IntN(9000))
		}
		fmt.Fprintf(&b, "diff --git a/auth/token.go b/auth/token.go\nindex %s..%s 100644\n--- a/auth/token.go\n+++ b/auth/token.go\n@@ -1,4 +1,4 @@\n-\ttoken := readToken(ctx)\n+\ttoken, err := readToken(ctx, cfg.SecretName)\n", d.Of(Hexes, 9), d.Of(Hexes, 9))
		return b.String()
	},
	func(d Dice) string { // checksums
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "%s  dist/lidguard_%d_linux_amd64.tar.gz\n", d.Of(Hexes, 64), i)
		}
		return b.String() + "MD5 (password.txt) = " + d.Of(Hexes, 32) + "\n"
	},
	func(d Dice) string { // UUIDs
		var b strings.Builder
		for range 20 {
			fmt.Fprintf(&b, `{"id":"%s","session_id":"%s","trace_id":"%s","token_count":%d}`+"\n", d.UUID(), d.UUID(), d.Of(Hexes, 32), d.IntN(90000))
		}
		return b.String()
	},
	func(d Dice) string { // an image
		return "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA" + base64.StdEncoding.EncodeToString(d.Bytes(3000+d.IntN(3000)))
	},
	func(d Dice) string { // package-lock.json
		var b strings.Builder
		for range 12 {
			n := d.One("js-tokens", "password-prompt", "secretly", "token-types", "left-pad", "@aws-sdk/token-providers", "keyv", "auth-header")
			fmt.Fprintf(&b, "    \"node_modules/%s\": {\n      \"version\": \"%d.%d.%d\",\n      \"resolved\": \"https://registry.npmjs.org/%s/-/%s-%d.%d.0.tgz\",\n      \"integrity\": \"sha512-%s==\",\n      \"dev\": true\n    },\n",
				n, d.IntN(9), d.IntN(40), d.IntN(90), n, n, d.IntN(9), d.IntN(9), d.Of(Base64, 86))
		}
		return b.String()
	},
	func(d Dice) string { // go.sum, Cargo.lock
		var b strings.Builder
		for range 10 {
			fmt.Fprintf(&b, "github.com/acme/secret-%s v1.%d.0 h1:%s=\ngithub.com/acme/token v0.%d.0/go.mod h1:%s=\n", d.Of(Lowers, 5), d.IntN(30), d.Of(Base64, 43), d.IntN(30), d.Of(Base64, 43))
		}
		for range 6 {
			fmt.Fprintf(&b, "[[package]]\nname = \"secrecy\"\nversion = \"0.%d.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%s\"\n\n", d.IntN(20), d.Of(Hexes, 64))
		}
		return b.String()
	},
	func(d Dice) string { // requirements, poetry.lock, yarn.lock
		var b strings.Builder
		for range 8 {
			fmt.Fprintf(&b, "secretstorage==3.3.%d \\\n    --hash=sha256:%s \\\n    --hash=sha256:%s\n", d.IntN(9), d.Of(Hexes, 64), d.Of(Hexes, 64))
			fmt.Fprintf(&b, "    {file = \"tokenizers-0.%d.1-cp310-cp310-manylinux_2_17_x86_64.whl\", hash = \"sha256:%s\"},\n", d.IntN(30), d.Of(Hexes, 64))
			fmt.Fprintf(&b, "\"@types/jsonwebtoken@^9.0.%d\":\n  version \"9.0.%d\"\n  resolved \"https://registry.yarnpkg.com/@types/jsonwebtoken/-/jsonwebtoken-9.0.1.tgz#%s\"\n  integrity sha512-%s==\n", d.IntN(9), d.IntN(9), d.Of(Hexes, 40), d.Of(Base64, 86))
		}
		return b.String()
	},
	func(d Dice) string { // minified JavaScript
		var b strings.Builder
		for range 60 {
			a, c := d.Of(Lowers, 1), d.Of(Lowers+Uppers, 2)
			fmt.Fprintf(&b, `function %s(%s){return %s.token=%s.password||"",%s.apiKey===void 0?null:{token:%s.accessToken,secret:%s.secretKey,k:"%s"}}`, c, a, a, a, a, a, a, d.Of(Lowers, 3))
		}
		return b.String()
	},
	func(d Dice) string { // test output
		var b strings.Builder
		for range 30 {
			fmt.Fprintf(&b, "=== RUN   Test%s_%s\n--- PASS: Test%s (%d.%02ds)\n", d.One("Token", "Password", "SecretKey", "Auth"), d.Of(Lowers, 8), d.One("Token", "Password"), d.IntN(3), d.IntN(100))
		}
		return b.String() + fmt.Sprintf("ok  \tgithub.com/acme/auth/token\t%d.%03ds\ncoverage: %d.%d%% of statements\n", d.IntN(9), d.IntN(1000), d.IntN(100), d.IntN(10))
	},
	func(d Dice) string { // source code
		return fmt.Sprintf("const password = process.env.DB_PASSWORD;\nconst token = await getToken(ctx, %q);\nvar apiKey = os.Getenv(\"ACME_API_KEY\")\npassword: z.string().min(%d),\nif (password !== confirmPassword) throw new Error(\"passwords differ\");\nSECRET_KEY = os.environ['DJANGO_SECRET_KEY']\ntoken_url: https://auth.acme.dev/oauth/token\nsecretName: postgres-credentials-v%d\npasswordHash: string\nexport TOKEN=$(cat /run/secrets/token)\nDB_PASSWORD=${DB_PASSWORD:-}\nAPI_KEY=<your-api-key>\nclass TokenBucket%d extends Bucket {}\n", d.One(nouns...), d.IntN(20), d.IntN(5), d.IntN(9))
	},
	func(d Dice) string { // manifests and logs
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  uid: %s\n  resourceVersion: \"%s\"\nspec:\n  containers:\n  - image: acme/api@sha256:%s\n    env:\n    - name: DB_PASSWORD\n      valueFrom:\n        secretKeyRef:\n          name: db\n          key: password\n2026-11-30T10:00:00.%sZ INFO token refreshed for user=%d request_id=%s\nGET https://acme.dev:8443/a/b?page=2&next_page_token=%s 200\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA%s dev@host\nmail dev@example.org, see http://user@host/path and git@github.com:acme/a.git\n-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n",
			d.UUID(), d.Of(Digits, 9), d.Of(Hexes, 64), d.Of(Digits, 6), d.IntN(9999), d.UUID(), d.Of(Alnums, 24), d.Of(Base64, 43), d.Of(Base64, 64), d.Of(Base64, 64))
	},
	func(d Dice) string { // hexadecimal dumps, ids of all sorts
		var b strings.Builder
		for i := range 16 {
			fmt.Fprintf(&b, "%08x: %s %s  %s\n", i*16, d.Of(Hexes, 4), d.Of(Hexes, 4), d.Of(Lowers, 8))
		}
		fmt.Fprintf(&b, "arn:aws:iam::%s:role/deploy sha256:%s req_%s toolu_%s msg_%s ses_%s call_%s\n", d.Of(Digits, 12), d.Of(Hexes, 64), d.Of(Alnums, 16), d.Of(Alnums, 24), d.Of(Alnums, 24), d.Of(Alnums, 20), d.Of(Alnums, 24))
		return b.String()
	},
	func(d Dice) string { // documents
		var b strings.Builder
		for range 20 {
			b.WriteString(strings.Repeat(d.Sentence()+". ", 3) + "\n")
		}
		return b.String() + "Set `GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` or `sk-...`; AKIAIOSFODNN7EXAMPLE is from the manual. Password: at least 12 characters. Token: see below.\n"
	},
}
