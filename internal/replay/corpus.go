package replay

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/gate/testdata"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// The corpora that come with lidguard: a folder for each pack. corpus/README.md
// tells their form, which is the same for anybody's.
//
//go:embed corpus
var ownCorpora embed.FS

// Suite is a rulebook and the trials that prove it.
type Suite struct {
	Name  string
	Rules []byte          // rules.toml; nil: none
	Packs []byte          // packs.json; nil: none
	Books []rulebook.File // that Rules includes
	Files fs.FS           // put into the project; nil: none
	// path is PATH on the stage; "" is the person's. What comes with lidguard is
	// the same on everybody's machine.
	path  string
	build func(*Stage, []event.Provider) ([]Trial, error)
}

// Trial is one case with what is expected of it.
type Trial struct {
	Rule, Name, Kind string
	Danger           bool // else it is somebody's benign twin
	Case             Case
	// Want lists what may come of it: none, deny, ask, allow, context, rewrite,
	// ends. Like is a payload whose outcome is expected instead.
	Want []string
	Like []byte
	// Says must be in what the model or the person reads, Hides must be nowhere in
	// the answer.
	Says, Hides string
	// Quiet wants nothing on stdout and exit code 0 as well.
	Quiet bool
}

// pair is how a case file spells trials.
type pair struct {
	Rule      string   `toml:"rule" json:"rule"`
	About     string   `toml:"about" json:"about"` // for readers of the file
	Kind      string   `toml:"kind" json:"kind"`
	Event     string   `toml:"event" json:"event"`
	Providers []string `toml:"providers" json:"providers"`
	Expect    string   `toml:"expect" json:"expect"`               // of what is dangerous; default deny
	Otherwise string   `toml:"expect_benign" json:"expect_benign"` // default none
	Danger    []any    `toml:"danger" json:"danger"`
	Benign    []any    `toml:"benign" json:"benign"`
}

type caseFile struct {
	Pairs []pair `toml:"pair" json:"pair"`
}

// item is one case of a pair.
type item struct {
	Name, Expect, Says, Hides string
	Make                      Make
	Payload, PayloadFile      string
	Away, Silent, isPayload   bool
}

// Corpora are the suites that come with lidguard, by name. Without names all.
func Corpora(names ...string) ([]Suite, error) {
	entries, err := ownCorpora.ReadDir("corpus")
	if err != nil {
		return nil, err
	}
	var out []Suite
	for _, e := range entries {
		if !e.IsDir() || len(names) > 0 && !slices.Contains(names, e.Name()) {
			continue
		}
		dir, err := fs.Sub(ownCorpora, "corpus/"+e.Name())
		if err != nil {
			return nil, err
		}
		s, err := Corpus(e.Name(), dir)
		if err != nil {
			return nil, err
		}
		s.path = systemPath
		if e.Name() == "gate" {
			s.build = both(s.build, gateTrials)
		}
		out = append(out, s)
	}
	return out, nil
}

// Rulebook is the suite of a book's own rules, with those of the books that it
// includes, proven by the examples in them.
// name is what rows call it.
func Rulebook(name string, rules, packs []byte, books []rulebook.File) Suite {
	return Suite{Name: name, Rules: rules, Packs: packs, Books: books, build: func(*Stage, []event.Provider) ([]Trial, error) { return nil, nil }}
}

// systemPath has what the corpora's own rulebooks run.
const systemPath = "/usr/bin:/bin"

// CorpusNames lists the suites that come with lidguard.
func CorpusNames() []string {
	var out []string
	entries, _ := ownCorpora.ReadDir("corpus") // embedded: it is there
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

func both(a, b func(*Stage, []event.Provider) ([]Trial, error)) func(*Stage, []event.Provider) ([]Trial, error) {
	return func(s *Stage, p []event.Provider) ([]Trial, error) {
		left, err := a(s, p)
		if err != nil {
			return nil, err
		}
		right, err := b(s, p)
		return append(left, right...), err
	}
}

// Corpus reads a folder: rules.toml, files/, and case files in TOML or JSON.
func Corpus(name string, dir fs.FS) (Suite, error) {
	s := Suite{Name: name}
	rules, err := fs.ReadFile(dir, "rules.toml")
	if err == nil {
		s.Rules = rules
	} else if !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("reading the corpus: %w", err)
	}
	if info, err := fs.Stat(dir, "files"); err == nil && info.IsDir() {
		if s.Files, err = fs.Sub(dir, "files"); err != nil {
			return s, err
		}
	}
	names, err := fs.Glob(dir, "*")
	if err != nil {
		return s, err
	}
	var files []string
	pairs := map[string][]pair{}
	for _, n := range names {
		ext := path.Ext(n)
		if n == "rules.toml" || ext != ".toml" && ext != ".json" {
			continue
		}
		data, err := fs.ReadFile(dir, n)
		if err != nil {
			return s, fmt.Errorf("reading the corpus: %w", err)
		}
		var f caseFile
		if ext == ".toml" {
			err = rulebook.Decode(path.Join(name, n), data, &f)
		} else {
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.DisallowUnknownFields()
			if err = dec.Decode(&f); err != nil {
				err = fmt.Errorf("%s: %w", path.Join(name, n), err)
			}
		}
		if err != nil {
			return s, err
		}
		files, pairs[n] = append(files, n), f.Pairs
	}
	if len(files) == 0 && name != "gate" {
		return s, fmt.Errorf("corpus %q has no case files (*.toml, *.json)", name)
	}
	s.build = func(stage *Stage, providers []event.Provider) ([]Trial, error) {
		var out []Trial
		for _, n := range files {
			for i, p := range pairs[n] {
				trials, err := p.trials(stage, providers, dir)
				if err != nil {
					return nil, fmt.Errorf("%s: pair %d (%s): %w", n, i+1, p.Rule, err)
				}
				out = append(out, trials...)
			}
		}
		return out, nil
	}
	return s, nil
}

