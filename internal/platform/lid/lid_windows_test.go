package lid

import "testing"

// Wine has no lid, and a Windows with one tells it at once.
func TestSensor_agreesWithWhatTheMachineHas(t *testing.T) {
	s := OpenSensor(Options{})
	defer s.Close()
	r := s.Read(t.Context())
	if r.Presence == PresenceUnknown || (r.State != Unknown) != (r.Presence == Present) || r.State == Unknown && r.Why == "" {
		t.Errorf("got %+v", r)
	}
	s.Close()
}
