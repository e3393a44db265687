package settings_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/settings"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestSet_bounds tries both sides of every bound of every setting.
func TestSet_bounds(t *testing.T) {
	long := strings.Repeat("x", 201)
	cases := map[string][]struct{ in, want string }{ // want "" means refused
		"prevent-system-sleep": {{"off", "off"}, {"ON", "on"}, {"strict", "strict"}, {"true", "on"}, {"no", "off"}, {"1", "on"},
			{"", ""}, {"maybe", ""}, {"2", ""}},
		"prevent-display-sleep":   {{"true", "true"}, {"Yes", "true"}, {"on", "true"}, {"1", "true"}, {"false", "false"}, {"no", "false"}, {"OFF", "false"}, {"0", "false"}, {"", ""}, {"2", ""}, {"strict", ""}},
		"prevent-away-mode-sleep": {{"off", "false"}, {"nope", ""}},
		"change-lid-action":       {{"off", "false"}, {"-1", ""}},
		"watch-parent-process":    {{"no", "false"}, {"n", ""}},
		"power-request-reason":    {{"a reason", "a reason"}, {long[:200], long[:200]}, {long, ""}, {"", ""}, {"two\nlines", ""}, {"\x1b[31m", ""}, {"\xff", ""}},
		"post-stop-suspend-delay-seconds": {{"0", "0"}, {"10", "10"}, {"31536000", "31536000"}, {"31536001", ""}, {"-1", ""}, {"off", ""},
			{"1.5", ""}, {"", ""}, {"99999999999999999999", ""}, {"ten", ""}},
		"suspend-mode":            {{"sleep", "sleep"}, {"Hibernate", "hibernate"}, {"none", "none"}, {"off", ""}, {"", ""}},
		"post-stop-suspend-sound": {{"off", "off"}, {"beep", "Beep"}, {"Question", "Question"}, {"/s/warn.wav", "/s/warn.wav"}, {`C:\s\Warn.WAV`, `C:\s\Warn.WAV`}, {".wav", ""}, {"warn.mp3", ""}, {"on", ""}, {"a\n.wav", ""}},
		"post-stop-suspend-sound-volume-override-percent":   {{"off", "off"}, {"1", "1"}, {"100", "100"}, {"0", ""}, {"101", ""}},
		"suspend-history-count":                             {{"OFF", "off"}, {"1", "1"}, {"10000", "10000"}, {"10001", ""}, {"0", ""}},
		"session-timeout-minutes":                           {{"off", "off"}, {"1", "1"}, {"525600", "525600"}, {"525601", ""}, {"0", ""}, {"-5", ""}},
		"soft-lock-grace-seconds":                           {{"0", "0"}, {"180", "180"}, {"-1", ""}, {"off", ""}},
		"max-tool-minutes":                                  {{"off", "off"}, {"1", "1"}, {"0", ""}},
		"max-background-minutes":                            {{"off", "off"}, {"1", "1"}, {"0", ""}},
		"server-runtime-cleanup-delay-minutes":              {{"off", "off"}, {"0", "0"}, {"10", "10"}, {"-1", ""}},
		"prompt-previews":                                   {{"off", "false"}, {"x", ""}},
		"closed-lid-permission-request-decision":            {{"deny", "deny"}, {"allow", "allow"}, {"Ask", "ask"}, {"Phone", "phone"}, {"off", ""}},
		"closed-lid-interrupt":                              {{"on", "true"}, {"?", ""}},
		"closed-lid-copilot-strict":                         {{"on", "true"}, {"?", ""}},
		"pre-suspend-webhook-url":                           {{"off", "off"}, {"http://127.0.0.1:9/x?a=1&b=2", "http://127.0.0.1:9/x?a=1&b=2"}, {"https://h.example/", "https://h.example/"}, {"ftp://h/", ""}, {"h.example", ""}, {"https://", ""}, {"https:///x", ""}, {"", ""}, {"http://a b/", ""}, {"https://" + strings.Repeat("h", 2048), ""}},
		"post-session-end-webhook-url":                      {{"off", "off"}, {"HTTPS://h/", "HTTPS://h/"}, {"javascript:alert(1)", ""}},
		"emergency-hibernation-on-high-temperature":         {{"off", "false"}, {"93", ""}},
		"emergency-hibernation-on-high-temperature-mode":    {{"low", "low"}, {"average", "average"}, {"HIGH", "high"}, {"max", ""}},
		"emergency-hibernation-on-high-temperature-celsius": {{"70", "70"}, {"110", "110"}, {"69", "70"}, {"111", "110"}, {"-40", "70"}, {"99999999999999999999", "110"}, {"off", ""}, {"93.5", ""}},
		"battery-floor-percent":                             {{"off", "off"}, {"1", "1"}, {"90", "90"}, {"0", ""}, {"91", ""}, {"10%", ""}},
		"protect-on-battery":                                {{"no", "false"}, {"never", ""}},
		"reachable-minutes":                                 {{"off", "off"}, {"1", "1"}, {"1440", "1440"}, {"0", ""}, {"1441", ""}},
		"reachable-on-battery":                              {{"on", "true"}, {"2", ""}},
		"count-remote-logins":                               {{"on", "true"}, {"ssh", ""}},
		"wake-after-limit":                                  {{"on", "true"}, {"", ""}},
		"phone-wait-seconds":                                {{"10", "10"}, {"540", "540"}, {"9", ""}, {"541", ""}, {"off", ""}},
		"network-lost-minutes":                              {{"off", "off"}, {"1", "1"}, {"1440", "1440"}, {"0", ""}, {"1441", ""}},
		"network-lost-release":                              {{"on", "true"}, {"?", ""}},
		"phone-url": {{"off", "off"}, {"https://ntfy.sh/lidguard-0123456", "https://ntfy.sh/lidguard-0123456"}, {"https://:tk_x@n.example:8443/base/ABCDEFGH_-012345", "https://:tk_x@n.example:8443/base/ABCDEFGH_-012345"},
			{"http://127.0.0.1:8080/0123456789abcdef", "http://127.0.0.1:8080/0123456789abcdef"}, {"http://localhost/0123456789abcdef", "http://localhost/0123456789abcdef"},
			{"http://ntfy.sh/lidguard-0123456", ""}, {"http://127.example.org/0123456789abcdef", ""}, {"https://ntfy.sh", ""}, {"https://ntfy.sh/", ""}, {"https://ntfy.sh/lidguard", ""}, {"https://ntfy.sh/lidguard-012345678/", ""},
			{"https://ntfy.sh/lidguard-0123456?x=1", ""}, {"https://ntfy.sh/lidguard-0123456#x", ""}, {"https://ntfy.sh/lidguard%2F0123456789", ""}, {"https://ntfy.sh/" + strings.Repeat("x", 58), ""}, {"https://ntfy.sh/лидгард-0123456789", ""}, {"ftp://ntfy.sh/lidguard-0123456", ""}, {"", ""}},
	}
	for _, k := range settings.Keys() {
		if len(cases[k.Name]) == 0 {
			t.Errorf("no bounds tried for %s", k.Name)
		}
		for _, c := range cases[k.Name] {
			s := settings.Default()
			err := settings.Set(&s, k.Name, c.in)
			got, _ := s.Get(k.Name)
			if c.want == "" {
				var e *settings.Error
				if !errors.As(err, &e) || e.Key != k.Name || e.Value != c.in || e.Allowed == "" {
					t.Errorf("%s=%q: error %v, want one that names key, value and range", k.Name, c.in, err)
				}
				if s != settings.Default() {
					t.Errorf("%s=%q was refused, yet the settings changed", k.Name, c.in)
				}
				continue
			}
			if err != nil || got != c.want {
				t.Errorf("%s=%q gives %q (%v), want %q", k.Name, c.in, got, err, c.want)
			}
			// What Get gives, Set takes, and means the same.
			again := settings.Default()
			if err := settings.Set(&again, k.Name, got); err != nil || again != s {
				t.Errorf("%s=%q does not come back from %q: %v", k.Name, c.in, got, err)
			}
		}
	}
	for name := range cases {
		if _, ok := settings.Lookup(name); !ok {
			t.Errorf("there is no setting %s", name)
		}
	}
}

