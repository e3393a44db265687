package paths_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/paths"
)

func env(pairs ...string) paths.Env {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestResolve(t *testing.T) {
	long := "/home/" + strings.Repeat("x", 90)
	for _, c := range []struct {
		name, goos                         string
		env                                paths.Env
		config, state, run, socket, events string
	}{
		{"Linux with HOME alone", "linux", env("HOME", "/home/dev"),
			"/home/dev/.config/lidguard", "/home/dev/.local/state/lidguard", "/home/dev/.local/state/lidguard/run",
			"/home/dev/.local/state/lidguard/run/sock", "/home/dev/.local/state/lidguard/hook-events/codex.jsonl"},
		{"XDG folders move config and state, and never the socket", "linux", env("HOME", "/home/dev", "XDG_CONFIG_HOME", "/c", "XDG_STATE_HOME", "/s", "XDG_RUNTIME_DIR", "/run/user/1"),
			"/c/lidguard", "/s/lidguard", "/home/dev/.local/state/lidguard/run", "/home/dev/.local/state/lidguard/run/sock", "/s/lidguard/hook-events/codex.jsonl"},
		{"macOS keeps the same places", "darwin", env("HOME", "/Users/dev"),
			"/Users/dev/.config/lidguard", "/Users/dev/.local/state/lidguard", "/Users/dev/.local/state/lidguard/run",
			"/Users/dev/.local/state/lidguard/run/sock", "/Users/dev/.local/state/lidguard/hook-events/codex.jsonl"},
		{"one folder for everything", "linux", env("HOME", "/home/dev", "LIDGUARD_HOME", "/opt/lg", "XDG_CONFIG_HOME", "/c"),
			"/opt/lg/config", "/opt/lg/state", "/opt/lg/run", "/opt/lg/run/sock", "/opt/lg/state/hook-events/codex.jsonl"},
		{"one folder and no home", "linux", env("LIDGUARD_HOME", "/opt/lg"),
			"/opt/lg/config", "/opt/lg/state", "/opt/lg/run", "/opt/lg/run/sock", "/opt/lg/state/hook-events/codex.jsonl"},
		{"Windows", "windows", env("USERPROFILE", `C:\Users\dev`, "APPDATA", `C:\Users\dev\AppData\Roaming`, "LOCALAPPDATA", `D:\Local`),
			`C:\Users\dev\AppData\Roaming\lidguard`, `D:\Local\lidguard`, `C:\Users\dev\AppData\Local\lidguard\run`, `\\.\pipe\lidguard-`, `D:\Local\lidguard\hook-events\codex.jsonl`},
		{"Windows with USERPROFILE alone", "windows", env("USERPROFILE", `C:\Users\dev`, "HOME", "/c/Users/dev"),
			`C:\Users\dev\AppData\Roaming\lidguard`, `C:\Users\dev\AppData\Local\lidguard`, `C:\Users\dev\AppData\Local\lidguard\run`, `\\.\pipe\lidguard-`,
			`C:\Users\dev\AppData\Local\lidguard\hook-events\codex.jsonl`},
		{"a home too deep for a socket address", "linux", env("HOME", long),
			long + "/.config/lidguard", long + "/.local/state/lidguard", "/tmp/lidguard-", "/tmp/lidguard-", long + "/.local/state/lidguard/hook-events/codex.jsonl"},
	} {
		d, err := paths.Resolve(c.goos, c.env)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, p := range []struct{ what, got, want string }{
			{"config", d.Config, c.config}, {"state", d.State, c.state}, {"run", d.Run, c.run}, {"socket", d.Socket, c.socket},
			{"hook events", d.HookEvents("codex"), c.events},
		} {
			// A want that ends in "-" is followed by a tag.
			if p.got != p.want && (!strings.HasSuffix(p.want, "-") || !strings.HasPrefix(p.got, p.want) || p.got == p.want) {
				t.Errorf("%s: %s is %s, want %s", c.name, p.what, p.got, p.want)
			}
		}
		if c.goos != "windows" && len(d.Socket) > 103 {
			t.Errorf("%s: the socket's path has %d bytes", c.name, len(d.Socket))
		}
	}
}

func TestResolve_noHome(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		if _, err := paths.Resolve(goos, env("XDG_CONFIG_HOME", "/c", "APPDATA", "/a")); !errors.Is(err, paths.ErrNoHome) {
			t.Errorf("%s: %v", goos, err)
		}
	}
}

