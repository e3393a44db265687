package confedit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxSize bounds the files that are opened, in bytes. Config files of real
// clients stay below one MiB; a larger one is something else.
const MaxSize = 16 << 20

// ErrChanged says that the file is no longer what it was when it was opened.
// Nothing was written; open it again and repeat the edit. [Update] does so.
var ErrChanged = errors.New("the file was changed by another program meanwhile")

// ErrNoFile is matched where something else than a file is at a path: a folder, a
// pipe, or links that lead nowhere.
var ErrNoFile = errors.New("it is not a regular file")

// circle is the ErrNoFile of links that lead to each other.
type circle struct{}

func (circle) Error() string        { return "its symlinks go in a circle" }
func (circle) Is(target error) bool { return target == ErrNoFile }

// Digest identifies the content of a file: "sha256:" and hexadecimal digits,
// or "" for a file that does not exist.
type Digest string

func digestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// File is a config file as it was at the moment it was opened. It holds no
// descriptor and no lock; nothing has to be closed.
type File struct {
	Path   string      // as it was asked for
	Target string      // the file itself, behind all symlinks; where writes go
	Exists bool        // false: there is no file yet, and all below is zero
	Mode   fs.FileMode // permission bits

	data   []byte
	digest Digest
}

// Open reads the file at path. A file that does not exist is opened as an
// empty one, a symlink to nothing as the file it points to. Refused are
// folders, devices and the like, files above [MaxSize], and text that is not
// UTF-8 (a [*SyntaxError]).
func Open(path string) (*File, error) {
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Target: target}
	// Lstat before opening: opening a named pipe would wait for a writer.
	info, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("reading %q: %w", path, plainCause(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("reading %q: %w", path, ErrNoFile)
	case info.Size() > MaxSize:
		return nil, fmt.Errorf("reading %q: it has %d bytes, more than the %d a config file may have", path, info.Size(), MaxSize)
	}
	data, err := readAll(target)
	if errors.Is(err, fs.ErrNotExist) { // gone since Lstat
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", path, plainCause(err))
	}
	if err := checkText(data); err != nil {
		return nil, fmt.Errorf("reading %q: %w", path, err)
	}
	f.Exists, f.Mode = true, info.Mode().Perm()
	f.data, f.digest = data, digestOf(data)
	return f, nil
}

// Bytes returns the content. It must not be changed.
func (f *File) Bytes() []byte { return f.data }

// Digest identifies the content.
func (f *File) Digest() Digest { return f.digest }

// Format reports how the content is laid out.
func (f *File) Format() Format { return FormatOf(f.data) }

// readAll reads a whole file but never more than MaxSize: the file may have
// grown since its size was looked at.
func readAll(path string) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSize {
		return nil, fmt.Errorf("it has more than %d bytes", MaxSize)
	}
	return data, nil
}

// resolve follows the symlinks at path by hand, because the last one may
// point to a file that is still to be written.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("no file name given")
	}
	target, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving %q: %w", path, err)
	}
	for range 40 { // as many as Linux follows
		// A relative link counts from the real folder it lies in.
		if dir, err := filepath.EvalSymlinks(filepath.Dir(target)); err == nil {
			target = filepath.Join(dir, filepath.Base(target))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("resolving %q: %w", path, plainCause(err))
		}
		info, err := os.Lstat(target)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return target, nil // Open looks at other errors
		}
		link, err := os.Readlink(target)
		if err != nil {
			return "", fmt.Errorf("resolving %q: %w", path, plainCause(err))
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(target), link)
		}
		target = link
	}
	return "", fmt.Errorf("resolving %q: %w", path, circle{})
}

// plainCause drops operation and path from an error of package os; the
// message around it has named the file already.
func plainCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
