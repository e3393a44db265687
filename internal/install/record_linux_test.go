package install_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/install"
)

// TestPlan_pathThatIsNoText: the record of a file keeps the bytes of its path, which
// JSON alone would not.
func TestPlan_pathThatIsNoText(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, name := range []string{"config", install.ServerRecord("config")} {
		dir := t.TempDir()
		home := filepath.Join(dir, "h\xff\xfe")
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, "sub", "config")
		record := strings.Replace(name, "config", path, 1)
		store := install.Store{Path: filepath.Join(home, "state", "installed.json")}
		var plan install.Plan
		if err := plan.AddAs(record, path, false, install.Records{}, add); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Apply(ctx, now, store); err != nil {
			t.Fatal(err)
		}
		records, err := store.Load()
		if err != nil || len(records) != 1 || records[record] == nil || len(records[record].Dirs) != 1 || records[record].Dirs[0] != filepath.Dir(path) {
			t.Fatalf("records %+v %v", records, err)
		}
		var removal install.Plan
		if err := removal.AddAs(record, path, true, records, takeOut); err != nil {
			t.Fatal(err)
		}
		if _, err := removal.Apply(ctx, now, store); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}
