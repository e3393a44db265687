package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/spf13/cobra"
)

// MacPower is the way to the power rights of a Mac.
type MacPower struct {
	Rule daemon.SudoRule
	// User is the person's name, and Root whether this process may write for
	// the whole system. Under sudo, User is who called it.
	User string
	Root bool
	// Sudo runs a command line as root, with the person's terminal.
	Sudo func(ctx context.Context, argv []string) error
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
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef(cmd, "macos-permission is followed by status, check, install or remove")
		},
	}
	sub := func(c *cobra.Command, run func(*cobra.Command, *MacPower) error) {
		c.Args = noArgs
		c.DisableFlagsInUseLine = true
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			if a.MacPower == nil {
				return a.notMacOS()
			}
			return run(cmd, a.MacPower)
		}
		cmd.AddCommand(c)
	}
	sub(&cobra.Command{Use: "status", Short: "is the rule installed", Example: "lidguard macos-permission status",
		Long: "Exit code 0 when the rule is there. Only root may read it; check tells whether it works."}, a.macStatus)
	sub(&cobra.Command{Use: "check", Short: "prove each right without using it", Example: "lidguard macos-permission check",
		Long: "Asks sudo about each command; nothing is run. Exit code 0 when every right is there,\nelse 1."}, a.macCheck)
	var user string
	var dryRun bool
	install := &cobra.Command{Use: "install [--user NAME]", Short: "write the rule", Example: "lidguard macos-permission install",
		Long: "Shows the rule, and writes it as root or through one sudo, which may ask for your\npassword."}
	install.Flags().StringVar(&user, "user", "", "whom to grant the rights to (`NAME`), instead of you")
	addSwitch(install.Flags(), &dryRun, "dry-run", "show the rule and write nothing")
	sub(install, func(cmd *cobra.Command, p *MacPower) error { return a.macInstall(cmd, p, user, dryRun) })
	sub(&cobra.Command{Use: "remove", Short: "delete the rule", Example: "lidguard macos-permission remove",
		Long: "Deletes only a file that carries lidguard's marks, as root or through one sudo."}, a.macRemove)
	return cmd
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

func (a *app) macInstall(cmd *cobra.Command, p *MacPower, user string, dryRun bool) error {
	if user == "" {
		user = p.User
	}
	text, err := daemon.SudoText(user)
	if err != nil {
		return hint(&usageError{err}, "name the user who runs the agents: `lidguard macos-permission install --user NAME`")
	}
	if !a.json && (dryRun || !p.Root) {
		a.heading(p.Rule.Path())
		_ = a.raw(text)
	}
	if dryRun {
		return a.result(struct {
			File string `json:"file"`
			Text string `json:"text"`
		}{p.Rule.Path(), string(text)}, func() {})
	}
	if !p.Root {
		if err := a.macSudo(cmd.Context(), p, "install", "--user", user); err != nil {
			return err
		}
		if user != p.User {
			a.note("`lidguard macos-permission check`, run by %s, proves it", user)
			return nil
		}
		return a.macCheck(cmd, p)
	}
	changed, err := p.Rule.Install(cmd.Context(), user)
	if err != nil {
		return hint(err, "`lidguard macos-permission status` tells what stands there")
	}
	return a.macDone(p, changed, "installed for "+user)
}

func (a *app) macRemove(cmd *cobra.Command, p *MacPower) error {
	if !p.Root {
		if p.Rule.State().State == daemon.SudoMissing {
			return a.macDone(p, false, "")
		}
		return a.macSudo(cmd.Context(), p, "remove")
	}
	removed, err := p.Rule.Remove()
	if err != nil {
		return hint(err, "it was left alone; look at it, and delete it by hand if you want")
	}
	return a.macDone(p, removed, "removed")
}

// macDone tells what became of the rule.
func (a *app) macDone(p *MacPower, changed bool, what string) error {
	return a.result(struct {
		Changed bool   `json:"changed"`
		File    string `json:"file"`
	}{changed, p.Rule.Path()}, func() {
		if changed {
			a.say("%s: %s", what, p.Rule.Path())
		} else {
			a.say("nothing to change")
		}
	})
}

// macSudo runs this program once more, as root. Where no person sits at a
// terminal it may not ask for a password.
func (a *app) macSudo(ctx context.Context, p *MacPower, args ...string) error {
	line := append([]string{a.Executable, "macos-permission"}, args...)
	argv := []string{"/usr/bin/sudo"}
	if !a.interactive {
		argv = append(argv, "-n")
	}
	argv = append(append(argv, "--"), line...)
	if a.json {
		argv = append(argv, "--json")
	}
	a.note("running %s", strings.Join(argv, " "))
	if err := p.Sudo(ctx, argv); err != nil {
		return hint(fmt.Errorf("`%s` ended with %w", strings.Join(argv, " "), err),
			"run it as root: `sudo "+strings.Join(line, " ")+"`")
	}
	return nil
}
