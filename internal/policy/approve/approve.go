// Package approve says yes to the few calls that a person named beforehand, at the
// moment the client would ask about them. In come a permission request and narrow
// rules; out comes an allow for a call that one rule describes word for word, or
// nothing. It never refuses, never approves what the gate would object to, and
// takes no rule that would fit many calls: a rule that approves whatever a shell
// is given is none.
package approve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// Name is the pack's name in chains and logs.
const Name = "approve"

// Rule describes the calls that are approved. Command, Path and Input all have to
// fit, where they are given.
type Rule struct {
	ID string `toml:"id"`
	// Tool is the client's exact name of the tool; "shell" stands for each client's
	// own.
	Tool string `toml:"tool"`
	// Command is for shells: the words of the one program that may run. A word may
	// be a pattern as in path.Match, except the first; a last word ** stands for any
	// further ones.
	Command []string `toml:"command"`
	// Path is for tools that work on one file: patterns as in path.Match below the
	// working folder; a part ** stands for any folders between.
	Path []string `toml:"path"`
	// Input are members that the tool's input must have, with exactly these texts.
	Input map[string]string `toml:"input"`
	// Durable also stores the approval in the project's local settings, where the
	// client has such a thing (Claude Code: contracts/claude §3).
	Durable bool `toml:"durable"`
}

// anyShell stands for the shell tool of any client.
const anyShell = "shell"

// broad are programs that run, or reach, whatever they are told: they are approved with
// all their words given, never with a pattern.
const broad = " sh bash dash ash zsh fish ksh mksh csh tcsh nu elvish xonsh rbash busybox toybox pwsh powershell cmd " +
	"python pypy ipython node nodejs tsx ts-node deno bun perl raku ruby irb php lua luajit awk gawk mawk nawk sed gsed r rscript julia groovy scala kotlin elixir iex erl ghci runghc guile racket tclsh wish expect m4 osascript " +
	"eval exec source . command builtin trap env sudo doas su runuser pkexec sg xargs find fd parallel nohup setsid timeout nice ionice chrt taskset stdbuf unbuffer script flock time watch entr strace ltrace gdb lldb chroot unshare nsenter firejail bwrap " +
	"ssh scp sftp rsync rclone docker podman nerdctl kubectl oc helm vagrant ansible make gmake cmake ninja just task npx pnpx bunx uvx pipx vi vim nvim ex ed emacs less more man " +
	"rm dd mkfs chmod chown chattr kill pkill killall shutdown reboot systemctl launchctl crontab at batch curl wget aria2c nc ncat netcat socat telnet git "

// isBroad reports whether a program is of these, whatever its folder and its version
// are: python3.12, /usr/bin/lua5.4, node.exe.
func isBroad(program string) bool {
	name := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	name = strings.TrimSuffix(name, ".exe")
	if strings.Contains(broad, " "+name+" ") {
		return true
	}
	bare := strings.TrimRight(name, "0123456789.-")
	return bare != "" && strings.Contains(broad, " "+bare+" ")
}

// Check finds the first rule that is too broad or could never fit, and says why; -1
// where all are fine.
func Check(rules []Rule) (row int, problem string) {
	for i := range rules {
		if problem := rules[i].problem(); problem != "" {
			return i, problem
		}
	}
	return -1, ""
}

func (r *Rule) problem() string {
	switch {
	case r.ID == "":
		return "it has no id"
	case r.Tool == "" || strings.ContainsAny(r.Tool, "*?[.|^$"):
		return fmt.Sprintf("%q: the tool is %q; it takes one exact name, or %q", r.ID, r.Tool, anyShell)
	}
	_, isShell := gate.DialectOf(r.Tool)
	isShell = isShell || r.Tool == anyShell
	switch {
	case isShell && len(r.Command) == 0:
		return fmt.Sprintf("%q would approve every command; it needs the words of one: command = [\"go\", \"test\", \"./...\"]", r.ID)
	case isShell && (len(r.Path) > 0 || len(r.Input) > 0):
		return fmt.Sprintf("%q is for a shell, which has a command and neither path nor input", r.ID)
	case !isShell && len(r.Command) > 0:
		return fmt.Sprintf("%q has a command, but %q is no shell", r.ID, r.Tool)
	case !isShell && len(r.Path) == 0 && len(r.Input) == 0 && !strings.HasPrefix(r.Tool, "mcp__"):
		return fmt.Sprintf("%q would approve every call of %q; it needs a path or an input", r.ID, r.Tool)
	}
	for _, p := range r.Path {
		if _, err := path.Match(p, ""); err != nil || !narrow(p) || path.IsAbs(p) || slices.Contains(strings.Split(p, "/"), "..") {
			return fmt.Sprintf("%q: the path %q is no narrow pattern below the working folder", r.ID, p)
		}
	}
	return r.broadWords()
}

