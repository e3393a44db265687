package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lidguard-go/lidguard/internal/mcpserver"
)

// A client that had no answer to its first question in time greets as clients of old
// do, and the server reads both at once. Copilot CLI 1.0.102 gives up a server that
// refuses the greeting then. One that greets twice is answered twice.
func TestServe_greetingAfterAnotherQuestion(t *testing.T) {
	const (
		question = `{"jsonrpc":"2.0","id":"question","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"
		// asked without "_meta", which only a session that was greeted allows
		list = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}` + "\n"
	)
	for _, c := range []struct{ name, said, want string }{
		{"the greeting alone", greeting, "2025-06-18"},
		{"after a question", question + greeting, "2025-06-18"},
		{"twice", greeting + strings.ReplaceAll(greeting, "hello", "again"), "2025-06-18"},
		{"a protocol that nobody knows", question + strings.ReplaceAll(greeting, "2025-06-18", "1999-01-01"), "2025-11-25"},
		{"a protocol without a greeting", question + strings.ReplaceAll(greeting, "2025-06-18", "2026-07-28"), "2025-11-25"},
	} {
		for _, name := range []string{"lidguard", "lidguard-provider"} {
			for range 20 { // the question is answered beside the greeting, sooner or later
				config := (&runtime{}).config()
				config.NotRunning = func(client string) string { return client + "'s hooks are gone" }
				config.Log = slog.New(slog.DiscardHandler) // of a greeting that came twice
				server := mcpserver.NewProvider(config, "acme").Server
				if name == "lidguard" {
					server = mcpserver.New(config)
				}
				var out bytes.Buffer
				if err := mcpserver.Serve(t.Context(), server, io.NopCloser(strings.NewReader(c.said+list)), keepOpen{&out}); err != nil {
					t.Fatal(err)
				}
				got := map[string]json.RawMessage{}
				for line := range strings.Lines(out.String()) {
					var a struct {
						ID            string
						Result, Error json.RawMessage
					}
					if err := json.Unmarshal([]byte(line), &a); err != nil || a.Error != nil {
						t.Fatalf("%s, %s: %v in %s", name, c.name, err, line)
					}
					got[a.ID] = a.Result
				}
				if want := strings.Count(c.said, `"id"`) + 1; len(got) != want {
					t.Fatalf("%s, %s: %d answers, want %d:\n%s", name, c.name, len(got), want, out.String())
				}
				for id, text := range got {
					var a mcp.InitializeResult
					if id == "question" || id == "list" {
						continue
					}
					if err := json.Unmarshal(text, &a); err != nil {
						t.Fatal(err)
					}
					warned := strings.Count(a.Instructions, "raw's hooks are gone") == 1 // of which agents without hooks hear nothing
					if a.ProtocolVersion != c.want || a.ServerInfo == nil || a.ServerInfo.Name != name || a.Capabilities == nil || a.Capabilities.Tools == nil ||
						!strings.Contains(a.Instructions, "awake") || warned != (name == "lidguard") {
						t.Errorf("%s, %s: %s is told %s", name, c.name, id, text)
					}
				}
				var tools mcp.ListToolsResult
				if err := json.Unmarshal(got["list"], &tools); err != nil || len(tools.Tools) < 4 {
					t.Errorf("%s, %s: tools %s (%v)", name, c.name, got["list"], err)
				}
			}
		}
	}
}
