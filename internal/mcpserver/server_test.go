package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/mcpserver"
)

var update = flag.Bool("update", false, "rewrite golden files")

// runtime is a runtime that only remembers; down makes it absent.
type runtime struct {
	mu       sync.Mutex
	down     bool
	launched int
	sessions []ipc.Session
	signals  []event.Signal
	removed  []event.SessionKey
	settings map[string]any
}

func (r *runtime) call(_ context.Context, req *ipc.Request) (*ipc.Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		return nil, fmt.Errorf("%w: connection refused", ipc.ErrNotRunning)
	}
	reply := &ipc.Reply{Protocol: ipc.Protocol, OK: true}
	switch req.Op {
	case ipc.OpStatus:
		reply.Status = &ipc.Status{PID: 1, Sessions: r.sessions, Held: []ipc.Hold{}}
	case ipc.OpSignal:
		r.signals = append(r.signals, req.Signals...)
	case ipc.OpRemove:
		r.removed = append(r.removed, *req.Session)
		reply.Removed = 1
	default:
		return nil, fmt.Errorf("unexpected op %q", req.Op)
	}
	return reply, nil
}

func (r *runtime) start(ctx context.Context, req *ipc.Request) (*ipc.Reply, error) {
	r.mu.Lock()
	if r.down {
		r.down, r.launched = false, r.launched+1
	}
	r.mu.Unlock()
	return r.call(ctx, req)
}

func (r *runtime) config() mcpserver.Config {
	r.settings = map[string]any{"suspend-mode": "sleep", "session-timeout-minutes": 12.0}
	return mcpserver.Config{
		Version: "1.2.3", Call: r.call, Start: r.start,
		Settings: func() (map[string]any, error) { return r.settings, nil },
		Update: func(changes map[string]any) error {
			for k := range changes {
				if _, ok := r.settings[k]; !ok {
					return fmt.Errorf("no setting %q", k)
				}
			}
			for k, v := range changes {
				r.settings[k] = v
			}
			return nil
		},
		Keys: []mcpserver.Key{{"suspend-mode", "sleep, hibernate or none"}, {"session-timeout-minutes", "off or at least 1"}},
		Self: &event.Process{PID: 77, Start: 5},
	}
}

// connect drives a server with the SDK's own client.
func connect(t *testing.T, s *mcp.Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ctx := t.Context()
	if _, err := s.Connect(ctx, there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call returns a tool's structured result, or its error text.
func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any, meta mcp.Meta) (map[string]any, string) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: tool, Arguments: args})
	if err != nil {
		return nil, err.Error()
	}
	if res.IsError {
		return nil, res.Content[0].(*mcp.TextContent).Text
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out, ""
}

func TestTools_areExactlyTheDocumentedOnes(t *testing.T) {
	r := &runtime{}
	for name, server := range map[string]*mcp.Server{
		"mcp-server": mcpserver.New(r.config()), "provider-mcp-server": mcpserver.NewProvider(r.config(), "acme").Server,
	} {
		list, err := connect(t, server).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		type shown struct {
			Name, Description string
			Annotations       *mcp.ToolAnnotations
			InputSchema       any
		}
		var tools []shown
		for _, tool := range list.Tools {
			tools = append(tools, shown{tool.Name, tool.Description, tool.Annotations, tool.InputSchema})
			a := tool.Annotations
			if a == nil || !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint) {
				t.Errorf("%s: %s has annotations that make Codex ask before each call: %+v", name, tool.Name, a)
			}
		}
		got, err := json.MarshalIndent(tools, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".golden.json")
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
			t.Errorf("%s: tools differ from %s (-want +got):\n%s", name, golden, diff)
		}
	}
}

func TestSettings(t *testing.T) {
	r := &runtime{down: true}
	s := connect(t, mcpserver.New(r.config()))

	if got, bad := call(t, s, "update_settings", map[string]any{"suspend-mode": "none", "session-timeout-minutes": 20}, nil); bad != "" ||
		got["settings"].(map[string]any)["suspend-mode"] != "none" {
		t.Errorf("update_settings = %v, %q", got, bad)
	}
	if r.launched != 0 {
		t.Error("a change of settings started a runtime")
	}
	if _, bad := call(t, s, "update_settings", map[string]any{"no-such": 1}, nil); !strings.Contains(bad, "no-such") {
		t.Errorf("an unknown setting: error %q does not name it", bad)
	}
	if _, bad := call(t, s, "update_settings", map[string]any{}, nil); !strings.Contains(bad, "no setting given") {
		t.Errorf("an empty change: %q", bad)
	}
	got, bad := call(t, s, "get_settings_status", nil, nil)
	if bad != "" || got["runtime"] != nil || got["settings"].(map[string]any)["session-timeout-minutes"] != 20.0 {
		t.Errorf("get_settings_status without a runtime = %v, %q", got, bad)
	}
	got, bad = call(t, s, "list_sessions", nil, nil)
	if bad != "" || len(got["sessions"].([]any)) != 0 {
		t.Errorf("list_sessions without a runtime = %v, %q", got, bad)
	}
}

