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

func program(t *testing.T, path string) install.Program {
	t.Helper()
	p, err := install.FindProgram("linux", func(string) string { return "" }, path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomHooks makes the groups of some events.
func randomHooks(r *rand.Rand) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for _, name := range []string{"Stop", "PreToolUse", "SessionEnd", "PermissionRequest", "OfTheFuture"} {
		if r.IntN(2) == 0 {
			continue
		}
		groups := []map[string]any{}
		for range r.IntN(3) {
			g := map[string]any{}
			if r.IntN(2) == 0 {
				g["matcher"] = "Bash|apply_patch"
			}
			var hooks []any
			for range 1 + r.IntN(2) {
				h := map[string]any{"type": "command", "command": fmt.Sprintf("tool-%d --x \"<&>\" ü", r.IntN(1000))}
				if r.IntN(2) == 0 {
					h["timeout"] = 5
				}
				hooks = append(hooks, h)
			}
			g["hooks"] = hooks
			groups = append(groups, g)
		}
		out[name] = groups
	}
	return out
}

// randomJSON makes a hooks.json the way people and tools leave them.
func randomJSON(r *rand.Rand) string {
	doc := map[string]any{"hooks": randomHooks(r)}
	if r.IntN(3) == 0 {
		doc["description"] = "text // not a comment"
	}
	var text []byte
	if indent := []string{"", "  ", "\t", "one line"}[r.IntN(4)]; indent == "one line" {
		text, _ = json.Marshal(doc)
	} else {
		text, _ = json.MarshalIndent(doc, "", indent)
	}
	return layout(r, string(text))
}

// randomTOML makes a config.toml with hooks in it.
func randomTOML(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("# my Codex\nmodel = \"gpt\" # the good one\n")
	if r.IntN(2) == 0 {
		b.WriteString("\n[features]\nweb = true\n")
	}
	hooks := randomHooks(r)
	var names []string
	for name := range hooks {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, g := range hooks[name] {
			fmt.Fprintf(&b, "\n[[hooks.%s]]\n", name)
			if m, ok := g["matcher"]; ok {
				fmt.Fprintf(&b, "matcher = %q\n", m)
			}
			for _, h := range g["hooks"].([]any) {
				fmt.Fprintf(&b, "[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = '%s' # mine\n", name, h.(map[string]any)["command"])
			}
		}
	}
	if r.IntN(2) == 0 {
		b.WriteString("\n[projects.\"/home/dev/x\"]\ntrust_level = \"trusted\"\n")
	}
	if r.IntN(2) == 0 {
		b.WriteString("\n[hooks.state.\"/home/dev/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n")
	}
	return layout(r, strings.TrimSuffix(b.String(), "\n"))
}

func layout(r *rand.Rand, text string) string {
	text += []string{"", "\n", "\n\n"}[r.IntN(3)]
	if r.IntN(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if r.IntN(6) == 0 {
		text = "\xef\xbb\xbf" + text
	}
	return text
}

// foreign lists every foreign handler with its position, which is what the
// client's trust hangs on.
func foreign(src source) []string {
	var out []string
	for _, name := range src.events() {
		for g, group := range src.groups(name) {
			for i, h := range group.Hooks {
				if !h.ours() {
					out = append(out, fmt.Sprintf("%s:%d:%d %s", name, g, i, h.Command))
				}
			}
		}
	}
	return out
}

func checkLaws(t *testing.T, path string, before []byte) {
	t.Helper()
	s := New("linux", func(string) string { return "" }, "/home/dev")
	if path == "toml" {
		path = s.Config
	} else {
		path = s.JSON
	}
	p := program(t, "/opt/it's here/lidguard")
	start, err := s.parse(path, before)
	if err != nil || len(ours(start)) > 0 || hasBare(start) {
		return
	}
	installed, err := s.install(path, p)(before, nil)
	if err != nil {
		if _, ok := err.(*confedit.SyntaxError); ok {
			return // refused with its place, e.g. hooks written as an inline table
		}
		t.Fatalf("installing in %q: %v", before, err)
	}
	d, err := s.parse(path, installed.Text)
	if err != nil {
		t.Fatalf("%q became %q: %v", before, installed.Text, err)
	}
	for _, h := range Hooks() {
		have := places(d, string(h.Event))
		if len(have) != 1 || have[0].group != len(d.groups(string(h.Event)))-1 {
			t.Fatalf("%q: our group of %s is not the last: %+v", before, h.Event, have)
		}
	}
	if a, b := foreign(start), foreign(d); !slices.Equal(a, b) {
		t.Fatalf("installing moved foreign hooks from %v to %v", a, b)
	}
	again, err := s.install(path, p)(installed.Text, nil)
	if err != nil || !bytes.Equal(again.Text, installed.Text) {
		t.Fatalf("a second installation changes %q to %q (%v)", installed.Text, again.Text, err)
	}
	removed, err := s.remove(path, nil, nil)(installed.Text, installed.Created)
	if err != nil || !bytes.Equal(removed.Text, before) {
		t.Fatalf("removal leaves a difference (%v):\n%s", err, confedit.Diff(before, removed.Text, "file"))
	}
}

func hasBare(src source) bool {
	for _, name := range src.events() {
		for _, g := range src.groups(name) {
			if g.bare {
				return true
			}
		}
	}
	return false
}

func TestLaw_removeUndoesInstall(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		checkLaws(t, "json", []byte(randomJSON(rand.New(rand.NewPCG(seed, 7)))))
		checkLaws(t, "toml", []byte(randomTOML(rand.New(rand.NewPCG(seed, 8)))))
	}
}

// TestLaw_foreignHooksNeverMove: whatever foreign groups come behind ours, taking
// ours out leaves every foreign position, and putting them in again as well.
func TestLaw_foreignHooksNeverMove(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := New("linux", func(string) string { return "" }, "/home/dev")
		for _, path := range []string{s.JSON, s.Config} {
			text := randomJSON(r)
			if path == s.Config {
				text = randomTOML(r)
			}
			p := program(t, "/opt/lidguard")
			draft, err := s.install(path, p)([]byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			src, err := s.parse(path, draft.Text)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"Stop", "PreToolUse"} {
				if err := src.add(name, handler{"command", "later " + name, 5}); err != nil {
					t.Fatal(err)
				}
			}
			before := foreign(src)
			removed, err := s.remove(path, nil, nil)(src.draft().Text, draft.Created)
			if err != nil {
				t.Fatal(err)
			}
			after, err := s.parse(path, removed.Text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before, foreign(after)) || len(ours(after)) > 0 {
				t.Fatalf("seed %d: removal moved foreign hooks:\n%v\n%v", seed, before, foreign(after))
			}
			again, err := s.install(path, p)(removed.Text, nil)
			if err != nil {
				t.Fatal(err)
			}
			back, err := s.parse(path, again.Text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before, foreign(back)) {
				t.Fatalf("seed %d: installing again moved foreign hooks:\n%v\n%v", seed, before, foreign(back))
			}
		}
	}
}

func FuzzLawsJSON(f *testing.F) {
	f.Add([]byte(`{"hooks": {"Stop": [{"hooks": []}, {}], "x": []}}`))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, data []byte) { checkLaws(t, "json", data) })
}

func FuzzLawsTOML(f *testing.F) {
	f.Add([]byte("[hooks]\nStop = [{hooks = []}]\n"))
	f.Add([]byte("hooks.Stop = []"))
	f.Add([]byte("[[hooks.Stop]]\nmatcher = \"x\"\n[[hooks.Stop.hooks]]\ntype = \"command\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkLaws(t, "toml", data) })
}
