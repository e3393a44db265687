package shell

// World is what Inspect may ask about the machine. Every field may be left
// zero; what then depends on it becomes unknown. Callbacks are called from the
// goroutine that called Inspect, any number of times.
type World struct {
	// Dir is the absolute working directory, empty if unknown.
	Dir string

	// Home is the home directory, for ~ and $HOME; empty if unknown.
	Home string

	// Env looks up a variable of the environment the command would start in.
	// If Env is set it is taken as complete: a variable it does not find has no
	// value, though a start-up file of the shell may still give it one, so its
	// expansion is a hole with Unset set.
	Env func(name string) (value string, ok bool)

	// Private reports whether the value of a variable that has one must not come
	// into the facts, since it is a secret: its expansion is a hole.
	Private func(name string) bool

	// ReadFile returns the content of a file that would be executed, such as a
	// script, package.json or Makefile. It returns false if the file is
	// missing, out of bounds or larger than max bytes; in the last case content
	// may be non-empty to say so. Paths are absolute if the working directory
	// is known and as written if not.
	ReadFile func(path string, max int) (content string, ok bool)

	// Glob returns the names that match a shell pattern as the shell would
	// write them, relative to dir unless the pattern is absolute. A backslash
	// escapes the next character. It returns false if it cannot tell or if
	// there are too many.
	Glob func(dir, pattern string) (names []string, ok bool)

	// Budget is asked every few hundred steps, and while parsing; false stops
	// the walk. It is how a caller sets a time limit.
	Budget func() bool

	// Limits replaces the default limits where not zero.
	Limits Limits
}

// Limits bound the work and the size of the facts.
type Limits struct {
	Bytes  int // of command text, default 1 MiB
	Script int // bytes of one script file, default 256 KiB
	Depth  int // levels of nesting, default 64
	Leaves int // default 20,000
	Steps  int // nodes visited and 64-byte blocks built, default 1,000,000
	Braces int // words one brace expansion may yield, default 2,048
}

func (l Limits) withDefaults() Limits {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&l.Bytes, 1<<20)
	set(&l.Script, 256<<10)
	set(&l.Depth, 64)
	set(&l.Leaves, 20000)
	// A million steps take some tens of milliseconds; measured on one laptop
	// core. Real commands take a few hundred.
	set(&l.Steps, 1000000)
	set(&l.Braces, 2048)
	return l
}
