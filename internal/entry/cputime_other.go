//go:build !unix

package entry

import "time"

// processorTime is nil: Windows counts it in clock ticks of 16 ms.
var processorTime func() time.Duration
