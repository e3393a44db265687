//go:build !linux && !darwin && !windows

package sleep

import "runtime"

func open(Options) backend { return unsupported{runtime.GOOS} }

func openDesktop(DesktopOptions) desktopBackend { return noDesktop{unsupported{runtime.GOOS}} }
