package daemon

import "github.com/lidguard-go/lidguard/internal/platform/sudoers"

// SudoRule is the rule by which macOS lets a user run lidguard's commands as
// root, SudoState what stands at its place, and SudoRight one command with sudo's
// word on it.
type (
	SudoRule  = sudoers.Rule
	SudoState = sudoers.State
	SudoRight = sudoers.Right
)

// The states of a SudoRule that the command line tells apart.
const (
	SudoInstalled  = sudoers.Installed
	SudoMissing    = sudoers.Missing
	SudoForeign    = sudoers.Foreign
	SudoUnreadable = sudoers.Unreadable
)

// SudoText is the rule for one user as it would be written.
func SudoText(user string) ([]byte, error) { return sudoers.Text(user) }

// SudoOK reports whether every right is there.
func SudoOK(rights []SudoRight) bool { return sudoers.OK(rights) }
