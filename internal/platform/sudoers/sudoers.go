// Package sudoers is the rule by which macOS lets one user run lidguard's few
// commands as root without a password. In come a user's name and a way to run
// programs; out go a file with marks of ours, validated before it counts, and
// what sudo says of each right. It never changes a rule of anybody else, and
// checks rights without using them.
package sudoers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/platform/command"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
	"github.com/lidguard-go/lidguard/internal/platform/thermal"
)

const (
	visudoPath = "/usr/sbin/visudo"
	sudoPath   = "/usr/bin/sudo"
)

// The marks are the first and the last line of our file; without both it is not
// ours.
const (
	markBegin = "# lidguard begin: written by `lidguard macos-permission install`, deleted by `lidguard macos-permission remove`"
	markEnd   = "# lidguard end"
)

// Commands are what the rule allows, word by word and nothing else.
func Commands() []string {
	var all []string
	for _, words := range append(sleep.PmsetRights(), thermal.Powermetrics()) {
		all = append(all, strings.Join(words, " "))
	}
	return all
}

// Text is the rule for one user.
func Text(user string) ([]byte, error) {
	// Names that mean something else to sudo (ALL, %group, #id, +netgroup) or
	// would need quoting are no account names of macOS either.
	if user == "ALL" || user == "root" || !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]{0,254}$`).MatchString(user) {
		return nil, fmt.Errorf("%q is no user name that a rule can be written for", user)
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, markBegin)
	for _, c := range Commands() {
		fmt.Fprintf(&b, "%s ALL=(root) NOPASSWD: %s\n", user, c)
	}
	fmt.Fprintln(&b, markEnd)
	return b.Bytes(), nil
}

// States of the file.
const (
	Installed  = "installed"
	Missing    = "missing"
	Outdated   = "outdated"   // ours, of another version or edited since
	Foreign    = "foreign"    // a file of that name without our marks
	Unreadable = "unreadable" // sudo's files are for root's eyes
)

// State is what stands at the file's place.
type State struct {
	State string `json:"state"`
	User  string `json:"user,omitempty"` // of an installed rule
	File  string `json:"file"`
}

// Rule is the file.
type Rule struct {
	// Root is prefixed to the path, for tests.
	Root string
	Run  command.Runner
}

// Path is the file's. sudo reads every file of that folder whose name has no dot.
func (r Rule) Path() string { return filepath.Join(r.Root, "/private/etc/sudoers.d/lidguard") }

// State tells what stands there.
func (r Rule) State() State {
	s := State{State: Missing, File: r.Path()}
	data, err := os.ReadFile(r.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s
	case err != nil:
		s.State = Unreadable
		return s
	case !ours(data):
		s.State = Foreign
		return s
	}
	s.State = Outdated
	for line := range strings.Lines(string(data)) {
		if user, _, ok := strings.Cut(line, " ALL=(root) NOPASSWD: "); ok {
			if want, err := Text(user); err == nil && bytes.Equal(want, data) {
				s.State, s.User = Installed, user
			}
			break
		}
	}
	return s
}

func ours(data []byte) bool {
	return bytes.HasPrefix(data, []byte(markBegin+"\n")) && bytes.HasSuffix(data, []byte("\n"+markEnd+"\n"))
}

// Install writes the rule as root: beside its place, under a name that sudo does
// not read, checked there by visudo, then moved in place at once. It reports
// whether anything changed, and leaves a foreign file and another user's rule alone.
func (r Rule) Install(ctx context.Context, user string) (changed bool, err error) {
	text, err := Text(user)
	if err != nil {
		return false, err
	}
	switch s := r.State(); {
	case s.State == Foreign || s.State == Unreadable:
		return false, fmt.Errorf("%s is %s: not written by lidguard, and left alone", r.Path(), s.State)
	case s.State == Installed && s.User == user:
		return false, nil
	case s.State == Installed:
		return false, fmt.Errorf("%s is for user %q; remove it first", r.Path(), s.User)
	}
	if err := os.MkdirAll(filepath.Dir(r.Path()), 0o755); err != nil {
		return false, err
	}
	beside := r.Path() + ".new"
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	defer os.Remove(beside) // gone already where it was moved
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o440)
	if err != nil {
		return false, err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(beside, 0o440) // sudo accepts no other mode; the umask may
	}
	if err != nil {
		return false, fmt.Errorf("writing %s: %w", beside, err)
	}
	if _, err := r.Run.Output(ctx, visudoPath, "-cf", beside); err != nil {
		return false, fmt.Errorf("the rule was not put in place, since visudo does not accept it: %w", err)
	}
	if err := os.Rename(beside, r.Path()); err != nil {
		return false, err
	}
	return true, nil
}

// Remove deletes the file as root, if it carries our marks. It reports whether
// there was one.
func (r Rule) Remove() (removed bool, err error) {
	switch s := r.State(); s.State {
	case Missing:
		return false, nil
	case Foreign, Unreadable:
		return false, fmt.Errorf("%s is %s: not written by lidguard, and left alone", r.Path(), s.State)
	}
	return true, os.Remove(r.Path())
}

// A Right is one command with sudo's word on it.
type Right struct {
	Command string `json:"command"`
	For     string `json:"for"` // what lidguard does with it, in words
	OK      bool   `json:"ok"`  // without a password
	Why     string `json:"why,omitempty"`
}

// Check asks sudo about each command, for the user of this process. Nothing is
// run. `sudo -n -l COMMAND` alone also says yes to what an administrator may do
// with a password, so the list of rules must have it without one.
func (r Rule) Check(ctx context.Context) []Right {
	list, err := r.Run.Output(ctx, sudoPath, "-n", "-l")
	free := parseList(string(list))
	var rights []Right
	for _, c := range Commands() {
		right := Right{Command: c, For: purpose(c)}
		_, each := r.Run.Output(ctx, sudoPath, append([]string{"-n", "-l"}, strings.Fields(c)...)...)
		switch {
		case each != nil:
			right.Why = each.Error()
		case err != nil:
			right.Why = err.Error()
		case !free(c):
			right.Why = "only with a password"
		default:
			right.OK = true
		}
		rights = append(rights, right)
	}
	return rights
}

// purpose is what a command of the rule is for.
func purpose(c string) string {
	switch {
	case strings.Contains(c, " "+sleep.DisableSleep+" "):
		return "keep the lid from suspending"
	case strings.Contains(c, " "+sleep.HibernateMode+" "):
		return "hibernate"
	}
	return "read temperatures"
}

// parseList reads the answer of `sudo -l` and returns which commands need no
// password:
//
//	User lab may run the following commands on mac:
//	    (ALL) ALL
//	    (root) NOPASSWD: /usr/bin/pmset -a disablesleep 0, /usr/bin/pmset -a …
//
// Of several rules for one command the last counts (sudoers(5)); a tag stays for
// the rest of its line.
func parseList(out string) func(string) bool {
	_, rules, _ := strings.Cut(out, "may run the following commands on ")
	_, rules, _ = strings.Cut(rules, "\n")
	return func(wanted string) bool {
		free := false
		for line := range strings.Lines(rules) {
			_, list, ok := strings.Cut(strings.TrimSpace(line), ") ")
			if !ok || !strings.HasPrefix(line, " ") {
				continue
			}
			password := true
			for c := range strings.SplitSeq(list, ", ") {
				c = strings.TrimSpace(c)
				for tagged := true; tagged; {
					tag, rest, found := strings.Cut(c, ": ")
					if tagged = found && tag != "" && strings.ToUpper(tag) == tag && !strings.ContainsAny(tag, " /"); tagged {
						c = rest
						switch tag {
						case "NOPASSWD":
							password = false
						case "PASSWD":
							password = true
						}
					}
				}
				if c == "ALL" || c == wanted || c == strings.Fields(wanted)[0] {
					free = !password
				}
			}
		}
		return free
	}
}

// OK reports whether every right is there.
func OK(rights []Right) bool {
	return !slices.ContainsFunc(rights, func(r Right) bool { return !r.OK })
}
