//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/resident"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// helperScript answers with its pid and how often it was asked; to "slow" it
// answers nothing.
const helperScript = `n=0
while read -r line; do
	id=${line#*\"id\":}; id=${id%%,*}; n=$((n+1))
	case $line in *slow*) continue;; esac
	echo "{\"id\":$id,\"verdict\":{\"decision\":\"deny\",\"reason\":\"$$ $n\"}}"
done`

// TestRun_dispatchesToHelpers: a real helper behind the real socket stays, answers,
// is not named by strangers, and leaves no process behind.
func TestRun_dispatchesToHelpers(t *testing.T) {
	home, err := os.MkdirTemp("", "lg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string { return map[string]string{"LIDGUARD_HOME": filepath.Join(home, "l")}[name] })
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	laptop := fakelaptop.New(fakelaptop.Options{})
	go func() { // waited for through ended
		ended <- Run(ctx, Options{Dirs: dirs, Version: "v1.0.0", Machine: laptop.Machine(), BootID: "boot", Environ: []string{"PATH=/usr/bin:/bin"},
			Settings: func() (settings.Settings, error) { return settings.Default(), nil },
			Helper: func(id, cwd string) (resident.Spec, error) {
				if id != "known" || cwd != "/p" {
					return resident.Spec{}, errors.New("no such helper")
				}
				return resident.Spec{Name: id, Path: "/bin/sh", Args: []string{"-c", helperScript}, Dir: home}, nil
			}})
	}()
	client := &ipc.Client{Version: "v1.0.0", CallTimeout: time.Minute, DialTimeout: time.Minute,
		Dial: func(ctx context.Context) (net.Conn, error) { return endpoint.Dial(ctx, dirs.Socket) }}
	ask := func(helper, event string, limit time.Duration) (*ipc.Reply, error) {
		return client.Call(t.Context(), &ipc.Request{Op: ipc.OpDispatch, Dispatch: &ipc.Dispatch{Helper: helper, Cwd: "/p", Provider: "claude", Native: "PreToolUse",
			Event: json.RawMessage(event), DeadlineMS: limit.Milliseconds()}})
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := client.Call(t.Context(), &ipc.Request{Op: ipc.OpAway}); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	pid := 0
	for i := range 3 {
		reply, err := ask("known", "{\n}", 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Reason string }
		if err := json.Unmarshal(reply.Dispatched.Verdict, &v); err != nil {
			t.Fatalf("%+v: %v", reply.Dispatched, err)
		}
		p, n, _ := strings.Cut(v.Reason, " ")
		got, _ := strconv.Atoi(p)
		if n != strconv.Itoa(i+1) || got == 0 || pid != 0 && got != pid {
			t.Fatalf("question %d was answered %q by another process than %d", i+1, v.Reason, pid)
		}
		pid = got
	}
	if reply, err := ask("known", `"slow"`, 100*time.Millisecond); err != nil || !strings.Contains(reply.Dispatched.Error, "no answer in time") {
		t.Errorf("no answer: %+v, %v", reply, err)
	}
	for _, c := range []struct{ helper, event string }{{"stranger", "{}"}, {"", "{}"}} {
		var refused *ipc.RefusedError
		if reply, err := ask(c.helper, c.event, time.Second); !errors.As(err, &refused) {
			t.Errorf("%q: %+v, %v", c.helper, reply, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("helper %d is left: %v", pid, err)
	}
}
