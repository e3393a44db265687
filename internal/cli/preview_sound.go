package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/spf13/cobra"
)

// systemSounds are the names that every system has in some form.
var systemSounds = []string{"Asterisk", "Beep", "Exclamation", "Hand", "Question"}

func (a *app) previewSystemSoundCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "preview-system-sound NAME",
		Short: "play one of the system's sounds",
		Example: `lidguard preview-system-sound Hand
lidguard settings --post-stop-suspend-sound Hand`,
		Long:      "NAME is one of " + strings.Join(systemSounds, ", ") + ". It is played at the volume of the settings.",
		Args:      cobra.MatchAll(oneOf(systemSounds...), exactly(1)),
		ValidArgs: systemSounds,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.soundSettings()
			if err != nil {
				return err
			}
			return a.preview(cmd.Context(), args[0], s.SoundVolumePercent)
		},
	}
}

func (a *app) previewCurrentSoundCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "preview-current-sound",
		Short:   "play the warning sound as it comes before a suspend",
		Example: `lidguard preview-current-sound`,
		Long:    "The sound and the volume of the settings; volume and mute are put back afterwards.",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.soundSettings()
			if err != nil {
				return err
			}
			if s.PostStopSuspendSound == "off" {
				return hint(errors.New("no warning sound is set"), "choose one: `lidguard settings --post-stop-suspend-sound Asterisk`")
			}
			return a.preview(cmd.Context(), s.PostStopSuspendSound, s.SoundVolumePercent)
		},
	}
}

// exactly asks for n words behind the command.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef(cmd, "%s is followed by %s", cmd.Name(), count(n, "word"))
		}
		return nil
	}
}

func (a *app) soundSettings() (settings.Settings, error) {
	d, err := a.dirs()
	if err != nil {
		return settings.Settings{}, err
	}
	s, _, err := readSettings(d.Settings())
	return s, err
}

func (a *app) preview(ctx context.Context, sound string, volume int) error {
	if a.Play == nil {
		return errors.New("this build plays no sounds")
	}
	if err := a.Play(ctx, sound, volume); err != nil {
		return fmt.Errorf("playing %q: %w", sound, err)
	}
	return a.result(struct {
		Played string `json:"played"`
		Volume int    `json:"volume_percent,omitempty"` // absent: as it was
	}{sound, volume}, func() {
		if volume > 0 {
			a.say("played %s at %d %%", sound, volume)
		} else {
			a.say("played %s", sound)
		}
	})
}
