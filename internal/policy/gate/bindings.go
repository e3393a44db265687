package gate

import "strings"

// This file tells what a variable of program text may hold, where that is plain: a
// temporary folder just made, a constant, each of a list of constants. It is asked
// only for what a deleting call is given.

// maxBindings bounds how many variables of one text are looked up, each of which
// costs a walk over the text, and maxMentions how often one may be in it.
const maxBindings, maxMentions = 8, 64

// bound are the constants that a variable may hold; known is false when anything
// else may be in it. A folder that the program made for itself adds no constant.
// Every mention must be one that is understood: it gives the variable constants, or
// it cannot give it anything.
func (s *scan) bound(name string) (values []string, known bool) {
	t := s.text
	if s.asked++; s.asked > maxBindings || s.lang == "node" && strings.Contains(t, `\u`) || s.remade() {
		return nil, false
	}
	for at, mentions := 0, 0; ; {
		i := strings.Index(t[at:], name)
		if i < 0 {
			return values, known
		}
		i += at
		at = i + len(name)
		if i > 0 && letter(t[i-1]) || at < len(t) && letter(t[at]) || i > 1 && t[i-1] == '/' && t[i-2] != '*' { // of a longer word or a path
			continue
		}
		if i > 0 && t[i-1] == '.' { // of something else, which may be all variables there are
			if assigned(t[at:]) {
				return nil, false
			}
			continue
		}
		mentions++
		more, binds, ok := s.binding(t, i, at)
		if !ok || mentions > maxMentions {
			return nil, false
		}
		values, known = append(values, more...), known || binds
	}
}

// binding reads one mention of a variable, at t[from:to]. ok is false where it may
// be given a value that is not told by values.
func (s *scan) binding(t string, from, to int) (values []string, binds, ok bool) {
	before := t[max(0, from-400):from]
	before = before[strings.LastIndexAny(before, "\n;")+1:]
	before = strings.TrimRight(strings.TrimSuffix(before, "$"), " ")
	after := strings.TrimLeft(t[to:min(len(t), to+400)], " ")
	switch word := lastWord(before); {
	case from > 0 && to < len(t) && t[from-1] == t[to] && (t[to] == '"' || t[to] == '\''): // a word
		return nil, false, !s.byName()
	case strings.HasPrefix(after, "=>"):
		values, ok = list(strings.TrimSuffix(strings.TrimRight(before, "("), ".forEach"))
		return values, true, ok && strings.Contains(before, ".forEach(")
	case strings.HasPrefix(after, ")") && strings.HasPrefix(strings.TrimLeft(after[1:], " "), "=>"):
		values, ok = list(strings.TrimSuffix(strings.TrimRight(before, "("), ".forEach"))
		return values, true, ok && strings.HasSuffix(before, ".forEach((")
	case strings.HasSuffix(before, "|") && strings.HasPrefix(after, "|"): // a block of Ruby's
		head := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(before[:len(before)-1], " "), "{"), " do"), " ")
		if strings.HasSuffix(head, "mktmpdir") {
			return nil, true, true
		}
		values, ok = list(strings.TrimSuffix(head, ".each"))
		return values, true, ok && strings.HasSuffix(head, ".each")
	case word == "as":
		head := strings.TrimRight(strings.TrimSuffix(before, "as"), " ")
		open := strings.LastIndexByte(head, '(')
		return nil, true, open > 0 && strings.HasSuffix(head, ")") && strings.HasSuffix(head[:open], "TemporaryDirectory")
	case (word == "for" || strings.Contains(before, "for")) && (strings.HasPrefix(after, "in ") || strings.HasPrefix(after, "of ")):
		switch word {
		case "const", "let", "var", "for":
		default:
			return nil, false, false
		}
		values, ok = listAt(strings.TrimLeft(after[3:], " "))
		return values, true, ok
	case strings.HasPrefix(after, "=") && assigned(after) && !strings.ContainsAny(before, ",."):
		values, ok = s.valueAt(strings.TrimLeft(after[1:], " "))
		return values, true, ok
	}
	if values, is, ok := tuple(before, after); is {
		return values, true, ok
	}
	return nil, false, s.reads(before, after)
}

// reads reports whether a mention between before and after, of its statement, only
// reads the variable. Python's and JavaScript's texts cannot be changed by who has
// them; elsewhere a method or a call may.
func (s *scan) reads(before, after string) bool {
	fixed := s.lang == "python" || s.lang == "node"
	next := strings.TrimLeft(after, " \t\r\n")
	if next == "" {
		next = ";"
	}
	assigns := len(next) > 1 && next[1] == '='
	switch next[0] {
	case '.':
		if s.lang == "ruby" || assigns {
			return false
		}
		return true
	case '+':
		return !assigns && !strings.HasPrefix(next, "++")
	case '/':
		return len(next) > 1 && strings.IndexByte("/*=", next[1]) < 0
	case '}': // in a text; { d } = … takes apart
		return s.lang == "python" || strings.HasSuffix(before, "${") || strings.HasSuffix(before, "#{")
	case ')', ',', ']':
		return s.given(before, after, fixed)
	}
	if after = strings.TrimLeft(after, " \t\r"); after != "" && after[0] != '\n' && after[0] != ';' && after[0] != ':' {
		return false
	}
	if next[0] == '=' { // on the next line
		return false
	}
	// The last word of its statement or of a condition: x = d, return d, if not d:
	switch lastWord(before) {
	case "return", "not", "in", "and", "or", "if", "print":
		return fixed
	}
	return fixed && strings.HasSuffix(before, "=")
}

