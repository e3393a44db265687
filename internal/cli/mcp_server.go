package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/mcpserver"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func (a *app) mcpServerCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "mcp-server",
		Short:   "serve settings and sessions to an agent (MCP on stdin and stdout)",
		Example: `lidguard mcp-install claude`,
		Long: "Agents start it; see mcp-install. Its log goes to stderr. It never starts a runtime for a\n" +
			"change of settings.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serveMCP(cmd.Context(), mcpserver.New(a.serverConfig(cmd.Context())))
		},
	}
}

// serveMCP speaks MCP on the streams until the client closes them. Nothing else
// prints on stdout meanwhile.
func (a *app) serveMCP(ctx context.Context, server *mcp.Server) error {
	in, ok := a.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(a.Stdin)
	}
	return mcpserver.Serve(ctx, server, in, keepOpen{a.Stdout})
}

// keepOpen lets the server finish without closing the process's own stdout.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// serverConfig is what both servers need of this machine.
func (a *app) serverConfig(ctx context.Context) mcpserver.Config {
	c := mcpserver.Config{
		Version: a.Version, Call: a.call, Start: a.callOrLaunch,
		Settings: a.settingsMap,
		Update:   func(changes map[string]any) error { return a.updateSettings(ctx, changes) },
		Log:      slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, k := range settings.Keys() {
		if k.Secret {
			continue
		}
		c.Keys = append(c.Keys, mcpserver.Key{Name: k.Name, Help: k.Help + "; " + k.Allowed()})
	}
	c.NotRunning, c.SessionOf = a.hooksNotRunningIn, a.sessionOf
	if a.Self != nil {
		if pid, start, ok := a.Self(); ok {
			c.Self = &event.Process{PID: pid, Start: start}
		}
	}
	return c
}

// hooksNotRunningIn tells what NotRunning of a server's Config tells. An agent is
// known by the name it gives as an MCP client, which holds the agent's own.
//
// The server may not see where the agent keeps its config: Codex hands down neither
// CODEX_HOME nor anything else (contracts/codex §8). So nothing is said where the
// config that is found would not have started this server.
func (a *app) hooksNotRunningIn(client string) string {
	in, err := a.installation()
	if err != nil {
		return ""
	}
	server, err := a.mcpServer()
	if err != nil {
		return ""
	}
	agents := a.agents(in.home)
	for i, c := range a.mcpClients(in.home) {
		if strings.Contains(strings.ToLower(client), string(c.Provider())) && c.Status(server).State != install.Missing {
			return in.notRunning(agents[i])
		}
	}
	return ""
}

// sessionOf is the session that the environment names, as two clients set it for their
// servers (contracts/claude §9, contracts/copilot §7). It is looked for by the client's
// name, since a client started in another's shell inherits what that one set.
func (a *app) sessionOf(client string) string {
	switch client = strings.ToLower(client); {
	case strings.Contains(client, string(event.Claude)):
		return a.Env("CLAUDE_CODE_SESSION_ID")
	case strings.Contains(client, string(event.Copilot)):
		return a.Env("COPILOT_AGENT_SESSION_ID")
	}
	return ""
}

// settingsMap is all settings by key, in the form of the settings file, for agents:
// of a secret one it says only that it is there.
func (a *app) settingsMap() (map[string]any, error) {
	d, err := a.dirs()
	if err != nil {
		return nil, err
	}
	s, err := settings.Load(d.Settings())
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, k := range settings.Keys() {
		text := k.Value(s)
		switch {
		case k.Secret && text != "off":
			out[k.Name] = "set"
		case k.Kind == settings.Bool:
			out[k.Name], _ = settings.ParseBool(text)
		case k.Kind == settings.Number && text != "off":
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("the setting %s is %q: %w", k.Name, text, err)
			}
			out[k.Name] = n
		default:
			out[k.Name] = text
		}
	}
	return out, nil
}

// updateSettings changes settings together; values come as JSON or as the words
// of the command line.
func (a *app) updateSettings(ctx context.Context, changes map[string]any) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	var list []settings.Change
	for _, key := range sortedKeys(changes) {
		text := fmt.Sprint(changes[key])
		if n, ok := changes[key].(float64); ok {
			text = strconv.FormatFloat(n, 'f', -1, 64) // never 1e+06
		}
		list = append(list, settings.Change{Key: key, Value: text})
	}
	_, _, _, err = a.changeSettings(ctx, d, list)
	return err
}
