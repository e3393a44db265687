//go:build !windows

package cli

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// odd is what people, editors and other tools leave in config files. Each roll of a
// file notes what it got, so that the law can say that all of it was met.
type odd struct {
	*rand.Rand
	got map[string]bool
}

// now reports whether an oddity is wanted here, and notes it.
func (o odd) now(what string, outOf int) bool {
	yes := o.IntN(outOf) == 0
	o.got[what] = o.got[what] || yes
	return yes
}

func (o odd) pick(words ...string) string { return words[o.IntN(len(words))] }

// lines is the layout of a text with members on lines of their own.
func (o odd) lines(text string) string {
	if o.now("tabs", 3) {
		text = strings.ReplaceAll(text, "\n  ", "\n\t")
	}
	text += o.pick("", "\n", "\n\n", " \n")
	if o.now("CRLF", 4) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if o.now("byte-order mark", 6) {
		text = "\xef\xbb\xbf" + text
	}
	return text
}

// json makes a config of a client's events. comments says whether the client reads
// any; a file with comments that it does not read comes as well, to be refused.
func (o odd) json(comments bool, events ...string) string {
	note := func() string { return "" }
	if comments && o.now("comments", 2) || !comments && o.now("comments that are not read", 8) {
		note = func() string { return o.pick("", " // mine", " /* mine, \"hooks\": {} */") }
	}
	var members []string
	add := func(key, value string) {
		members = append(members, fmt.Sprintf("  %q:%s%s", key, o.pick("", " ", "  "), value))
	}
	for i := range o.IntN(3) {
		o.now("unknown keys", 1)
		add(fmt.Sprintf("unknown%d", i), o.pick(`true`, `"text // no comment"`, `{"a": [1, 2.50, null]}`, `[]`, `1e3`, `"\u00fc ü"`))
	}
	if len(members) > 0 && o.now("duplicate keys", 4) {
		members = append(members, members[0])
	}
	if len(events) > 0 && o.IntN(4) > 0 {
		var of []string
		for _, name := range events {
			if o.now("foreign hooks", 2) {
				of = append(of, fmt.Sprintf(`    %q: [{"hooks": [{"type": "command", "command": "tool-%d \"<&>\"", "extra": [1]}]}]`, name, o.IntN(99)))
			}
		}
		add("hooks", "{\n"+strings.Join(of, ",\n")+"\n  }")
	}
	o.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	for i := range members[:max(0, len(members)-1)] {
		members[i] += "," + note()
	}
	return o.lines("{" + note() + "\n" + strings.Join(members, "\n") + "\n}")
}

// toml makes a config.toml.
func (o odd) toml() string {
	text := o.pick("", "# mine\n", "model = \"gpt\" # the good one\n")
	o.now("comments", 1)
	if o.now("foreign hooks", 3) {
		text += "\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n  type = \"command\"\n  command = 'tool <&>' # mine\n"
	}
	if o.now("unknown keys", 2) {
		text += "\n[unknown]\n  \"a b\" = [1,\n    2]\n"
	}
	return o.lines(text + o.pick("", "\n[features]\nweb = true"))
}

