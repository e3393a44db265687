package confedit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a taken lock is asked for again. A write under the
// lock takes a few milliseconds, most of them for syncing.
const lockPoll = 5 * time.Millisecond

// lock takes the advisory lock of target and returns what gives it back. It
// is a file beside target, so that everyone who may write target agrees on
// it, whatever their environment says. It is removed on release, to leave no
// litter in folders that are not ours.
func lock(ctx context.Context, target string) (unlock func(), err error) {
	name := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".lidguard-lock")
	l := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	for try := 0; ; try++ {
		if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("another program holds the lock %q: %w", name, ctx.Err())
			}
			if busy(err) && try < 100 {
				time.Sleep(lockPoll)
				continue
			}
			return nil, fmt.Errorf("locking %q: %w", name, plainCause(err))
		}
		// The holder before us removed the file. If we had opened it
		// before that, we now hold a lock nobody else can see.
		held, err1 := l.Stat()
		there, err2 := os.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(held, there) {
			return func() { releaseLock(l, name) }, nil
		}
		l.Unlock()
	}
}
