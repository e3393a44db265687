package thermal

import (
	"errors"
	"testing"
	"unsafe"
)

func TestRead_answersOrHasNoSensor(t *testing.T) {
	r, err := Read("")
	if err != nil && !errors.Is(err, ErrNoSensor) || (err == nil) != (len(r.Sensors) > 0) {
		t.Errorf("got %+v, %v", r, err)
	}
	t.Logf("%+v, %v", r, err)
}

// A counter that every Windows has goes through the same calls.
func TestInstances_ofACounterThatIsThere(t *testing.T) {
	if size := unsafe.Sizeof(item{}); size != 24 {
		t.Fatalf("an item has %d bytes, Windows' has 24", size)
	}
	_, err := instances(`\Processor(*)\% Processor Time`, 1)
	var code pdhError
	if err != nil && !errors.As(err, &code) {
		t.Errorf("got %v", err)
	}
	if _, err := instances(`\No Such Object(*)\Temperature`, 1); err == nil {
		t.Error("a counter that does not exist is read")
	}
}
