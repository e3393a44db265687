package shell

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Inspect returns the facts about a command written in dialect d. It always
// returns facts; what could not be understood is part of them.
func Inspect(command string, d Dialect, world World) (facts *Facts) {
	f := &Facts{Text: command, Dialect: d}
	w := &walker{f: f, world: &world, lim: world.Limits.withDefaults()}
	w.st = &state{}
	if world.Dir != "" {
		w.st.dir = exact(world.Dir)
	} else {
		w.st.dir = hole(HolePath, "")
	}
	if len(command) > w.lim.Bytes {
		w.fail("bytes", w.lim.Bytes)
		return f
	}
	w.src = &source{text: command, dialect: d, verbatim: true}
	defer func() {
		// A bug here must not become a command nobody looked at.
		if p := recover(); p != nil {
			w.over = false
			w.fail("bug", 0)
			f.bug = fmt.Sprintf("%v\n%s", p, debug.Stack())
			facts = f
		}
	}()
	w.ending(func() { w.text(command, d, ctx{}) })
	f.Dir = w.st.dir
	return f
}

// walker carries one Inspect call.
type walker struct {
	f     *Facts
	world *World
	lim   Limits
	st    *state
	src   *source

	steps, nextAsk int
	depth          int
	over           bool
	calls          []call           // functions and aliases being walked, innermost last
	scripts        []string         // script files being walked
	files          map[string]Value // files the command wrote, by absolute path
	copied         map[string]Value // and those it copied or linked, to where they were
	npmScripts     map[string]Value // scripts the command put into package.json
	traps          []trapped        // of the shell being walked
	labels         map[string]bool  // labels of a batch file that were called
	procs          []Value          // what process substitutions print
}

// call is a function, alias or script being walked. Two functions of one name,
// as in a shell started by a function, have different bodies.
type call struct {
	name string
	body *syntax.Stmt
}

func (w *walker) calling(c call) bool { return slices.Contains(w.calls, c) }

// source is one text being walked: the command itself, the operand of a sh -c,
// a script file.
type source struct {
	text    string
	dialect Dialect
	// verbatim is set when the text stands unchanged in Facts.Text at base;
	// otherwise everything in it has the offsets base and end.
	verbatim  bool
	base, end int
	// holes are the unknown parts that placeholder runes in text stand for.
	holes  []Hole
	script bool
}

// ctx is what surrounds the node being walked. It is copied freely.
type ctx struct {
	in      Input
	stream  *stream
	out     *builder // collects output when something will consume it
	outKind OutputKind
	redirs  []Redirect
	via     []Wrap
	assigns []Assign // from env wrappers around
	flags   Flags
	quoted  bool // the program's word is: aliases do not apply
	bare    bool // nor do functions: after command or a wrapper
	pos     [2]int
}

// stream is standard input with known text, consumed by read.
type stream struct{ text Value }

// step charges n units of work and reports whether the walk may go on.
func (w *walker) step(n int) bool {
	if w.over {
		return false
	}
	w.steps += n
	if w.steps > w.lim.Steps {
		w.fail("steps", w.lim.Steps)
		return false
	}
	if w.steps >= w.nextAsk {
		w.nextAsk = w.steps + 256
		return w.ask()
	}
	return true
}

func (w *walker) ask() bool {
	if w.world.Budget != nil && !w.world.Budget() {
		w.fail("budget", 0)
	}
	return !w.over
}

func (w *walker) fail(what string, limit int) {
	if !w.over {
		w.over = true
		w.f.Over = &Over{What: what, Limit: limit}
	}
}

// enter goes one level down; every true must be followed by leave.
func (w *walker) enter() bool {
	if !w.step(1) {
		return false
	}
	if w.depth >= w.lim.Depth {
		w.fail("depth", w.lim.Depth)
		return false
	}
	w.depth++
	return true
}

func (w *walker) leave() { w.depth-- }

// offset translates a byte offset in the current source to one in Facts.Text.
func (w *walker) offset(p syntax.Pos) int {
	if w.src.verbatim {
		return w.src.base + int(p.Offset())
	}
	return w.src.base
}

func (w *walker) endOffset(p syntax.Pos) int {
	if w.src.verbatim {
		return min(w.src.base+int(p.Offset()), len(w.f.Text))
	}
	return w.src.end
}

