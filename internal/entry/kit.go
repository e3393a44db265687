package entry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/child"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Kit is what packs may use of the world: programs, and values that outlive the
// hook process.
type Kit struct {
	OS      string // runtime.GOOS
	Getenv  func(string) string
	Environ []string
	Dirs    paths.Dirs
}

// kit is the hook's.
func (h *hook) kit() *Kit {
	return &Kit{OS: h.env.OS, Getenv: h.env.Getenv, Environ: h.env.Environ, Dirs: h.dirs}
}

// defaultOutput bounds a stream of a command in bytes.
const defaultOutput = 64 << 10

// Run runs a command for a pack; see policy.Runner.
func (k *Kit) Run(ctx context.Context, c policy.Command) (policy.Result, error) {
	spec := child.Spec{Dir: c.Dir, Env: append(append([]string{}, k.Environ...), c.Env...), Stdin: c.Stdin, MaxOutput: c.MaxOutput}
	if spec.MaxOutput == 0 {
		spec.MaxOutput = defaultOutput
	}
	if spec.Dir == "" {
		spec.Dir = k.Dirs.Home
	}
	argv, raw := k.words(c)
	spec.Raw = raw
	if len(argv) == 0 {
		return policy.Result{}, errors.New("no command to run")
	}
	path, err := k.Look(argv[0])
	if err != nil {
		return policy.Result{}, err
	}
	spec.Path, spec.Args = path, argv[1:]
	if c.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Limit)
		defer cancel()
	}
	r, err := child.Run(ctx, spec)
	return policy.Result(r), err
}

// words are the words of a command; raw is its line for Windows' cmd, which reads
// quotes in a way of its own.
func (k *Kit) words(c policy.Command) (argv []string, raw string) {
	switch {
	case c.Script == "":
		return c.Argv, ""
	case k.OS == "windows":
		return []string{"cmd", "/d", "/s", "/c", c.Script}, `cmd /d /s /c "` + c.Script + `"`
	}
	return []string{"sh", "-c", c.Script}, ""
}

// Look finds a program; see policy.Runner. Relative entries of PATH are left out,
// as is the working folder: a project must not bring the programs that judge it.
func (k *Kit) Look(program string) (string, error) {
	if filepath.IsAbs(program) {
		if !k.runnable(program) {
			return "", fmt.Errorf("%q: %w", program, fs.ErrNotExist)
		}
		return program, nil
	}
	if program == "" || strings.ContainsAny(program, `/\`) {
		return "", fmt.Errorf("%q is neither a bare name nor an absolute path", program)
	}
	names := []string{program}
	if k.OS == "windows" && filepath.Ext(program) == "" {
		names = []string{program + ".exe", program + ".cmd", program + ".bat"}
	}
	for _, dir := range filepath.SplitList(k.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range names {
			if path := filepath.Join(dir, name); k.runnable(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%q is not on PATH: %w", program, fs.ErrNotExist)
}

func (k *Kit) runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (k.OS == "windows" || info.Mode()&0o111 != 0)
}

// Store is where a pack keeps values; see policy.Store.
func (k *Kit) Store(pack string) policy.Store {
	return store(k.Dirs.Join(k.Dirs.State, "hooks", pack))
}

// store is a folder with one file for each key.
type store string

// storeLife is how long a value is kept that nobody touches.
const storeLife = 7 * 24 * time.Hour

// lockPause is how often a lock that another process holds is tried again.
const lockPause = 2 * time.Millisecond

// Update changes one value; see policy.Store.
func (s store) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(string(s), "lock"))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return fmt.Errorf("waiting for %q: %w", lock.Path(), err)
	}
	defer lock.Close()
	file := s.file(key)
	old, err := os.ReadFile(file)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return err
	}
	if isNew {
		old = nil
	}
	value, err := change(old)
	switch {
	case err != nil:
		return err
	case value == nil && isNew:
		return nil
	case value == nil:
		return os.Remove(file)
	}
	if isNew {
		s.forget(time.Now().Add(-storeLife))
	}
	return replaceFile(file, value)
}

// read is a value without changing it; nil where there is none.
func (s store) read(key string) ([]byte, error) {
	value, err := os.ReadFile(s.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return value, err
}

// file is where a value lies.
func (s store) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(string(s), hex.EncodeToString(sum[:16])+".value")
}

// forget removes values that nobody touched since then. It is done whenever a new
// one comes, so that their number stays bounded by the keys of a week.
func (s store) forget(since time.Time) {
	entries, err := os.ReadDir(string(s))
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".value") && info.ModTime().Before(since) {
			_ = os.Remove(filepath.Join(string(s), e.Name())) // the next one tries again
		}
	}
}