// narrow reports whether a pattern for paths names anything: one of wildcards, classes
// of characters and dots alone would fit nearly every file.
func narrow(p string) bool {
	for len(p) > 0 {
		switch p[0] {
		case '*', '?', '/', '.':
			p = p[1:]
		case '[':
			end := strings.IndexByte(p[1:], ']')
			if end < 0 {
				return false
			}
			p = p[end+2:]
		default:
			return true
		}
	}
	return false
}

// broadWords says why the words of a command would fit too much.
func (r *Rule) broadWords() string {
	open := false
	for i, word := range r.Command {
		rest := word == "**"
		if _, err := path.Match(word, ""); err != nil {
			return fmt.Sprintf("%q: the word %q is no pattern", r.ID, word)
		}
		pattern := strings.ContainsAny(word, "*?[")
		switch {
		case i == 0 && (pattern || strings.TrimSpace(word) == ""):
			return fmt.Sprintf("%q: the program has to be named, not %q", r.ID, word)
		case rest && (i != len(r.Command)-1 || i < 2):
			return fmt.Sprintf("%q: ** can only be the last word, behind a program and one word more", r.ID)
		}
		open = open || pattern
	}
	if open && isBroad(r.Command[0]) {
		return fmt.Sprintf("%q: %s does whatever its words say, so they all have to be given", r.ID, r.Command[0])
	}
	return ""
}

// New returns the handler. world tells about the machine, as for the gate; objects
// is what the gate would say.
func New(rules []Rule, world func(*event.Event) gate.World, objects func(*event.Event) bool) policy.Handler {
	return policy.Handler{
		Name: Name, Band: policy.BandPolicy + 10, Role: policy.Observer, IfUndecided: true,
		Wants: func(ev *event.Event) bool { return ev.Name == event.PermissionRequest && ev.Tool != nil },
		Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
			w := world(ev)
			r := Find(rules, ev, w)
			if r == nil || objects(ev) {
				return event.Verdict{}, nil
			}
			v := event.Verdict{Decision: event.Allow, Rule: r.ID, Reason: "lidguard approve [" + r.ID + "]: a person named this call beforehand."}
			if r.Durable && ev.Provider == event.Claude {
				v.Permissions = stored(ev)
			}
			return v, nil
		},
	}
}

// Find is the rule that describes the call; nil where none does.
func Find(rules []Rule, ev *event.Event, w gate.World) *Rule {
	dialect, isShell := gate.DialectOf(ev.Tool.Name)
	var words []string
	if isShell {
		command, ok := member(ev.Tool.Input, "command")
		if !ok {
			return nil
		}
		if words, ok = plain(shell.Inspect(command, dialect, shell.World{Dir: w.Dir, Home: w.Home, Env: w.Env, Private: gate.SecretVariable, ReadFile: w.ReadFile, Glob: w.Glob})); !ok {
			return nil
		}
	}
	for i := range rules {
		r := &rules[i]
		switch {
		case r.problem() != "" || r.Tool != ev.Tool.Name && (r.Tool != anyShell || !isShell):
		case isShell && fits(r.Command, words), !isShell && r.fitsInput(ev, w):
			return r
		}
	}
	return nil
}

