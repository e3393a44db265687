package alarm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// timer is the descriptor of a timer of the kernel that wakes the machine.
type timer int

const noTimer timer = -1

// clock counts the wall clock's seconds and runs on while the machine sleeps; its
// timers wake it (timerfd_create(2)). They want CAP_WAKE_ALARM, which systemd gives
// to people who sit at the machine (pam_systemd(8), since 254).
const clock = unix.CLOCK_REALTIME_ALARM

// chip is the clock chip's alarm (Documentation/admin-guide/rtc.rst), the way for
// a process that may write there.
const chip = "/sys/class/rtc/rtc0/wakealarm"

func (a *Alarm) set(at time.Time) error {
	if a.root != "" {
		return a.setChip(at)
	}
	err := a.setTimer(at)
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	if chip := a.setChip(at); chip == nil || errors.Is(chip, errTaken) {
		return chip
	}
	return fmt.Errorf("the kernel wants CAP_WAKE_ALARM for it, which systemd 254 and later give to whoever sits at the machine: %w", err)
}

// setTimer keeps the descriptor open, since the timer ends with it.
func (a *Alarm) setTimer(at time.Time) error {
	if a.timer == noTimer {
		if at.IsZero() {
			return nil
		}
		fd, err := unix.TimerfdCreate(clock, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
		if err != nil {
			return err
		}
		a.timer = timer(fd)
	}
	var spec unix.ItimerSpec // zero: disarmed
	if !at.IsZero() {
		spec.Value = unix.NsecToTimespec(at.UnixNano())
	}
	return unix.TimerfdSettime(int(a.timer), unix.TFD_TIMER_ABSTIME, &spec, nil)
}

// errTaken: the chip has one alarm, and somebody else's stands.
var errTaken = errors.New("another program has set the clock chip's alarm")

// setChip writes the alarm of the clock chip. An alarm that is set must be taken
// back before another is; one that is not ours stays.
func (a *Alarm) setChip(at time.Time) error {
	path := filepath.Join(a.root, chip)
	want := strconv.FormatInt(at.Unix(), 10)
	// The file is empty where no alarm is set. One for the very moment is that of a
	// process of ours that died.
	if data, err := os.ReadFile(path); err == nil {
		switch set := strings.TrimSpace(string(data)); {
		case set == "" || set == "0" || set == a.onChip || set == want && !at.IsZero():
		case at.IsZero():
			return nil
		default:
			return errTaken
		}
	}
	if err := write(path, "0"); err != nil {
		return err
	}
	if at.IsZero() {
		return nil
	}
	a.onChip = want
	return write(path, want)
}

func write(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no clock chip with an alarm", ErrUnsupported)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
