// Package mcpserver serves lidguard to MCP clients over standard input and
// output: `lidguard mcp-server` (settings and tracked sessions) and `lidguard
// provider-mcp-server` (an agent reports its own sessions). In come tool calls,
// out go requests to the runtime and changes of the settings file. It prints
// nothing but protocol on the output it is given; its log goes elsewhere. It
// never starts a runtime for a change of settings.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// Config is what both servers need of the world.
type Config struct {
	Version string
	// Call asks the running runtime and never starts one; its error matches
	// ipc.ErrNotRunning when there is none.
	Call func(context.Context, *ipc.Request) (*ipc.Reply, error)
	// Start is Call, but starts a runtime where none runs.
	Start func(context.Context, *ipc.Request) (*ipc.Reply, error)
	// Settings returns all settings by key, as `lidguard settings --json` does.
	Settings func() (map[string]any, error)
	// Update changes settings together or, with an error that names the first
	// bad key and its allowed range, none of them. It also tells a running
	// runtime.
	Update func(changes map[string]any) error
	// Keys describes the settings for update_settings.
	Keys []Key
	// NotRunning says, for a client by the name it gives, which hooks that lidguard
	// installed in it will not run; "" when they all will. It may be nil. A session
	// in which no hook is left hears of it here alone.
	NotRunning func(client string) string
	// SessionOf is the session that a client of this name started the server for,
	// where its calls do not say which session makes them; "" when that is not
	// known. It may be nil.
	SessionOf func(client string) string
	// Self is this process: sessions started here end when it is gone.
	Self *event.Process
	Log  *slog.Logger
}

// Key is one setting as a model sees it.
type Key struct{ Name, Help string }

// Serve runs server on the streams until the client closes them or ctx ends.
func Serve(ctx context.Context, server *mcp.Server, in io.ReadCloser, out io.WriteCloser) error {
	err := server.Run(ctx, stdio{in, out})
	if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Hints for clients that ask before a tool runs. Codex asks for none that is
// read-only, or neither destructive nor open-world (contracts/codex §3).
func reads(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, OpenWorldHint: new(false)}
}

func writes(title string, idempotent bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, DestructiveHint: new(false), OpenWorldHint: new(false), IdempotentHint: idempotent}
}

