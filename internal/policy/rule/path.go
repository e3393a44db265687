package rule

import (
	"errors"
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// A path pattern is absolute, below ~/, or relative to the project. One without a
// slash fits the last part of any path. In it * stands for text within one part, **
// for any number of parts. A pattern that fits a folder fits all that is in it.

// checkPath refuses patterns that could never fit.
func checkPath(pattern string) error {
	if strings.Contains(pattern, `\`) {
		return errors.New("write it with /, on Windows too")
	}
	if strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../") || strings.Contains(pattern, "/../") || strings.Contains(pattern, "/./") {
		return errors.New("no part of it may be . or .. alone")
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part != "**" && strings.Contains(part, "**") {
			return errors.New("where it stands, ** is the whole part between two slashes")
		}
	}
	return nil
}

// pathFits reports whether a clean absolute path fits a pattern.
func (w *World) pathFits(pattern, name string) bool {
	name = slashed(name)
	if w.Fold {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	root, home := slashed(w.Root), slashed(w.Shell.Home)
	if w.Fold {
		root, home = strings.ToLower(root), strings.ToLower(home)
	}
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = strings.TrimSuffix(home, "/") + "/" + rest
	}
	pattern = strings.TrimSuffix(pattern, "/")
	switch {
	case strings.HasPrefix(pattern, "/") || len(pattern) > 1 && pattern[1] == ':':
	case !strings.Contains(pattern, "/"):
		for part := range strings.SplitSeq(strings.TrimPrefix(name, "/"), "/") {
			if glob(pattern, part) {
				return true
			}
		}
		return false
	default:
		rest, ok := strings.CutPrefix(name, strings.TrimSuffix(root, "/")+"/")
		if !ok {
			return false
		}
		name = rest
	}
	return parts(strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(name, "/"), "/"))
}

// parts reports whether pattern fits name or a folder above it.
func parts(pattern, name []string) bool {
	// fits[j] is whether what was read of pattern fits the first j parts of name.
	fits := make([]bool, len(name)+1)
	fits[0] = true
	for _, p := range pattern {
		next := make([]bool, len(name)+1)
		for j := range next {
			if p == "**" {
				next[j] = fits[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && fits[j-1] && glob(p, name[j-1])
			}
		}
		fits = next
	}
	for _, ok := range fits[1:] {
		if ok {
			return true
		}
	}
	return false
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

// absolute puts a path that a call names below dir.
func (w *World) absolute(name, dir string) string {
	name = slashed(name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok && w.Shell.Home != "" {
		name = slashed(w.Shell.Home) + "/" + rest
	}
	if !strings.HasPrefix(name, "/") && (len(name) < 2 || name[1] != ':') {
		name = slashed(dir) + "/" + name
	}
	return path.Clean(name)
}

// names reports whether the call, or only the leaf l of its command, names a file
// that fits.
func (c *call) names(pattern string, l *shell.Leaf) (bool, error) {
	if l != nil {
		return c.leafNames(pattern, l), nil
	}
	in, err := c.fields()
	if err != nil {
		return false, err
	}
	for _, name := range in.paths {
		if c.w.pathFits(pattern, c.w.absolute(name, c.dir())) {
			return true, nil
		}
	}
	f, err := c.facts()
	if f == nil || err != nil {
		return false, err
	}
	for i := range f.Leaves {
		if c.leafNames(pattern, &f.Leaves[i]) {
			return true, nil
		}
	}
	return false, nil
}

func (c *call) leafNames(pattern string, l *shell.Leaf) bool {
	dir, known := l.Dir.Exact()
	if !known {
		dir = c.dir()
	}
	fits := func(s string) bool { return s != "" && c.w.pathFits(pattern, c.w.absolute(s, dir)) }
	for i := 1; i < len(l.Argv); i++ {
		if anyText(&l.Argv[i].Value, func(s string) bool {
			if strings.HasPrefix(s, "-") { // --file=x, dd's of=x below
				_, s, _ = strings.Cut(s, "=")
				return fits(s)
			}
			_, after, _ := strings.Cut(s, "=")
			return fits(s) || fits(after)
		}) {
			return true
		}
	}
	for i := range l.Redirects {
		if anyText(&l.Redirects[i].Target.Value, fits) {
			return true
		}
	}
	return false
}
