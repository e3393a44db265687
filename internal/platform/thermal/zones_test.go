package thermal

import (
	"errors"
	"math"
	"testing"
)

func TestOfZones(t *testing.T) {
	r, err := ofZones([]zone{{`\_TZ.CPUZ`, 354.15, true}, {`\_TZ.BATZ`, 305.2, true}, {`\_TZ.NONE`, 0, true}, {`\_TZ.GONE`, 340, false}})
	if err != nil || len(r.Sensors) != 2 || len(r.Skipped) != 2 {
		t.Fatalf("got %+v, %v, want two sensors and two left out", r, err)
	}
	if c, err := r.Celsius(High); err != nil || math.Abs(c-81) > 1e-9 {
		t.Errorf("the hottest is %v, %v, want 81", c, err)
	}
}

func TestOfZones_unreadableIsNoNumber(t *testing.T) {
	for name, zones := range map[string][]zone{
		"no zones":                  nil,
		"a zone of zero":            {{"z", 0, true}},
		"not a number":              {{"z", math.NaN(), true}},
		"endless":                   {{"z", math.Inf(1), true}},
		"tenths taken for kelvin":   {{"z", 3231, true}},
		"degrees taken for kelvin":  {{"z", 81, true}},
		"a counter without a value": {{"z", 350, false}},
	} {
		if r, err := ofZones(zones); !errors.Is(err, ErrNoSensor) || len(r.Sensors) != 0 {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}
