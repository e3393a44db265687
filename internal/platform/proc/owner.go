package proc

import (
	"path"
	"slices"
	"strings"
)

// How an agent is told from its neighbours. Only two things count: the name of
// the program that runs, and the positions of its arguments. A substring
// anywhere in a command line proves nothing (an editor opened on "claude.md"),
// nor does a working directory. The facts about the clients were measured; see
// docs/contracts.

// Providers whose programs are known here.
const (
	Claude   = "claude"
	Codex    = "codex"
	Copilot  = "copilot"
	OpenCode = "opencode"
)

// An Owner is the agent that stands above a hook.
type Owner struct {
	Process
	// Provider whose program it is.
	Provider string
	// Shared: one process serves many sessions and outlives them (codex
	// app-server, claude daemon). Its end ends them; its life proves nothing.
	Shared bool
	// Wrapper: a launcher (node running a package, npx, gh), under which the
	// real program may run as a process of its own.
	Wrapper bool
}

// FindOwner looks for the agent above the process pid, which itself is not
// considered. provider is one of the constants, or "" for any of them.
//
// hint is the process that the client named itself (CLAUDE_PID, OPENCODE_PID),
// or 0. It counts where it stands above pid and no agent is nearer, since the
// variable is inherited by agents that run inside agents; elsewhere only where
// nothing is found above and its program is the provider's.
//
// False means that nobody was found; that is no error, and common.
func (t Table) FindOwner(pid int, provider string, hint int) (Owner, bool) {
	for _, p := range t.Ancestry(pid) {
		o, ok := identify(p)
		ok = ok && (provider == "" || o.Provider == provider)
		if !ok && hint > 1 && p.PID == hint && provider != "" {
			return Owner{Process: p, Provider: provider}, true
		}
		if ok {
			return o, true
		}
	}
	if hint <= 1 || hint == pid {
		return Owner{}, false
	}
	p, err := t.lookup(hint)
	if err != nil || p.Dead {
		return Owner{}, false
	}
	o, ok := identify(p)
	return o, ok && (provider == "" || o.Provider == provider)
}

// identify tells which agent a process is.
func identify(p Process) (Owner, bool) {
	o := Owner{Process: p}
	var ok bool
	if o.Provider, ok = native(p); ok {
		var sub []string
		if len(p.Argv) > 1 {
			sub = words(p.Argv[1:], valueOptions(o.Provider))
		}
		var role role
		switch o.Provider {
		case Claude:
			role = claudeRole(sub)
		case Codex:
			role = codexRole(sub)
		}
		o.Shared = role == shared
		return o, role != helper
	}
	if o.Provider, ok = launched(p); ok {
		o.Wrapper = true
		if o.Provider == Codex {
			// The wrapper passes its arguments on, and leaves them in place.
			o.Shared = slices.Contains(p.Argv, "app-server")
		}
		return o, true
	}
	return Owner{}, false
}

// role is what a client's program does in this process.
type role int

const (
	agent  role = iota // one conversation
	shared             // many
	helper             // none: a sandbox, a terminal host, an updater
)

// claudeRole reads the subcommand. Background sessions run as bg-spare below
// bg-pty-host below daemon.
func claudeRole(sub []string) role {
	switch first(sub) {
	case "daemon":
		return shared
	case "bg-pty-host":
		return helper
	}
	return agent
}

