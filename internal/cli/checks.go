package cli

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/build"
	"github.com/lidguard-go/lidguard/internal/install"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
)

// hasChecks reports whether the rulebooks have checks whose findings wake an agent. Of
// books that cannot be read others tell.
func (a *app) hasChecks() bool {
	d, err := a.dirs()
	if err != nil {
		return false
	}
	source, err := build.Load(d, "", false)
	return err == nil && source.Checks()
}

// followChecks brings Claude Code's config, where lidguard is in it, in line with
// whether checks are on: they have an entry of their own there.
func (a *app) followChecks(ctx context.Context) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	source, err := build.Load(d, "", false)
	if err != nil {
		return hint(err, "correct that place, then run `lidguard hooks build`")
	}
	in, err := a.installation()
	if err != nil {
		return err
	}
	for _, g := range a.agents(in.home) {
		c, ok := g.(claude.Setup)
		if state := g.Status(in.program).State; !ok || state == install.Missing || state == install.Unreadable {
			continue
		}
		if err := checkProgram(in.program.Path); err != nil {
			return err
		}
		plan, err := source.Listening(c).Install(in.program, in.records)
		if err != nil {
			return editHint(err)
		}
		done, err := plan.Apply(ctx, a.Now(), in.store)
		for _, f := range done {
			a.note("%s: written to %s", c.Provider(), f.Path)
		}
		if err != nil {
			return editHint(err)
		}
	}
	return nil
}
