package endpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPipe_nameStandsForThePath(t *testing.T) {
	a, b := pipe(`C:\Users\u\run\s`), pipe(`c:\users\U\run\.\s`)
	if a != b || !strings.HasPrefix(a, `\\.\pipe\lidguard-`) {
		t.Errorf("got %q and %q, want one name", a, b)
	}
	if pipe(`C:\Users\v\run\s`) == a {
		t.Error("two paths share a pipe")
	}
	if own := `\\.\pipe\mine`; pipe(own) != own {
		t.Errorf("got %q", pipe(own))
	}
}

func TestListen_talksToItsOwnUserOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "s")
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody there: got %v, want ErrNotRunning", err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("second: got %v, want ErrInUse", err)
	}
	accepted := make(chan net.Conn, 2)
	// Ended by the listener's Close.
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
			go io.Copy(conn, conn)
		}
	}()
	// Wine 10 connects the first client to an instance of the pipe that nobody
	// serves; it stays there while the next is served.
	first, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintln(conn, "hello")
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "hello\n" || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
	me, err := self()
	if err != nil {
		t.Fatal(err)
	}
	if p, err := PeerOf(<-accepted); err != nil || p.PID != os.Getpid() || p.User != me {
		t.Errorf("peer %+v, %v, want this process of %q", p, err, me)
	}
}
