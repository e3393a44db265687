//go:build !linux && !darwin && !windows

package battery

import "runtime"

const system = runtime.GOOS
