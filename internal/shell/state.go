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
	stay     *Value     // where the shell still is if the last cd failed
	dirs     []Value    // pushd stack
	open     []Redirect // descriptors that exec opened
	params   []Arg
	name0    *Arg
	knows    bool // params is complete: inside a function or script called here
	dead     bool // after exit, return, exec
	allexp   bool // set -a
	errexit  bool // set -e
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
	bodies   []body // which one is defined may depend on how a branch went
	maybe    bool   // or none is, and the program of that name runs
	exported bool   // shells started from here have it too
}

type body struct {
	stmt *syntax.Stmt
	src  *source
	// ps is the body of a PowerShell function, params what stands in the brackets
	// behind its name.
	ps, params string
}

// maxBodies bounds the bodies that one function may have.
const maxBodies = 16

// either is a function that is this one or the other.
func (f function) either(other function) function {
	f.maybe = f.maybe || other.maybe
	f.exported = f.exported || other.exported
	all := f.bodies[:len(f.bodies):len(f.bodies)]
	for _, b := range other.bodies {
		if !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	f.bodies = all
	return f
}

// define makes a function, in place of an earlier one of that name.
func (w *walker) define(name string, b body) {
	if w.st.funcs == nil {
		w.st.funcs = map[string]function{}
	}
	w.st.funcs[name] = function{bodies: []body{b}, exported: w.st.allexp}
}

// mergeFunctions is what may be defined where either a or b is.
func (w *walker) mergeFunctions(a, b map[string]function) map[string]function {
	if len(a)+len(b) == 0 {
		return b
	}
	w.step(len(a) + len(b))
	out := maps.Clone(b)
	if out == nil {
		out = map[string]function{}
	}
	for name, fn := range b {
		if other, ok := a[name]; ok {
			if fn = fn.either(other); len(fn.bodies) > maxBodies {
				w.fail("functions of one name", maxBodies)
			}
		} else {
			fn.maybe = true
		}
		out[name] = fn
	}
	for name, fn := range a {
		if _, ok := b[name]; !ok {
			fn.maybe = true
			out[name] = fn
		}
	}
	return out
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
	out.funcs = w.mergeFunctions(a.funcs, b.funcs)
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
		if ok && w.private(name) {
			h.NonEmpty = v != ""
			return Value{Holes: []Hole{h}}
		}
		if ok {
			return exact(v)
		}
		h.Unset = true
	}
	return Value{Holes: []Hole{h}}
}

// private reports whether the value of an environment variable is not to be known.
func (w *walker) private(name string) bool {
	return w.world.Private != nil && w.world.Private(name)
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
	for name, fn := range st.funcs {
		if !fn.exported {
			delete(st.funcs, name)
		}
	}
	st.aliases = nil
	st.params, st.name0, st.knows, st.dead, st.allexp = nil, nil, true, false, false
	st.dirs, st.stay, st.errexit = nil, nil, false
	return st
}

// elsewhere returns the state of a shell on another machine.
func (w *walker) elsewhere() *state {
	return &state{dir: hole(HolePath, ""), knows: true, remote: true}
}

// maxDirs bounds the stack of pushd. What lies deeper is forgotten, and so unknown.
const maxDirs = 32

// pushDir puts a folder on the stack, which copies of the state share.
func (st *state) pushDir(dir Value) {
	kept := st.dirs[max(0, len(st.dirs)-maxDirs+1):]
	st.dirs = append(slices.Clip(kept), dir)
}
