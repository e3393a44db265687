package cli

import (
	"fmt"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/spf13/cobra"
)

// loginResult is what happened with the file that puts a Mac's settings back at
// the next login, after a power failure. Other systems have none: Linux changes
// nothing lasting, and on Windows the runtime arms and disarms the next login
// itself.
type loginResult struct {
	File    string         `json:"file"`
	Changed []install.Done `json:"changed"`
	Diff    string         `json:"diff,omitempty"`
	Error   string         `json:"error,omitempty"`

	err  error
	plan install.Plan
}

// planLogin plans to write the file, or with removes to delete it. nil: this
// system has none.
func (a *app) planLogin(d paths.Dirs, records install.Records, removes bool) *loginResult {
	if a.GOOS != "darwin" {
		return nil
	}
	agent := daemon.LoginAgent{Home: d.Home, LidguardHome: a.Env("LIDGUARD_HOME")}
	r := &loginResult{File: agent.Path(), Changed: []install.Done{}}
	if !removes {
		var err error
		if agent.Program, err = install.FindMain(a.GOOS, a.Env, a.Executable); err != nil {
			r.fail(err)
			return r
		}
	}
	r.fail(r.plan.Add(r.File, removes, records, func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		switch {
		case len(data) > 0 && !agent.Ours(data) && removes:
			return confedit.Draft{Text: data}, nil
		case len(data) > 0 && !agent.Ours(data):
			return confedit.Draft{}, fmt.Errorf("lidguard did not write it, and leaves it alone")
		case removes:
			return confedit.Draft{Delete: true}, nil
		}
		return confedit.Draft{Text: agent.Text()}, nil
	}))
	return r
}

func (r *loginResult) fail(err error) {
	if err != nil && r.err == nil {
		r.err, r.Error = editHint(err), err.Error()
	}
}

// loginTitle heads the file's diff.
const loginTitle = "macOS, restore at login"

// showLogin shows a person what would be written, and counts the edits.
func (a *app) showLogin(r *loginResult, dryRun bool) int {
	if r == nil {
		return 0
	}
	for _, e := range r.plan.Edits {
		if dryRun {
			r.Diff = e.Diff()
		}
		if !a.json {
			a.heading(loginTitle)
			a.diff(e.Diff())
		}
	}
	return len(r.plan.Edits)
}

// applyLogin carries the plan out.
func (a *app) applyLogin(cmd *cobra.Command, store install.Store, r *loginResult) {
	if r == nil || r.err != nil {
		return
	}
	done, err := r.plan.Apply(cmd.Context(), a.Now(), store)
	r.Changed = append(r.Changed, done...)
	r.fail(err)
}

// tellLogin prints what happened; verb is "written to" or "removed from".
func (a *app) tellLogin(r *loginResult, verb string) {
	if r == nil {
		return
	}
	for _, f := range r.Changed {
		a.say("macos: restore at login %s %s", verb, f.Path)
	}
}

// loginFailed shows the file's error, if there is one, and reports it.
func (a *app) loginFailed(r *loginResult) bool {
	if r == nil || r.err == nil {
		return false
	}
	a.failure(r.err)
	return true
}
