package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/doctor"
)

// agentHere makes a Mac on which Claude Code was used.
func agentHere(t *testing.T) (w *macWorld, plist string) {
	t.Helper()
	w = newMacWorld(t)
	if err := os.Mkdir(filepath.Join(w.home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w, daemon.LoginAgent{Home: w.home}.Path()
}

// setUp runs setup and returns what it did with the login agent. Its exit code is
// of no interest: there is no program here whose hooks could be proven.
func (w *macWorld) setUp(args ...string) setupReport {
	w.t.Helper()
	_, out, errs := w.run(append([]string{"setup", "--yes", "--json"}, args...)...)
	var r setupReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		w.t.Fatalf("%v\n%s%s", err, out, errs)
	}
	return r
}

func TestSetup_loginAgent(t *testing.T) {
	w, plist := agentHere(t)
	if _, out, _ := w.run("setup", "--dry-run"); !strings.Contains(out, "+\t\t<string>/opt/lidguard</string>") {
		t.Errorf("the dry run does not show the login agent:\n%s", out)
	}
	if r := w.setUp("--dry-run"); r.Login == nil || r.Login.File != plist || !strings.Contains(r.Login.Diff, "keeper") || len(r.Login.Changed) != 0 {
		t.Errorf("the dry run tells %+v", r.Login)
	}
	if _, err := os.Stat(filepath.Dir(plist)); !os.IsNotExist(err) {
		t.Fatalf("the dry run wrote something: %v", err)
	}
	if r := w.setUp(); r.Login == nil || len(r.Login.Changed) != 1 || r.Login.Changed[0].Path != plist {
		t.Errorf("setup tells %+v", r.Login)
	}
	want := string(daemon.LoginAgent{Home: w.home, Program: "/opt/lidguard"}.Text())
	if data, err := os.ReadFile(plist); err != nil || string(data) != want {
		t.Errorf("the login agent is %q, %v", data, err)
	}
	if r := w.setUp(); len(r.Login.Changed) != 0 {
		t.Errorf("a second setup changes %+v", r.Login.Changed)
	}
	code, out, errs := w.run("uninstall", "--yes")
	if code != ExitDone || !strings.Contains(out, "macos: restore at login removed from "+plist) {
		t.Errorf("uninstall: %d\n%s%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(w.home, "Library")); !os.IsNotExist(err) {
		t.Errorf("uninstall left something in ~/Library: %v", err)
	}
}

func TestSetup_loginAgentOfAnother(t *testing.T) {
	w, plist := agentHere(t)
	if err := os.MkdirAll(filepath.Dir(plist), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plist, []byte("<plist/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.setUp(); r.Login.Error == "" {
		t.Error("setup is silent about a login agent that is not lidguard's")
	}
	if code, out, errs := w.run("uninstall", "--yes"); code != ExitDone {
		t.Errorf("uninstall: %d\n%s%s", code, out, errs)
	}
	if data, err := os.ReadFile(plist); err != nil || string(data) != "<plist/>" {
		t.Errorf("another's login agent is now %q, %v", data, err)
	}
}

func TestSetup_noLoginAgentElsewhere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // what a made-up Windows calls a folder below one of its own lies beside it here
	for _, goos := range []string{"linux", "windows"} {
		w, plist := agentHere(t)
		w.goos, w.mac = goos, nil
		if r := w.setUp("--dry-run"); r.Login != nil {
			t.Errorf("%s: setup tells of a login agent: %+v", goos, r.Login)
		}
		w.setUp()
		if _, err := os.Stat(plist); !os.IsNotExist(err) {
			t.Errorf("%s: setup wrote %s: %v", goos, plist, err)
		}
	}
}

func TestSetup_macRights(t *testing.T) {
	missing := func(w *macWorld, args ...string) string {
		t.Helper()
		_, out, errs := w.run(append(args, "--json")...)
		var r struct {
			Findings []struct{ Code, Text, Remedy string }
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v\n%s%s", err, out, errs)
		}
		for _, f := range r.Findings {
			if f.Code == doctor.RightsMissing {
				return f.Text + "; " + f.Remedy
			}
		}
		return ""
	}
	w, _ := agentHere(t)
	for _, command := range [][]string{{"doctor"}, {"setup", "--yes"}} {
		if got, want := missing(w, command...), "lidguard may not keep the lid from suspending, hibernate, read temperatures; `lidguard macos-permission install` grants it"; got != want {
			t.Errorf("%s finds %q, want %q", command[0], got, want)
		}
	}
	if code, _, errs := w.run("settings", "--emergency-hibernation-on-high-temperature", "false"); code != ExitDone {
		t.Fatal(errs)
	}
	if got := missing(w, "doctor"); !strings.HasPrefix(got, "lidguard may not keep the lid from suspending; ") {
		t.Errorf("without emergency hibernation doctor finds %q", got)
	}
	if code, _, errs := w.run("macos-permission", "install"); code != ExitDone {
		t.Fatal(errs)
	}
	for _, command := range [][]string{{"doctor"}, {"setup", "--yes"}} {
		if got := missing(w, command...); got != "" {
			t.Errorf("with every right %s finds %q", command[0], got)
		}
	}
	// What setup did not write uninstall names.
	_, out, errs := w.run("uninstall", "--yes")
	if !strings.Contains(out+errs, w.mac.Rule.Path()+" stays") || !strings.Contains(out+errs, "`lidguard macos-permission remove` deletes it") {
		t.Errorf("uninstall does not name the rule:\n%s%s", out, errs)
	}
	if code, _, errs := w.run("macos-permission", "remove"); code != ExitDone {
		t.Fatal(errs)
	}
	if _, out, errs := w.run("uninstall", "--yes"); strings.Contains(out+errs, "stays, with the rights") {
		t.Errorf("uninstall names a rule that is gone:\n%s%s", out, errs)
	}
}

func TestUninstall_namesTheRuleOnLinux(t *testing.T) {
	w, _ := permissionWorld(t)
	if _, out, errs := w.run("uninstall", "--yes"); strings.Contains(out+errs, "linux-permission") {
		t.Errorf("uninstall names a rule that is not there:\n%s%s", out, errs)
	}
	if code, _, errs := w.run("linux-permission", "install"); code != ExitDone {
		t.Fatal(errs)
	}
	code, out, _ := w.run("uninstall", "--yes", "--json")
	var r uninstallReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != ExitDone || r.Rule != w.power.Rule.Path() || r.RuleRemove != "lidguard linux-permission remove" {
		t.Errorf("uninstall: %d, %v\n%s", code, err, out)
	}
}
