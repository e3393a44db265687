package audio

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	winmm            = windows.NewLazySystemDLL("winmm.dll")
	playSound        = winmm.NewProc("PlaySoundW")
	ole32            = windows.NewLazySystemDLL("ole32.dll")
	coCreateInstance = ole32.NewProc("CoCreateInstance")
)

func (p Player) play(ctx context.Context, sound string, percent int) error {
	return playWindows(ctx, winSpeaker{}, sound, percent)
}

// winSpeaker is the default output of this Windows.
type winSpeaker struct{}

// Play blocks in a thread of its own. When ctx ends first, the sound is stopped;
// Windows stops whatever this process plays.
func (winSpeaker) Play(ctx context.Context, alias, file string) error {
	const sync, noDefault, aliasFlag, fileFlag = 0x0, 0x2, 0x10000, 0x20000
	if err := playSound.Find(); err != nil {
		return fmt.Errorf("%w (%w)", ErrNoPlayer, err)
	}
	name, flags := alias, uintptr(sync|noDefault|aliasFlag)
	if file != "" {
		name, flags = file, sync|noDefault|fileFlag
	}
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { // ends with the sound, which the other branch stops
		ok, _, _ := playSound.Call(uintptr(unsafe.Pointer(text)), 0, flags)
		if ok == 0 {
			// It does not say why: no output, no such alias, no such format.
			done <- fmt.Errorf("%w: Windows does not play it", ErrNoPlayer)
			return
		}
		done <- nil
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		playSound.Call(0, 0, 0)
		return ctx.Err()
	}
}

// Volume reads the endpoint's.
func (winSpeaker) Volume() (level float32, muted bool, err error) {
	err = withEndpoint(func(e *comObject) error {
		var mute int32
		if err := e.call(endpointGetLevel, uintptr(unsafe.Pointer(&level))); err != nil {
			return err
		}
		if err := e.call(endpointGetMute, uintptr(unsafe.Pointer(&mute))); err != nil {
			return err
		}
		muted = mute != 0
		return nil
	})
	return level, muted, err
}

// SetVolume sets the endpoint's. The level is a floating point argument, and Go
// hands those on in the register that Windows takes them from on amd64 only.
func (winSpeaker) SetVolume(level float32) error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("the volume on %s: %w", runtime.GOARCH, ErrUnsupported)
	}
	return withEndpoint(func(e *comObject) error {
		return e.call(endpointSetLevel, uintptr(*(*uint32)(unsafe.Pointer(&level))), 0)
	})
}

// SetMute sets the endpoint's.
func (winSpeaker) SetMute(muted bool) error {
	value := uintptr(0)
	if muted {
		value = 1
	}
	return withEndpoint(func(e *comObject) error { return e.call(endpointSetMute, value, 0) })
}

// comObject is a COM object: a pointer to a table of functions, of which the
// third (2) releases it.
type comObject struct{ functions *[32]uintptr }

// The places in the tables (mmdeviceapi.h, endpointvolume.h).
const (
	comRelease                = 2
	enumeratorDefaultEndpoint = 4 // IMMDeviceEnumerator
	deviceActivate            = 3 // IMMDevice
	endpointSetLevel          = 7 // IAudioEndpointVolume, as a scalar
	endpointGetLevel          = 9
	endpointSetMute           = 14
	endpointGetMute           = 15
)

// comError is an HRESULT.
type comError uint32

func (e comError) Error() string { return fmt.Sprintf("Windows' sound system says %#08x", uint32(e)) }

//go:uintptrescapes
func (o *comObject) call(function int, args ...uintptr) error {
	all := append([]uintptr{uintptr(unsafe.Pointer(o))}, args...)
	r, _, _ := syscall.SyscallN(o.functions[function], all...)
	if int32(r) < 0 {
		return comError(r)
	}
	return nil
}

// withEndpoint opens the volume of the default output for f.
func withEndpoint(f func(*comObject) error) error {
	if err := coCreateInstance.Find(); err != nil {
		return err
	}
	runtime.LockOSThread() // COM is a matter of the thread
	defer runtime.UnlockOSThread()
	// S_FALSE: somebody has done so already, and it counts.
	switch err := windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED); err {
	case nil, windows.Errno(1):
		defer windows.CoUninitialize()
	default:
		return fmt.Errorf("starting COM: %w", err)
	}
	ids := [3]windows.GUID{}
	for i, text := range []string{
		"{BCDE0395-E52F-467C-8E3D-C4579291692E}", // the class MMDeviceEnumerator
		"{A95664D2-9614-4F35-A746-DE8DB63617E6}", // IMMDeviceEnumerator
		"{5CDF2C82-841E-4546-9722-0CF74078229A}", // IAudioEndpointVolume
	} {
		id, err := windows.GUIDFromString(text)
		if err != nil {
			return err
		}
		ids[i] = id
	}
	const everywhere, render, console = 0x17, 0, 0 // CLSCTX_ALL, eRender, eConsole
	var enumerator, device, endpoint *comObject
	r, _, _ := coCreateInstance.Call(uintptr(unsafe.Pointer(&ids[0])), 0, everywhere, uintptr(unsafe.Pointer(&ids[1])), uintptr(unsafe.Pointer(&enumerator)))
	if int32(r) < 0 {
		return comError(r)
	}
	defer enumerator.call(comRelease)
	if err := enumerator.call(enumeratorDefaultEndpoint, render, console, uintptr(unsafe.Pointer(&device))); err != nil {
		return fmt.Errorf("finding the default output: %w", err)
	}
	defer device.call(comRelease)
	if err := device.call(deviceActivate, uintptr(unsafe.Pointer(&ids[2])), everywhere, 0, uintptr(unsafe.Pointer(&endpoint))); err != nil {
		return fmt.Errorf("opening its volume: %w", err)
	}
	defer endpoint.call(comRelease)
	return f(endpoint)
}
