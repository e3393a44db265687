//go:build linux

package e2e

import (
	"os"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
)

func TestMain(m *testing.M) { os.Exit(guard.Main(m)) }
