package lasting

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// syncDir has nothing to do: Windows keeps no folder apart from its file system's
// journal, and has no call for it.
func syncDir(string) error { return nil }

// patiently does something to a file again for a second while another process has it
// open, or is replacing it: Windows refuses to replace or remove what somebody reads,
// and to open what somebody replaces. It says the same of a file that is really
// forbidden, hence the end.
func patiently(do func() error) error {
	for try := 0; ; try++ {
		err := do()
		passes := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !passes || try == 50 {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
