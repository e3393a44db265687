package confedit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// childEnv makes the test binary play a second installer: it names the file
// and the first number to append.
const childEnv = "CONFEDIT_TEST_CHILD"

func TestMain(m *testing.M) {
	if arg := os.Getenv(childEnv); arg != "" {
		number, path, _ := strings.Cut(arg, ":")
		first, err := strconv.Atoi(number)
		if err == nil {
			err = installMany(context.Background(), path, first)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	raceWriters = 8 // per process
	raceEdits   = 3 // per writer
)

// installMany appends numbers from first on with all writers at once.
func installMany(ctx context.Context, path string, first int) error {
	errs := make(chan error, raceWriters)
	for w := range raceWriters {
		go func() { // ends when its edits are done; the loop below waits
			for e := range raceEdits {
				_, err := Update(ctx, path, Options{Now: noon}, installing(Strict, first+w*raceEdits+e))
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range raceWriters {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// Two processes with eight writers each edit one file while a reader, which
// knows no lock, looks at it all the time.
func TestUpdate_writersNeitherTearNorLose(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	write(t, path, "{\n  \"theirs\": true\n}\n", 0o600)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // far above what a busy machine takes
	defer cancel()

	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() { // ends when done is closed
		for {
			data, err := os.ReadFile(path)
			var v struct{ Theirs bool }
			if err == nil {
				err = json.Unmarshal(data, &v)
			}
			if err != nil || !v.Theirs {
				t.Errorf("a reader saw %q: %v", data, err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})

	child := exec.CommandContext(ctx, exe)
	child.Env = append(os.Environ(), fmt.Sprintf("%s=1000:%s", childEnv, path))
	var stderr strings.Builder
	child.Stderr = &stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := installMany(ctx, path, 2000); err != nil {
		t.Error(err)
	}
	if err := child.Wait(); err != nil {
		t.Errorf("second process: %v: %s", err, stderr.String())
	}
	close(done)
	reader.Wait()

	d := mustJSON(t, read(t, path), Strict)
	var got []int
	if _, err := d.Decode(Path{"hooks", "Stop"}, &got); err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	for _, n := range got {
		seen[n]++
	}
	for i := range raceWriters * raceEdits {
		for _, n := range []int{1000 + i, 2000 + i} {
			if seen[n] != 1 {
				t.Errorf("%d is there %d times, want once", n, seen[n])
			}
		}
	}
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, "lock") || strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s was left behind", name)
		}
	}
}
