package entry

import (
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
)

func TestUnattended_copilotByItsArguments(t *testing.T) {
	for _, c := range []struct {
		name, argv string
		want       string
	}{
		{"in a terminal", "copilot", ""},
		{"in a terminal with tools allowed", "copilot --allow-all-tools --model gpt-5", ""},
		{"headless", "copilot -p work", "this run is headless"},
		{"headless by the long word", "copilot --model gpt-5 --prompt work", "this run is headless"},
		{"headless in one word", "copilot --prompt=work", "this run is headless"},
		{"headless below npm's wrapper", "node /lib/copilot -p work", "this run is headless"},
		{"by itself", "copilot --autopilot", "this run goes on by itself"},
		{"a first prompt that looks like an option", "copilot -i -p", ""},
		{"nobody is found", "", ""},
	} {
		getenv := func(name string) string { return map[string]string{"COPILOT_CLI": "1"}[name] }
		if got := copilotUnattended(getenv, func() []string { return strings.Fields(c.argv) }); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	// Reports: github/app#228, a client that takes ask for yes.
	none := func(string) string { return "" }
	if got := copilotUnattended(none, func() []string { return []string{"copilot"} }); got == "" {
		t.Error("a client that does not say that it is the command line is taken for one that asks")
	}
}

func TestUnattended_byProvider(t *testing.T) {
	for _, c := range []struct {
		name string
		ev   event.Event
		env  string
		want bool
	}{
		{"Codex never asks from a hook", event.Event{Provider: event.Codex}, "", true},
		{"OpenCode never asks from a plugin", event.Event{Provider: event.OpenCode}, "", true},
		{"Claude in a terminal asks", event.Event{Provider: event.Claude}, "cli", false},
		{"Claude with -p cannot", event.Event{Provider: event.Claude}, "sdk-cli", true},
		{"Claude told not to ask", event.Event{Provider: event.Claude, PermissionMode: "dontAsk"}, "cli", true},
	} {
		getenv := func(name string) string {
			if name == "CLAUDE_CODE_ENTRYPOINT" {
				return c.env
			}
			return ""
		}
		if got := unattended(&c.ev, getenv); (got != "") != c.want {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}
