// Package lidguard_test holds the rules about the repository itself: who may
// import whom, which packages a hook may link, that every package says what it
// is, that documents name only what exists, and that no test is skipped.
package lidguard_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lidguard-go/lidguard"

// mayImport is the table of docs/architecture.md: a package (below the module)
// and what of ours it may import. A name covers the packages below it; "*"
// stands for one path element. The longest matching name counts.
var mayImport = map[string][]string{
	"cmd/lidguard":      {"internal/entry", "internal/cli", "internal/daemon", "internal/ipc", "internal/paths", "internal/settings", "internal/platform", "internal/resident"},
	"cmd/lidguard-hook": {"internal/entry"},
	"hook":              {"internal/event", "internal/provider"},

	"internal/event":     {},
	"internal/census":    {"internal/event"},
	"internal/paths":     {},
	"internal/shell":     {},
	"internal/deadline":  {},
	"internal/smallfile": {},

	"internal/settings": {"internal/paths", "internal/smallfile"},
	"internal/confedit": {},
	"internal/install":  {"internal/confedit", "internal/paths", "internal/event", "internal/smallfile"},
	"internal/rulebook": {"internal/paths", "internal/smallfile"},

	"internal/provider/*":            {"internal/event", "internal/provider/jsontext"},
	"internal/provider/*/setup":      {"internal/provider/*", "internal/install", "internal/confedit", "internal/paths", "internal/event"},
	"internal/provider/*/transcript": {"internal/provider/*", "internal/event", "internal/provider/jsontext"},
	"internal/provider/jsontext":     {},
	"internal/provider/codectest":    {"internal/event", "internal/provider/jsontext"},

	"internal/policy":   {"internal/event", "internal/deadline"},
	"internal/policy/*": {"internal/policy", "internal/event", "internal/shell", "internal/deadline", "internal/provider/jsontext"},

	"internal/session": {"internal/event"},
	"internal/awake":   {"internal/event"},

	"internal/telemetry": {"internal/policy/telemetry"},

	"internal/platform": {}, // among themselves: bus and bustest are the plumbing of sleep, lid and battery

	"internal/ipc":      {"internal/event", "internal/platform/endpoint", "internal/paths", "internal/deadline", "internal/smallfile"},
	"internal/resident": {},
	"internal/watch":    {"internal/event", "internal/provider/*/transcript", "internal/platform/proc"},
	"internal/notify":   {"internal/event"},
	"internal/entry": {"internal/event", "internal/provider/*", "internal/policy", "internal/rulebook", "internal/settings",
		"internal/ipc", "internal/paths", "internal/platform/proc", "internal/platform/endpoint", "internal/platform/child", "internal/shell", "internal/deadline", "internal/smallfile", "internal/telemetry/inbox"},
	"internal/daemon": {"internal/event", "internal/session", "internal/awake", "internal/watch", "internal/notify", "internal/resident", "internal/ipc",
		"internal/settings", "internal/paths", "internal/platform", "internal/provider/*/transcript", "internal/telemetry", "internal/policy/telemetry"},
	"internal/simulate":  {"internal/daemon", "internal/session", "internal/awake", "internal/event"},
	"internal/demo":      {"internal/daemon"},
	"internal/lifestory": {}, // tests alone, which may see everything below the CLI
	"internal/mcpserver": {"internal/event", "internal/ipc", "internal/settings", "internal/paths"},
	"internal/doctor":    {"internal/provider", "internal/install", "internal/entry", "internal/event", "internal/ipc", "internal/settings", "internal/paths", "internal/confedit"},
	"internal/build":     {"internal/census", "internal/provider", "internal/entry", "internal/event", "internal/install", "internal/rulebook", "internal/paths"},
	"internal/lint":      {"internal/census", "internal/provider", "internal/entry", "internal/event", "internal/install", "internal/rulebook", "internal/confedit"},
	"internal/replay": {"internal/provider", "internal/entry", "internal/event", "internal/rulebook", "internal/policy", "internal/census",
		"internal/paths", "internal/ipc", "internal/platform/child"},
	"internal/secretrules": {"internal/policy/redact"},
	"internal/cli":         {"internal", "!internal/platform", "!internal/policy"},

	"bench": {"hook", "internal/event", "internal/ipc", "internal/paths", "internal/platform/endpoint"},
	"e2e":   {"e2e"},
}