// text walks program text in dialect d in the current state.
func (w *walker) text(text string, d Dialect, c ctx) {
	if !w.enter() {
		return
	}
	defer w.leave()
	switch d {
	case PowerShell:
		w.powershell(text, c)
	case Cmd:
		w.cmdText(text, c)
	default:
		w.posix(text, d, c)
	}
}

func (w *walker) posix(text string, d Dialect, c ctx) {
	file, err := w.parse(text, d)
	if w.over {
		return
	}
	if err != nil {
		w.problem(Problem{Kind: Unparsable, Detail: err.Error(), Leaf: -1, Offset: w.src.base})
	}
	if file != nil {
		w.stmts(file.Stmts, c)
	}
}

func (w *walker) problem(p Problem) {
	if n := len(w.f.Problems); n > 0 && w.f.Problems[n-1] == p {
		return
	}
	if len(w.f.Problems) < 64 {
		w.f.Problems = append(w.f.Problems, p)
	}
}

func (w *walker) opaque(o Opaque) {
	if len(w.f.Opaque) < 64 {
		w.f.Opaque = append(w.f.Opaque, o)
	}
}

func (w *walker) parse(text string, d Dialect) (*syntax.File, error) {
	if !w.step(1 + len(text)/8) {
		return nil, nil
	}
	// Many a sh is bash, which keeps its own grammar under that name, so bash
	// comes first there. The zsh grammar of the parser is young: what bash
	// accepts is not worth a refusal.
	first, second := syntax.LangBash, syntax.LangPOSIX
	if d == Zsh {
		first, second = syntax.LangZsh, syntax.LangBash
	}
	file, err := w.parseAs(text, first)
	if err != nil && !w.over && d != Bash {
		if f2, err2 := w.parseAs(text, second); err2 == nil {
			return f2, nil
		}
	}
	return file, err
}

func (w *walker) parseAs(text string, variant syntax.LangVariant) (file *syntax.File, err error) {
	defer func() {
		// The parser is someone else's code and the input hostile.
		if p := recover(); p != nil {
			file, err = nil, errors.New("the parser gave up")
		}
	}()
	r := &guard{w: w, text: text}
	file, err = syntax.NewParser(syntax.Variant(variant)).Parse(r, "")
	if r.deep {
		w.fail("depth", w.lim.Depth)
	}
	return file, err
}

// maxFrames bounds the call stack while parsing. The parser is recursive
// descent without a limit of its own, and a Go program dies of stack overflow
// without a chance to recover; one level of $( takes about ten frames.
const maxFrames = 6000

// guard feeds text to the parser in its own chunks of 1 KiB and cuts it off
// when the parser has recursed too deep or the budget is used up.
type guard struct {
	w    *walker
	text string
	deep bool
}

func (g *guard) Read(p []byte) (int, error) {
	if g.text == "" {
		return 0, io.EOF
	}
	if len(g.text) < 1<<20 { // not the first chunk of a short text
		var pc [1]uintptr
		if runtime.Callers(maxFrames, pc[:]) > 0 {
			g.deep = true
			return 0, errors.New("nested too deep")
		}
	}
	if !g.w.ask() {
		return 0, errors.New("out of budget")
	}
	n := copy(p, g.text)
	g.text = g.text[n:]
	return n, nil
}

// Placeholders stand for holes in text that is parsed as a program. They are
// runes of a private plane; one in the original text that happens to have a
// number in use is read as the hole, which only makes the facts vaguer.
const placeholder = '\U000F0000'

const maxPlaceholders = 1000

// program turns a value without alternatives into parsable text and its holes.
func program(v Value) (string, []Hole, bool) {
	if len(v.Holes) == 0 {
		return v.Text, nil, true
	}
	if len(v.Holes) > maxPlaceholders {
		return "", nil, false
	}
	var b strings.Builder
	last := 0
	for i, h := range v.Holes {
		b.WriteString(v.Text[last:h.At])
		last = h.At
		b.WriteRune(placeholder + rune(i))
	}
	b.WriteString(v.Text[last:])
	return b.String(), v.Holes, true
}

