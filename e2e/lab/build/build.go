//go:build linux

// Package build makes programs of the checkout. In comes a package path, out
// goes the path of a binary that everybody may run. It builds each program
// once in a test process and never installs anything.
package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
)

var (
	mu    sync.Mutex
	built = map[string]string{}
)

// Program builds a main package of the checkout, such as "./cmd/lidguard",
// without cgo. Programs of one set lie in one folder.
func Program(t testing.TB, set, path string) string {
	t.Helper()
	guard.Require(t)
	mu.Lock()
	defer mu.Unlock()
	binary := filepath.Join(guard.Scratch(), set, filepath.Base(path))
	if built[binary] != "" {
		return binary
	}
	cmd := exec.Command("go", "build", "-o", binary, path)
	cmd.Dir = guard.Root()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", path, err, out)
	}
	built[binary] = path
	return binary
}
