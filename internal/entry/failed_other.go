//go:build !unix

package entry

// failed is not known here; a runtime that fails is waited for in vain.
func failed(int) bool { return false }
