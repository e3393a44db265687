//go:build linux

package codex

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
)

func TestMain(m *testing.M) { os.Exit(guard.Main(m)) }

func TestTrust_hashIsTheClients(t *testing.T) {
	m := machine.Bench(t)
	Install(t, m)
	hooks := filepath.Join(m.Home(), ".codex", "hooks.json")
	machine.Write(t, m, hooks, `{"hooks": {
		"PreToolUse": [
			{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo <one> & \"two\" ü \u2028", "timeout": 7, "statusMessage": "wait…"}]},
			{"hooks": []},
			{"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b", "async": true, "additionalContextLimit": 0}]}],
		"UserPromptSubmit": [{"matcher": "dropped", "hooks": [{"type": "command", "command": "c", "timeout": 0}]}],
		"SessionEnd": [{"matcher": "other", "hooks": [{"type": "command", "command": "d", "timeout": 9}]}],
		"Interrupt": [{"hooks": [{"type": "command", "command": "e"}]}]}}`)
	Trust(t, m, hooks)
	a := Open(t, m, Options{NoRecorder: true})
	var listed struct {
		Data []struct {
			Hooks []struct {
				Key    string `json:"key"`
				Hash   string `json:"currentHash"`
				Status string `json:"trustStatus"`
			} `json:"hooks"`
		} `json:"data"`
	}
	raw := a.call("hooks/list", map[string]any{"cwds": []string{a.Project}})
	a.decode(raw, &listed)
	if len(listed.Data) != 1 || len(listed.Data[0].Hooks) != 6 {
		t.Fatalf("hooks/list: %s", raw)
	}
	for _, h := range listed.Data[0].Hooks {
		if h.Status != "trusted" {
			t.Errorf("%s is %s, its hash %s", h.Key, h.Status, h.Hash)
		}
	}
	a.Exit()
}