func TestResolve_relative(t *testing.T) {
	for _, vars := range [][]string{{"HOME", "here"}, {"HOME", "."}, {"HOME", "/home/dev", "LIDGUARD_HOME", "lg"}} {
		if d, err := paths.Resolve("linux", env(vars...)); err == nil || !strings.Contains(err.Error(), vars[len(vars)-2]+" is ") {
			t.Errorf("%q: %+v, %v", vars, d, err)
		}
	}
	d, err := paths.Resolve("linux", env("HOME", "/home/dev", "XDG_CONFIG_HOME", "c", "XDG_STATE_HOME", "./s"))
	if err != nil || d.Config != "/home/dev/.config/lidguard" || d.State != "/home/dev/.local/state/lidguard" {
		t.Errorf("relative XDG folders: %+v, %v", d, err)
	}
}

// TestResolve_everyHelperFindsTheSocket: clients start helpers with most of the
// environment removed; all of them must come to the same socket.
func TestResolve_everyHelperFindsTheSocket(t *testing.T) {
	full, err := paths.Resolve("linux", env("HOME", "/home/dev", "XDG_STATE_HOME", "/s", "XDG_CONFIG_HOME", "/c", "XDG_RUNTIME_DIR", "/run/user/1", "TMPDIR", "/t"))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := paths.Resolve("linux", env("HOME", "/home/dev"))
	if err != nil {
		t.Fatal(err)
	}
	if full.Socket != bare.Socket || full.Lock() != bare.Lock() {
		t.Errorf("%s and %s", full.Socket, bare.Socket)
	}
	for _, other := range []string{"/home/dev2", "/home/" + strings.Repeat("y", 90), "/home/" + strings.Repeat("z", 90)} {
		d, err := paths.Resolve("linux", env("HOME", other))
		if err != nil || d.Socket == bare.Socket {
			t.Errorf("%s shares the socket of another home (%v)", other, err)
		}
	}
}

func TestDirs_filesAreTheirOwn(t *testing.T) {
	d, err := paths.Resolve("linux", env("HOME", "/home/dev"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range []string{d.Settings(), d.Rules(), d.Sessions(), d.Pending(), d.History(), d.Log(), d.Inputs(), d.Installed(), d.HookEvents("a"), d.HookEvents("b"), d.Lock(), d.Socket} {
		if seen[p] || !strings.HasPrefix(p, "/home/dev/") {
			t.Errorf("%s is there twice, or outside the home", p)
		}
		seen[p] = true
	}
}

// FuzzResolve: whatever the home is called, the socket's path fits into an
// address and every place is below the home or the folder for long names.
func FuzzResolve(f *testing.F) {
	f.Add("/home/dev", "")
	f.Add("/", "/x")
	f.Fuzz(func(t *testing.T, home, root string) {
		d, err := paths.Resolve("linux", env("HOME", home, "LIDGUARD_HOME", root))
		if (home == "" && root == "") != (err != nil) {
			t.Fatalf("HOME=%q LIDGUARD_HOME=%q: %v", home, root, err)
		}
		if err != nil {
			return
		}
		if len(d.Socket) > 100 || !strings.HasPrefix(d.Socket, d.Run) || d.Home == "" {
			t.Fatalf("HOME=%q LIDGUARD_HOME=%q: socket %q, run %q", home, root, d.Socket, d.Run)
		}
	})
}
