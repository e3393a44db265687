package atlogin

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows/registry"
)

// runOnce is where Windows looks at a login. It takes a value out when it has run
// it; the mark before the name makes that after the command's end, not before.
const (
	runOnce   = `Software\Microsoft\Windows\CurrentVersion\RunOnce`
	valueName = "!lidguard-restore"
)

// Arm has the command run at the next login. Arming again replaces it.
func Arm(program string, args ...string) error {
	line := Line(program, args...)
	if len(line) > longest {
		return fmt.Errorf("arming the next login: the command has %d characters, Windows takes %d", len(line), longest)
	}
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runOnce, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("arming the next login: %w", err)
	}
	defer key.Close()
	if err := key.SetStringValue(valueName, line); err != nil {
		return fmt.Errorf("arming the next login: %w", err)
	}
	return nil
}

// Armed returns the command that waits, or "".
func Armed() (string, error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runOnce, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading what the next login runs: %w", err)
	}
	defer key.Close()
	line, _, err := key.GetStringValue(valueName)
	if err != nil && !errors.Is(err, registry.ErrNotExist) {
		return "", fmt.Errorf("reading what the next login runs: %w", err)
	}
	return line, nil
}

// Disarm takes the command out. Where none waits it does nothing.
func Disarm() error {
	key, err := registry.OpenKey(registry.CURRENT_USER, runOnce, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("disarming the next login: %w", err)
	}
	defer key.Close()
	if err := key.DeleteValue(valueName); err != nil && !errors.Is(err, registry.ErrNotExist) {
		return fmt.Errorf("disarming the next login: %w", err)
	}
	return nil
}