func TestKeys_eachHasItsOwnField(t *testing.T) {
	// A copied table row that points at its neighbour's field would show as
	// two names changing at once.
	other := map[settings.Kind][]string{settings.Bool: {"true", "false"}, settings.Number: {"71", "72"},
		settings.Choice: nil, settings.Text: {"x", "y"}, settings.URL: {"http://x/", "http://y/"}, settings.Sound: {"Beep", "Hand"},
		settings.Topic: {"https://x/0123456789abcdef", "https://y/0123456789abcdef"}}
	for _, k := range settings.Keys() {
		values := other[k.Kind]
		if values == nil {
			values = k.Choices
		}
		for _, v := range values {
			if v == k.Default() {
				continue
			}
			s := settings.Default()
			if err := settings.Set(&s, k.Name, v); err != nil {
				t.Fatal(err)
			}
			for _, o := range settings.Keys() {
				if changed := o.Value(s) != o.Default(); changed != (o.Name == k.Name) {
					t.Errorf("after %s=%s, %s is %s (default %s)", k.Name, v, o.Name, o.Value(s), o.Default())
				}
			}
		}
	}
}

func TestParse_errorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a comment", "{\n  // no\n}", `s.json:2:3: not valid JSON: invalid character '/' looking for beginning of object key string`},
		{"a trailing comma", `{"prompt-previews": true,}`, `s.json:1:26: not valid JSON: invalid character '}' looking for beginning of object key string`},
		{"cut off", `{"prompt-previews": true`, `s.json:1:24: not valid JSON: unexpected end of JSON input`},
		{"text behind the end", "{}\n{}", `s.json:2:1: not valid JSON: invalid character '{' after top-level value`},
		{"a list", "[]", `s.json:1:1: not a JSON object`},
		{"a value of the wrong size", "{\n  \"battery-floor-percent\": 95\n}", `s.json:2:28: battery-floor-percent cannot be "95": allowed is off, or a whole number from 1 to 90`},
		{"a value of the wrong type", "\xef\xbb\xbf{\"suspend-mode\": [\"sleep\"]}", `s.json:1:21: suspend-mode cannot be "[\"sleep\"]": allowed is sleep, hibernate, none`},
		{"null", `{"prompt-previews": null}`, `s.json:1:21: prompt-previews cannot be "null": allowed is true or false (also yes, no, on, off, 1, 0)`},
		{"the same key twice", "{\"x\":1,\n \"x\":2}", `s.json:2:2: x is there twice`},
	} {
		s, err := settings.Parse("s.json", []byte(c.in))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got  %v\nwant %s", c.name, err, c.want)
		}
		if s != settings.Default() {
			t.Errorf("%s: settings are not the defaults", c.name)
		}
	}
}

