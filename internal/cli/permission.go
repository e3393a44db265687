package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Person is who gives a command, and how they become root.
type Person struct {
	// User is the person's name, and Root whether this process may write for
	// the whole system. Under sudo, User is who called it.
	User string
	Root bool
	// Sudo runs a command line as root, with the person's terminal. nil: there
	// is no way to become root.
	Sudo func(ctx context.Context, argv []string) error
}

// permission is the part that `linux-permission` and `macos-permission` share:
// one file of the system's, written and deleted as root, that lets one user do a
// few things.
type permission struct {
	name   string // the command
	path   string // of the file
	sudo   string // sudo's path; empty: none here
	text   func(user string) ([]byte, error)
	exists func() bool
	// write and remove touch the file, as root, and report whether that changed
	// anything.
	write  func(ctx context.Context, user string) (bool, error)
	remove func() (bool, error)
	// check proves the rights.
	check func(*cobra.Command) error
}

// addPermission puts the four subcommands below cmd. open returns what this system
// has, or an error that says what it has instead.
func addPermission[T any](a *app, cmd *cobra.Command, open func() (T, error), status, check func(*cobra.Command, T) error,
	of func(T) (permission, Person), statusLong, checkLong string) {
	name := cmd.Name()
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return usagef(cmd, "%s is followed by status, check, install or remove", name)
	}
	sub := func(c *cobra.Command, run func(*cobra.Command, T) error) {
		c.Example = "lidguard " + name + " " + strings.Fields(c.Use)[0]
		c.Args = noArgs
		c.DisableFlagsInUseLine = true
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			p, err := open()
			if err != nil {
				return err
			}
			return run(cmd, p)
		}
		cmd.AddCommand(c)
	}
	sub(&cobra.Command{Use: "status", Short: "is the rule installed", Long: statusLong}, status)
	sub(&cobra.Command{Use: "check", Short: "prove each right without using it", Long: checkLong}, check)
	var user string
	var dryRun bool
	install := &cobra.Command{Use: "install [--user NAME]", Short: "write the rule",
		Long: "Shows the rule, and writes it as root or through one sudo, which may ask for your\npassword."}
	install.Flags().StringVar(&user, "user", "", "whom to grant the rights to (`NAME`), instead of you")
	addSwitch(install.Flags(), &dryRun, "dry-run", "show the rule and write nothing")
	sub(install, func(cmd *cobra.Command, t T) error {
		p, who := of(t)
		return a.grant(cmd, p, who, user, dryRun)
	})
	sub(&cobra.Command{Use: "remove", Short: "delete the rule",
		Long: "Deletes only a file that carries lidguard's marks, as root or through one sudo."}, func(cmd *cobra.Command, t T) error {
		p, who := of(t)
		return a.takeBack(cmd, p, who)
	})
}

func (a *app) grant(cmd *cobra.Command, p permission, who Person, user string, dryRun bool) error {
	if user == "" {
		user = who.User
	}
	text, err := p.text(user)
	if err != nil {
		return hint(&usageError{err}, "name the user who runs the agents: `lidguard "+p.name+" install --user NAME`")
	}
	if !a.json && (dryRun || !who.Root) {
		a.heading(p.path)
		_ = a.raw(text)
	}
	if dryRun {
		return a.result(struct {
			File string `json:"file"`
			Text string `json:"text"`
		}{p.path, string(text)}, func() {})
	}
	if !who.Root {
		if err := a.sudo(cmd.Context(), p, who, "install", "--user", user); err != nil {
			return err
		}
		if user != who.User {
			a.note("`lidguard %s check`, run by %s, proves it", p.name, user)
			return nil
		}
		return p.check(cmd)
	}
	changed, err := p.write(cmd.Context(), user)
	if err != nil {
		return hint(err, "`lidguard "+p.name+" status` tells what stands there")
	}
	return a.permissionDone(p, changed, "installed for "+user)
}

func (a *app) takeBack(cmd *cobra.Command, p permission, who Person) error {
	if !who.Root {
		if !p.exists() {
			return a.permissionDone(p, false, "")
		}
		return a.sudo(cmd.Context(), p, who, "remove")
	}
	removed, err := p.remove()
	if err != nil {
		return hint(err, "it was left alone; look at it, and delete it by hand if you want")
	}
	return a.permissionDone(p, removed, "removed")
}

// permissionDone tells what became of the rule.
func (a *app) permissionDone(p permission, changed bool, what string) error {
	return a.result(struct {
		Changed bool   `json:"changed"`
		File    string `json:"file"`
	}{changed, p.path}, func() {
		if changed {
			a.say("%s: %s", what, p.path)
		} else {
			a.say("nothing to change")
		}
	})
}

// sudo runs this program once more, as root. Where no person sits at a terminal it
// may not ask for a password.
func (a *app) sudo(ctx context.Context, p permission, who Person, args ...string) error {
	line := append([]string{a.Executable, p.name}, args...)
	byHand := "run it as root: `" + strings.Join(line, " ") + "`"
	if p.sudo == "" || who.Sudo == nil {
		return hint(errors.New("only root can write the rules, and there is no sudo here"), byHand)
	}
	argv := []string{p.sudo}
	if !a.interactive {
		argv = append(argv, "-n")
	}
	argv = append(append(argv, "--"), line...)
	if a.json {
		argv = append(argv, "--json")
	}
	a.note("running %s", strings.Join(argv, " "))
	if err := who.Sudo(ctx, argv); err != nil {
		return hint(fmt.Errorf("`%s` ended with %w", strings.Join(argv, " "), err), byHand)
	}
	return nil
}
