package battery

import (
	"context"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var getSystemPowerStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetSystemPowerStatus")

// powerStatus is the backend of Windows; a Watch polls.
type powerStatus struct{}

func open(Options, func()) backend { return powerStatus{} }

func (powerStatus) read(context.Context) (Reading, error) { return ReadPowerStatus() }
func (powerStatus) pushes() bool                          { return false }
func (powerStatus) close()                                {}

// ReadPowerStatus asks Windows for the battery, at the cost of one call. Errors
// match ErrUnknown.
func ReadPowerStatus() (Reading, error) {
	var buf [powerStatusSize / 4]uint32
	if ok, _, err := getSystemPowerStatus.Call(uintptr(unsafe.Pointer(&buf[0]))); ok == 0 {
		return Reading{State: Unknown}, fmt.Errorf("reading the battery: %w (%w)", ErrUnknown, err)
	}
	return parsePowerStatus(unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), powerStatusSize))
}
