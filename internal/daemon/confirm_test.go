package daemon

import (
	"testing"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// A lock that the system lists is held, also where its grant was not heard of yet; one
// that it does not list is none, whatever was heard.
func TestConfirm_theSystemHasTheLastWord(t *testing.T) {
	m := fakelaptop.New(fakelaptop.Options{}).Machine()
	if _, err := m.Acquire(t.Context(), awake.HoldIdle, "agents work"); err != nil {
		t.Fatal(err)
	}
	st := ipc.Status{Held: []ipc.Hold{{What: "idle", Error: "not held yet"}, {What: "handle-lid-switch"}, {What: "sleep", Error: "denied"}}}
	(&daemon{Options: Options{Machine: m}}).confirm(t.Context(), &st)
	want := []ipc.Hold{{What: "idle", Confirmed: true}, {What: "handle-lid-switch", Error: "the system does not list it"}, {What: "sleep", Error: "denied"}}
	for i, h := range st.Held {
		if h != want[i] {
			t.Errorf("got %+v, want %+v", h, want[i])
		}
	}
}