// literal turns text of the current source into a value, with its holes back
// in place.
func (w *walker) literal(s string) Value {
	if len(w.src.holes) == 0 || !strings.Contains(s, "\xf3\xb0") {
		return exact(s)
	}
	var b builder
	last := 0
	for i, r := range s {
		n := int(r - placeholder)
		if n < 0 || n >= len(w.src.holes) {
			continue
		}
		b.addText(s[last:i])
		h := w.src.holes[n]
		h.At = 0
		b.add(Value{Holes: []Hole{h}})
		last = i + 4
	}
	b.addText(s[last:])
	return b.take()
}

// restore is literal for text that was put together from the source.
func (w *walker) restore(v Value) Value {
	if len(w.src.holes) == 0 || !strings.Contains(v.Text, "\xf3\xb0") || len(v.Alts) > 0 {
		return v
	}
	var b builder
	last := 0
	for _, h := range v.Holes {
		b.add(w.literal(v.Text[last:h.At]))
		last = h.At
		h.At = 0
		b.add(Value{Holes: []Hole{h}})
	}
	b.add(w.literal(v.Text[last:]))
	return b.take()
}

// code walks the value as program text: each of its alternatives in turn. at is
// the word that brought it, for positions. It reports false if the text is
// wholly unknown, and has then noted it as opaque.
func (w *walker) code(v Value, d Dialect, at *Arg, why string, c ctx) bool {
	if len(v.Alts) > 0 {
		ok := true
		w.branches(len(v.Alts), func(i int) { ok = w.code(v.Alts[i], d, at, why, c) && ok }, false)
		return ok
	}
	off, end := c.pos[0], c.pos[1]
	if at != nil {
		off, end = at.Offset, at.End
	}
	fromFile := false
	if v, fromFile = w.contents(v, off); len(v.Alts) > 0 {
		return w.code(v, d, at, why, c)
	}
	text, holes, ok := program(v)
	if !ok || (len(holes) > 0 && strings.Trim(v.Text, " \t\n;&|({") == "") {
		// Nothing known of it that could be a program.
		w.opaque(Opaque{Leaf: len(w.f.Leaves) - 1, Text: v, From: v.origin(), Why: why, Offset: off})
		return false
	}
	verbatim, base := false, off
	if w.src.verbatim && at != nil && len(holes) == 0 {
		for _, skip := range [...]int{1, 0, 2} {
			o := at.Offset + skip
			if o+len(text) <= len(w.f.Text) && w.f.Text[o:o+len(text)] == text {
				verbatim, base = true, o
				break
			}
		}
	}
	w.nested(text, holes, d, base, end, verbatim, fromFile, c)
	return true
}

// contents puts the text of files in the place of the holes that stand for it,
// now that it is going to be executed.
func (w *walker) contents(v Value, off int) (Value, bool) {
	files := 0
	for _, h := range v.Holes {
		if h.Kind == HoleInput && h.Name != "" {
			files++
		}
	}
	// Files may stand for each other in a ring.
	if files == 0 || files > 16 || !w.enter() {
		return v, false
	}
	defer w.leave()
	var b builder
	last, found := 0, false
	for _, h := range v.Holes {
		b.addText(v.Text[last:h.At])
		last = h.At
		h.At = 0
		if h.Kind == HoleInput && h.Name != "" {
			if text, ok := w.written(exact(h.Name)); ok && !hasFile(text, h.Name) {
				text, _ = w.contents(text, off)
				b.add(text)
				found = true
				continue
			}
			if content, ok := w.readScript(exact(h.Name), off); ok {
				b.addText(content)
				found = true
				continue
			}
		}
		b.add(Value{Holes: []Hole{h}})
	}
	b.addText(v.Text[last:])
	return b.take(), found
}

// hasFile reports whether a text stands for the file itself, as after >> to a
// file that was there before.
func hasFile(v Value, name string) bool {
	for _, one := range v.Each() {
		for _, h := range one.Holes {
			if h.Kind == HoleInput && (h.Name == name || strings.HasSuffix(h.Name, "/"+name)) {
				return true
			}
		}
	}
	return false
}

// nested walks text with a source of its own.
func (w *walker) nested(text string, holes []Hole, d Dialect, base, end int, verbatim, script bool, c ctx) {
	old := w.src
	w.src = &source{text: text, dialect: d, verbatim: verbatim, base: base, end: end, holes: holes, script: script || old.script}
	if w.src.script {
		c.flags |= FromScript
	}
	w.text(text, d, c)
	w.src = old
}
