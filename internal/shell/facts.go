package shell

import (
	"strconv"
	"strings"
)

// Dialect is the language a command is written in.
type Dialect uint8

// The dialects Inspect reads. The zero value is Bash.
const (
	Bash Dialect = iota
	POSIX
	Zsh
	PowerShell
	Cmd
)

func (d Dialect) String() string {
	switch d {
	case Bash:
		return "bash"
	case POSIX:
		return "sh"
	case Zsh:
		return "zsh"
	case PowerShell:
		return "powershell"
	case Cmd:
		return "cmd"
	}
	return "unknown dialect"
}

// Facts is everything that was learned about one command.
type Facts struct {
	Text    string
	Dialect Dialect

	// Leaves are the programs and builtins that would run, in the order they
	// were met. Spans elsewhere in the facts index this slice.
	Leaves []Leaf

	// Code holds program text in other languages: python -c bodies, awk
	// programs, scripts whose first line names another interpreter.
	Code []Code

	// Opaque lists places where command text would be executed that is not, or
	// not wholly, known.
	Opaque []Opaque

	// Problems lists text that does not parse and files that could not be read.
	Problems []Problem

	// Recursions lists functions and scripts that call themselves.
	Recursions []Recursion

	// Dir is the working directory after the command, as far as known.
	Dir Value

	// Over is set when a limit stopped the walk: the facts are incomplete.
	Over *Over

	bug string // the panic and its stack, when one was caught
}

// Span is a half-open range of indexes into [Facts.Leaves].
type Span struct{ From, To int }

// Empty reports whether the span holds no leaf.
func (s Span) Empty() bool { return s.To <= s.From }

// Contains reports whether leaf i is in the span.
func (s Span) Contains(i int) bool { return i >= s.From && i < s.To }

// Leaf is one program, builtin or bare assignment or redirection that would
// run. Wrappers that only start another program (sudo, env, timeout, xargs)
// are not leaves unless they run alone; they are in Via of what they start.
// Programs that do something of their own and start others besides (find, git,
// ssh, tar) are leaves, and Runs says what they start.
type Leaf struct {
	// Name is the base name of the program in lower case on Windows dialects
	// and as written elsewhere, without directory and .exe; aliases of
	// PowerShell are resolved. It is empty if the program is unknown or the
	// statement only assigns or redirects.
	Name string

	// Argv are the words, program first. Empty for a bare assignment or
	// redirection.
	Argv []Arg

	// Assigns are the assignments in front of the program or made by an env
	// wrapper, and for export, declare and bare statements the ones they make.
	Assigns []Assign

	// Exported are variables that earlier parts of the command put in the
	// environment of this program. Shared between leaves: do not write to it.
	Exported []Assign

	// Redirects in force, those of enclosing groups first.
	Redirects []Redirect

	// Dir is the working directory; Via may say that it is on another machine.
	Dir Value

	Stdin  Input
	Stdout Output

	// Via is the chain that leads here, outermost first.
	Via []Wrap

	// Runs spans the leaves this one starts, such as those of find -exec.
	Runs Span

	// Offset and End delimit the source in Facts.Text, in bytes. Text that came
	// about by expansion has the place of the word that brought it.
	Offset, End int

	Flags Flags
}

// Flags says how a leaf is reached.
type Flags uint16

// The flags of a leaf.
const (
	Background    Flags = 1 << iota // followed by &, or in something that is
	Conditional                     // in a branch or after && or ||
	Loop                            // in a loop body
	Function                        // in a function body
	Trap                            // runs on a signal or at exit
	Substitution                    // in $( ), backquotes, <( ) or >( )
	Remote                          // on another machine
	Contained                       // inside a container or a namespace
	Elevated                        // with another user's rights
	PerInput                        // once per input item: xargs, find -exec
	Builtin                         // a builtin of the shell
	AssignOnly                      // no program, only assignments
	RedirectOnly                    // no program, only redirections
	FromScript                      // from a file, not from the command text
	InlineEnvOnly                   // starts with an emptied environment: env -i
)

// Arg is one word of a leaf.
type Arg struct {
	Value

	// Offset and End delimit the source in Facts.Text, in bytes.
	Offset, End int

	Quote Quote

	// Splits is set when the word comes from an expansion without quotes and
	// so may become no word at all, or several.
	Splits bool

	// Glob is set when the text holds pattern characters that the shell would
	// expand and the World did not. Text is then the pattern.
	Glob bool

	// FromGlob is the pattern that this file name came from.
	FromGlob string
}

// Quote says how the text of a word was written.
type Quote uint8

// How parts of a word were written. A word may have several.
const (
	Bare Quote = 1 << iota
	Escaped
	Single
	Double
	ANSI
	Expanded // some text came from a variable, substitution, brace or pattern
)

// Assign is one assignment, Name=Value or Name+=Value.
type Assign struct {
	Name   string
	Value  Value
	Append bool
	// Exported is set when programs started later get to see it.
	Exported bool
	Offset   int
}

// Redirect is one redirection.
type Redirect struct {
	// Op is the operator: <, >, >>, >|, <>, &>, &>>, <&, >&, <<, <<-, <<<.
	Op string
	// FD is the descriptor, -1 when the operator's own default applies.
	FD     int
	Target Arg
	// Here is the body of a here-document or here-string.
	Here *Value
	// Quoted is set when the delimiter of a here-document was quoted.
	Quoted bool
	// Inherited is set for redirections of an enclosing group or wrapper.
	Inherited bool
	Offset    int
}