func TestSessions_areFoundByIDProviderOrCall(t *testing.T) {
	key := func(p event.Provider, id, name string) ipc.Session {
		return ipc.Session{Key: event.SessionKey{Provider: p, ID: event.SessionID(id), Name: name}}
	}
	r := &runtime{sessions: []ipc.Session{key(event.Codex, "aa", ""), key(event.Claude, "same", ""), key(event.MCP, "same", "one"), key(event.MCP, "same", "two")}}
	s := connect(t, mcpserver.New(r.config()))
	for _, c := range []struct {
		name string
		args map[string]any
		meta mcp.Meta
		want string // key, or the start of an error
	}{
		{"a unique id is enough", map[string]any{"session_id": "aa"}, nil, "codex:aa"},
		{"provider tells two apart", map[string]any{"session_id": "same", "provider": "claude"}, nil, "claude:same"},
		{"provider name tells two MCP providers apart", map[string]any{"session_id": "same", "provider_name": "two"}, nil, "mcp(two):same"},
		{"the client's metadata stands in", nil, mcp.Meta{"sessionId": "aa"}, "codex:aa"},
		{"an ambiguous id is refused", map[string]any{"session_id": "same"}, nil, `session "same" is ambiguous (claude:same, mcp(one):same, mcp(two):same)`},
		{"an unknown id is refused", map[string]any{"session_id": "zz"}, nil, `no session "zz" is tracked (4 others are)`},
		{"no id at all", nil, nil, "no session_id given"},
	} {
		r.signals, r.removed = nil, nil
		_, bad := call(t, s, "set_session_soft_lock", c.args, c.meta)
		got := bad
		if bad == "" {
			got = r.signals[0].Session.String()
			if sig := r.signals[0]; sig.Kind != event.Waiting || sig.Reason != "mcp_soft_lock" {
				t.Errorf("%s: signal %+v", c.name, sig)
			}
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: set_session_soft_lock got %q, want %q", c.name, got, c.want)
		}
	}
	c := r.config()
	c.SessionOf = func(client string) string {
		if client == "test" {
			return "aa"
		}
		return "of " + client
	}
	r.signals = nil
	if _, bad := call(t, connect(t, mcpserver.New(c)), "set_session_soft_lock", nil, nil); bad != "" || r.signals[0].Session.String() != "codex:aa" {
		t.Errorf("the session that the client started the server for: %q, signals %+v", bad, r.signals)
	}
	if _, bad := call(t, connect(t, mcpserver.New(c)), "set_session_soft_lock", nil, mcp.Meta{"sessionId": "zz"}); !strings.HasPrefix(bad, `no session "zz"`) {
		t.Errorf("the call's own word counts first: %q", bad)
	}
	if _, bad := call(t, s, "clear_session_soft_lock", map[string]any{"session_id": "aa"}, nil); bad != "" || r.signals[len(r.signals)-1].Kind != event.Resumed {
		t.Errorf("clear_session_soft_lock: %q, signals %+v", bad, r.signals)
	}
	if got, bad := call(t, s, "remove_session", map[string]any{"session_id": "aa"}, nil); bad != "" || got["removed"] != 1.0 || len(r.removed) != 1 {
		t.Errorf("remove_session = %v, %q; removed %v", got, bad, r.removed)
	}
}

