// Package inbox is the file in which hooks leave telemetry for the runtime when
// none answers. In come lines, out they go in order, once a runtime takes them. It
// is bounded: beyond that the oldest are dropped, and counted. Hooks link it, so it
// knows nothing of sinks.
package inbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// MaxFile bounds one of the two files in bytes; together they hold between one and
// two times as much.
const MaxFile = 4 << 20

// MaxLine bounds a line in bytes.
const MaxLine = 1 << 20

// lockPause is how often a lock that another process holds is tried again.
const lockPause = time.Millisecond

// names of the files below the folder.
const (
	current = "inbox.jsonl"
	before  = "inbox.1.jsonl"
	dropped = "inbox.dropped" // one number a line
	taken   = "taken-"
)

func lock(ctx context.Context, dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, "inbox.lock"))
	if _, err := l.TryLockContext(ctx, lockPause); err != nil {
		return nil, fmt.Errorf("waiting for %q: %w", l.Path(), err)
	}
	return l, nil
}

// Append leaves a line, which must have no newline, in the folder dir.
func Append(ctx context.Context, dir string, line []byte) error {
	if len(line) > MaxLine || bytes.IndexByte(line, '\n') >= 0 {
		return fmt.Errorf("a line of %d bytes cannot be left for the runtime", len(line))
	}
	l, err := lock(ctx, dir)
	if err != nil {
		return err
	}
	defer l.Close()
	name := filepath.Join(dir, current)
	if info, err := os.Stat(name); err == nil && info.Size()+int64(len(line)) > MaxFile {
		old := filepath.Join(dir, before)
		if n := countLines(old); n > 0 {
			if err := appendTo(filepath.Join(dir, dropped), strconv.AppendInt(nil, int64(n), 10)); err != nil {
				return err
			}
		}
		if err := os.Rename(name, old); err != nil {
			return err
		}
	}
	return appendTo(name, line)
}

func appendTo(name string, line []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(slices.Clone(line), '\n')) // one write: a hook that is killed leaves all or nothing
	return errors.Join(err, f.Close())
}

// countLines is 0 for a file that is not there.
func countLines(name string) (n int) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	return bytes.Count(data, []byte("\n"))
}

// Waiting reports whether somebody left something since the last Take.
func Waiting(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, current))
	return err == nil
}

// Take hands every line to each, oldest first, and says how many had been dropped.
// Lines are gone once the file that has them was taken whole; an error of each ends
// it, and the next Take begins with that file again.
func Take(ctx context.Context, dir string, each func(line []byte) error) (lost int64, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	l, err := lock(ctx, dir)
	if err != nil {
		return 0, err
	}
	files, lost, err := setAside(dir)
	l.Close()
	if err != nil {
		return lost, err
	}
	for _, name := range files {
		if err := eachLine(name, each); err != nil {
			return lost, err
		}
		if err := os.Remove(name); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// setAside renames what hooks wrote, so that they begin anew, and returns the files
// to read in order. It is called under the lock.
func setAside(dir string) (files []string, lost int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	next := 1
	numbers := []int{}
	for _, e := range entries {
		if n, err := strconv.Atoi(strings.TrimPrefix(e.Name(), taken)); err == nil && strings.HasPrefix(e.Name(), taken) {
			numbers = append(numbers, n)
			next = max(next, n+1)
		}
	}
	for _, name := range []string{before, current} {
		err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, taken+strconv.Itoa(next)))
		switch {
		case err == nil:
			numbers = append(numbers, next)
			next++
		case !errors.Is(err, fs.ErrNotExist):
			return nil, 0, err
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		files = append(files, filepath.Join(dir, taken+strconv.Itoa(n)))
	}
	counts := filepath.Join(dir, dropped)
	if data, err := os.ReadFile(counts); err == nil {
		for _, word := range strings.Fields(string(data)) {
			n, _ := strconv.ParseInt(word, 10, 64) // what is no number counts nothing
			lost += max(n, 0)
		}
		if err := os.Remove(counts); err != nil {
			return nil, 0, err
		}
	}
	return files, lost, nil
}

func eachLine(name string, each func([]byte) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil // what has no newline was not written whole
		}
		if err != nil {
			return err
		}
		if err := each(line[:len(line)-1]); err != nil {
			return err
		}
	}
}
