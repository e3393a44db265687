package sleep

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// System32 only: nobody's DLL from another folder is loaded.
var (
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	powrprof = windows.NewLazySystemDLL("powrprof.dll")
	user32   = windows.NewLazySystemDLL("user32.dll")

	powerCreateRequest      = kernel32.NewProc("PowerCreateRequest")
	powerSetRequest         = kernel32.NewProc("PowerSetRequest")
	callNtPowerInformation  = powrprof.NewProc("CallNtPowerInformation")
	powerGetActiveScheme    = powrprof.NewProc("PowerGetActiveScheme")
	powerSetActiveScheme    = powrprof.NewProc("PowerSetActiveScheme")
	powerReadACValueIndex   = powrprof.NewProc("PowerReadACValueIndex")
	powerReadDCValueIndex   = powrprof.NewProc("PowerReadDCValueIndex")
	powerWriteACValueIndex  = powrprof.NewProc("PowerWriteACValueIndex")
	powerWriteDCValueIndex  = powrprof.NewProc("PowerWriteDCValueIndex")
	powerSettingAccessCheck = powrprof.NewProc("PowerSettingAccessCheck")
	setSuspendState         = powrprof.NewProc("SetSuspendState")
	sendNotifyMessage       = user32.NewProc("SendNotifyMessageW")
)

// System is the Windows that this program runs on.
type System struct{}

var _ Power = System{}

// missing reports a function that this Windows does not have: calling it would
// end the program.
func missing(p *windows.LazyProc) error {
	if err := p.Find(); err != nil {
		return fmt.Errorf("%w (%w)", ErrUnsupported, err)
	}
	return nil
}

