package install

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/lidguard-go/lidguard/internal/confedit"
)

// Remedy is what a person can do about a config file that an edit or a look at it
// complained about with err; "" where nothing is known that helps.
func Remedy(err error) string {
	var syntax *confedit.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return "correct that place by hand; lidguard does not touch a file it cannot read"
	case errors.Is(err, confedit.ErrNoFile):
		return "move what is there away; lidguard makes a file of its own where none is"
	case errors.Is(err, fs.ErrPermission):
		return "give yourself the right to read and write it"
	case errors.Is(err, ErrForeign):
		return "it was left alone; move it away or rename it, then try again"
	}
	return ""
}

// Broken is the problem that the client's file cannot be used, for err. then says
// what the client does about it, and may be empty.
func Broken(file string, err error, then string) Problem {
	if then != "" {
		then = "; " + then
	}
	return Problem{Code: HookFileBroken, Text: fmt.Sprintf("%s cannot be used: %v%s", file, err, then), Remedy: Remedy(err), Voids: true}
}

// ErrForeign is matched where somebody else's file has the name of lidguard's.
var ErrForeign = errors.New("this file is not lidguard's")
