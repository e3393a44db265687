package rulebook_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// write makes a file and the folders above it.
func write(t *testing.T, text string, elem ...string) string {
	t.Helper()
	name := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFindProject(t *testing.T) {
	unix := runtime.GOOS != "windows"
	home := filepath.Join(t.TempDir(), "home")
	mkdir := func(elem ...string) string {
		dir := filepath.Join(elem...)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	atHome := write(t, "", home, ".lidguard", "rules.toml")
	mkdir(home, "repo", ".git")
	repo := mkdir(home, "repo", "sub", "deep")
	mkdir(home, "ruled", ".git")
	ruled := write(t, "", home, "ruled", ".lidguard", "rules.toml")
	near := write(t, "", home, "ruled", "part", ".lidguard", "rules.toml")
	write(t, "gitdir: elsewhere", home, "ruled", "module", ".git")
	above := write(t, "", filepath.Dir(home), ".lidguard", "rules.toml")
	cases := []struct{ name, cwd, want string }{
		{"the folder itself", filepath.Join(home, "ruled"), ruled},
		{"a folder below", mkdir(home, "ruled", "a", "b"), ruled},
		{"a folder that is gone", filepath.Join(home, "ruled", "gone", "for good"), ruled},
		{"the nearest of two", mkdir(home, "ruled", "part", "x"), near},
		{"not above the git root", repo, ""},
		{"nor above a submodule's", filepath.Join(home, "ruled", "module"), ""},
		{"home is not passed", mkdir(home, "plain"), atHome},
		{"beside home", mkdir(filepath.Dir(home), "srv", "x"), above},
		{"a relative folder", "ruled", ""},
		{"no folder", "", ""},
	}
	if unix {
		shared := mkdir(filepath.Dir(home), "tmp")
		write(t, "", shared, ".lidguard", "rules.toml")
		if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, struct{ name, cwd, want string }{"a folder that everybody may write to is nobody's project", mkdir(shared, "job"), ""})
	}
	for _, c := range cases {
		if got := rulebook.FindProject(c.cwd, home, unix); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for book, want := range map[string]string{near: ruled, ruled: "", atHome: "", above: ""} {
		if got := rulebook.FindAbove(book, home, unix); got != want {
			t.Errorf("above %q: got %q, want %q", book, got, want)
		}
	}
	if got := rulebook.ProjectOf(ruled); got != filepath.Join(home, "ruled") {
		t.Errorf("the project of %s is %s", ruled, got)
	}
}

func TestRead_refusesWhatIsNoFile(t *testing.T) {
	if _, err := rulebook.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: got %v", err)
	}
	if _, err := rulebook.Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: got %v", err)
	}
}

func TestDigest(t *testing.T) {
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := rulebook.DigestOf(nil); got != empty || got.Short() != empty[:19] {
		t.Errorf("got %s, short %s", got, got.Short())
	}
	var d rulebook.Digest
	if err := d.UnmarshalText([]byte(strings.ToUpper(empty[7:]))); err == nil {
		t.Error("a digest without its kind was taken")
	}
	if err := d.UnmarshalText([]byte("sha256:" + strings.ToUpper(empty[7:]))); err != nil || d != empty {
		t.Errorf("got %s, %v", d, err)
	}
	for _, bad := range []string{"", "sha256:", "sha256:ab", "md5:d41d8cd98f00b204e9800998ecf8427e", empty + "00", "sha256:" + strings.Repeat("g", 64)} {
		if d.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q was taken for a digest", bad)
		}
	}
}

