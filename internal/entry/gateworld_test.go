package entry

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

// repository makes a git repository with the given index version.
func repository(t *testing.T, version string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"src/a.go": "a", "src/deep/b.go": "b", "new/c.go": "c", "out/x": "x", "keep.log": "k", "other.log": "l",
		".gitignore": "/out\n*.log\n!keep.log\nsub/**/x\n", "src/.gitignore": "local\n", "src/local": "", "scripts/run.sh": "#!/bin/sh\nls\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "src/a.go", "src/deep/b.go", ".gitignore", "src/.gitignore"}, {"update-index", "--index-version", version}} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func TestWorld_tracksWhatGitTracks(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		dir := repository(t, version)
		w := gateWorld("linux", filepath.Join(dir, "src"), func(string) string { return "" }, "/nobody")
		if w.Project != dir {
			t.Fatalf("project %q, want %q", w.Project, dir)
		}
		for p, want := range map[string]gate.Track{
			"src": gate.TrackedPath, "src/a.go": gate.TrackedPath, "src/deep": gate.TrackedPath, "src/de": gate.UntrackedPath, "new": gate.UntrackedPath,
			"out": gate.IgnoredPath, "out/x": gate.IgnoredPath, "new/out": gate.UntrackedPath, "other.log": gate.IgnoredPath, "keep.log": gate.UntrackedPath,
			"src/local": gate.IgnoredPath, "local": gate.UntrackedPath,
		} {
			if got := w.Track(dir + "/" + p); got != want {
				t.Errorf("version %s: %s: got %v, want %v", version, p, got, want)
			}
		}
	}
}

func TestWorld_searchesWhatGitTracks(t *testing.T) {
	type answer struct{ tracked, known bool }
	for _, version := range []string{"2", "4"} {
		dir := repository(t, version)
		w := gateWorld("linux", dir, func(string) string { return "" }, "/nobody")
		for _, c := range []struct {
			in, pattern string
			want        answer
		}{
			{"", "*.go", answer{true, true}}, {"", "*.GO", answer{true, true}}, {"", "*.snap", answer{false, true}}, {"", "c.go", answer{false, true}},
			{"/src/deep", "*.go", answer{true, true}}, {"/src/deep", "a.go", answer{false, true}}, {"/src/de", "*.go", answer{false, true}}, {"/new", "*.go", answer{false, true}},
			{"", "[", answer{false, false}},
		} {
			if tracked, known := w.Tracks(dir+c.in, c.pattern); (answer{tracked, known}) != c.want {
				t.Errorf("version %s: %q below %q: got %v, %v, want %v", version, c.pattern, c.in, tracked, known, c.want)
			}
		}
		if _, known := w.Tracks(filepath.Dir(dir), "*.go"); known {
			t.Error("it claims to know what is outside the repository")
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "index"), []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x09"), 0o644); err != nil {
			t.Fatal(err)
		}
		w = gateWorld("linux", dir, func(string) string { return "" }, "/nobody")
		if _, known := w.Tracks(dir, "*.go"); known {
			t.Error("a broken index was believed")
		}
	}
}

func TestWorld_readsOnlyWhatItMay(t *testing.T) {
	dir := repository(t, "2")
	w := gateWorld("linux", dir, func(name string) string { return map[string]string{"TMPDIR": dir + "/tmp"}[name] }, "/nobody")
	if err := os.Symlink("/proc/self/environ", filepath.Join(dir, "leak")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "big.sh"), []byte(strings.Repeat("#", 300<<10)), 0o644); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{"scripts/run.sh": true, dir + "/scripts/run.sh": true, "leak": false, "/proc/self/environ": false, "/dev/zero": false, "none": false, "big.sh": false, "src": false} {
		if _, ok := w.ReadFile(p, 256<<10); ok != want {
			t.Errorf("%s: read %v, want %v", p, ok, want)
		}
	}
	if w.Kind(dir+"/src") != gate.KindDir || w.Kind(dir+"/src/a.go") != gate.KindFile || w.Kind(dir+"/none") != gate.KindMissing || w.Kind("/proc/1") != gate.KindUnknown {
		t.Error("kinds of files are wrong")
	}
	names, ok := w.Glob(dir, "src/*.go")
	if !ok || !slices.Equal(names, []string{"src/a.go"}) {
		t.Errorf("glob gave %q, %v", names, ok)
	}
	if _, ok := w.Glob(dir, "*/*/*.go"); ok {
		t.Error("a pattern over many folders was expanded")
	}
	if !slices.Contains(w.Temp, dir+"/tmp") {
		t.Errorf("temp folders %q", w.Temp)
	}
	if got := w.Resolve(dir + "/none/deeper"); got != dir+"/none/deeper" {
		t.Errorf("resolved to %q", got)
	}
}

// Whoever writes through a link that leads to nothing makes what it names.
func TestWorld_followsLinksToNothing(t *testing.T) {
	dir := repository(t, "2")
	away, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(away, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := gateWorld("linux", dir, func(string) string { return "" }, "/nobody")
	for _, tt := range []struct{ link, target, ask, want string }{
		{"a", away + "/none", "a", away + "/none"},
		{"b", "a", "b", away + "/none"},
		{"c", away + "/no/folder", "c/deeper/file", away + "/no/folder/deeper/file"},
		{"d", away + "/sub", "d", away + "/sub"},
		{"e", "d/../none", "e", away + "/none"}, // .. of where d leads, not of where it stands
		{"f", "none/../src", "f", dir + "/src"},
		{"g", "g", "g", ""},
	} {
		if err := os.Symlink(tt.target, filepath.Join(dir, tt.link)); err != nil {
			t.Fatal(err)
		}
		if got := w.Resolve(dir + "/" + tt.ask); got != tt.want {
			t.Errorf("%s, a link to %s: resolved to %q, want %q", tt.ask, tt.target, got, tt.want)
		}
	}
}

func FuzzInIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), "a")
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02"+strings.Repeat("x", 80)), "x")
	f.Fuzz(func(t *testing.T, index []byte, name string) { _ = inIndex(index, name) }) // must not panic
}
