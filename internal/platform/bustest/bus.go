//go:build linux

// Package bustest gives tests a private bus with doubles of login1, UPower and
// a desktop session on it. Every double can refuse, hang, disappear and come
// back. Nothing here reaches the machine's own buses, and the doubles have no
// rules of their own: what logind would decide is proven elsewhere.
package bustest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

const busConfig = `<busconfig>
  <type>system</type>
  <listen>unix:path=%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/>
    <allow send_destination="*"/><allow receive_sender="*"/>
  </policy>
</busconfig>
`

// Start runs a dbus-daemon of the test's own and returns its address. It ends
// with the test. A machine without dbus-daemon fails the test: there is
// nothing else to prove the code with.
func Start(t testing.TB) string {
	t.Helper()
	return StartDaemon(t).Address
}

// Daemon is a dbus-daemon that can die and be started again at its address.
type Daemon struct {
	Address string
	t       testing.TB
	config  string
	cmd     *exec.Cmd
}

// StartDaemon is Start for tests of the bus itself.
func StartDaemon(t testing.TB) *Daemon {
	t.Helper()
	// Not t.TempDir: a socket's path has room for 107 bytes only.
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &Daemon{t: t, config: filepath.Join(dir, "conf"), Address: "unix:path=" + filepath.Join(dir, "bus")}
	if err := os.WriteFile(d.config, fmt.Appendf(nil, busConfig, filepath.Join(dir, "bus")), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Begin()
	t.Cleanup(d.Kill)
	return d
}

// Begin starts the daemon, again after Kill, and waits until it listens.
func (d *Daemon) Begin() {
	d.t.Helper()
	cmd := exec.Command("dbus-daemon", "--config-file="+d.config, "--nofork", "--nopidfile", "--print-address=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatalf("these tests need dbus-daemon (Debian: dbus): %v", err)
	}
	d.cmd = cmd
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		d.t.Fatalf("dbus-daemon did not say its address: %v", err)
	}
}

// Kill ends the daemon as a crash would.
func (d *Daemon) Kill() {
	if d.cmd != nil {
		d.cmd.Process.Kill()
		d.cmd.Wait()
		d.cmd = nil
	}
}

// Eventually polls until cond holds and fails the test after a minute.
func Eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if cond() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute still not: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// A Request is a method call that a double received.
type Request struct {
	Method string // member only
	Path   dbus.ObjectPath
	Iface  string
	Args   []any
	Flags  dbus.Flags
	Sender string // unique name
	PID    uint32
	UID    uint32
}

// service is a double: one bus name, calls answered one at a time by answer.
type service struct {
	t       testing.TB
	address string
	name    string
	// answer returns the values of a reply, or an error. Files among the
	// values are closed once they are sent.
	answer func(Request) ([]any, *dbus.Error)

	mu     sync.Mutex
	conn   *dbus.Conn // owns the name
	asking *dbus.Conn // asks the bus who is calling
	fail   map[string]*dbus.Error
	hung   map[string]bool
	held   []func() // answers kept back by Hang
	calls  []Request
}

func newService(t testing.TB, address, name string) *service {
	s := &service{t: t, address: address, name: name, fail: map[string]*dbus.Error{}, hung: map[string]bool{}}
	t.Cleanup(s.Stop)
	return s
}