// barred puts Windows' codes for "no" into our words.
func barred(doing string, err error) error {
	var code windows.Errno
	if !errors.As(err, &code) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	switch code {
	case windows.ERROR_ACCESS_DISABLED_BY_POLICY:
		return &BarredError{Doing: doing, Who: "group policy", Err: err}
	case windows.ERROR_ACCESS_DENIED, windows.ERROR_PRIVILEGE_NOT_HELD:
		return &BarredError{Doing: doing, Who: "Windows", Err: err}
	case windows.ERROR_NOT_SUPPORTED, windows.ERROR_CALL_NOT_IMPLEMENTED, windows.ERROR_INVALID_FUNCTION:
		return fmt.Errorf("%s: %w (%w)", doing, ErrUnsupported, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// reasonContext is REASON_CONTEXT (minwinbase.h) with a plain text.
type reasonContext struct {
	version uint32
	flags   uint32
	reason  *uint16
	_       [2]uintptr // the rest of the union
}

// Request makes a power request object and sets its kinds. Its handle is not
// inheritable, and Windows drops it with the process.
func (System) Request(reason string, kinds ...RequestKind) (io.Closer, error) {
	const doing = "a power request"
	for _, p := range []*windows.LazyProc{powerCreateRequest, powerSetRequest} {
		if err := missing(p); err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
	}
	text, err := windows.UTF16PtrFromString(strings.ReplaceAll(reason, "\x00", " "))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	const simpleString = 1 // POWER_REQUEST_CONTEXT_SIMPLE_STRING
	c := &reasonContext{flags: simpleString, reason: text}
	h, _, err := powerCreateRequest.Call(uintptr(unsafe.Pointer(c)))
	runtime.KeepAlive(c)
	if windows.Handle(h) == windows.InvalidHandle || h == 0 {
		return nil, barred(doing, err)
	}
	r := &request{handle: windows.Handle(h)}
	for _, k := range kinds {
		if ok, _, err := powerSetRequest.Call(h, uintptr(k)); ok == 0 {
			r.Close()
			return nil, barred(doing, err)
		}
	}
	return r, nil
}

type request struct {
	once   sync.Once
	handle windows.Handle
}

// Close drops the object, and with it all its kinds.
func (r *request) Close() (err error) {
	r.once.Do(func() { err = windows.CloseHandle(r.handle) })
	return err
}

// powerInformation reads one of CallNtPowerInformation's classes.
func powerInformation(class uint32, out []byte) error {
	if err := missing(callNtPowerInformation); err != nil {
		return err
	}
	status, _, _ := callNtPowerInformation.Call(uintptr(class), 0, 0, uintptr(unsafe.Pointer(&out[0])), uintptr(len(out)))
	if status != 0 {
		return windows.NTStatus(status)
	}
	return nil
}

// Execution asks for the class SystemExecutionState.
func (System) Execution() (Execution, error) {
	var state [1]uint32 // aligned for what is written there
	if err := powerInformation(16, unsafe.Slice((*byte)(unsafe.Pointer(&state[0])), 4)); err != nil {
		return 0, fmt.Errorf("reading what is held off: %w", err)
	}
	return Execution(state[0]), nil
}

// Abilities asks for the class SystemPowerCapabilities.
func (System) Abilities() (Abilities, error) {
	var buf [abilitiesSize / 4]uint32
	b := unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), abilitiesSize)
	if err := powerInformation(4, b); err != nil {
		return Abilities{}, fmt.Errorf("reading what the machine can do: %w", err)
	}
	return parseAbilities(b)
}

// Enter calls SetSuspendState, which returns after the wake-up. Programs are not
// asked whether they mind (Windows has not done that since Vista), and timers may
// wake the machine as the person's settings have it.
func (s System) Enter(how Mode) error {
	if err := missing(setSuspendState); err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	if err := s.Allowed(); err != nil {
		return err
	}
	hibernate := uintptr(0)
	if how == Hibernate {
		hibernate = 1
	}
	// BOOLEAN is one byte: the rest of the register means nothing.
	if ok, _, err := setSuspendState.Call(hibernate, 0, 0); byte(ok) == 0 {
		return barred(string(how), err)
	}
	return nil
}

// Allowed enables the privilege that Enter needs.
func (System) Allowed() error {
	if err := enableShutdownPrivilege(); err != nil {
		return &BarredError{Doing: "sleep", Who: "SeShutdownPrivilege", Err: err}
	}
	return nil
}

// enableShutdownPrivilege turns on what users of a desktop have, turned off.
func enableShutdownPrivilege() error {
	var token windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES|windows.TOKEN_QUERY, &token); err != nil {
		return err
	}
	defer token.Close()
	name, err := windows.UTF16PtrFromString("SeShutdownPrivilege")
	if err != nil {
		return err
	}
	p := windows.Tokenprivileges{PrivilegeCount: 1}
	p.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
	if err := windows.LookupPrivilegeValue(nil, name, &p.Privileges[0].Luid); err != nil {
		return err
	}
	if err := windows.AdjustTokenPrivileges(token, false, &p, 0, nil, nil); err != nil {
		return err
	}
	// It succeeds as well where the user does not have the privilege at all.
	enabled, err := privilegeEnabled(token, p.Privileges[0].Luid)
	if err != nil {
		return err
	}
	if !enabled {
		return windows.ERROR_NOT_ALL_ASSIGNED
	}
	return nil
}

func privilegeEnabled(token windows.Token, id windows.LUID) (bool, error) {
	var size uint32
	err := windows.GetTokenInformation(token, windows.TokenPrivileges, nil, 0, &size)
	if size == 0 {
		return false, err
	}
	buf := make([]uint32, (size+3)/4)
	if err := windows.GetTokenInformation(token, windows.TokenPrivileges, (*byte)(unsafe.Pointer(&buf[0])), size, &size); err != nil {
		return false, err
	}
	for _, p := range (*windows.Tokenprivileges)(unsafe.Pointer(&buf[0])).AllPrivileges() {
		if p.Luid == id {
			return p.Attributes&windows.SE_PRIVILEGE_ENABLED != 0, nil
		}
	}
	return false, nil
}

