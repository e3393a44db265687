package rulebook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// Digest is the SHA-256 of a rule file, written "sha256:" and 64 hex digits.
type Digest string

// digestPrefix names the only kind of digest there is.
const digestPrefix = "sha256:"

// UnmarshalText reads a digest.
func (d *Digest) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), digestPrefix)
	if b, err := hex.DecodeString(digits); !ok || err != nil || len(b) != sha256.Size {
		return fmt.Errorf("%q is no digest: it is \"sha256:\" and 64 hex digits", text)
	}
	*d = Digest(strings.ToLower(string(text)))
	return nil
}

// DigestOf is the digest of a file's content.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest(digestPrefix + hex.EncodeToString(sum[:]))
}

// hex is the digest without its prefix.
func (d Digest) hex() string { return strings.TrimPrefix(string(d), digestPrefix) }

// Short is enough of it for people to tell two apart.
func (d Digest) Short() string { return digestPrefix + d.hex()[:min(12, len(d.hex()))] }

// File is a rule file as it was read.
type File struct {
	Path   string
	Data   []byte
	Digest Digest
}

// Read reads a rule file. The error is fs.ErrNotExist where there is none. What is
// no regular file is not opened: a pipe would keep the hook waiting.
func Read(path string) (File, error) {
	data, err := smallfile.Read(path, MaxBook)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		return File{}, fs.ErrNotExist
	case errors.Is(err, fs.ErrInvalid):
		return File{}, &Error{File: path, Problem: "it is no regular file"}
	case errors.Is(err, smallfile.ErrTooLarge):
		return File{}, &Error{File: path, Problem: fmt.Sprintf("it is larger than %d bytes", MaxBook)}
	default:
		return File{}, fmt.Errorf("reading the rulebook: %w", err)
	}
	return File{Path: path, Data: data, Digest: DigestOf(data)}, nil
}

// Save writes the file in one step.
func (f File) Save() error {
	if err := replace(f.Path, f.Data); err != nil {
		return fmt.Errorf("writing %s: %w", f.Path, err)
	}
	return nil
}

// ProjectBook is where a project keeps its rulebook, below its folder.
const ProjectBook = ".lidguard/rules.toml"

// FindProject returns the rulebook of the project that cwd is in: the nearest one
// upwards, not above the folder that holds .git and not above home; "" where there
// is none. With unix permissions it ends below a folder that everybody may write
// to, such as /tmp: whatever lies there is nobody's project.
func FindProject(cwd, home string, unix bool) string {
	if !filepath.IsAbs(cwd) {
		return ""
	}
	home = filepath.Clean(home)
	for dir := filepath.Clean(cwd); ; {
		info, err := os.Stat(dir)
		if err == nil && unix && info.Mode().Perm()&0o002 != 0 {
			return ""
		}
		// A folder that is gone has parents all the same.
		book := filepath.Join(dir, filepath.FromSlash(ProjectBook))
		if _, err := os.Lstat(book); err == nil {
			return book
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == home {
			return ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// FindAbove returns the rulebook of the project around that of book, as FindProject
// does; "" where there is none.
func FindAbove(book, home string, unix bool) string {
	dir := ProjectOf(book)
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Clean(home) || filepath.Dir(dir) == dir {
		return ""
	}
	return FindProject(filepath.Dir(dir), home, unix)
}

// ProjectOf is the folder that a project's rulebook is for.
func ProjectOf(book string) string { return filepath.Dir(filepath.Dir(book)) }
