package cli

import (
	"github.com/lidguard-go/lidguard/internal/install"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	opencode "github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
	"github.com/spf13/cobra"
)

// The snippet commands print what hook-install writes, for people who keep such
// files by hand or by a tool of their own.

func (a *app) claudeHooksCmd() *cobra.Command {
	return a.snippets("claude-hooks", "print the hooks for Claude Code's settings", map[string]snippet{
		"settings-json": func(home string, p install.Program) ([]byte, error) {
			return claude.New(a.GOOS, a.Env, home).Snippet(p)
		},
	}, "settings-json")
}

func (a *app) codexHooksCmd() *cobra.Command {
	in := func(toml bool) snippet {
		return func(home string, p install.Program) ([]byte, error) {
			return codex.New(a.GOOS, a.Env, home).Snippet(p, toml)
		}
	}
	return a.snippets("codex-hooks", "print the hooks for Codex's config", map[string]snippet{
		"config-toml": in(true), "hooks-json": in(false)}, "config-toml", "hooks-json")
}

func (a *app) copilotHooksCmd() *cobra.Command {
	return a.snippets("copilot-hooks", "print the hooks for Copilot CLI's hook folder", map[string]snippet{
		"config-json": func(home string, p install.Program) ([]byte, error) {
			return copilot.New(a.GOOS, a.Env, home, a.WorkDir).Snippet(p)
		},
	}, "config-json")
}

func (a *app) openCodeHooksCmd() *cobra.Command {
	return a.snippets("opencode-hooks", "print the plugin for OpenCode's plugin folder", map[string]snippet{
		"plugin-js": func(home string, p install.Program) ([]byte, error) {
			return opencode.New(a.GOOS, a.Env, home, a.WorkDir).Snippet(p)
		},
	}, "plugin-js")
}

type snippet func(home string, p install.Program) ([]byte, error)

func (a *app) snippets(name, short string, bodies map[string]snippet, forms ...string) *cobra.Command {
	return &cobra.Command{
		Use:       name + " " + forms[0],
		Short:     short,
		Example:   "lidguard " + name + " " + forms[len(forms)-1],
		Args:      oneOf(forms...),
		ValidArgs: forms,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(cmd, "%s needs a form", name)
			}
			in, err := a.installing()
			if err != nil {
				return err
			}
			text, err := bodies[args[0]](in.home, in.program)
			if err != nil {
				return err
			}
			return a.result(struct {
				Form string `json:"form"`
				Text string `json:"text"`
			}{args[0], string(text)}, func() { _ = a.raw(text) })
		},
	}
}
