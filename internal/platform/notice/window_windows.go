package notice

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	user32 = windows.NewLazySystemDLL("user32.dll")

	registerClassEx                     = user32.NewProc("RegisterClassExW")
	createWindowEx                      = user32.NewProc("CreateWindowExW")
	destroyWindow                       = user32.NewProc("DestroyWindow")
	defWindowProc                       = user32.NewProc("DefWindowProcW")
	getMessage                          = user32.NewProc("GetMessageW")
	dispatchMessage                     = user32.NewProc("DispatchMessageW")
	postMessage                         = user32.NewProc("PostMessageW")
	postQuitMessage                     = user32.NewProc("PostQuitMessage")
	registerPowerSettingNotification    = user32.NewProc("RegisterPowerSettingNotification")
	unregisterPowerSettingNotification  = user32.NewProc("UnregisterPowerSettingNotification")
	registerSuspendResumeNotification   = user32.NewProc("RegisterSuspendResumeNotification")
	unregisterSuspendResumeNotification = user32.NewProc("UnregisterSuspendResumeNotification")
)

const (
	wmDestroy   = 0x0002
	wmClose     = 0x0010
	messageOnly = ^uintptr(2) // HWND_MESSAGE, -3

	className = "lidguard"
)

// windowClass is WNDCLASSEXW.
type windowClass struct {
	size, style                        uint32
	procedure                          uintptr
	classExtra, windowExtra            int32
	instance, icon, cursor, background uintptr
	menuName, className                *uint16
	smallIcon                          uintptr
}

// message is MSG.
type message struct {
	window         uintptr
	message        uint32
	wparam, lparam uintptr
	time           uint32
	x, y           int32
	_              uint32
}

// powerSetting is POWERBROADCAST_SETTING up to its data.
type powerSetting struct {
	setting windows.GUID
	length  uint32
}

// Windows calls one procedure for all windows of a class, and Go's callbacks are
// never given back: one class and one callback for the process, and a table of
// who hears which window.
var (
	classOnce sync.Once
	classErr  error

	windowsMu sync.Mutex
	listeners = map[uintptr]func(Kind){}
)

// Window hears until it is closed.
type Window struct {
	handle uintptr
	done   chan struct{} // closed when its thread has ended
}

// Open makes a window and calls tell from its thread, one call at a time, the
// first perhaps before Open has returned. tell must return at once: the machine
// waits with its sleep.
func Open(tell func(Kind)) (*Window, error) {
	w := &Window{done: make(chan struct{})}
	opened := make(chan error)
	go w.run(tell, opened) // ends with Close, which waits for it
	if err := <-opened; err != nil {
		return nil, fmt.Errorf("listening for lid and sleep: %w", err)
	}
	return w, nil
}

// Close ends the window. A second call does nothing.
func (w *Window) Close() {
	select {
	case <-w.done:
		return
	default:
	}
	postMessage.Call(w.handle, wmClose, 0, 0)
	<-w.done
}

// run is the window's thread: Windows gives messages to the thread that made the
// window, and to no other.
func (w *Window) run(tell func(Kind), opened chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(w.done)
	release, err := w.create(tell)
	opened <- err
	if err != nil {
		return
	}
	defer release()
	var m message
	for {
		// 0 is the end, -1 an error, of a window that is not there any more.
		if got, _, _ := getMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0); int32(got) <= 0 {
			return
		}
		dispatchMessage.Call(uintptr(unsafe.Pointer(&m)))
	}
}

func (w *Window) create(tell func(Kind)) (release func(), err error) {
	for _, p := range []*windows.LazyProc{registerClassEx, createWindowEx, registerPowerSettingNotification} {
		if err := p.Find(); err != nil {
			return nil, err
		}
	}
	name := windows.StringToUTF16Ptr(className)
	classOnce.Do(func() {
		c := windowClass{procedure: windows.NewCallback(procedure), className: name}
		c.size = uint32(unsafe.Sizeof(c))
		if atom, _, err := registerClassEx.Call(uintptr(unsafe.Pointer(&c))); atom == 0 {
			classErr = err
		}
	})
	if classErr != nil {
		return nil, classErr
	}
	h, _, err := createWindowEx.Call(0, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(name)), 0, 0, 0, 0, 0, messageOnly, 0, 0, 0)
	if h == 0 {
		return nil, err
	}
	w.handle = h
	windowsMu.Lock()
	listeners[h] = tell
	windowsMu.Unlock()
	var registered []uintptr
	var suspends uintptr
	release = func() {
		for _, r := range registered {
			unregisterPowerSettingNotification.Call(r)
		}
		if suspends != 0 {
			unregisterSuspendResumeNotification.Call(suspends)
		}
		windowsMu.Lock()
		delete(listeners, h)
		windowsMu.Unlock()
	}
	for _, text := range settings() {
		id, err := windows.GUIDFromString("{" + text + "}")
		if err != nil {
			release()
			destroyWindow.Call(h)
			return nil, err
		}
		r, _, err := registerPowerSettingNotification.Call(h, uintptr(unsafe.Pointer(&id)), 0) // DEVICE_NOTIFY_WINDOW_HANDLE
		if r == 0 && text == lidSwitch {
			release()
			destroyWindow.Call(h)
			return nil, err
		}
		if r != 0 {
			registered = append(registered, r)
		}
	}
	// Message-only windows get no broadcasts, so sleep and wake-up are asked for
	// by name (Windows 8 and later). Without, the clocks tell of a sleep.
	if registerSuspendResumeNotification.Find() == nil {
		suspends, _, _ = registerSuspendResumeNotification.Call(h, 0)
	}
	return release, nil
}

// procedure is called by Windows inside dispatchMessage, and inside getMessage
// for messages that are sent rather than posted.
func procedure(window uintptr, msg uint32, wparam, lparam uintptr) uintptr {
	switch msg {
	case wmClose:
		destroyWindow.Call(window)
		return 0
	case wmDestroy:
		postQuitMessage.Call(0)
		return 0
	case wmPowerBroadcast:
		var setting string
		var data []byte
		if wparam == pbtSettingChange && lparam != 0 {
			setting, data = settingAt(lparam)
		}
		windowsMu.Lock()
		tell := listeners[window]
		windowsMu.Unlock()
		if k := decode(msg, wparam, setting, data); k != "" && tell != nil {
			tell(k)
		}
		return 1 // TRUE: granted
	}
	r, _, _ := defWindowProc.Call(window, uintptr(msg), wparam, lparam)
	return r
}

// settingAt reads the POWERBROADCAST_SETTING that a message points to.
func settingAt(lparam uintptr) (setting string, data []byte) {
	p := *(**powerSetting)(unsafe.Pointer(&lparam)) // Windows' memory, which Go never moves
	data = make([]byte, min(p.length, 16))
	copy(data, unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))), len(data)))
	return strings.Trim(p.setting.String(), "{}"), data
}