func TestParse_forms(t *testing.T) {
	want := settings.Default()
	want.PromptPreviews, want.SessionTimeoutMinutes, want.BatteryFloorPercent, want.RuntimeCleanupDelayMinutes = false, 20, 0, -1
	for _, in := range []string{
		`{"prompt-previews": false, "session-timeout-minutes": 20, "battery-floor-percent": "off", "server-runtime-cleanup-delay-minutes": "off"}`,
		`{"prompt-previews": "no", "session-timeout-minutes": "20", "battery-floor-percent": "OFF", "server-runtime-cleanup-delay-minutes": "Off"}`,
		`{"prompt-previews": 0, "session-timeout-minutes": 20, "battery-floor-percent": "off", "server-runtime-cleanup-delay-minutes": "off", "of another version": {"a": [1]}}`,
	} {
		got, err := settings.Parse("s.json", []byte(in))
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s", in, err, cmp.Diff(want, got))
		}
	}
	for _, in := range []string{"", " \n", "\xef\xbb\xbf", "{}"} {
		if got, err := settings.Parse("s.json", []byte(in)); err != nil || got != settings.Default() {
			t.Errorf("%q: %v, want the defaults", in, err)
		}
	}
}

func TestLoad_missingFileGivesDefaults(t *testing.T) {
	got, err := settings.Load(filepath.Join(t.TempDir(), "none", "settings.json"))
	if err != nil || got != settings.Default() {
		t.Fatalf("Load of nothing: %v %v", got, err)
	}
}

func TestLoad_unreadable(t *testing.T) {
	dir := t.TempDir()
	if _, err := settings.Load(dir); err == nil || !strings.Contains(err.Error(), "reading settings") {
		t.Errorf("Load of a folder: %v", err)
	}
	big := filepath.Join(dir, "big.json")
	if err := os.WriteFile(big, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Load(big); err == nil || !strings.Contains(err.Error(), "no settings file") {
		t.Errorf("Load of a huge file: %v", err)
	}
}

func TestUpdate_keepsOrderAndUnknownKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(`{"future": {"a": 1, "b": [2]}, "suspend-mode":"none","zeta":null}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := settings.Update(path, []settings.Change{{"session-timeout-minutes", "20"}, {"suspend-mode", "Hibernate"}, {"battery-floor-percent", "off"}, {"prompt-previews", "no"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "future": {
    "a": 1,
    "b": [
      2
    ]
  },
  "suspend-mode": "hibernate",
  "zeta": null,
  "session-timeout-minutes": 20,
  "battery-floor-percent": "off",
  "prompt-previews": false
}
`
	got, _ := os.ReadFile(path)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	f, err := settings.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"future", "zeta"}, f.Unknown()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"suspend-mode", "session-timeout-minutes", "battery-floor-percent", "prompt-previews"}, f.Explicit()); diff != "" {
		t.Error(diff)
	}
}

