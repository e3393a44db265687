package display

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	user32                      = windows.NewLazySystemDLL("user32.dll")
	getDisplayConfigBufferSizes = user32.NewProc("GetDisplayConfigBufferSizes")
	queryDisplayConfig          = user32.NewProc("QueryDisplayConfig")
)

// modeSize is the size of DISPLAYCONFIG_MODE_INFO, which is asked for and not
// read.
const modeSize = 64

// Read counts the displays in use. Windows has no root to read below. In a
// session that is not at the machine itself (remote desktop, a service) it says
// that access is denied: unknown.
func Read(string) (Reading, error) {
	unknown := func(err error) (Reading, error) {
		return Reading{}, fmt.Errorf("counting displays: %w (%w)", ErrUnknown, err)
	}
	for _, p := range []*windows.LazyProc{getDisplayConfigBufferSizes, queryDisplayConfig} {
		if err := p.Find(); err != nil {
			return unknown(err)
		}
	}
	const onlyActivePaths = 2 // QDC_ONLY_ACTIVE_PATHS
	// Displays may come between the two calls; then the second says so.
	for try := 0; ; try++ {
		var paths, modes uint32
		if code, _, _ := getDisplayConfigBufferSizes.Call(onlyActivePaths, uintptr(unsafe.Pointer(&paths)), uintptr(unsafe.Pointer(&modes))); code != 0 {
			return unknown(windows.Errno(code))
		}
		// Of uint64, for their alignment; one more, for there is no address of none.
		pathBuf, modeBuf := make([]uint64, paths*pathSize/8+1), make([]uint64, modes*modeSize/8+1)
		code, _, _ := queryDisplayConfig.Call(onlyActivePaths, uintptr(unsafe.Pointer(&paths)), uintptr(unsafe.Pointer(&pathBuf[0])),
			uintptr(unsafe.Pointer(&modes)), uintptr(unsafe.Pointer(&modeBuf[0])), 0)
		if errors.Is(windows.Errno(code), windows.ERROR_INSUFFICIENT_BUFFER) && try < 5 {
			continue
		}
		if code != 0 {
			return unknown(windows.Errno(code))
		}
		return parsePaths(unsafe.Slice((*byte)(unsafe.Pointer(&pathBuf[0])), int(paths)*pathSize))
	}
}

// silent: Windows tells of displays to visible windows only, so it is polled.
type silent struct{}

func listen(func()) notifier { return silent{} }

func (silent) pushes() bool { return false }
func (silent) close()       {}
