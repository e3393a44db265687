package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/paths"
)

// Program is the file that agents' config files call.
type Program struct {
	Path    string // absolute
	windows bool
}

// ErrNoProgram says that the running program does not know where it lies.
var ErrNoProgram = errors.New("the path of the lidguard program is not known")

// ErrNoText is matched where a path cannot be written into a config file.
var ErrNoText = errors.New("config files hold UTF-8 alone")

// CheckText reports whether a config file can name the program at path: JSON and TOML
// are UTF-8, and another name than the file's would call nothing, without a word.
func CheckText(path string) error {
	if !utf8.ValidString(path) {
		return fmt.Errorf("the path of the program, %q, is no UTF-8, so no agent could call it: %w", path, ErrNoText)
	}
	return nil
}

// FindProgram chooses the program that config files name: the thin lidguard-hook
// where it lies beside lidguard, since it starts faster, else lidguard itself.
//
// executable is the running program's file. Where PATH has the same file under a
// name of its own (a link in ~/bin, or a package manager's), that name is used:
// it stays when an upgrade moves the file, and so the command line stays, which
// Codex makes part of its trust.
func FindProgram(goos string, env paths.Env, executable string) (Program, error) {
	if executable == "" {
		return Program{}, ErrNoProgram
	}
	p := Program{windows: goos == "windows"}
	suffix := ""
	if p.windows {
		suffix = ".exe"
	}
	var candidates []string // folders, the best first
	if found := OnPath(goos, env); found != "" && sameFile(found, executable) {
		candidates = append(candidates, filepath.Dir(found))
		p.Path = found
	} else {
		p.Path = executable
	}
	candidates = append(candidates, filepath.Dir(executable))
	for _, dir := range candidates {
		if hook := filepath.Join(dir, "lidguard-hook"+suffix); runnable(hook, p.windows) && (CheckText(hook) == nil || CheckText(p.Path) != nil) {
			p.Path = hook
			break
		}
	}
	return p, nil
}

// FindMain returns the lidguard program itself, for what lidguard-hook cannot do,
// under the name by which PATH has it where that is the running file.
func FindMain(goos string, env paths.Env, executable string) (string, error) {
	if found := OnPath(goos, env); found != "" && (executable == "" || sameFile(found, executable)) {
		return found, nil
	}
	if executable == "" {
		return "", ErrNoProgram
	}
	return executable, nil
}

// OnPath returns the lidguard that a shell would run, or "".
func OnPath(goos string, env paths.Env) string {
	name, windows := "lidguard", goos == "windows"
	if windows {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(env("PATH")) {
		// A relative entry means another folder for every agent.
		if !filepath.IsAbs(dir) {
			continue
		}
		if path := filepath.Join(dir, name); runnable(path, windows) {
			return path
		}
	}
	return ""
}

func runnable(path string, windows bool) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (windows || info.Mode()&0o111 != 0)
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// Command is the command line of a hook entry. Where the program is gone it does
// nothing and succeeds, so that nothing is left to disturb an agent after
// lidguard was deleted by hand. It is for sh, and on Windows for every shell that
// a client may take there: see anyShell.
//
// The text is a contract: it must not change between versions without need, since
// Codex stops trusting an entry whose text changed (docs/contracts/codex.md §6).
func (p Program) Command(args ...string) string {
	words := strings.Join(args, " ")
	if p.windows {
		return anyShell(strings.ReplaceAll(p.Path, `\`, "/"), words)
	}
	path := ShellWord(p.Path)
	return "[ -x " + path + " ] || exit 0; exec " + path + " " + words
}

// anyShell is one line that PowerShell, Git's bash and cmd each understand in
// their own way. Which of them runs it depends on the client, its version and what
// is installed, and a guess that is wrong is worse than no hook: bash ends with
// exit code 2 where it cannot parse a line, and 2 is how a hook refuses.
//
// set makes variables that nobody reads in all three. What follows belongs to
// PowerShell, for which "\" is a whole string and # ends the line; bash has \" as
// a quote within the string, reads on behind the next one, and ends at its own #;
// cmd sees no shell's comments, only every second quote, which hides all of that,
// and the last & from it. Slashes lean forward since bash drops the others.
func anyShell(path, words string) string {
	ps := quotePowerShell(path)
	onlyPS := "if (Test-Path -LiteralPath " + ps + ") { . " + ps + " " + words + "; exit $LASTEXITCODE }"
	if strings.ContainsAny(path, "$`") {
		// bash would look into these; such a folder needs a client that asks
		// PowerShell.
		return onlyPS
	}
	sh := "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	return `set lidguard='"' is="\"; ` + onlyPS + ` #"; : '"'; [ -x ` + sh + " ] || exit 0; exec " + sh + " " + words +
		` # " & if exist "` + path + `" "` + path + `" ` + words
}

// plainChars need no quotes in any shell.
const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,"

// ShellWord makes s one literal word of a POSIX shell, also for a person to copy.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, plainChars) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quotePowerShell makes s one literal string of PowerShell, which takes the
// typographic quotes for quotes as well (about_Quoting_Rules).
func quotePowerShell(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch r {
		case '\'', '\u2018', '\u2019', '\u201a', '\u201b':
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String()
}

// Calls reports whether a command line of a config file is lidguard's entry, in
// any form that some version wrote: bare, quoted, guarded, or with another path.
func Calls(command, entry string) bool {
	for rest, done := command, 0; ; {
		i := strings.Index(rest, entry)
		if i < 0 {
			return false
		}
		at := done + i
		after := command[at+len(entry):]
		if isBlankOrEnd(after) && callsProgram(command[:at]) {
			return true
		}
		done = at + len(entry)
		rest = command[done:]
	}
}

func isBlankOrEnd(s string) bool { return s == "" || strings.IndexByte(" \t;\n}", s[0]) >= 0 }

// callsProgram reports whether the text before an entry's name ends in a word
// that is lidguard or lidguard-hook with any path.
func callsProgram(before string) bool {
	word := strings.TrimRight(before, " \t")
	if word == before {
		return false // no blank between the program and the entry
	}
	word = strings.TrimRight(word, `'"`)
	if len(word) >= 4 && strings.EqualFold(word[len(word)-4:], ".exe") {
		word = word[:len(word)-4]
	}
	word, ok := cutSuffix(word, "lidguard-hook", "lidguard")
	if !ok {
		return false
	}
	return word == "" || strings.IndexByte(`/\ '"&;`+"\t\n", word[len(word)-1]) >= 0
}

func cutSuffix(s string, suffixes ...string) (string, bool) {
	for _, suffix := range suffixes {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			return rest, true
		}
	}
	return s, false
}

// IsProgram reports whether path names lidguard or lidguard-hook: for entries
// that give program and arguments apart.
func IsProgram(path string) bool { return callsProgram(path + " ") }
