package hook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

// programVariable makes this test's own binary one of the programs below.
const programVariable = "LIDGUARD_HOOK_TEST_PROGRAM"

// programs are mains of hooks that behave badly, as processes.
var programs = map[string]func(){
	"chatter": func() {
		hook.Main(func(context.Context, hook.Event) hook.Verdict {
			fmt.Println("debugging")
			fmt.Fprintln(os.Stdout, "more of it")
			return hook.Deny("no")
		}, hook.Deadline(time.Minute))
	},
	"stuck": func() {
		hook.Main(func(context.Context, hook.Event) hook.Verdict { select {} }, hook.Deadline(time.Millisecond))
	},
	"spinning": func() {
		hook.Main(func(context.Context, hook.Event) hook.Verdict {
			for spun := new(atomic.Int64); ; spun.Add(1) {
			}
		}, hook.Deadline(time.Millisecond))
	},
	"stray panic": func() {
		hook.Main(func(context.Context, hook.Event) hook.Verdict {
			go panic("a goroutine of the author's")
			select {}
		}, hook.Deadline(time.Minute))
	},
	"observer": func() {
		hook.Main(func(context.Context, hook.Event) hook.Verdict { panic("boom") }, hook.Observer)
	},
	"resident": func() {
		hook.Serve(func(context.Context, hook.Event) hook.Verdict {
			fmt.Println("debugging")
			return hook.Deny("no")
		}, hook.Deadline(time.Minute))
	},
}

func TestMain(m *testing.M) {
	if main, ok := programs[os.Getenv(programVariable)]; ok {
		main()
	}
	os.Exit(m.Run())
}

func program(t *testing.T, name string, stdin io.Reader, args ...string) ran {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), programVariable+"="+name)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestMain_standardOutputIsForTheAnswerAlone(t *testing.T) {
	got := program(t, "chatter", strings.NewReader(claudeCall))
	if got.code != 0 || got.stdout != `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}` {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(got.stderr, "debugging\nmore of it") {
		t.Errorf("what the body printed is lost: %q", got.stderr)
	}
	got = program(t, "resident", strings.NewReader(request(1, "claude", "", claudeCall, "")))
	if got != (ran{0, `{"id":1,"verdict":{"decision":"deny","reason":"no"}}` + "\n", "debugging\n"}) {
		t.Errorf("resident: got %+v", got)
	}
}

func TestMain_endsWhateverItsBodyDoes(t *testing.T) {
	for _, name := range []string{"stuck", "spinning"} {
		got := program(t, name, strings.NewReader(claudeCall))
		if got.code != 0 || !strings.Contains(got.stdout, "could not judge this (no answer within 1ms)") {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got := program(t, "observer", strings.NewReader(claudeCall)); got != (ran{}) {
		t.Errorf("observer: got %+v", got)
	}
	// The documented limit: Go ends the process, and its exit code is a refusal.
	if got := program(t, "stray panic", strings.NewReader(claudeCall)); got.code != 2 || got.stdout != "" {
		t.Errorf("stray panic: got %+v", got)
	}
}

func TestMain_doesNotWaitForAPayloadThatNeverEnds(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if _, err := write.WriteString(`{"session_id":`); err != nil {
		t.Fatal(err)
	}
	got := program(t, "chatter", read, "--provider", "claude", "--event", "PreToolUse")
	if got.code != 2 || !strings.Contains(got.stderr, "in time") {
		t.Errorf("got %+v", got)
	}
}

func TestMain_namesItselfInItsReason(t *testing.T) {
	got := program(t, "chatter", strings.NewReader(""), "--provider", "codex")
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if got.code != 2 || !strings.HasPrefix(got.stderr, name) {
		t.Errorf("got %+v", got)
	}
}
