package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
)

// fakeLid is the fake laptop's lasting lid setting: a file "lid" in the folder
// "values" of its control folder. Where it exists, the lid hold changes it as
// macOS and Windows have it: it outlives the runtime, and a keeper puts it back.
const fakeLid = "lid"

type lastingFake struct {
	awake.Machine
	store  *lasting.Store
	keeper *lasting.Keeper

	mu   sync.Mutex // held over a whole change
	lids int        // lid locks that stand
}

// withLastingLid adds the lid setting to the fake laptop in dir if it has one.
func withLastingLid(m awake.Machine, closeIt func(), env func(string) string, dir string) (awake.Machine, func(), error) {
	values := lasting.Files{Dir: filepath.Join(dir, "values")}
	if _, err := values.Read(context.Background(), fakeLid); err != nil {
		return m, closeIt, nil
	}
	dirs, err := paths.Resolve("linux", env)
	if err != nil {
		closeIt()
		return nil, nil, err
	}
	owner := fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())
	f := &lastingFake{Machine: m, store: &lasting.Store{Path: dirs.Pending(), Values: values, Owner: owner, Now: time.Now},
		keeper: newKeeper(env, dirs, owner)}
	return f, func() {
		ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
		defer cancel()
		_ = f.store.PutBack(ctx) // else the keeper tries again
		_ = f.keeper.Close(ctx)
		closeIt()
	}, nil
}

// Acquire takes a lock; the first of the lid changes the setting.
func (f *lastingFake) Acquire(ctx context.Context, hold awake.Hold, reason string) (awake.Lock, error) {
	if hold != awake.HoldLid {
		return f.Machine.Acquire(ctx, hold, reason)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.keeper.Ensure(ctx); err != nil {
		return nil, err
	}
	if err := f.store.Change(ctx, fakeLid, "nothing"); err != nil {
		return nil, err
	}
	l, err := f.Machine.Acquire(ctx, hold, reason)
	if err != nil {
		return nil, err
	}
	f.lids++
	return &lastingFakeLock{Lock: l, f: f}, nil
}

type lastingFakeLock struct {
	awake.Lock
	f    *lastingFake
	once sync.Once
}

func (l *lastingFakeLock) Release() error {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.once.Do(func() { l.f.lids-- })
	if l.f.lids == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
		defer cancel()
		if err := l.f.store.PutBack(ctx, fakeLid); err != nil {
			return err
		}
	}
	return l.Lock.Release()
}

// Restore puts back what a dead runtime left.
func (f *lastingFake) Restore(ctx context.Context) error { return f.store.Restore(ctx) }
