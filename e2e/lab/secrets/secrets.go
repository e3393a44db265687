// Package secrets rolls texts that look like secrets, for tests of what must not get
// out. In comes a seed, out go tokens, keys and passwords of many kinds, made up anew in
// every run from their issuers' formats, so that no text in this repository looks like
// one. It shares nothing with the rules under test: a rule that is wrong must not prove
// itself.
package secrets

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Sets of characters.
const (
	Lowers = "abcdefghijklmnopqrstuvwxyz"
	Uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Digits = "0123456789"
	Hexes  = "0123456789abcdef"
	Alnums = Lowers + Uppers + Digits
	URLs   = Alnums + "-_"
	Base64 = Alnums + "+/"
)

// Dice rolls texts, the same ones for the same seed.
type Dice struct{ *rand.Rand }

// New returns Dice with a seed.
func New(seed uint64) Dice { return Dice{rand.New(rand.NewPCG(seed, 77))} }

// Of rolls n characters of a set.
func (d Dice) Of(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[d.IntN(len(set))]
	}
	return string(b)
}

// One picks one.
func (d Dice) One(list ...string) string { return list[d.IntN(len(list))] }

// UUID rolls one of version 4.
func (d Dice) UUID() string {
	return d.Of(Hexes, 8) + "-" + d.Of(Hexes, 4) + "-4" + d.Of(Hexes, 3) + "-a" + d.Of(Hexes, 3) + "-" + d.Of(Hexes, 12)
}

// Bytes rolls n of them.
func (d Dice) Bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.Uint32())
	}
	return b
}

// mixed rolls until the text has a small letter, a capital and a digit, as anything of
// this length nearly always has.
func (d Dice) mixed(n int) string {
	for {
		s := d.Of(Alnums, n)
		if strings.ContainsAny(s, Lowers) && strings.ContainsAny(s, Uppers) && strings.ContainsAny(s, Digits) {
			return s
		}
	}
}

// Secret is one, as it stands in a text.
type Secret struct {
	Kind string
	Text string // what is printed: itself and what stands around it
	// Parts are what must be gone: itself, or its lines.
	Parts []string
}

