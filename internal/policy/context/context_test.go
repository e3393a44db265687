package context_test

import (
	std "context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/context"
)

// place is a folder with programs that answer.
type place struct {
	files    string // " .git go.mod "
	answers  map[string]policy.Result
	env      map[string]string
	values   map[string][]byte
	appended string
}

func (p *place) Update(_ std.Context, key string, change func([]byte) ([]byte, error)) error {
	v, err := change(p.values[key])
	if err == nil {
		p.values[key] = v
	}
	return err
}

func (p *place) Look(program string) (string, error) { return program, nil }

func (p *place) Run(_ std.Context, c policy.Command) (policy.Result, error) {
	key := c.Script
	if key == "" {
		key = strings.Join(c.Argv, " ")
	}
	r, ok := p.answers[key]
	if !ok {
		return policy.Result{}, errors.New("no such program")
	}
	return r, nil
}

func (p *place) world() context.World {
	return context.World{Runner: p, Store: p, Getenv: func(name string) string { return p.env[name] },
		Exists: func(_, name string) bool { return strings.Contains(p.files, " "+name+" ") },
		Append: func(_ string, lines []byte) error { p.appended += string(lines); return nil },
		Mask:   func(s string) string { return strings.ReplaceAll(s, "SECRET", "***") }}
}

func says(text string) policy.Result { return policy.Result{Stdout: []byte(text)} }

func start(source string) *event.Event {
	return &event.Event{Name: event.SessionStart, Source: source, Cwd: "/p", Session: event.SessionKey{Provider: event.Claude, ID: "s"}}
}

func TestFacts(t *testing.T) {
	git := map[string]policy.Result{
		"git symbolic-ref --short -q HEAD": says("main\n"), "git status --porcelain": says(" M a.go\n?? b.go\n"), "go env GOVERSION": says("go1.26.0\n"),
		"gh run list --branch main --limit 1 --json status,conclusion,workflowName": says(`[{"status":"completed","conclusion":"failure","workflowName":"ci"}]`),
	}
	const head = "Facts about this session's folder, as of its start:"
	for _, c := range []struct {
		name    string
		cfg     context.Config
		files   string
		answers map[string]policy.Result
		want    string
	}{
		{"the standard", context.Config{}, " .git go.mod ", git,
			head + "\n- The git branch is main.\n- 2 files have uncommitted changes.\n- Toolchain: go1.26.0."},
		{"a folder without anything", context.Config{}, " ", git, ""},
		{"no probes", context.Config{Probes: []string{}}, " .git go.mod ", git, ""},
		{"CI where it is asked for", context.Config{Probes: []string{"ci"}}, " .git .github ", git, head + "\n- The last CI run of the branch (ci): failure."},
		{"no branch, nothing changed", context.Config{}, " .git ", map[string]policy.Result{"git rev-parse --short HEAD": says("abc1234"), "git status --porcelain": says("")},
			head + "\n- Git is on no branch, at commit abc1234.\n- Nothing is uncommitted."},
		{"one file", context.Config{Probes: []string{"dirty"}}, " .git ", map[string]policy.Result{"git status --porcelain": says(" M a.go\n")}, head + "\n- One file has uncommitted changes: a.go."},
		{"so many that nobody counts", context.Config{Probes: []string{"dirty"}}, " .git ", map[string]policy.Result{"git status --porcelain": {Stdout: []byte("?? a\n?? b\n"), Cut: true}},
			head + "\n- More than 2 files have uncommitted changes."},
		{"a toolchain that is missing", context.Config{}, " go.mod package.json ", map[string]policy.Result{"node --version": says("v24.1.0")},
			head + "\n- Toolchain: go is not installed or does not answer; node v24.1.0."},
		{"late and failing probes say nothing", context.Config{Commands: []context.Probe{{Name: "a", Command: "a"}, {Name: "b", Command: "b"}, {Name: "c", Command: "c"}}}, " ",
			map[string]policy.Result{"a": {Late: true, Stdout: []byte("half")}, "b": {Code: 1, Stdout: []byte("wrong")}}, ""},
		{"a person's own, masked, where it is needed", context.Config{Commands: []context.Probe{{Name: "database", Command: "db", Needs: "db.toml"}, {Name: "queue", Command: "db", Needs: "queue.toml"}}}, " db.toml ",
			map[string]policy.Result{"db": says("up, token SECRET\nmore\n")}, head + "\n- database: up, token ***"},
	} {
		p := &place{files: c.files, answers: c.answers, values: map[string][]byte{}}
		h := context.New(c.cfg, p.world())
		v, err := h.Handle(t.Context(), start("startup"))
		if got := strings.Join(v.Contexts, "|"); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
	}
}

func TestWants(t *testing.T) {
	h := context.New(context.Config{}, (&place{}).world())
	sub := start("startup")
	sub.AgentID = "a"
	for _, c := range []struct {
		ev   *event.Event
		want bool
	}{{start("startup"), true}, {start("resume"), true}, {start("clear"), true}, {start("compact"), false}, {sub, false}, {&event.Event{Name: event.UserPromptSubmit}, false}} {
		if h.Wants(c.ev) != c.want {
			t.Errorf("%+v: want %t", c.ev, c.want)
		}
	}
}