func TestProvider_storyOfOneSession(t *testing.T) {
	r := &runtime{down: true}
	p := mcpserver.NewProvider(r.config(), "acme")
	s := connect(t, p.Server)

	got, bad := call(t, s, "provider_start_session", map[string]any{"prompt": "fix\nthe bug"}, nil)
	if bad != "" {
		t.Fatal(bad)
	}
	id := got["sessionId"].(string)
	if len(id) != 8 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Fatalf("sessionId %q is not 8 lower-case hex digits", id)
	}
	if r.launched != 1 {
		t.Errorf("the first start launched %d runtimes, want 1", r.launched)
	}
	for _, tool := range []string{"provider_set_soft_lock", "provider_clear_soft_lock", "provider_stop_session"} {
		if _, bad := call(t, s, tool, map[string]any{"sessionId": id}, nil); bad != "" {
			t.Errorf("%s: %s", tool, bad)
		}
	}
	var kinds []event.SignalKind
	for _, sig := range r.signals {
		kinds = append(kinds, sig.Kind)
		if want := (event.SessionKey{Provider: event.MCP, ID: event.SessionID(id), Name: "acme"}); sig.Session != want {
			t.Errorf("%s is about %s, want %s", sig.Kind, sig.Session, want)
		}
	}
	if diff := cmp.Diff([]event.SignalKind{event.Began, event.Waiting, event.Began, event.Stopped}, kinds); diff != "" {
		t.Errorf("signals (-want +got):\n%s", diff)
	}
	if r.signals[0].Prompt != "fix the bug" || r.signals[0].Process.PID != 77 {
		t.Errorf("start signal %+v lacks the preview or this process", r.signals[0])
	}
	for _, invented := range []string{"", "ABCDEF01", "my-session", "123456789"} {
		if _, bad := call(t, s, "provider_stop_session", map[string]any{"sessionId": invented}, nil); !strings.Contains(bad, "provider_start_session") {
			t.Errorf("invented id %q: error %q does not teach", invented, bad)
		}
	}
}

// All of it hangs on the model doing as it is asked, so no text may promise it.
func TestProvider_promisesNothing(t *testing.T) {
	s := connect(t, mcpserver.NewProvider((&runtime{}).config(), "acme").Server)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{s.InitializeResult().Instructions}
	for _, tool := range list.Tools {
		texts = append(texts, tool.Description)
	}
	for _, text := range texts {
		for _, word := range []string{"guarantee", "ensure", "always", "never sleep", "will stay awake", "keeps awake until"} {
			if text == "" || strings.Contains(strings.ToLower(text), word) {
				t.Errorf("%q says %q", text, word)
			}
		}
	}
}

func TestProvider_closeEndsWhatIsLeft(t *testing.T) {
	r := &runtime{}
	p := mcpserver.NewProvider(r.config(), "acme")
	s := connect(t, p.Server)
	for range 3 {
		call(t, s, "provider_start_session", nil, nil)
	}
	stopped := string(r.signals[0].Session.ID)
	call(t, s, "provider_stop_session", map[string]any{"sessionId": stopped}, nil)
	r.signals = nil
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.signals) != 2 || r.signals[0].Kind != event.Removed {
		t.Errorf("after close: signals %+v, want two Removed", r.signals)
	}
	if err := p.Close(t.Context()); err != nil || len(r.signals) != 2 {
		t.Errorf("a second close did something: %v, %d signals", err, len(r.signals))
	}
}

func TestRuntimeErrors_reachTheModel(t *testing.T) {
	c := (&runtime{}).config()
	c.Call = func(context.Context, *ipc.Request) (*ipc.Reply, error) { return nil, errors.New("the runtime hangs") }
	if _, bad := call(t, connect(t, mcpserver.New(c)), "list_sessions", nil, nil); !strings.Contains(bad, "the runtime hangs") {
		t.Errorf("error shown: %q", bad)
	}
}

// A session in which none of lidguard's hooks runs hears of it by the server alone:
// the client's name comes with its greeting.
func TestNotRunning_isToldWhereModelsRead(t *testing.T) {
	told := ""
	c := (&runtime{}).config()
	c.NotRunning = func(client string) string { return strings.ReplaceAll(told, "CLIENT", client) }
	look := func() (instructions, description, another string) {
		s := connect(t, mcpserver.New(c))
		for range 2 { // the tools that the server keeps stay as they are
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				switch tool.Name {
				case "get_settings_status":
					description = tool.Description
				case "list_sessions":
					another = tool.Description
				}
			}
		}
		return s.InitializeResult().Instructions, description, another
	}
	usual, usualTool, other := look()
	told = "the hooks of CLIENT are gone"
	const warning = "Before anything else tell the person this, and leave the repair to them: the hooks of test are gone\n\n"
	instructions, description, another := look()
	if instructions != warning+usual || description != warning+usualTool || another != other {
		t.Errorf("instructions %q, description %q, another tool's %q", instructions, description, another)
	}
	if s := connect(t, mcpserver.NewProvider(c, "acme").Server); strings.Contains(s.InitializeResult().Instructions, "gone") {
		t.Error("the server of agents without hooks tells of hooks")
	}
}
