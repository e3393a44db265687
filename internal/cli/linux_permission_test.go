package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/daemon"
)

// rights are those of somebody who came over ssh.
func rights(verdict string) daemon.Rights {
	var r daemon.Rights
	r.CanSuspend, r.CanHibernate = "challenge", "na"
	r.Session.ID, r.Session.Active, r.Session.Remote = "7", true, true
	for _, action := range []string{"inhibit-block-idle", "inhibit-handle-lid-switch", "inhibit-block-sleep", "suspend",
		"suspend-multiple-sessions", "hibernate", "hibernate-multiple-sessions"} {
		v := daemon.Verdict{Action: "org.freedesktop.login1." + action, For: "something", Verdict: verdict}
		if action == "inhibit-block-idle" {
			v.Verdict = "yes"
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

// permissionWorld is a world with a polkit of its own and a sudo that works.
func permissionWorld(t *testing.T) (w *world, ran *[][]string) {
	t.Helper()
	w, ran = newWorld(t), new([][]string)
	rule := daemon.PowerRule{Root: filepath.Join(w.home, "root")}
	bin := filepath.Join(w.home, "bin")
	for _, dir := range []string{filepath.Dir(rule.Path()), bin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "sudo"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	w.env["PATH"] = bin
	check := func(context.Context) daemon.Rights {
		if rule.State().State == daemon.RuleInstalled {
			return rights("yes")
		}
		return rights("password")
	}
	w.power = &Power{Rule: rule, Check: check, Person: Person{User: "lab", Sudo: func(_ context.Context, argv []string) error {
		*ran = append(*ran, argv)
		root := *w
		root.power = &Power{Rule: rule, Person: Person{User: "lab", Root: true}, Check: check}
		args := argv[slices.Index(argv, "--")+2:]
		if code, _, stderr := root.run(args...); code != ExitDone {
			return errors.New(stderr)
		}
		return nil
	}}}
	return w, ran
}

func TestLinuxPermission_throughOneSudo(t *testing.T) {
	w, ran := permissionWorld(t)
	file := w.power.Rule.Path()
	if code, out, _ := w.run("linux-permission", "check"); code != ExitFailed || !strings.Contains(out, "password  inhibit-handle-lid-switch") {
		t.Errorf("check before: exit %d\n%s", code, out)
	}
	if code, out, _ := w.run("linux-permission", "status"); code != ExitFailed || out != "missing ("+file+")\n" {
		t.Errorf("status before: exit %d\n%s", code, out)
	}
	if code, out, _ := w.run("linux-permission", "install", "--dry-run"); code != ExitDone || !strings.Contains(out, `subject.user === "lab"`) || exists(file) {
		t.Errorf("dry run: exit %d\n%s", code, out)
	}
	code, out, stderr := w.run("linux-permission", "install")
	if code != ExitDone || !strings.Contains(out, `subject.user === "lab"`) || !strings.Contains(out, "yes  inhibit-handle-lid-switch") {
		t.Errorf("install: exit %d\n%s%s", code, out, stderr)
	}
	want := []string{filepath.Join(w.home, "bin", "sudo"), "-n", "--", filepath.Join(w.home, "bin", "lidguard"), "linux-permission", "install", "--user", "lab"}
	if len(*ran) != 1 || !slices.Equal((*ran)[0], want) {
		t.Errorf("ran %q, want one sudo: %q", *ran, want)
	}
	if code, out, _ := w.run("linux-permission", "status"); code != ExitDone || !strings.HasPrefix(out, "installed for lab") {
		t.Errorf("status after: exit %d\n%s", code, out)
	}
	if code, _, stderr := w.run("linux-permission", "remove"); code != ExitDone || exists(file) {
		t.Errorf("remove: exit %d\n%s", code, stderr)
	}
	if code, out, _ := w.run("linux-permission", "remove"); code != ExitDone || out != "nothing to change\n" || len(*ran) != 2 {
		t.Errorf("second remove: exit %d, %d sudos\n%s", code, len(*ran), out)
	}
}

func TestLinuxPermission_shapes(t *testing.T) {
	w, _ := permissionWorld(t)
	for name, args := range map[string][]string{"permission-status.json": {"status"}, "permission-check.json": {"check"}} {
		code, out, _ := w.run(append(append([]string{"linux-permission"}, args...), "--json")...)
		if code != ExitFailed {
			t.Errorf("%s: exit %d", name, code)
		}
		golden(t, name, strings.ReplaceAll(out, w.home, "/home/dev"))
	}
}

func TestLinuxPermission_refusals(t *testing.T) {
	w, ran := permissionWorld(t)
	for name, c := range map[string]struct {
		change func()
		args   []string
		code   int
		want   string
	}{
		"no word":         {func() {}, nil, ExitUsage, "followed by status"},
		"a wrong word":    {func() {}, []string{"instal"}, ExitUsage, ""},
		"root":            {func() {}, []string{"install", "--user", "root"}, ExitUsage, "--user NAME"},
		"an odd name":     {func() {}, []string{"install", "--user", `x"`}, ExitUsage, "user name"},
		"no sudo":         {func() { w.env["PATH"] = "" }, []string{"install"}, ExitFailed, "run it as root: `"},
		"another system":  {func() { w.power, w.goos = nil, "darwin" }, []string{"check"}, ExitFailed, "macos-permission"},
		"yet another one": {func() { w.power, w.goos = nil, "windows" }, []string{"status"}, ExitFailed, "nothing needs to be permitted"},
	} {
		before := *w
		c.change()
		code, _, stderr := w.run(append([]string{"linux-permission"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %s", name, code, stderr)
		}
		w.power, w.goos = before.power, before.goos
		w.env["PATH"] = filepath.Join(w.home, "bin")
	}
	if len(*ran) != 0 {
		t.Errorf("sudo was run: %q", *ran)
	}
	// A file of somebody else's stays.
	if err := os.WriteFile(w.power.Rule.Path(), []byte("// mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"install", "remove"} {
		if code, _, stderr := w.run("linux-permission", verb); code != ExitFailed || !strings.Contains(stderr, "not lidguard's") {
			t.Errorf("%s over a foreign file: exit %d, %s", verb, code, stderr)
		}
	}
	if data, _ := os.ReadFile(w.power.Rule.Path()); string(data) != "// mine\n" {
		t.Errorf("the foreign file is now %q", data)
	}
}

// Who else may suspend an idle machine is named, and a finding where it does not ask.
func TestDoctor_idleDaemons(t *testing.T) {
	w, _ := permissionWorld(t)
	w.power.Check = func(context.Context) daemon.Rights {
		r := rights("yes")
		r.IdleDaemons = []daemon.IdleDaemon{{Name: "hypridle", AsksLogin1: true}, {Name: "swayidle"}}
		return r
	}
	_, out, _ := w.run("linux-permission", "check")
	for _, want := range []string{"hypridle, heeds login1's locks", "swayidle, does not heed login1's locks"} {
		if !strings.Contains(out, want) {
			t.Errorf("check does not say %q:\n%s", want, out)
		}
	}
	_, out, _ = w.run("doctor", "--json")
	if !strings.Contains(out, `"idle-daemon"`) || strings.Contains(out, "hypridle acts") {
		t.Errorf("doctor:\n%s", out)
	}
}
