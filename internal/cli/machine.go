package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

func (a *app) lidStateCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "current-lid-state",
		Short:   "is the lid open or closed",
		Example: `lidguard current-lid-state`,
		Long:    "Prints open, closed or unknown. Unknown is also the answer on a machine without a lid.",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := a.machine(cmd.Context())
			if err != nil {
				return err
			}
			return a.result(struct {
				Lid string `json:"lid"`
			}{m.Lid}, func() { a.say("%s", m.Lid) })
		},
	}
}

func (a *app) monitorCountCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "current-monitor-count",
		Short:   "how many displays keep the machine from being away",
		Example: `lidguard current-monitor-count`,
		Long:    "The built-in display does not count while the lid is closed. An unknown number is\nan error (JSON: -1).",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := a.machine(cmd.Context())
			if err != nil {
				return err
			}
			if m.Displays < 0 && !a.json {
				return hint(errors.New("the displays cannot be read"), "`lidguard doctor` says what is in the way")
			}
			return a.result(struct {
				Monitors int `json:"monitors"`
			}{m.Displays}, func() { a.say("%d", m.Displays) })
		},
	}
}

func (a *app) temperatureCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "current-temperature [default|low|average|high]",
		Short: "how hot the machine is",
		Example: `lidguard current-temperature        what emergency hibernation looks at
lidguard current-temperature high`,
		Long:      "In °C over all sensors. Without a word, or with default, the sensor mode of the settings counts.",
		Args:      oneOf("default", "low", "average", "high"),
		ValidArgs: []string{"default", "low", "average", "high"},
		RunE: func(cmd *cobra.Command, args []string) error {
			mode := ""
			if len(args) > 0 && args[0] != "default" {
				mode = args[0]
			}
			return a.temperature(cmd.Context(), mode)
		},
	}
}

func (a *app) temperature(ctx context.Context, mode string) error {
	if mode == "" {
		d, err := a.dirs()
		if err != nil {
			return err
		}
		s, _, err := readSettings(d.Settings())
		if err != nil {
			return hint(err, "name the sensor mode: `lidguard current-temperature average`")
		}
		mode = s.EmergencyHibernationMode
	}
	m, err := a.probe(ctx)
	if err != nil {
		return err
	}
	if m.Celsius == nil {
		return hint(fmt.Errorf("no temperature: %s", m.HeatError), "without a sensor there is no emergency hibernation")
	}
	value := map[string]float64{"low": m.Celsius.Low, "average": m.Celsius.Average, "high": m.Celsius.High}[mode]
	out := struct {
		Mode  string  `json:"mode"`
		Value float64 `json:"celsius"`
		*Celsius
	}{mode, value, m.Celsius}
	return a.result(out, func() { a.say("%.1f °C (%s)", value, mode) })
}

// machine tells lid and displays: the runtime's view, which has settled and
// knows the lid events, else a direct look.
func (a *app) machine(ctx context.Context) (Machine, error) {
	reply, err := a.call(ctx, &ipc.Request{Op: ipc.OpAway})
	if err == nil && reply.Away != nil {
		return Machine{Lid: reply.Away.Lid, Displays: reply.Away.Displays}, nil
	}
	return a.probe(ctx)
}

// probe reads the machine directly.
func (a *app) probe(ctx context.Context) (Machine, error) {
	if a.Probe == nil {
		return Machine{}, errors.New("this build cannot read the machine")
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	m, err := a.Probe(ctx)
	if err != nil {
		return m, hint(err, "`lidguard doctor` says what is in the way")
	}
	return m, nil
}
