//go:build lidlab && linux

// This test needs the laboratory's sensors. Built with the tag lidlab it
// insists on them.
package thermal

import (
	"os"
	"testing"
)

func TestReal_sensors(t *testing.T) {
	if os.Getenv("LIDLAB") != "real" {
		t.Fatal("built for the laboratory, but LIDLAB is not \"real\": run it through the laboratory's exec")
	}
	r, err := Read("")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sensors) != 2 || len(r.Skipped) != 0 {
		t.Errorf("got %+v, want the zone and the monitor", r)
	}
	if c, err := r.Celsius(High); err != nil || c < 20 || c > 100 {
		t.Errorf("got %g °C, %v", c, err)
	}
}
