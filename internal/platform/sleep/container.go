package sleep

import (
	"os"
	"path/filepath"
	"strings"
)

// InContainer names the kind of container that this process is in, as in
// "docker", or returns "": then the host sleeps, and nothing held here keeps it
// awake unless the host's own system bus was handed in. root is prefixed to
// paths; "" is the real one.
func InContainer(root string) string {
	// systemd writes the kind down for everybody (Container Interface); podman
	// and docker leave a file at the root.
	if b, err := os.ReadFile(filepath.Join(root, "/run/systemd/container")); err == nil {
		if kind := strings.TrimSpace(string(b)); kind != "" && kind != "wsl" {
			return kind
		}
	}
	for path, kind := range map[string]string{"/run/.containerenv": "podman", "/.dockerenv": "docker"} {
		if _, err := os.Stat(filepath.Join(root, path)); err == nil {
			return kind
		}
	}
	return ""
}