func TestPanes(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		want  string
		focus string
	}{
		{map[string]string{"TMUX_PANE": "%3", "TMUX": "/tmp/tmux-1000/default,77,0", "KITTY_WINDOW_ID": "1"}, "tmux %3 /tmp/tmux-1000/default", "tmux -S /tmp/tmux-1000/default switch-client -t %3"},
		{map[string]string{"WEZTERM_PANE": "5"}, "wezterm 5 ", "wezterm cli activate-pane --pane-id 5"},
		{map[string]string{"KITTY_WINDOW_ID": "2", "KITTY_LISTEN_ON": "unix:/tmp/a b"}, "kitty 2 unix:/tmp/a b", "kitten @ --to 'unix:/tmp/a b' focus-window --match id:2"},
		{map[string]string{"ZELLIJ_PANE_ID": "0", "ZELLIJ_SESSION_NAME": "work"}, "zellij 0 work", "zellij attach work"},
		{map[string]string{"ITERM_SESSION_ID": "w0t1p0:AB"}, "iterm2 w0t1p0:AB ", ""},
		{map[string]string{"TERM": "xterm"}, "", ""},
	} {
		p := &place{env: c.env, values: map[string][]byte{}}
		h := context.New(context.Config{Probes: []string{}}, p.world())
		for range 2 { // the same session is noted once
			if _, err := h.Handle(t.Context(), start("startup")); err != nil {
				t.Fatal(err)
			}
		}
		got, focus := "", ""
		for _, pane := range context.ParsePanes(p.values[context.PanesKey]) {
			got += strings.Join([]string{pane.Terminal, pane.ID, pane.Server}, " ")
			focus = pane.Focus()
		}
		if got != c.want || focus != c.focus {
			t.Errorf("%v: got %q, %q", c.env, got, focus)
		}
	}
	off := false
	p := &place{env: map[string]string{"TMUX_PANE": "%1"}, values: map[string][]byte{}}
	if _, err := context.New(context.Config{Probes: []string{}, Pane: &off}, p.world()).Handle(t.Context(), start("startup")); err != nil || len(p.values) > 0 {
		t.Errorf("a pane was noted against the person's wish: %v %v", p.values, err)
	}
}

func TestEnv(t *testing.T) {
	p := &place{env: map[string]string{"CLAUDE_ENV_FILE": "/e"}, values: map[string][]byte{}}
	c := context.Config{Probes: []string{}, Env: map[string]string{"B": "it's $HOME `x`\nline", "A": "plain"}}
	if _, err := context.New(c, p.world()).Handle(t.Context(), start("startup")); err != nil {
		t.Fatal(err)
	}
	if want := "export A=plain\nexport B='it'\\''s $HOME `x`\nline'\n"; p.appended != want {
		t.Errorf("got %q, want %q", p.appended, want)
	}
	p.env, p.appended = nil, ""
	if _, err := context.New(c, p.world()).Handle(t.Context(), start("startup")); err != nil || p.appended != "" {
		t.Errorf("a client without such a file got %q, %v", p.appended, err)
	}
}

// TestQuote: a shell reads a quoted text as that text.
// What cannot be kept costs what would have been kept, and no fact.
func TestFacts_withoutADisk(t *testing.T) {
	p := &place{files: " .git ", answers: map[string]policy.Result{"git symbolic-ref --short -q HEAD": says("main")},
		env: map[string]string{"CLAUDE_ENV_FILE": "/e", "TMUX_PANE": "%1"}}
	full := errors.New("no space left")
	w := p.world()
	w.Store, w.Append = broken{full}, func(string, []byte) error { return full }
	h := context.New(context.Config{Env: map[string]string{"A": "b"}}, w)
	v, err := h.Handle(std.Background(), start("startup"))
	if err != nil || len(v.Contexts) != 1 || !strings.Contains(v.Contexts[0], "main") || !strings.Contains(v.SystemMessage, "no space left") {
		t.Errorf("got %+v, %v", v, err)
	}
}

// broken is a store that keeps nothing.
type broken struct{ err error }

func (b broken) Update(std.Context, string, func([]byte) ([]byte, error)) error { return b.err }

func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("aB1 '\"$`\\\n*?!;&|<>(){}~#=ü-")), 0, 12, -1), 20, 20).Draw(t, "texts")
		var script strings.Builder
		for _, s := range texts {
			script.WriteString("printf '%s\\037' " + context.Quote(s) + "\n")
		}
		out, err := exec.Command("sh", "-c", script.String()).Output()
		if err != nil || !cmp.Equal(strings.Split(strings.TrimSuffix(string(out), "\x1f"), "\x1f"), texts) {
			t.Fatalf("%q, %v", out, err)
		}
	})
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		cfg context.Config
		key string
	}{
		{context.Config{Probes: []string{"weather"}}, "probes"},
		{context.Config{Limit: policy.Duration(1e12)}, "limit"},
		{context.Config{Env: map[string]string{"A B": "x"}}, "env"},
		{context.Config{Env: map[string]string{"": "x"}}, "env"},
	} {
		if row, key, problem := c.cfg.Check(); row != -1 || key != c.key || problem == "" {
			t.Errorf("%+v: got %d %q %q", c.cfg, row, key, problem)
		}
	}
	if row, _, problem := (&context.Config{Commands: []context.Probe{{Name: "x"}}}).Check(); row != 0 || problem == "" {
		t.Errorf("a probe without a command: %d %q", row, problem)
	}
}
