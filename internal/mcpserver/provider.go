package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// Provider is the server behind `lidguard provider-mcp-server`: an agent that has
// no hooks reports its sessions by tool calls. All of it depends on the model
// doing as the descriptions ask, so it is best effort and documented as such.
type Provider struct {
	*mcp.Server
	config Config
	name   string

	mu      sync.Mutex
	started map[event.SessionID]bool // sessions of this process that are not stopped
}

// NewProvider returns the server for the provider called name.
func NewProvider(c Config, name string) *Provider {
	p := &Provider{config: c, name: name, started: map[event.SessionID]bool{}}
	self := &mcp.Implementation{Name: "lidguard-provider", Title: "lidguard", Version: c.Version}
	p.Server = mcp.NewServer(self, &mcp.ServerOptions{
		Logger:       c.Log,
		Capabilities: &mcp.ServerCapabilities{},
		Instructions: "Report your work so that this laptop stays awake exactly while you work. At the start of a brand-new " +
			"session call provider_start_session once and keep the sessionId it returns. Before a turn that ends with a question " +
			"to the person call provider_set_soft_lock; after the reply call provider_clear_soft_lock with the same sessionId. " +
			"Call provider_stop_session only when the whole work is done.",
	})
	p.AddReceivingMiddleware(greetAgain(self))
	mcp.AddTool(p.Server, &mcp.Tool{
		Name: "provider_start_session",
		Description: "Call once at the start of a brand-new session, before any other work. It makes up a sessionId and returns it. " +
			"Keep that exact sessionId and use it in every later call until the work is truly complete. Do not call this again " +
			"for the same work: after the person's reply use provider_clear_soft_lock.",
		Annotations: writes("Start a session", false),
	}, p.start)
	mcp.AddTool(p.Server, &mcp.Tool{
		Name: "provider_stop_session",
		Description: "Call right before the turn ends, but only when the work of this session is truly complete: nothing is left to do, " +
			"nothing runs in the background and you expect no reply. The laptop may sleep afterwards.",
		Annotations: writes("Stop a session", true),
	}, p.stop)
	mcp.AddTool(p.Server, &mcp.Tool{
		Name: "provider_set_soft_lock",
		Description: "A soft lock says: this session waits for the person. It stays known, but no longer keeps the laptop awake. " +
			"Call this right before you end a turn that waits for the person's input (a question, a choice, an approval). " +
			"This tool cannot end the turn for you: end it yourself afterwards.",
		Annotations: writes("Session waits for the person", true),
	}, p.lock)
	mcp.AddTool(p.Server, &mcp.Tool{
		Name: "provider_clear_soft_lock",
		Description: "Call first thing after the person replied, with the sessionId you got earlier: the session works again and keeps " +
			"the laptop awake. Do not start a new session for the same work.",
		Annotations: writes("Session works again", true),
	}, p.clear)
	return p
}

type (
	startArgs struct {
		Prompt string `json:"prompt,omitempty" jsonschema:"what the session is about, a few words; shown in lidguard status"`
		Cwd    string `json:"cwd,omitempty" jsonschema:"the folder you work in"`
	}
	idArgs struct {
		SessionID string `json:"sessionId" jsonschema:"the exact sessionId that provider_start_session returned"`
	}
	idReasonArgs struct {
		SessionID string `json:"sessionId" jsonschema:"the exact sessionId that provider_start_session returned"`
		Reason    string `json:"reason,omitempty" jsonschema:"what you wait for, a few words"`
	}
	idResult struct {
		SessionID string `json:"sessionId" jsonschema:"keep it and use it in every later call"`
	}
)

func (p *Provider) start(ctx context.Context, _ *mcp.CallToolRequest, in startArgs) (*mcp.CallToolResult, idResult, error) {
	// The first 8 of a random UUID's hex digits; the provider's name is part of
	// the identity, so that two providers cannot collide.
	id := event.SessionID(strings.ReplaceAll(uuid.NewString(), "-", "")[:8])
	err := p.send(ctx, p.config.Start, event.Signal{Kind: event.Began, Session: p.key(id), Source: "mcp provider_start_session",
		Prompt: event.Preview(in.Prompt), Cwd: in.Cwd, Process: p.config.Self})
	if err != nil {
		return nil, idResult{}, err
	}
	p.mu.Lock()
	p.started[id] = true
	p.mu.Unlock()
	return nil, idResult{SessionID: string(id)}, nil
}

func (p *Provider) stop(ctx context.Context, _ *mcp.CallToolRequest, in idArgs) (*mcp.CallToolResult, idResult, error) {
	id, err := p.id(in.SessionID)
	if err != nil {
		return nil, idResult{}, err
	}
	err = p.send(ctx, p.config.Call, event.Signal{Kind: event.Stopped, Session: p.key(id), Source: "mcp provider_stop_session", Tasks: []event.Task{}})
	if err == nil {
		p.mu.Lock()
		delete(p.started, id)
		p.mu.Unlock()
	}
	return nil, idResult(in), err
}

func (p *Provider) lock(ctx context.Context, _ *mcp.CallToolRequest, in idReasonArgs) (*mcp.CallToolResult, idResult, error) {
	id, err := p.id(in.SessionID)
	if err != nil {
		return nil, idResult{}, err
	}
	return nil, idResult{SessionID: in.SessionID}, p.send(ctx, p.config.Call,
		event.Signal{Kind: event.Waiting, Session: p.key(id), Source: "mcp provider_set_soft_lock", Reason: or(in.Reason, "mcp_soft_lock")})
}

// clear is also how a session comes back that a new runtime does not know any
// more, so it may start one.
func (p *Provider) clear(ctx context.Context, _ *mcp.CallToolRequest, in idArgs) (*mcp.CallToolResult, idResult, error) {
	id, err := p.id(in.SessionID)
	if err != nil {
		return nil, idResult{}, err
	}
	err = p.send(ctx, p.config.Start, event.Signal{Kind: event.Began, Session: p.key(id), Source: "mcp provider_clear_soft_lock", Process: p.config.Self})
	if err == nil {
		p.mu.Lock()
		p.started[id] = true
		p.mu.Unlock()
	}
	return nil, idResult(in), err
}

// Close ends what this process started: the client is gone, so its sessions are
// over, but not by a normal end.
func (p *Provider) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var first error
	for id := range p.started {
		err := p.send(ctx, p.config.Call, event.Signal{Kind: event.Removed, Session: p.key(id), Source: "mcp client gone", Reason: "client_gone"})
		if first == nil {
			first = err
		}
	}
	clear(p.started)
	return first
}

func (p *Provider) key(id event.SessionID) event.SessionKey {
	return event.SessionKey{Provider: event.MCP, ID: id, Name: p.name}
}

// id checks what the model gives back: models invent ids.
func (p *Provider) id(s string) (event.SessionID, error) {
	ok := len(s) == 8
	for i := 0; ok && i < len(s); i++ {
		ok = s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'f'
	}
	if !ok {
		return "", fmt.Errorf("sessionId %q is none that provider_start_session returned (8 characters 0-9 a-f): use the exact one, or start a session if there is none", s)
	}
	return event.SessionID(s), nil
}

func (p *Provider) send(ctx context.Context, call func(context.Context, *ipc.Request) (*ipc.Reply, error), s event.Signal) error {
	_, err := call(ctx, &ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{s}})
	return err
}