// trials builds one pair for every client that has the event.
func (p pair) trials(s *Stage, providers []event.Provider, dir fs.FS) ([]Trial, error) {
	if p.Rule == "" {
		return nil, errors.New("it has no rule")
	}
	if p.Event == "" {
		p.Event = string(event.PreToolUse)
	}
	if p.Expect == "" {
		p.Expect = "deny"
	}
	if p.Otherwise == "" {
		p.Otherwise = "none"
	}
	for _, name := range p.Providers {
		if _, ok := census.Of(event.Provider(name)); !ok {
			return nil, fmt.Errorf("there is no agent %q", name)
		}
	}
	var out []Trial
	known := false
	for _, provider := range census.Providers() {
		if len(p.Providers) > 0 && !slices.Contains(p.Providers, string(provider)) {
			continue
		}
		natives := Natives(provider, event.Name(p.Event))
		if _, ok := find(provider, p.Event); ok && len(natives) == 0 {
			natives = []string{p.Event} // one agent's own word
		}
		known = known || len(natives) > 0
		if !slices.Contains(providers, provider) {
			continue
		}
		for _, native := range natives {
			for i, group := range [][]any{p.Danger, p.Benign} {
				for _, value := range group {
					t, err := p.trial(s, dir, provider, native, value, i == 0)
					if err != nil {
						return nil, err
					}
					out = append(out, t)
				}
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("no agent has the event %q", p.Event)
	}
	return out, nil
}

func (p pair) trial(s *Stage, dir fs.FS, provider event.Provider, native string, value any, danger bool) (Trial, error) {
	it, err := readItem(func(text string) string { return strings.ReplaceAll(s.Fit(text), "{provider}", string(provider)) }, value, p.Event)
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Rule: p.Rule, Name: it.Name, Kind: p.Kind, Danger: danger, Says: it.Says, Hides: it.Hides}
	if t.Kind == "" {
		t.Kind = "allow"
		if danger {
			t.Kind = "block"
		}
	}
	want := p.Otherwise
	if danger {
		want = p.Expect
	}
	if it.Expect != "" {
		want = it.Expect
	}
	for w := range strings.SplitSeq(want, "|") {
		// A word that nothing ever is would only be one that is never met.
		for part := range strings.SplitSeq(w, "+") {
			if !slices.Contains([]string{"none", "deny", "ask", "allow", "context", "rewrite", "ends"}, part) {
				return t, fmt.Errorf("%q is nothing that can be expected", part)
			}
		}
		t.Want = append(t.Want, wanted(w, provider, native))
	}
	t.Case = Case{Provider: provider, Event: native, Away: it.Away, Open: it.Silent}
	switch {
	case it.PayloadFile != "":
		data, err := fs.ReadFile(dir, it.PayloadFile)
		if err != nil {
			return t, err
		}
		t.Case.Payload = []byte(s.Fit(string(data)))
	case it.isPayload:
		t.Case.Payload = []byte(it.Payload)
	default:
		it.Make.Session = sessionOf(p.Rule, t.Name, string(provider), native)
		if t.Case.Payload, err = it.Make.Payload(provider, native, s.Project); err != nil {
			return t, err
		}
	}
	return t, nil
}

// sessionOf makes each case a session of its own, since packs remember sessions.
func sessionOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "audit-" + hex.EncodeToString(sum[:8])
}

