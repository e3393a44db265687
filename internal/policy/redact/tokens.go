package redact

import "slices"

// token is a kind of secret that can be told by its own look: it begins with a
// word that its issuer puts in front of all of them. The facts are from the
// issuers' documentation and from tokens they issued; lengths are the shortest
// seen, so that a longer one of tomorrow is found as well.
type token struct {
	id    string
	words []string // as they are written; each is a keyword
	set   class    // what may follow the word
	min   int      // length behind the word in bytes
	max   int      // 0: none; a longer run is something else
	check func(run []byte) bool
}

// class is a set of characters, by kinds of them.
type class uint16

const (
	upper class = 1 << iota
	lower
	digit
	dash
	under
	dot
	plus
	slash
	equals
	tilde
	percent
	colon

	alnum     = upper | lower | digit
	word      = alnum | under
	urlSafe   = word | dash
	base64Set = alnum | plus | slash | equals
	anyToken  = urlSafe | dot | plus | slash | equals | tilde
	hexLower  = lower | digit // and every letter is at most f, see isHex
)

// classOf is the class of a character; letters and digits outside ASCII have none.
func classOf(c byte) class {
	switch {
	case 'a' <= c && c <= 'z':
		return lower
	case 'A' <= c && c <= 'Z':
		return upper
	case '0' <= c && c <= '9':
		return digit
	}
	switch c {
	case '-':
		return dash
	case '_':
		return under
	case '.':
		return dot
	case '+':
		return plus
	case '/':
		return slash
	case '=':
		return equals
	case '~':
		return tilde
	case '%':
		return percent
	case ':':
		return colon
	}
	return 0
}

