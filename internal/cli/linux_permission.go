package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/spf13/cobra"
)

// Power is the way to the power rights of a Linux machine.
type Power struct {
	Rule  daemon.PowerRule
	Check func(ctx context.Context) daemon.Rights
	// User is the person's name, and Root whether this process may write for
	// the whole system. Under sudo, User is who called it.
	User string
	Root bool
	// Sudo runs a command line as root, with the person's terminal.
	Sudo func(ctx context.Context, argv []string) error
}

func (a *app) linuxPermissionCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "linux-permission status|check|install|remove",
		Short: "the rights to hold off and ask for sleep (Linux)",
		Example: `lidguard linux-permission check
lidguard linux-permission install`,
		Long: "Somebody who sits at the machine needs nothing of this. Without an active session, as\n" +
			"over ssh or from cron, the system lets nobody hold off the lid or ask for sleep, and\n" +
			"with a second user logged in sleep is refused. install writes one polkit rule that\n" +
			"grants one user exactly seven actions; remove deletes it.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef(cmd, "linux-permission is followed by status, check, install or remove")
		},
	}
	sub := func(c *cobra.Command, run func(*cobra.Command, *Power) error) {
		c.Args = noArgs
		c.DisableFlagsInUseLine = true
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			if a.Power == nil {
				return a.notLinux()
			}
			return run(cmd, a.Power)
		}
		cmd.AddCommand(c)
	}
	sub(&cobra.Command{Use: "status", Short: "is the rule installed", Example: "lidguard linux-permission status",
		Long: "Exit code 0 when the rule is installed for you, else 1."}, a.permissionStatus)
	sub(&cobra.Command{Use: "check", Short: "prove each right without suspending", Example: "lidguard linux-permission check",
		Long: "Asks polkit about each action for this very process, and login1 whether it would\nsuspend. Exit code 0 when every right is there, else 1."}, a.permissionCheck)
	var user string
	var dryRun bool
	install := &cobra.Command{Use: "install [--user NAME]", Short: "write the rule", Example: "lidguard linux-permission install",
		Long: "Shows the rule, and writes it as root or through one sudo, which may ask for your\npassword."}
	install.Flags().StringVar(&user, "user", "", "whom to grant the rights to (`NAME`), instead of you")
	addSwitch(install.Flags(), &dryRun, "dry-run", "show the rule and write nothing")
	sub(install, func(cmd *cobra.Command, p *Power) error { return a.permissionInstall(cmd, p, user, dryRun) })
	sub(&cobra.Command{Use: "remove", Short: "delete the rule", Example: "lidguard linux-permission remove",
		Long: "Deletes only a file that carries lidguard's marks, as root or through one sudo."}, a.permissionRemove)
	return cmd
}

// notLinux says what there is instead.
func (a *app) notLinux() error {
	err := errors.New("linux-permission is about polkit, which only Linux has")
	switch a.GOOS {
	case "darwin":
		return hint(err, "on macOS it is `lidguard macos-permission`")
	case "windows":
		return hint(err, "on Windows nothing needs to be permitted")
	}
	return hint(err, "`lidguard doctor` says what is in the way on this system")
}

func (a *app) permissionStatus(_ *cobra.Command, p *Power) error {
	s := p.Rule.State()
	err := a.result(s, func() {
		line := s.State
		if s.User != "" {
			line += " for " + s.User
		}
		if s.Detail != "" {
			line += ": " + s.Detail
		}
		a.say("%s (%s)", line, s.File)
		if s.State == "unreadable" {
			a.note("only root reads the rules here; `lidguard linux-permission check` tells whether they work")
		}
	})
	if err == nil && (s.State != daemon.RuleInstalled || s.User != p.User) {
		return errNo{}
	}
	return err
}

// permissionReport is what `linux-permission check --json` prints.
type permissionReport struct {
	OK bool `json:"ok"`
	daemon.Rights
}

func (a *app) permissionCheck(cmd *cobra.Command, p *Power) error {
	r := p.Check(cmd.Context())
	report := permissionReport{OK: r.Login1 == "" && r.Guest != "wsl" && len(r.Missing()) == 0, Rights: r}
	err := a.result(report, func() { a.showRights(r) })
	if err == nil && !report.OK {
		return errNo{}
	}
	return err
}

