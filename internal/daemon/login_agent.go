package daemon

import "github.com/lidguard-go/lidguard/internal/platform/lasting"

// LoginAgent is the file by which macOS puts lasting values back at a login.
type LoginAgent = lasting.LoginAgent