func isHex(run []byte) bool {
	for _, c := range run {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// isBase32 tells the alphabet of AWS key ids: letters and 2 to 7.
func isBase32(run []byte) bool {
	for _, c := range run {
		if c < '2' || c > '7' && c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

func dotted(run []byte) bool { return slices.Contains(run, '.') }

// tokens are the kinds of secrets that can be told by their beginning.
var tokens = []token{
	// Code hosts.
	{id: "github-token", words: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, set: alnum, min: 36},
	{id: "github-fine-grained-token", words: []string{"github_pat_"}, set: word, min: 59},
	{id: "gitlab-token", words: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glagent-", "glcbt-", "gloas-", "glsoat-", "glimt-", "glffct-", "glwt-", "GR1348941"}, set: urlSafe | dot, min: 20},
	{id: "bitbucket-app-password", words: []string{"ATBB"}, set: alnum, min: 32, max: 40},
	{id: "atlassian-api-token", words: []string{"ATATT3", "ATCTT3", "ATSTT3"}, set: urlSafe | equals, min: 60},
	{id: "sourcegraph-token", words: []string{"sgp_", "sgd_"}, set: word, min: 40},
	{id: "gitea-codeberg-token", words: []string{"gta_"}, set: alnum, min: 40},

	// Clouds.
	{id: "aws-access-key-id", words: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, set: upper | digit, min: 16, max: 16, check: isBase32},
	{id: "aws-bedrock-key", words: []string{"ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-"}, set: base64Set, min: 60},
	{id: "google-api-key", words: []string{"AIza"}, set: urlSafe, min: 35, max: 35},
	{id: "google-oauth-token", words: []string{"ya29."}, set: urlSafe | dot, min: 30},
	{id: "google-oauth-secret", words: []string{"GOCSPX-"}, set: urlSafe, min: 24},
	{id: "google-refresh-token", words: []string{"1//0"}, set: urlSafe, min: 38},
	{id: "alibaba-access-key", words: []string{"LTAI"}, set: alnum, min: 16, max: 26},
	{id: "tencent-secret-id", words: []string{"AKID"}, set: alnum, min: 32, max: 32},
	{id: "digitalocean-token", words: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, set: hexLower, min: 64, max: 64, check: isHex},
	{id: "heroku-key", words: []string{"HRKU-"}, set: urlSafe, min: 36},
	{id: "fly-token", words: []string{"fm1_", "fm2_", "fm1r_", "fo1_"}, set: base64Set | urlSafe, min: 40},
	{id: "cloudflare-origin-ca-key", words: []string{"v1.0-"}, set: hexLower | dash, min: 140},
	{id: "cloudflare-token", words: []string{"cfut_", "cfat_", "cfk_"}, set: urlSafe, min: 40},
	{id: "netlify-token", words: []string{"nfp_", "nfc_", "nfo_", "nfu_"}, set: alnum, min: 36},
	{id: "vercel-token", words: []string{"vcp_", "vci_", "vca_", "vcr_", "vck_"}, set: urlSafe, min: 24},
	{id: "supabase-token", words: []string{"sbp_", "sb_secret_"}, set: urlSafe, min: 30},
	{id: "planetscale-token", words: []string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_", "pscale_otkn_"}, set: urlSafe | dot, min: 32},
	{id: "neon-key", words: []string{"napi_"}, set: alnum, min: 40},
	{id: "scaleway-key", words: []string{"SCWSECRETKEY"}, set: urlSafe, min: 20},
	{id: "tailscale-key", words: []string{"tskey-"}, set: urlSafe, min: 20},
	{id: "render-key", words: []string{"rnd_"}, set: alnum, min: 28, max: 40},
	{id: "railway-token", words: []string{"rw_Fe26."}, set: urlSafe | dot, min: 60},

	// Payment.
	{id: "stripe-key", words: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_"}, set: alnum, min: 20},
	{id: "stripe-webhook-secret", words: []string{"whsec_"}, set: base64Set, min: 32},
	{id: "square-token", words: []string{"sq0atp-", "sq0csp-", "EAAAE", "EAAAl"}, set: urlSafe, min: 22},
	{id: "shopify-token", words: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, set: alnum, min: 32, check: isHex},
	{id: "razorpay-key", words: []string{"rzp_live_", "rzp_test_"}, set: alnum, min: 14, max: 20},
	{id: "flutterwave-key", words: []string{"FLWSECK-", "FLWSECK_TEST-"}, set: alnum | dash, min: 12},
	{id: "plaid-token", words: []string{"access-sandbox-", "access-development-", "access-production-"}, set: hexLower | dash, min: 36, max: 36},
	{id: "braintree-token", words: []string{"access_token$production$", "access_token$sandbox$"}, set: alnum, min: 16},
	{id: "easypost-key", words: []string{"EZAK", "EZTK"}, set: alnum, min: 54, max: 54},

	// Models.
	{id: "openai-key", words: []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"}, set: urlSafe, min: 32},
	{id: "anthropic-key", words: []string{"sk-ant-"}, set: urlSafe, min: 40},
	{id: "openrouter-key", words: []string{"sk-or-v1-"}, set: hexLower, min: 64, check: isHex},
	{id: "langfuse-key", words: []string{"sk-lf-"}, set: hexLower | dash, min: 36, max: 36},
	{id: "model-key", words: []string{"sk-"}, set: alnum, min: 32},
	{id: "huggingface-token", words: []string{"hf_", "api_org_"}, set: alnum, min: 30, max: 40},
	{id: "xai-key", words: []string{"xai-"}, set: alnum, min: 60},
	{id: "groq-key", words: []string{"gsk_"}, set: alnum, min: 40},
	{id: "perplexity-key", words: []string{"pplx-"}, set: alnum, min: 40},
	{id: "replicate-token", words: []string{"r8_"}, set: alnum, min: 36, max: 42},
	{id: "langsmith-key", words: []string{"lsv2_pt_", "lsv2_sk_"}, set: hexLower | under, min: 40},
	{id: "nvidia-key", words: []string{"nvapi-"}, set: urlSafe, min: 50},
	{id: "tavily-key", words: []string{"tvly-"}, set: urlSafe, min: 28},
	{id: "cerebras-key", words: []string{"csk-"}, set: alnum, min: 40},
	{id: "fireworks-key", words: []string{"fw_"}, set: alnum, min: 22, max: 28},

	// Talk and mail.
	{id: "slack-token", words: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xapp-", "xwfp-"}, set: urlSafe | dot | percent, min: 24},
	{id: "slack-webhook", words: []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"}, set: alnum | slash, min: 30},
	{id: "discord-webhook", words: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, set: urlSafe | slash, min: 60},
	{id: "teams-webhook", words: []string{"webhook.office.com/webhookb2/"}, set: urlSafe | slash | tilde, min: 60},
	{id: "sendgrid-key", words: []string{"SG."}, set: urlSafe | dot, min: 60, max: 72, check: dotted},
	{id: "brevo-key", words: []string{"xkeysib-", "xsmtpsib-"}, set: alnum | dash, min: 70},
	{id: "mailgun-key", words: []string{"key-"}, set: hexLower, min: 32, max: 32, check: isHex},
	{id: "resend-key", words: []string{"re_"}, set: word, min: 30, max: 40, check: notWordy},
	{id: "twitch-or-twitter-bearer", words: []string{"AAAAAAAAAAAAAAAAAAAAA"}, set: alnum | percent, min: 60},
	{id: "facebook-token", words: []string{"EAACEdEose0cBA", "EAAB", "EAAC", "EAAG", "EAAM"}, set: alnum, min: 90},

	// Packages.
	{id: "npm-token", words: []string{"npm_"}, set: alnum, min: 36, max: 60},
	{id: "pypi-token", words: []string{"pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ"}, set: urlSafe, min: 50},
	{id: "rubygems-key", words: []string{"rubygems_"}, set: hexLower, min: 48, max: 48, check: isHex},
	{id: "crates-token", words: []string{"cio"}, set: alnum, min: 32, max: 32, check: notWordy},
	{id: "nuget-key", words: []string{"oy2"}, set: lower | digit, min: 43, max: 43},
	{id: "docker-token", words: []string{"dckr_pat_", "dckr_oat_"}, set: urlSafe, min: 24},
	{id: "clojars-token", words: []string{"CLOJARS_"}, set: alnum, min: 60},
	{id: "artifactory-token", words: []string{"AKCp", "cmVmdGtuOjAx", "cmVmdGtuOjAy"}, set: alnum, min: 40},
	{id: "jfrog-hex-key", words: []string{"eyJ2ZXIiOiIyIiwidHlwIjoiSldUIiwiYWxnIjoiUlMyNTYi"}, set: urlSafe | dot, min: 60},

	// Tools.
	{id: "vault-token", words: []string{"hvs.", "hvb.", "hvr."}, set: urlSafe, min: 24},
	{id: "terraform-cloud-token", words: []string{".atlasv1."}, set: urlSafe, min: 60},
	{id: "pulumi-token", words: []string{"pul-"}, set: hexLower, min: 40, max: 40, check: isHex},
	{id: "doppler-token", words: []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."}, set: alnum | dot | under | dash, min: 40},
	{id: "databricks-token", words: []string{"dapi"}, set: hexLower | dash, min: 32, max: 34, check: isHexDash},
	{id: "grafana-token", words: []string{"glsa_", "glc_", "eyJrIjoi"}, set: urlSafe | plus | slash | equals, min: 32},
	{id: "newrelic-key", words: []string{"NRAK-", "NRJS-", "NRII-", "NRAA-", "NRIQ-"}, set: urlSafe, min: 19},
	{id: "sentry-token", words: []string{"sntrys_", "sntryu_", "sntrya_", "sntryi_"}, set: base64Set | urlSafe, min: 40},
	{id: "dynatrace-token", words: []string{"dt0c01.", "dt0s01.", "dt0s16."}, set: alnum | dot, min: 80},
	{id: "honeycomb-key", words: []string{"hcaik_", "hcbik_", "hcxik_", "hcamk_"}, set: alnum, min: 40},
	{id: "posthog-key", words: []string{"phx_", "phs_"}, set: alnum, min: 30},
	{id: "linear-key", words: []string{"lin_api_", "lin_oauth_"}, set: alnum, min: 32},
	{id: "notion-token", words: []string{"ntn_", "secret_"}, set: alnum, min: 40, max: 50, check: notWordy},
	{id: "figma-token", words: []string{"figd_", "figo_", "figu_"}, set: urlSafe, min: 32},
	{id: "postman-key", words: []string{"PMAK-"}, set: hexLower | dash, min: 50},
	{id: "airtable-token", words: []string{"pat"}, set: alnum | dot, min: 79, max: 79, check: dotted},
	{id: "circleci-token", words: []string{"CCIPAT_", "CCIPRJ_"}, set: word, min: 40},
	{id: "buildkite-token", words: []string{"bkua_", "bkaj_", "bkct_"}, set: alnum, min: 36},
	{id: "contentful-token", words: []string{"CFPAT-"}, set: urlSafe, min: 40},
	{id: "launchdarkly-key", words: []string{"sdk-", "api-"}, set: hexLower | dash, min: 36, max: 36, check: isUUID},
	{id: "onepassword-token", words: []string{"ops_eyJ"}, set: base64Set | urlSafe, min: 100},
	{id: "prefect-key", words: []string{"pnu_", "pnb_"}, set: alnum, min: 36},
	{id: "typeform-token", words: []string{"tfp_"}, set: urlSafe | dot, min: 40},
	{id: "readme-key", words: []string{"rdme_"}, set: alnum, min: 60},
	{id: "mapbox-token", words: []string{"sk.eyJ"}, set: urlSafe | dot, min: 60},
	{id: "dropbox-token", words: []string{"sl.u.", "sl.B"}, set: urlSafe, min: 100},
	{id: "age-key", words: []string{"AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"}, set: upper | digit, min: 50},
	{id: "infracost-key", words: []string{"ico-"}, set: alnum, min: 32, max: 32},
	{id: "snyk-token", words: []string{"snyk_uat."}, set: urlSafe | dot, min: 30},
	{id: "sonar-token", words: []string{"sqp_", "squ_", "sqa_"}, set: hexLower, min: 40, max: 40, check: isHex},
	{id: "hubspot-token", words: []string{"pat-na1-", "pat-na2-", "pat-eu1-", "pat-ap1-"}, set: hexLower | dash, min: 36, max: 36},
	{id: "intra42-secret", words: []string{"s-s4t2ud-", "s-s4t2af-"}, set: hexLower, min: 64, max: 64, check: isHex},
	{id: "ngrok-key", words: []string{"cr_"}, set: alnum, min: 40, max: 52},
	{id: "temporal-or-mux-key", words: []string{"tmprl_"}, set: urlSafe, min: 40},
}

func isUUID(run []byte) bool {
	if len(run) != 36 {
		return false
	}
	for i, c := range run {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !isHex(run[i : i+1]) {
			return false
		}
	}
	return true
}

// isHexDash tells 32 digits and, perhaps, a dash and one more.
func isHexDash(run []byte) bool {
	return isHex(run[:32]) && (len(run) == 32 || len(run) == 34 && run[32] == '-')
}

func notWordy(run []byte) bool { return !wordy(run) }
