// Package format runs a formatter over the files that a call has just changed. In
// come the event after the call, a table of formatters and the means to read, run
// and write; out comes a sentence for the model where a file changed, and one for
// the person where a formatter is missing. It never blocks, never formats what it
// was not told about, and never overwrites what somebody else changed meanwhile.
package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in chains and logs.
const Name = "format"

// Formatter is one row of the table: the first that matches a file is its own.
type Formatter struct {
	// Match are patterns for the file's name, as in path.Match.
	Match []string `toml:"match"`
	// Command reads the file's text on stdin and prints the formatted one. {file}
	// stands for the file's path. The program is looked for on PATH, never in the
	// project.
	Command []string `toml:"command"`
	// Needs are names of which one has to be in the file's folder or above it: a
	// project that does not use a formatter is left alone. Empty needs none.
	Needs []string `toml:"needs"`
	// Limit ends the formatter; 5 s where it is not given.
	Limit policy.Duration `toml:"limit"`
}

// Bounds: what is longer is left as it is.
const (
	MaxFile      = 2 << 20 // bytes
	MaxFiles     = 8       // of one call
	defaultLimit = 5 * time.Second
	maxLimit     = 20 * time.Second
)

// Standard is the table without a rulebook. Formatters that every project of their
// language shares need nothing; the others need a file that says so.
func Standard() []Formatter {
	return []Formatter{
		{Match: []string{"*.go"}, Command: []string{"gofmt"}},
		{Match: []string{"*.rs"}, Command: []string{"rustfmt", "--emit", "stdout", "--quiet", "--edition", "2021"}, Needs: []string{"Cargo.toml"}},
		{Match: []string{"*.py", "*.pyi"}, Command: []string{"ruff", "format", "--stdin-filename", "{file}", "-"}, Needs: []string{"ruff.toml", ".ruff.toml", "pyproject.toml"}},
		{Match: []string{"*.sh", "*.bash"}, Command: []string{"shfmt", "-filename", "{file}"}, Needs: []string{".editorconfig"}},
		{Match: []string{"*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.css", "*.scss", "*.html", "*.vue", "*.json", "*.md", "*.yaml", "*.yml"},
			Command: []string{"prettier", "--stdin-filepath", "{file}"},
			Needs:   []string{".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.toml", ".prettierrc.js", ".prettierrc.mjs", "prettier.config.js", "prettier.config.mjs", "prettier.config.ts"}},
		{Match: []string{"*.tf", "*.tfvars"}, Command: []string{"terraform", "fmt", "-"}},
		{Match: []string{"*.zig"}, Command: []string{"zig", "fmt", "--stdin"}},
		{Match: []string{"*.c", "*.h", "*.cc", "*.cpp", "*.hpp", "*.m", "*.proto"}, Command: []string{"clang-format", "--assume-filename", "{file}"}, Needs: []string{".clang-format"}},
		{Match: []string{"*.lua"}, Command: []string{"stylua", "--stdin-filepath", "{file}", "-"}, Needs: []string{"stylua.toml", ".stylua.toml"}},
		{Match: []string{"*.toml"}, Command: []string{"taplo", "fmt", "--stdin-filepath", "{file}", "-"}, Needs: []string{"taplo.toml", ".taplo.toml"}},
		{Match: []string{"*.nix"}, Command: []string{"nixfmt"}, Needs: []string{"flake.nix"}},
	}
}

