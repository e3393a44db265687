package polkit

import (
	"os"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
)

func TestCheck_asksForThisProcessAndNobody(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	login1.Can("CanHibernate", "na")
	p := bustest.NewPolkit(t, address)
	p.Say("org.freedesktop.login1.hibernate", "no")
	p.Say("org.freedesktop.login1.inhibit-handle-lid-switch", "challenge")
	r := Check(t.Context(), Options{SystemBus: address})
	if r.Login1 != "" || r.Polkit != "" || r.CanSuspend != "yes" || r.CanHibernate != "na" || r.Session.Active {
		t.Errorf("%+v", r)
	}
	for _, v := range r.Verdicts {
		want := map[string]string{"org.freedesktop.login1.hibernate": No, "org.freedesktop.login1.inhibit-handle-lid-switch": Password}[v.Action]
		if want == "" {
			want = Yes
		}
		if v.Verdict != want || r.Granted(v.Action) != (want == Yes) {
			t.Errorf("%s: %s, want %s", v.Action, v.Verdict, want)
		}
	}
	if m := r.Missing(); len(m) != 2 {
		t.Errorf("missing: %+v", m)
	}
	calls := p.Calls("CheckAuthorization")
	if len(calls) != len(Actions()) {
		t.Fatalf("%d questions", len(calls))
	}
	for _, c := range calls {
		who := c.Args[0].([]any)
		details := who[1].(map[string]dbus.Variant)
		if who[0] != "unix-process" || details["pid"].Value() != uint32(os.Getpid()) || details["start-time"].Value() == uint64(0) {
			t.Errorf("asked about %v", who)
		}
		if c.Args[3] != uint32(0) || c.Flags&dbus.FlagAllowInteractiveAuthorization != 0 {
			t.Error("polkit was allowed to ask a person")
		}
	}
	for _, method := range []string{"Suspend", "Hibernate", "Inhibit"} {
		if n := len(login1.Calls(method)); n > 0 {
			t.Errorf("%d calls of %s", n, method)
		}
	}
}

func TestCheck_withoutServices(t *testing.T) {
	r := Check(t.Context(), Options{SystemBus: "unix:path=/nonexistent/bus"})
	if r.Login1 == "" || r.Polkit == "" || len(r.Missing()) != len(Actions()) {
		t.Errorf("without a bus: %+v", r)
	}
	address := bustest.Start(t)
	bustest.NewLogin1(t, address)
	if r := Check(t.Context(), Options{SystemBus: address}); r.Login1 != "" || r.Polkit == "" || r.Verdicts[0].Verdict != Unknown {
		t.Errorf("without polkit: %+v", r)
	}
	p := bustest.NewPolkit(t, address)
	p.Fail("CheckAuthorization", "org.freedesktop.PolicyKit1.Error.Failed", "no such action")
	if r := Check(t.Context(), Options{SystemBus: address}); !strings.Contains(r.Polkit, "no such action") || len(r.Missing()) != len(Actions()) {
		t.Errorf("a polkit that fails: %+v", r)
	}
	if r := Check(t.Context(), Options{SystemBus: address, Root: t.TempDir()}); r.Polkit == "" || r.Verdicts[0].Verdict != Unknown {
		t.Errorf("without /proc: %+v", r)
	}
}
