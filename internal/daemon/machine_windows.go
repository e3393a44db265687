package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/atlogin"
	"github.com/lidguard-go/lidguard/internal/platform/battery"
	"github.com/lidguard-go/lidguard/internal/platform/display"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
	"github.com/lidguard-go/lidguard/internal/platform/notice"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
	"github.com/lidguard-go/lidguard/internal/platform/thermal"
)

// openSystem opens the Windows this program runs on. It never fails: what cannot
// be reached says so when it is asked.
func openSystem(env func(string) string) (awake.Machine, func()) {
	o := winOptions{
		power: sleep.System{}, keeper: noKeeper{}, store: &lasting.Store{Values: systemValues(), Now: time.Now},
		notices: func(tell func(notice.Kind)) (interface{ Close() }, error) {
			w, err := notice.Open(tell)
			if err != nil {
				return nil, err
			}
			return w, nil
		},
		readDisplays: func() (display.Reading, error) { return display.Read("") },
		readBattery:  battery.ReadPowerStatus,
		readHeat:     func() (thermal.Reading, error) { return thermal.Read("") },
		awake:        awakeTime, boot: bootTime, pace: defaultWinPace(),
	}
	if dirs, err := paths.Resolve("windows", env); err == nil {
		o.store.Path = dirs.Pending()
		o.store.Owner = fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())
		program, _ := os.Executable() // empty: the keeper says that it cannot start
		o.keeper = &loginKeeper{keeper: newKeeper(env, dirs, o.store.Owner), disarm: atlogin.Disarm,
			arm: func() error { return atlogin.Arm(program, KeeperWord, "--login") }}
	}
	m := newWin(o)
	return m, m.close
}

// systemValues are the lasting values of Windows.
func systemValues() lasting.Values { return sleep.LidAction{Schemes: sleep.System{}} }

// noKeeper stands where no folder is known to keep originals in: then nothing
// lasting may be changed.
type noKeeper struct{}

func (noKeeper) Ensure(context.Context) error {
	return errors.New("no home folder to keep the original value in")
}
func (noKeeper) Close(context.Context) error { return nil }
