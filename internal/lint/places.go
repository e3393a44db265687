package lint

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Kind is a form of file that holds hooks.
type Kind string

// The kinds.
const (
	ClaudeSettings  Kind = "claude-settings"
	ClaudePlugin    Kind = "claude-plugin"
	ClaudeFront     Kind = "claude-front-matter" // of a skill, an agent or a command
	CodexHooks      Kind = "codex-hooks"
	CodexConfig     Kind = "codex-config"
	CopilotHooks    Kind = "copilot-hooks"
	CopilotSettings Kind = "copilot-settings"
	CopilotConfig   Kind = "copilot-config" // the client's own file, in which hooks do not count
	OpenCodePlugin  Kind = "opencode-plugin"
	OpenCodeConfig  Kind = "opencode-config"
)

// Scope is whose file it is.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
	Managed Scope = "managed"
	Other   Scope = "" // a file that no client reads where it lies
)

// File is a file to look at.
type File struct {
	Path     string         `json:"path"`
	Kind     Kind           `json:"kind"`
	Provider event.Provider `json:"provider"`
	Scope    Scope          `json:"scope,omitempty"`
}

func file(path string, kind Kind, scope Scope) File {
	p := event.Claude
	switch kind {
	case CodexHooks, CodexConfig:
		p = event.Codex
	case CopilotHooks, CopilotSettings, CopilotConfig:
		p = event.Copilot
	case OpenCodePlugin, OpenCodeConfig:
		p = event.OpenCode
	}
	return File{path, kind, p, scope}
}

// roots are the clients' own folders.
type roots struct{ claude, codex, copilot, openCode string }

func (h Host) roots() roots {
	or := func(name, fallback string) string {
		if v := h.env(name); v != "" {
			return h.absolute(v)
		}
		return fallback
	}
	config := or("XDG_CONFIG_HOME", filepath.Join(h.Home, ".config"))
	return roots{
		claude:   or("CLAUDE_CONFIG_DIR", filepath.Join(h.Home, ".claude")),
		codex:    or("CODEX_HOME", filepath.Join(h.Home, ".codex")),
		copilot:  or("COPILOT_HOME", filepath.Join(h.Home, ".copilot")),
		openCode: or("OPENCODE_CONFIG_DIR", filepath.Join(config, "opencode")),
	}
}

// project is the repository around the working folder, or that folder; empty in
// the home folder, which is nobody's project.
func (h Host) project() string {
	if h.WorkDir == "" || h.WorkDir == h.Home {
		return ""
	}
	for at := h.WorkDir; at != h.Home && at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	return h.WorkDir
}

// managed is where an administrator's settings for Claude Code lie.
func (h Host) managed() string {
	if h.Managed != "" {
		return h.Managed
	}
	switch h.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// Places returns the files that the clients read hooks from, for this person in
// this folder, as far as they exist.
func Places(h Host) []File {
	var out []File
	add := func(kind Kind, scope Scope, elem ...string) {
		path := filepath.Join(elem...)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			out = append(out, file(path, kind, scope))
		}
	}
	each := func(kind Kind, scope Scope, dir string, depth int, match func(name string) bool) {
		for _, path := range walk(dir, depth, match) {
			out = append(out, file(path, kind, scope))
		}
	}
	markdown := func(name string) bool { return strings.HasSuffix(name, ".md") }
	skill := func(name string) bool { return name == "SKILL.md" }
	hookFile := func(name string) bool { return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonc") }

	r := h.roots()
	add(ClaudeSettings, Managed, h.managed())
	add(ClaudeSettings, User, r.claude, "settings.json")
	each(ClaudeFront, User, filepath.Join(r.claude, "agents"), 4, markdown)
	each(ClaudeFront, User, filepath.Join(r.claude, "commands"), 4, markdown)
	each(ClaudeFront, User, filepath.Join(r.claude, "skills"), 3, skill)
	for _, path := range walk(filepath.Join(r.claude, "plugins"), 8, func(name string) bool { return name == "hooks.json" }) {
		if filepath.Base(filepath.Dir(path)) == "hooks" {
			out = append(out, file(path, ClaudePlugin, User))
		}
	}
	add(CodexHooks, User, r.codex, "hooks.json")
	add(CodexConfig, User, r.codex, "config.toml")
	each(CopilotHooks, User, filepath.Join(r.copilot, "hooks"), 4, hookFile)
	add(CopilotSettings, User, r.copilot, "settings.json")
	add(CopilotConfig, User, r.copilot, "config.json")
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		add(OpenCodeConfig, User, r.openCode, name)
	}
	for _, dir := range []string{"plugins", "plugin"} {
		each(OpenCodePlugin, User, filepath.Join(r.openCode, dir), 1, isScript)
	}

	p := h.project()
	if p == "" {
		return out
	}
	add(ClaudeSettings, Project, p, ".claude", "settings.json")
	add(ClaudeSettings, Project, p, ".claude", "settings.local.json")
	each(ClaudeFront, Project, filepath.Join(p, ".claude", "agents"), 4, markdown)
	each(ClaudeFront, Project, filepath.Join(p, ".claude", "commands"), 4, markdown)
	each(ClaudeFront, Project, filepath.Join(p, ".claude", "skills"), 3, skill)
	add(CodexHooks, Project, p, ".codex", "hooks.json")
	add(CodexConfig, Project, p, ".codex", "config.toml")
	each(CopilotHooks, Project, filepath.Join(p, ".github", "hooks"), 4, hookFile)
	add(CopilotSettings, Project, p, ".github", "copilot", "settings.json")
	for _, name := range []string{"opencode.json", "opencode.jsonc"} {
		add(OpenCodeConfig, Project, p, name)
	}
	for _, dir := range []string{"plugins", "plugin"} {
		each(OpenCodePlugin, Project, filepath.Join(p, ".opencode", dir), 1, isScript)
	}
	return out
}

