//go:build linux

// Package terminal is the screen and the keyboard of an interactive client. In
// come keys, out goes the text that a person would see; the client has a real
// pseudo-terminal whose escapes an emulator obeys. Colours are not looked at.
package terminal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// Key is what a key sends.
type Key string

// The keys that scenarios need; a terminal in its usual mode sends these.
const (
	Enter Key = "\r"
	Esc   Key = "\x1b"
	Up    Key = "\x1b[A"
	Down  Key = "\x1b[B"
	Tab   Key = "\t"
	CtrlC Key = "\x03"
	CtrlD Key = "\x04"
)

// Columns and rows of the screen: wide enough that clients do not break the
// words tests look for.
const (
	columns = 140
	rows    = 45
)

// Terminal is one running client with its screen.
type Terminal struct {
	Program *machine.Process

	t    testing.TB
	keys *os.File

	mu       sync.Mutex
	emulator *vt.Emulator
	output   []byte // all of it
}

// Open starts a program in a terminal on a machine. It ends with the test; a
// failing test logs its last screen.
func Open(t testing.TB, m machine.Machine, spec machine.Spec) *Terminal {
	t.Helper()
	cmd := machine.Prepare(m, spec)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatalf("opening a terminal: %v", err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	if err := slave.Chown(m.UID(), m.UID()); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, 0

	term := &Terminal{t: t, keys: master, emulator: vt.NewEmulator(columns, rows)}
	shown, answered := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { // after the program has been ended, see below
		if t.Failed() {
			t.Logf("the last screen:\n%s", term.Screen())
		}
		master.Close()
		<-shown
		term.emulator.InputPipe().(io.Closer).Close()
		<-answered
	})
	term.Program = machine.Adopt(t, m, cmd)

	go func() { // the program's output; ends when the terminal is closed
		defer close(shown)
		buffer := make([]byte, 32<<10)
		var titles titles
		for {
			n, err := master.Read(buffer)
			term.mu.Lock()
			term.output = append(term.output, buffer[:n]...)
			term.emulator.Write(titles.filter(buffer[:n]))
			term.mu.Unlock()
			// A terminal whose program has gone answers EIO; its end comes with Close.
			if err != nil {
				return
			}
		}
	}()
	go func() { // the terminal's answers to the program's questions; ends with the pipe
		defer close(answered)
		if _, err := io.Copy(master, term.emulator); err != nil && !errors.Is(err, fs.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
			t.Logf("answering the client's terminal queries: %v", err)
			io.Copy(io.Discard, term.emulator)
		}
	}()
	return term
}

// Screen is what is to be seen now, without empty lines and trailing spaces.
func (term *Terminal) Screen() string {
	term.mu.Lock()
	text := term.emulator.String()
	term.mu.Unlock()
	var lines []string
	text = strings.ReplaceAll(text, "\u00a0", " ") // no-break spaces look the same
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Written is how many bytes have come to the terminal so far, seen or not.
func (term *Terminal) Written() int { return len(term.Output()) }

// Output is what has come to the terminal so far, byte for byte.
func (term *Terminal) Output() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.output)
}

// Sees tells whether the pattern is on the screen now.
func (term *Terminal) Sees(pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(term.Screen())
}

// WaitScreen waits until the pattern is on the screen.
func (term *Terminal) WaitScreen(pattern string) {
	term.t.Helper()
	wait.Until(term.t, wait.Long, "the screen to show "+pattern, func() (bool, string) {
		return term.Sees(pattern), "\n" + term.Screen()
	})
}

// WaitGone waits until the pattern is on the screen no longer.
func (term *Terminal) WaitGone(pattern string) {
	term.t.Helper()
	wait.Until(term.t, wait.Long, pattern+" to leave the screen", func() (bool, string) {
		return !term.Sees(pattern), "\n" + term.Screen()
	})
}

// Type types text without Enter.
func (term *Terminal) Type(text string) { term.t.Helper(); term.send(text) }

// Press presses keys one after the other.
func (term *Terminal) Press(keys ...Key) {
	term.t.Helper()
	for _, key := range keys {
		term.send(string(key))
	}
}

// Answer waits until a dialog shows the pattern and presses the key until it
// is gone: clients drop keys that come right after a dialog has opened, lest
// somebody answers it who was still typing.
func (term *Terminal) Answer(pattern string, key Key) {
	term.t.Helper()
	term.WaitScreen(pattern)
	var pressed time.Time
	wait.Until(term.t, wait.Long, pattern+" to be answered", func() (bool, string) {
		if !term.Sees(pattern) {
			return true, ""
		}
		if time.Since(pressed) > time.Second {
			term.Press(key)
			pressed = time.Now()
		}
		return false, "\n" + term.Screen()
	})
}

// Close closes the terminal's window: the program gets SIGHUP.
func (term *Terminal) Close() { term.keys.Close() }

func (term *Terminal) send(text string) {
	term.t.Helper()
	if _, err := term.keys.WriteString(text); err != nil {
		term.t.Fatalf("typing %q: %v", text, err)
	}
}
