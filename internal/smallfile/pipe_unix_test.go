//go:build unix

package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody has the other end of keeps nobody waiting, nor does one that took
// a file's place after it was looked at, which only Open sees.
func TestOpen_pipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"read": func() error {
			if _, err := Read(pipe, 10); !errors.Is(err, fs.ErrInvalid) {
				return errors.New("it was read")
			}
			return nil
		},
		"open to read": func() error {
			f, err := Open(pipe, os.O_RDONLY, 0)
			if err == nil {
				f.Close()
			}
			return err
		},
		"open to write": func() error {
			if _, err := Open(pipe, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); !errors.Is(err, syscall.ENXIO) {
				return errors.New("it was opened")
			}
			return nil
		},
		"open as a folder": func() error {
			if _, err := OpenDir(pipe); !errors.Is(err, syscall.ENOTDIR) {
				return errors.New("it was opened")
			}
			return nil
		},
	} {
		done := make(chan error, 1)
		go func() { done <- do() }() // ends with the call, or with the test
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: it waits", name)
		}
	}
}

func TestOpenDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := f.Readdirnames(-1); err != nil || len(names) != 1 || names[0] != "f" {
		t.Errorf("got %q, %v", names, err)
	}
}