// Writes reports whether the redirection opens a file for writing.
func (r *Redirect) Writes() bool {
	switch r.Op {
	case ">", ">>", ">|", ">>|", "<>", "&>", "&>>", "&>|", "&>>|":
		return true
	case ">&":
		t, ok := r.Target.Exact()
		return !ok || (t != "-" && !allDigits(strings.TrimSuffix(t, "-")))
	}
	return false
}

// Truncates reports whether the redirection empties the file it opens.
func (r *Redirect) Truncates() bool {
	return r.Writes() && r.Op != ">>" && r.Op != "&>>" && r.Op != "<>"
}

// InputKind says where standard input comes from.
type InputKind uint8

// The sources of standard input. The zero value is the caller's own.
const (
	InputInherit InputKind = iota
	InputPipe
	InputHere
	InputFile
)

// Input is the standard input of a leaf.
type Input struct {
	Kind InputKind
	// From spans the leaves on the other side of the pipe.
	From Span
	// Text is what will be read, when something is known of it.
	Text *Value
	// File is the file redirected in.
	File *Value
}

// OutputKind says where standard output goes.
type OutputKind uint8

// The sinks of standard output. The zero value is the caller's own.
const (
	OutputInherit OutputKind = iota
	OutputPipe
	OutputFile
	OutputCaptured // by a substitution
)

// Output is the standard output of a leaf.
type Output struct {
	Kind OutputKind
	// To spans the leaves on the other side of the pipe.
	To Span
}

// Wrap is one link of the chain that leads to a leaf: the program and its own
// words, without the command it starts.
type Wrap struct {
	Name string
	Argv []Arg
	// Script is the path when the link is a script file that was read.
	Script string
	// Host is the machine for ssh and friends.
	Host string
}

// Code is program text in a language other than the shell's.
type Code struct {
	// Language is the interpreter family in lower case: python, node, perl,
	// ruby, php, lua, osascript, awk, sql, vim, emacs, make, ...
	Language string
	Text     Value
	// Leaf is the index of the program that runs it.
	Leaf int
	// Script is the path when the text was read from a file.
	Script string
	Offset int
}

// Opaque is command text that would be executed but is not wholly known.
type Opaque struct {
	// Leaf is the index of the program that would execute it, -1 if none.
	Leaf int
	// Text is what is known of it. Its holes say which leaves produce it.
	Text Value
	// From spans the leaves whose output is executed, if it comes by a pipe.
	From Span
	// Why says in a few words what kind of text it is.
	Why    string
	Offset int
}

// ProblemKind tells problems apart.
type ProblemKind uint8

// The kinds of problems.
const (
	// Unparsable text is executed as commands but breaks the grammar.
	Unparsable ProblemKind = iota + 1
	// Unread is a script file that would be executed and could not be read.
	Unread
	// TooLarge is a script file over the limit.
	TooLarge
)

func (k ProblemKind) String() string {
	switch k {
	case Unparsable:
		return "unparsable"
	case Unread:
		return "unread script"
	case TooLarge:
		return "script too large"
	}
	return "unknown problem"
}

// Problem is something that kept part of a command from being understood.
type Problem struct {
	Kind   ProblemKind
	Detail string
	// Path is the script's, if the problem is about one.
	Path   string
	Leaf   int // index of the leaf concerned, -1 if none
	Offset int
}

// Recursion is a function or script that calls itself.
type Recursion struct {
	Name string
	// Forks is set when the call starts a new process beside the old one, by a
	// pipe or in the background: unbounded, it is a fork bomb.
	Forks  bool
	Offset int
}

// Over says which limit stopped the walk.
type Over struct {
	// What is one of bytes, depth, leaves, steps, braces, budget, and bug for a
	// mistake of this package that was caught.
	What  string
	Limit int
}

func (o *Over) String() string {
	switch o.What {
	case "bug":
		return "the command could not be read because of a mistake in the reader"
	case "budget":
		return "the time budget for reading the command is used up"
	case "bytes":
		return "the command is longer than " + strconv.Itoa(o.Limit) + " bytes"
	case "depth":
		return "the command is nested deeper than " + strconv.Itoa(o.Limit) + " levels"
	case "leaves":
		return "the command runs more than " + strconv.Itoa(o.Limit) + " programs"
	case "braces":
		return "braces expand to more than " + strconv.Itoa(o.Limit) + " words"
	}
	return "reading the command takes more than " + strconv.Itoa(o.Limit) + " steps"
}

// Position returns the line and column of a byte offset, both from 1; columns
// count bytes.
func (f *Facts) Position(offset int) (line, col int) {
	offset = min(max(offset, 0), len(f.Text))
	head := f.Text[:offset]
	return strings.Count(head, "\n") + 1, offset - strings.LastIndexByte(head, '\n')
}

// Feeders calls yield with the index of each leaf whose standard output flows
// directly into the standard input of leaf i.
func (f *Facts) Feeders(i int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		from := f.Leaves[i].Stdin.From
		for j := from.From; j < from.To && j < len(f.Leaves); j++ {
			out := f.Leaves[j].Stdout
			if out.Kind == OutputPipe && out.To.Contains(i) && !yield(j) {
				return
			}
		}
	}
}

// ArgvText returns the exact texts of the words, and false if any is not exact.
func (l *Leaf) ArgvText() ([]string, bool) {
	out := make([]string, len(l.Argv))
	all := true
	for i := range l.Argv {
		t, ok := l.Argv[i].Exact()
		if !ok {
			t = l.Argv[i].String()
			all = false
		}
		out[i] = t
	}
	return out, all
}

// Arg returns the exact text of word i, empty if it does not exist or is not
// exact.
func (l *Leaf) Arg(i int) string {
	if i < 0 || i >= len(l.Argv) {
		return ""
	}
	t, _ := l.Argv[i].Exact()
	return t
}