// readItem reads a case: a text, which is a command, a prompt or the last words, as
// the event has it, or a table.
func readItem(fit func(string) string, value any, name string) (item, error) {
	var it item
	if text, ok := value.(string); ok {
		text = fit(text)
		it.Name = label(text)
		switch row := event.Name(name); row {
		case event.UserPromptSubmit:
			it.Make.Prompt = text
		case event.Stop, event.SubagentStop:
			it.Make.Last = text
		case event.PostToolUse, event.PostToolUseFailure:
			it.Make.Output = text
		default:
			it.Make.Command = text
		}
		return it, nil
	}
	table, ok := value.(map[string]any)
	if !ok {
		return it, fmt.Errorf("a case is a text or a table, not %v", value)
	}
	texts := map[string]*string{
		"name": &it.Name, "expect": &it.Expect, "says": &it.Says, "hides": &it.Hides, "payload": &it.Payload, "payload_file": &it.PayloadFile,
		"command": &it.Make.Command, "write": &it.Make.Write, "edit": &it.Make.Edit, "read": &it.Make.Read, "content": &it.Make.Content,
		"tool": &it.Make.Tool, "output": &it.Make.Output, "prompt": &it.Make.Prompt, "last": &it.Make.Last, "source": &it.Make.Source,
	}
	flags := map[string]*bool{"active": &it.Make.Active, "away": &it.Away, "open": &it.Silent}
	var described []string
	for key, v := range table {
		switch {
		case texts[key] != nil:
			text, ok := v.(string)
			if !ok {
				return it, fmt.Errorf("%s is a text", key)
			}
			*texts[key] = fit(text)
			it.isPayload = it.isPayload || key == "payload"
			if !slices.Contains([]string{"expect", "says", "hides", "name"}, key) {
				described = append(described, key+" "+label(fit(text)))
			}
		case flags[key] != nil:
			on, ok := v.(bool)
			if !ok {
				return it, fmt.Errorf("%s is true or false", key)
			}
			*flags[key] = on
			described = append(described, key)
		case key == "input":
			raw, err := plain(v)
			if err != nil {
				return it, err
			}
			it.Make.Input = []byte(fit(string(raw)))
			described = append(described, "input "+label(string(it.Make.Input)))
		case key == "extra":
			extra, ok := v.(map[string]any)
			if !ok {
				return it, errors.New("extra is a table")
			}
			it.Make.Extra = map[string]json.RawMessage{}
			for k, v := range extra {
				raw, err := plain(v)
				if err != nil {
					return it, err
				}
				it.Make.Extra[k] = []byte(fit(string(raw)))
			}
			described = append(described, "extra fields")
		default:
			return it, fmt.Errorf("a case has no %q", key)
		}
	}
	if it.Name == "" {
		slices.Sort(described)
		it.Name = strings.Join(described, ", ")
	}
	return it, nil
}

// label is a text as the name of a case.
func label(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 72 {
		text = string(r[:71]) + "…"
	}
	return text
}

// wanted is an expectation as far as a client can express it (docs/contracts): a
// question that cannot be put before a call is a refusal, and at a permission the
// client's own prompt is the question; Codex has no rewritten output but a block.
func wanted(want string, p event.Provider, native string) string {
	row, ok := find(p, native)
	if !ok {
		return want
	}
	switch {
	case want == "ask" && row.Name == event.PermissionRequest:
		return "none"
	case want == "ask" && (p == event.Codex || p == event.OpenCode || row.Name == event.PreSkillShellCommand):
		return "deny"
	case want == "rewrite" && p == event.Codex && row.Name == event.PostToolUse:
		return "deny"
	case want == "allow" && row.Name == event.PreToolUse && (p == event.Codex || p == event.OpenCode):
		return "none"
	}
	return want
}

// elsewhere are commands of the gate's corpus whose verdict a made-up home in a
// temporary folder changes, rightly.
var elsewhere = []string{
	`rm -rf /tmp/*`,                        // the home is below
	`PATH="$HOME/.local/bin:$PATH" mytool`, // everybody may write beside it
}

// gateTrials is the gate's own corpus: every effect with its twins for all clients,
// a day's work for one.
func gateTrials(s *Stage, providers []event.Provider) ([]Trial, error) {
	var out []Trial
	for _, dir := range []string{"effects", "harmless"} {
		files, err := fs.Glob(testdata.Corpus, dir+"/*.txt")
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := testdata.Corpus.ReadFile(file)
			if err != nil {
				return nil, err
			}
			rule := strings.TrimSuffix(path.Base(file), ".txt")
			for line := range strings.Lines(string(data)) {
				line = strings.TrimRight(line, "\r\n")
				if line == "" || line[0] == '#' {
					continue
				}
				want, command := "none", line
				if dir == "effects" {
					want, command, _ = strings.Cut(line, " ")
					want = strings.Replace(want, "ok", "none", 1)
				}
				if slices.Contains(elsewhere, command) {
					continue
				}
				command = s.Fit(strings.ReplaceAll(command, "⏎", "\n"))
				for _, p := range providers {
					if dir == "harmless" && p != providers[0] {
						continue
					}
					native := Natives(p, event.PreToolUse)[0]
					t := Trial{Rule: rule, Name: label(command), Kind: "allow", Want: []string{wanted(want, p, native)}, Case: Case{Provider: p, Event: native}}
					if want != "none" {
						t.Kind, t.Danger = "block", true
					}
					m := Make{Command: command, Session: sessionOf(rule, command, string(p))}
					if t.Case.Payload, err = m.Payload(p, native, s.Project); err != nil {
						return nil, err
					}
					out = append(out, t)
				}
			}
		}
	}
	return out, nil
}
