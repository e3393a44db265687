package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// Status tells how lidguard's hooks stand, whether Codex will run them, and what
// else is in their way. It reads and changes nothing.
func (s Setup) Status(p install.Program) install.Report {
	r := install.Report{Provider: s.Provider(), Root: s.Root, Present: s.Present()}
	path, err := s.file()
	r.File = path
	var src source
	if err == nil {
		src, err = s.open(path)
	}
	if err != nil {
		r.State = install.Unreadable
		r.Problems = append(r.Problems, install.Broken(path, err, ""))
		r.Settle()
		return r
	}
	config, configErr := s.config()
	if configErr != nil {
		r.Problems = append(r.Problems, install.Broken(s.Config, configErr, ""))
	}
	hooks := s.hooks(src)
	for _, h := range hooks {
		r.Hooks = append(r.Hooks, s.status(path, src, config, string(h.Event), want(p, h)))
	}
	for _, name := range slices.Sorted(maps.Keys(ours(src))) {
		if !used(hooks, name) {
			r.Hooks = append(r.Hooks, install.Hook{Event: name, State: install.NeedsUpdate, Detail: "no longer used"})
		}
	}
	r.Problems = append(r.Problems, fileProblems(path, src)...)
	if config != nil {
		r.Problems = append(r.Problems, s.configProblems(config)...)
		if other, err := s.open(s.JSON); err == nil && len(other.events()) > 0 && len(config.events()) > 0 {
			r.Problems = append(r.Problems, install.Problem{Code: install.TwoHookFiles,
				Text:   "hooks stand in hooks.json and in config.toml; both run, but Codex warns about it at every start",
				Remedy: "move the hooks of one file into the other (then trust them again in Codex)"})
		}
	}
	r.Settle()
	return r
}

// config reads config.toml for what it says about hooks in general.
func (s Setup) config() (*tomlSource, error) {
	f, err := confedit.Open(s.Config)
	if err != nil {
		return nil, err
	}
	return readTOML(f.Bytes())
}

// status compares the entry under one event with what this version writes, and
// then looks whether the client will run it.
func (s Setup) status(file string, src source, config *tomlSource, name string, want handler) install.Hook {
	h := install.Hook{Event: name, State: install.Missing}
	have := places(src, name)
	if len(have) == 0 {
		return h
	}
	p := have[0]
	h.State, h.Command = install.Installed, p.handler.Command
	var differs []string
	if p.handler.Timeout != nil {
		h.Timeout = int(*p.handler.Timeout)
	}
	if p.handler.Command != want.Command {
		differs = append(differs, "another command line")
	}
	if h.Timeout != want.Timeout {
		differs = append(differs, fmt.Sprintf("timeout %d instead of %d s", h.Timeout, want.Timeout))
	}
	if p.handler.Async {
		differs = append(differs, "async, so its answers come too late")
	}
	if !everything(name, p.matcher) {
		differs = append(differs, "sees only some of the events")
	}
	if len(have) > 1 {
		differs = append(differs, "there more than once")
	}
	t := trustOf(config, s.trustKey(file, name, p.group, p.index))
	switch {
	case len(differs) > 0:
		h.State, h.Detail = install.NeedsUpdate, strings.Join(differs, ", ")
	case t.off:
		h.State, h.Detail = install.Off, "switched off in Codex"
	case !t.present:
		h.State, h.Detail = install.NotTrusted, "never trusted in Codex"
	case t.hash != trustHash(name, p.handler, p.matcher):
		h.State, h.Detail = install.NotTrusted, "changed since it was trusted in Codex"
	}
	return h
}

// fileProblems finds what makes the client reject the whole hooks file (§4, §6).
func fileProblems(file string, src source) []install.Problem {
	var out []install.Problem
	for _, name := range src.events() {
		for g, group := range src.groups(name) {
			for i, h := range group.Hooks {
				where := fmt.Sprintf("%s: hooks.%s[%d].hooks[%d]", file, name, g, i)
				switch h.Type {
				case "command", "mcp_tool", "prompt", "agent":
				default:
					out = append(out, install.Problem{Code: install.HookFileBroken,
						Text:   fmt.Sprintf("%s has the type %q, for which Codex rejects the whole file", where, h.Type),
						Remedy: "remove that hook", Voids: true})
				}
				if h.Timeout != nil && *h.Timeout != float64(int(*h.Timeout)) {
					out = append(out, install.Problem{Code: install.HookFileBroken,
						Text:   fmt.Sprintf("%s has the timeout %v; a fraction makes Codex reject the whole file", where, *h.Timeout),
						Remedy: "use whole seconds", Voids: true})
				}
			}
		}
	}
	return out
}

// configProblems finds switches that turn hooks off, or make Codex complain.
func (s Setup) configProblems(config *tomlSource) []install.Problem {
	var out []install.Problem
	if on, ok := config.doc.Get(confedit.Path{"features", "hooks"}); ok && on == false {
		out = append(out, install.Problem{Code: install.HooksOff, Text: "features.hooks is false in " + s.Config + ": Codex runs no hook at all",
			Remedy: "remove features.hooks from that file"})
	}
	if value, ok := config.doc.Get(confedit.Path{"features", "codex_hooks"}); ok {
		p := install.Problem{Code: install.FeatureDeprecated, Text: "features.codex_hooks in " + s.Config + " is an old name; Codex complains about it at every start",
			Remedy: "remove it: hooks are on by default"}
		if value == false {
			p.Code, p.Text = install.HooksOff, "features.codex_hooks is false in "+s.Config+": Codex runs no hook at all"
		}
		out = append(out, p)
	}
	return out
}