// plain are the words of a command that is one program and nothing else: all of
// them known, no file redirected to, no variable set, nothing wrapped around it.
func plain(f *shell.Facts) ([]string, bool) {
	// A script that is named may be one that nobody can read beforehand; what it
	// does was approved with its name.
	unclear := func(p shell.Problem) bool { return p.Kind != shell.Unread }
	if len(f.Opaque)+len(f.Recursions) > 0 || slices.ContainsFunc(f.Problems, unclear) || f.Over != nil {
		return nil, false
	}
	if len(f.Leaves) == 0 || f.Leaves[0].Flags&shell.FromScript != 0 {
		return nil, false
	}
	for _, l := range f.Leaves[1:] {
		if l.Flags&shell.FromScript == 0 {
			return nil, false // a script's own commands are the gate's to judge
		}
	}
	l := &f.Leaves[0]
	words, known := l.ArgvText()
	if !known || len(words) == 0 || len(l.Via) > 0 || len(l.Assigns) > 0 || len(l.Redirects) > 0 || l.Flags&^(shell.Builtin) != 0 {
		return nil, false
	}
	for i := range l.Argv {
		if l.Argv[i].Glob || l.Argv[i].Splits || l.Argv[i].Quote&shell.Expanded != 0 {
			return nil, false
		}
	}
	return words, true
}

// fits reports whether words are those of a rule.
func fits(rule, words []string) bool {
	for i, p := range rule {
		if p == "**" {
			return true
		}
		if i >= len(words) {
			return false
		}
		if i == 0 && p != words[0] {
			return false
		}
		if ok, err := path.Match(p, words[i]); err != nil || !ok && p != words[i] {
			return false
		}
		// A pattern for files or names is none for options, which may make the
		// program another one (go test -exec=…, rg --pre=…).
		if p != words[i] && strings.HasPrefix(words[i], "-") && !strings.HasPrefix(p, "-") {
			return false
		}
	}
	return len(words) == len(rule)
}

// fitsInput reports whether the input of a tool that is no shell is as described.
func (r *Rule) fitsInput(ev *event.Event, w gate.World) bool {
	for key, want := range r.Input {
		if got, ok := member(ev.Tool.Input, key); !ok || got != want {
			return false
		}
	}
	if len(r.Path) == 0 {
		return true
	}
	file := ""
	for _, key := range [...]string{"file_path", "filePath", "path", "notebook_path"} {
		if text, ok := member(ev.Tool.Input, key); ok {
			if file != "" && text != file {
				return false // two files, and no telling which is meant
			}
			file = text
		}
	}
	below, ok := inside(file, w)
	return ok && slices.ContainsFunc(r.Path, func(p string) bool { return match(strings.Split(p, "/"), strings.Split(below, "/")) })
}

// inside is a file's path below the working folder. A link that leads elsewhere is
// elsewhere.
func inside(file string, w gate.World) (string, bool) {
	if file == "" || w.Dir == "" || w.Windows && strings.ContainsAny(file, `\:`) {
		return "", false
	}
	if !path.IsAbs(file) {
		file = path.Join(w.Dir, file)
	}
	file, dir := path.Clean(file), path.Clean(w.Dir)
	if w.Resolve != nil {
		file, dir = w.Resolve(file), w.Resolve(dir)
	}
	below, ok := strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
	return below, ok && below != ""
}

// match compares a path with a pattern, part by part; ** stands for any parts.
func match(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(parts) + 1 {
				if match(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); err != nil || !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// member is a text in the tool's input; a key that stands there twice is none.
func member(input json.RawMessage, key string) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(input))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	text, found := "", false
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return "", false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return "", false
		}
		if name == key {
			if found || json.Unmarshal(value, &text) != nil {
				return "", false
			}
			found = true
		}
	}
	return text, found
}

// stored is the durable form of the approval of exactly this call, or nothing where
// the client's rules could not say it exactly.
func stored(ev *event.Event) json.RawMessage {
	type rule struct {
		ToolName    string `json:"toolName"`
		RuleContent string `json:"ruleContent,omitempty"`
	}
	r := rule{ToolName: ev.Tool.Name}
	switch _, isShell := gate.DialectOf(ev.Tool.Name); {
	case isShell:
		r.RuleContent, _ = member(ev.Tool.Input, "command")
		// These would make it a pattern, or end it.
		if r.RuleContent == "" || strings.ContainsAny(r.RuleContent, "*()\n\\") || strings.Contains(r.RuleContent, ":") {
			return nil
		}
	default:
		return nil // a tool's name alone would approve all its calls
	}
	out, err := json.Marshal([]any{map[string]any{"type": "addRules", "rules": []rule{r}, "behavior": "allow", "destination": "localSettings"}})
	if err != nil {
		return nil
	}
	return out
}
