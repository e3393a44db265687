package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/e2e/lab/secrets"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
)

var aMask = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]|\[withheld: too costly to search for secrets\]`)

// onlyMasked fails unless out is in with pieces of it replaced by masks: what stands
// between the masks is in the original, in this order, from its start to its end.
func onlyMasked(t interface{ Fatalf(string, ...any) }, in, out string) {
	pieces := aMask.Split(out, -1)
	if !strings.HasPrefix(in, pieces[0]) || !strings.HasSuffix(in, pieces[len(pieces)-1]) {
		t.Fatalf("the ends of %q changed: %q", in, out)
	}
	for rest, i := in, 0; i < len(pieces); i++ {
		at := strings.Index(rest, pieces[i])
		if at < 0 {
			t.Fatalf("%q of %q is not in %q", pieces[i], out, in)
		}
		rest = rest[at+len(pieces[i]):]
	}
}

// laws holds for any JSON text.
func laws(t interface{ Fatalf(string, ...any) }, e *redact.Engine, in []byte) {
	before := bytes.Clone(in)
	out, r, ok := e.JSON(in, false)
	if !bytes.Equal(before, in) {
		t.Fatalf("the input itself was changed: %q", in)
	}
	if !json.Valid(in) {
		return // what is no JSON may be taken for one or not, and is not touched then
	}
	if !ok {
		if nested(in) > 500 {
			return
		}
		t.Fatalf("%q was not read", in)
	}
	if r.Masked == 0 && !r.Withheld && !bytes.Equal(in, out) {
		t.Fatalf("%q became %q with nothing masked", in, out)
	}
	if !json.Valid(out) {
		t.Fatalf("%q became %q, which is no JSON", in, out)
	}
	var a, b any
	for into, text := range map[*any][]byte{&a: in, &b: out} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if !sameKeys(a, b) {
		t.Fatalf("the shape changed: %q became %q", in, out)
	}
	onlyMasked(t, string(in), string(out))
	again, r2, _ := e.JSON(out, false)
	if r2.Masked > 0 || !bytes.Equal(again, out) {
		t.Fatalf("a second pass took %v from %q: %q", r2.Rules, out, again)
	}
	for _, rule := range r.Rules {
		if strings.ContainsAny(rule, " \n\"") {
			t.Fatalf("%q is no id of a rule", rule)
		}
	}
}

func nested(text []byte) (depth int) {
	for now, i := 0, 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			now++
			depth = max(depth, now)
		case ']', '}':
			now--
		}
	}
	return depth
}

func FuzzJSON(f *testing.F) {
	d := secrets.New(6)
	for i, s := range secrets.Roll(6, 2*secrets.Kinds()) {
		f.Add([]byte(fill(shapes[i%len(shapes)].response, around(d, s.Text))))
	}
	for _, text := range []string{
		`{"password":"hunter2hunter","a":[1,2.50e+3,null,true,"\u0041\ud83d\ude00\/"]}`, `"a\\nghp_"`, `[[[]]]`, `{"":""}`, `"\u001b[31mx"`,
		`{"token":{"token":"abc123def456ghi789"}}`, `"-----BEGIN PRIVATE KEY-----"`, `["-----BEGIN RSA PRIVATE KEY-----","MIIEowIBAAKCAQEA","x"]`,
		`"://:@"`, `"password=\"\\\""`, `"token=token=token="`, `"[redacted:jwt]"`, `"Bearer [redacted:x]"`, `"\ud800\udc00\ud800"`, `"a=b=c=dG9rZW46IGdocA=="`,
	} {
		f.Add([]byte(text))
	}
	e := engine()
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 1<<16 {
			laws(t, e, in)
		}
	})
}

func TestJSON_lawsOnRolledText(t *testing.T) {
	e := engine()
	pieces := []string{
		"password", "token", "secret", "api_key", "=", ": ", ":", "\"", "'", "\\", "\\n", "\n", " ", "://", "@", "a", "B7", "x9", "-", "_", "/", ".", "[redacted:jwt]", "=>", "{", "}",
		"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "AKIA", "ghp_", "sk-", "eyJ", "Bearer ", "Basic ", "\\u0067", "\x1b[31m", "&", ";", "ü", "\xff", "export ", "--token ",
	}
	d := secrets.New(7)
	for _, s := range secrets.Roll(7, secrets.Kinds()) {
		pieces = append(pieces, s.Text)
	}
	for range 30 {
		pieces = append(pieces, d.Of(secrets.Alnums, 1+d.IntN(40)), d.Of(secrets.Base64, 64))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "pieces"), "")
		shape := rapid.SampledFrom(shapes).Draw(t, "shape").response
		laws(t, e, []byte(fill(shape, strings.ToValidUTF8(text, "?"))))
	})
}

// Whatever a text says, the search costs no more than a text of that length may: what
// asks for more is withheld.
func TestJSON_hostileTextEndsSoon(t *testing.T) {
	const n = 1 << 18
	for name, unit := range map[string]string{
		"names": "token=", "names and colons": "token:token ", "quotes": `token="`, "variables": "A_TOKEN=", "heads of keys": "-----BEGIN RSA PRIVATE KEY-----\n",
		"tails of keys": "-----END RSA PRIVATE KEY-----\n", "heads and bodies": "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEAaaaa\n", "tokens": "eyJ.", "more tokens": "eyJhbGciOiJIUzI1NiJ9.",
		"addresses": "a://b:", "addresses with places": "a://b:c@", "digits": "0", "base64": "QUFB", "base64 and signs": "QUFBQUFBQUFBQUFBQUFBQUFBQUFB=", "beginnings": "ghp_", "dots": "sk-.",
		"escapes": `\u0074`, "colours": "\x1b[0m", "slashes": `\/`, "bearers": "Bearer ", "keys": "AKIA", "azure": "8Q~", "secrets": "password=hunter2x9;",
	} {
		in := []byte(fill(shapes[0].response, strings.Repeat(unit, n/len(unit))))
		done := make(chan struct{})
		go func() {
			defer close(done)
			out, _, ok := engine().JSON(in, false)
			if !ok || !json.Valid(out) {
				t.Errorf("%s: no JSON came out", name)
			}
		}()
		select {
		case <-done:
		case <-time.After(time.Minute): // generous: a machine with other things to do
			t.Fatalf("%s: the search does not end", name)
		}
	}
}

