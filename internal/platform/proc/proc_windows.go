package proc

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

func filetime(f windows.Filetime) uint64 {
	return uint64(f.HighDateTime)<<32 | uint64(f.LowDateTime)
}

// entries returns the process table by id.
func entries() (map[int]windows.ProcessEntry32, error) {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	defer windows.CloseHandle(snap)
	all := map[int]windows.ProcessEntry32{}
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &e); err == nil; err = windows.Process32Next(snap, &e) {
		all[int(e.ProcessID)] = e
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	return all, nil
}

// times returns when a process began, and the processor time it used in units
// of 100 ns.
func times(h windows.Handle) (start, cpu uint64, err error) {
	var begin, end, kernel, user windows.Filetime
	err = windows.GetProcessTimes(h, &begin, &end, &kernel, &user)
	return filetime(begin), filetime(kernel) + filetime(user), err
}

func running(h windows.Handle) bool {
	r, err := windows.WaitForSingleObject(h, 0)
	return err == nil && r == uint32(windows.WAIT_TIMEOUT)
}

func (t Table) lookup(pid int) (Process, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w (%w)", pid, ErrGone, err)
	}
	defer windows.CloseHandle(h)
	start, _, err := times(h)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w (%w)", pid, ErrGone, err)
	}
	p := Process{ID: ID{pid, start}, Dead: !running(h)}
	if all, err := entries(); err == nil {
		e := all[pid]
		p.Parent = int(e.ParentProcessID)
		p.Comm = windows.UTF16ToString(e.ExeFile[:])
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) == nil {
		p.Exe = windows.UTF16ToString(buf[:n])
	}
	p.Argv = arguments(pid, h)
	if p.Comm == "" {
		p.Comm = filepath.Base(p.Exe)
	}
	return p, nil
}

// arguments reads the command line as the system recorded it (Windows 8.1 and
// later), else as it stands in the process's memory.
func arguments(pid int, h windows.Handle) []string {
	// The longest command line there can be, 32767 characters, and the structure
	// before it; aligned for that.
	buf := make([]uint64, (2*32768+64)/8)
	size := uint32(8 * len(buf))
	var line string
	if windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]), size, &size) == nil {
		line = (*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String()
	} else {
		line = lineInMemory(pid)
	}
	argv, err := windows.DecomposeCommandLine(line)
	if err != nil || line == "" {
		return nil
	}
	return argv
}

// lineInMemory follows the process environment block to the command line; ""
// where we may not read the process.
func lineInMemory(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	var info windows.PROCESS_BASIC_INFORMATION
	if windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation, unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil) != nil {
		return ""
	}
	read := func(at uintptr, into unsafe.Pointer, size uintptr) bool {
		return windows.ReadProcessMemory(h, at, (*byte)(into), size, nil) == nil
	}
	var peb windows.PEB
	var params windows.RTL_USER_PROCESS_PARAMETERS
	if !read(uintptr(unsafe.Pointer(info.PebBaseAddress)), unsafe.Pointer(&peb), unsafe.Sizeof(peb)) ||
		!read(uintptr(unsafe.Pointer(peb.ProcessParameters)), unsafe.Pointer(&params), unsafe.Sizeof(params)) ||
		params.CommandLine.Length < 2 {
		return ""
	}
	text := make([]uint16, params.CommandLine.Length/2)
	if !read(uintptr(unsafe.Pointer(params.CommandLine.Buffer)), unsafe.Pointer(&text[0]), uintptr(2*len(text))) {
		return ""
	}
	return windows.UTF16ToString(text)
}

// TreeCPU returns the processor time that a process and its descendants have
// used so far. Unlike on Linux, children that ended are forgotten.
func (t Table) TreeCPU(pid int) (time.Duration, error) {
	all, err := entries()
	if err != nil {
		return 0, err
	}
	if _, ok := all[pid]; !ok {
		return 0, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	children := map[int][]int{}
	for p, e := range all {
		children[int(e.ParentProcessID)] = append(children[int(e.ParentProcessID)], p)
	}
	var units uint64
	// A parent's id may have been used again by a younger process; only those
	// that began after their parent are its children.
	var add func(pid int, after uint64, depth int)
	add = func(pid int, after uint64, depth int) {
		h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
		if err != nil {
			return
		}
		start, cpu, err := times(h)
		windows.CloseHandle(h)
		if err != nil || start < after || depth > maxDepth {
			return
		}
		units += cpu
		for _, c := range children[pid] {
			if c != pid {
				add(c, start, depth+1)
			}
		}
	}
	add(pid, 0, 0)
	return time.Duration(units) * 100, nil
}
