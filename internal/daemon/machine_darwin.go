package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/command"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

// openSystem opens the Mac this program runs on. It never fails: what cannot be
// reached says so when it is asked.
func openSystem(env func(string) string) (awake.Machine, func()) {
	run := command.System()
	o := macOptions{run: run, pid: os.Getpid(), pace: defaultMacPace(),
		awake: func() time.Duration { return clock(unix.CLOCK_UPTIME_RAW) },
		boot:  func() time.Duration { return clock(unix.CLOCK_MONOTONIC_RAW) }}
	o.store, o.keeper = &lasting.Store{Values: sleep.Pmset{Run: run}, Now: time.Now}, noKeeper{}
	dirs, err := paths.Resolve("darwin", env)
	if err == nil {
		o.store.Path = dirs.Pending()
		o.store.Owner = fmt.Sprintf("%d-%d", o.pid, time.Now().UnixNano())
		o.keeper = newKeeper(env, dirs, o.store.Owner)
	}
	m := newMac(o)
	return m, m.close
}

// systemValues are the lasting values of macOS.
func systemValues() lasting.Values { return sleep.Pmset{Run: command.System()} }

// noKeeper stands where no folder is known to keep originals in: then nothing
// lasting may be changed.
type noKeeper struct{}

func (noKeeper) Ensure(context.Context) error {
	return errors.New("no home folder to keep the original value in")
}
func (noKeeper) Close(context.Context) error { return nil }