// New returns the server behind `lidguard mcp-server`.
func New(c Config) *mcp.Server {
	self := &mcp.Implementation{Name: "lidguard", Title: "lidguard", Version: c.Version}
	s := mcp.NewServer(self, &mcp.ServerOptions{
		Logger:       c.Log,
		Capabilities: &mcp.ServerCapabilities{},
		Instructions: "lidguard keeps this laptop awake while coding agents work and lets it sleep when they are done. " +
			"These tools show and change its settings and the sessions it tracks. Before you end a turn to wait for the " +
			"person's answer, set_session_soft_lock lets the machine sleep while nobody answers.",
	})

	s.AddReceivingMiddleware(c.tellNotRunning, greetAgain(self))

	mcp.AddTool(s, &mcp.Tool{
		Name:        statusTool,
		Description: "Show all lidguard settings and what the runtime does right now: whether the machine is kept awake, what is really held, lid, displays, battery.",
		Annotations: reads("Settings and status"),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, settingsStatus, error) {
		all, err := c.Settings()
		if err != nil {
			return nil, settingsStatus{}, err
		}
		status, err := c.status(ctx)
		return nil, settingsStatus{Settings: all, Runtime: status}, err
	})

	mcp.AddTool(s, &mcp.Tool{
		Name:        "list_sessions",
		Description: "List the agent sessions lidguard tracks: provider, id, state, whether each keeps the machine awake and why.",
		Annotations: reads("Sessions"),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, sessionList, error) {
		status, err := c.status(ctx)
		if err != nil || status == nil {
			return nil, sessionList{Sessions: []ipc.Session{}}, err
		}
		return nil, sessionList{Sessions: status.Sessions}, nil
	})

	mcp.AddTool(s, &mcp.Tool{
		Name:        "update_settings",
		Description: "Change lidguard settings. All given fields are stored together, or none when one is invalid. A running lidguard applies them at once.",
		Annotations: writes("Change settings", true),
		InputSchema: updateSchema(c.Keys),
	}, func(_ context.Context, _ *mcp.CallToolRequest, changes map[string]any) (*mcp.CallToolResult, settingsOnly, error) {
		if len(changes) == 0 {
			return nil, settingsOnly{}, errors.New("no setting given: name at least one field to change")
		}
		if err := c.Update(changes); err != nil {
			return nil, settingsOnly{}, err
		}
		all, err := c.Settings()
		return nil, settingsOnly{Settings: all}, err
	})

	mcp.AddTool(s, &mcp.Tool{
		Name:        "remove_session",
		Description: "Stop tracking one session. Use it for a session that is over but still listed. The machine may sleep afterwards.",
		Annotations: writes("Remove a session", true),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in sessionArgs) (*mcp.CallToolResult, removed, error) {
		key, _, err := c.session(ctx, req, in)
		if err != nil {
			return nil, removed{}, err
		}
		reply, err := c.Call(ctx, &ipc.Request{Op: ipc.OpRemove, Session: &key})
		if err != nil {
			return nil, removed{}, err
		}
		return nil, removed{Removed: reply.Removed}, nil
	})

	mcp.AddTool(s, &mcp.Tool{
		Name: event.SoftLockTool,
		Description: "Mark a session as waiting for a person. It stays tracked but no longer keeps the machine awake. " +
			"Call it right before you end a turn with a question; it does not end the turn for you. Any later activity of the session clears it.",
		Annotations: writes("Session waits for a person", true),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in lockArgs) (*mcp.CallToolResult, changed, error) {
		return c.change(ctx, req, in.sessionArgs, event.Waiting, "mcp "+event.SoftLockTool, or(in.Reason, "mcp_soft_lock"))
	})

	mcp.AddTool(s, &mcp.Tool{
		Name:        "clear_session_soft_lock",
		Description: "Mark a session as working again after the person answered, so that it keeps the machine awake.",
		Annotations: writes("Session works again", true),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in sessionArgs) (*mcp.CallToolResult, changed, error) {
		return c.change(ctx, req, in, event.Resumed, "mcp clear_session_soft_lock", "")
	})
	return s
}

// tellNotRunning puts what NotRunning says where models read when a session begins:
// in front of the instructions, and of a tool's description for clients that show
// no instructions, as Copilot CLI 1.0.102.
func (c Config) tellNotRunning(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		session, ok := req.GetSession().(*mcp.ServerSession)
		if err != nil || c.NotRunning == nil || !ok {
			return res, err
		}
		warn := func(text *string) {
			if what := c.NotRunning(clientOf(session)); what != "" {
				*text = "Before anything else tell the person this, and leave the repair to them: " + what + "\n\n" + *text
			}
		}
		switch res := res.(type) {
		case *mcp.InitializeResult:
			warn(&res.Instructions)
		case *mcp.DiscoverResult: // what takes its place from protocol 2026-07-28 on
			warn(&res.Instructions)
		case *mcp.ListToolsResult:
			for i, t := range res.Tools {
				if t.Name == statusTool {
					own := *t // the server keeps the other
					warn(&own.Description)
					res.Tools[i] = &own
				}
			}
		}
		return res, err
	}
}

// clientOf is the name that the client gave, or "".
func clientOf(s *mcp.ServerSession) string {
	if s == nil {
		return ""
	}
	if p := s.InitializeParams(); p != nil && p.ClientInfo != nil {
		return p.ClientInfo.Name
	}
	return ""
}

// statusTool is the tool to which a warning belongs.
const statusTool = "get_settings_status"

