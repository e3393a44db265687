package polkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"

	"github.com/lidguard-go/lidguard/internal/platform/bus"
)

// The verdicts on an action.
const (
	Yes      = "yes"
	No       = "no"
	Password = "password" // only with a password, which nobody is there to type
	Unknown  = "unknown"  // polkit did not say
)

// Verdict is polkit's word on one action for this process.
type Verdict struct {
	Action  string `json:"action"`
	For     string `json:"for"`
	Verdict string `json:"verdict"`
}

// Session is the login session of this process, on which polkit's defaults go.
type Session struct {
	ID     string `json:"id,omitempty"` // empty: none, as in cron
	Active bool   `json:"active"`
	Remote bool   `json:"remote"` // over a network, as by ssh
}

// Rights are what this process may do, as far as it can be known without doing
// it.
type Rights struct {
	// Login1 and Polkit are empty where the service answered, else why not.
	Login1 string `json:"login1,omitempty"`
	Polkit string `json:"polkit,omitempty"`

	Session  Session   `json:"session"`
	Verdicts []Verdict `json:"verdicts"` // one for each of Actions
	// CanSuspend and CanHibernate are login1's own words: yes, no, challenge
	// (only with a password), na (the hardware cannot); empty unknown.
	CanSuspend   string `json:"can_suspend,omitempty"`
	CanHibernate string `json:"can_hibernate,omitempty"`
}

// Granted reports whether polkit says yes to the action.
func (r Rights) Granted(action string) bool {
	for _, v := range r.Verdicts {
		if v.Action == action {
			return v.Verdict == Yes
		}
	}
	return false
}

// Missing are the actions without a yes.
func (r Rights) Missing() []Verdict {
	var out []Verdict
	for _, v := range r.Verdicts {
		if v.Verdict != Yes {
			out = append(out, v)
		}
	}
	return out
}

// Options say where to ask.
type Options struct {
	SystemBus string // its address
	Root      string // prefixed to paths under /proc
}

const (
	authority     = "org.freedesktop.PolicyKit1"
	authorityPath = dbus.ObjectPath("/org/freedesktop/PolicyKit1/Authority")
	login1        = "org.freedesktop.login1"
	login1Path    = dbus.ObjectPath("/org/freedesktop/login1")
)

// subject is polkit's name for a process.
type subject struct {
	Kind    string
	Details map[string]dbus.Variant
}

// Check asks polkit and login1 about this process. It takes some seconds at most,
// whatever they do; what they do not answer is unknown.
func Check(ctx context.Context, o Options) Rights {
	r := Rights{Verdicts: []Verdict{}}
	for _, a := range Actions() {
		r.Verdicts = append(r.Verdicts, Verdict{a.ID, a.For, Unknown})
	}
	link := bus.Open(bus.Options{Address: o.SystemBus})
	defer link.Close()
	manager := func(method string, out any, args ...any) error {
		return link.Call(ctx, bus.Call{Service: login1, Path: login1Path, Method: login1 + ".Manager." + method, Args: args}, out)
	}
	if err := manager("CanSuspend", &r.CanSuspend); err != nil {
		r.Login1 = err.Error()
		if errors.Is(err, bus.ErrUnavailable) {
			r.Polkit = "not asked, since there is no login1"
			return r
		}
	}
	if manager("CanHibernate", &r.CanHibernate) != nil {
		r.CanHibernate = ""
	}
	var path dbus.ObjectPath
	if manager("GetSessionByPID", &path, uint32(os.Getpid())) == nil {
		const iface = login1 + ".Session"
		// What does not answer stays the cautious value: not active.
		_ = link.Get(ctx, login1, path, iface, "Id", &r.Session.ID)
		_ = link.Get(ctx, login1, path, iface, "Active", &r.Session.Active)
		_ = link.Get(ctx, login1, path, iface, "Remote", &r.Session.Remote)
	}
	start, err := startTime(o.Root, os.Getpid())
	if err != nil {
		r.Polkit = err.Error()
		return r
	}
	me := subject{"unix-process", map[string]dbus.Variant{
		"pid":        dbus.MakeVariant(uint32(os.Getpid())),
		"start-time": dbus.MakeVariant(start),
		"uid":        dbus.MakeVariant(int32(os.Getuid())),
	}}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		var answer struct {
			Authorized, Challenge bool
			Details               map[string]string
		}
		// Flags 0: never ask a person (polkit's D-Bus interface,
		// CheckAuthorizationFlags).
		err := link.Call(ctx, bus.Call{Service: authority, Path: authorityPath, Method: authority + ".Authority.CheckAuthorization",
			Args: []any{me, v.Action, map[string]string{}, uint32(0), ""}}, &answer)
		switch {
		case err != nil:
			if r.Polkit == "" {
				r.Polkit = err.Error()
			}
			if errors.Is(err, bus.ErrUnavailable) || errors.Is(err, bus.ErrTimeout) {
				return r // and so would be the other answers
			}
		case answer.Authorized:
			v.Verdict = Yes
		case answer.Challenge:
			v.Verdict = Password
		default:
			v.Verdict = No
		}
	}
	return r
}

// startTime is when a process began, in clock ticks since boot (proc(5),
// /proc/pid/stat, field 22), by which polkit tells it from a later one with the
// same number.
func startTime(root string, pid int) (uint64, error) {
	data, err := os.ReadFile(fmt.Sprintf("%s/proc/%d/stat", root, pid))
	if err != nil {
		return 0, fmt.Errorf("start time of this process: %w", err)
	}
	// The name in parentheses may hold anything, also parentheses and blanks.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 20 {
		return 0, fmt.Errorf("start time of this process: %q has too few fields", data)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}
