package battery

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

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

// The answers are those of macOS 11 to 15 unless their name says otherwise.
func TestReadPmset(t *testing.T) {
	for name, c := range map[string]struct {
		out  string
		want Reading
	}{
		"on battery": {"Now drawing from 'Battery Power'\n -InternalBattery-0 (id=4653155)\t85%; discharging; 4:29 remaining present: true\n",
			Reading{Present: true, OnBattery: true, Percent: 85, State: Discharging, ToEmpty: 4*time.Hour + 29*time.Minute, Source: "pmset"}},
		"on battery, just unplugged": {"Now drawing from 'Battery Power'\n -InternalBattery-0 (id=22806627)\t43%; discharging; (no estimate) present: true\n",
			Reading{Present: true, OnBattery: true, Percent: 43, State: Discharging, Source: "pmset"}},
		"charging": {"Now drawing from 'AC Power'\n -InternalBattery-0 (id=22806627)\t34%; charging; 1:05 remaining present: true\n",
			Reading{Present: true, Percent: 34, State: Charging, Source: "pmset"}},
		"full": {"Now drawing from 'AC Power'\n -InternalBattery-0 (id=22806627)\t100%; charged; 0:00 remaining present: true\n",
			Reading{Present: true, Percent: 100, State: Full, Source: "pmset"}},
		"nearly full": {"Now drawing from 'AC Power'\n -InternalBattery-0 (id=22806627)\t99%; finishing charge; 0:10 remaining present: true\n",
			Reading{Present: true, Percent: 99, State: Charging, Source: "pmset"}},
		"charge held at a limit": {"Now drawing from 'AC Power'\n -InternalBattery-0 (id=22806627)\t80%; AC attached; not charging present: true\n",
			Reading{Present: true, Percent: 80, State: Idle, Source: "pmset"}},
		"a weak charger": {"Now drawing from 'AC Power'\n -InternalBattery-0 (id=22806627)\t12%; discharging; 2:00 remaining present: true\n",
			Reading{Present: true, Percent: 12, State: Discharging, ToEmpty: 2 * time.Hour, Source: "pmset"}},
		"macOS 10.11, no time and no present": {"Now drawing from 'AC Power'\n -InternalBattery-0\t100%; charged\n",
			Reading{Present: true, Percent: 100, State: Full, Source: "pmset"}},
		"no battery": {"Now drawing from 'AC Power'\n", Reading{State: Unknown, Source: "pmset"}},
		"an external supply is no battery": {"Now drawing from 'AC Power'\n -Back-UPS ES 850 (id=1114112)\t100%; charging present: true\n",
			Reading{State: Unknown, Source: "pmset"}},
		"a battery taken out": {"Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t0%; charging; present: false\n",
			Reading{State: Unknown, Source: "pmset"}},
		"words of the future": {"Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t50%; pondering; 1:00 remaining present: true\n",
			Reading{Present: true, OnBattery: true, Percent: 50, State: Unknown, Source: "pmset"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := &oneAnswer{out: c.out}
			got, err := ReadPmset(t.Context(), run)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
			if want := "/usr/bin/pmset -g batt"; len(run.asked) != 1 || run.asked[0] != want {
				t.Errorf("ran %q, want %q", run.asked, want)
			}
		})
	}
}

func TestReadPmset_unknownIsNeverMains(t *testing.T) {
	for name, run := range map[string]*oneAnswer{
		"no answer":                 {err: errors.New("no program")},
		"an empty answer":           {},
		"no word of the source":     {out: " -InternalBattery-0 (id=1)\t50%; charging; present: true\n"},
		"a percentage out of range": {out: "Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t400%; charging; present: true\n"},
	} {
		if r, err := ReadPmset(t.Context(), run); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: got %+v, %v, want ErrUnknown", name, r, err)
		}
	}
}

func FuzzParsePmset(f *testing.F) {
	f.Add("Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t80%; AC attached; not charging present: true\n")
	f.Fuzz(func(t *testing.T, out string) {
		r, err := parsePmset(out)
		if r.Percent < 0 || r.Percent > 100 || r.ToEmpty < 0 || err == nil && !r.Present && r.OnBattery {
			t.Errorf("%q reads as %+v, %v", out, r, err)
		}
	})
}