func TestTrust(t *testing.T) {
	home := t.TempDir()
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string { return map[string]string{"LIDGUARD_HOME": home}[name] })
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "[gate]\n", home, "p", ".lidguard", "rules.toml")
	read := func() rulebook.File {
		f, err := rulebook.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	load := func() *rulebook.Trust {
		trust, err := rulebook.LoadTrust(dirs)
		if err != nil {
			t.Fatal(err)
		}
		return trust
	}
	first := read()
	if load().Trusted(first) {
		t.Fatal("trusted from the start")
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := load().Add(first, at); err != nil {
		t.Fatal(err)
	}
	if trust := load(); !trust.Trusted(first) || len(trust.Pins()) != 1 || !trust.Pins()[0].At.Equal(at) {
		t.Errorf("after Add: %+v", trust.Pins())
	}
	write(t, "[gate]\nprofile = \"relaxed\"\n", file)
	second := read()
	if load().Trusted(second) {
		t.Error("other content is trusted")
	}
	if pin, ok := load().Of(file); !ok || pin.SHA256 != first.Digest {
		t.Errorf("what was trusted is forgotten: %+v", pin)
	}
	if old, ok := load().Kept(first.Digest); !ok || string(old) != "[gate]\n" {
		t.Errorf("kept %q, %t", old, ok)
	}
	elsewhere := second
	elsewhere.Path = write(t, "", home, "q", ".lidguard", "rules.toml")
	if err := load().Add(second, at); err != nil {
		t.Fatal(err)
	}
	if trust := load(); !trust.Trusted(second) || trust.Trusted(first) || trust.Trusted(elsewhere) || len(trust.Pins()) != 1 {
		t.Errorf("after the second Add: %+v", trust.Pins())
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(home, "link")
		if err := os.Symlink(filepath.Join(home, "p"), link); err != nil {
			t.Fatal(err)
		}
		way := second
		way.Path = filepath.Join(link, ".lidguard", "rules.toml")
		if !load().Trusted(way) {
			t.Error("another way to the same file is not trusted")
		}
		// A project that links to a trusted book is another project.
		for i, link := range []string{filepath.Join(".lidguard"), filepath.Join(".lidguard", "rules.toml")} {
			project := filepath.Join(home, "thief", string(rune('0'+i)))
			if err := os.MkdirAll(filepath.Dir(filepath.Join(project, link)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(home, "p", link), filepath.Join(project, link)); err != nil {
				t.Fatal(err)
			}
			thief := second
			thief.Path = filepath.Join(project, ".lidguard", "rules.toml")
			if load().Trusted(thief) {
				t.Errorf("a project is trusted for the link %q to a trusted book", link)
			}
		}
	}
	// A copy that somebody changed is none.
	copies, err := filepath.Glob(filepath.Join(dirs.State, "books", "*.toml"))
	if err != nil || len(copies) != 2 {
		t.Fatalf("copies: %q, %v", copies, err)
	}
	for _, c := range copies {
		write(t, "[gate]\nprofile = \"relaxed\" # now\n", c)
	}
	if _, ok := load().Kept(first.Digest); ok {
		t.Error("a changed copy was handed out")
	}
	if was, err := load().Remove(file); err != nil || !was {
		t.Errorf("Remove: %t, %v", was, err)
	}
	if was, err := load().Remove(file); err != nil || was || len(load().Pins()) != 0 {
		t.Errorf("second Remove: %t, %v", was, err)
	}
	write(t, "{", dirs.TrustedBooks())
	if trust, err := rulebook.LoadTrust(dirs); err == nil || trust.Trusted(second) {
		t.Errorf("a broken list: %v", err)
	}
}

func TestResolve(t *testing.T) {
	root := t.TempDir()
	pin := func(text string) rulebook.Digest { return rulebook.DigestOf([]byte(text)) }
	inner := "[redact]\nmax = 1\n"
	write(t, inner, root, "team", "inner.toml")
	outer := "[[include]]\npath = \"inner.toml\"\nsha256 = \"" + string(pin(inner)) + "\"\n"
	write(t, outer, root, "team", "outer.toml")
	outside := write(t, inner, t.TempDir(), "outside.toml")
	type shared struct {
		Include []rulebook.Include `toml:"include"`
		Redact  struct {
			Max int `toml:"max"`
		} `toml:"redact"`
	}
	resolve := func(text, inside string, kept func(rulebook.Digest) ([]byte, bool)) (took []string, stale []string, err error) {
		f := rulebook.File{Path: filepath.Join(root, "rules.toml"), Data: []byte(text)}
		decode := func(f rulebook.File) ([]rulebook.Include, error) {
			var b shared
			err := rulebook.Decode(f.Path, f.Data, &b)
			return b.Include, err
		}
		includes, err := decode(f)
		if err != nil {
			return nil, nil, err
		}
		left := rulebook.MaxInside
		r := rulebook.Resolver{Home: root, Inside: inside, Kept: kept, Left: &left}
		err = r.Resolve(f, includes, decode,
			func(f rulebook.File) error { took = append(took, filepath.Base(f.Path)); return nil },
			func(err error) { stale = append(stale, err.Error()) })
		return took, stale, err
	}
	include := func(path string, d rulebook.Digest) string {
		return "[[include]]\npath = '" + path + "'\nsha256 = '" + string(d) + "'\n"
	}
	for _, c := range []struct {
		name, text, inside string
		took, says         string
	}{
		{"inner ones first", include("team/outer.toml", pin(outer)), "", "inner.toml outer.toml", ""},
		{"below home", include("~/team/inner.toml", pin(inner)), "", "inner.toml", ""},
		{"absolute", include(outside, pin(inner)), "", "outside.toml", ""},
		{"another digest", include("team/inner.toml", pin("x")), "", "", "is pinned as " + pin("x").Short() + " and is now " + pin(inner).Short()},
		{"no such file", include("gone.toml", pin("x")), "", "", "gone.toml, pinned as " + pin("x").Short() + ", is not there"},
		{"no digest", "[[include]]\npath = 'a'\n", "", "", "rules.toml:2:1: include.path: an include has a path and a sha256"},
		{"no path", "\n[[include]]\nsha256 = '" + string(pin("")) + "'\n", "", "", "rules.toml:2:3: include.path: an include has a path and a sha256"},
		{"a wrong digest", "[[include]]\npath = 'a'\nsha256 = 'abc'\n", "", "", "rules.toml:3:1: include.sha256: \"abc\" is no digest"},
		{"outside of where it may be", include("team/inner.toml", pin(inner)) + include(outside, pin(inner)), root, "inner.toml", "rules.toml:5:1: include.path: \"" + outside + "\" is outside of"},
	} {
		took, _, err := resolve(c.text, c.inside, nil)
		if strings.Join(took, " ") != c.took || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: took %q, %v", c.name, took, err)
		}
	}
	kept := func(d rulebook.Digest) ([]byte, bool) { return []byte(inner), d == pin(inner) }
	write(t, "changed", root, "team", "inner.toml")
	took, stale, err := resolve(include("team/inner.toml", pin(inner)), "", kept)
	if err != nil || strings.Join(took, " ") != "inner.toml" || len(stale) != 1 || !strings.Contains(stale[0], "is now") {
		t.Errorf("with a kept copy: took %q, stale %q, %v", took, stale, err)
	}
	lies := func(rulebook.Digest) ([]byte, bool) { return []byte("other"), true }
	if _, _, err := resolve(include("team/inner.toml", pin(inner)), "", lies); err == nil {
		t.Error("a kept copy with other content was taken")
	}
	// A book cannot contain its own digest, so books are deep rather than circular.
	text := inner
	for i := range 6 {
		name := string(rune('a'+i)) + ".toml"
		write(t, text, root, name)
		text = include(name, pin(text))
	}
	if _, _, err := resolve(text, "", nil); err == nil || !strings.Contains(err.Error(), "more than 4 deep") {
		t.Errorf("six deep: %v", err)
	}
	write(t, inner, root, "team", "inner.toml")
	if _, _, err := resolve(strings.Repeat(include("team/inner.toml", pin(inner)), 33), "", nil); err == nil || !strings.Contains(err.Error(), "more than 32 books") {
		t.Errorf("33 includes: %v", err)
	}
	// Who is confined is not trusted with the time of every hook either.
	half := "[redact]\nmax = 1\n" + strings.Repeat("#", rulebook.MaxInside/2)
	write(t, half, root, "half.toml")
	for _, c := range []struct {
		times  int
		inside string
		fine   bool
	}{{1, root, true}, {2, root, false}, {2, "", true}} {
		_, _, err := resolve(strings.Repeat(include("half.toml", pin(half)), c.times), c.inside, nil)
		if (err == nil) != c.fine || err != nil && !strings.Contains(err.Error(), "half.toml: a project's book and what it includes may have 262144 bytes before you trust it") {
			t.Errorf("%d times half of what is allowed inside %q: %v", c.times, c.inside, err)
		}
	}
}

func TestLocate(t *testing.T) {
	book := []byte("[packs]\ngate = 'on'\n\n[[rule]]\nid = 'a'\n[[rule]]\n  id = 'b'\n  deny = [\n 'x']\n[gate]\nrows.x = 1\n")
	for _, c := range []struct {
		section      string
		index        int
		key          string
		line, column int
	}{
		{"packs", -1, "gate", 2, 1}, {"packs", -1, "", 1, 2}, {"rule", 0, "id", 5, 1}, {"rule", 1, "id", 7, 3}, {"rule", 1, "deny", 8, 3},
		{"rule", 1, "none", 6, 3}, {"rule", 2, "id", 0, 0}, {"gate", -1, "rows", 11, 1}, {"none", -1, "", 0, 0},
	} {
		if line, column := rulebook.Locate(book, c.section, c.index, c.key); line != c.line || column != c.column {
			t.Errorf("%s %d %s: got %d:%d, want %d:%d", c.section, c.index, c.key, line, column, c.line, c.column)
		}
	}
	if line, column := rulebook.Locate([]byte("\nrule = [{id = 'a'}]\n"), "rule", 0, "id"); line != 2 || column != 1 {
		t.Errorf("inline: got %d:%d", line, column)
	}
}
