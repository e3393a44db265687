//go:build linux

package endpoint

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The dialling half is in every hook process; what it links, every hook pays.
func TestImportsStaySmall(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	for _, bad := range []string{"net/http", "crypto/tls", "os/exec", "encoding/json", "regexp", "github.com/godbus/dbus/v5"} {
		if slices.Contains(deps, bad) {
			t.Errorf("imports %s", bad)
		}
	}
	for _, d := range deps {
		if strings.Contains(d, ".") && !strings.HasPrefix(d, "golang.org/x/sys/") && !strings.HasPrefix(d, "vendor/") &&
			!strings.HasSuffix(d, "internal/platform/endpoint") {
			t.Errorf("imports %s", d)
		}
	}
}
