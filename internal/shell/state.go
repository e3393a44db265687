package shell

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// state is what a shell knows while it runs. Maps are copied before a branch or
// a subshell changes them.
type state struct {
	vars     map[string]variable
	funcs    map[string]function
	aliases  map[string]Value
	exported []Assign
	dir      Value
	oldDir   *Value
	dirs     []Value    // pushd stack
	open     []Redirect // descriptors that exec opened
	params   []Arg
	name0    *Arg
	knows    bool // params is complete: inside a function or script called here
	dead     bool // after exit, return, exec
	allexp   bool // set -a
	remote   bool // another machine: World does not apply
}

type variable struct {
	val      Value
	arr      []Value
	keys     map[string]Value
	isArray  bool
	exported bool
	ref      string
	unset    bool
}

type function struct {
	body *syntax.Stmt
	src  *source
	ps   string // the body of a PowerShell function
}

func (s *state) clone() *state {
	n := *s
	n.vars = maps.Clone(s.vars)
	n.funcs = maps.Clone(s.funcs)
	n.aliases = maps.Clone(s.aliases)
	return &n
}

// fork clones the state and charges for it.
func (w *walker) fork() *state {
	w.step(1 + len(w.st.vars) + len(w.st.funcs) + len(w.st.aliases))
	return w.st.clone()
}

// sub runs f in a copy of the state that is thrown away.
func (w *walker) sub(f func()) {
	old := w.st
	w.st = w.fork()
	w.ending(f)
	w.st = old
}

// branches runs f for each of n ways the command may take and merges the
// states. With orNone, taking none of them is one more way.
func (w *walker) branches(n int, f func(int), orNone bool) {
	if n == 1 && !orNone {
		f(0)
		return
	}
	start := w.st
	var merged *state
	if orNone {
		merged = start
	}
	for i := range n {
		if w.over {
			return
		}
		w.st = start
		w.st = w.fork()
		f(i)
		merged = w.merge(merged, w.st)
	}
	if merged == nil {
		merged = start
	}
	w.st = merged
}

// merge returns a state that may be either of two.
func (w *walker) merge(a, b *state) *state {
	switch {
	case a == nil || a == b:
		return b
	case b.dead:
		return a
	case a.dead:
		return b
	}
	w.step(1 + len(a.vars) + len(b.vars))
	out := b.clone()
	for name, va := range a.vars {
		vb, ok := b.vars[name]
		if !ok {
			vb = variable{val: w.inherited(name)}
		}
		out.setVar(name, mergeVar(va, vb))
	}
	for name, vb := range b.vars {
		if _, ok := a.vars[name]; !ok {
			out.setVar(name, mergeVar(vb, variable{val: w.inherited(name)}))
		}
	}
	for name, fn := range a.funcs {
		if _, ok := out.funcs[name]; !ok {
			if out.funcs == nil {
				out.funcs = map[string]function{}
			}
			out.funcs[name] = fn
		}
	}
	for name, v := range a.aliases {
		if _, ok := out.aliases[name]; !ok {
			if out.aliases == nil {
				out.aliases = map[string]Value{}
			}
			out.aliases[name] = v
		}
	}
	if !a.dir.equal(&b.dir) {
		out.dir = either(a.dir, b.dir)
	}
	if len(a.exported) > len(b.exported) {
		out.exported = a.exported
	}
	return out
}

func mergeVar(a, b variable) variable {
	if a.isArray || b.isArray {
		if a.isArray && b.isArray && slices.EqualFunc(a.arr, b.arr, func(x, y Value) bool { return x.equal(&y) }) {
			return a
		}
		if len(b.arr) > len(a.arr) {
			return b
		}
		return a
	}
	if a.val.equal(&b.val) {
		return a
	}
	a.val = either(a.val, b.val)
	a.unset = a.unset && b.unset
	a.exported = a.exported || b.exported
	return a
}

func (s *state) setVar(name string, v variable) {
	if s.vars == nil {
		s.vars = map[string]variable{}
	}
	s.vars[name] = v
}

// assign gives a variable a scalar value, keeping its attributes.
func (w *walker) assign(name string, v Value) {
	old := w.st.vars[name]
	for range 8 {
		if old.ref == "" {
			break
		}
		name = old.ref
		old = w.st.vars[name]
	}
	old.val, old.arr, old.keys, old.isArray, old.unset = v, nil, nil, false, false
	if w.st.allexp {
		old.exported = true
	}
	w.st.setVar(name, old)
	w.charge(v)
	if old.exported {
		w.export(name, v)
	}
}

func (w *walker) export(name string, v Value) {
	w.step(1 + len(w.st.exported))
	next := make([]Assign, 0, len(w.st.exported)+1)
	for _, a := range w.st.exported {
		if a.Name != name {
			next = append(next, a)
		}
	}
	w.st.exported = append(next, Assign{Name: name, Value: v, Exported: true})
}

// lookup returns a variable set by the command.
func (w *walker) lookup(name string) (variable, bool) {
	v, ok := w.st.vars[name]
	for range 8 {
		if !ok || v.ref == "" {
			break
		}
		v, ok = w.st.vars[v.ref]
	}
	return v, ok && !v.unset
}

// inherited returns the value of a variable that the command did not set.
func (w *walker) inherited(name string) Value {
	switch name {
	case "PWD":
		return w.st.dir
	case "OLDPWD":
		if w.st.oldDir != nil {
			return *w.st.oldDir
		}
	case "IFS":
		return exact(" \t\n")
	case "RANDOM", "SECONDS", "EPOCHSECONDS", "SRANDOM", "LINENO", "PPID", "BASHPID", "UID", "EUID", "COLUMNS", "LINES", "SHLVL":
		return hole(HoleNumber, name)
	case "HOME":
		if w.world.Home != "" && !w.st.remote {
			return exact(w.world.Home)
		}
	}
	h := Hole{Kind: HoleVar, Name: name}
	if w.world.Env != nil && !w.st.remote {
		v, ok := w.world.Env(name)
		if ok {
			return exact(v)
		}
		h.Unset = true
	}
	return Value{Holes: []Hole{h}}
}

// variable returns the scalar value of a name: the first element of an array.
func (w *walker) variable(name string) Value {
	if v, ok := w.lookup(name); ok {
		if v.isArray {
			if len(v.arr) > 0 {
				return v.arr[0]
			}
			return Value{}
		}
		return v.val
	}
	if v, ok := w.st.vars[name]; ok && v.unset {
		return Value{}
	}
	return w.inherited(name)
}

// child returns the state of a new shell process started here.
func (w *walker) child() *state {
	st := w.fork()
	for name, v := range st.vars {
		if !v.exported {
			delete(st.vars, name)
		}
	}
	st.params, st.name0, st.knows, st.dead, st.allexp = nil, nil, true, false, false
	st.dirs = nil
	return st
}

// elsewhere returns the state of a shell on another machine.
func (w *walker) elsewhere() *state {
	return &state{dir: hole(HolePath, ""), knows: true, remote: true}
}
