package sleep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// The programs of macOS, where it keeps them. sudo -n never asks: without the
// rule that `lidguard macos-permission install` writes it fails at once.
const (
	pmsetPath = "/usr/bin/pmset"
	sudoPath  = "/usr/bin/sudo"
)

// The names of macOS's lasting values (pmset(1)).
const (
	// DisableSleep is "1" where nothing but a low battery puts the Mac to sleep:
	// not the lid, not the menu, not pmset sleepnow. It outlives a reboot.
	DisableSleep = "disablesleep"
	// HibernateMode is what a sleep does: "0" keeps memory powered, "3" also
	// writes it to the disk, "25" writes it and powers memory off.
	HibernateMode = "hibernatemode"
)

// settable are the values that the sudoers rule allows.
var settable = map[string][]string{DisableSleep: {"0", "1"}, HibernateMode: {"0", "3", "25"}}

// PmsetRights are the commands of Pmset that need root, word by word as the
// sudoers rule must have them, in a fixed order.
func PmsetRights() [][]string {
	var all [][]string
	for _, name := range []string{DisableSleep, HibernateMode} {
		for _, value := range settable[name] {
			all = append(all, setArgs(name, value))
		}
	}
	return all
}

func setArgs(name, value string) []string { return []string{pmsetPath, "-a", name, value} }

// NotPermittedError says that sudo does not let this user run a command without
// a password.
type NotPermittedError struct {
	Command string
	Why     string // sudo's own words
}

// Error names the command and the answer.
func (e *NotPermittedError) Error() string {
	return fmt.Sprintf("not permitted to run %q as root: %s", e.Command, e.Why)
}

// Pmset reads and writes macOS's power settings, asks what holds the Mac awake,
// and puts it to sleep. It is the lasting.Values of macOS, with the names above.
type Pmset struct{ Run command.Runner }

// Read returns the value of DisableSleep or HibernateMode that counts now.
// Hibernate modes that differ between battery and charger have no one value:
// that is an error, since they could not be put back. ErrUnsupported is matched
// where this Mac has no such value.
func (p Pmset) Read(ctx context.Context, name string) (string, error) {
	args, parse := []string{"-g"}, parseDisableSleep
	switch name {
	case DisableSleep:
	case HibernateMode:
		args, parse = []string{"-g", "custom"}, parseHibernateMode
	default:
		return "", fmt.Errorf("reading %q: %w", name, ErrUnsupported)
	}
	out, err := p.Run.Output(ctx, pmsetPath, args...)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return parse(string(out))
}

// Write sets a value for every power source. pmset may say yes and change
// nothing, so its word is no proof. Errors match *NotPermittedError where the
// right is missing.
func (p Pmset) Write(ctx context.Context, name, value string) error {
	if err := p.Settable(name, value); err != nil {
		return err
	}
	return p.sudo(ctx, "", setArgs(name, value))
}

// Settable tells without asking the system whether the sudoers rule covers a
// value. One that it does not cover must not be changed: it could not be put
// back.
func (p Pmset) Settable(name, value string) error {
	if !slices.Contains(settable[name], value) {
		return fmt.Errorf("%s %q is none of the values that lidguard may set", name, value)
	}
	return nil
}

// MaySet tells, without changing anything, whether Write would be let through.
func (p Pmset) MaySet(ctx context.Context, name, value string) error {
	if err := p.Settable(name, value); err != nil {
		return err
	}
	return p.sudo(ctx, "-l", setArgs(name, value))
}

// sudo runs a command as root, or with the option -l asks whether it may.
func (p Pmset) sudo(ctx context.Context, option string, words []string) error {
	args := []string{"-n"}
	if option != "" {
		args = append(args, option)
	}
	_, err := p.Run.Output(ctx, sudoPath, append(args, words...)...)
	var exit *command.ExitError
	if errors.As(err, &exit) && refusedBySudo(exit) {
		return &NotPermittedError{Command: strings.Join(words, " "), Why: exit.Stderr}
	}
	return err
}

