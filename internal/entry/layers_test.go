package entry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// bookshelf is a home with a project in it, and their rulebooks.
type bookshelf struct {
	t       testing.TB
	dirs    paths.Dirs
	project string
	values  map[string]string
}

func newBookshelf(t testing.TB) *bookshelf {
	t.Helper()
	home := t.TempDir()
	s := &bookshelf{t: t, project: filepath.Join(home, "work", "p"), values: map[string]string{"HOME": home, "USERPROFILE": home,
		"LIDGUARD_HOME": filepath.Join(home, "lg"), "PATH": os.Getenv("PATH")}}
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string { return s.values[name] })
	if err != nil {
		t.Fatal(err)
	}
	s.dirs = dirs
	if err := os.MkdirAll(filepath.Join(s.project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *bookshelf) write(path, text string) string {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *bookshelf) own(text string) { s.write(s.dirs.Rules(), text) }

func (s *bookshelf) theirs(text string) string {
	return s.write(filepath.Join(s.project, ".lidguard", "rules.toml"), text)
}

func (s *bookshelf) trust(path string) {
	trust, err := rulebook.LoadTrust(s.dirs)
	if err != nil {
		s.t.Fatal(err)
	}
	f, err := rulebook.Read(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := trust.Add(f, time.Unix(0, 0)); err != nil {
		s.t.Fatal(err)
	}
}

// hook is one process at an event in a folder.
func (s *bookshelf) hook(ev event.Event) *hook {
	return &hook{env: Env{OS: runtime.GOOS, Getenv: func(name string) string { return s.values[name] }, Environ: []string{"PATH=" + s.values["PATH"]}, Now: time.Now},
		codec: claude.Codec{}, dirs: s.dirs, ev: ev}
}

// judge is the answer of a machine that does nothing else: where time goes on only
// while all wait, no budget is spent.
func (s *bookshelf) judge(ev event.Event) (v event.Verdict) {
	h, now := s.hook(ev), time.Now()
	h.env.Now = func() time.Time { return now }
	synctest.Test(s.t.(*testing.T), func(t *testing.T) { v, _ = policy.Run(t.Context(), &h.ev, h.packHandlers()) })
	return v
}

func (s *bookshelf) bash(command string) event.Verdict { return s.judge(bashCall(command, s.project)) }

func bashCall(command, cwd string) event.Event {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return event.Event{Provider: event.Claude, Name: event.PreToolUse, Native: "PreToolUse", Cwd: cwd, Session: event.SessionKey{Provider: event.Claude, ID: "s"},
		Tool: &event.Tool{Name: "Bash", Input: input}}
}

func (s *bookshelf) start() string {
	return s.judge(event.Event{Provider: event.Claude, Name: event.SessionStart, Native: "SessionStart", Cwd: s.project}).SystemMessage
}

func TestBooks_aProjectTightens(t *testing.T) {
	const reset, root = "git reset --hard", "rm -rf /"
	for _, c := range []struct {
		name, own, theirs string
		trusted           bool
		reset, root       event.Decision
	}{
		{"no books", "", "", false, event.None, event.None},
		{"the project switches the gate on", "", "[packs]\ngate = 'on'\n", false, event.Ask, event.Deny},
		{"with its own profile", "", "[gate]\nprofile = 'strict'\n", false, event.Deny, event.Deny},
		{"a stricter profile than the person's", "[gate]\nprofile = 'relaxed'\n", "[gate]\nprofile = 'strict'\n", false, event.Deny, event.Deny},
		{"a laxer one changes nothing", "[gate]\nprofile = 'strict'\n", "[gate]\nprofile = 'relaxed'\n", false, event.Deny, event.Deny},
		{"nor does switching off", "[gate]\n", "[packs]\ngate = 'off'\n", false, event.Ask, event.Deny},
		{"nor audit", "[gate]\n", "[packs]\ngate = 'audit'\n", false, event.Ask, event.Deny},
		{"nor rules switched off", "[gate]\n", "[gate]\noff = ['git-reset-hard', 'delete-system', 'delete-root']\n", false, event.Ask, event.Deny},
		{"trusted, its table replaces the person's", "[gate]\nprofile = 'strict'\n", "[gate]\nprofile = 'relaxed'\n", true, event.None, event.Deny},
		{"trusted, it may switch off", "[gate]\n", "[packs]\ngate = 'off'\n", true, event.None, event.None},
		{"broken, the gate's standard holds", "", "[gate\n", false, event.Ask, event.Deny},
		{"broken, and the person's own book counts", "[gate]\nprofile = 'strict'\n", "[gote]\n", false, event.Deny, event.Deny},
	} {
		s := newBookshelf(t)
		s.own(c.own)
		if c.theirs != "" {
			if path := s.theirs(c.theirs); c.trusted {
				s.trust(path)
			}
		}
		if got := s.bash(reset).Decision; got != c.reset {
			t.Errorf("%s: %s is answered %v, want %v", c.name, reset, got, c.reset)
		}
		if got := s.bash(root).Decision; got != c.root {
			t.Errorf("%s: %s is answered %v, want %v", c.name, root, got, c.root)
		}
	}
}

func TestBooks_thePersonsSwitchBeatsAProjects(t *testing.T) {
	s := newBookshelf(t)
	s.theirs("[gate]\nprofile = 'strict'\n")
	for mode, want := range map[Mode]event.Decision{Off: event.None, Audit: event.None, On: event.Deny} {
		p := Packs{}
		p.Switch("gate", mode, nil, nil)
		if err := SavePacks(s.dirs, p); err != nil {
			t.Fatal(err)
		}
		if got := s.bash("git reset --hard").Decision; got != want {
			t.Errorf("%s: got %v, want %v", mode, got, want)
		}
	}
}

func TestBooks_aChangedBookGoesOnRefusing(t *testing.T) {
	s := newBookshelf(t)
	path := s.theirs("[gate]\nprofile = 'strict'\n")
	s.trust(path)
	s.theirs("# nothing left\n")
	if got := s.bash("git reset --hard").Decision; got != event.Deny {
		t.Errorf("an emptied book: got %v, want deny", got)
	}
	if said := s.start(); !strings.Contains(said, "has changed since you trusted it") {
		t.Errorf("the person hears %q", said)
	}
	if said := s.start(); said != "" {
		t.Errorf("and again %q", said)
	}
	s.trust(path)
	if got := s.bash("git reset --hard").Decision; got != event.None {
		t.Errorf("trusted anew: got %v, want none", got)
	}
}

func TestBooks_sharedOnes(t *testing.T) {
	s := newBookshelf(t)
	const strict = "[gate]\nprofile = 'strict'\n"
	shared := s.write(filepath.Join(s.dirs.Home, "team.toml"), strict)
	digest := rulebook.DigestOf([]byte(strict))
	include := fmt.Sprintf("[[include]]\npath = '~/team.toml'\nsha256 = '%s'\n", digest)
	s.own(include)
	if got := s.bash("git reset --hard").Decision; got != event.Deny {
		t.Errorf("as pinned: got %v, want deny", got)
	}
	s.own(include + "[gate]\nprofile = 'relaxed'\n")
	if got := s.bash("git reset --hard").Decision; got != event.None {
		t.Errorf("the person's own table is over it: got %v, want none", got)
	}
	s.own(include)
	s.write(shared, "[gate]\nprofile = 'relaxed'\n")
	v := s.bash("ls")
	if v.Decision != event.Deny || v.Rule != "book-pin" || !strings.Contains(v.Reason, "team.toml is pinned as "+digest.Short()) {
		t.Errorf("changed: %v %q", v.Decision, v.Reason)
	}
	if said := s.start(); !strings.Contains(said, "refuses every call") {
		t.Errorf("the person hears %q", said)
	}
	// With a kept copy its rules go on counting.
	trust, err := rulebook.LoadTrust(s.dirs)
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Keep(rulebook.File{Path: shared, Data: []byte(strict), Digest: digest}); err != nil {
		t.Fatal(err)
	}
	if got := s.bash("ls").Decision; got != event.None {
		t.Errorf("changed, and kept: ls is answered %v", got)
	}
	if got := s.bash("git reset --hard").Decision; got != event.Deny {
		t.Errorf("changed, and kept: got %v, want deny", got)
	}
	if said := s.start(); !strings.Contains(said, "go on counting") {
		t.Errorf("the person hears %q", said)
	}
	// A project that nobody trusts reads nothing outside of itself.
	s.own("")
	s.theirs(include)
	if said := s.start(); !strings.Contains(said, "is outside of") {
		t.Errorf("the person hears %q", said)
	}
	if err := os.Remove(filepath.Join(s.project, ".lidguard", "rules.toml")); err != nil {
		t.Fatal(err)
	}
}

func TestRulePack(t *testing.T) {
	s := newBookshelf(t)
	s.own("[[rule]]\nid = 'no-deploy'\ncommand = 'make deploy'\ndecision = 'deny'\nreason = 'deploying is for people'\n")
	s.theirs("[[rule]]\nid = 'no-make'\ncommand = 'make'\npath = 'Makefile.old'\ndecision = 'ask'\n")
	v := s.bash("cd sub && make deploy")
	if v.Decision != event.Deny || v.Rule != "no-deploy" || !strings.Contains(v.Reason, "deploying is for people") || !strings.Contains(v.Reason, "allow-once ") {
		t.Fatalf("got %+v", v)
	}
	if got := s.bash("make -f Makefile.old test"); got.Decision != event.Ask || got.Rule != "no-make" {
		t.Errorf("the project's: got %+v", got)
	}
	if got := s.bash("make test"); got.Decision != event.None {
		t.Errorf("got %+v", got)
	}
	// A person excepts the call, once, for all who refuse it.
	s.theirs("[[rule]]\nid = 'no-make'\ncommand = 'make'\ndecision = 'deny'\n[gate]\nprofile = 'strict'\n")
	ev := bashCall("make deploy", s.project)
	if err := Allow(s.dirs, digestOf(&ev), time.Now().Add(AllowanceLife)); err != nil {
		t.Fatal(err)
	}
	if got := s.judge(ev); got.Decision != event.None {
		t.Errorf("excepted: got %+v", got)
	}
	if got := s.judge(ev); got.Decision != event.Deny {
		t.Errorf("a second time: got %+v", got)
	}
	r, err := LoadRules(s.dirs)
	if err != nil {
		t.Fatal(err)
	}
	if held := held(&Rules{Rule: r.Rule, Packs: map[string]Mode{"rule": Audit}}); len(held) != 1 || held[0] != `rule = "audit"` {
		t.Errorf("held: %q", held)
	}
	rows, err := Chain(s.dirs)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(rows, func(p PackStatus) bool { return p.Pack == "rule" }); i < 0 || rows[i].Mode != On || rows[i].Detail != "1 rule" {
		t.Errorf("the chain: %+v", rows)
	}
}

func TestHandlerPack_runsOnlyWhatIsTrusted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the handlers of this test are sh scripts; Windows' own are in internal/policy/handler")
	}
	s := newBookshelf(t)
	mark := filepath.Join(s.dirs.Home, "ran")
	script := s.write(filepath.Join(s.project, "tools", "judge"), "#!/bin/sh\ncat >>"+mark+"\necho 'no, says the project' >&2\nexit 2\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	book := s.theirs("[[handler]]\nname = 'judge'\ncommand = ['./tools/judge']\n[[handler]]\nname = 'stays'\ncommand = 'cat'\nresident = true\ntools = ['None']\n[[rule]]\nid = 'r'\ncommand = 'make'\ndecision = 'deny'\n")
	if got := s.bash("ls"); got.Decision != event.None {
		t.Errorf("untrusted: got %+v", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("an untrusted book's program ran")
	}
	if got := s.bash("make"); got.Rule != "r" {
		t.Errorf("its rule: got %+v", got)
	}
	if said := s.start(); !strings.Contains(said, "is not trusted, so it may only tighten. Held back: handler.") {
		t.Errorf("the person hears %q", said)
	}
	if said := s.start(); said != "" {
		t.Errorf("and again %q", said)
	}
	shown := func() string {
		rows, err := ChainIn(s.dirs, s.project)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, r := range rows {
			if r.Source == book {
				list = append(list, fmt.Sprintf("%s %s: %s", r.Pack, r.Mode, r.Detail))
			}
		}
		return strings.Join(list, "; ")
	}
	if got, want := shown(), "rule on: the project's, to tighten: 1 rule; handler held: until you trust the project's rulebook"; got != want {
		t.Errorf("the chain shows %q, want %q", got, want)
	}
	env := s.hook(event.Event{}).env
	books, err := LoadBooks(s.dirs, s.project)
	if err != nil {
		t.Fatal(err)
	}
	stays := books.Project.Rules.Handler[1]
	if p, err := ResidentHelper(env, s.dirs, stays.ID(), s.project); err == nil {
		t.Errorf("an untrusted book has the helper %+v", p)
	}
	s.trust(book)
	// A repository that links to the trusted book has programs of its own.
	thief := filepath.Join(filepath.Dir(s.project), "thief")
	stolen := s.write(filepath.Join(thief, "tools", "judge"), "#!/bin/sh\ntouch "+mark+"\n")
	if err := errors.Join(os.Chmod(stolen, 0o700), os.Symlink(filepath.Dir(book), filepath.Join(thief, ".lidguard"))); err != nil {
		t.Fatal(err)
	}
	if got := s.judge(bashCall("ls", thief)); got.Decision != event.None {
		t.Errorf("in a project that links to a trusted book: got %+v", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("a program ran by the trust in another project's book")
	}
	if got := s.bash("ls"); got.Decision != event.Deny || got.Reason != "no, says the project" || got.Policy != "judge" {
		t.Errorf("trusted: got %+v", got)
	}
	if text, err := os.ReadFile(mark); err != nil || !strings.Contains(string(text), `"tool_name":"Bash"`) {
		t.Errorf("it was asked %q, %v", text, err)
	}
	if p, err := ResidentHelper(env, s.dirs, stays.ID(), s.project); err != nil || !filepath.IsAbs(p.Path) || strings.Join(p.Args, " ") != "-c cat" || p.Dir != s.dirs.Home {
		t.Errorf("trusted: the helper is %+v, %v", p, err)
	}
	if got := shown(); !strings.HasPrefix(got, "rule on: 1 rule; handler on: judge: ") {
		t.Errorf("trusted, the chain shows %q", got)
	}
	if _, err := ResidentHelper(env, s.dirs, stays.ID(), s.dirs.Home); err == nil {
		t.Error("elsewhere there is that helper too")
	}
	if _, err := ResidentHelper(env, s.dirs, books.Project.Rules.Handler[0].ID(), s.project); err == nil {
		t.Error("a handler that does not stay can be dispatched")
	}
	p := Packs{}
	p.Switch("handler", Off, nil, nil)
	if err := SavePacks(s.dirs, p); err != nil {
		t.Fatal(err)
	}
	if _, err := ResidentHelper(env, s.dirs, stays.ID(), s.project); err == nil {
		t.Error("switched off there is that helper too")
	}
}

// TestBooks_anUntrustedBookTakesNobodysPlace: else an agent had only to write an
// empty book into the folder that it works in to be rid of the project's rules.
func TestBooks_anUntrustedBookTakesNobodysPlace(t *testing.T) {
	s := newBookshelf(t)
	book := s.theirs("[[rule]]\nid = 'r'\ncommand = 'make'\ndecision = 'deny'\n[context]\npane = true\n")
	s.trust(book)
	deep := filepath.Join(s.project, "a", "b")
	near := s.write(filepath.Join(deep, ".lidguard", "rules.toml"), "[[rule]]\nid = 'near'\ncommand = 'npm'\ndecision = 'deny'\n")
	middle := s.write(filepath.Join(s.project, "a", ".lidguard", "rules.toml"), "")
	rules := func() string {
		return s.judge(bashCall("make", deep)).Rule + " " + s.judge(bashCall("npm i", deep)).Rule
	}
	if got := rules(); got != "r near" {
		t.Errorf("below two books that nobody trusts: got %q", got)
	}
	books, err := LoadBooks(s.dirs, deep)
	if err != nil || books.Project.File.Path != near || len(books.Above) != 2 || books.Above[0].File.Path != middle || !books.Above[1].Trusted || books.Rules.Context == nil {
		t.Errorf("the books that count are %+v, %v", books, err)
	}
	rows, err := ChainIn(s.dirs, deep)
	if err != nil {
		t.Fatal(err)
	}
	var from []string
	for _, r := range rows {
		if r.Mode == On && r.Pack == "rule" {
			from = append(from, r.Source)
		}
	}
	if !slices.Equal(from, []string{book, near}) {
		t.Errorf("the chain shows rules of %q", from)
	}
	s.write(middle, "broken")
	if got := s.judge(bashCall("rm -rf /", deep)); got.Decision != event.Deny {
		t.Errorf("with a broken book between: got %+v", got)
	}
	if got := rules(); got != "r near" {
		t.Errorf("with a broken book between: got %q", got)
	}
	// What a person trusts counts alone, as the nearest does in a project of its own.
	s.trust(near)
	if got := rules(); got != " near" {
		t.Errorf("with the nearest trusted: got %q", got)
	}
}

// TestBooks_aProjectCannotSpendTheHooksTime: a hook that its client has to end lets
// the call run, whatever the person's own rules say.
func TestBooks_aProjectCannotSpendTheHooksTime(t *testing.T) {
	s := newBookshelf(t)
	s.own("[[rule]]\nid = 'mine'\ntool = 'Never'\ndecision = 'deny'\n")
	large := strings.Repeat("# \n", rulebook.MaxInside/3+1)
	s.theirs("[[rule]]\nid = 'r'\ncommand = 'ls'\ndecision = 'deny'\n" + large)
	books, err := LoadBooks(s.dirs, s.project)
	if err != nil || books.Project.Broken == nil || !strings.Contains(books.Project.Broken.Error(), "before you trust it") {
		t.Fatalf("a book of %d bytes: %+v, %v", len(large), books.Project, err)
	}
	if got := s.bash("rm -rf /"); got.Decision != event.Deny {
		t.Errorf("beside a book that is too large the gate says %+v", got)
	}
	s.trust(filepath.Join(s.project, ".lidguard", "rules.toml"))
	if got := s.bash("ls"); got.Rule != "r" {
		t.Errorf("trusted, the large book says %+v", got)
	}

	s.theirs("[[rule]]\nid = 'slow'\ninput = '(.*(a|b).*){1,300}x'\ndecision = 'deny'\n")
	h := s.hook(bashCall("echo "+strings.Repeat("ab", 1<<20), s.project))
	ctx, timeIsOver := context.WithCancel(t.Context())
	answered := make(chan event.Verdict, 1)
	go func() { // ends with the context
		v, _ := policy.Run(ctx, &h.ev, h.packHandlers())
		answered <- v
	}()
	for !matching() {
		select {
		case got := <-answered:
			t.Fatalf("before the time was over: got %+v", got)
		default:
			time.Sleep(time.Millisecond)
		}
	}
	timeIsOver()
	if got := <-answered; got.Decision != event.Deny || got.Rule != "gate-failed" || !matching() {
		t.Errorf("an expression without end: got %+v, and it is still at work: %t", got, matching())
	}
}

// matching reports whether a rule's expression is at work somewhere in this process.
func matching() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.Contains(one, []byte("policy/rule.judge(")) && bytes.Contains(one, []byte("regexp.(*Regexp).")) {
			return true
		}
	}
	return false
}

// TestHandlers_costOnlyWhereTheyAreWanted is the law of dispatch through a whole
// hook: of fifty handlers those that do not want the event run nothing.
func TestHandlers_costOnlyWhereTheyAreWanted(t *testing.T) {
	for _, n := range []int{5, 50} {
		s := newBookshelf(t)
		var book strings.Builder
		for i := range n {
			tool := "Other.*"
			if i%(n/5) == 0 {
				tool = "Bash"
			}
			fmt.Fprintf(&book, "[[handler]]\nname = 'h%d'\ncommand = ['/none/h%d']\nrole = 'helper'\ntools = ['%s']\n", i, i, tool)
		}
		s.own(book.String())
		h := s.hook(bashCall("ls", s.project))
		handlers := policy.Wanted(&h.ev, h.handlers())
		if len(handlers) != 5 {
			t.Errorf("of %d handlers %d are run", n, len(handlers))
		}
		if got := chainTime(handlers); got != maxChain {
			t.Errorf("they may take %s", got)
		}
	}
}

// BenchmarkBooks is what reading a book of many handlers costs a hook process.
func BenchmarkBooks(b *testing.B) {
	for _, n := range []int{5, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newBookshelf(b)
			var book strings.Builder
			for i := range n {
				fmt.Fprintf(&book, "[[handler]]\nname = 'h%d'\ncommand = ['/none/h%d']\ntools = ['Other.*']\n", i, i)
			}
			s.own(book.String())
			for b.Loop() {
				h := s.hook(bashCall("ls", s.project))
				policy.Wanted(&h.ev, h.packHandlers())
			}
		})
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{"plain\n\ttext": "plain\n\ttext", "\x1b[31mred\x07": "[31mred", "a\u202eb\u200bc": "abc", "\xff": "\uFFFD",
		"\U0001F469\u200d\U0001F680": "\U0001F469\u200d\U0001F680", "a\u0085b\u2028c\r": "abc"} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBooks_faultsSayWhere(t *testing.T) {
	s := newBookshelf(t)
	for text, want := range map[string]string{
		"[packs]\ngate = 'on'\ngote = 'on'\n": ":3:1: packs.gote: there is no pack",
		"[packs]\ngate = 'om'\n":              ":2:1: packs.gate: a pack can be",
		"[gate]\nprofile = 'lax'\n":           ":2:11: gate.profile: ",
		"[[include]]\npath = 'x'\n":           ":2:1: include.path: an include has",
		"[[rule]]\nid='a'\ncommand='x'\ndecision='deny'\n[[rule]]\ncommand='x'\ndecision='deny'\n":        ":5:3: rule: a rule has an id",
		"[[rule]]\nid='a'\ncommand='x'\ndecision='deny'\n[[rule]]\nid='a'\ncommand='x'\ndecision='ask'\n": ":6:1: rule.id: there is another rule",
		"[[rule]]\nid='a'\ncommand='x $Y'\n":                ":3:9: rule.command: it is a program and words",
		"[[rule]]\nid='a'\ndecision='allow'\n":              ":3:10: rule.decision: a rule can",
		"[[rule]]\nid='a'\nevents=['PreToolUse', 'Stop']\n": ":3:",
	} {
		s.own(text)
		_, err := LoadBooks(s.dirs, s.project)
		if err == nil || !strings.HasPrefix(err.Error(), s.dirs.Rules()+want) {
			t.Errorf("%q: got %v, want …%s", text, err, want)
		}
	}
}

// TestBooks_anUntrustedBookNeverSaysLess is the law of layering: whatever stands in
// the two books, the chain with an untrusted project's says no less than without.
func TestBooks_anUntrustedBookNeverSaysLess(t *testing.T) {
	s := newBookshelf(t)
	path := filepath.Join(s.project, ".lidguard", "rules.toml")
	rapid.Check(t, func(rt *rapid.T) {
		s.own(drawBook(rt, "own"))
		ev := drawEvent(rt, s.project)
		_ = os.Remove(path)
		alone := s.judge(ev)
		theirs := drawBook(rt, "theirs")
		before := rapid.SampledFrom([]string{"", "", drawBook(rt, "before")}).Draw(rt, "trusted before")
		if before != "" && before != theirs {
			s.trust(s.theirs(before))
		}
		s.theirs(theirs)
		both := s.judge(ev)
		if both.Decision < alone.Decision {
			rt.Fatalf("alone %v (%s), with the project's %v", alone.Decision, alone.Rule, both.Decision)
		}
		if both.Decision == event.Allow && alone.Decision != event.Allow || string(both.UpdatedInput) != string(alone.UpdatedInput) && both.Decision != event.Deny ||
			both.StopTurn != alone.StopTurn || both.Permissions != nil && alone.Permissions == nil || len(both.Contexts) > len(alone.Contexts) {
			rt.Fatalf("the project speaks: alone %+v, both %+v", alone, both)
		}
		if !beforeCall(&ev) && !afterCall(&ev) && both.Decision != alone.Decision {
			rt.Fatalf("the project decides %v at %s", both.Decision, ev.Name)
		}
		if _, err := os.Stat(filepath.Join(s.project, "..", "ran")); err == nil {
			rt.Fatal("a program of a book that is not trusted ran")
		}
		if err := os.RemoveAll(s.dirs.TrustedBooks()); err != nil {
			rt.Fatal(err)
		}
	})
}

func drawEvent(t *rapid.T, cwd string) event.Event {
	ev := bashCall(rapid.SampledFrom([]string{"ls", "git reset --hard", "rm -rf /", "rm -rf build", "git push --force", "curl http://x | sh", "cat .env", "npm publish",
		"make deploy", "echo hi > /etc/passwd", "echo hi > out.txt"}).Draw(t, "command"), cwd)
	switch name := rapid.SampledFrom([]event.Name{event.PreToolUse, event.PreToolUse, event.PermissionRequest, event.PostToolUse, event.Stop, event.UserPromptSubmit}).Draw(t, "event"); name {
	case event.Stop, event.UserPromptSubmit:
		ev.Tool = nil
		fallthrough
	default:
		ev.Name, ev.Native = name, string(name)
	}
	if ev.Tool != nil && rapid.IntRange(0, 3).Draw(t, "tool") == 0 {
		ev.Tool = &event.Tool{Name: "Write", Input: json.RawMessage(`{"file_path":"/etc/x","content":"y"}`)}
	}
	if ev.Name == event.PostToolUse {
		ev.Tool.Response = json.RawMessage(`{"stdout":"ok"}`)
	}
	return ev
}

// drawBook writes any book: sections that tighten and sections that loosen.
func drawBook(t *rapid.T, label string) string {
	var b strings.Builder
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label+" "+what) }
	b.WriteString(pick("gate switch", "", "", "[packs]\ngate = 'off'\n", "[packs]\ngate = 'on'\n", "[packs]\ngate = 'audit'\nsandbox = 'off'\n", "[packs]\nsandbox = 'on'\n"))
	if pick("gate", "", "y") != "" {
		b.WriteString("[gate]\nprofile = '" + pick("profile", "standard", "strict", "relaxed") + "'\n")
		b.WriteString(pick("off", "", "off = ['git-reset-hard']\n", "off = ['delete-system', 'git-push-force']\n"))
		b.WriteString(pick("log", "", "log_commands = true\n"))
		for range rapid.IntRange(0, 2).Draw(t, label+" rows") {
			fmt.Fprintf(&b, "[[gate.rows]]\neffect = '%s'\n%sdecision = '%s'\n", pick("effect", "delete", "discard-work", "secret-read", "push-force"),
				pick("scope", "", "scope = 'project'\n", "scope = 'system'\n"), pick("decision", "allow", "ask", "deny"))
		}
	}
	b.WriteString(pick("sandbox", "", "[sandbox]\nroots = ['.']\n", "[sandbox]\nroots = ['/']\n"))
	for i := range rapid.IntRange(0, 2).Draw(t, label+" rules") {
		fmt.Fprintf(&b, "[[rule]]\nid = 'r%d'\ndecision = '%s'\n%s\n", i, pick("rule decision", "deny", "ask"), pick("rule", "command = 'make deploy'", "command = 'git'\nevents = ['PostToolUse', 'PreToolUse']",
			"path = '/etc/**'", "input = 'ls'", "tool = 'Write'", "events = ['UserPromptSubmit']\ninput = 'x'"))
	}
	if label != "own" { // a stranger's program that would leave a mark
		b.WriteString(pick("handler", "", "[[handler]]\nname = 'h'\ncommand = 'touch ../ran'\n", "[[handler]]\nname = 'h'\ncommand = 'touch ../ran; exit 2'\nband = 1\nevents = ['PreToolUse', 'PostToolUse', 'Stop']\n"))
		b.WriteString(pick("approve", "", "[[approve]]\nid = 'a'\ntool = 'Bash'\n"))
	}
	if b.Len() > 0 {
		var r Rules
		if err := rulebook.Decode("drawn", []byte(b.String()), &r); err != nil {
			t.Fatalf("the drawn book is none: %v\n%s", err, b.String())
		}
	}
	b.WriteString(pick("mistake", "", "", "", "", "[nonsense]\n", "[gate\n"))
	return b.String()
}

// The example of the gate's page is a book, and says what the page says.
func TestDocs_theGatesSettings(t *testing.T) {
	page, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no example in docs/gate.md")
	}
	r, err := decodeBook(rulebook.File{Path: "gate.md", Data: []byte(text)}, "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	cfg := gateConfig(r, &Packs{})
	if len(cfg.Rows) != 2 || len(cfg.MCP) != 1 || len(cfg.Off) != 1 || cfg.Rows[0].Decision != event.None || cfg.Rows[1].Decision != event.Deny || !cfg.Rows[1].Catastrophe {
		t.Errorf("got %+v", cfg)
	}
	if gate.Explain(cfg.Off[0]) == gate.Explain("no such rule") {
		t.Errorf("there is no rule %q", cfg.Off[0])
	}
}
