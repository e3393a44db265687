//go:build !linux && !darwin && !windows

package lid

import "context"

// nothing is the backend of a system whose lid lidguard cannot read yet.
type nothing struct{ system string }

func (n nothing) read(context.Context) Reading {
	return Reading{Why: "the lid is not read on " + n.system}
}
func (nothing) pushes() bool { return true } // polling would find nothing new
func (nothing) close()       {}
