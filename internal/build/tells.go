package build

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	opencode "github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
)

// Tells are the events at which a client can call lidguard, in the census' order:
// those of every installation and those that only a rulebook asks for.
func Tells(p event.Provider) []event.Name {
	var natives []string
	switch p {
	case event.Claude:
		for _, h := range append(claude.Hooks(), claude.Optional()...) {
			natives = append(natives, string(h.Event))
		}
	case event.Codex:
		for _, h := range append(codex.Hooks(), codex.Optional()...) {
			natives = append(natives, string(h.Event))
		}
	case event.Copilot:
		for _, h := range append(copilot.Hooks(), copilot.Optional()...) {
			natives = append(natives, h.Event)
		}
	case event.OpenCode:
		// What the plugin passes on stands in it by name.
		plugin, err := opencode.Setup{}.Snippet(install.Program{})
		if err != nil {
			return nil
		}
		for _, e := range census.Events(p) {
			if bytes.Contains(plugin, []byte(strconv.Quote(e.Native))) {
				natives = append(natives, e.Native)
			}
		}
	}
	var out []event.Name
	for _, e := range census.Events(p) {
		if e.Name != "" && slices.Contains(natives, e.Native) && !slices.Contains(out, e.Name) {
			out = append(out, e.Name)
		}
	}
	if p == event.OpenCode {
		out = append(out, event.SubagentStart, event.SubagentStop) // sessions of their own there, told as such by the codec
	}
	return out
}

// nativeOf is an event's name in the client's configuration; "" where it has none.
func nativeOf(p event.Provider, name event.Name) string {
	switch {
	case p == event.OpenCode && name == event.SubagentStart:
		name = event.SessionStart
	case p == event.OpenCode && name == event.SubagentStop:
		name = event.Stop
	}
	for _, e := range census.Events(p) {
		if e.Name == name {
			return e.Native
		}
	}
	return ""
}