type pkg struct {
	ImportPath   string
	Dir          string
	Standard     bool
	Imports      []string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
}

// list runs `go list` for one system and returns its packages.
func list(t *testing.T, goos string, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Standard,Imports,GoFiles,TestGoFiles,XTestGoFiles"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// covers reports whether pattern names path or a folder above it.
func covers(pattern, path string) bool {
	ps, xs := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(ps) > len(xs) {
		return false
	}
	for i, p := range ps {
		if p != "*" && p != xs[i] {
			return false
		}
	}
	return true
}

func ruleFor(path string) (string, bool) {
	best, found := "", false
	for pattern := range mayImport {
		if covers(pattern, path) && (!found || strings.Count(pattern, "/") > strings.Count(best, "/") ||
			strings.Count(pattern, "/") == strings.Count(best, "/") && strings.Contains(best, "*")) {
			best, found = pattern, true
		}
	}
	return best, found
}

func TestImports_goDownOnly(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range list(t, goos, "./...") {
			path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
			if path == "" || len(p.GoFiles) == 0 {
				continue
			}
			rule, ok := ruleFor(path)
			if !ok {
				t.Errorf("%s has no row in the import table of house_test.go and docs/architecture.md", path)
				continue
			}
			for _, imp := range p.Imports {
				if imp != module && !strings.HasPrefix(imp, module+"/") {
					continue
				}
				imp = strings.TrimPrefix(imp, module+"/")
				if covers(rule, imp) && !strings.Contains(rule, "*") || allowed(mayImport[rule], path, imp) {
					continue
				}
				t.Errorf("%s (%s) imports %s, which its row %q does not allow", path, goos, imp, rule)
			}
		}
	}
}

// allowed reports whether a row allows an import. A "*" in an allowed name that
// also stands in the row means the same element: one provider never sees another.
// What a row names in full it may import whatever the "*" says.
func allowed(row []string, path, imp string) bool {
	ok := false
	for _, a := range row {
		if no, is := strings.CutPrefix(a, "!"); is {
			if covers(no, imp) {
				return false
			}
			continue
		}
		if covers(a, imp) {
			if strings.HasPrefix(path, "internal/provider/") && strings.HasPrefix(a, "internal/provider/*") && !slices.Contains(row, imp) &&
				strings.Split(path, "/")[2] != strings.Split(imp, "/")[2] {
				continue
			}
			ok = true
		}
	}
	return ok
}

// forbidden names what a hook process must not link, and why. Start-up is the
// product there: one process per event.
var forbidden = map[string]string{
	"net/http":                                   "0.6 ms of start-up and the whole TLS stack for a program that speaks to a local socket",
	"crypto/tls":                                 "comes with net/http; nothing here leaves the machine",
	"github.com/spf13/cobra":                     "a hook entry has one word of arguments",
	"github.com/spf13/pflag":                     "comes with cobra",
	"github.com/godbus/dbus/v5":                  "the runtime talks to the system, a hook asks the runtime",
	"github.com/fsnotify/fsnotify":               "watching is the runtime's",
	"github.com/modelcontextprotocol/go-sdk/mcp": "1.4 ms of start-up",
	"charm.land/bubbletea/v2":                    "a hook has no screen",
	"github.com/cloudevents/sdk-go/v2/event":     "the runtime talks to sinks, a hook hands over",
	"github.com/google/renameio/v2":              "a hook writes no files that need replacing",
	"text/template":                              "reflection-heavy and never needed for one line of JSON",
}

func TestHookBinary_linksNothingDear(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range list(t, goos, "-deps", "./cmd/lidguard-hook") {
			if why, bad := forbidden[p.ImportPath]; bad {
				t.Errorf("cmd/lidguard-hook (%s) links %s: %s", goos, p.ImportPath, why)
			}
			if strings.HasPrefix(p.ImportPath, "github.com/ebitengine/purego") && goos != "darwin" {
				t.Errorf("cmd/lidguard-hook (%s) links purego, which is for darwin only", goos)
			}
		}
	}
}

