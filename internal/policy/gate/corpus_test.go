package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// project is the made-up machine of all tests here: a person u, a project with
// files that git tracks, ignores and does not know.
func project() gate.World {
	files := map[string]gate.Track{
		"/home/u/proj/main.go": gate.TrackedPath, "/home/u/proj/src": gate.TrackedPath, "/home/u/proj/src/a.go": gate.TrackedPath,
		"/home/u/proj/README.md": gate.TrackedPath, "/home/u/proj/draft": gate.UntrackedPath, "/home/u/proj/private": gate.IgnoredPath,
	}
	scripts := map[string]string{
		"/home/u/proj/clean.sh":     "#!/bin/sh\nrm -rf build\n",
		"/home/u/proj/evil.sh":      "#!/bin/sh\nrm -rf /\n",
		"/home/u/proj/evil.py":      "import os\nos.system('rm -rf /')\n",
		"/home/u/proj/own.py":       "import shutil, sys\nshutil.rmtree(sys.argv[1])\n",
		"/home/u/proj/package.json": `{"scripts":{"build":"tsc","test":"jest","nuke":"rm -rf ~"}}`,
		"/home/u/proj/Makefile":     "all:\n\tgo build\nclean:\n\trm -rf build\nnuke:\n\trm -rf /\n",
	}
	return gate.World{
		Dir: "/home/u/proj", Home: "/home/u", Project: "/home/u/proj",
		Self: []string{"/home/u/.config/lidguard", "/home/u/.local/state/lidguard"},
		Env: func(name string) (string, bool) {
			switch name {
			case "USER":
				return "u", true
			case "PATH":
				return "/usr/bin:/bin", true
			}
			return "", false
		},
		ReadFile: func(p string, max int) (string, bool) { s, ok := scripts[p]; return s, ok },
		Kind: func(p string) gate.FileKind {
			if p == "/home/u/proj" || p == "/home/u/proj/src" || p == "/home/u/proj/draft" || p == "/home/u/proj/private" {
				return gate.KindDir
			}
			if _, ok := files[p]; ok {
				return gate.KindFile
			}
			if _, ok := scripts[p]; ok {
				return gate.KindFile
			}
			return gate.KindMissing
		},
		Track: func(p string) gate.Track {
			if t, ok := files[p]; ok {
				return t
			}
			return gate.UntrackedPath
		},
	}
}

// windowsProject is the same machine with the paths and variables of Windows.
func windowsProject() gate.World {
	w := project()
	there := func(p string) string {
		p = strings.ReplaceAll(p, `\`, "/")
		if rest, ok := strings.CutPrefix(p, "C:/Users/u"); ok {
			return "/home/u" + rest
		}
		return p
	}
	kind, track, read := w.Kind, w.Track, w.ReadFile
	w.Windows, w.Dir, w.Home, w.Project = true, "C:/Users/u/proj", "C:/Users/u", "C:/Users/u/proj"
	w.Temp = []string{"C:/Users/u/AppData/Local/Temp"}
	w.Self = []string{"C:/Users/u/.config/lidguard", "C:/Users/u/AppData/Roaming/lidguard"}
	w.Kind = func(p string) gate.FileKind { return kind(there(p)) }
	w.Track = func(p string) gate.Track { return track(there(p)) }
	w.ReadFile = func(p string, max int) (string, bool) { return read(there(p), max) }
	w.Env = func(name string) (string, bool) {
		v, ok := map[string]string{
			"USERPROFILE": `C:\Users\u`, "HOMEDRIVE": "C:", "HOMEPATH": `\Users\u`, "USERNAME": "u", "COMPUTERNAME": "PC", "OS": "Windows_NT",
			"APPDATA": `C:\Users\u\AppData\Roaming`, "LOCALAPPDATA": `C:\Users\u\AppData\Local`, "TEMP": `C:\Users\u\AppData\Local\Temp`, "TMP": `C:\Users\u\AppData\Local\Temp`,
			"SYSTEMROOT": `C:\Windows`, "WINDIR": `C:\Windows`, "SYSTEMDRIVE": "C:", "PROGRAMFILES": `C:\Program Files`, "PROGRAMFILES(X86)": `C:\Program Files (x86)`,
			"PROGRAMDATA": `C:\ProgramData`, "PUBLIC": `C:\Users\Public`, "COMSPEC": `C:\Windows\system32\cmd.exe`, "PATH": `C:\Windows\system32;C:\Windows`,
		}[strings.ToUpper(name)]
		return v, ok
	}
	return w
}

// row is one line of the corpus: the verdict in the standard profile and a
// command, in which ⏎ stands for a line end.
type row struct{ want, command, file string }

func corpus(t testing.TB, dir string) (rows []row) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no corpus in %q: %v", dir, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimRight(line, "\r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			want, command := "ok", line
			if dir != "harmless" {
				var found bool
				if want, command, found = strings.Cut(line, " "); !found {
					t.Fatalf("%s: %q", name, line)
				}
			}
			rows = append(rows, row{want, strings.ReplaceAll(command, "⏎", "\n"), filepath.Base(name)})
		}
	}
	return rows
}

func word(d event.Decision) string {
	if d == event.None {
		return "ok"
	}
	return d.String()
}

func TestCorpus_everyEffectAndItsTwins(t *testing.T) {
	counts := map[string][2]int{}
	for _, r := range corpus(t, "effects") {
		got := gate.Command(gate.Config{}, r.command, shell.Bash, project())
		n := counts[r.file]
		if r.want == "ok" {
			n[1]++
		} else {
			n[0]++
		}
		counts[r.file] = n
		if word(got.Decision) != r.want {
			t.Errorf("%s: %q: got %s, want %s: %v", r.file, r.command, word(got.Decision), r.want, hazards(got))
		}
	}
	for file, n := range counts {
		if n[0] < 20 || n[1] < 15 {
			t.Errorf("%s has %d dangerous and %d harmless commands; at least 20 and 15 keep a rule honest", file, n[0], n[1])
		}
	}
}

// The same for the shells of Windows, which have readers of their own.
func TestCorpus_windows(t *testing.T) {
	for file, d := range map[string]shell.Dialect{"powershell.txt": shell.PowerShell, "cmd.txt": shell.Cmd} {
		bad, good := 0, 0
		for _, r := range corpus(t, "windows") {
			if r.file != file {
				continue
			}
			if r.want == "ok" {
				good++
			} else {
				bad++
			}
			for where, world := range map[string]func() gate.World{"elsewhere": project, "on Windows": windowsProject} {
				if got := gate.Command(gate.Config{}, r.command, d, world()); word(got.Decision) != r.want {
					t.Errorf("%s %s: %q: got %s, want %s: %v", file, where, r.command, word(got.Decision), r.want, hazards(got))
				}
			}
		}
		if bad < 60 || good < 45 {
			t.Errorf("%s has %d dangerous and %d harmless commands", file, bad, good)
		}
	}
}

func TestCorpus_aDaysWorkPasses(t *testing.T) {
	rows := corpus(t, "harmless")
	if len(rows) < 1000 {
		t.Errorf("%d harmless commands, want 1000", len(rows))
	}
	for _, r := range rows {
		if got := gate.Command(gate.Config{}, r.command, shell.Bash, project()); got.Decision != event.None {
			t.Errorf("%s: %q: got %s: %v", r.file, r.command, word(got.Decision), hazards(got))
		}
	}
}

func hazards(r gate.Result) (out []string) {
	for _, h := range r.Hazards {
		out = append(out, word(h.Decision)+" "+h.Effect.String()+"/"+h.Scope.String()+" "+h.Rule+" "+h.Target)
	}
	return out
}
