package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// What asks a person or takes long ends with the context, which Ctrl-C ends, and not
// with its work, of which it would tell.
func TestMain_stopsAtOnce(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{
		{"simulate", "--steps", "300000", "--quiet"},
		{"simulate", "--days", "300", "--quiet"},
	} {
		w := newWorld(t)
		var out, errs bytes.Buffer
		code := run(ctx, Options{Args: args, Env: func(name string) string { return w.env[name] }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Now: time.Now, GOOS: "linux"}, func(*app) {})
		if code != ExitFailed || !strings.Contains(errs.String(), "stopped") || out.Len() > 0 {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, out.String(), errs.String())
		}
	}
}

func TestAsk_stopsAtOnce(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	silent, typing := io.Pipe()
	defer typing.Close()
	var errs bytes.Buffer
	p := &printer{in: silent, err: &errs}
	time.AfterFunc(10*time.Millisecond, stop)
	yes, err := p.ask(ctx, "write 3 files?")
	if yes || !errors.Is(err, errStopped) {
		t.Errorf("yes %v, error %v; want no and %v", yes, err, errStopped)
	}
	if got := errs.String(); !strings.HasSuffix(got, "[y/N] \n") {
		t.Errorf("the terminal shows %q, want the cursor on a line of its own", got)
	}
}
