package smallfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	for _, content := range []string{"", "a", string(bytes.Repeat([]byte("0123456789"), 1000))} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, max := range []int{len(content), len(content) + 1} {
			if got, err := Read(name, max); string(got) != content || err != nil {
				t.Errorf("%d bytes, at most %d: got %d, %v", len(content), max, len(got), err)
			}
		}
		if _, err := Read(name, len(content)-1); !errors.Is(err, ErrTooLarge) {
			t.Errorf("one byte too many of %d: %v", len(content), err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Read(dir, 10); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a folder: %v", err)
	}
}

// What has no size of its own is read to its end all the same.
func TestRead_sizelessFile(t *testing.T) {
	const name = "/proc/self/status"
	if _, err := os.Stat(name); err != nil {
		return // other systems have none
	}
	if got, err := Read(name, 1<<20); !bytes.Contains(got, []byte("Pid:")) || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOpen_writesAsTold(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for range 2 {
		f, err := Open(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("line\n"); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if got, err := os.ReadFile(name); string(got) != "line\nline\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	var where *fs.PathError
	if _, err := Open(filepath.Join(name, "below"), os.O_RDONLY, 0); !errors.As(err, &where) {
		t.Errorf("got %v", err)
	}
}
