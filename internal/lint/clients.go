package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codex/setup"
)

// settingTypes are values of Claude Code's settings whose type is known. A wrong
// one drops the file (contracts/claude §1.16).
var settingTypes = map[string]string{
	"permissions": "an object", "permissions.allow": "a list", "permissions.deny": "a list", "permissions.ask": "a list",
	"permissions.additionalDirectories": "a list", "permissions.defaultMode": "a text",
	"env": "an object", "model": "a text", "cleanupPeriodDays": "a number", "disableAllHooks": "true or false", "allowManagedHooksOnly": "true or false",
	"enableAllProjectMcpServers": "true or false", "enabledMcpjsonServers": "a list", "disabledMcpjsonServers": "a list", "apiKeyHelper": "a text",
	"includeCoAuthoredBy": "true or false", "statusLine": "an object", "outputStyle": "a text", "enabledPlugins": "an object", "allowedHttpHookUrls": "a list",
}

// claudeFile looks at a file of Claude Code's as a whole.
func (c *checker) claudeFile(s *source) {
	if s.Kind == ClaudeSettings {
		for _, name := range slices.Sorted(maps.Keys(settingTypes)) {
			value, path, has := s.lookup(strings.Split(name, "."))
			if has && value != nil && kindOf(value) != settingTypes[name] {
				c.add(s, settingsLost, "", path, "%s is %s and must be %s", name, kindOf(value), settingTypes[name])
			}
		}
		for _, name := range []string{"allow", "deny", "ask"} {
			list, _ := s.dig("permissions", name).([]any)
			for i, item := range list {
				if _, ok := item.(string); !ok {
					c.add(s, settingsLost, "", confedit.Path{"permissions", name, i}, "a rule in permissions.%s is %s and must be a text", name, kindOf(item))
				}
			}
		}
		vars, _ := s.root["env"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			if _, ok := vars[name].(string); !ok {
				c.add(s, settingsLost, "", confedit.Path{"env", name}, "the value of env.%s is %s and must be a text", name, kindOf(vars[name]))
			}
		}
		if s.root["disableAllHooks"] == true && len(s.entries) > 0 {
			c.add(s, hooksOff, "", confedit.Path{"disableAllHooks"}, "disableAllHooks is true, and there are hooks in this file")
		}
	}
}

func (s *source) dig(keys ...string) any {
	v, _, _ := s.lookup(keys)
	return v
}

func (s *source) lookup(keys []string) (any, confedit.Path, bool) {
	var at any = s.root
	var path confedit.Path
	for _, k := range keys {
		m, _ := at.(map[string]any)
		next, has := m[k]
		if !has {
			return nil, path, false
		}
		at, path = next, path.With(k)
	}
	return at, path, true
}

// variable is a variable in a header.
var variable = re(`\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?`)

func (c *checker) claudeHandler(s *source, e *entry) {
	c.condition(s, e)
	if _, has := e.fields["once"]; has && s.Kind != ClaudeFront {
		c.on(s, keyIgnored, e, "once", "once counts in the front matter of skills alone; here the hook runs every time")
	}
	if e.kind() == census.HTTP {
		allowed, _ := e.fields["allowedEnvVars"].([]any)
		headers, _ := e.fields["headers"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			text, _ := headers[name].(string)
			for _, m := range variable.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(allowed, any(m[1])) {
					c.add(s, httpVariable, e.event, e.path.With("headers", name), "%s is not in allowedEnvVars and becomes empty", m[1])
				}
			}
		}
	}
	if e.ours() && (e.fields["async"] == true || e.fields["asyncRewake"] == true) {
		c.on(s, asyncDecides, e, "async", "lidguard's own hook is async: its answers come too late")
	}
	if shell, has := e.fields["shell"]; has && shell != "bash" && shell != "powershell" {
		c.on(s, handlerDropped, e, "shell", "shell is bash or powershell, not %v", shell)
	}
}

// codexFile looks at a file of Codex's as a whole.
func (c *checker) codexFile(s *source) {
	if s.Kind != CodexConfig {
		return
	}
	if value, path, has := s.lookup([]string{"features", "codex_hooks"}); has {
		c.add(s, codexOldSwitch, "", path, "features.codex_hooks is the old name of features.hooks")
		if value == false {
			c.add(s, hooksOff, "", path, "features.codex_hooks is false: Codex runs no hook at all")
		}
	}
	if value, path, has := s.lookup([]string{"features", "hooks"}); has && value == false {
		c.add(s, hooksOff, "", path, "features.hooks is false: Codex runs no hook at all")
	}
}

