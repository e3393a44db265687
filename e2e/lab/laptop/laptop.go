//go:build linux

// Package laptop is a machine with a lid: the distribution's own systemd,
// logind, polkit and upower, booted in namespaces on made-up hardware by the
// scripts in e2e/lab/platform. In come lid, charger, battery, display and
// temperature as a test moves them; out go the sleeps that would have happened
// and the inhibitors as logind lists them. Nothing here can put the machine
// that runs the tests to sleep.
//
// The test itself stays outside; the whole tree of client, hooks and lidguard
// runs inside as the user lab, who sits at the machine. The model server is
// served by the test on a port inside ([Laptop.Listen]), and logind is asked
// over its own bus socket, so no helper has to run inside.
//
// A sleep lasts until [Laptop.OpenLid] or [Laptop.Wake], and the person's
// programs stand still meanwhile. Clocks go on, unlike in a real sleep.
package laptop

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// labUID is the user that the platform scripts create inside.
const labUID = 4242

// Options of a laptop; the zero value is the usual one.
type Options struct {
	// Holdoff is how long logind ignores the lid after boot and after a
	// sleep: whole seconds, default 1 (logind's own default is 30).
	Holdoff time.Duration
	// DelayMax is how long a delay inhibitor can hold up a sleep: whole
	// seconds, default 5.
	DelayMax time.Duration
	// LogindConf are further lines of logind.conf's [Login] section.
	LogindConf []string
	// NoSession makes the person one who came over ssh: polkit then denies
	// what it grants only to somebody who sits at the machine.
	NoSession bool
}

// Laptop is a booted machine. It implements [machine.Machine].
type Laptop struct {
	*machine.Person

	t      testing.TB
	box    string // state folder of the platform scripts
	init   int    // pid of the systemd inside, as this machine counts
	cgroup int    // the control group that the person's programs belong to
	bus    *dbus.Conn
}

var laptops atomic.Int64

