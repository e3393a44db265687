package sandbox_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/sandbox"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// within is the test's own notion of a path in a folder, both clean.
func within(p, dir string) bool {
	rel := strings.TrimPrefix(p, strings.TrimSuffix(dir, "/"))
	return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")) && (rel == "" || rel[0] == '/')
}

// readable reports whether a shell would take a command as it stands, so that what
// follows it is run as well.
func readable(command string) bool {
	f := shell.Inspect(command, shell.Bash, shell.World{})
	return len(f.Problems) == 0 && f.Over == nil
}

// FuzzJudge holds the laws of the sandbox for any call: it refuses or is silent, it
// refuses what touches a place outside or cannot be read, and nothing else, one more root never refuses
// more, nothing that is asked hides what follows it, and whoever may write anywhere
// and leave the client's sandbox is never refused.
func FuzzJudge(f *testing.F) {
	for _, c := range []string{
		"echo x > a.txt", "echo x > ~/a.txt", "cp a ../proj2/a", "mv a ~/a", "touch link/a", "rm -rf /srv/*", "ssh h 'touch /srv/a'",
		`bash -c 'echo x > "$HOME/a"'`, "cd /srv && touch a", "tee /tmp/../srv/a", "touch src/*/../../../a", "ln -s /srv q; touch q/a",
		"echo x > /dev/null", "echo x > /dev/fd/../../srv/a", "cat <<E > ../a\nx\nE", "touch {a,../b}", "x=..; touch $x/a", "echo x >&/srv/a", "tar -xf a -C /srv", "dd of=/srv/a",
	} {
		in, err := json.Marshal(map[string]string{"command": c})
		if err != nil {
			f.Fatal(err)
		}
		f.Add("Bash", in)
	}
	for _, s := range [][2]string{
		{"Write", `{"file_path":"/srv/a"}`}, {"Edit", `{"file_path":"a/../../b"}`}, {"Write", `{"file_path":"/srv\u0000/a"}`},
		{"MultiEdit", `{"file_path":"a","edits":[{"file_path":"/srv/b"}]}`}, {"NotebookEdit", `{"notebook_path":"../a.ipynb"}`},
		{"apply_patch", `{"command":"*** Begin Patch\n*** Update File: a\n*** Move to: ../a\n*** End Patch"}`},
		{"apply_patch", `{"input":"--- a/x\n+++ b/../x\n"}`}, {"shell", `{"command":["bash","-lc","touch /srv/a"],"workdir":".."}`},
		{"Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`}, {"Bash", `{"command":5,"dangerouslyDisableSandbox":true}`},
		{"Bash", `{"command":"ls","sandbox_permissions":"require_escalated"}`}, {"PowerShell", `{"command":"Remove-Item C:\\a"}`},
		{"cmd", `{"command":"del /q ..\\a"}`}, {"mcp__files__write_file", `{"path":"/srv/a"}`}, {"Bash", `[]`}, {"Bash", ``},
	} {
		f.Add(s[0], []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, tool string, input []byte) {
		if len(input) > 4096 {
			return
		}
		ev := &event.Event{Provider: event.Claude, Name: event.PreToolUse, Cwd: "/home/u/proj", Tool: &event.Tool{Name: tool, Input: input}}
		w := world()
		got := sandbox.Judge(sandbox.Config{}, ev, w)
		switch {
		case got.Decision == event.None && got.Reason == "" && got.Rule == "":
		case got.Decision == event.Deny && (got.Rule == sandbox.RuleWrite || got.Rule == sandbox.RuleEscape || got.Rule == sandbox.RuleUnjudged):
			if strings.ContainsAny(got.Reason, "\x00\x1b\n") || len(got.Reason) > 2000 || !strings.HasPrefix(got.Reason, "lidguard sandbox ["+got.Rule+"]: ") {
				t.Fatalf("reason %q", got.Reason)
			}
		default:
			t.Fatalf("%+v", got)
		}

		escape, anything := sandbox.Config{AllowEscape: true}, sandbox.Config{Roots: []string{"/"}, AllowEscape: true}
		stays := sandbox.Judge(escape, ev, w)
		outside := ""
		touched, whole := gate.Touches(ev, w)
		for _, p := range touched {
			drive := len(p) > 2 && p[1] == ':' && p[2] == '/'
			if !drive && (path.Clean(p) != p || !path.IsAbs(p)) {
				t.Fatalf("touches %q, which is no clean absolute path", p)
			}
			if drive {
				anything.Roots = append(anything.Roots, p[:3])
			}
			if !within(p, "/home/u/proj") && !within(p, "/tmp") && !within(p, "/var/tmp") && !within(p, "/dev") && !strings.HasPrefix(p, "/private/") && !within(p, "/var/folders") {
				outside = p
			}
		}
		if outside != "" && stays.Rule != sandbox.RuleWrite {
			t.Fatalf("%q is outside and passed", outside)
		}
		if stays.Decision == event.Deny && got.Decision != event.Deny {
			t.Fatal("without a leave to escape it is refused less")
		}
		more := sandbox.Config{Roots: []string{".", "/srv/outside"}, AllowEscape: true}
		if v := sandbox.Judge(more, ev, w); v.Decision == event.Deny && stays.Decision != event.Deny {
			t.Fatalf("one more root, and it is refused: %s", v.Reason)
		}
		if v := sandbox.Judge(anything, ev, w); v.Decision != event.None && (whole || v.Rule != sandbox.RuleUnjudged) {
			t.Fatalf("everything is allowed, and it is refused: %s", v.Reason)
		}

		var object map[string]any
		if json.Unmarshal(input, &object) != nil {
			return
		}
		if object["dangerouslyDisableSandbox"] == true && got.Rule != sandbox.RuleEscape {
			t.Fatalf("it leaves the client's sandbox: %+v", got)
		}
		command, ok := object["command"].(string)
		if d, is := gate.DialectOf(tool); !is || d != shell.Bash || !ok || len(object) != 1 || !readable(command+"\ntrue") ||
			strings.ContainsAny(command, "\x00\\") || leaves(command) {
			return
		}
		later, err := json.Marshal(map[string]string{"command": command + "\ntouch /srv/last"})
		if err != nil {
			t.Fatal(err)
		}
		ev.Tool = &event.Tool{Name: tool, Input: later}
		if v := sandbox.Judge(escape, ev, w); v.Decision != event.Deny {
			t.Fatalf("%q hides the write after it", command)
		}
	})
}

// leaves tells words with which a command rightly changes or ends what follows it.
func leaves(command string) bool {
	for _, w := range []string{"exit", "exec", "return", "set", "alias", "touch", "<<", "chroot", "ssh", "break", "continue", "kill"} {
		if strings.Contains(command, w) {
			return true
		}
	}
	return false
}
