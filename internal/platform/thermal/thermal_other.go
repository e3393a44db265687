//go:build !linux && !darwin && !windows

package thermal

import "runtime"

const system = runtime.GOOS