// given reports whether a mention that a comma or a closing parenthesis follows is
// an argument of a call, and not what a function, a loop or a pattern names.
func (s *scan) given(before, after string, fixed bool) bool {
	open, depth := len(before)-1, 0
	for ; open >= 0; open-- {
		if c := before[open]; c == ')' || c == ']' || c == '}' {
			depth++
		} else if c == '(' || c == '[' || c == '{' {
			if depth--; depth < 0 && c == '[' && fixed {
				depth = 0 // a list, if it is an argument itself
			} else if depth < 0 {
				break
			}
		}
	}
	if open <= 0 || before[open] != '(' {
		return false
	}
	head := before[:open]
	call := lastWord(head)
	switch call {
	case "", "for", "foreach", "catch", "function", "async":
		return false
	}
	switch lastWord(strings.TrimRight(head[:len(head)-len(call)], " *")) {
	case "def", "function", "sub", "async":
		return false
	}
	if strings.Contains(head, "case ") || strings.Contains(before[open:], "lambda") {
		return false
	}
	end := callEnd("(" + after)
	rest := strings.TrimLeft(after[min(len(after), max(0, end-1)):], " \t\r\n")
	for i, c := range after[:min(len(after), max(0, end-1))] {
		if c != ']' && c != '}' {
			continue
		}
		if behind := strings.TrimLeft(after[i+1:], " "); assigned(behind) || strings.HasPrefix(behind, "in ") || strings.HasPrefix(behind, "of ") {
			return false
		}
	}
	if strings.HasPrefix(rest, "=>") || strings.HasPrefix(rest, "{") && call != "if" && call != "while" {
		return false
	}
	if fixed {
		return true
	}
	switch call {
	case "rm", "rm_r", "rm_rf", "rm_f", "rmtree", "remove_tree", "remove_entry", "remove_entry_secure", "remove_dir", "unlink", "rmdir",
		"mkdir", "mkdir_p", "mkpath", "make_path", "join", "puts", "print", "exist", "directory", "is_dir", "file_exists", "echo":
		return true
	}
	return false
}

// remade reports whether program text gives what makes temporary folders another
// meaning.
func (s *scan) remade() bool {
	for _, name := range [...]string{"mkdtemp", "mktmpdir", "tempdir"} {
		for t := s.text; ; {
			before, after, ok := strings.Cut(t, name)
			if !ok {
				break
			}
			switch lastWord(strings.TrimRight(before, " ")) {
			case "def", "function", "sub", "as", "lambda":
				return true
			}
			after = strings.TrimPrefix(after, "Sync")
			if assigned(after) {
				return true
			}
			t = after
		}
	}
	return false
}

// assigned reports whether t begins with a sign that assigns.
func assigned(t string) bool {
	t = strings.TrimLeft(t, " )]}")
	return strings.HasPrefix(t, "=") && !strings.HasPrefix(t, "==") && !strings.HasPrefix(t, "=~")
}

// callEnd is the place behind the parenthesis that closes the one t begins with, its
// end if none does.
func callEnd(t string) int {
	end, _ := closing(t)
	return end
}

// closing is the place behind the parenthesis that closes the first of t; without one
// it is the end of t, and closed is false.
func closing(t string) (end int, closed bool) {
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(t), false
}

// byName reports whether program text may give variables values by their names.
func (s *scan) byName() bool {
	return containsAny(s.text, "globals(", "locals(", "vars(", "setattr", "globalThis", "global[", "window[", "this[", "_set(", "$$", "eval", "exec", "__dict__", "__main__", "builtins")
}

func lastWord(t string) string {
	i := len(t)
	for i > 0 && letter(t[i-1]) {
		i--
	}
	return t[i:]
}

