package lasting

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Files are values that are files of one folder, for the fake laptop and tests:
// the name is the file's name, the text without its line break is the value.
type Files struct{ Dir string }

// Read reads a value.
func (f Files) Read(_ context.Context, name string) (string, error) {
	data, err := readFile(filepath.Join(f.Dir, filepath.Base(name)))
	if err != nil {
		return "", fmt.Errorf("reading a value: %w", err)
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

// Write changes a value that exists.
func (f Files) Write(_ context.Context, name, value string) error {
	path := filepath.Join(f.Dir, filepath.Base(name))
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("writing a value: %w", err)
	}
	if err := replace(path, []byte(value+"\n")); err != nil {
		return fmt.Errorf("writing a value: %w", err)
	}
	return nil
}