func TestJSON_namesThatAreSecrets(t *testing.T) {
	token := "ghp_" + secrets.New(8).Of(secrets.Alnums, 36)
	in := `{"answers":{"` + token + `":"yes, ` + token + `"}}`
	out, r, ok := engine().JSON([]byte(in), false)
	if want := `{"answers":{"` + token + `":"yes, [redacted:github-token]"}}`; !ok || r.Keys != 1 || r.Masked != 1 || string(out) != want {
		t.Errorf("got %q, %+v", out, r)
	}
	out, r, _ = engine().JSON([]byte(in), true)
	if want := `{"answers":{"[redacted:github-token]":"yes, [redacted:github-token]"}}`; r.Keys != 0 || string(out) != want {
		t.Errorf("with names: got %q, %+v", out, r)
	}
}

// Base64 that is broken into lines is one text, whatever stands around its lines.
func TestText_base64OverLines(t *testing.T) {
	e := engine()
	token := "ghp_" + secrets.New(7).Of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 36)
	for pad := 30; pad < 60; pad++ { // the token stands everywhere over the lines' ends
		whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("ab cd ", 20)[:pad-1] + " " + token + " and some text behind it that goes on, and on"))
		for _, width := range []int{64, 76} {
			var lines []string
			for rest := whole; rest != ""; {
				n := min(width, len(rest))
				lines, rest = append(lines, rest[:n]), rest[n:]
			}
			for name, text := range map[string]string{
				"plain":   strings.Join(lines, "\n") + "\n",
				"windows": strings.Join(lines, "\r\n") + "\r\n",
				"escaped": `{"k":"` + strings.Join(lines, `\n`) + `\n"}`,
				"yaml":    "tls.key: |\n    " + strings.Join(lines, "\n    ") + "\nkind: Secret\n",
				"diff":    "+" + strings.Join(lines, "\n+") + "\n",
				"mail":    "> " + strings.Join(lines, "\n> ") + "\n\n> bye\n",
				"read":    "     1→" + strings.Join(lines, "\n    12→") + "\n    13→end\n",
				"grep":    "conf/a.yaml:9:" + strings.Join(lines, "\nconf/a.yaml:10:") + "\n",
				"list":    `["` + strings.Join(lines, "\",\n \"") + `"]`,
				"text":    strings.Join(lines, "\n") + "\nwords\n",
			} {
				out, r := e.Text(text)
				if r.Clean() {
					t.Fatalf("%s at %d, %d wide: nothing was found in %q", name, pad, width, text)
				}
				onlyMasked(t, text, out)
				for i, line := range lines {
					if from, to := i*width*3/4, (i*width+len(line))*3/4; from < pad+len(token) && to > pad && len(line) > 8 && strings.Contains(out, line) {
						t.Fatalf("%s at %d, %d wide: %q with a part of the secret is still in %q", name, pad, width, line, out)
					}
				}
			}
		}
	}
}

