package child

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// family is the job object that holds a program and what it starts.
type family struct{ job windows.Handle }

func start(cmd *exec.Cmd, raw string) (*family, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE}}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CmdLine: raw}
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	// What it starts before this line is not held; it has hardly begun then.
	if p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid)); err == nil {
		_ = windows.AssignProcessToJobObject(job, p)
		windows.CloseHandle(p)
	}
	return &family{job}, nil
}

// signalOf is "": Windows ends nothing by a signal.
func signalOf(*os.ProcessState) string { return "" }

// kill ends all that are left of it: closing the job does.
func (f *family) kill() {
	if f.job != 0 {
		windows.CloseHandle(f.job)
		f.job = 0
	}
}
