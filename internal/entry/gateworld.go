package entry

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// Limits of what a judgement may read. They keep the worst case well inside the
// gate's deadline.
const (
	maxIndex   = 16 << 20 // bytes of a git index; some 150,000 files
	maxNames   = 2000     // names one pattern may give
	maxIgnore  = 64 << 10 // bytes of one .gitignore
	maxParents = 40       // folders to go up in search of a project
)

// machine answers the gate's questions from the disk. It starts nothing, writes
// nothing, never opens /proc, and remembers what it read.
type machine struct {
	dir, home string
	project   string

	gitDir  string
	looked  bool
	index   []byte // nil: there is none
	unread  bool   // there is one, and it was not read
	ignores map[string][]ignore
}

// gateWorld describes the machine for a call in dir.
func gateWorld(goos, dir string, getenv func(string) string, home string) gate.World {
	m := &machine{dir: filepath.ToSlash(dir), home: filepath.ToSlash(home)}
	m.project = m.findProject()
	w := gate.World{
		Dir: m.dir, Home: m.home, Project: m.project, Windows: goos == "windows",
		Env: func(name string) (string, bool) {
			v := getenv(name)
			return v, v != ""
		},
		ReadFile: m.readFile, Glob: m.glob, Kind: m.kind, Track: m.track, Tracks: m.tracks, Resolve: m.resolve,
	}
	for _, name := range [...]string{"TMPDIR", "TEMP", "TMP", "CLAUDE_CODE_TMPDIR"} {
		if t := getenv(name); t != "" && filepath.IsAbs(t) && t != "/" && t != home {
			w.Temp = append(w.Temp, path.Clean(filepath.ToSlash(t)))
		}
	}
	return w
}

