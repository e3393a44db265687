package battery

import (
	"errors"
	"testing"
)

func TestReadPowerStatus_answersOrIsUnknown(t *testing.T) {
	r, err := ReadPowerStatus()
	if err != nil && !errors.Is(err, ErrUnknown) || r.Percent < 0 || r.Percent > 100 || err != nil && r.Present {
		t.Errorf("got %+v, %v", r, err)
	}
	if again, err2 := ReadPowerStatus(); (err == nil) != (err2 == nil) || again.Present != r.Present {
		t.Errorf("the same machine twice: %+v, %v, then %+v, %v", r, err, again, err2)
	}
}
