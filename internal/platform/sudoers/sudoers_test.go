package sudoers

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

var update = flag.Bool("update", false, "rewrite golden files")

// fake answers for visudo and sudo.
type fake struct {
	t       *testing.T
	refuse  error  // visudo's word
	list    string // sudo -l
	denied  string // a command that sudo -l COMMAND denies
	visited []byte // what visudo saw
	asked   []string
}

func (f *fake) Output(_ context.Context, path string, args ...string) ([]byte, error) {
	line := path + " " + strings.Join(args, " ")
	f.asked = append(f.asked, line)
	switch {
	case path == "/usr/sbin/visudo" && len(args) == 2 && args[0] == "-cf":
		data, err := os.ReadFile(args[1])
		if err != nil {
			f.t.Error(err)
		}
		f.visited = data
		return nil, f.refuse
	case line == "/usr/bin/sudo -n -l":
		return []byte(f.list), nil
	case strings.HasPrefix(line, "/usr/bin/sudo -n -l "):
		if f.denied != "" && strings.HasSuffix(line, f.denied) {
			return nil, &command.ExitError{Path: path, Code: 1}
		}
		return nil, nil
	}
	f.t.Errorf("ran %q", line)
	return nil, errors.New("not here")
}

func (f *fake) Start(string, ...string) (command.Process, error) {
	return nil, errors.New("nothing is started")
}

func TestText(t *testing.T) {
	got, err := Text("lab")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "lidguard")
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(got) != string(want) {
		t.Errorf("the rule is now\n%s, %v", got, err)
	}
	for _, user := range []string{"", "root", "ALL", "%admin", "#501", "+net", "a b", "a\nb", "a,b", "a=b", "-a", "a\\b", "!a"} {
		if text, err := Text(user); err == nil {
			t.Errorf("a rule for %q: %q", user, text)
		}
	}
}

func TestRule(t *testing.T) {
	ctx := t.Context()
	f := &fake{t: t}
	r := Rule{Root: t.TempDir(), Run: f}
	if s := r.State(); s.State != Missing {
		t.Errorf("at first %+v", s)
	}
	if removed, err := r.Remove(); removed || err != nil {
		t.Errorf("Remove of nothing = %v, %v", removed, err)
	}
	f.refuse = errors.New("syntax error")
	if changed, err := r.Install(ctx, "lab"); changed || !errors.Is(err, f.refuse) || r.State().State != Missing {
		t.Errorf("what visudo refuses: %v, %v, %+v", changed, err, r.State())
	}
	f.refuse = nil
	for i, want := range []bool{true, false} {
		if changed, err := r.Install(ctx, "lab"); changed != want || err != nil {
			t.Errorf("Install %d = %v, %v", i, changed, err)
		}
	}
	text, _ := Text("lab")
	if string(f.visited) != string(text) {
		t.Errorf("visudo saw %q", f.visited)
	}
	info, err := os.Stat(r.Path())
	if err != nil || info.Mode().Perm() != 0o440 {
		t.Errorf("file: %v, %v", info, err)
	}
	if s := r.State(); s.State != Installed || s.User != "lab" {
		t.Errorf("installed: %+v", s)
	}
	left, err := os.ReadDir(filepath.Dir(r.Path()))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
	// Which would take the rights of the first one away without a word.
	if changed, err := r.Install(ctx, "other"); changed || err == nil || !strings.Contains(err.Error(), `"lab"`) || r.State().User != "lab" {
		t.Errorf("for another user: %v, %v, %+v", changed, err, r.State())
	}
	if removed, err := r.Remove(); !removed || err != nil || r.State().State != Missing {
		t.Errorf("Remove = %v, %v, %+v", removed, err, r.State())
	}
}

func TestRule_othersAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ text, state string }{
		"no marks":      {"lab ALL=(ALL) NOPASSWD: ALL\n", Foreign},
		"one mark":      {markBegin + "\nlab ALL=(ALL) ALL\n", Foreign},
		"edited inside": {markBegin + "\nlab ALL=(root) NOPASSWD: /usr/bin/true\n" + markEnd + "\n", Outdated},
	} {
		r := Rule{Root: t.TempDir(), Run: &fake{t: t}}
		if err := os.MkdirAll(filepath.Dir(r.Path()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.Path(), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := r.State(); s.State != c.state {
			t.Errorf("%s: %+v", name, s)
		}
		if c.state != Foreign {
			continue
		}
		_, err := r.Install(t.Context(), "lab")
		_, err2 := r.Remove()
		if data, _ := os.ReadFile(r.Path()); err == nil || err2 == nil || string(data) != c.text {
			t.Errorf("%s: Install = %v, Remove = %v, left %q", name, err, err2, data)
		}
	}
}

func TestRule_check(t *testing.T) {
	head := "Matching Defaults entries for lab on mac:\n    env_reset, env_keep+=BLOCKSIZE\n\nUser lab may run the following commands on mac:\n"
	free := ""
	for _, c := range Commands() {
		free += "    (root) NOPASSWD: " + c + "\n"
	}
	all := func(c []string) map[string]bool {
		m := map[string]bool{}
		for _, x := range c {
			m[x] = true
		}
		return m
	}
	for name, c := range map[string]struct {
		list, denied string
		want         map[string]bool
	}{
		"the rule":                       {head + free, "", all(Commands())},
		"administrator with the rule":    {head + "    (ALL) ALL\n" + free, "", all(Commands())},
		"administrator without it":       {head + "    (ALL) ALL\n", "", nil},
		"a later rule asks after all":    {head + free + "    (ALL) ALL\n", "", nil},
		"all on one line":                {head + "    (root) NOPASSWD: " + strings.Join(Commands(), ", ") + "\n", "", all(Commands())},
		"the tag ends within the line":   {head + "    (root) NOPASSWD: " + Commands()[0] + ", PASSWD: " + Commands()[1] + "\n", "", all(Commands()[:1])},
		"everything without a password":  {head + "    (ALL) NOPASSWD: ALL\n", "", all(Commands())},
		"any call of pmset":              {head + "    (ALL) SETENV: NOPASSWD: /usr/bin/pmset\n", "", all(Commands()[:5])},
		"one that is denied by itself":   {head + free, Commands()[0], all(Commands()[1:])},
		"a user who may run nothing":     {"Sorry, user lab may not run sudo on mac.\n", "", nil},
		"the same words in the defaults": {"Defaults:\n    (root) NOPASSWD: ALL\n\n" + head, "", nil},
	} {
		rights := Rule{Run: &fake{t: t, list: c.list, denied: c.denied}}.Check(t.Context())
		if len(rights) != len(Commands()) {
			t.Fatalf("%s: %d rights", name, len(rights))
		}
		for _, r := range rights {
			if r.OK != c.want[r.Command] || r.OK == (r.Why != "") {
				t.Errorf("%s: %+v, want %v", name, r, c.want[r.Command])
			}
		}
		if OK(rights) != (len(c.want) == len(Commands())) {
			t.Errorf("%s: OK = %v", name, OK(rights))
		}
	}
	f := &fake{t: t}
	Rule{Run: f}.Check(t.Context())
	if slices.ContainsFunc(f.asked, func(line string) bool { return !strings.HasPrefix(line, "/usr/bin/sudo -n -l") }) {
		t.Errorf("a check ran %q", f.asked)
	}
}
