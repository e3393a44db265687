package shell

import (
	"maps"
	"slices"
	"strconv"

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
			vb = w.unassigned(name, va)
		}
		out.setVar(name, w.mergeVar(va, vb))
	}
	for name, vb := range b.vars {
		if _, ok := a.vars[name]; !ok {
			out.setVar(name, w.mergeVar(vb, w.unassigned(name, vb)))
		}
	}
	out.funcs = w.mergeFunctions(a.funcs, b.funcs)
	for name, v := range a.aliases {
		if other, ok := out.aliases[name]; ok {
			v = either(v, other)
		} else if out.aliases == nil {
			out.aliases = map[string]Value{}
		}
		out.aliases[name] = v
	}
	if !a.dir.equal(&b.dir) {
		out.dir = either(a.dir, b.dir)
	}
	switch {
	case b.oldDir == nil:
		out.oldDir = a.oldDir
	case a.oldDir != nil && !a.oldDir.equal(b.oldDir):
		old := either(*a.oldDir, *b.oldDir)
		out.oldDir = &old
	}
	out.dirs = w.mergeStacks(a.dirs, b.dirs)
	w.mergeParams(out, a, b)
	w.mergeExported(out, a)
	if len(a.open) > len(b.open) {
		out.open = a.open
	}
	out.errexit = a.errexit && b.errexit // where it may be off, what fails goes on
	out.allexp = a.allexp || b.allexp
	return out
}

// unassigned is a variable that one of two ways did not set, other being what it is on
// the other. An array is then no word at all, and stays what it is.
func (w *walker) unassigned(name string, other variable) variable {
	if other.isArray {
		return other
	}
	return variable{val: w.inherited(name)}
}

func (w *walker) mergeVar(a, b variable) variable {
	if a.isArray || b.isArray {
		a.arr, a.isArray = w.mergeValues(a.elements(), b.elements()), true
	}
	if !a.val.equal(&b.val) {
		a.val = either(a.val, b.val)
	}
	a.keys = w.mergeKeys(a.keys, b.keys)
	a.unset = a.unset && b.unset
	a.exported = a.exported || b.exported
	return a
}

// elements are the values of a variable as an array has them.
func (v *variable) elements() []Value {
	switch {
	case v.isArray:
		return v.arr
	case v.unset || v.val.IsEmpty():
		return nil
	}
	return []Value{v.val}
}

// mergeValues is what stands at each place of one list or the other.
func (w *walker) mergeValues(a, b []Value) []Value {
	if len(a) < len(b) {
		a, b = b, a
	}
	w.step(1 + len(a)/4)
	if slices.EqualFunc(a, b, func(x, y Value) bool { return x.equal(&y) }) {
		return a
	}
	out := slices.Clone(a)
	for i := range b {
		if !a[i].equal(&b[i]) {
			out[i] = either(a[i], b[i])
		}
	}
	return out
}

func (w *walker) mergeKeys(a, b map[string]Value) map[string]Value {
	if len(a) == 0 || len(b) == 0 {
		if len(a) == 0 && b != nil {
			return b
		}
		return a
	}
	w.step(len(a) + len(b))
	out := maps.Clone(a)
	for k, v := range b {
		if old, ok := a[k]; ok {
			v = either(old, v)
		}
		out[k] = v
	}
	return out
}

// mergeStacks merges two stacks of folders, which have their tops last.
func (w *walker) mergeStacks(a, b []Value) []Value {
	if len(a) < len(b) {
		a, b = b, a
	}
	under := len(a) - len(b)
	return slices.Concat(a[:under], w.mergeValues(a[under:], b))
}

// mergeParams gives out the parameters of a or b. What only one of them has may be
// empty, and is not known where the other's are not.
func (w *walker) mergeParams(out, a, b *state) {
	out.knows = a.knows && b.knows
	if len(a.params)+len(b.params) == 0 || len(a.params) == len(b.params) && len(a.params) > 0 && &a.params[0] == &b.params[0] {
		return
	}
	w.step(len(a.params) + len(b.params))
	at := func(s *state, i int) Value {
		switch {
		case i < len(s.params):
			return s.params[i].Value
		case s.knows:
			return Value{}
		}
		return hole(HoleParam, strconv.Itoa(i+1))
	}
	long, short := a, b
	if len(a.params) < len(b.params) {
		long, short = b, a
	}
	out.params = slices.Clone(long.params)
	for i := range out.params {
		p := &out.params[i]
		p.Value = either(p.Value, at(short, i))
		if i < len(short.params) {
			p.Splits = p.Splits || short.params[i].Splits
			p.Glob = p.Glob || short.params[i].Glob
		}
	}
}

// mergeExported adds to out what a exports.
func (w *walker) mergeExported(out, a *state) {
	if len(a.exported) == 0 || len(a.exported) == len(out.exported) && &a.exported[0] == &out.exported[0] {
		return
	}
	w.step(len(a.exported) + len(out.exported))
	at := make(map[string]int, len(out.exported))
	for i, e := range out.exported {
		at[e.Name] = i
	}
	out.exported = slices.Clone(out.exported)
	for _, e := range a.exported {
		if i, ok := at[e.Name]; ok {
			out.exported[i].Value = either(out.exported[i].Value, e.Value)
		} else {
			out.exported = append(out.exported, e)
		}
	}
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
