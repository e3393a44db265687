package child

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

type familyOf = *family

// bound limits the memory of the whole job.
func (f *family) bound(memory uint64) {
	if memory == 0 || f.job == 0 {
		return
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_JOB_MEMORY},
		JobMemoryLimit:        uintptr(memory)}
	// Without it the helper is only less bounded.
	_, _ = windows.SetInformationJobObject(f.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
}