// put writes a file, perhaps behind links, with a mode of its own.
func (o odd) put(t *testing.T, home, path, text string) {
	t.Helper()
	mode := []fs.FileMode{0o600, 0o640, 0o644, 0o660, 0o755}[o.IntN(5)]
	if o.now("read-only", 12) {
		mode = 0o440
	}
	o.now("odd modes", 1)
	real := path
	if o.now("links", 3) {
		real = filepath.Join(home, "dots", filepath.Base(path))
		link := real
		if o.IntN(2) == 0 { // a link to a link, the second one relative
			link = real + ".link"
			if err := os.MkdirAll(filepath.Dir(real), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Base(real), link); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(real), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(real, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// everything is each file, link and folder below a folder, as text.
func everything(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, text := strings.TrimPrefix(path, root), info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		all[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLaw_uninstallBringsEverythingBack: for every client and whatever stands in its
// files, hooks and MCP server are installed and removed without a trace: the same
// bytes, modes and links, and no file or folder more. A file that is refused is left as
// it is, and keeps nothing else from coming back.
func TestLaw_uninstallBringsEverythingBack(t *testing.T) {
	t.Parallel()
	lay := map[string]func(*testing.T, odd, string){
		"claude": func(t *testing.T, o odd, home string) {
			o.put(t, home, filepath.Join(home, ".claude", "settings.json"), o.json(false, "Stop", "PreToolUse", "OfTheFuture"))
			if o.IntN(2) == 0 {
				o.put(t, home, filepath.Join(home, ".claude.json"), o.json(false))
			}
		},
		"codex": func(t *testing.T, o odd, home string) {
			if o.IntN(3) > 0 {
				o.put(t, home, filepath.Join(home, ".codex", "hooks.json"), o.json(false, "Stop", "PreToolUse", "OfTheFuture"))
			}
			o.put(t, home, filepath.Join(home, ".codex", "config.toml"), o.toml())
		},
		"copilot": func(t *testing.T, o odd, home string) {
			o.put(t, home, filepath.Join(home, ".copilot", "settings.json"), o.json(true, "agentStop"))
			o.put(t, home, filepath.Join(home, ".copilot", "mcp-config.json"), o.json(true))
			if o.IntN(2) == 0 {
				o.put(t, home, filepath.Join(home, ".copilot", "hooks", "theirs.json"), o.json(false, "agentStop"))
			}
		},
		"opencode": func(t *testing.T, o odd, home string) {
			o.put(t, home, filepath.Join(home, ".config", "opencode", "opencode.jsonc"), o.json(true))
			if o.IntN(2) == 0 {
				o.put(t, home, filepath.Join(home, ".config", "opencode", "plugins", "theirs.js"), "export const Theirs = async () => ({})\n")
			}
		},
	}
	for client, lay := range lay {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			met, whole := map[string]int{}, 0
			for seed := range uint64(200) {
				w := newWorld(t)
				o := odd{rand.New(rand.NewPCG(seed, 11)), map[string]bool{}}
				lay(t, o, w.home)
				if err := os.MkdirAll(filepath.Join(w.home, ".local", "state"), 0o700); err != nil { // as everywhere
					t.Fatal(err)
				}
				before := everything(t, w.home)
				hooks, _, _ := w.run("hook-install", "--provider", client)
				server, _, _ := w.run("mcp-install", client)
				if hooks == 0 && server == 0 {
					whole++
					for what := range maps.Keys(o.got) {
						if o.got[what] {
							met[what]++
						}
					}
				} else if !o.got["comments that are not read"] && !o.got["read-only"] && !o.got["duplicate keys"] {
					_, out, errs := w.run("hook-install", "--provider", client)
					t.Fatalf("seed %d: nothing is odd enough to be refused:\n%s%s\n%v", seed, out, errs, before)
				}
				if seed%4 == 3 { // somebody writes beside it; the bytes from before count no more
					path := filepath.Join(w.home, ".claude", "settings.json")
					if data, err := os.ReadFile(path); err == nil && client == "claude" && hooks == 0 {
						if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
							t.Fatal(err)
						}
						for name, text := range before {
							if strings.HasSuffix(name, "settings.json") && !strings.HasPrefix(text, "L") {
								before[name] = text + "\n"
							}
						}
					}
				}
				code, out, errs := w.run("uninstall", "--yes", "--json")
				if code != 0 && hooks == 0 && server == 0 {
					t.Fatalf("seed %d: uninstall: exit %d\n%s%s", seed, code, out, errs)
				}
				after := everything(t, w.home)
				for name := range after { // a copy from before stays where somebody wrote meanwhile
					if _, there := before[name]; !there && strings.Contains(name, ".lidguard-backup-") && seed%4 == 3 {
						delete(after, name)
					}
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Fatalf("seed %d: (-before +after)\n%s", seed, diff)
				}
			}
			t.Logf("installed in %d of 200 homes; met %v", whole, met)
			want := []string{"tabs", "CRLF", "byte-order mark", "unknown keys", "foreign hooks", "links", "odd modes", "comments"}
			switch client {
			case "claude":
				want = slices.DeleteFunc(want, func(s string) bool { return s == "comments" }) // the client reads none
			case "opencode":
				want = slices.DeleteFunc(want, func(s string) bool { return s == "foreign hooks" }) // its config has none
			}
			for _, what := range want {
				if met[what] < 10 {
					t.Errorf("%q was met %d times in homes in which everything was installed", what, met[what])
				}
			}
			if whole < 100 {
				t.Errorf("installed in %d of 200 homes: the files are too odd to say much", whole)
			}
		})
	}
}