// ScreenOff asks every window to have the screens turned off; the system's own
// window does.
func (System) ScreenOff() error {
	const broadcast, sysCommand, monitorPower, off = 0xffff, 0x0112, 0xf170, 2
	if err := missing(sendNotifyMessage); err != nil {
		return fmt.Errorf("turning the screens off: %w", err)
	}
	if ok, _, err := sendNotifyMessage.Call(broadcast, sysCommand, monitorPower, off); ok == 0 {
		return barred("turning the screens off", err)
	}
	return nil
}

// The GUIDs of the setting that says what closing the lid does (LIDACTION in
// `powercfg /aliases`).
const (
	buttonsSubgroup = "4f971e89-eebd-4455-a8de-9e59040e7347"
	lidSetting      = "5ca83367-6e45-459f-a27b-476b1d01c936"
)

// call runs one of the functions that return a code instead of setting one.
//
//go:uintptrescapes
func call(p *windows.LazyProc, args ...uintptr) error {
	if err := missing(p); err != nil {
		return err
	}
	if code, _, _ := p.Call(args...); code != 0 {
		return windows.Errno(code)
	}
	return nil
}

// ActiveScheme asks which scheme counts.
func (System) ActiveScheme() (string, error) {
	var id *windows.GUID
	if err := call(powerGetActiveScheme, 0, uintptr(unsafe.Pointer(&id))); err != nil {
		return "", err
	}
	defer windows.LocalFree(windows.Handle(unsafe.Pointer(id)))
	return strings.ToLower(strings.Trim(id.String(), "{}")), nil
}

// lidSettingOf returns the GUIDs that name the lid setting of a scheme.
func lidSettingOf(scheme string) (ids [3]*windows.GUID, err error) {
	for i, text := range []string{scheme, buttonsSubgroup, lidSetting} {
		id, err := windows.GUIDFromString("{" + text + "}")
		if err != nil {
			return ids, fmt.Errorf("power scheme %q: %w", text, err)
		}
		ids[i] = &id
	}
	return ids, nil
}

// LidAction reads the lid setting of a scheme.
func (System) LidAction(scheme string, mains bool) (uint32, error) {
	ids, err := lidSettingOf(scheme)
	if err != nil {
		return 0, err
	}
	p := powerReadDCValueIndex
	if mains {
		p = powerReadACValueIndex
	}
	var action uint32
	err = call(p, 0, uintptr(unsafe.Pointer(ids[0])), uintptr(unsafe.Pointer(ids[1])), uintptr(unsafe.Pointer(ids[2])), uintptr(unsafe.Pointer(&action)))
	runtime.KeepAlive(ids)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		return 0, fmt.Errorf("%w (%w)", ErrNoSetting, err)
	}
	return action, err
}

// SetLidAction writes the lid setting of a scheme, and applies the scheme where
// it is the active one. Written values count only then.
func (s System) SetLidAction(scheme string, mains bool, action uint32) error {
	const doing = "changing what closing the lid does"
	ids, err := lidSettingOf(scheme)
	if err != nil {
		return err
	}
	p, access := powerWriteDCValueIndex, uintptr(1) // ACCESS_DC_POWER_SETTING_INDEX
	if mains {
		p, access = powerWriteACValueIndex, 0
	}
	// A policy wins over the value, which can be written all the same.
	if err := call(powerSettingAccessCheck, access, uintptr(unsafe.Pointer(ids[2]))); err != nil && !errors.Is(err, ErrUnsupported) {
		return barred(doing, err)
	}
	err = call(p, 0, uintptr(unsafe.Pointer(ids[0])), uintptr(unsafe.Pointer(ids[1])), uintptr(unsafe.Pointer(ids[2])), uintptr(action))
	runtime.KeepAlive(ids)
	if err != nil {
		return barred(doing, err)
	}
	if active, err := s.ActiveScheme(); err != nil || active != scheme {
		return err // that of a scheme that rests counts once it is chosen
	}
	err = call(powerSetActiveScheme, 0, uintptr(unsafe.Pointer(ids[0])))
	runtime.KeepAlive(ids)
	if err != nil {
		return barred(doing, err)
	}
	return nil
}
