//go:build !unix

package lasting

// syncDir has nothing to do: Windows keeps no folder apart from its file system's
// journal, and has no call for it.
func syncDir(string) error { return nil }
