package entry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/format"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// formatPack runs formatters over changed files.
var formatPack = pack{
	name: format.Name, band: policy.BandRewrite + 50, events: "PostToolUse",
	told: func(r *Rules) bool { return len(r.Format) > 0 },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		k := h.kit()
		// The person's own rows come first; what they do not name has the standard.
		table := append(append([]format.Formatter(nil), r.Format...), format.Standard()...)
		// The model reads a formatter's complaint, which may show the line at fault.
		run := maskingRunner{k, maskFailures(k.Run, secretMask(r, h.dirs))}
		return []policy.Handler{format.New(table, format.World{Store: k.Store(format.Name), Runner: run,
			Read: readText, Replace: replaceKeepingMode, Exists: anyIn, Inside: insideOf})}
	},
	check: func(r *Rules) *Fault {
		if row, key, problem := format.Check(r.Format); row >= 0 {
			return &Fault{Section: format.Name, Index: row, Key: key, Problem: problem}
		}
		return nil
	},
}

// readText is smallfile.Read for files that may be left alone.
func readText(file string, max int) ([]byte, error) {
	text, err := smallfile.Read(file, max)
	if errors.Is(err, smallfile.ErrTooLarge) {
		err = fs.ErrInvalid
	}
	return text, err
}

// replaceKeepingMode writes a file in one step. Its mode stays; a link to it was
// followed before.
func replaceKeepingMode(file string, text []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return replaceAs(file, text, info.Mode().Perm())
}

// anyIn reports whether one of the names is in the folder.
func anyIn(dir string, names []string) bool {
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(filepath.FromSlash(dir), name)); err == nil {
			return true
		}
	}
	return false
}

// insideOf is a path as an absolute one below a folder, with slashes and with links
// followed.
func insideOf(dir, file string) (string, bool) {
	if dir == "" || !filepath.IsAbs(dir) {
		return "", false
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	realFile, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", false // deleted, most likely
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	below, err := filepath.Rel(realDir, realFile)
	if err != nil || below == "." || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) || !fs.ValidPath(filepath.ToSlash(below)) {
		return "", false
	}
	for _, part := range strings.Split(filepath.ToSlash(below), "/") {
		if part == ".git" || part == "node_modules" {
			return "", false
		}
	}
	return filepath.ToSlash(realFile), true
}
