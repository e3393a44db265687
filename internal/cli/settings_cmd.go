package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/spf13/cobra"
)

// settingValue is the option of one setting: checked while it is parsed, applied
// together with the others afterwards.
type settingValue struct {
	key     settings.Key
	changes *[]settings.Change
}

func (v *settingValue) String() string { return "" }
func (v *settingValue) Type() string   { return "VALUE" }

func (v *settingValue) Set(text string) error {
	scratch := settings.Default()
	if err := v.key.Set(&scratch, text); err != nil {
		return err
	}
	*v.changes = append(*v.changes, settings.Change{Key: v.key.Name, Value: text})
	return nil
}

func (a *app) settingsCmd() *cobra.Command {
	var changes []settings.Change
	cmd := &cobra.Command{
		Use:   "settings [--NAME VALUE …]",
		Short: "show or change settings",
		Example: `lidguard settings                                   a form on a terminal, else the list
lidguard settings --session-timeout-minutes 20 --prevent-display-sleep on
lidguard settings --json`,
		Long: "Several changes are saved together, or not at all, and a running runtime takes them\n" +
			"at once.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.settings(cmd.Context(), changes) },
	}
	for _, k := range settings.Keys() {
		cmd.Flags().Var(&settingValue{k, &changes}, k.Name, fmt.Sprintf("%s: %s (default %s)", k.Help, k.Allowed(), k.Default()))
		words := k.Choices
		if k.Kind == settings.Bool {
			words = []string{"true", "false"}
		}
		completeWith(cmd, k.Name, words)
	}
	return cmd
}

// settingsReport is what `settings --json` prints.
type settingsReport struct {
	Path     string            `json:"path"`
	Settings settings.Settings `json:"settings"`
	Explicit []string          `json:"explicit"` // the ones the file names
	Changed  []string          `json:"changed"`
	Applied  bool              `json:"applied"` // a runtime took the changes
}

func (a *app) settings(ctx context.Context, changes []settings.Change) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	file, err := settings.Open(d.Settings())
	if err != nil {
		return hintBroken(err, "correct that place in the file, or move the file away to have the defaults")
	}
	if len(changes) == 0 && a.interactive && !a.json {
		if changes, err = a.settingsForm(file.Settings()); err != nil {
			return err
		}
	}
	report := settingsReport{Path: d.Settings(), Settings: file.Settings(), Changed: []string{}}
	if len(changes) > 0 {
		if report.Settings, report.Changed, report.Applied, err = a.changeSettings(ctx, d, changes); err != nil {
			return err
		}
		if file, err = settings.Open(d.Settings()); err != nil {
			return err
		}
	}
	report.Explicit = append([]string{}, file.Explicit()...)
	return a.result(report, func() {
		if len(changes) > 0 {
			for _, name := range report.Changed {
				value, _ := report.Settings.Get(name)
				a.say("%s = %s", name, value)
			}
			return
		}
		a.showSettings(report)
	})
}

// changeSettings saves the changes and tells a running runtime. It returns the
// names that were changed, in the order given.
func (a *app) changeSettings(ctx context.Context, d paths.Dirs, changes []settings.Change) (s settings.Settings, changed []string, applied bool, err error) {
	if s, err = settings.Update(d.Settings(), changes); err != nil {
		return s, nil, false, err
	}
	for _, c := range changes {
		if !slices.Contains(changed, c.Key) {
			changed = append(changed, c.Key)
		}
	}
	_, err = a.call(ctx, &ipc.Request{Op: ipc.OpReload})
	switch {
	case err == nil:
		// It may have been started with another XDG_CONFIG_HOME.
		if reply, err := a.call(ctx, &ipc.Request{Op: ipc.OpStatus}); err == nil {
			if at := statusOf(reply).Config; at != "" && !sameFolder(at, d.Config) {
				return s, changed, false, hint(fmt.Errorf("the settings are saved in %s, and the runtime goes by those in %s", d.Config, at),
					"give your agents and your shells the same XDG_CONFIG_HOME")
			}
		}
		applied = true
	case !errors.Is(err, ipc.ErrNotRunning):
		return s, changed, false, hint(fmt.Errorf("the settings are saved, but the runtime did not take them: %w", err),
			"`lidguard status` shows the runtime")
	}
	return s, changed, applied, nil
}

func (a *app) showSettings(r settingsReport) {
	group := ""
	var rows [][]string
	flush := func() {
		if len(rows) > 0 {
			a.heading(group)
			a.table("  ", rows)
		}
		rows = nil
	}
	for _, k := range settings.Keys() {
		if k.Group != group {
			flush()
			group = k.Group
		}
		note := "default"
		if slices.Contains(r.Explicit, k.Name) {
			note = "set"
		}
		rows = append(rows, []string{k.Name, k.Value(r.Settings), note})
	}
	flush()
	a.note("%s", r.Path)
}

// readSettings reads the settings for the checks of status and doctor.
func readSettings(path string) (s settings.Settings, unknown []string, err error) {
	f, err := settings.Open(path)
	if err != nil {
		return settings.Default(), nil, err
	}
	return f.Settings(), f.Unknown(), nil
}
