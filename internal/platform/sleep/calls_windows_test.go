package sleep

import (
	"errors"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestSystem_request takes each kind of power request and gives it back; wine
// keeps nothing awake for it, Windows may.
func TestSystem_request(t *testing.T) {
	for _, kinds := range [][]RequestKind{{RequestSystem}, {RequestSystem, RequestDisplay}, {RequestSystem, RequestAway}} {
		r, err := System{}.Request("lidguard's test", kinds...)
		if errors.Is(err, ErrUnsupported) && kinds[len(kinds)-1] == RequestAway {
			continue // modern standby
		}
		if err != nil {
			t.Errorf("%v: %v", kinds, err)
			continue
		}
		for range 2 {
			if err := r.Close(); err != nil {
				t.Errorf("%v: Close = %v", kinds, err)
			}
		}
	}
	r, err := System{}.Request("a\x00b", RequestSystem)
	if err != nil {
		t.Fatalf("a reason with a zero in it: %v", err)
	}
	r.Close()
}

// The calls that this Windows does not have must say so: a call of one would end
// the process.
func TestSystem_answersOrSaysWhyNot(t *testing.T) {
	if a, err := (System{}).Abilities(); err != nil {
		t.Errorf("Abilities: %+v, %v", a, err)
	}
	if e, err := (System{}).Execution(); err != nil {
		t.Errorf("Execution: %v, %v", e, err)
	}
	scheme, err := System{}.ActiveScheme()
	if err == nil && !isGUID(scheme) {
		t.Errorf("ActiveScheme: %q", scheme)
	}
	if err != nil {
		scheme = "381b4222-f694-41f0-9685-ff5bb260df2e"
	}
	for _, mains := range []bool{true, false} {
		action, err := System{}.LidAction(scheme, mains)
		t.Logf("mains %v: %d, %v", mains, action, err)
		if err == nil && action > 3 {
			t.Errorf("mains %v: LidAction = %d", mains, action)
		}
	}
	if err := (System{}).SetLidAction("no scheme", true, 0); err == nil {
		t.Error("a scheme that is no GUID was written to")
	}
}

func TestShutdownPrivilege(t *testing.T) {
	if err := (System{}).Allowed(); err != nil {
		t.Errorf("the user of a desktop has it: %v", err)
	}
}

func TestBarred(t *testing.T) {
	var no *BarredError
	if err := barred("x", windows.ERROR_ACCESS_DISABLED_BY_POLICY); !errors.As(err, &no) || no.Who != "group policy" {
		t.Errorf("got %v", err)
	}
	if err := barred("x", windows.ERROR_ACCESS_DENIED); !errors.As(err, &no) || no.Who != "Windows" {
		t.Errorf("got %v", err)
	}
	if err := barred("x", windows.ERROR_NOT_SUPPORTED); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if err := barred("x", windows.ERROR_GEN_FAILURE); errors.Is(err, ErrUnsupported) || errors.As(err, &no) {
		t.Errorf("got %v", err)
	}
}

func TestLayout(t *testing.T) {
	if size := unsafe.Sizeof(reasonContext{}); size != 32 {
		t.Errorf("REASON_CONTEXT has %d bytes, Windows' has 32", size)
	}
}
