//go:build !windows

package settings

import "github.com/google/renameio/v2"

// writeFile replaces path by data, with the mode of a file that may hold
// webhook addresses with tokens in them.
func writeFile(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o600)
}
