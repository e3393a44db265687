//go:build linux

package e2e

import (
	"os"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/pace"
)

func TestMain(m *testing.M) {
	pace.Watch()
	os.Exit(guard.Main(m))
}
