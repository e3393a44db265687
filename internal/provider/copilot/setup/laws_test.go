package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// randomFile makes a hook file the way people, editors and tools leave them.
func randomFile(r *rand.Rand) string {
	entry := func() string {
		one := fmt.Sprintf(`{"type": "command", %q: "tool-%d --x \"<&>\" ü"%s}`, pick(r, "bash", "command", "powershell"), r.IntN(1000),
			pick(r, "", `, "timeoutSec": 5`, `, "matcher": "bash|edit"`, `, "cwd": ".", "env": {"A": "1"}`))
		if r.IntN(4) == 0 {
			return `{"matcher": "Bash", "hooks": [` + one + `]}`
		}
		return one
	}
	var members []string
	if r.IntN(4) > 0 {
		members = append(members, `"version": 1`)
	}
	for i := range r.IntN(3) {
		members = append(members, fmt.Sprintf(`"key%d": %s`, i, pick(r, `true`, `"text // not a comment"`, `{"a": [1, 2.50, null]}`, `[]`, `1e3`)))
	}
	if r.IntN(4) > 0 {
		var events []string
		for _, name := range []string{"agentStop", "preToolUse", "sessionEnd", "permissionRequest", "OfTheFuture", "Stop", "notification"} {
			if r.IntN(2) == 0 {
				var list []string
				for range r.IntN(3) {
					list = append(list, entry())
				}
				events = append(events, fmt.Sprintf("%q: [%s]", name, strings.Join(list, ", ")))
			}
		}
		members = append(members, `"hooks": {`+strings.Join(events, ", ")+`}`)
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := "{" + strings.Join(members, ", ") + "}"
	if indent := pick(r, "", "  ", "\t", "one line"); indent != "one line" {
		out, err := json.MarshalIndent(json.RawMessage(text), "", indent)
		if err != nil {
			panic(err)
		}
		text = string(out)
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

// checkLaws holds, for one file of our name, what the installer promises.
func checkLaws(t *testing.T, before []byte) {
	t.Helper()
	none := func(string) string { return "" }
	s := New("linux", none, "/home/dev", "")
	p, err := install.FindProgram("linux", none, "/opt/it's here/lidguard")
	if err != nil {
		t.Fatal(err)
	}
	start, err := read(before, confedit.Strict)
	if err != nil || len(start.ours()) > 0 {
		return // refused, or not a file from before us
	}
	installed, err := s.install(p)(before, nil)
	if err != nil {
		t.Fatalf("installing in %q: %v", before, err)
	}
	d, err := read(installed.Text, confedit.Strict)
	if err != nil {
		t.Fatalf("%q became %q: %v", before, installed.Text, err)
	}
	for _, h := range Hooks() {
		if got := d.status(h.Event, s.handler(p, h)); got.State != install.Installed {
			t.Fatalf("%q: %s is %s (%s)", before, h.Event, got.State, got.Detail)
		}
		if len(d.places(h.Event)) != 1 {
			t.Fatalf("%q: %s has %d entries of ours", before, h.Event, len(d.places(h.Event)))
		}
	}
	again, err := s.install(p)(installed.Text, nil)
	if err != nil || !bytes.Equal(again.Text, installed.Text) {
		t.Fatalf("a second installation changes %q to %q (%v)", installed.Text, again.Text, err)
	}
	removed, err := s.remove(s.File)(installed.Text, installed.Created)
	if err != nil || !bytes.Equal(removed.Text, before) && !(isBlank(before) && isBlank(removed.Text)) {
		t.Fatalf("removal leaves a difference (%v):\n%s", err, confedit.Diff(before, removed.Text, "file"))
	}
	nothing, err := s.remove(s.File)(before, nil)
	if err != nil || nothing.Delete || !bytes.Equal(nothing.Text, before) {
		t.Fatalf("removing where nothing is ours changes %q to %q (%v)", before, nothing.Text, err)
	}
	lost, err := s.remove(s.File)(installed.Text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := read(lost.Text, confedit.Strict); !lost.Delete && (err != nil || len(left.ours()) > 0) {
		t.Fatalf("removal without a record leaves %q (%v)", lost.Text, err)
	}
}

func TestLaw_removeUndoesInstall(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		checkLaws(t, []byte(randomFile(rand.New(rand.NewPCG(seed, 3)))))
	}
	for _, text := range []string{"", "\n", "{}", "{ }\n", `{"version":1}`, `{"version":1,"hooks":{}}`} {
		checkLaws(t, []byte(text))
	}
}

// TestLaw_othersSurvive: what somebody adds after the installation is there after
// the removal, and the rest of the file means what it meant.
func TestLaw_othersSurvive(t *testing.T) {
	t.Parallel()
	s := New("linux", func(string) string { return "" }, "/home/dev", "")
	p, err := install.FindProgram("linux", func(string) string { return "" }, "/opt/lidguard")
	if err != nil {
		t.Fatal(err)
	}
	value := func(text []byte) map[string]any {
		var v map[string]any
		if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for seed := range uint64(100) {
		before := []byte(randomFile(rand.New(rand.NewPCG(seed, 4))))
		installed, err := s.install(p)(before, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := read(installed.Text, confedit.Strict)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.doc.Set(confedit.Path{"added by somebody"}, seed); err != nil {
			t.Fatal(err)
		}
		removed, err := s.remove(s.File)(d.doc.Bytes(), installed.Created)
		if err != nil || removed.Delete {
			t.Fatalf("seed %d: %v, deleted %v", seed, err, removed.Delete)
		}
		got := value(removed.Text)
		if got["added by somebody"] != float64(seed) {
			t.Fatalf("seed %d: somebody's key is gone", seed)
		}
		delete(got, "added by somebody")
		if diff := cmp.Diff(value(before), got); diff != "" {
			t.Fatalf("seed %d: the rest changed its meaning: %s", seed, diff)
		}
	}
}

func FuzzLaws(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(`{"version": 1, "hooks": {"agentStop": [{"hooks": []}, {}, 1]}}`))
	for seed := range uint64(8) {
		f.Add([]byte(randomFile(rand.New(rand.NewPCG(seed, 5)))))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkLaws(t, data) })
}