func TestEveryPackage_saysWhatItIs(t *testing.T) {
	for _, p := range list(t, "linux", "./...") {
		if len(p.GoFiles) == 0 {
			continue
		}
		doc := ""
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				doc += f.Doc.Text()
			}
		}
		if len(strings.Fields(doc)) < 8 {
			t.Errorf("%s has no package comment that says what comes in, what goes out and what it never does", p.ImportPath)
		}
	}
}

// files returns the tracked files whose name ends in suffix.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".cache" || d.Name() == "bin" || d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, suffix) {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// repoPath matches what looks like a path of this repository in a document.
var repoPath = regexp.MustCompile("(?:^|[\\s(`\"])((?:\\./)?(?:internal|cmd|docs|e2e|bench|hook|\\.ci)/[A-Za-z0-9_./*{},-]*[A-Za-z0-9_*}]|\\./(?:run|test))")

func TestDocuments_nameOnlyWhatExists(t *testing.T) {
	docs := append(files(t, ".md"), files(t, ".go")...)
	for _, doc := range docs {
		data, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, m := range repoPath.FindAllStringSubmatch(text, -1) {
			path := strings.TrimPrefix(m[1], "./")
			if strings.HasSuffix(doc, ".go") && !strings.HasPrefix(path, "docs/") || strings.ContainsAny(path, "*{}") {
				continue
			}
			if _, err := os.Stat(path); err != nil {
				if _, err := os.Stat(path + ".md"); err != nil {
					t.Errorf("%s names %s, which does not exist", doc, path)
				}
			}
		}
	}
}

func TestNoTest_isSkippedSilently(t *testing.T) {
	skip := regexp.MustCompile(`\bt\.Skip(f|Now)?\(|\bb\.Skip|testing\.Short\(\)`)
	for _, name := range files(t, "_test.go") {
		if name == "house_test.go" {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			// What a system does not have, or what only root may do, cannot be
			// tested without; CI is root on Linux, so there all of it runs.
			excused := i > 0 && (strings.Contains(lines[i-1], "runtime.GOOS") || strings.Contains(lines[i-1], "os.Geteuid() != 0"))
			if skip.MatchString(line) && !excused {
				t.Errorf("%s:%d skips a test; a test that cannot run here must fail and say what to install", name, i+1)
			}
		}
	}
}

func TestHotPath_compilesNoRegexpAtStart(t *testing.T) {
	hot := map[string]bool{}
	for _, p := range list(t, "linux", "-deps", "./cmd/lidguard-hook") {
		if strings.HasPrefix(p.ImportPath, module) {
			hot[p.ImportPath] = true
			for _, name := range p.GoFiles {
				data, err := os.ReadFile(filepath.Join(p.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				for i, line := range strings.Split(string(data), "\n") {
					if strings.HasPrefix(line, "var ") && strings.Contains(line, "regexp.MustCompile") ||
						strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "\t\t") && strings.Contains(line, "= regexp.MustCompile") && !strings.Contains(line, ":=") {
						t.Errorf("%s:%d compiles a regexp when the hook process starts", filepath.Join(p.ImportPath, name), i+1)
					}
					if strings.HasPrefix(line, "func init()") {
						t.Errorf("%s:%d has an init function, which every hook process would pay for", filepath.Join(p.ImportPath, name), i+1)
					}
				}
			}
		}
	}
	if !hot[module+"/internal/entry"] {
		t.Error("cmd/lidguard-hook does not link internal/entry: this test looks at nothing")
	}
}

func TestScripts_areExecutable(t *testing.T) {
	for _, name := range []string{"run", "test", ".ci/run"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o111 == 0 {
			t.Errorf("%s has no run bit", name)
		}
	}
}

func TestReadme_namesTheTwoCommands(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"./run", "./test"} {
		if !slices.Contains(strings.Split(string(data), "\n"), want) {
			t.Errorf("README.md has no line that is just %q", want)
		}
	}
}
