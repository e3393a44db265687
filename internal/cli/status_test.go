package cli

import (
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/ipc"
)

func TestStatus_claimsNothingOfARuntimeThatCannotBeAsked(t *testing.T) {
	w := newWorld(t)
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{Protocol: 99, Version: "v9"} }
	_, out, _ := w.run("status")
	if !strings.HasPrefix(out, "the runtime cannot be asked: ") || !strings.Contains(out, "runtime-unreachable: ") {
		t.Errorf("status: %s", out)
	}
	w.answers = func(*ipc.Request) *ipc.Reply {
		return &ipc.Reply{Protocol: ipc.Protocol, Error: "the runtime is leaving"}
	}
	for _, command := range []string{"can-close", "why"} {
		if code, out, stderr := w.run(command); code != ExitFailed || out != "" || !strings.HasPrefix(stderr, "error: ") {
			t.Errorf("%s: exit %d, %s%s", command, code, out, stderr)
		}
	}
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{Protocol: 99, Version: "v9"} }
	for _, command := range []string{"can-close", "why"} {
		if code, _, stderr := w.run(command); code != ExitFailed || !strings.Contains(stderr, "\nhint: ") {
			t.Errorf("%s: exit %d, %s", command, code, stderr)
		}
	}
}
