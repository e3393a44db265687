//go:build !linux && !darwin && !windows

package display

import "runtime"

const system = runtime.GOOS
