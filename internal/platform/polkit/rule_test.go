package polkit

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

func newRule(t *testing.T) Rule {
	t.Helper()
	r := Rule{Root: t.TempDir()}
	if err := os.MkdirAll(filepath.Dir(r.Path()), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestText_isWhatAPersonReviewed(t *testing.T) {
	got, err := Text("lab")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "lab.rules")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(string(got), "org.freedesktop."); n != 7 {
		t.Errorf("%d actions, want seven", n)
	}
}

func TestText_refusesNamesThatAreNone(t *testing.T) {
	for _, user := range []string{"", "root", "a b", `a"b`, "a\nb", "-a", ".", "ä", "a/b", `x" || true || "`, strings.Repeat("a", 65)} {
		if text, err := Text(user); err == nil {
			t.Errorf("%q: %s", user, text)
		}
	}
	for _, user := range []string{"lab", "Ada.L", "x@corp.example", "a_b-1"} {
		if _, err := Text(user); err != nil {
			t.Error(err)
		}
	}
}

func TestRule_lifecycle(t *testing.T) {
	r := newRule(t)
	if s := r.State(); s.State != Missing {
		t.Errorf("before: %+v", s)
	}
	for i, want := range []bool{true, false} {
		if changed, err := r.Install("lab"); err != nil || changed != want {
			t.Errorf("install %d: changed %v, %v", i, changed, err)
		}
	}
	if s := r.State(); s.State != Installed || s.User != "lab" {
		t.Errorf("installed: %+v", s)
	}
	if info, err := os.Stat(r.Path()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := r.Install("eve"); err == nil || !strings.Contains(err.Error(), `"lab"`) {
		t.Errorf("a rule for another user was replaced: %v", err)
	}
	old := firstLine + "\"lab\"\n// less\n" + lastLine + "\n"
	write(t, r, old)
	if s := r.State(); s.State != Outdated || s.User != "lab" {
		t.Errorf("outdated: %+v", s)
	}
	if changed, err := r.Install("lab"); err != nil || !changed {
		t.Errorf("update: %v, %v", changed, err)
	}
	for i, want := range []bool{true, false} {
		if removed, err := r.Remove(); err != nil || removed != want {
			t.Errorf("remove %d: %v, %v", i, removed, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(r.Path())); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRule_leavesForeignFilesAlone(t *testing.T) {
	ours, _ := Text("lab")
	for name, text := range map[string]string{
		"somebody else's":        "polkit.addRule(function () {});\n",
		"empty":                  "",
		"ours with more below":   string(ours) + "polkit.addRule(function () {});\n",
		"ours with more above":   "// mine\n" + string(ours),
		"a mark without a name":  firstLine + "\n" + lastLine + "\n",
		"a mark of a wrong name": firstLine + "\"a b\"\n" + lastLine + "\n",
	} {
		r := newRule(t)
		write(t, r, text)
		if s := r.State(); s.State != Foreign {
			t.Errorf("%s: %+v", name, s)
		}
		if _, err := r.Remove(); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: removed, %v", name, err)
		}
		if _, err := r.Install("lab"); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: installed over it, %v", name, err)
		}
		if got, err := os.ReadFile(r.Path()); err != nil || string(got) != text {
			t.Errorf("%s: now %q, %v", name, got, err)
		}
	}
	r := newRule(t)
	elsewhere := filepath.Join(r.Root, "elsewhere")
	if err := os.WriteFile(elsewhere, ours, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, r.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Remove(); !errors.Is(err, ErrForeign) {
		t.Errorf("a symlink was removed: %v", err)
	}
}

func TestRule_withoutPolkit(t *testing.T) {
	if _, err := (Rule{Root: t.TempDir()}).Install("lab"); !errors.Is(err, ErrNoPolkit) {
		t.Errorf("got %v, want ErrNoPolkit", err)
	}
}

func write(t *testing.T, r Rule, text string) {
	t.Helper()
	if err := os.WriteFile(r.Path(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
