//go:build unix

package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// dialDirect connects to l with a limit and returns both ends.
func dialDirect(t *testing.T, l *Listener, path string, limit time.Duration) (ours, theirs net.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	accepted := make(chan net.Conn, 1)
	go func() { // ends with the dial, or with the listener
		conn, _ := l.Accept()
		accepted <- conn
	}()
	ours, err := DialDirect(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	theirs = <-accepted
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

func TestDialDirect_talks(t *testing.T) {
	path := socket(t)
	if _, err := DialDirect(t.Context(), path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("without a folder: got %v, want ErrNotRunning", err)
	}
	l := listen(t, path)
	ours, theirs := dialDirect(t, l, path, time.Minute)
	if peer, err := PeerOf(ours); err != nil || peer.User != strconv.Itoa(os.Geteuid()) || peer.PID != os.Getpid() {
		t.Errorf("peer %+v, %v", peer, err)
	}
	// More than a socket holds, so that both calls have to wait for the other side.
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	go func() { // ends with the connection
		b := make([]byte, len(sent))
		io.ReadFull(theirs, b)
		theirs.Write(b)
		theirs.Close()
	}()
	ours.SetDeadline(time.Now().Add(time.Minute))
	if n, err := ours.Write(sent); n != len(sent) || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	got, err := io.ReadAll(ours)
	if !bytes.Equal(got, sent) || err != nil {
		t.Errorf("got %d of %d bytes, %v", len(got), len(sent), err)
	}
	if err := ours.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	l.Close()
	if _, err := DialDirect(t.Context(), path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the listener's end: got %v, want ErrNotRunning", err)
	}
}

func TestDialDirect_waitsNoLongerThanItsDeadline(t *testing.T) {
	path := socket(t)
	ours, _ := dialDirect(t, listen(t, path), path, time.Minute)
	const limit = 30 * time.Millisecond
	for name, call := range map[string]func() error{
		"read": func() error { _, err := ours.Read(make([]byte, 1)); return err },
		"write": func() error {
			_, err := ours.Write(make([]byte, 64<<20))
			return err
		},
	} {
		began := time.Now()
		ours.SetDeadline(began.Add(limit))
		err := call()
		var timeout net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%s: got %v, want a deadline exceeded", name, err)
		}
		if took := time.Since(began); took < limit || took > time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// A runtime that listens and takes nobody in must not hold a hook up.
func TestDialDirect_fullListener(t *testing.T) {
	path := socket(t)
	if err := PrepareDir(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for range 500 {
		conn, err := DialDirect(ctx, path)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			continue
		}
		// macOS refuses where Linux waits.
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, ErrNotRunning) {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("the listener took in everybody")
}

func TestDialDirect_refusesAnothersFolder(t *testing.T) {
	path := socket(t)
	listen(t, path)
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := DialDirect(t.Context(), path); !errors.Is(err, ErrUnsafe) {
		t.Errorf("got %v, want ErrUnsafe", err)
	}
}