// kinds roll a secret each. Those with a place around them (context) are found by it.
var kinds = []struct {
	name string
	roll func(d Dice) (text string, secret []string)
}{
	{"github-pat", alone(func(d Dice) string { return "ghp_" + d.Of(Alnums, 36) })},
	{"github-oauth", alone(func(d Dice) string { return "gho_" + d.Of(Alnums, 36) })},
	{"github-app", alone(func(d Dice) string { return d.One("ghu_", "ghs_") + d.Of(Alnums, 36) })},
	{"github-refresh", alone(func(d Dice) string { return "ghr_" + d.Of(Alnums, 76) })},
	{"github-fine", alone(func(d Dice) string { return "github_pat_" + d.Of(Alnums, 22) + "_" + d.Of(Alnums, 59) })},
	{"gitlab-pat", alone(func(d Dice) string { return "glpat-" + d.Of(URLs, 19) + "x" })},
	{"gitlab-routable", alone(func(d Dice) string { return "glpat-" + d.Of(URLs, 27) + ".01." + d.Of(Lowers+Digits, 9) })},
	{"gitlab-runner", alone(func(d Dice) string { return "glrt-" + d.Of(URLs, 19) + "9" })},
	{"aws-id", alone(func(d Dice) string { return d.One("AKIA", "ASIA") + d.Of(Uppers+"234567", 16) })},
	{"aws-pair", func(d Dice) (string, []string) {
		id, key := "AKIA"+d.Of(Uppers+"234567", 16), d.Of(Base64, 38)+"aZ"
		key = "0" + key[1:]
		return id + "," + key, []string{id, key}
	}},
	{"aws-secret", named(func(d Dice) string { return "0" + d.Of(Base64, 37) + "aZ" }, "aws_secret_access_key = %s", `"SecretAccessKey": "%s"`)},
	{"aws-session", named(func(d Dice) string { return "IQoJb3JpZ2luX2Vj" + d.Of(Base64, 300) }, "aws_session_token=%s", `"SessionToken": "%s",`)},
	{"google-api", alone(func(d Dice) string { return "AIza" + d.Of(URLs, 34) + "k" })},
	{"google-oauth", alone(func(d Dice) string { return "ya29.a0" + d.Of(URLs, 120) + "7" })},
	{"google-secret", alone(func(d Dice) string { return "GOCSPX-" + d.Of(URLs, 27) + "e" })},
	{"google-refresh", alone(func(d Dice) string { return "1//0" + d.Of(URLs, 60) + "a" })},
	{"azure-storage", named(func(d Dice) string { return d.Of(Base64, 86) + "==" }, "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=%s;EndpointSuffix=core.windows.net")},
	{"azure-client", alone(func(d Dice) string { return d.Of(Alnums, 3) + "8Q~" + d.Of(Alnums, 34) })},
	{"azure-sas", named(func(d Dice) string { return d.Of(Alnums, 42) + "%3D" }, "https://acme.blob.core.windows.net/c/f?sv=2024-11-04&se=2026-12-01&sp=r&sig=%s")},
	{"azure-devops", alone(func(d Dice) string { return d.Of(Alnums, 76) + "AZDO" + d.Of(Alnums, 4) })},
	{"slack-bot", alone(func(d Dice) string {
		return "xoxb-" + d.Of(Digits, 12) + "-" + d.Of(Digits, 13) + "-" + d.Of(Alnums, 24)
	})},
	{"slack-user", alone(func(d Dice) string {
		return "xoxp-" + d.Of(Digits, 12) + "-" + d.Of(Digits, 12) + "-" + d.Of(Digits, 13) + "-" + d.Of(Hexes, 32)
	})},
	{"slack-app", alone(func(d Dice) string {
		return "xapp-1-A" + d.Of(Uppers+Digits, 10) + "-" + d.Of(Digits, 13) + "-" + d.Of(Hexes, 64)
	})},
	{"slack-webhook", alone(func(d Dice) string {
		return "hooks.slack.com/services/T" + d.Of(Uppers+Digits, 10) + "/B" + d.Of(Uppers+Digits, 10) + "/" + d.Of(Alnums, 24)
	})},
	{"discord-webhook", alone(func(d Dice) string {
		return "discord.com/api/webhooks/" + d.Of(Digits, 18) + "/" + d.Of(URLs, 67) + "q"
	})},
	{"stripe-live", alone(func(d Dice) string { return d.One("sk_live_", "rk_live_") + d.Of(Alnums, 24) })},
	{"stripe-test", alone(func(d Dice) string { return "sk_test_51" + d.Of(Alnums, 97) })},
	{"stripe-webhook", alone(func(d Dice) string { return "whsec_" + d.Of(Alnums, 32) })},
	{"openai-project", alone(func(d Dice) string { return "sk-proj-" + d.Of(URLs, 74) + "T3BlbkFJ" + d.Of(URLs, 73) + "w" })},
	{"openai-old", alone(func(d Dice) string { return "sk-" + d.Of(Alnums, 20) + "T3BlbkFJ" + d.Of(Alnums, 20) })},
	{"anthropic", alone(func(d Dice) string { return "sk-ant-" + d.One("api03-", "admin01-", "oat01-") + d.Of(URLs, 93) + "AA" })},
	{"openrouter", alone(func(d Dice) string { return "sk-or-v1-" + d.Of(Hexes, 64) })},
	{"huggingface", alone(func(d Dice) string { return "hf_" + d.Of(Lowers+Uppers, 34) })},
	{"groq", alone(func(d Dice) string { return "gsk_" + d.Of(Alnums, 52) })},
	{"xai", alone(func(d Dice) string { return "xai-" + d.Of(Alnums, 80) })},
	{"replicate", alone(func(d Dice) string { return "r8_" + d.Of(Alnums, 37) })},
	{"npm", alone(func(d Dice) string { return "npm_" + d.Of(Alnums, 36) })},
	{"pypi", alone(func(d Dice) string { return "pypi-AgEIcHlwaS5vcmc" + d.Of(URLs, 130) + "b" })},
	{"rubygems", alone(func(d Dice) string { return "rubygems_" + d.Of(Hexes, 48) })},
	{"docker", alone(func(d Dice) string { return "dckr_pat_" + d.Of(URLs, 26) + "1" })},
	{"sendgrid", alone(func(d Dice) string { return "SG." + d.Of(URLs, 22) + "." + d.Of(URLs, 42) + "z" })},
	{"mailgun", alone(func(d Dice) string { return "key-" + d.Of(Hexes, 32) })},
	{"mailchimp", alone(func(d Dice) string { return d.Of(Hexes, 32) + "-us" + d.One("6", "12", "21") })},
	{"telegram", alone(func(d Dice) string { return "1" + d.Of(Digits, 9) + ":AA" + d.Of(URLs, 32) + "h" })},
	{"shopify", alone(func(d Dice) string { return "shpat_" + d.Of(Hexes, 32) })},
	{"square", alone(func(d Dice) string { return "sq0atp-" + d.Of(URLs, 21) + "0" })},
	{"digitalocean", alone(func(d Dice) string { return "dop_v1_" + d.Of(Hexes, 64) })},
	{"databricks", alone(func(d Dice) string { return "dapi" + d.Of(Hexes, 32) })},
	{"vault", alone(func(d Dice) string { return "hvs." + d.Of(URLs, 90) + "g" })},
	{"terraform", alone(func(d Dice) string { return d.Of(Alnums, 14) + ".atlasv1." + d.Of(URLs, 66) + "p" })},
	{"doppler", alone(func(d Dice) string { return "dp.pt." + d.Of(Alnums, 43) })},
	{"planetscale", alone(func(d Dice) string { return "pscale_pw_" + d.Of(URLs, 42) + "c" })},
	{"pulumi", alone(func(d Dice) string { return "pul-" + d.Of(Hexes, 40) })},
	{"grafana", alone(func(d Dice) string { return "glsa_" + d.Of(Alnums, 32) + "_" + d.Of(Hexes, 8) })},
	{"newrelic", alone(func(d Dice) string { return "NRAK-" + d.Of(Uppers+Digits, 27) })},
	{"sentry", alone(func(d Dice) string { return "sntryu_" + d.Of(Hexes, 64) })},
	{"linear", alone(func(d Dice) string { return "lin_api_" + d.Of(Alnums, 40) })},
	{"notion", alone(func(d Dice) string { return "ntn_" + d.Of(Digits, 11) + d.Of(Alnums, 35) })},
	{"figma", alone(func(d Dice) string { return "figd_" + d.Of(URLs, 39) + "u" })},
	{"postman", alone(func(d Dice) string { return "PMAK-" + d.Of(Hexes, 24) + "-" + d.Of(Hexes, 34) })},
	{"airtable", alone(func(d Dice) string { return "pat" + d.Of(Alnums, 14) + "." + d.Of(Hexes, 64) })},
	{"supabase", alone(func(d Dice) string { return "sbp_" + d.Of(Hexes, 40) })},
	{"tailscale", alone(func(d Dice) string { return "tskey-auth-k" + d.Of(Alnums, 11) + "CNTRL-" + d.Of(Alnums, 32) })},
	{"age", alone(func(d Dice) string { return "AGE-SECRET-KEY-1" + d.Of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) })},
	{"atlassian", alone(func(d Dice) string { return "ATATT3xFfGF0" + d.Of(URLs, 170) + "=" + d.Of("0123456789ABCDEF", 8) })},
	{"jwt", alone(func(d Dice) string {
		seg := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return seg(`{"alg":"HS256","typ":"JWT"}`) + "." + seg(fmt.Sprintf(`{"sub":"%s","iat":17%s}`, d.Of(Digits, 10), d.Of(Digits, 8))) + "." + d.Of(URLs, 42) + "s"
	})},
	{"rsa-key", pem("RSA PRIVATE KEY", 25)},
	{"openssh-key", pem("OPENSSH PRIVATE KEY", 6)},
	{"pkcs8-key", pem("PRIVATE KEY", 24)},
	{"ec-key", pem("EC PRIVATE KEY", 3)},
	{"postgres-url", named(func(d Dice) string { return d.mixed(16) }, "postgres://app:%s@db.internal:5432/prod?sslmode=require")},
	{"mongo-url", named(func(d Dice) string { return d.mixed(12) + "!x" }, "mongodb+srv://svc:%s@cluster0.abcde.mongodb.net/app")},
	{"redis-url", named(func(d Dice) string { return d.mixed(20) }, "redis://:%s@10.0.0.5:6379/0")},
	{"git-url", named(func(d Dice) string { return d.mixed(30) }, "https://oauth2:%s@git.example.org/a/b.git")},
	{"bearer", named(func(d Dice) string { return d.mixed(40) }, "Authorization: Bearer %s", "> authorization: Bearer %s")},
	{"basic", named(func(d Dice) string { return base64.StdEncoding.EncodeToString([]byte("svc:" + d.mixed(14))) }, "Authorization: Basic %s")},
	{"env-password", named(func(d Dice) string {
		return d.One("hunter", "sunny", "winter") + d.Of(Digits, 4) + "!" + d.Of(Lowers, 3)
	}, "export DB_PASSWORD=%s", "POSTGRES_PASSWORD=%s", "MYSQL_PWD='%s'")},
	{"env-token", named(func(d Dice) string { return d.mixed(32) }, "export DEPLOY_TOKEN=%s", "CI_JOB_TOKEN=%s", `SESSION_SECRET="%s"`)},
	{"json-key", named(func(d Dice) string { return d.mixed(32) }, `  "apiKey": "%s",`, `"client_secret":"%s"`, `{\"api_key\": \"%s\"}`)},
	{"yaml-secret", named(func(d Dice) string { return d.mixed(24) }, "  secret_key: %s", "clientSecret: '%s'")},
	{"flag", named(func(d Dice) string { return d.mixed(20) }, "agent --api-key %s --verbose", "mysqldump --password=%s app")},
	{"netrc", named(func(d Dice) string { return d.mixed(18) }, "machine api.acme.dev login ci password %s")},
	{"docker-auth", named(func(d Dice) string { return base64.StdEncoding.EncodeToString([]byte("ci:" + d.mixed(20))) }, `"auths": {"r.acme.dev": {"auth": "%s"}}`)},
	{"xml", named(func(d Dice) string { return d.mixed(16) }, "<password>%s</password>")},
	{"wireguard", named(func(d Dice) string { return base64.StdEncoding.EncodeToString(d.Bytes(32)) }, "PrivateKey = %s")},
	{"base64-of-token", alone(func(d Dice) string {
		return base64.StdEncoding.EncodeToString([]byte("token: ghp_" + d.Of(Alnums, 36) + "\n"))
	})},
	{"unicode-escaped", func(d Dice) (string, []string) {
		tail := d.Of(Alnums, 36)
		return `{"t":"\u0067hp_` + tail + `"}`, []string{tail}
	}},
	{"coloured", func(d Dice) (string, []string) {
		tail := d.Of(Alnums, 36)
		return "\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K" + tail, []string{tail}
	}},
}

func alone(roll func(Dice) string) func(Dice) (string, []string) {
	return func(d Dice) (string, []string) { s := roll(d); return s, []string{s} }
}

func named(roll func(Dice) string, places ...string) func(Dice) (string, []string) {
	return func(d Dice) (string, []string) {
		s := roll(d)
		return strings.Replace(d.One(places...), "%s", s, 1), []string{s}
	}
}

func pem(kind string, lines int) func(Dice) (string, []string) {
	return func(d Dice) (string, []string) {
		var body []string
		for range lines {
			body = append(body, d.Of(Base64, 64))
		}
		return "-----BEGIN " + kind + "-----\n" + strings.Join(body, "\n") + "\n-----END " + kind + "-----", body
	}
}

// Kinds is how many kinds there are.
func Kinds() int { return len(kinds) }

// Roll rolls n secrets, every kind in turn.
func Roll(seed uint64, n int) []Secret {
	d := New(seed)
	var out []Secret
	for i := range n {
		k := kinds[i%len(kinds)]
		text, parts := k.roll(d)
		out = append(out, Secret{k.name, text, parts})
	}
	return out
}