func (c *checker) codexHandler(s *source, e *entry) {
	switch e.kind() {
	case census.HTTP:
		c.on(s, codexVoid, e, "type", "one http handler makes Codex reject the whole file")
	case census.Command:
		if e.fields["async"] == true && e.census.Name == event.SessionEnd {
			c.on(s, keyIgnored, e, "async", "Codex runs an async handler on SessionEnd synchronously, and warns about it")
		}
		if e.ours() && e.fields["async"] == true {
			c.on(s, asyncDecides, e, "async", "lidguard's own hook is async: its answers come too late")
		}
	}
}

// copilotFile looks at a file of Copilot's as a whole.
func (c *checker) copilotFile(s *source) {
	_, hooks, has := s.lookup([]string{"hooks"})
	switch {
	case s.Kind == CopilotConfig:
		if has {
			c.add(s, copilotNotLoaded, "", hooks, "hooks in config.json are not loaded; settings.json beside it is the place")
		}
		return
	case s.Kind == CopilotHooks && strings.HasSuffix(s.File.Path, ".jsonc"):
		c.add(s, copilotNotLoaded, "", nil, "a .jsonc file is not loaded")
	}
	if version, path, has := s.lookup([]string{"version"}); has && s.Kind == CopilotHooks {
		if n, ok := version.(json.Number); !ok || n.String() != "1" {
			c.add(s, copilotNotLoaded, "", path, "the version is %v, and only 1 is loaded", version)
		}
	}
	if s.root["disableAllHooks"] == true && len(s.entries) > 0 {
		c.add(s, hooksOff, "", confedit.Path{"disableAllHooks"}, "disableAllHooks is true, and there are hooks in this file")
	}
}

func (c *checker) copilotHandler(s *source, e *entry, kind census.Kind) {
	if kind == census.HTTP {
		if u, err := url.Parse(e.text("url")); err == nil {
			host := u.Hostname()
			if host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1" {
				c.on(s, copilotLoopback, e, "url", "%s is this machine, which http hooks do not reach by default", host)
			}
		}
	}
	vars, _ := e.fields["env"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if text, _ := vars[name].(string); variable.MatchString(text) {
			c.add(s, copilotEnv, e.event, e.path.With("env", name), "%s is passed on with its $ as it stands", name)
		}
	}
	if _, has := e.fields["if"]; has {
		c.on(s, keyIgnored, e, "if", "Copilot does not know if: the hook runs on every call that the matcher matches")
	}
	if _, has := e.fields["timeout"]; has && !e.nested {
		if _, both := e.fields["timeoutSec"]; !both {
			c.on(s, keyUnknown, e, "timeout", "the key is timeoutSec here; without it a hook has 30 s")
		}
	}
}

// together looks at what files are to each other.
func (c *checker) together(all []*source) {
	c.duplicates(all)
	c.codexTrust(all)
	c.lidguardBeside(all)
	c.copilotProject(all)
	c.copilotOrder(all)
	c.rewriters(all)
	managedOnly := false
	for _, s := range all {
		managedOnly = managedOnly || s.Provider == event.Claude && s.Scope == Managed && s.root["allowManagedHooksOnly"] == true
	}
	for _, s := range all {
		if managedOnly && s.Provider == event.Claude && s.Scope != Managed && len(s.entries) > 0 {
			c.add(s, hooksOff, "", confedit.Path{"hooks"}, "the managed settings say allowManagedHooksOnly: no hook of this file runs")
		}
	}
}

// codexTrust looks at whether Codex would run the hooks, where that can be known:
// of files at the places that it reads.
func (c *checker) codexTrust(all []*source) {
	r := c.host.roots()
	var config *source
	var withHooks []*source
	for _, s := range all {
		if s.Provider != event.Codex {
			continue
		}
		if s.Kind == CodexConfig && s.Path == filepath.Join(r.codex, "config.toml") {
			config = s
		}
		if len(s.entries) > 0 && (s.Scope == User || s.Scope == Project) {
			withHooks = append(withHooks, s)
		}
	}
	if len(withHooks) == 0 {
		return
	}
	if config == nil {
		// It was not asked for, and is needed to know.
		f := file(filepath.Join(r.codex, "config.toml"), CodexConfig, User)
		if data, err := ReadFile(f.Path); err == nil {
			config, _ = read(c.host, f, data)
		}
	}
	state := map[string]any{}
	if config != nil {
		if m, ok := config.dig("hooks", "state").(map[string]any); ok {
			state = m
		}
	}
	byDir := map[string][]*source{}
	for _, s := range withHooks {
		byDir[filepath.Dir(s.Path)] = append(byDir[filepath.Dir(s.Path)], s)
		if s.Scope == Project && !projectTrusted(config, s.Path) {
			c.add(s, codexProjectUntrusted, "", confedit.Path{"hooks"}, "the project %s is not trusted in Codex", filepath.Dir(filepath.Dir(s.Path)))
		}
		c.trustOf(s, state, config)
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		if list := byDir[dir]; len(list) > 1 {
			c.add(list[1], codexTwoFiles, "", confedit.Path{"hooks"}, "%s beside it has hooks too", filepath.Base(list[0].Path))
		}
	}
}