// valueAt reads what is assigned: one constant, or a call that makes a temporary
// folder, up to the end of the statement.
func (s *scan) valueAt(t string) ([]string, bool) {
	end := strings.IndexByte(t, '\n')
	if end < 0 {
		end = len(t)
	}
	t = t[:end]
	if k := strings.IndexByte(t, ';'); k >= 0 {
		t = t[:k]
	}
	t = strings.TrimPrefix(strings.TrimSpace(t), "await ")
	for _, name := range [...]string{"tempfile.mkdtemp(", "mkdtemp(", "fs.mkdtempSync(", "mkdtempSync(", "fs.mkdtemp(", "fsp.mkdtemp(", "Dir.mktmpdir", "tempdir("} {
		if rest, ok := strings.CutPrefix(t, name); ok && oneCall(rest, strings.HasSuffix(name, "(")) {
			return nil, true
		}
	}
	for _, name := range [...]string{"os.path.join(", "path.join(", "File.join("} {
		if rest, ok := strings.CutPrefix(t, name); ok && strings.HasSuffix(rest, ")") {
			return s.joinedAt(rest[:len(rest)-1])
		}
	}
	for _, name := range [...]string{"pathlib.Path(", "Path("} {
		if rest, ok := strings.CutPrefix(t, name); ok && strings.HasSuffix(rest, ")") {
			t = strings.TrimSpace(rest[:len(rest)-1])
		}
	}
	v, n, ok := plainConstant(t)
	return []string{v}, ok && strings.TrimSpace(t[n:]) == ""
}

// joinedAt reads a variable and constants that are joined to a path below it.
func (s *scan) joinedAt(t string) ([]string, bool) {
	name, words, _ := strings.Cut(t, ",")
	below, ok := constants(words)
	if !ok || variable("("+name+")") == "" {
		return nil, false
	}
	tail := strings.Join(below, "/")
	if strings.Contains(tail, "..") || tail == "" || tail[0] == '/' || strings.Contains(tail, "//") {
		return nil, false
	}
	values, known := s.bound(strings.TrimSpace(name))
	for i := range values {
		values[i] += "/" + tail
	}
	return values, known
}

// tuple reads a, b = "x", "y", of which a mention of one name is between before and
// after: each constant may be its. is reports whether it is such a statement.
func tuple(before, after string) (values []string, is, ok bool) {
	eq := strings.IndexByte(after, '=')
	if eq < 0 || !assigned(after[eq:]) {
		return nil, false, false
	}
	for i, left := 0, before+after[:eq]; i < len(left); i++ {
		if c := left[i]; !letter(c) && c != ',' && c != ' ' && c != '$' {
			return nil, false, false
		}
	}
	right := after[eq+1:]
	if k := strings.IndexAny(right, "\n;"); k >= 0 {
		right = right[:k]
	}
	values, ok = constants(right)
	return values, true, ok
}

// constants reads constants between commas, and nothing else.
func constants(t string) (values []string, ok bool) {
	for t = strings.TrimSpace(t); t != ""; t = strings.TrimSpace(t) {
		v, n, ok := plainConstant(t)
		if !ok {
			return nil, false
		}
		values = append(values, v)
		if t = strings.TrimSpace(t[n:]); t != "" && t[0] != ',' {
			return nil, false
		}
		t = strings.TrimPrefix(t, ",")
	}
	return values, len(values) > 0
}

// oneCall reports whether t is the rest of one call and nothing behind it; open if its
// first parenthesis stands before t.
func oneCall(t string, open bool) bool {
	if open {
		t = "(" + t
	}
	end, closed := closing(t)
	return closed && strings.TrimSpace(t[end:]) == "" || !open && strings.TrimSpace(t) == ""
}

// plainConstant reads a string constant without holes at the beginning of t, and how
// long it is written.
func plainConstant(t string) (value string, length int, ok bool) {
	value, ok = literal(t, 0)
	if !ok || strings.ContainsAny(value, "{}$%\n") || strings.HasPrefix(t, `"""`) || strings.HasPrefix(t, "'''") {
		return "", 0, false
	}
	at := strings.IndexAny(t, "\"'`")
	return value, min(len(t), endOfLiteral(t, at)+1), true
}

// listAt reads a list of constants at the beginning of t: ("a", "b"), ['a'].
func listAt(t string) (values []string, ok bool) {
	if t == "" || t[0] != '(' && t[0] != '[' {
		return nil, false
	}
	for t = strings.TrimLeft(t[1:], " \n"); t != ""; t = strings.TrimLeft(t, " \n") {
		if t[0] == ')' || t[0] == ']' {
			after := strings.TrimLeft(t[1:], " ")
			return values, len(values) > 0 && (after == "" || strings.IndexByte("+.*[", after[0]) < 0)
		}
		v, n, ok := plainConstant(t)
		if !ok {
			return nil, false
		}
		values = append(values, v)
		t = strings.TrimLeft(strings.TrimLeft(t[n:], " \n"), ",")
	}
	return nil, false
}

// list reads a list of constants at the end of t: ['a', 'b'], %w[a b].
func list(t string) ([]string, bool) {
	open := strings.LastIndexByte(t, '[')
	if open < 0 || strings.IndexByte(t[open:], ']') != len(t)-1-open || strings.HasSuffix(t[:open], "[") {
		return nil, false
	}
	if strings.HasSuffix(t[:open], "%w") {
		values := strings.Fields(t[open+1 : len(t)-1])
		return values, len(values) > 0
	}
	if before := strings.TrimRight(t[:open], " "); before != "" && (letter(before[len(before)-1]) || before[len(before)-1] == ')') {
		return nil, false // a member of something
	}
	return listAt(t[open:])
}
