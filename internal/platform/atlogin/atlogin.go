// Package atlogin has Windows run one command at this user's next login, once: what
// puts lasting values back where the machine stopped before anybody could. In
// comes a program and its arguments; out goes one value of the registry. It runs
// nothing by itself, and changes nothing but that value.
package atlogin

import "strings"

// Line returns a command line that Windows splits into exactly these words again
// (CommandLineToArgvW): each in quotes, so that a path with blanks cannot start
// another program.
func Line(program string, args ...string) string {
	var b strings.Builder
	for i, word := range append([]string{program}, args...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		slashes := 0 // before a quote they count double
		for _, c := range []byte(word) {
			switch c {
			case '\\':
				slashes++
			case '"':
				b.WriteString(strings.Repeat(`\`, slashes+1))
				slashes = 0
			default:
				slashes = 0
			}
			b.WriteByte(c)
		}
		b.WriteString(strings.Repeat(`\`, slashes))
		b.WriteByte('"')
	}
	return b.String()
}

// longest is how long a command line of RunOnce may be; Windows ignores longer
// ones (Run and RunOnce Registry Keys of the Windows documentation).
const longest = 260
