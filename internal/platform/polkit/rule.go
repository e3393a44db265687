// Package polkit is the standing permission that lidguard needs on some Linux
// machines. In come a user's name and the bus; out go a rule file for polkit
// that grants that user seven actions of login1 and no more, its state, and what
// polkit and login1 say this process may do. It writes and deletes only a file
// that carries its own marks, asks nobody for a password, and never suspends.
package polkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// RuleFile is where the rule stands. polkit reads rule files in the order of
// their names, and the first that answers wins (polkit(8), AUTHORIZATION RULES);
// 49 comes before the distributions' own, which begin with 50.
const RuleFile = "/etc/polkit-1/rules.d/49-lidguard.rules"

// Action is one action of login1 that lidguard needs (org.freedesktop.login1(5),
// and the .policy file of the same name).
type Action struct {
	ID  string
	For string // what it is for, in words
}

// Actions are all that the rule grants, in the order people see them.
func Actions() []Action {
	return []Action{
		{"org.freedesktop.login1.inhibit-block-idle", "keep the machine from sleeping by itself"},
		{"org.freedesktop.login1.inhibit-handle-lid-switch", "keep it awake with the lid closed"},
		{"org.freedesktop.login1.inhibit-block-sleep", "hold off every sleep (prevent-system-sleep strict)"},
		{"org.freedesktop.login1.suspend", "let it sleep after the work"},
		{"org.freedesktop.login1.suspend-multiple-sessions", "the same while another user is logged in"},
		{"org.freedesktop.login1.hibernate", "hibernate in an emergency"},
		{"org.freedesktop.login1.hibernate-multiple-sessions", "the same while another user is logged in"},
	}
}

const (
	firstLine = "// lidguard: rule 1 for user "
	lastLine  = "// lidguard: end of the rule"
)

// Text is the rule for one user, as it is written.
func Text(user string) ([]byte, error) {
	if err := checkUser(user); err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%q\n", firstLine, user)
	b.WriteString("// Written by `lidguard linux-permission install`; `lidguard linux-permission remove` deletes it.\n")
	b.WriteString("polkit.addRule(function (action, subject) {\n    var actions = [\n")
	for _, a := range Actions() {
		fmt.Fprintf(&b, "        %q,\n", a.ID)
	}
	fmt.Fprintf(&b, "    ];\n    if (subject.user === %q && actions.indexOf(action.id) >= 0) {\n        return polkit.Result.YES;\n    }\n});\n", user)
	b.WriteString(lastLine + "\n")
	return []byte(b.String()), nil
}

// checkUser refuses what is no name of a Linux user (useradd(8), CAVEATS, and the
// dots and capitals that directories allow), or is root, who needs no rule. The
// name becomes part of a program that polkit runs.
func checkUser(user string) error {
	good := user != "" && len(user) <= 64 && user[0] != '-' && user[0] != '.'
	for _, r := range user {
		good = good && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.@", r))
	}
	switch {
	case !good:
		return fmt.Errorf("%q is no user name that a rule can be written for", user)
	case user == "root":
		return errors.New("root needs no rule")
	}
	return nil
}

// The states of the rule file.
const (
	Installed  = "installed"
	Outdated   = "outdated" // ours, not as this version writes it
	Missing    = "missing"
	Foreign    = "foreign"    // somebody else's file, or one that was changed
	Unreadable = "unreadable" // rules are for root's eyes only on many systems
)

// State is the rule file as it stands.
type State struct {
	File   string `json:"file"`
	State  string `json:"state"`
	User   string `json:"user,omitempty"` // whom it is for
	Detail string `json:"detail,omitempty"`
}

// ErrForeign is matched when the file does not carry lidguard's marks.
var ErrForeign = errors.New("the file is not lidguard's")

// ErrNoPolkit is matched where there is no folder for rules.
var ErrNoPolkit = errors.New("polkit reads no rules here")

// Rule is the rule file below Root; an empty Root is the real system.
type Rule struct{ Root string }

// Path is the file.
func (r Rule) Path() string { return filepath.Join("/", r.Root, RuleFile) }

// State reads the file.
func (r Rule) State() State {
	s := State{File: r.Path()}
	data, err := r.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.State = Missing
	case errors.Is(err, ErrForeign):
		s.State, s.Detail = Foreign, "it does not carry lidguard's marks"
	case err != nil:
		s.State, s.Detail = Unreadable, reason(err)
	default:
		s.State, s.User = Outdated, owner(data)
		if want, err := Text(s.User); err == nil && string(want) == string(data) {
			s.State = Installed
		}
	}
	return s
}

// reason is err without the path, which the state has already.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// read returns the content of our file. The error matches ErrForeign for any
// other, a symlink included: as root, following one would write elsewhere.
func (r Rule) read() ([]byte, error) {
	info, err := os.Lstat(r.Path())
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return nil, fmt.Errorf("%q: %w", r.Path(), ErrForeign)
	}
	data, err := os.ReadFile(r.Path())
	if err != nil {
		return nil, err
	}
	if owner(data) == "" || !strings.HasSuffix(string(data), "\n"+lastLine+"\n") {
		return nil, fmt.Errorf("%q: %w", r.Path(), ErrForeign)
	}
	return data, nil
}

// owner is the user whom our first line names; empty if it is not ours.
func owner(data []byte) string {
	line, _, _ := strings.Cut(string(data), "\n")
	quoted, ours := strings.CutPrefix(line, firstLine)
	var user string
	if !ours || json.Unmarshal([]byte(quoted), &user) != nil || checkUser(user) != nil {
		return ""
	}
	return user
}

// Install writes the rule for user, which needs root, and reports whether
// anything changed. A rule for another user, or somebody else's file, is left
// alone. polkit notices the file by itself.
func (r Rule) Install(user string) (changed bool, err error) {
	text, err := Text(user)
	if err != nil {
		return false, err
	}
	dir := filepath.Dir(r.Path())
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return false, fmt.Errorf("%w: there is no folder %s", ErrNoPolkit, dir)
	}
	have, err := r.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	case string(have) == string(text):
		return false, nil
	case owner(have) != user:
		return false, fmt.Errorf("%s is for user %q; remove it first", r.Path(), owner(have))
	}
	// Beside, under a name that polkit does not read, then renamed: it never
	// sees half a rule.
	f, err := os.CreateTemp(dir, ".lidguard-*.new")
	if err != nil {
		return false, err
	}
	_, err = f.Write(text)
	// Readable by polkitd, which does not run as root, whatever the umask.
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), r.Path())
	}
	if err != nil {
		os.Remove(f.Name())
		return false, err
	}
	return true, nil
}

// Remove deletes the rule, whomever it is for, and reports whether there was one.
// A file without lidguard's marks is left alone.
func (r Rule) Remove() (removed bool, err error) {
	switch _, err := r.read(); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, os.Remove(r.Path())
}
