//go:build !darwin && !windows

package daemon

import "github.com/lidguard-go/lidguard/internal/platform/lasting"

// systemValues are the lasting values that this build changes: none. logind's
// locks end with the process that holds them.
func systemValues() lasting.Values { return nil }