func (a *app) showRights(r daemon.Rights) {
	var rows [][]string
	for _, v := range r.Verdicts {
		word := a.paint(green, v.Verdict)
		if v.Verdict != "yes" {
			word = a.paint(red, v.Verdict)
		}
		rows = append(rows, []string{word, strings.TrimPrefix(v.Action, "org.freedesktop.login1."), v.For})
	}
	a.table("", rows)
	rows = nil
	if r.Login1 != "" {
		rows = append(rows, []string{"login1", r.Login1})
	} else {
		rows = append(rows, []string{"can suspend", or(r.CanSuspend, "unknown")}, []string{"can hibernate", or(r.CanHibernate, "unknown")},
			[]string{"session", sessionWords(r)})
	}
	if r.Polkit != "" {
		rows = append(rows, []string{"polkit", r.Polkit})
	}
	if r.Guest != "" {
		rows = append(rows, []string{"guest", guestWords(r.Guest)})
	}
	a.table("", rows)
	if len(r.Missing()) > 0 && r.Login1 == "" {
		a.note("`lidguard linux-permission install` grants what is missing")
	}
}

func sessionWords(r daemon.Rights) string {
	switch s := r.Session; {
	case s.ID == "":
		return "none: nobody is logged in where this program runs"
	case s.Active && s.Remote:
		return s.ID + ", active, over the network"
	case s.Active:
		return s.ID + ", active"
	default:
		return s.ID + ", not active"
	}
}

// guestWords explain daemon.Rights.Guest.
func guestWords(guest string) string {
	if guest == "wsl" {
		return "this Linux is a guest of Windows (WSL); only the host can be kept awake: run lidguard on the Windows side"
	}
	return "this is a container (" + guest + "); only the host can be kept awake: run lidguard there"
}

func (a *app) permissionInstall(cmd *cobra.Command, p *Power, user string, dryRun bool) error {
	if user == "" {
		user = p.User
	}
	text, err := daemon.RuleText(user)
	if err != nil {
		return hint(&usageError{err}, "name the user who runs the agents: `lidguard linux-permission install --user NAME`")
	}
	if !a.json && (dryRun || !p.Root) {
		a.heading(p.Rule.Path())
		_ = a.raw(text)
	}
	if dryRun {
		if a.json {
			return a.result(struct {
				File string `json:"file"`
				Text string `json:"text"`
			}{p.Rule.Path(), string(text)}, func() {})
		}
		return nil
	}
	if !p.Root {
		if err := a.sudo(cmd.Context(), p, "install", "--user", user); err != nil {
			return err
		}
		if user != p.User {
			a.note("`lidguard linux-permission check`, run by %s, proves it", user)
			return nil
		}
		return a.permissionCheck(cmd, p)
	}
	changed, err := p.Rule.Install(user)
	if err != nil {
		return hint(err, "`lidguard linux-permission status` tells what stands there")
	}
	return a.permissionDone(p, changed, "installed for "+user)
}

func (a *app) permissionRemove(cmd *cobra.Command, p *Power) error {
	if !p.Root {
		if p.Rule.State().State == daemon.RuleMissing {
			return a.permissionDone(p, false, "")
		}
		return a.sudo(cmd.Context(), p, "remove")
	}
	removed, err := p.Rule.Remove()
	if err != nil {
		return hint(err, "it was left alone; look at it, and delete it by hand if you want")
	}
	return a.permissionDone(p, removed, "removed")
}

// permissionDone tells what became of the rule.
func (a *app) permissionDone(p *Power, changed bool, what string) error {
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

// sudo runs this program once more, as root. Where no person sits at a terminal it
// may not ask for a password.
func (a *app) sudo(ctx context.Context, p *Power, args ...string) error {
	path := a.find("sudo")
	line := append([]string{a.Executable, "linux-permission"}, args...)
	byHand := "run it as root: `" + strings.Join(line, " ") + "`"
	if path == "" || p.Sudo == nil {
		return hint(errors.New("only root can write the rules, and there is no sudo here"), byHand)
	}
	argv := []string{path}
	if !a.interactive {
		argv = append(argv, "-n")
	}
	argv = append(append(argv, "--"), line...)
	if a.json {
		argv = append(argv, "--json")
	}
	a.note("running %s", strings.Join(argv, " "))
	if err := p.Sudo(ctx, argv); err != nil {
		return hint(fmt.Errorf("`%s` ended with %w", strings.Join(argv, " "), err), byHand)
	}
	return nil
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