// closed tells places that are never read.
func closed(p string) bool {
	for _, dir := range [...]string{"/proc", "/sys", "/dev", "/run"} {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// findProject is the folder of the repository that dir is in, or dir.
func (m *machine) findProject() string {
	if m.dir == "" || closed(m.dir) {
		return m.dir
	}
	at := m.dir
	for range maxParents {
		if at == m.home || at == "/" {
			break
		}
		if info, err := os.Lstat(at + "/.git"); err == nil {
			m.gitDir = at + "/.git"
			if info.Mode().IsRegular() { // a worktree or a submodule
				if b, err := smallfile.Read(m.gitDir, 4096); err == nil {
					if p, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: "); ok {
						if !filepath.IsAbs(p) {
							p = at + "/" + p
						}
						m.gitDir = path.Clean(filepath.ToSlash(p))
					}
				}
			}
			return at
		}
		up := path.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return m.dir
}

// readFile reads a script that a command names: one of the project, of a temp
// folder or of the home folder. What the system brings is not looked into.
func (m *machine) readFile(p string, max int) (string, bool) {
	if !path.IsAbs(p) && !filepath.IsAbs(p) {
		if m.dir == "" {
			return "", false
		}
		p = m.dir + "/" + p
	}
	p = path.Clean(filepath.ToSlash(p))
	if closed(p) || closed(m.resolve(p)) {
		return "", false
	}
	b, err := smallfile.Read(p, max)
	if errors.Is(err, smallfile.ErrTooLarge) {
		return "too large", false
	}
	if err != nil || bytes.IndexByte(b[:min(len(b), 512)], 0) >= 0 {
		return "", false // a program, not a script
	}
	return string(b), true
}

func (m *machine) glob(dir, pattern string) ([]string, bool) {
	full := pattern
	if !path.IsAbs(pattern) && !filepath.IsAbs(pattern) {
		if dir == "" {
			return nil, false
		}
		full = globQuote(dir) + "/" + pattern
	}
	if closed(path.Clean(full)) || strings.Contains(pattern, "**") || strings.Count(pattern, "*") > 4 {
		return nil, false
	}
	// One level only: a pattern over many folders is not worth the time.
	if i := strings.IndexAny(pattern, "*?["); i >= 0 && strings.ContainsRune(pattern[i:], '/') {
		return nil, false
	}
	parent := path.Dir(strings.ReplaceAll(full, `\`, ""))
	if closed(m.resolve(parent)) {
		return nil, false
	}
	f, err := smallfile.OpenDir(parent)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	names, err := f.Readdirnames(maxNames + 1)
	if len(names) > maxNames || err != nil && err != io.EOF {
		return nil, false
	}
	last := path.Base(pattern)
	var out []string
	for _, n := range names {
		if n[0] == '.' && last[0] != '.' {
			continue
		}
		if ok, err := path.Match(last, n); err != nil {
			return nil, false
		} else if ok {
			out = append(out, pattern[:len(pattern)-len(last)]+n)
		}
	}
	return out, true
}

func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

func (m *machine) kind(p string) gate.FileKind {
	if closed(p) {
		return gate.KindUnknown
	}
	info, err := os.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gate.KindMissing
	case err != nil:
		return gate.KindUnknown
	case info.IsDir():
		return gate.KindDir
	}
	return gate.KindFile
}

// maxLinks is how many links Linux follows in one path (path_resolution(7)).
const maxLinks = 40

// resolve follows links as far as the path exists, and a link that leads to nothing
// yet to where writing through it would make a file. It is "" where that cannot be
// known.
func (m *machine) resolve(p string) string {
	if closed(p) {
		return ""
	}
	rest, links := "", 0
	for at := p; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return path.Clean(filepath.ToSlash(real) + rest)
		}
		// Not path.Dir, which takes out a ".." that may lead out of a link.
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return ""
		}
		up := at[:max(i, 1)]
		if target, err := os.Readlink(at); err == nil {
			// A link that leads back to itself is slow to follow to its end.
			if _, err := os.Stat(at); errors.Is(err, syscall.ELOOP) {
				return ""
			}
			if links++; links > maxLinks {
				return ""
			}
			if target = filepath.ToSlash(target); !path.IsAbs(target) && !filepath.IsAbs(target) {
				target = up + "/" + target // not cleaned: up may be a link itself
			}
			at = target
			continue
		}
		if up == at {
			return ""
		}
		rest = at[i:] + rest
		at = up
	}
}

// track looks a path up in git's index, and else in the ignore files on the way.
func (m *machine) track(p string) gate.Track {
	if m.gitDir == "" {
		return gate.TrackUnknown
	}
	rel, ok := strings.CutPrefix(p, m.project+"/")
	if !ok {
		return gate.TrackUnknown
	}
	m.readIndex()
	if m.unread {
		return gate.TrackUnknown
	}
	switch inIndex(m.index, rel) {
	case yes:
		return gate.TrackedPath
	case unsure:
		return gate.TrackUnknown
	}
	if m.ignored(rel) {
		return gate.IgnoredPath
	}
	return gate.UntrackedPath
}

func (m *machine) readIndex() {
	if m.looked {
		return
	}
	m.looked = true
	b, err := smallfile.Read(m.gitDir+"/index", maxIndex)
	m.index, m.unread = b, err != nil && !errors.Is(err, fs.ErrNotExist)
}

// tracks looks in git's index for a file in or below dir whose last part fits a
// pattern, in either case of letters.
func (m *machine) tracks(dir, pattern string) (tracked, known bool) {
	if m.gitDir == "" {
		return false, false
	}
	prefix := ""
	if dir != m.project {
		rel, ok := strings.CutPrefix(dir, m.project+"/")
		if !ok {
			return false, false
		}
		prefix = rel + "/"
	}
	if m.readIndex(); m.unread {
		return false, false
	}
	if m.index == nil {
		return false, true
	}
	pattern = strings.ToLower(pattern)
	if _, err := path.Match(pattern, ""); err != nil {
		return false, false
	}
	known = eachIndexed(m.index, func(name []byte) bool {
		if len(name) >= len(prefix) && string(name[:len(prefix)]) == prefix {
			tracked, _ = path.Match(pattern, strings.ToLower(path.Base(string(name))))
		}
		return !tracked
	})
	return tracked, known
}

type answer int

const (
	no answer = iota
	yes
	unsure
)

// inIndex reports whether a git index has path or something below it.
func inIndex(index []byte, name string) answer {
	if len(index) < 12 {
		return no
	}
	found := no
	whole := eachIndexed(index, func(entry []byte) bool {
		if string(entry) == name || len(entry) > len(name) && entry[len(name)] == '/' && string(entry[:len(name)]) == name {
			found = yes
		}
		return found == no
	})
	if !whole {
		return unsure
	}
	return found
}

// eachIndexed calls f with the paths in a git index (gitformat-index(5), versions
// 2 to 4) until it returns false. It reports whether the index could be read.
func eachIndexed(index []byte, f func(path []byte) bool) bool {
	if len(index) < 12 {
		return false
	}
	version := binary.BigEndian.Uint32(index[4:])
	if string(index[:4]) != "DIRC" || version < 2 || version > 4 {
		return false
	}
	count := int(binary.BigEndian.Uint32(index[8:]))
	at := 12
	var prev []byte
	for range count {
		if at+62 > len(index) {
			return false
		}
		flags := binary.BigEndian.Uint16(index[at+60:])
		start := at + 62
		if version >= 3 && flags&0x4000 != 0 {
			start += 2
		}
		if start > len(index) {
			return false
		}
		var entry []byte
		if version == 4 {
			strip, n := offset(index[start:])
			end := bytes.IndexByte(index[start+n:], 0)
			if n == 0 || end < 0 || strip > len(prev) {
				return false
			}
			entry = append(append([]byte{}, prev[:len(prev)-strip]...), index[start+n:start+n+end]...)
			prev = entry
			at = start + n + end + 1
		} else {
			end := bytes.IndexByte(index[start:], 0)
			if end < 0 {
				return false
			}
			entry = index[start : start+end]
			at += (start - at + end + 8) &^ 7
		}
		if !f(entry) {
			return true
		}
	}
	return true
}

// offset reads the variable width number of a version 4 entry.
func offset(b []byte) (value, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		n++
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}

// ignore is one line of an ignore file.
type ignore struct {
	pattern  string
	anchored bool
	negated  bool
}

// ignored applies the ignore files between the project's root and a path, and
// .git/info/exclude. Patterns with ** in the middle are left out: a path that
// only they cover counts as work.
func (m *machine) ignored(rel string) bool {
	parts := strings.Split(rel, "/")
	for n := 1; n <= len(parts); n++ {
		hit := false
		for d := 0; d < n; d++ {
			below := strings.Join(parts[d:n], "/")
			for _, file := range m.ignoresOf(strings.Join(parts[:d], "/")) {
				if file.matches(below) {
					hit = !file.negated
				}
			}
		}
		if hit {
			return true // git does not look below an ignored folder
		}
	}
	return false
}

func (m *machine) ignoresOf(dir string) []ignore {
	if list, ok := m.ignores[dir]; ok {
		return list
	}
	if m.ignores == nil {
		m.ignores = map[string][]ignore{}
	}
	files := []string{path.Join(m.project, dir, ".gitignore")}
	if dir == "" {
		files = append(files, m.gitDir+"/info/exclude")
	}
	var list []ignore
	for _, f := range files {
		b, err := smallfile.Read(f, maxIgnore)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimRight(line, " \t\r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			var ig ignore
			if line[0] == '!' {
				ig.negated, line = true, line[1:]
			}
			line = strings.TrimSuffix(strings.TrimSuffix(line, "/**"), "/")
			if rest, ok := strings.CutPrefix(line, "**/"); ok {
				line = rest
			} else if strings.Contains(line, "/") {
				ig.anchored = true
				line = strings.TrimPrefix(line, "/")
			}
			if line == "" || strings.Contains(line, "**") {
				continue
			}
			ig.pattern = line
			list = append(list, ig)
		}
	}
	m.ignores[dir] = list
	return list
}

func (ig *ignore) matches(below string) bool {
	if !ig.anchored {
		below = path.Base(below)
	}
	ok, err := path.Match(ig.pattern, below)
	return ok && err == nil
}