func TestText_passwordsOfOtherScripts(t *testing.T) {
	e := engine()
	for _, password := range []string{"Grün3Äpfel!x9", "пароль42Секрет", "contraseñA9!", "日本語pass99", "Ünter$Wegs"} {
		for _, text := range []string{"DB_PASSWORD=" + password + "\n", `{"password":"` + password + `"}`, "password: " + password + "\n",
			"postgres://app:" + password + "@db.intern/x", "postgres://jürgen:" + password + "@db.intern/x",
			"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("app:"+password))} {
			out, r := e.Text(text)
			if r.Clean() || strings.Contains(out, password) {
				t.Errorf("%q became %q", text, out)
			}
			onlyMasked(t, text, out)
		}
	}
	for _, text := range []string{`{"password":"Passwort eingeben"}`, `{"password":"Пароль"}`, `{"password":"Contraseña"}`, "见 http://host:8080，请联系me@x.org", "https://例え.jp/ご案内：a@b.jp",
		"password: für alle", "DB_PASSWORD=\n"} {
		if out, r := e.Text(text); !r.Clean() {
			t.Errorf("%q became %q", text, out)
		}
	}
}

func TestJSON_bytesOutsideStay(t *testing.T) {
	token := "glpat-" + secrets.New(8).Of(secrets.Alnums, 20)
	in := "{ \"a\" :\t1.50E+2, \"b\":\"\\u00e9\\/x " + token + " \\u0041\", \"\\u0063\": [ null ,-0 ] , \"b\":\"twice\" }\n"
	want := strings.Replace(in, token, "[redacted:gitlab-token]", 1)
	if out, _, _ := engine().JSON([]byte(in), false); string(out) != want {
		t.Errorf("got  %q\nwant %q", out, want)
	}
}

// A value that its name gave away is a secret where it stands alone, too.
func TestJSON_repeatedSecrets(t *testing.T) {
	value := secrets.New(8).Of(secrets.Alnums, 18) + "4z"
	in := `{"originalFile":"password: ` + value + `\n","oldString":"` + value + `","b64":"` + "eA==" + `"}`
	out, r, _ := engine().JSON([]byte(in), false)
	if strings.Contains(string(out), value) || r.Masked != 2 {
		t.Errorf("got %q, %+v", out, r)
	}
}