func TestUpdate_allOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	before := []byte(`{ "suspend-mode": "none" }`)
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []settings.Change{{"battery-floor-percent", "95"}, {"no-such", "1"}} {
		if _, err := settings.Update(path, []settings.Change{{"prompt-previews", "off"}, bad}); err == nil {
			t.Errorf("%v was accepted", bad)
		}
		if got, _ := os.ReadFile(path); string(got) != string(before) {
			t.Errorf("after refusing %v the file is %q", bad, got)
		}
	}
	if err := os.WriteFile(path, []byte("{ // mine\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Update(path, []settings.Change{{"prompt-previews", "off"}}); err == nil {
		t.Error("a broken file was overwritten")
	}
	if got, _ := os.ReadFile(path); string(got) != "{ // mine\n}" {
		t.Errorf("a broken file became %q", got)
	}
}

func TestUpdate_twoAtOnceLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "settings.json")
	var wg sync.WaitGroup
	for _, k := range settings.Keys() {
		if k.Kind != settings.Bool {
			continue
		}
		wg.Go(func() {
			flipped := map[string]string{"true": "false", "false": "true"}[k.Default()]
			if _, err := settings.Update(path, []settings.Change{{k.Name, flipped}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := settings.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range settings.Keys() {
		if k.Kind == settings.Bool && k.Value(got) == k.Default() {
			t.Errorf("the change of %s got lost", k.Name)
		}
	}
}

func TestUpdate_symlinkStays(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "settings.json")
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Update(link, []settings.Change{{"prompt-previews", "off"}}); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", fi, err)
	}
	if s, err := settings.Load(real); err != nil || s.PromptPreviews {
		t.Errorf("the target was not written: %v", err)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"sesion-timeout-minutes", "session-timeout-minutes"},
		{"session-timeout", "session-timeout-minutes"},
		{"suspend_mode", "suspend-mode"},
		{"volume-override-percent", "post-stop-suspend-sound-volume-override-percent"},
		{"colour", ""},
		{"", ""},
	} {
		if got := settings.Nearest(c.in); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	err := settings.Set(new(settings.Settings), "battery-floor", "1")
	if want := `no setting "battery-floor", did you mean "battery-floor-percent"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestMarshalJSON pins the shape that scripts and MCP clients read.
func TestMarshalJSON(t *testing.T) {
	s := settings.Default()
	s.PreSuspendWebhookURL = "https://h.example/?a=1&b=<2>"
	got, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden := filepath.Join("testdata", "defaults.json")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
	back, err := settings.Parse("out", got)
	if err != nil || back != s {
		t.Errorf("the output is no settings file: %v", err)
	}
}

// FuzzParse holds the laws of loading and saving: what loads, saves; what was
// saved loads to the same settings and keys; saving again changes no byte.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"future": {"a": 1}, "suspend-mode": "none", "battery-floor-percent": "off"}`))
	f.Add([]byte("\xef\xbb\xbf{\"prompt-previews\": 0}"))
	f.Add([]byte(`{"power-request-reason": "ü\u2028 <>"}`))
	f.Add([]byte(`{"emergency-hibernation-on-high-temperature-celsius": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := settings.Open(path)
		if err != nil {
			var e *settings.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 {
				t.Fatalf("%q: error without a place: %v", data, err)
			}
			return
		}
		if err := file.Set("session-timeout-minutes", "77"); err != nil {
			t.Fatal(err)
		}
		saved := file.Bytes()
		// What Save writes, without its fsync, which would leave no time to fuzz.
		if err := os.WriteFile(path, saved, 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := settings.Open(path)
		if err != nil {
			t.Fatalf("%q was saved as %q, which does not load: %v", data, saved, err)
		}
		if again.Settings() != file.Settings() {
			t.Fatalf("%q: settings changed by saving: %s", data, cmp.Diff(file.Settings(), again.Settings()))
		}
		if diff := cmp.Diff(file.Unknown(), again.Unknown()); diff != "" {
			t.Fatalf("%q: keys changed by saving: %s", data, diff)
		}
		if string(again.Bytes()) != string(saved) {
			t.Fatalf("%q: saving again changes %q to %q", data, saved, again.Bytes())
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "settings.json")
	data, _ := json.MarshalIndent(settings.Default(), "", "  ")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := settings.Load(path); err != nil {
			b.Fatal(err)
		}
	}
}
