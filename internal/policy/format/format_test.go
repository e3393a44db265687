package format_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/format"
)

// disk is a machine with files; its formatters make a text upper case.
type disk struct {
	files    map[string]string
	values   map[string][]byte
	absent   bool // no formatter is installed
	result   *policy.Result
	during   func() // what happens while a formatter runs
	ran      [][]string
	replaced int
}

func (d *disk) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) error {
	v, err := change(d.values[key])
	if err == nil {
		d.values[key] = v
	}
	return err
}

func (d *disk) Look(program string) (string, error) {
	if d.absent {
		return "", fs.ErrNotExist
	}
	return "/bin/" + program, nil
}

func (d *disk) Run(_ context.Context, c policy.Command) (policy.Result, error) {
	d.ran = append(d.ran, c.Argv)
	if d.during != nil {
		d.during()
	}
	if d.result != nil {
		return *d.result, nil
	}
	return policy.Result{Stdout: bytes.ToUpper(c.Stdin)}, nil
}

func (d *disk) world() format.World {
	return format.World{Store: d, Runner: d,
		Read: func(file string, _ int) ([]byte, error) {
			text, ok := d.files[file]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		},
		Replace: func(file string, text []byte) error {
			d.replaced++
			d.files[file] = string(text)
			return nil
		},
		Exists: func(dir string, names []string) bool {
			return slices.ContainsFunc(names, func(n string) bool { _, ok := d.files[path.Join(dir, n)]; return ok })
		},
		Inside: func(cwd, file string) (string, bool) {
			if !path.IsAbs(file) {
				file = path.Join(cwd, file)
			}
			return file, strings.HasPrefix(file, cwd+"/")
		}}
}

func edit(provider event.Provider, tool string, input any) *event.Event {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return &event.Event{Provider: provider, Name: event.PostToolUse, Cwd: "/p", Session: event.SessionKey{Provider: provider, ID: "s"},
		Tool: &event.Tool{Name: tool, Input: raw}}
}

func TestHandler(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: sub/b.go\n+z\n*** Delete File: gone.go\n*** End Patch\n"
	told := func(files ...string) (list []string) {
		for _, f := range files {
			list = append(list, "lidguard format: gofmt has reformatted "+f+"; read it again before you edit it.")
		}
		return list
	}
	for _, c := range []struct {
		name  string
		ev    *event.Event
		files map[string]string
		want  map[string]string
		says  []string
	}{
		{"Claude's Edit", edit(event.Claude, "Edit", map[string]string{"file_path": "/p/a.go"}),
			map[string]string{"/p/a.go": "x"}, map[string]string{"/p/a.go": "X"}, told("/p/a.go")},
		{"Copilot's create", edit(event.Copilot, "create", map[string]string{"path": "/p/a.go"}),
			map[string]string{"/p/a.go": "x"}, map[string]string{"/p/a.go": "X"}, told("/p/a.go")},
		{"OpenCode's edit", edit(event.OpenCode, "edit", map[string]string{"filePath": "a.go"}),
			map[string]string{"/p/a.go": "x"}, map[string]string{"/p/a.go": "X"}, told("a.go")},
		{"Codex's patch", edit(event.Codex, "apply_patch", map[string]string{"command": patch}),
			map[string]string{"/p/a.go": "x", "/p/sub/b.go": "y"}, map[string]string{"/p/a.go": "X", "/p/sub/b.go": "Y"}, told("a.go", "sub/b.go")},
		{"formatted already", edit(event.Claude, "Write", map[string]string{"file_path": "/p/a.go"}),
			map[string]string{"/p/a.go": "X"}, map[string]string{"/p/a.go": "X"}, nil},
		{"another kind of file", edit(event.Claude, "Write", map[string]string{"file_path": "/p/a.xyz"}),
			map[string]string{"/p/a.xyz": "x"}, map[string]string{"/p/a.xyz": "x"}, nil},
		{"outside the folder", edit(event.Claude, "Write", map[string]string{"file_path": "/q/a.go"}),
			map[string]string{"/q/a.go": "x"}, map[string]string{"/q/a.go": "x"}, nil},
		{"a project that does not use it", edit(event.Claude, "Write", map[string]string{"file_path": "/p/a.ts"}),
			map[string]string{"/p/a.ts": "x"}, map[string]string{"/p/a.ts": "x"}, nil},
		{"one that does", edit(event.Claude, "Write", map[string]string{"file_path": "/p/s/a.ts"}),
			map[string]string{"/p/s/a.ts": "x", "/p/.prettierrc": ""}, map[string]string{"/p/s/a.ts": "X", "/p/.prettierrc": ""},
			[]string{"lidguard format: prettier has reformatted /p/s/a.ts; read it again before you edit it."}},
	} {
		d := &disk{files: c.files, values: map[string][]byte{}}
		h := format.New(format.Standard(), d.world())
		if !h.Wants(c.ev) {
			t.Errorf("%s: it does not want the event", c.name)
		}
		v, err := h.Handle(t.Context(), c.ev)
		if err != nil || v.Decision != event.None || !cmp.Equal(v.Contexts, c.says) || !cmp.Equal(d.files, c.want) {
			t.Errorf("%s: %q, %v, files %v", c.name, v.Contexts, err, d.files)
		}
	}
}