// Check finds the first row that could not work, and says why; -1 where all could.
func Check(table []Formatter) (row int, key, problem string) {
	for i, f := range table {
		switch {
		case len(f.Match) == 0:
			return i, "match", "it names no files"
		case len(f.Command) == 0 || strings.TrimSpace(f.Command[0]) == "":
			return i, "command", "it names no program"
		case strings.ContainsAny(f.Command[0], `/\`) && !path.IsAbs(f.Command[0]) && !windowsAbs(f.Command[0]):
			return i, "command", fmt.Sprintf("the program %q is neither a name on PATH nor an absolute path", f.Command[0])
		case time.Duration(f.Limit) > maxLimit:
			return i, "limit", fmt.Sprintf("it is %v; at most %v are possible", time.Duration(f.Limit), maxLimit)
		}
		for _, p := range append(slices.Clone(f.Match), f.Needs...) {
			if _, err := path.Match(p, ""); err != nil || p == "" || strings.Contains(p, "/") {
				return i, "match", fmt.Sprintf("%q is no pattern for a file's name", p)
			}
		}
	}
	return -1, "", ""
}

func windowsAbs(p string) bool { return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') }

// World is what the pack may do.
type World struct {
	Store policy.Store
	policy.Runner
	// Read is the text of a regular file at an absolute path; fs.ErrInvalid for what
	// is no regular file, or longer than max.
	Read func(file string, max int) ([]byte, error)
	// Replace writes the new text in one step and keeps the file's mode.
	Replace func(file string, text []byte) error
	// Exists reports whether one of the names is in the folder.
	Exists func(dir string, names []string) bool
	// Inside is a path as an absolute one below the session's folder, links
	// followed; false where it is not below it.
	Inside func(cwd, file string) (string, bool)
}

// New returns the handler.
func New(table []Formatter, w World) policy.Handler {
	return policy.Handler{
		Name: Name, Band: policy.BandRewrite + 50, Role: policy.Observer, Limit: maxLimit,
		Wants: func(ev *event.Event) bool {
			return ev.Name == event.PostToolUse && len(changed(ev)) > 0
		},
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			var v event.Verdict
			for _, file := range changed(ev) {
				if err := one(ctx, table, w, ev, file, &v); err != nil {
					return v, err
				}
			}
			return v, nil
		},
	}
}

// changed are the files that a call changed, as it names them.
func changed(ev *event.Event) []string {
	if ev.Tool == nil {
		return nil
	}
	files, patched := policy.Patched(ev.Tool.Input)
	if !patched && policy.Writes(ev.Tool.Name) {
		if file := policy.Named(ev.Tool.Input); file != "" {
			files = []string{file}
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	return files[:min(len(files), MaxFiles)]
}

// one formats one file and adds to v what there is to say.
func one(ctx context.Context, table []Formatter, w World, ev *event.Event, file string, v *event.Verdict) error {
	abs, ok := w.Inside(ev.Cwd, file)
	if !ok {
		return nil
	}
	f := find(table, abs, w)
	if f == nil {
		return nil
	}
	program, err := w.Look(f.Command[0])
	if err != nil {
		return missing(ctx, w.Store, ev, f.Command[0], v)
	}
	argv := slices.Clone(f.Command)
	argv[0] = program
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "{file}", abs)
	}
	// One formatter for a file at a time, whichever session changed it.
	return w.Store.Update(ctx, "file "+abs, func([]byte) ([]byte, error) {
		before, err := w.Read(abs, MaxFile)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return nil, nil // deleted by the call, or nothing to format
		}
		if err != nil {
			return nil, err
		}
		r, err := w.Run(ctx, policy.Command{Argv: argv, Dir: path.Dir(abs), Stdin: before, Limit: f.Limit.Or(defaultLimit), MaxOutput: 2 * MaxFile})
		if err != nil {
			return nil, err
		}
		name := path.Base(f.Command[0])
		switch {
		case r.Late:
			v.Contexts = append(v.Contexts, fmt.Sprintf("lidguard format: %s took too long over %s; the file is as you wrote it.", name, file))
			return nil, nil
		case r.Code != 0:
			v.Contexts = append(v.Contexts, fmt.Sprintf("lidguard format: %s cannot read %s (%s): %s", name, file, r.Ended(), firstLine(r.Stderr)))
			return nil, nil
		case r.Cut || len(r.Stdout) == 0 && len(bytes.TrimSpace(before)) > 0 || bytes.Equal(r.Stdout, before):
			return nil, nil
		}
		// Somebody may have gone on writing while the formatter ran.
		if now, err := w.Read(abs, MaxFile); err != nil || !bytes.Equal(now, before) {
			return nil, nil
		}
		if err := w.Replace(abs, r.Stdout); err != nil {
			return nil, err
		}
		v.Contexts = append(v.Contexts, fmt.Sprintf("lidguard format: %s has reformatted %s; read it again before you edit it.", name, file))
		return nil, nil
	})
}

// find is the formatter of a file; nil where it has none, or its project does not
// use the one it has.
func find(table []Formatter, file string, w World) *Formatter {
	for i := range table {
		f := &table[i]
		fits := slices.ContainsFunc(f.Match, func(p string) bool { ok, err := path.Match(p, path.Base(file)); return err == nil && ok })
		if !fits {
			continue
		}
		if len(f.Needs) == 0 {
			return f
		}
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			if w.Exists(dir, f.Needs) {
				return f
			}
			if dir == path.Dir(dir) {
				return nil
			}
		}
	}
	return nil
}

// missing tells the person once in a session that a formatter is not there.
func missing(ctx context.Context, store policy.Store, ev *event.Event, program string, v *event.Verdict) error {
	return store.Update(ctx, "told "+ev.Session.String(), func(old []byte) ([]byte, error) {
		if slices.Contains(strings.Split(string(old), "\n"), program) {
			return old, nil
		}
		notice := fmt.Sprintf("lidguard format: %s is not on PATH, so its files stay as they are.", program)
		v.SystemMessage = strings.TrimSpace(v.SystemMessage + "\n" + notice)
		// Clients without such messages show it to nobody; there the model knows.
		if ev.Provider == event.Copilot || ev.Provider == event.OpenCode {
			v.Contexts = append(v.Contexts, notice)
		}
		return append(append(old, program...), '\n'), nil
	})
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(text), "?")), "\n")
	return line[:min(len(line), 300)]
}