func isScript(name string) bool {
	return slices.Contains([]string{".js", ".mjs", ".ts", ".mts", ".cjs"}, filepath.Ext(name))
}

// walk returns the files below dir whose names match, depth folders deep at most.
func walk(dir string, depth int, match func(name string) bool) []string {
	var out []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read the client cannot read either
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git" || strings.Count(strings.TrimPrefix(path, dir), string(filepath.Separator)) >= depth):
			return fs.SkipDir
		case !e.IsDir() && match(e.Name()) && len(out) < 1000:
			out = append(out, path)
		}
		return nil
	})
	return out
}

// Guess tells what kind a named file is: by its place where that says it, else by
// what is in it. provider, if given, decides between clients. ok is false for a
// file that is none of them.
func Guess(h Host, path string, data []byte, provider event.Provider) (f File, ok bool) {
	path = h.absolute(path)
	for _, known := range Places(h) {
		if known.Path == path && (provider == "" || known.Provider == provider) {
			return known, true
		}
	}
	slash := filepath.ToSlash(path)
	base := filepath.Base(path)
	in := func(part string) bool { return strings.Contains(slash, "/"+part+"/") }
	kind := Kind("")
	switch ext := filepath.Ext(base); {
	case ext == ".md":
		kind = ClaudeFront
	case ext == ".toml":
		kind = CodexConfig
	case isScript(base):
		kind = OpenCodePlugin
	case ext != ".json" && ext != ".jsonc":
		return File{}, false
	case provider != "":
		kind = map[event.Provider]Kind{event.Claude: ClaudeSettings, event.Codex: CodexHooks, event.Copilot: CopilotHooks, event.OpenCode: OpenCodeConfig}[provider]
		if base == "hooks.json" && provider == event.Claude {
			kind = ClaudePlugin
		}
	case strings.HasPrefix(base, "opencode."):
		kind = OpenCodeConfig
	case in(".codex"):
		kind = CodexHooks
	case in(".github/hooks"), in(".copilot/hooks"):
		kind = CopilotHooks
	case in(".github/copilot"), in(".copilot") && base == "settings.json":
		kind = CopilotSettings
	case in(".copilot") && base == "config.json":
		kind = CopilotConfig
	case strings.Contains(base, "settings"):
		kind = ClaudeSettings
	case copilotShaped(data):
		kind = CopilotHooks
	case base == "hooks.json":
		kind = ClaudePlugin
		if bytes.Contains(data, []byte("codex")) {
			kind = CodexHooks
		}
	default:
		kind = ClaudeSettings
	}
	if kind == "" {
		return File{}, false
	}
	f = file(path, kind, Other)
	if provider != "" && f.Provider != provider {
		return File{}, false
	}
	if f.Scope == Other && in(".claude") && kind == ClaudeSettings {
		f.Scope = Project
	}
	return f, true
}

// copilotShaped reports whether a file has Copilot's own names of events.
func copilotShaped(data []byte) bool {
	for _, name := range []string{`"preToolUse"`, `"postToolUse"`, `"sessionStart"`, `"userPromptSubmitted"`, `"agentStop"`, `"permissionRequest"`, `"sessionEnd"`, `"timeoutSec"`} {
		if bytes.Contains(data, []byte(name)) {
			return true
		}
	}
	return false
}
