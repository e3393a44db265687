// Package audio plays one short sound to its end, louder or softer where
// asked, and puts volume and mute back as they were. In come a name or a .wav
// file and a way to run programs; out goes nothing but the sound. It looks for
// players only on the search path it is given, and runs no shell.
package audio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

var (
	// ErrNoPlayer is matched where no program that plays this file is found.
	ErrNoPlayer = errors.New("no sound player found")
	// ErrNoSound is matched where a named sound is not installed, or the file
	// does not exist.
	ErrNoSound = errors.New("no such sound")
	// ErrUnsupported is matched on a system where lidguard cannot play yet.
	ErrUnsupported = errors.New("not supported on this system")
)

// Names are the sounds that every system has in some form.
var Names = []string{"Asterisk", "Beep", "Exclamation", "Hand", "Question"}

// longest bounds a sound: it delays a suspend.
const longest = 30 * time.Second

// restoreTime bounds putting the volume back, which also happens when the
// caller's context has ended.
const restoreTime = 3 * time.Second

// A Command is a program to run, by its path, with its arguments.
type Command struct {
	Path string
	Args []string
	// Env is added to the environment of the Runner's choice.
	Env []string
}

// A Runner runs a command to its end and returns its standard output. It must
// end the program when ctx ends, and must be safe for use from several
// goroutines.
type Runner func(ctx context.Context, c Command) ([]byte, error)

// Exec returns a Runner that runs programs with the environment env.
func Exec(env []string) Runner {
	return func(ctx context.Context, c Command) ([]byte, error) {
		cmd := exec.CommandContext(ctx, c.Path, c.Args...)
		cmd.Env = append(slices.Clone(env), c.Env...)
		cmd.WaitDelay = time.Second // a player's own children may hold its output
		var out, complaint bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaint
		err := cmd.Run()
		if ctx.Err() != nil {
			return out.Bytes(), fmt.Errorf("running %q: %w", c.Path, ctx.Err())
		}
		if err != nil {
			return out.Bytes(), fmt.Errorf("running %q: %w: %q", c.Path, err, firstLine(complaint.Bytes()))
		}
		return out.Bytes(), nil
	}
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte{'\n'})
	return string(line[:min(len(line), 200)])
}

// Player plays sounds. Its fields must not change once it is used.
type Player struct {
	// Path is the search path for players, as in $PATH.
	Path string
	// Run runs them.
	Run Runner
	// DataDirs are where sounds are installed, as in $XDG_DATA_DIRS; empty
	// stands for /usr/local/share and /usr/share. Linux only.
	DataDirs []string
}

// Play plays a sound to its end: one of Names, or the path of a .wav file.
// percent is the volume for its duration, 1 to 100, also where the output is
// muted; 0 leaves both alone. A volume that cannot be set is no reason not to
// play: the error then matches *VolumeError, and the sound was heard.
func (p Player) Play(ctx context.Context, sound string, percent int) error {
	if percent < 0 || percent > 100 {
		return fmt.Errorf("volume %d %% is not between 1 and 100", percent)
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	return p.play(ctx, sound, percent)
}

// VolumeError says that the sound was played, but at another volume than asked
// for, or that the volume could not be put back.
type VolumeError struct{ Err error }

func (e *VolumeError) Error() string { return "volume: " + e.Err.Error() }
func (e *VolumeError) Unwrap() error { return e.Err }