type (
	settingsStatus struct {
		Settings map[string]any `json:"settings" jsonschema:"all settings by key"`
		Runtime  *ipc.Status    `json:"runtime,omitempty" jsonschema:"absent when no runtime is running, that is when no agent works"`
	}
	settingsOnly struct {
		Settings map[string]any `json:"settings"`
	}
	sessionList struct {
		Sessions []ipc.Session `json:"sessions"`
	}
	removed struct {
		Removed int `json:"removed"`
	}
	changed struct {
		Session event.SessionKey `json:"session"`
	}
	sessionArgs struct {
		SessionID    string `json:"session_id,omitempty" jsonschema:"the session's id as list_sessions shows it; left out: the calling session, where the client says which that is"`
		Provider     string `json:"provider,omitempty" jsonschema:"codex, claude, copilot, opencode, mcp or custom; needed only when two providers use one id"`
		ProviderName string `json:"provider_name,omitempty" jsonschema:"for provider mcp: the name the provider registered with"`
	}
	lockArgs struct {
		sessionArgs
		Reason string `json:"reason,omitempty" jsonschema:"why the session waits, a few words"`
	}
)

// status returns the runtime's status, nil when none runs.
func (c Config) status(ctx context.Context) (*ipc.Status, error) {
	reply, err := c.Call(ctx, &ipc.Request{Op: ipc.OpStatus})
	switch {
	case errors.Is(err, ipc.ErrNotRunning):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return reply.Status, nil
}

// session finds the one tracked session that the arguments, or else the
// client's own metadata, name.
func (c Config) session(ctx context.Context, req *mcp.CallToolRequest, in sessionArgs) (event.SessionKey, ipc.Session, error) {
	id := in.SessionID
	if id == "" {
		id = callingSession(req)
	}
	if id == "" && c.SessionOf != nil && req != nil {
		id = c.SessionOf(clientOf(req.Session))
	}
	if id == "" {
		return event.SessionKey{}, ipc.Session{}, errors.New("no session_id given, and this client does not tell which session calls: take one from list_sessions")
	}
	status, err := c.status(ctx)
	if err != nil {
		return event.SessionKey{}, ipc.Session{}, err
	}
	if status == nil {
		return event.SessionKey{}, ipc.Session{}, fmt.Errorf("no session %q: lidguard's runtime is not running, so nothing is tracked", id)
	}
	var found []ipc.Session
	for _, s := range status.Sessions {
		if string(s.Key.ID) == id && (in.Provider == "" || string(s.Key.Provider) == in.Provider) &&
			(in.ProviderName == "" || s.Key.Name == in.ProviderName) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0].Key, found[0], nil
	case 0:
		return event.SessionKey{}, ipc.Session{}, fmt.Errorf("no session %q is tracked (%d others are): see list_sessions", id, len(status.Sessions))
	}
	var names []string
	for _, s := range found {
		names = append(names, s.Key.String())
	}
	return event.SessionKey{}, ipc.Session{}, fmt.Errorf("session %q is ambiguous (%s): give provider, and provider_name for mcp", id, strings.Join(names, ", "))
}

func (c Config) change(ctx context.Context, req *mcp.CallToolRequest, in sessionArgs, kind event.SignalKind, source, reason string) (*mcp.CallToolResult, changed, error) {
	key, _, err := c.session(ctx, req, in)
	if err != nil {
		return nil, changed{}, err
	}
	_, err = c.Call(ctx, &ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{Kind: kind, Session: key, Source: source, Reason: reason}}})
	return nil, changed{Session: key}, err
}

// callingSession reads the session a client names in a call's metadata. Codex
// sends sessionId and threadId (contracts/codex §8).
func callingSession(req *mcp.CallToolRequest) string {
	if req == nil || req.Params == nil {
		return ""
	}
	for _, name := range []string{"sessionId", "threadId"} {
		if id, ok := req.Params.Meta[name].(string); ok && id != "" {
			return id
		}
	}
	return ""
}

// updateSchema has one optional property per setting; values may be given as
// JSON values or as the words the command line takes.
func updateSchema(keys []Key) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, k := range keys {
		s.Properties[k.Name] = &jsonschema.Schema{Types: []string{"string", "number", "boolean"}, Description: k.Help}
	}
	return s
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
