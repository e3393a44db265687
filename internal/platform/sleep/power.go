package sleep

import (
	"errors"
	"fmt"
	"io"
)

// Power is what Windows has to hold off its sleep and to ask for it, below the
// decisions: one method is one call, or a few that belong together. Methods must
// be safe from several goroutines. Errors match ErrUnsupported where this
// machine has no such thing, and *BarredError where it is not allowed.
type Power interface {
	Schemes
	// Request holds off what kinds say until it is closed, or until this process
	// ends however it ends; reason is what `powercfg /requests` shows. Closing
	// twice is harmless.
	Request(reason string, kinds ...RequestKind) (io.Closer, error)
	// Execution tells what is held off now, by whichever process.
	Execution() (Execution, error)
	// Abilities tells what the machine can do at all.
	Abilities() (Abilities, error)
	// Allowed tells without sleeping whether this user may.
	Allowed() error
	// Enter sleeps, and returns after the wake-up or with a refusal.
	Enter(how Mode) error
	// ScreenOff turns every screen off, which is what puts a machine with modern
	// standby to sleep.
	ScreenOff() error
}

// RequestKind is what a request of Windows holds off (POWER_REQUEST_TYPE of
// winnt.h).
type RequestKind uint32

const (
	RequestDisplay RequestKind = 0 // displays go dark
	RequestSystem  RequestKind = 1 // the machine sleeps by itself
	// RequestAway turns the sleep that a person asks for into one that only looks
	// like it. Machines with modern standby do not have it.
	RequestAway RequestKind = 2
)

// Execution are the bits of EXECUTION_STATE (SetThreadExecutionState of the
// Windows documentation).
type Execution uint32

const (
	SystemRequired  Execution = 0x01
	DisplayRequired Execution = 0x02
	AwayRequired    Execution = 0x40
)

// Abilities is the part of SYSTEM_POWER_CAPABILITIES that matters here.
type Abilities struct {
	Lid           bool // there is a lid switch
	Sleep         bool // one of S1 to S3
	ModernStandby bool // sleeps by turning the screen off, and in no other way
	Hibernate     bool // S4, and a file to hibernate into
}

// abilitiesSize is the size of SYSTEM_POWER_CAPABILITIES (winnt.h), the same on
// every processor.
const abilitiesSize = 76

// parseAbilities reads SYSTEM_POWER_CAPABILITIES, whose first fields are one byte
// each.
func parseAbilities(b []byte) (Abilities, error) {
	if len(b) != abilitiesSize {
		return Abilities{}, fmt.Errorf("reading what the machine can do: %d bytes, want %d", len(b), abilitiesSize)
	}
	const lid, s1, s3, s4, hiberFile, aoac = 2, 3, 5, 6, 8, 20
	a := Abilities{Lid: b[lid] != 0, Hibernate: b[s4] != 0 && b[hiberFile] != 0, ModernStandby: b[aoac] != 0}
	for _, state := range b[s1 : s3+1] {
		a.Sleep = a.Sleep || state != 0
	}
	return a, nil
}

// BarredError says that Windows does not let this user do something.
type BarredError struct {
	Doing string
	Who   string // "group policy", "Windows", or a privilege's name
	Err   error
}

// Error says who bars what.
func (e *BarredError) Error() string {
	return fmt.Sprintf("%s is barred by %s: %v", e.Doing, e.Who, e.Err)
}

func (e *BarredError) Unwrap() error { return e.Err }

// Schemes are the power schemes of Windows, as far as the lid goes.
type Schemes interface {
	// ActiveScheme is the GUID of the scheme that counts, in lower case without
	// braces.
	ActiveScheme() (string, error)
	// LidAction reads what a scheme does when the lid closes, on mains or on the
	// battery. Errors match ErrNoSetting where scheme or setting is not there.
	LidAction(scheme string, mains bool) (uint32, error)
	// SetLidAction writes it; of the active scheme it counts at once.
	SetLidAction(scheme string, mains bool, action uint32) error
}

// ErrNoSetting is matched where a power scheme, or its lid setting, is missing.
var ErrNoSetting = errors.New("no such power setting")