func TestHandler_wantsOnlyChanges(t *testing.T) {
	h := format.New(format.Standard(), (&disk{}).world())
	before := edit(event.Claude, "Edit", map[string]string{"file_path": "/p/a.go"})
	before.Name = event.PreToolUse
	for _, ev := range []*event.Event{before, {Name: event.PostToolUse}, {Name: event.Stop},
		edit(event.Claude, "Read", map[string]string{"file_path": "/p/a.go"}), edit(event.Claude, "Bash", map[string]string{"command": "ls"})} {
		if h.Wants(ev) {
			t.Errorf("it wants %+v", ev)
		}
	}
}

func TestHandler_leavesTheFileAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		result policy.Result
		says   string
	}{
		{"a file that does not parse", policy.Result{Code: 2, Stderr: []byte("a.go:1: boom\nmore"), Stdout: []byte("half")}, "cannot read a.go (exit code 2): a.go:1: boom"},
		{"too slow", policy.Result{Code: -1, Late: true}, "too long"},
		{"nothing came out", policy.Result{}, ""},
		{"too much came out", policy.Result{Stdout: []byte("Y"), Cut: true}, ""},
	} {
		d := &disk{files: map[string]string{"/p/a.go": "x"}, values: map[string][]byte{}, result: &c.result}
		v, err := format.New(format.Standard(), d.world()).Handle(t.Context(), edit(event.Claude, "Edit", map[string]string{"file_path": "a.go"}))
		if err != nil || d.replaced != 0 || !strings.Contains(strings.Join(v.Contexts, ""), c.says) || (c.says == "") != v.IsZero() {
			t.Errorf("%s: %q, %v, replaced %d times", c.name, v.Contexts, err, d.replaced)
		}
	}
	d := &disk{files: map[string]string{"/p/a.go": "x"}, values: map[string][]byte{}}
	d.during = func() { d.files["/p/a.go"] = "newer" }
	if v, err := format.New(format.Standard(), d.world()).Handle(t.Context(), edit(event.Claude, "Edit", map[string]string{"file_path": "a.go"})); err != nil || !v.IsZero() || d.files["/p/a.go"] != "newer" {
		t.Errorf("what was written meanwhile is lost: %+v %v %v", v, err, d.files)
	}
}

func TestHandler_tellsOnceThatAProgramIsMissing(t *testing.T) {
	d := &disk{files: map[string]string{"/p/a.go": "x"}, values: map[string][]byte{}, absent: true}
	h := format.New(format.Standard(), d.world())
	ev := edit(event.Claude, "Edit", map[string]string{"file_path": "a.go"})
	v, err := h.Handle(t.Context(), ev)
	if err != nil || !strings.Contains(v.SystemMessage, "gofmt is not on PATH") || v.Contexts != nil {
		t.Errorf("got %+v, %v", v, err)
	}
	if v, err = h.Handle(t.Context(), ev); err != nil || !v.IsZero() {
		t.Errorf("a second time: %+v, %v", v, err)
	}
	ev.Session.ID, ev.Provider = "t", event.Copilot
	if v, err = h.Handle(t.Context(), ev); err != nil || len(v.Contexts) != 1 {
		t.Errorf("another session, whose client shows no messages: %+v, %v", v, err)
	}
}

func TestCheck(t *testing.T) {
	if row, key, problem := format.Check(format.Standard()); row >= 0 {
		t.Errorf("the standard: %d %s %s", row, key, problem)
	}
	for _, c := range []struct {
		f   format.Formatter
		key string
	}{
		{format.Formatter{Command: []string{"x"}}, "match"},
		{format.Formatter{Match: []string{"*.x"}}, "command"},
		{format.Formatter{Match: []string{"*.x"}, Command: []string{"bin/x"}}, "command"},
		{format.Formatter{Match: []string{"["}, Command: []string{"x"}}, "match"},
		{format.Formatter{Match: []string{"a/*.x"}, Command: []string{"x"}}, "match"},
		{format.Formatter{Match: []string{"*.x"}, Command: []string{"x"}, Limit: policy.Duration(1e12)}, "limit"},
	} {
		if row, key, problem := format.Check([]format.Formatter{c.f}); row != 0 || key != c.key || problem == "" {
			t.Errorf("%+v: got %d %q %q", c.f, row, key, problem)
		}
	}
}

func TestHandler_passesErrorsOn(t *testing.T) {
	broken := errors.New("disk on fire")
	d := &disk{files: map[string]string{"/p/a.go": "x"}, values: map[string][]byte{}}
	w := d.world()
	w.Read = func(string, int) ([]byte, error) { return nil, broken }
	if _, err := format.New(format.Standard(), w).Handle(t.Context(), edit(event.Claude, "Edit", map[string]string{"file_path": "a.go"})); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
