package mcpserver

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionless is the first protocol without a greeting.
const sessionless = "2026-07-28"

// greetAgain answers a greeting ("initialize") in a session that is open already,
// which the SDK (1.8.0) refuses. A client asks "server/discover" first and takes a
// server that is slow to answer for an old one, as the protocol tells it to: Copilot
// CLI 1.0.102 greets after 10 s, and without an answer its model gets no tools for
// the whole session. On a busy machine, or one that wakes up, 10 s go by.
func greetAgain(self *mcp.Implementation) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			params, greets := req.GetParams().(*mcp.InitializeParams)
			session, ok := req.GetSession().(*mcp.ServerSession)
			if !greets || params == nil || !ok {
				return next(ctx, method, req)
			}
			if session.InitializeParams() == nil {
				res, err := next(ctx, method, req)
				if err == nil || session.InitializeParams() == nil {
					return res, err
				} // the question and the greeting came together
			}
			// What was asked first is asked for this client: that tells what a
			// greeting tells, and has the session speak the client's protocol.
			meta := mcp.Meta{mcp.MetaKeyProtocolVersion: params.ProtocolVersion}
			if params.ClientInfo != nil {
				meta[mcp.MetaKeyClientInfo] = params.ClientInfo
			}
			if params.Capabilities != nil {
				meta[mcp.MetaKeyClientCapabilities] = params.Capabilities
			}
			res, err := next(ctx, "server/discover", &mcp.ServerRequest[*mcp.DiscoverParams]{Session: session, Params: &mcp.DiscoverParams{Meta: meta}})
			found, ok := res.(*mcp.DiscoverResult)
			if err != nil || !ok {
				return nil, err
			}
			version := params.ProtocolVersion
			if version >= sessionless || !slices.Contains(found.SupportedVersions, version) {
				newest := slices.IndexFunc(found.SupportedVersions, func(v string) bool { return v < sessionless })
				version = found.SupportedVersions[newest] // the SDK serves four of them, newest first
			}
			return &mcp.InitializeResult{ProtocolVersion: version, Capabilities: found.Capabilities, Instructions: found.Instructions, ServerInfo: self}, nil
		}
	}
}
