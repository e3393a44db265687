//go:build unix

package endpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// socket returns a short path in a folder that does not exist yet.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ep")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "run", "s")
}

func listen(t *testing.T, path string) *Listener {
	t.Helper()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// talk proves that somebody at path answers what it is told to.
func talk(t *testing.T, l *Listener, path string) {
	t.Helper()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			io.Copy(conn, conn)
			conn.Close()
		}
	}()
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
	peer, err := PeerOf(conn)
	if err != nil || peer.User != strconv.Itoa(os.Geteuid()) || peer.PID != os.Getpid() {
		t.Errorf("peer %+v, %v", peer, err)
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestListen_makesAPrivateSocketAndRemovesIt(t *testing.T) {
	path := socket(t)
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("before anything exists: got %v, want ErrNotRunning", err)
	}
	l := listen(t, path)
	if m := mode(t, filepath.Dir(path)); m != 0o700 {
		t.Errorf("folder has mode %#o", m)
	}
	if m := mode(t, path); m != 0o600 {
		t.Errorf("socket has mode %#o", m)
	}
	talk(t, l, path)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("socket left behind: %v", err)
	}
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after Close: got %v, want ErrNotRunning", err)
	}
	talk(t, listen(t, path), path)
}

func TestListen_twice(t *testing.T) {
	path := socket(t)
	l := listen(t, path)
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	talk(t, l, path) // the second did no harm
}

// TestHelperListener is a runtime that dies without cleaning up.
func TestHelperListener(t *testing.T) {
	path := os.Getenv("ENDPOINT_TEST_LISTEN")
	if path == "" {
		return // run by TestListen_afterACrash only, in a process of its own
	}
	if _, err := Listen(path); err != nil {
		t.Fatal(err)
	}
	fmt.Println("listening")
	select {}
}

func TestListen_afterACrash(t *testing.T) {
	path := socket(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperListener$")
	cmd.Env = append(os.Environ(), "ENDPOINT_TEST_LISTEN="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "listening\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("beside a living one: got %v, want ErrInUse", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if mode(t, path) != 0o600 {
		t.Fatal("the crash left no socket: the test proves nothing")
	}
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("stale socket: got %v, want ErrNotRunning", err)
	}
	talk(t, listen(t, path), path)
}

// Many start at once where a stale socket lies; exactly one may win, and no
// loser may remove the winner's socket.
func TestListen_raceForAStaleSocket(t *testing.T) {
	path := socket(t)
	if err := PrepareDir(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		stale.SetUnlinkOnClose(false)
		stale.Close()
		var won atomic.Int32
		var winner atomic.Pointer[Listener]
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				l, err := Listen(path)
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(l)
				case !errors.Is(err, ErrInUse):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := won.Load(); n != 1 {
			t.Fatalf("%d winners", n)
		}
		talk(t, winner.Load(), path)
		winner.Load().Close()
	}
}

func TestListen_lockFileDeleted(t *testing.T) {
	path := socket(t)
	l := listen(t, path)
	os.Remove(path + ".lock") // a cleaner of temporary files, say
	second, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	// The newcomer owns the name now; the old one's end must not take it away.
	talk(t, second, path)
	l.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the old listener removed the new one's socket: %v", err)
	}
}

func TestCheckDir_refusesWhatOthersCouldTouch(t *testing.T) {
	base := t.TempDir()
	mk := func(name string, m os.FileMode) string {
		p := filepath.Join(base, name)
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, m); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := mk("good", 0o700)
	link, file := filepath.Join(base, "link"), filepath.Join(base, "file")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(good); err != nil {
		t.Errorf("a good folder: %v", err)
	}
	for what, dir := range map[string]string{
		"readable by the group": mk("group", 0o750), "writable by all": mk("all", 0o777),
		"searchable by others": mk("other", 0o701), "not our own to write": mk("ro", 0o500),
		"a link to a good one": link, "a file": file,
	} {
		if err := CheckDir(dir); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: got %v, want ErrUnsafe", what, err)
		}
		if _, err := Listen(filepath.Join(dir, "s")); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: Listen: got %v, want ErrUnsafe", what, err)
		}
		if _, err := Dial(t.Context(), filepath.Join(dir, "s")); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: Dial: got %v, want ErrUnsafe", what, err)
		}
	}
	if err := CheckDir(filepath.Join(base, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: got %v", err)
	}
}

func TestListen_leavesForeignFilesAlone(t *testing.T) {
	path := socket(t)
	if err := PrepareDir(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, ErrUnsafe) {
		t.Errorf("got %v, want ErrUnsafe", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("the file says %q now", b)
	}
	// Nor is the lock a way to write through a link.
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, path+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil {
		t.Error("a link served as lock")
	}
}

func TestAccept_refusesAnotherUser(t *testing.T) {
	path := socket(t)
	l := listen(t, path)
	l.uid++ // to this listener, we are somebody else
	refused := make(chan error, 1)
	l.Refused = func(err error) { refused <- err }
	go l.Accept()
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes as a stranger", n)
	}
	var stranger *StrangerError
	if err := <-refused; !errors.As(err, &stranger) || !errors.Is(err, ErrUnsafe) || stranger.Peer.PID != os.Getpid() {
		t.Errorf("got %v, want our own process named", err)
	}
}

func TestLongPaths(t *testing.T) {
	base, err := os.MkdirTemp("", "ep")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	path := filepath.Join(base, strings.Repeat("d", 120), "s")
	l, err := Listen(path)
	if errors.Is(err, ErrTooLong) {
		if _, err := Dial(t.Context(), path); !errors.Is(err, ErrTooLong) {
			t.Errorf("Dial: got %v, want ErrTooLong", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	talk(t, l, path)
	if _, err := Listen(filepath.Join(base, "x", strings.Repeat("n", 120))); !errors.Is(err, ErrTooLong) {
		t.Errorf("a long name: got %v, want ErrTooLong", err)
	}
}

func TestListener_reachedUntilItsSocketIsTaken(t *testing.T) {
	path := socket(t)
	l := listen(t, path)
	if !l.Reached() {
		t.Error("a new one is not reached")
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if l.Reached() {
		t.Error("it is reached without a socket")
	}
	other := listen(t, path)
	if l.Reached() || !other.Reached() {
		t.Errorf("reached: the old one %v, the new one %v", l.Reached(), other.Reached())
	}
}
