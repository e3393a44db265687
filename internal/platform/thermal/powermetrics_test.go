package thermal

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// oneAnswer is a Runner whose programs all say the same.
type oneAnswer struct {
	out   string
	err   error
	asked []string
}

func (o *oneAnswer) Output(_ context.Context, path string, args ...string) ([]byte, error) {
	o.asked = append(o.asked, path+" "+strings.Join(args, " "))
	return []byte(o.out), o.err
}

func (o *oneAnswer) Start(string, ...string) (command.Process, error) {
	return nil, errors.New("reading starts nothing")
}

func TestReadPowermetrics(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []Sensor
	}{
		"MacBookPro16,1, macOS 15.3": {"15-intel.txt", []Sensor{{"CPU die", "powermetrics", 76.93}, {"GPU die", "powermetrics", 71}}},
		"one chip, macOS 10.15":      {"10.15-intel.txt", []Sensor{{"CPU die", "powermetrics", 63.44}}},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata/macos", c.file))
			if err != nil {
				t.Fatal(err)
			}
			run := &oneAnswer{out: string(data)}
			r, err := ReadPowermetrics(t.Context(), run)
			if err != nil || !slices.Equal(r.Sensors, c.want) {
				t.Errorf("got %+v, %v, want %+v", r.Sensors, err, c.want)
			}
			if want := "/usr/bin/sudo -n /usr/bin/powermetrics --samplers smc -n 1 -i 1000"; len(run.asked) != 1 || run.asked[0] != want {
				t.Errorf("ran %q, want %q", run.asked, want)
			}
		})
	}
}

func TestReadPowermetrics_unreadableIsNoNumber(t *testing.T) {
	for name, run := range map[string]*oneAnswer{
		"Apple silicon":           {err: &command.ExitError{Path: "/usr/bin/sudo", Code: 64, Stderr: "powermetrics: unrecognized sampler: smc"}},
		"no right":                {err: &command.ExitError{Path: "/usr/bin/sudo", Code: 1, Stderr: "sudo: a password is required"}},
		"no sensors at all":       {out: "**** SMC sensors ****\n\nFan: 1800 rpm\n"},
		"a broken sensor":         {out: "CPU die temperature: -127.00 C\nGPU die temperature: nan C\nIO die temperature: hot C\n"},
		"degrees of another kind": {out: "CPU die temperature: 170.0 F\n"},
	} {
		r, err := ReadPowermetrics(t.Context(), run)
		if !errors.Is(err, ErrNoSensor) {
			t.Errorf("%s: got %+v, %v, want ErrNoSensor", name, r, err)
		}
		if name == "a broken sensor" && len(r.Skipped) != 3 {
			t.Errorf("left out: %+v, want all three", r.Skipped)
		}
	}
}

func FuzzParsePowermetrics(f *testing.F) {
	f.Add("CPU die temperature: 76.93 C\n")
	f.Fuzz(func(t *testing.T, out string) {
		for _, s := range parsePowermetrics(out).Sensors {
			if math.IsNaN(s.Celsius) || s.Celsius <= lowest || s.Celsius >= highest {
				t.Errorf("%q reads as %v", out, s)
			}
		}
	})
}
