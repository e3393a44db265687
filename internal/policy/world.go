package policy

import (
	"context"
	"fmt"
	"time"
)

// Command is a program that a pack wants run.
type Command struct {
	// Argv is the program and its arguments. The first is a bare name, looked for
	// on PATH, or an absolute path.
	Argv []string
	// Script is a line for the system's shell (sh -c, on Windows cmd /c) instead
	// of Argv.
	Script string
	Dir    string   // absolute; where it runs
	Env    []string // NAME=value, added to what the hook was given
	Stdin  []byte
	// Limit ends it with all it started; 0 leaves that to the context.
	Limit time.Duration
	// MaxOutput bounds each stream in bytes; 0 means 64 KiB. What is more is
	// dropped, and told in Result.Cut.
	MaxOutput int
}

// Result is how a command ended.
type Result struct {
	Code           int    // -1 where a signal or the limit ended it
	Signal         string // that signal by number and name, "" where none did
	Stdout, Stderr []byte
	Cut            bool // output was dropped
	Late           bool // the limit or the context ended it
}

// Ended tells in words how the program ended.
func (r *Result) Ended() string {
	if r.Signal != "" {
		return r.Signal
	}
	return fmt.Sprintf("exit code %d", r.Code)
}

// Runner runs programs for packs.
type Runner interface {
	// Run runs a command to its end. The error is for commands that could not be
	// started (fs.ErrNotExist where there is no such program), not for those that
	// failed.
	Run(ctx context.Context, c Command) (Result, error)
	// Look finds a program on the person's PATH; never in the project, and never
	// by a relative path. The error is fs.ErrNotExist where there is none.
	Look(program string) (path string, err error)
}

// Store keeps small values of one pack from one hook process to the next. A key is
// any text. Values that nobody touched for a week may be forgotten.
type Store interface {
	// Update changes the value of key while no other process can: change gets the
	// old value (nil where there is none) and returns the new one (nil removes it).
	// An error of change is returned and leaves the value as it was.
	Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error
}