func codexRole(sub []string) role {
	switch first(sub) {
	case "app-server":
		// "app-server daemon start|stop|pid-update-loop" are the daemon's
		// keepers, not the daemon.
		if len(sub) > 1 && sub[1] == "daemon" {
			return helper
		}
		return shared
	case "sandbox", "debug", "execpolicy":
		return helper
	}
	return agent
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// base returns the last element of a path in either style, without ".exe".
func base(p string) string {
	if i := strings.LastIndexAny(p, `/\`); i >= 0 {
		p = p[i+1:]
	}
	if len(p) > 4 && strings.EqualFold(p[len(p)-4:], ".exe") {
		p = p[:len(p)-4]
	}
	return p
}

// nativeName tells whose program is called so. Case counts: "Claude" is the
// desktop application.
func nativeName(name string) (provider string, ok bool) {
	switch name {
	case Claude, Codex, Copilot, OpenCode:
		return name, true
	}
	// Release files keep the platform in their name:
	// codex-aarch64-apple-darwin, codex-x86_64-unknown-linux-musl,
	// opencode-linux-x64.
	if rest, ok := strings.CutPrefix(name, "codex-"); ok {
		arch, system, _ := strings.Cut(rest, "-")
		if (arch == "x86_64" || arch == "aarch64") && slices.Contains([]string{
			"apple-darwin", "unknown-linux-musl", "unknown-linux-gnu", "pc-windows-msvc"}, system) {
			return Codex, true
		}
	}
	if rest, ok := strings.CutPrefix(name, "opencode-"); ok {
		system, arch, _ := strings.Cut(rest, "-")
		arch, _, _ = strings.Cut(arch, "-") // -baseline, -musl
		if slices.Contains([]string{"linux", "darwin", "windows"}, system) && (arch == "x64" || arch == "arm64") {
			return OpenCode, true
		}
	}
	return "", false
}

// native reports whether a process runs a client's own program.
func native(p Process) (provider string, ok bool) {
	argv0 := base(first(p.Argv))
	if provider, ok = nativeName(base(p.Exe)); ok {
		// codex starts itself under other names for other jobs
		// (codex-linux-sandbox, apply_patch): then it is no agent. The others
		// may call themselves what they like.
		if provider == Codex && argv0 != "" {
			other, same := nativeName(argv0)
			return provider, same && other == provider
		}
		return provider, true
	}
	if isShell(base(p.Exe)) {
		return "", false // a script of that name, with the agent below it
	}
	// Claude's file is called by its version (…/versions/2.1.215), a client run
	// by node may have renamed its process, and of a process of another user we
	// do not see the file. Then both remaining names must agree; copilot's short
	// name is that of its main thread.
	if provider, ok = nativeName(argv0); !ok {
		return "", false
	}
	comm := strings.TrimSuffix(p.Comm, ".exe")
	if comm == "MainThread" && provider == Copilot {
		return provider, true
	}
	// The kernel keeps 15 bytes of a name.
	return provider, comm == argv0 || len(comm) == 15 && strings.HasPrefix(argv0, comm)
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "pwsh", "powershell", "cmd":
		return true
	}
	return false
}

// published tells the client that is published under a package's name.
func published(name string) (provider string, ok bool) {
	switch name {
	case "@anthropic-ai/claude-code":
		return Claude, true
	case "@openai/codex":
		return Codex, true
	case "@github/copilot":
		return Copilot, true
	case "opencode-ai":
		return OpenCode, true
	}
	return "", false
}

// launched reports whether a process is a launcher of a client: a JavaScript
// runtime on its script, a package runner on its package, or gh.
func launched(p Process) (provider string, ok bool) {
	if len(p.Argv) == 0 {
		return "", false
	}
	argv := p.Argv
	if len(argv) == 1 && strings.HasPrefix(argv[0], "npm ") || len(argv) > 1 && strings.HasPrefix(argv[0], "npm ") && first(argv[1:]) == "" {
		// npm writes its whole command over its arguments:
		// "npm exec @openai/codex exec".
		argv = strings.Fields(argv[0])
	}
	name := base(argv[0])
	if p.Exe != "" && !strings.HasPrefix(argv[0], "npm") {
		name = base(p.Exe)
	}
	args := argv[1:]
	switch name {
	case "gh":
		return Copilot, first(args) == Copilot
	case "node", "nodejs", "bun", "deno":
		return script(args)
	case "npm", "pnpm", "yarn":
		w := words(args, runnerOptions)
		switch first(w) {
		case "exec", "x", "dlx":
			return runner(args, w[1:])
		}
		return "", false
	case "npx", "bunx", "pnpx":
		return runner(args, words(args, runnerOptions))
	}
	return "", false
}

// script tells whose script a runtime was started on.
func script(args []string) (string, bool) {
	w := words(args, nodeOptions)
	// "bun run FILE", "bun x PACKAGE", "deno run FILE".
	switch first(w) {
	case "run":
		w = w[1:]
	case "x":
		return runner(args, w[1:])
	}
	file := strings.ReplaceAll(first(w), `\`, "/")
	if file == "" {
		return "", false
	}
	parts := strings.Split(path.Clean(file), "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 {
		// A package's own script: …/<package>/cli.js, …/<package>/bin/codex.js.
		for i := range parts[:len(parts)-1] {
			provider, ok := published(parts[i])
			if !ok && i > 0 {
				provider, ok = published(parts[i-1] + "/" + parts[i])
			}
			// Editors' extensions carry the client without its scope.
			if !ok && parts[i] == "claude-code" {
				provider, ok = Claude, true
			}
			if ok && entryScript(provider, parts[i+1:]) {
				return provider, true
			}
		}
		// The link that a package manager put into a bin folder.
		if dir := parts[len(parts)-2]; dir == "bin" || dir == ".bin" {
			if provider, ok := nativeName(last); ok && provider == last {
				return provider, true
			}
		}
		switch last {
		case "npm-cli.js":
			if len(w) > 1 && (w[1] == "exec" || w[1] == "x") {
				return runner(args, w[2:])
			}
		case "npx", "npx-cli.js", "bunx":
			return runner(args, w[1:])
		case "npm":
			if len(w) > 1 && (w[1] == "exec" || w[1] == "x") {
				return runner(args, w[2:])
			}
		}
	}
	return "", false
}

// entryScript reports whether a path inside a client's package is its program,
// not a helper of it.
func entryScript(provider string, inside []string) bool {
	if len(inside) > 0 && inside[0] == "bin" {
		inside = inside[1:]
	}
	if len(inside) != 1 {
		return false
	}
	name := inside[0]
	for _, ext := range []string{".js", ".mjs", ".cjs"} {
		name = strings.TrimSuffix(name, ext)
	}
	switch name {
	case "cli", "index", "npm-loader":
		return true
	}
	return name == provider
}

// runner tells whose package a package runner was started on; args are all
// arguments, named the words among them.
func runner(args, named []string) (string, bool) {
	for i, a := range args {
		switch {
		case a == "--":
		case (a == "-p" || a == "--package") && i+1 < len(args):
			if provider, ok := published(unversioned(args[i+1])); ok {
				return provider, true
			}
		case strings.HasPrefix(a, "--package="):
			if provider, ok := published(unversioned(a[len("--package="):])); ok {
				return provider, true
			}
		}
	}
	provider, ok := published(unversioned(first(named)))
	return provider, ok
}

// unversioned strips "@latest" from a package name, whose own @ comes first.
func unversioned(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// words returns the arguments that are not options. takesValue lists options
// whose value is an argument of its own. Everything after "--" is a word.
func words(args []string, takesValue []string) []string {
	var list []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(list, args[i+1:]...)
		case !strings.HasPrefix(a, "-") || a == "-":
			list = append(list, a)
		case slices.Contains(takesValue, a):
			i++
		}
	}
	return list
}

var (
	runnerOptions = []string{"-p", "--package", "-c", "--call", "-w", "--workspace", "--prefix", "--registry"}
	nodeOptions   = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-e", "--eval",
		"-p", "--print", "-C", "--conditions", "--env-file", "--title", "--cwd"}
)

// valueOptions are the options of a client that take a value.
func valueOptions(provider string) []string {
	switch provider {
	case Codex:
		return []string{"-c", "--config", "-m", "--model", "-p", "--profile", "-C", "--cd", "-s", "--sandbox", "-a",
			"--ask-for-approval", "-i", "--image", "--enable", "--disable", "--add-dir", "--local-provider", "--remote"}
	case Claude:
		return []string{"--model", "--settings", "--permission-mode", "--session-id", "--add-dir", "--agents", "--mcp-config",
			"--append-system-prompt", "--system-prompt", "--output-format", "--input-format", "--allowedTools",
			"--disallowedTools", "--fallback-model", "--debug-file", "--setting-sources", "--plugin-dir", "--agent"}
	}
	return nil
}