// Begin puts the double on the bus (again).
func (s *service) Begin() {
	s.t.Helper()
	conn, err := dbus.Connect(s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	asking, err := dbus.Connect(s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	messages := make(chan *dbus.Message, 1000)
	// Calls are answered by hand: an exported object cannot keep an answer
	// back, nor learn when the descriptor in it has been sent.
	conn.Eavesdrop(messages)
	s.mu.Lock()
	s.conn, s.asking = conn, asking
	s.mu.Unlock()
	// Ended by Stop, with the connection.
	go func() {
		for {
			select {
			case <-conn.Context().Done():
				return
			case m := <-messages:
				if m.Type == dbus.TypeMethodCall {
					s.serve(conn, asking, m)
				}
			}
		}
	}()
	// Only now, ready to answer, and without waiting for the reply: replies go
	// to messages, too.
	conn.BusObject().Go("org.freedesktop.DBus.RequestName", 0, make(chan *dbus.Call, 1), s.name, uint32(dbus.NameFlagDoNotQueue))
	Eventually(s.t, s.name+" is on the bus", func() bool {
		var owner string
		err := asking.BusObject().Call("org.freedesktop.DBus.GetNameOwner", 0, s.name).Store(&owner)
		return err == nil && owner == conn.Names()[0]
	})
}

// Stop takes the double off the bus as a crash would. Twice is harmless.
func (s *service) Stop() {
	s.mu.Lock()
	conn, asking := s.conn, s.asking
	s.conn, s.asking, s.held = nil, nil, nil
	s.mu.Unlock()
	if conn != nil {
		// godbus closes the channel with the connection, and then sends to it.
		conn.Eavesdrop(nil)
		conn.Close()
		asking.Close()
	}
}

// Fail makes a method answer with a D-Bus error; an empty name makes it well.
func (s *service) Fail(method, errorName, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fail, method)
	if errorName != "" {
		s.fail[method] = dbus.NewError(errorName, []any{text})
	}
}

// Hang keeps back the answers of a method until Unhang.
func (s *service) Hang(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hung[method] = true
}

// Unhang sends the answers kept back and answers promptly from now on.
func (s *service) Unhang(method string) {
	s.mu.Lock()
	held := s.held
	s.held = nil
	delete(s.hung, method)
	s.mu.Unlock()
	for _, send := range held {
		send()
	}
}

// Calls returns the calls of one method so far.
func (s *service) Calls(method string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Request
	for _, c := range s.calls {
		if c.Method == method {
			list = append(list, c)
		}
	}
	return list
}

func header[T any](m *dbus.Message, f dbus.HeaderField) T {
	v, _ := m.Headers[f].Value().(T)
	return v
}

func (s *service) serve(conn, asking *dbus.Conn, m *dbus.Message) {
	r := Request{
		Method: header[string](m, dbus.FieldMember), Path: header[dbus.ObjectPath](m, dbus.FieldPath),
		Iface: header[string](m, dbus.FieldInterface), Sender: header[string](m, dbus.FieldSender),
		Args: m.Body, Flags: m.Flags,
	}
	b := asking.BusObject()
	// A caller that is gone already keeps zeros.
	b.Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, r.Sender).Store(&r.PID)
	b.Call("org.freedesktop.DBus.GetConnectionUnixUser", 0, r.Sender).Store(&r.UID)

	send := func() {
		s.mu.Lock()
		failure := s.fail[r.Method]
		s.mu.Unlock()
		var values []any
		if failure == nil {
			values, failure = s.answer(r)
		}
		reply(conn, m, r.Sender, values, failure)
	}
	s.mu.Lock()
	s.calls = append(s.calls, r)
	if s.hung[r.Method] {
		s.held = append(s.held, send)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	send()
}

func reply(conn *dbus.Conn, m *dbus.Message, to string, values []any, failure *dbus.Error) {
	answer := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldDestination: dbus.MakeVariant(to),
		dbus.FieldReplySerial: dbus.MakeVariant(m.Serial()),
	}}
	var files []*os.File
	for i, v := range values {
		if f, ok := v.(*os.File); ok {
			files = append(files, f)
			values[i] = dbus.UnixFD(f.Fd())
		}
	}
	answer.Body = values
	if failure != nil {
		answer.Type = dbus.TypeError
		answer.Headers[dbus.FieldErrorName] = dbus.MakeVariant(failure.Name)
		answer.Body = failure.Body
	}
	if len(answer.Body) > 0 {
		answer.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(answer.Body...))
	}
	if len(files) > 0 {
		answer.Headers[dbus.FieldUnixFDs] = dbus.MakeVariant(uint32(len(files)))
	}
	conn.Send(answer, nil) // returns once it is written
	for _, f := range files {
		f.Close()
	}
}

func (s *service) emit(path dbus.ObjectPath, name string, values ...any) {
	s.t.Helper()
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn == nil {
		s.t.Fatalf("%s is not on the bus", s.name)
	}
	if err := conn.Emit(path, name, values...); err != nil {
		s.t.Fatal(err)
	}
}

func unknown(r Request) ([]any, *dbus.Error) {
	return nil, dbus.NewError("org.freedesktop.DBus.Error.UnknownMethod", []any{r.Iface + "." + r.Method})
}

// properties answers the standard interface from a table.
func properties(r Request, table map[string]any) ([]any, *dbus.Error) {
	switch r.Method {
	case "Get":
		if v, ok := table[r.Args[1].(string)]; ok {
			return []any{dbus.MakeVariant(v)}, nil
		}
		return nil, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", []any{r.Args[1]})
	case "GetAll":
		all := map[string]dbus.Variant{}
		for k, v := range table {
			all[k] = dbus.MakeVariant(v)
		}
		return []any{all}, nil
	}
	return unknown(r)
}

// SendForged sends a signal straight to every connection but our own, as any
// user of the bus can, from a connection that owns no name.
func SendForged(t testing.TB, address, path, name string, values ...any) {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var names []string
	if err := conn.BusObject().Call("org.freedesktop.DBus.ListNames", 0).Store(&names); err != nil {
		t.Fatal(err)
	}
	dot := strings.LastIndexByte(name, '.')
	for _, n := range names {
		if !strings.HasPrefix(n, ":") || n == conn.Names()[0] {
			continue
		}
		conn.Send(&dbus.Message{Type: dbus.TypeSignal, Body: values, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldDestination: dbus.MakeVariant(n),
			dbus.FieldPath:        dbus.MakeVariant(dbus.ObjectPath(path)),
			dbus.FieldInterface:   dbus.MakeVariant(name[:dot]),
			dbus.FieldMember:      dbus.MakeVariant(name[dot+1:]),
			dbus.FieldSignature:   dbus.MakeVariant(dbus.SignatureOf(values...)),
		}}, nil)
	}
}
