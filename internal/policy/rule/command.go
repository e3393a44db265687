package rule

import (
	"errors"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// Command is what a rule says of a program that would run: its name, and words that
// are among its arguments.
//
//	git push --force        git push, with --force or --force=… anywhere
//	rm -rf                  -rf, -fr, -r -f and so on
//	npm|pnpm|yarn publish   any of the three
//	kubectl delete prod-*   * stands for any text
//	terraform               whatever its arguments
//
// Options are found anywhere before "--". Other words are found in this order with
// anything between, but for programs with subcommands the first of them is the
// subcommand. Text that is not known beforehand fits only "*".
type Command struct {
	text    string
	program []string // alternatives
	words   []word
}

type word struct {
	of     []string // alternatives
	option bool
}

// UnmarshalText reads it.
func (c *Command) UnmarshalText(text []byte) error {
	fields := strings.Fields(string(text))
	if len(fields) == 0 {
		return errors.New("it names no program")
	}
	c.text, c.words = strings.Join(fields, " "), nil
	for i, f := range fields {
		if strings.ContainsAny(f, `'"`+"`$;&()<>") {
			return errors.New("it is a program and words, not a line of a shell: no quotes, variables or operators")
		}
		of := strings.Split(f, "|")
		if slices.Contains(of, "") {
			return errors.New("an alternative around | is empty")
		}
		if i == 0 {
			c.program = of
			continue
		}
		w := word{of: of, option: strings.HasPrefix(f, "-") && f != "-"}
		for _, a := range of {
			if w.option != (strings.HasPrefix(a, "-") && a != "-") {
				return errors.New("alternatives are either all options or none")
			}
		}
		c.words = append(c.words, w)
	}
	return nil
}

// IsZero reports whether nothing was said.
func (c *Command) IsZero() bool { return c.text == "" }

// String is it as it was written.
func (c *Command) String() string { return c.text }

// matches reports whether a leaf is such a program. A wrapper (sudo, env) counts
// when nothing is said of its arguments.
func (c *Command) matches(l *shell.Leaf) bool {
	if len(c.words) == 0 && slices.ContainsFunc(l.Via, func(v shell.Wrap) bool { return c.isProgram(v.Name, v.Argv) }) {
		return true
	}
	if !c.isProgram(l.Name, l.Argv) {
		return false
	}
	return c.arguments(l)
}

func (c *Command) isProgram(name string, argv []shell.Arg) bool {
	return slices.ContainsFunc(c.program, func(p string) bool {
		if strings.Contains(p, "/") {
			return len(argv) > 0 && anyText(&argv[0].Value, func(s string) bool { return glob(p, s) })
		}
		return name != "" && glob(p, name)
	})
}

// arguments reports whether all words are among a leaf's arguments.
func (c *Command) arguments(l *shell.Leaf) bool {
	options, rest := split(l)
	next := 0
	anchored := isTree(l.Name)
	for _, w := range c.words {
		if w.option {
			if !w.isOption(options) {
				return false
			}
			continue
		}
		found := false
		for !found && next < len(rest) {
			found = anyText(rest[next], func(s string) bool {
				return slices.ContainsFunc(w.of, func(p string) bool { return glob(p, s) })
			})
			if next++; anchored && !found {
				return false
			}
		}
		if !found {
			return false
		}
		anchored = false
	}
	return true
}

// split tells a leaf's options from its other arguments.
func split(l *shell.Leaf) (options, rest []*shell.Value) {
	values := valueOptions(l.Name)
	for i := 1; i < len(l.Argv); i++ {
		v := &l.Argv[i].Value
		s, exact := v.Exact()
		switch {
		case exact && s == "--":
			for i++; i < len(l.Argv); i++ {
				rest = append(rest, &l.Argv[i].Value)
			}
		case exact && len(s) > 1 && s[0] == '-', !exact && strings.HasPrefix(v.Prefix(), "-"):
			options = append(options, v)
			if len(rest) == 0 && slices.Contains(values, s) {
				i++ // its value
			}
		default:
			rest = append(rest, v)
			// What is not known may be an option as well.
			if !exact {
				options = append(options, v)
			}
		}
	}
	return options, rest
}

func (w *word) isOption(options []*shell.Value) bool {
	return slices.ContainsFunc(w.of, func(p string) bool {
		if slices.ContainsFunc(options, func(v *shell.Value) bool {
			return anyText(v, func(s string) bool {
				name, _, _ := strings.Cut(s, "=")
				return glob(p, s) || strings.HasPrefix(p, "-") && glob(p, name)
			})
		}) {
			return true
		}
		letters, ok := cluster(p, 3)
		if !ok {
			return false
		}
		return !slices.ContainsFunc([]byte(letters), func(letter byte) bool {
			return !slices.ContainsFunc(options, func(v *shell.Value) bool {
				return anyText(v, func(s string) bool {
					have, ok := cluster(s, 5)
					return ok && strings.IndexByte(have, letter) >= 0
				})
			})
		})
	})
}

// cluster is the letters of short options in one word: "rf" of "-rf". Long words
// behind one dash are the name of one option in many programs (find -delete), so
// more than limit letters are none.
func cluster(s string, limit int) (letters string, ok bool) {
	letters, ok = strings.CutPrefix(s, "-")
	if !ok || letters == "" || len(letters) > limit {
		return "", false
	}
	for i := range len(letters) {
		if c := letters[i]; c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
			return "", false
		}
	}
	return letters, true
}