// refusedBySudo tells sudo's own refusals from failures of the program it ran.
// sudo(8): it exits with 1 when it cannot run the command.
func refusedBySudo(e *command.ExitError) bool {
	return e.Code == 1 && (e.Stderr == "" || strings.HasPrefix(e.Stderr, "sudo:") || strings.HasPrefix(e.Stderr, "Sorry, user "))
}

// SleepNow puts the Mac to sleep, which needs no root. It returns once macOS
// accepted, which is before the sleep.
func (p Pmset) SleepNow(ctx context.Context) error {
	if _, err := p.Run.Output(ctx, pmsetPath, "sleepnow"); err != nil {
		return fmt.Errorf("asking for sleep: %w", err)
	}
	return nil
}

// An Assertion is one hold of one process, as macOS has it.
type Assertion struct {
	PID  int
	Type string // as in "PreventUserIdleSystemSleep"
}

// Assertions returns what holds the Mac awake, of whatever process.
func (p Pmset) Assertions(ctx context.Context) ([]Assertion, error) {
	out, err := p.Run.Output(ctx, pmsetPath, "-g", "assertions")
	if err != nil {
		return nil, fmt.Errorf("listing assertions: %w", err)
	}
	return parseAssertions(string(out))
}

// parseDisableSleep reads the answer of `pmset -g`:
//
//	System-wide power settings:
//	 SleepDisabled		0
//	Currently in use:
//	 standby              1
//	 …
//
// Where it was never set, releases leave the line out; it then is 0.
func parseDisableSleep(out string) (string, error) {
	known := false
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Currently in use:") || strings.HasPrefix(line, "System-wide power settings:") {
			known = true
		}
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "SleepDisabled" && f[0] != DisableSleep {
			continue
		}
		if f[1] != "0" && f[1] != "1" {
			return "", fmt.Errorf("reading %s: pmset says %q", DisableSleep, strings.TrimSpace(line))
		}
		return f[1], nil
	}
	if !known {
		return "", fmt.Errorf("reading %s: pmset's answer has no power settings", DisableSleep)
	}
	return "0", nil
}

// parseHibernateMode reads the answer of `pmset -g custom`:
//
//	Battery Power:
//	 hibernatemode        3
//	 …
//	AC Power:
//	 hibernatemode        3
func parseHibernateMode(out string) (string, error) {
	mode := ""
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] != HibernateMode {
			continue
		}
		if _, err := strconv.Atoi(f[1]); err != nil {
			return "", fmt.Errorf("reading %s: pmset says %q", HibernateMode, strings.TrimSpace(line))
		}
		if mode != "" && mode != f[1] {
			return "", fmt.Errorf("reading %s: it is %s for one power source and %s for another, so it could not be put back", HibernateMode, mode, f[1])
		}
		mode = f[1]
	}
	if mode == "" {
		return "", fmt.Errorf("this Mac has no %s: %w", HibernateMode, ErrUnsupported)
	}
	return mode, nil
}

// parseAssertions reads the second part of the answer of `pmset -g assertions`:
//
//	Listed by owning process:
//	   pid 80835(caffeinate): [0x000232f20001928f] 00:00:44 PreventUserIdleSystemSleep named: "caffeinate command-line tool"
//		Details: caffeinate asserting on behalf of Process ID 812
//
// The names of processes and assertions are other people's text.
func parseAssertions(out string) ([]Assertion, error) {
	_, list, ok := strings.Cut(out, "Listed by owning process:")
	if !ok {
		if !strings.Contains(out, "Assertion status system-wide:") {
			return nil, errors.New("listing assertions: pmset's answer has no list")
		}
		return nil, nil
	}
	var all []Assertion
	for line := range strings.Lines(list) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "pid ")
		if !ok {
			continue
		}
		digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
		pid, err := strconv.Atoi(text[:digits])
		if err != nil {
			continue
		}
		// "(name): [0x…] 00:00:44 Type named: …"; the name may contain anything
		// but the id's form is macOS's own.
		_, rest, ok := strings.Cut(text, "): [0x")
		if !ok {
			continue
		}
		rest, _, _ = strings.Cut(rest, " named: ")
		f := strings.Fields(rest)
		if len(f) < 2 {
			continue
		}
		all = append(all, Assertion{PID: pid, Type: f[len(f)-1]})
	}
	return all, nil
}
