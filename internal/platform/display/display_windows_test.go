package display

import (
	"errors"
	"testing"
)

func TestRead_answersOrIsUnknown(t *testing.T) {
	r, err := Read("")
	if err != nil && (!errors.Is(err, ErrUnknown) || len(r.Connectors) != 0) {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, c := range r.Connectors {
		if c.Name == "" || !c.Connected() {
			t.Errorf("got %+v", c)
		}
	}
	t.Logf("%+v, %v", r, err)
}
