package shell

import "strings"

// show renders the leaves of a command one a line: the wrapper chain, the
// words, redirections and what feeds it, in a form short enough for tables.
func show(f *Facts) string {
	var b strings.Builder
	for i := range f.Leaves {
		l := &f.Leaves[i]
		for _, v := range l.Via {
			b.WriteString(v.Name)
			if v.Host != "" {
				b.WriteString("@" + v.Host)
			}
			b.WriteString("> ")
		}
		if d := l.Dir.String(); d != "/code" {
			b.WriteString("(in " + d + ") ")
		}
		for j := range l.Assigns {
			if l.Flags&Builtin == 0 {
				b.WriteString(l.Assigns[j].Name + "=" + l.Assigns[j].Value.String() + " ")
			}
		}
		for j := range l.Argv {
			if j > 0 {
				b.WriteByte(' ')
			}
			a := &l.Argv[j]
			t := a.String()
			if t == "" || strings.ContainsAny(t, " \n") {
				t = "[" + strings.ReplaceAll(t, "\n", `\n`) + "]"
			}
			b.WriteString(t)
		}
		for j := range l.Redirects {
			r := &l.Redirects[j]
			if r.Inherited {
				continue
			}
			b.WriteString(" " + r.Op)
			if r.Here == nil {
				b.WriteString(r.Target.String())
			}
		}
		b.WriteByte('\n')
	}
	for _, c := range f.Code {
		b.WriteString("code " + c.Language + ": " + strings.ReplaceAll(c.Text.String(), "\n", `\n`) + "\n")
	}
	for _, o := range f.Opaque {
		b.WriteString("opaque " + o.Why + ": " + o.Text.String() + "\n")
	}
	for _, p := range f.Problems {
		b.WriteString("problem " + p.Kind.String() + ": " + p.Path + p.Detail + "\n")
	}
	for _, r := range f.Recursions {
		b.WriteString("recursion " + r.Name)
		if r.Forks {
			b.WriteString(" forks")
		}
		b.WriteByte('\n')
	}
	if f.Over != nil {
		b.WriteString("over " + f.Over.What + "\n")
	}
	return b.String()
}

type world map[string]string

func (m world) read(path string, max int) (string, bool) {
	s, ok := m[path]
	return s, ok && len(s) <= max
}

func testWorld() World {
	files := world{
		"/code/clean.sh":     "#!/bin/sh\nrm -rf \"$1\"\n",
		"/code/tool.py":      "#!/usr/bin/env python3\nimport shutil\n",
		"/code/loop.sh":      "./loop.sh & ./loop.sh",
		"/code/package.json": `{"scripts":{"build":"tsc -p .","nuke":"rm -rf dist && echo done","prebuild":"rm -rf out"}}`,
		"/code/Makefile":     "OUT = build\nall: clean\n\techo all\nclean:\n\trm -rf $(OUT)\n",
		"/code/env.sh":       "X=/srv/data\n",
		"/code/payload.txt":  "rm -rf /payload\n",
	}
	return World{
		Dir: "/code", Home: "/home/u",
		Env: func(name string) (string, bool) {
			switch name {
			case "USER":
				return "u", true
			case "PATH":
				return "/usr/bin:/bin", true
			}
			return "", false
		},
		ReadFile: files.read,
		Glob: func(dir, pattern string) ([]string, bool) {
			if dir == "/code" && pattern == "*.pyc" {
				return []string{"a.pyc", "b.pyc"}, true
			}
			if !strings.ContainsAny(pattern, "*?[") && pattern != "gone" {
				return []string{pattern}, true
			}
			return nil, true
		},
	}
}
