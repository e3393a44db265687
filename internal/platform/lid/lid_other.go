//go:build !linux && !darwin && !windows

package lid

import "runtime"

func open(Options, func()) backend { return nothing{runtime.GOOS} }
