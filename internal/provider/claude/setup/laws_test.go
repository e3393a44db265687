package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// RandomSettings makes a settings file the way people, editors and tools leave them.
func RandomSettings(r *rand.Rand) string {
	foreign := func() string {
		return fmt.Sprintf(`{"type": "command", "command": "tool-%d --x \"<&>\" ü"%s}`, r.IntN(1000),
			pick(r, "", `, "timeout": 5`, `, "timeout": 0.5, "async": true`, `, "if": "Bash(git *)"`))
	}
	group := func() string {
		var hooks []string
		for range 1 + r.IntN(3) {
			hooks = append(hooks, foreign())
		}
		return `{` + pick(r, "", `"matcher": "Bash|Write", `, `"matcher": "", `) + `"hooks": [` + strings.Join(hooks, ", ") + `]}`
	}
	var members []string
	for i := range r.IntN(4) {
		members = append(members, fmt.Sprintf(`"key%d": %s`, i, pick(r, `true`, `"text // not a comment"`, `{"a": [1, 2.50, null]}`, `[]`, `1e3`)))
	}
	if r.IntN(4) > 0 {
		var events []string
		for _, name := range []string{"Stop", "PreToolUse", "SessionEnd", "MessageDisplay", "OfTheFuture", "Notification"} {
			if r.IntN(2) == 0 {
				var groups []string
				for range r.IntN(3) {
					groups = append(groups, group())
				}
				events = append(events, fmt.Sprintf("%q: [%s]", name, strings.Join(groups, ", ")))
			}
		}
		members = append(members, `"hooks": {`+strings.Join(events, ", ")+`}`)
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := "{" + strings.Join(members, ", ") + "}"
	if indent := pick(r, "", "  ", "\t", "    ", "one line"); indent != "one line" {
		var b strings.Builder
		enc := json.RawMessage(text)
		out, err := json.MarshalIndent(enc, "", indent)
		if err != nil {
			panic(err)
		}
		b.Write(out)
		text = b.String()
	}
	text += pick(r, "", "\n", "\n\n", " ")
	if r.IntN(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if r.IntN(6) == 0 {
		text = "\xef\xbb\xbf" + text
	}
	return text
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// checkLaws holds, for one settings file, what the installer promises, with the entry
// of checks and without.
func checkLaws(t *testing.T, before []byte) {
	checkLawsOf(t, before, false)
	checkLawsOf(t, before, true)
}

func checkLawsOf(t *testing.T, before []byte, wake bool) {
	t.Helper()
	home := "/home/dev"
	s := New("linux", func(string) string { return "" }, home)
	p, err := install.FindProgram("linux", func(string) string { return "" }, "/opt/it's here/lidguard")
	if err != nil {
		t.Fatal(err)
	}
	start, err := read(before)
	if err != nil {
		return // refused: nothing is written, so there is nothing to hold
	}
	if len(start.others(nil)) > 0 {
		return // not a file from before an installation
	}
	s.wake = wake
	installed, err := s.install(p)(before, nil)
	if err != nil {
		t.Fatalf("installing in %q: %v", before, err)
	}
	d, err := read(installed.Text)
	if err != nil {
		t.Fatalf("%q became %q: %v", before, installed.Text, err)
	}
	entries := s.entries(p, d)
	if slices.ContainsFunc(entries, func(e entry) bool { return e.name == WakeEntry }) != wake || len(entries) < len(Hooks()) {
		t.Fatalf("%q: %d entries, of checks: %v", before, len(entries), wake)
	}
	for _, e := range entries {
		if got := d.status(e); got.State != install.Installed {
			t.Fatalf("%q: %s of %s is %s (%s)", before, e.name, e.event, got.State, got.Detail)
		}
	}
	again, err := s.install(p)(installed.Text, nil)
	if err != nil || !bytes.Equal(again.Text, installed.Text) {
		t.Fatalf("a second installation changes %q to %q (%v)", installed.Text, again.Text, err)
	}
	removed, err := remove(installed.Text, installed.Created)
	if err != nil || !bytes.Equal(removed.Text, before) {
		t.Fatalf("removal leaves a difference (%v):\n%s", err, confedit.Diff(before, removed.Text, "settings"))
	}
	if !wake {
		return
	}
	plain, err := Setup{goos: s.goos}.install(p)(installed.Text, nil)
	if err != nil || !bytes.Equal(plain.Text, installed.Text) {
		t.Fatalf("an installation that knows nothing of checks changes %q to %q (%v)", installed.Text, plain.Text, err)
	}
	without, err := Setup{goos: s.goos}.Listen(nil).install(p)(installed.Text, nil)
	first, err2 := Setup{goos: s.goos}.install(p)(before, nil)
	if err != nil || err2 != nil || !bytes.Equal(without.Text, first.Text) {
		t.Fatalf("without checks (%v, %v):\n%s", err, err2, confedit.Diff(first.Text, without.Text, "settings"))
	}
}

func TestLaw_removeUndoesInstall(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		// The entry of checks is one of 22, so a quarter of them will do for it.
		checkLawsOf(t, []byte(RandomSettings(rand.New(rand.NewPCG(seed, 7)))), seed%4 == 0)
	}
}

func FuzzLaws(f *testing.F) {
	f.Add([]byte(`{"hooks": {"Stop": [{"hooks": []}, {}, 3], "x": []}}`))
	f.Add([]byte("{ \"hooks\" : { } }\r\n"))
	f.Add([]byte(""))
	f.Add([]byte(`{"hooks": {"Stop": [], "Stop": [{"hooks": [{"type": "command", "timeout": "x"}]}]}}`))
	f.Fuzz(checkLaws)
}