func projectTrusted(config *source, path string) bool {
	if config == nil {
		return false
	}
	projects, _ := config.root["projects"].(map[string]any)
	for dir := filepath.Dir(filepath.Dir(path)); ; dir = filepath.Dir(dir) {
		names := []string{dir}
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			names = append(names, real)
		}
		for _, name := range names {
			if p, ok := projects[name].(map[string]any); ok {
				return p["trust_level"] == "trusted"
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// trustOf compares the entries of one file with what Codex remembers of them.
func (c *checker) trustOf(s *source, state map[string]any, config *source) {
	hashes := map[string]string{} // of what is trusted in this file: hash, key
	prefix := strings.TrimSuffix(setup.TrustKey(s.Path, "x", 0, 0), "x:0:0")
	for key, v := range state {
		m, _ := v.(map[string]any)
		if hash, ok := m["trusted_hash"].(string); ok && strings.HasPrefix(key, prefix) {
			hashes[hash] = key
		}
	}
	present := map[string]bool{}
	for i := range s.entries {
		e := &s.entries[i]
		key := setup.TrustKey(s.Path, e.event, e.index, e.inner)
		present[key] = true
		if !e.known || e.kind() != census.Command && e.kind() != census.MCPTool {
			continue
		}
		raw, err := json.Marshal(e.fields)
		if err != nil {
			continue
		}
		hash, err := setup.TrustHash(e.event, e.matcher, raw)
		if err != nil {
			continue // a badly typed handler: said elsewhere
		}
		entry, _ := state[key].(map[string]any)
		trusted, _ := entry["trusted_hash"].(string)
		elsewhere, moved := hashes[hash]
		switch {
		case entry["enabled"] == false:
			c.on(s, codexSwitchedOff, e, "", "hooks.state says enabled = false for it")
		case e.kind() != census.Command && trusted != "":
			// How others are hashed is not known.
		case trusted == hash:
		case moved && elsewhere != key:
			c.on(s, codexMoved, e, "", "it was trusted as %s and is now %s", lastParts(elsewhere), lastParts(key))
		case trusted == "":
			c.on(s, codexUntrusted, e, "", "nobody trusted this hook")
		default:
			c.on(s, codexChanged, e, "", "it is not what was trusted")
		}
	}
	if config == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if rest, ok := strings.CutPrefix(key, prefix); ok && !present[key] {
			c.add(config, codexTrustStale, "", confedit.Path{"hooks", "state", key}, "%s has no hook at %s", filepath.Base(s.Path), rest)
		}
	}
}

// lastParts are event and position of a trust key.
func lastParts(key string) string {
	parts := strings.Split(key, ":")
	return strings.Join(parts[max(0, len(parts)-3):], ":")
}

// lidguardBeside looks at what stands beside lidguard's own hooks.
func (c *checker) lidguardBeside(all []*source) {
	here := map[event.Provider]bool{}
	for _, s := range all {
		for i := range s.entries {
			here[s.Provider] = here[s.Provider] || s.entries[i].ours()
		}
	}
	copilotUsed := here[event.Copilot]
	for _, s := range all {
		copilotUsed = copilotUsed || s.Provider == event.Copilot && s.Scope == User
	}
	for _, s := range all {
		if s.Provider != event.Claude {
			continue
		}
		if here[event.Claude] {
			for i := range s.entries {
				if e := &s.entries[i]; e.kind() == census.Prompt || e.kind() == census.Agent {
					c.on(s, promptBeside, e, "type", "a %s handler decides on %s beside lidguard", e.kind(), e.event)
				}
			}
		}
		if copilotUsed && s.Kind == ClaudeSettings && s.Scope == Project && len(s.entries) > 0 {
			c.add(s, copilotRunsClaude, "", confedit.Path{"hooks"}, "in a trusted folder Copilot runs these hooks as well")
		}
	}
}

// copilotProject looks at what a project's files mean for Copilot's hooks.
func (c *checker) copilotProject(all []*source) {
	hooks := slices.ContainsFunc(all, func(s *source) bool { return s.Provider == event.Copilot && len(s.entries) > 0 })
	var config *source
	for _, s := range all {
		if s.Kind == CopilotConfig {
			config = s
		}
		if s.Kind == ClaudeSettings && s.Scope == Project && s.root["disableAllHooks"] == true && hooks {
			f := c.add(s, hooksOff, "", confedit.Path{"disableAllHooks"}, "disableAllHooks in a project's .claude/settings.json switches off all hooks of Copilot there, the person's own included")
			f.Provider = event.Copilot
		}
	}
	if config == nil {
		return
	}
	trusted, _ := config.root["trustedFolders"].([]any)
	for _, s := range all {
		if s.Provider != event.Copilot || s.Scope != Project || len(s.entries) == 0 {
			continue
		}
		inside := slices.ContainsFunc(trusted, func(v any) bool {
			dir, _ := v.(string)
			rel, err := filepath.Rel(dir, s.Path)
			return dir != "" && err == nil && filepath.IsLocal(rel)
		})
		if !inside {
			c.add(s, copilotUntrusted, "", confedit.Path{"hooks"}, "the folder is not among trustedFolders in %s", config.Path)
		}
	}
}

// copilotOrder looks at events of Copilot's on which the last answer wins.
func (c *checker) copilotOrder(all []*source) {
	type place struct {
		s *source
		e *entry
	}
	for _, name := range []event.Name{event.PermissionRequest, event.Stop} {
		var places []place
		for _, s := range all {
			if s.Provider != event.Copilot || s.Kind == CopilotConfig {
				continue
			}
			for i := range s.entries {
				if e := &s.entries[i]; e.census.Name == name {
					places = append(places, place{s, e})
				}
			}
		}
		// In the order in which they run: hook files by descending name, then the
		// settings, then the project's.
		rank := func(s *source) int {
			switch {
			case s.Scope == Project:
				return 2
			case s.Kind == CopilotSettings:
				return 1
			}
			return 0
		}
		slices.SortStableFunc(places, func(a, b place) int {
			if d := rank(a.s) - rank(b.s); d != 0 {
				return d
			}
			if rank(a.s) == 0 {
				return strings.Compare(filepath.Base(b.s.Path), filepath.Base(a.s.Path))
			}
			return 0
		})
		foreign := slices.ContainsFunc(places, func(p place) bool { return !p.e.ours() })
		if len(places) < 2 || !foreign {
			continue
		}
		last := places[len(places)-1]
		if last.e.ours() {
			continue // lidguard answers last, and is silent where it has nothing to say
		}
		others := "the others"
		if slices.ContainsFunc(places, func(p place) bool { return p.e.ours() }) {
			others = "lidguard"
		}
		c.on(last.s, copilotLastAnswer, last.e, "", "this hook runs last of %d on %s: its answer replaces what %s said", len(places), last.e.event, others)
	}
}

// rewriters looks for hooks that rewrite the same thing at the same time.
func (c *checker) rewriters(all []*source) {
	for _, p := range []event.Provider{event.Claude, event.Codex, event.Copilot} {
		for _, name := range []event.Name{event.PreToolUse, event.PostToolUse} {
			var first *entry
			for _, s := range all {
				if s.Provider != p {
					continue
				}
				for i := range s.entries {
					e := &s.entries[i]
					if e.census.Name != name || !e.rewrites() && !e.ours() {
						continue
					}
					if first == nil {
						first = e
						continue
					}
					if (first.rewrites() || e.rewrites()) && overlap(first, e) && !sameCommand(first, e) {
						who := "another hook"
						if first.ours() || e.ours() {
							who = "lidguard"
						}
						at := e
						if e.ours() {
							at = first
						}
						c.on(sourceOf(all, at), rewritersRace, at, "", "it rewrites on %s, and so may %s", at.event, who)
					}
				}
			}
		}
	}
}

func sourceOf(all []*source, e *entry) *source {
	for _, s := range all {
		for i := range s.entries {
			if &s.entries[i] == e {
				return s
			}
		}
	}
	return all[0]
}

func sameCommand(a, b *entry) bool {
	return a.text("command") == b.text("command") && a.text("command") != "" && fmt.Sprint(a.fields["args"]) == fmt.Sprint(b.fields["args"])
}

// overlap reports whether two matchers let one and the same tool through.
func overlap(a, b *entry) bool {
	match := func(e *entry) func(string) bool {
		if e.matcher == nil {
			return func(string) bool { return true }
		}
		return e.census.Matcher.Law.Read(*e.matcher).Matches
	}
	x, y := match(a), match(b)
	return slices.ContainsFunc(append(names(a.census.Provider), "mcp__server__tool"), func(tool string) bool { return x(tool) && y(tool) })
}
