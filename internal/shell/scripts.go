package shell

import (
	"encoding/json"
	"strings"
)

// packageScripts returns the scripts of a package.json, nil if it is not one.
func packageScripts(content string) map[string]string {
	var p struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
	}
	if json.Unmarshal([]byte(content), &p) != nil {
		return nil
	}
	out := make(map[string]string, len(p.Scripts))
	for name, raw := range p.Scripts {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out[name] = s
		}
	}
	return out
}

// rule is one rule of a makefile or justfile.
type rule struct {
	needs  []string
	recipe []string
}

// makeShell walks $(shell CMD) outside recipes, which make runs as it reads them.
func (w *walker) makeShell(line string, c ctx) {
	for {
		_, rest, ok := strings.Cut(line, "$(shell ")
		if !ok {
			return
		}
		depth, end := 1, 0
		for end < len(rest) && depth > 0 {
			switch rest[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
			end++
		}
		if depth > 0 || !w.step(1+end/64) {
			return
		}
		a := Arg{Value: exact(strings.ReplaceAll(rest[:end-1], "$$", "$")), Offset: c.pos[0], End: c.pos[1]}
		w.shellWord(&a, "make", -1, c)
		line = rest[end:]
	}
}

// makefile walks the recipes that making the targets would run: those of the
// targets and of what they need. It knows plain variables, no functions.
func (w *walker) makefile(content string, targets []string, sets map[string]string, c ctx) {
	rules := map[string]rule{}
	vars := map[string]string{}
	first := ""
	var current []string
	content = strings.ReplaceAll(content, "\\\n", " ")
	w.step(1 + len(content)/64)
	for line := range strings.SplitSeq(content, "\n") {
		if !w.step(1) {
			return
		}
		if line == "" {
			continue
		}
		if line[0] == '\t' || (line[0] == ' ' && len(current) > 0) {
			for _, t := range current {
				r := rules[t]
				r.recipe = append(r.recipe, strings.TrimSpace(line))
				rules[t] = r
			}
			continue
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		w.makeShell(line, c)
		if name, val, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(strings.TrimRight(name, ":?+! "), ": \t") {
			vars[strings.TrimSpace(strings.TrimRight(name, ":?+! "))] = strings.TrimSpace(val)
			if strings.HasPrefix(val, "!") {
				a := Arg{Value: exact(strings.TrimSpace(val[1:])), Offset: c.pos[0], End: c.pos[1]}
				w.shellWord(&a, "make", -1, c)
			}
			current = nil
			continue
		}
		names, needs, ok := strings.Cut(line, ":")
		if !ok {
			current = nil
			continue
		}
		current = strings.Fields(names)
		if len(current) > 64 {
			current = current[:64]
		}
		needs, inline, hasInline := strings.Cut(needs, ";")
		for i, t := range current {
			if i == 0 && first == "" && !strings.HasPrefix(t, ".") {
				first = t
			}
			r := rules[t]
			r.needs = append(r.needs, strings.Fields(strings.TrimPrefix(needs, ":"))...)
			if hasInline {
				r.recipe = append(r.recipe, strings.TrimSpace(inline))
			}
			rules[t] = r
		}
	}
	for k, v := range sets {
		vars[k] = v
	}
	if len(targets) == 0 && first != "" {
		targets = []string{first}
	}
	done := map[string]bool{}
	queue := append([]string(nil), targets...)
	for len(queue) > 0 && w.step(1) {
		t := queue[0]
		queue = queue[1:]
		if done[t] {
			continue
		}
		done[t] = true
		r, ok := rules[t]
		if !ok {
			continue
		}
		for _, need := range r.needs {
			queue = append(queue, w.makeText(need, vars, t, 0))
		}
		for _, line := range r.recipe {
			text := strings.TrimLeft(w.makeText(line, vars, t, 0), "@-+ ")
			a := Arg{Value: exact(text), Offset: c.pos[0], End: c.pos[1]}
			w.shellWord(&a, "make", -1, c)
			if w.over {
				return
			}
		}
	}
}

// makeText expands $(X), ${X}, $@ and $$ in a makefile line.
func (w *walker) makeText(s string, vars map[string]string, target string, hops int) string {
	if strings.IndexByte(s, '$') < 0 || hops > 8 || !w.step(1+len(s)/64) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || i+1 >= len(s) || b.Len() > 64<<10 {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch ch := s[i]; ch {
		case '$':
			b.WriteByte('$')
		case '@':
			b.WriteString(target)
		case '(', '{':
			closer := byte(')')
			if ch == '{' {
				closer = '}'
			}
			end := strings.IndexByte(s[i:], closer)
			if end < 0 {
				b.WriteString(s[i-1:])
				return b.String()
			}
			name := s[i+1 : i+end]
			i += end
			if v, ok := vars[name]; ok {
				b.WriteString(w.makeText(v, vars, target, hops+1))
			} else if cmd, ok := strings.CutPrefix(name, "shell "); ok {
				b.WriteString("$(" + cmd + ")")
			} else if isName(name) {
				b.WriteString("${" + name + "}")
			}
		default:
			b.WriteByte('$')
			b.WriteByte(ch)
		}
	}
	return b.String()
}