// unknown stands for a part of a value that is not known. No pattern holds it, so
// that only * fits.
const unknown = "\uFFFC"

// anyText reports whether fits holds for a value, or for one of those it may have.
func anyText(v *shell.Value, fits func(string) bool) bool {
	for _, one := range v.Each() {
		s := one.Text
		for i := len(one.Holes) - 1; i >= 0; i-- {
			at := one.Holes[i].At
			s = s[:at] + unknown + s[at:]
		}
		if fits(s) {
			return true
		}
	}
	return false
}

// glob reports whether pattern, in which * stands for any text, fits s. Its time is
// bounded by the product of their lengths.
func glob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// isTree reports whether a program's first word is a subcommand.
func isTree(program string) bool {
	_, listed := trees(program)
	return listed
}

// valueOptions are the options before a subcommand whose value is a word of its own.
func valueOptions(program string) []string {
	values, _ := trees(program)
	return values
}

// trees knows the programs with subcommands: from their manual pages, git 2.51,
// docker 28, kubectl 1.34, npm 11, pnpm 10, cargo 1.90, go 1.26, gh 2.80, aws 2,
// gcloud 540, helm 3.19, terraform 1.13, pip 25, systemctl 258.
func trees(program string) (values []string, listed bool) {
	switch program {
	case "git":
		return []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source"}, true
	case "docker", "podman", "nerdctl":
		return []string{"-H", "--host", "-c", "--context", "--config", "-l", "--log-level", "--tlscacert", "--tlscert", "--tlskey", "--connection", "--url"}, true
	case "kubectl", "oc":
		return []string{"-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server", "--as", "--token", "-v"}, true
	case "npm", "pnpm", "yarn", "bun":
		return []string{"--prefix", "-C", "--dir", "-w", "--workspace", "-F", "--filter", "--cwd"}, true
	case "cargo":
		return []string{"-C", "--config", "--color", "-Z", "--manifest-path"}, true
	case "go":
		return []string{"-C"}, true
	case "gh":
		return []string{"-R", "--repo"}, true
	case "aws":
		return []string{"--profile", "--region", "--output", "--endpoint-url", "--query", "--color"}, true
	case "gcloud":
		return []string{"--project", "--account", "--format", "--configuration", "--verbosity"}, true
	case "helm":
		return []string{"-n", "--namespace", "--kube-context", "--kubeconfig"}, true
	case "systemctl":
		return []string{"-H", "--host", "-M", "--machine", "-t", "--type", "-p", "--property"}, true
	case "terraform", "tofu", "pulumi", "pip", "pip3", "uv", "poetry", "brew", "apt", "apt-get", "dnf", "flyctl", "fly", "heroku", "vercel", "az", "jj", "hg", "svn", "gem", "bundle", "composer", "rustup":
		return nil, true
	}
	return nil, false
}