// Start boots a laptop with its lid open, on the charger, and the person
// logged in; it takes about two seconds. It is switched off with the test.
func Start(t testing.TB, options ...Options) *Laptop {
	t.Helper()
	guard.Require(t)
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	folder := filepath.Join(guard.Scratch(), fmt.Sprintf("laptop-%d", laptops.Add(1)))
	l := &Laptop{t: t, box: filepath.Join(folder, "box")}
	extra := map[string]string{"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/run/dbus/system_bus_socket", "USER": "lab", "LOGNAME": "lab"}
	l.Person = machine.NewPerson(t, folder, labUID, extra)

	vars := map[string]string{
		"LIDLAB_HOLDOFF":     seconds(o.Holdoff, time.Second),
		"LIDLAB_DELAY_MAX":   seconds(o.DelayMax, 5*time.Second),
		"LIDLAB_LOGIND_CONF": strings.Join(o.LogindConf, `\n`),
	}
	if err := os.MkdirAll(guard.Cache(), 0o755); err != nil { // no test of this checkout made it yet
		t.Fatal(err)
	}
	t.Cleanup(l.off)
	l.platform(vars, "start", "--bind", guard.Cache(), "--bind", guard.Root())
	l.init = l.number("init.pid")
	l.platform(nil, "hold") // sleeps last until somebody wakes the machine, as they do
	l.dial()

	slice := "system.slice/lab-exec.service"
	if !o.NoSession {
		session := strings.TrimSpace(l.state("share/session"))
		slice = fmt.Sprintf("user.slice/user-%d.slice/session-%s.scope", labUID, session)
		runtimeDir := fmt.Sprintf("/run/user/%d", labUID)
		extra["XDG_SESSION_ID"], extra["XDG_RUNTIME_DIR"] = session, runtimeDir
		extra["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + runtimeDir + "/bus"
	}
	var err error
	l.cgroup, err = unix.Open(filepath.Join(strings.TrimSpace(l.state("cgroup")), slice), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("the person's control group %s: %v", slice, err)
	}
	return l
}

func seconds(d, normal time.Duration) string {
	if d == 0 {
		d = normal
	}
	return strconv.Itoa(int(d / time.Second))
}

// For is the same laptop for another test, such as a part of the one that
// started it: what goes wrong ends that part. The laptop itself is switched off
// with the test that started it.
func (l *Laptop) For(t testing.TB) *Laptop {
	part := *l
	part.t = t
	return &part
}

// Proc is the folder of a process in the laptop's own /proc, readable out here.
func (l *Laptop) Proc(pid uint32) string {
	return fmt.Sprintf("/proc/%d/root/proc/%d", l.init, pid)
}

// Command implements [machine.Machine].
func (l *Laptop) Command(dir string, vars map[string]string, args ...string) *exec.Cmd {
	user := strconv.Itoa(labUID)
	cmd := l.enter(dir, append([]string{
		"/usr/bin/setpriv", "--reuid", user, "--regid", user, "--init-groups", "--inh-caps=-all", "--",
	}, args...))
	cmd.Env = machine.Environ(vars)
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, l.cgroup
	return cmd
}

// enter prepares a command inside, as root.
func (l *Laptop) enter(dir string, args []string) *exec.Cmd {
	cmd := exec.Command("nsenter", append([]string{
		"--target", strconv.Itoa(l.init), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wdns=" + dir, "--",
	}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// PID implements [machine.Machine]: the program is the one child of nsenter.
func (l *Laptop) PID(cmd *exec.Cmd) int {
	for deadline := time.Now().Add(wait.Long); time.Now().Before(deadline); {
		if children := machine.Children(cmd.Process.Pid); len(children) > 0 {
			return children[0]
		}
		time.Sleep(2 * time.Millisecond) // nsenter is about to fork, or has ended already
		if syscall.Kill(cmd.Process.Pid, 0) != nil {
			break
		}
	}
	return cmd.Process.Pid
}

// Listen implements [machine.Machine]: the port is open inside, and whoever
// accepts on the listener does so out here. A socket belongs to the network
// namespace it was made in, whoever holds it.
func (l *Laptop) Listen(t testing.TB) net.Listener {
	t.Helper()
	type result struct {
		listener net.Listener
		err      error
	}
	ready := make(chan result)
	go func() {
		// Never unlocked: the thread ends with the goroutine, so that no other
		// one finds itself inside.
		runtime.LockOSThread()
		space, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", l.init), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Setns(space, unix.CLONE_NEWNET)
			unix.Close(space)
		}
		if err != nil {
			ready <- result{err: err}
			return
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		ready <- result{listener, err}
	}()
	r := <-ready
	if r.err != nil {
		t.Fatalf("listening inside the laptop: %v", r.err)
	}
	return r.listener
}

// Root runs a command inside as root and returns its output; the test ends if
// it fails. It is for what an administrator does, such as systemctl.
func (l *Laptop) Root(args ...string) string {
	l.t.Helper()
	cmd := l.enter("/", args)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Journal is what the services inside have logged, for a failing test.
func (l *Laptop) Journal() string { return l.Root("journalctl", "--no-pager", "-o", "short-precise") }

// platform runs login1-real.sh.
func (l *Laptop) platform(vars map[string]string, args ...string) string {
	l.t.Helper()
	out, err := l.tryPlatform(vars, args...)
	if err != nil {
		l.t.Fatalf("laptop %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

func (l *Laptop) tryPlatform(vars map[string]string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(guard.Root(), "e2e", "lab", "platform", "login1-real.sh"), args...)
	cmd.Dir = l.Folder()
	cmd.Env = append(machine.Environ(vars), "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"), "TMPDIR="+guard.Scratch(),
		"LIDLAB_DIR="+l.box, "LIDLAB_CACHE="+filepath.Join(guard.Cache(), "platform"))
	log, err := os.CreateTemp(guard.Scratch(), "platform-")
	if err != nil {
		return "", err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	// A file, not a pipe: the booted machine keeps it open, and Run would wait.
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	text, _ := os.ReadFile(log.Name())
	return string(text), err
}

func (l *Laptop) off() {
	if l.bus != nil {
		l.bus.Close()
	}
	if l.cgroup > 0 {
		unix.Close(l.cgroup)
	}
	if out, err := l.tryPlatform(nil, "stop"); err != nil {
		l.t.Errorf("switching the laptop off: %v: %s", err, out)
	}
}

// state is a file of the platform scripts.
func (l *Laptop) state(name string) string {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.box, name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

func (l *Laptop) number(name string) int {
	l.t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(l.state(name)))
	if err != nil {
		l.t.Fatalf("%s: %v", name, err)
	}
	return n
}

func (l *Laptop) dial() {
	l.t.Helper()
	// The socket of the bus inside, reached through init's view of the files.
	socket := fmt.Sprintf("unix:path=/proc/%d/root/run/dbus/system_bus_socket", l.init)
	bus, err := dbus.Connect(socket)
	if err != nil {
		l.t.Fatalf("the laptop's system bus: %v", err)
	}
	l.bus = bus
	wait.Until(l.t, wait.Long, "logind", func() (bool, string) {
		_, err := l.property("LidClosed")
		return err == nil, fmt.Sprint(err)
	})
}
