package cli

import (
	"errors"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/spf13/cobra"
)

// MacPower is the way to the power rights of a Mac.
type MacPower struct {
	Person
	Rule daemon.SudoRule
}

func (a *app) macOSPermissionCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "macos-permission status|check|install|remove",
		Short: "the rights to ignore the lid and to hibernate (macOS)",
		Example: `lidguard macos-permission check
lidguard macos-permission install`,
		Long: "Holding off idle sleep needs nothing of this. Ignoring the lid, hibernating and reading\n" +
			"temperatures are for root on macOS. install writes one sudoers file that lets one user\n" +
			"run exactly six commands without a password; visudo checks it before it counts.",
	}
	open := func() (*MacPower, error) {
		if a.MacPower == nil {
			return nil, a.notMacOS()
		}
		return a.MacPower, nil
	}
	addPermission(a, cmd, open, a.macStatus, a.macCheck, a.macPermission,
		"Exit code 0 when the rule is there. Only root may read it; check tells whether it works.",
		"Asks sudo about each command; nothing is run. Exit code 0 when every right is there,\nelse 1.")
	return cmd
}

// macPermission is sudo's rule.
func (a *app) macPermission(p *MacPower) (permission, Person) {
	return permission{
		name: "macos-permission", path: p.Rule.Path(), sudo: "/usr/bin/sudo", text: daemon.SudoText,
		exists: func() bool { return p.Rule.State().State != daemon.SudoMissing },
		write:  p.Rule.Install,
		remove: p.Rule.Remove,
		check:  func(cmd *cobra.Command) error { return a.macCheck(cmd, p) },
	}, p.Person
}

// notMacOS says what there is instead.
func (a *app) notMacOS() error {
	err := errors.New("macos-permission is about sudo's rules for pmset, which only macOS has")
	switch a.GOOS {
	case "linux":
		return hint(err, "on Linux it is `lidguard linux-permission`")
	case "windows":
		return hint(err, "on Windows nothing needs to be permitted")
	}
	return hint(err, "`lidguard doctor` says what is in the way on this system")
}

func (a *app) macStatus(_ *cobra.Command, p *MacPower) error {
	s := p.Rule.State()
	err := a.result(s, func() {
		line := s.State
		switch {
		case s.State == daemon.SudoUnreadable:
			line = "there is a rule, which only root may read"
		case s.User != "":
			line += " for " + s.User
		}
		a.say("%s (%s)", line, s.File)
		if s.State == daemon.SudoUnreadable {
			a.note("`lidguard macos-permission check` tells whether it works")
		}
	})
	there := s.State == daemon.SudoUnreadable || s.State == daemon.SudoInstalled && s.User == p.User
	if err == nil && !there {
		return errNo{}
	}
	return err
}

// macReport is what `macos-permission check --json` prints.
type macReport struct {
	OK     bool               `json:"ok"`
	Rights []daemon.SudoRight `json:"rights"`
}

func (a *app) macCheck(cmd *cobra.Command, p *MacPower) error {
	rights := p.Rule.Check(cmd.Context())
	report := macReport{OK: daemon.SudoOK(rights), Rights: rights}
	err := a.result(report, func() {
		var rows [][]string
		for _, r := range rights {
			word := a.paint(green, "yes")
			if !r.OK {
				word = a.paint(red, "no")
			}
			rows = append(rows, []string{word, r.Command, r.Why})
		}
		a.table("", rows)
		if !report.OK {
			a.note("`lidguard macos-permission install` grants what is missing")
		}
	})
	if err == nil && !report.OK {
		return errNo{}
	}
	return err
}
