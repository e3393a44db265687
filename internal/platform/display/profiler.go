package display

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

const profilerPath = "/usr/sbin/system_profiler"

func profilerArgs() []string { return []string{"SPDisplaysDataType", "-json"} }

// ReadSystemProfiler asks macOS for its displays. It takes a few tenths of a
// second of a processor, so nobody should ask often. Errors match ErrUnknown.
func ReadSystemProfiler(ctx context.Context, run command.Runner) (Reading, error) {
	out, err := run.Output(ctx, profilerPath, profilerArgs()...)
	if err != nil {
		return Reading{}, fmt.Errorf("counting displays: %w (%w)", ErrUnknown, err)
	}
	return parseProfiler(out)
}

// profile is the part of the answer that matters: graphics cards, each with its
// displays. The values are keys of a table of translations, which is why they
// are the same in every language.
type profile struct {
	Cards *[]struct {
		Name     string `json:"_name"`
		Displays []struct {
			Name       string `json:"_name"`
			ID         string `json:"_spdisplays_displayID"`
			Connection string `json:"spdisplays_connection_type"` // of some displays only
			Type       string `json:"spdisplays_display_type"`
			Online     string `json:"spdisplays_online"`
			Status     string `json:"spdisplays_status"` // of empty connectors only
		} `json:"spdisplays_ndrvs"`
	} `json:"SPDisplaysDataType"`
}

// parseProfiler reads what system_profiler prints. Displays of AirPlay and
// Sidecar count like any other: somebody looks at them.
func parseProfiler(out []byte) (Reading, error) {
	var p profile
	if err := json.Unmarshal(out, &p); err != nil {
		return Reading{}, fmt.Errorf("counting displays: %w (system_profiler's answer: %w)", ErrUnknown, err)
	}
	if p.Cards == nil || len(*p.Cards) == 0 {
		return Reading{}, fmt.Errorf("counting displays: %w (system_profiler names no graphics card)", ErrUnknown)
	}
	var r Reading
	for _, card := range *p.Cards {
		for _, d := range card.Displays {
			c := Connector{Name: d.Name, Status: "connected",
				Internal: d.Connection == "spdisplays_internal" || strings.HasPrefix(d.Type, "spdisplays_built-in")}
			if d.ID != "" {
				c.Name += " " + d.ID // two monitors of one make
			}
			if d.Online == "spdisplays_no" || d.Status == "spdisplays_not_connected" {
				c.Status = "disconnected"
			}
			r.Connectors = append(r.Connectors, c)
		}
	}
	slices.SortFunc(r.Connectors, func(a, b Connector) int { return cmp.Compare(a.Name, b.Name) })
	return r, nil
}
