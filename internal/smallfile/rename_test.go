package smallfile

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Whoever reads a file gets the old content or the new one, and keeps nobody from
// replacing it; Windows alone knows other ways.
func TestRename_underReaders(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "rules.toml")
	put := func(content string) error {
		beside := filepath.Join(dir, "beside")
		if err := os.WriteFile(beside, []byte(content), 0o600); err != nil {
			return err
		}
		return Rename(beside, name)
	}
	if err := put("one"); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { // ends with stop
		for {
			select {
			case <-stop:
				return
			default:
			}
			if got, err := Read(name, 10); err != nil || string(got) != "one" && string(got) != "other" {
				t.Errorf("got %q, %v", got, err)
				return
			}
			time.Sleep(time.Millisecond) // most of the time nobody reads it
		}
	})
	for n := range 50 {
		if err := put([]string{"one", "other"}[n%2]); err != nil {
			t.Errorf("replacement %d: %v", n, err)
			break
		}
	}
	close(stop)
	readers.Wait()
}
