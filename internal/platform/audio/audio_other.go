//go:build !linux && !darwin && !windows

package audio

import "runtime"

const system = runtime.GOOS