func TestEngine_settings(t *testing.T) {
	d := secrets.New(8)
	token, other := "ghp_"+d.Of(secrets.Alnums, 36), "ACME-"+d.Of(secrets.Digits, 10)
	pattern := func(s string) (r redact.Rule) {
		r.ID = "acme-badge"
		if err := r.Pattern.UnmarshalText([]byte(s)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	allowed := func(s string) (a redact.Allowed) {
		if err := a.UnmarshalText([]byte(s)); err != nil {
			t.Fatal(err)
		}
		return a
	}
	text := "t " + token + " badge " + other + " end"
	for _, c := range []struct {
		name string
		cfg  redact.Config
		want string
	}{
		{"nothing said", redact.Config{}, "t [redacted:github-token] badge " + other + " end"},
		{"a rule is off", redact.Config{Off: []string{"github-token"}}, text},
		{"a value is allowed", redact.Config{Allow: []redact.Allowed{allowed(token)}}, text},
		{"an expression allows all of a value", redact.Config{Allow: []redact.Allowed{allowed("/ghp_.*/")}}, text},
		{"an expression that fits a part allows nothing", redact.Config{Allow: []redact.Allowed{allowed("/ghp_/")}}, "t [redacted:github-token] badge " + other + " end"},
		{"a rule of one's own", redact.Config{Rules: []redact.Rule{pattern(`ACME-\d{10}`)}}, "t [redacted:github-token] badge [redacted:acme-badge] end"},
		{"its group is the secret", redact.Config{Rules: []redact.Rule{pattern(`badge (\S+)`)}}, "t [redacted:github-token] badge [redacted:acme-badge] end"},
		{"one without a fixed text", redact.Config{Rules: []redact.Rule{pattern(`\b[A-Z]{4}-\d{10}\b`)}}, "t [redacted:github-token] badge [redacted:acme-badge] end"},
	} {
		if err := c.cfg.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, _ := redact.NewEngine(&c.cfg, nil).Text(text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, bad := range []redact.Rule{{}, {ID: "x"}, pattern("a*"), {ID: "github-token", Pattern: pattern("abc").Pattern}} {
		cfg := redact.Config{Rules: []redact.Rule{bad}}
		if cfg.Check() == nil {
			t.Errorf("rule %q with %q passed", bad.ID, bad.Pattern)
		}
	}
}

func TestParseRuleset_damage(t *testing.T) {
	data, err := redact.FormatRuleset("x@v1", redact.Set{Stop: []string{"sample"}, Rules: []redact.Foreign{
		{ID: "acme", Regex: `acme_(\w{12})`, Keywords: []string{"ACME_"}, Allow: []string{"^none$"}},
		{ID: "short", Regex: `q\w+`, Keywords: []string{"q"}}, {ID: "no keyword", Regex: `z+`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := redact.ParseRuleset(data, "x@v1")
	if err != nil || set.Len() != 1 {
		t.Fatalf("got %d rules, %v", set.Len(), err)
	}
	out, r := redact.NewEngine(&redact.Config{}, set).Text("acme_abcdef123456 acme_samplesample acme_a")
	if want := "acme_[redacted:acme] acme_samplesample acme_a"; out != want || r.Masked != 1 {
		t.Errorf("got %q, want %q", out, want)
	}
	for name, bad := range map[string][]byte{
		"another byte": bytes.Replace(data, []byte("{12}"), []byte("{13}"), 1), "cut": data[:len(data)-3], "empty": nil, "other text": []byte("hello\n"),
	} {
		if _, err := redact.ParseRuleset(bad, "x@v1"); err == nil {
			t.Errorf("%s: passed", name)
		}
	}
	if _, err := redact.ParseRuleset(data, "x@v2"); err == nil {
		t.Error("rules of another version passed")
	}
	if _, err := redact.FormatRuleset("x", redact.Set{Rules: []redact.Foreign{{ID: "bad", Regex: "(", Keywords: []string{"abc"}}}}); err == nil {
		t.Error("an expression that does not compile passed")
	}
}

func TestProve(t *testing.T) {
	rule := func(mask, keep []string) redact.Rule {
		r := redact.Rule{ID: "acme", Mask: mask, Keep: keep}
		if err := r.Pattern.UnmarshalText([]byte(`ACME-(\d{6})`)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		name string
		rule redact.Rule
		want []string
	}{
		{"both twins hold", rule([]string{"badge ACME-493812"}, []string{"badge ACME-1"}), nil},
		{"the first line and the last", rule([]string{"ACME-493812", "\nACME-493812"}, []string{""}), nil},
		{"no twins", rule(nil, nil), []string{"mask = […]", "keep = […]"}},
		{"a secret is not found", rule([]string{"ACME-49"}, []string{"x"}), []string{"mask 1"}},
		{"a clean text is found", rule([]string{"ACME-493812"}, []string{"x", "ACME-000001"}), []string{"keep 2"}},
	} {
		var got []string
		for _, p := range redact.Prove([]redact.Rule{c.rule}) {
			if p.Problem != "" {
				got = append(got, p.Case)
			}
		}
		if strings.Join(got, ",") != strings.Join(c.want, ",") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
