package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/spf13/cobra"
)

// Power is the way to the power rights of a Linux machine.
type Power struct {
	Person
	Rule  daemon.PowerRule
	Check func(ctx context.Context) daemon.Rights
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
	}
	open := func() (*Power, error) {
		if a.Power == nil {
			return nil, a.notLinux()
		}
		return a.Power, nil
	}
	addPermission(a, cmd, open, a.permissionStatus, a.permissionCheck, a.linuxPermission,
		"Exit code 0 when the rule is installed for you, else 1.",
		"Asks polkit about each action for this very process, and login1 whether it would\nsuspend. Exit code 0 when every right is there, else 1.")
	return cmd
}

// linuxPermission is polkit's rule.
func (a *app) linuxPermission(p *Power) (permission, Person) {
	return permission{
		name: "linux-permission", path: p.Rule.Path(), sudo: a.find("sudo"), text: daemon.RuleText,
		exists: func() bool { return p.Rule.State().State != daemon.RuleMissing },
		write:  func(_ context.Context, user string) (bool, error) { return p.Rule.Install(user) },
		remove: p.Rule.Remove,
		check:  func(cmd *cobra.Command) error { return a.permissionCheck(cmd, p) },
	}, p.Person
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
	for _, d := range r.IdleDaemons {
		word := d.Name + ", heeds login1's locks"
		if !d.AsksLogin1 {
			word = d.Name + ", does not heed login1's locks"
		}
		rows = append(rows, []string{"idle daemon", word})
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

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
