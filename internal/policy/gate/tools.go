package gate

import (
	"encoding/json"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// input is what the tools of all clients are given, as far as the gate reads it.
// One type serves all: a tool's name decides which fields are looked at. The
// names are those of Claude Code 2.1, Codex 0.14x, Copilot CLI 1.0 and OpenCode
// 1.x; see docs/contracts.
type input struct {
	Command  text   `json:"command"`
	Script   text   `json:"script"`
	Cmd      text   `json:"cmd"`
	Code     text   `json:"code"`
	FilePath text   `json:"file_path"`
	Path     text   `json:"path"`
	Camel    text   `json:"filePath"`
	Notebook text   `json:"notebook_path"`
	URL      text   `json:"url"`
	Pattern  text   `json:"pattern"`
	Glob     text   `json:"glob"`
	Patch    text   `json:"patch"`
	PatchTxt text   `json:"patchText"`
	Input    text   `json:"input"`
	Workdir  text   `json:"workdir"`
	Cwd      text   `json:"cwd"`
	Edits    []edit `json:"edits"`
}

// plain reads the input that shells are called with nearly always: a command and
// words for people. The first use of encoding/json costs a hook more than parsing
// the command. It reports false for every other input and has read nothing then.
func (in *input) plain(raw []byte) bool {
	command, ok := "", len(raw) > 0 && raw[0] == '{' && utf8.Valid(raw)
	if !ok {
		return false
	}
	err := jsontext.Object(raw, func(key, value []byte) bool {
		switch string(key) {
		case "command":
			command, ok = jsontext.String(value)
		case "description", "timeout", "run_in_background": // no words of input's, in any case of letters
		default:
			ok = false
		}
		return ok
	})
	if !ok || err != nil {
		return false
	}
	in.Command.s = command
	return true
}

type edit struct {
	FilePath text `json:"file_path"`
	Camel    text `json:"filePath"`
}

// text is a string, or a list of words as some clients give a command. Anything
// else makes odd true: what cannot be read cannot be judged.
type text struct {
	s    string
	argv []string
	odd  bool
}

func (t *text) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &t.s)
	case len(b) > 0 && b[0] == '[':
		if json.Unmarshal(b, &t.argv) != nil {
			t.odd = true
		}
		t.s = quoteJoin(t.argv)
		if len(t.argv) == 0 {
			t.s = ""
		}
	case string(b) == "null":
	default:
		t.odd = true
	}
	return nil
}

// toolKind is what a tool does, by every client's name for it.
type toolKind uint8

const (
	toolOther toolKind = iota
	toolBash
	toolPowerShell
	toolCmd
	toolWrite
	toolPatch
	toolRead
	toolSearch
	toolFetch
)

func kindOf(name string) toolKind {
	switch name {
	case "Bash", "bash", "shell", "Shell", "sh", "exec_command", "shell_command", "local_shell", "run_shell_command", "run_command", "run_in_terminal", "terminal", "execute_command", "BashTool", "container.exec", "unified_exec", "write_bash", "Monitor":
		return toolBash
	case "PowerShell", "powershell", "pwsh", "write_powershell":
		return toolPowerShell
	case "cmd", "Cmd":
		return toolCmd
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "edit", "write", "create", "create_file", "str_replace", "str_replace_editor", "insert", "multiedit", "replace", "write_file", "edit_file", "notebook_edit":
		return toolWrite
	case "apply_patch", "ApplyPatch", "patch":
		return toolPatch
	case "Read", "read", "view", "read_file", "NotebookRead", "view_image":
		return toolRead
	case "Grep", "Glob", "LS", "grep", "glob", "rg", "list", "ls", "codesearch":
		return toolSearch
	case "WebFetch", "webfetch", "web_fetch", "fetch", "fetch_copilot_cli_documentation":
		return toolFetch
	}
	return toolOther
}

// Judge judges one tool call.
func Judge(cfg Config, ev *event.Event, w World) Result {
	j := judge{cfg: &cfg, w: w}
	return j.result(j.event(ev))
}

// event judges a call and returns its command text, if it is one.
func (j *judge) event(ev *event.Event) (command string) {
	if ev.Tool == nil {
		j.addAt(Unjudged, AnyScope, "input-unreadable", "a call that names no tool", 0, 0)
		return ""
	}
	if j.w.Dir == "" {
		j.w.Dir = ev.Cwd
	}
	raw := ev.Tool.Input
	kind := kindOf(ev.Tool.Name)
	if ev.Name == event.PreSkillShellCommand {
		kind = toolBash
	}
	mcp := mcpName(ev)
	if mcp.server != "" {
		kind = toolOther
	}
	refuse := func(why string) string {
		j.addAt(Unjudged, AnyScope, "input-unreadable", why, 0, 0)
		return ""
	}
	if kind == toolOther && mcp.server == "" {
		return ""
	}
	if len(raw) > MaxInput {
		return refuse("an input of " + strconv.Itoa(len(raw)) + " bytes")
	}
	var in input
	if in.plain(raw) {
		// nothing else to know
	} else if err := json.Unmarshal(raw, &in); err != nil {
		if mcp.server != "" {
			in = input{}
		} else {
			return refuse("an input that is no JSON object")
		}
	}
	switch kind {
	case toolBash, toolPowerShell, toolCmd:
		t := first(in.Command, in.Cmd, in.Script, in.Input)
		if t.odd || t.s == "" && !hasKey(raw) {
			return refuse("an input without a command")
		}
		command = t.s
		if d := first(in.Workdir, in.Cwd).s; d != "" {
			if p, ok := j.w.abs(d, j.w.Dir); ok {
				j.w.Dir = p
			}
		}
		d := shell.Bash
		switch kind {
		case toolPowerShell:
			d = shell.PowerShell
		case toolCmd:
			d = shell.Cmd
		}
		if len(t.argv) > 1 && j.argvPatch(t.argv) {
			break
		}
		j.command(command, d)
	case toolWrite:
		for _, p := range in.paths() {
			j.toolWrite(p, false)
		}
	case toolPatch:
		t := first(in.Command, in.Patch, in.PatchTxt, in.Input)
		if t.odd {
			return refuse("a patch that is no text")
		}
		patch := t.s
		if len(t.argv) > 0 {
			patch = t.argv[len(t.argv)-1]
		}
		j.patch(patch)
	case toolRead:
		for _, p := range in.paths() {
			j.toolRead(p)
		}
	case toolSearch:
		for _, p := range in.paths() {
			j.toolRead(p)
		}
		if ev.Tool.Name == "Grep" || ev.Tool.Name == "grep" || ev.Tool.Name == "rg" {
			if g := in.Glob.s; g != "" {
				j.toolRead(path.Join(in.Path.s, g))
			}
		}
	case toolFetch:
		j.url(in.URL.s, 0, 0, true)
	default:
		j.mcp(mcp, raw, &in)
	}
	return command
}

func hasKey(raw []byte) bool {
	s := string(raw)
	return strings.Contains(s, `"command"`) || strings.Contains(s, `"cmd"`) || strings.Contains(s, `"script"`) || strings.Contains(s, `"input"`) ||
		strings.Contains(s, `"shellId"`) || strings.Contains(s, `"sessionId"`)
}

func first(all ...text) text {
	for _, t := range all {
		if t.s != "" || t.odd {
			return t
		}
	}
	return text{}
}

func (in *input) paths() []string {
	var out []string
	add := func(t text) {
		if t.s != "" {
			out = append(out, t.s)
		}
	}
	add(in.FilePath)
	add(in.Camel)
	add(in.Notebook)
	if len(out) == 0 {
		add(in.Path)
	}
	for _, e := range in.Edits {
		add(e.FilePath)
		add(e.Camel)
	}
	return out
}

// argvPatch judges ["apply_patch", "*** Begin Patch …"].
func (j *judge) argvPatch(argv []string) bool {
	if argv[0] != "apply_patch" && argv[0] != "applypatch" {
		return false
	}
	j.patch(argv[len(argv)-1])
	return true
}

func (j *judge) toolPlace(p string) (call, place) {
	leaf := &shell.Leaf{}
	v := shell.Value{Text: p}
	return call{j: j, l: leaf}, j.locateValue(&v, shell.Value{Text: j.w.Dir}, false)
}

// toolWrite judges a file that a tool would write.
func (j *judge) toolWrite(p string, patch bool) {
	c, at := j.toolPlace(p)
	if j.special(&c, at, false) {
		return
	}
	switch {
	case j.secret(at.path) == secretLocal:
		j.add(&c, OutsideWrite, Private, "write-env", p)
	case j.secret(at.path) == secretKey && at.scope >= Outside:
		j.add(&c, Overwrite, Home, "write-secret", p)
	case at.scope >= Home:
		j.add(&c, Overwrite, at.scope, "write-system", p)
	case at.scope == Outside && patch:
		j.add(&c, OutsideWrite, Outside, "write-outside", p)
	}
}

// patch judges the targets of an apply_patch envelope; its text is never read as
// a command.
func (j *judge) patch(patch string) {
	found := false
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		verb, target, ok := strings.Cut(line[4:], ":")
		if !ok {
			continue
		}
		target = strings.TrimSpace(target)
		switch verb {
		case "Add File", "Update File", "Move to":
			found = true
			j.toolWrite(target, true)
		case "Delete File":
			found = true
			c, at := j.toolPlace(target)
			if j.special(&c, at, false) {
				break
			}
			if at.scope >= Outside {
				j.add(&c, Delete, at.scope, ruleDelete(at.scope), target)
			} else if j.secret(at.path) == secretLocal {
				j.add(&c, Delete, Private, "delete-env", target)
			}
		}
	}
	if !found {
		// Unified diffs, as OpenCode's older patch tool took.
		for line := range strings.Lines(patch) {
			if t, ok := strings.CutPrefix(line, "+++ "); ok {
				t = strings.TrimSpace(t)
				t, _, _ = strings.Cut(t, "\t")
				t = strings.TrimPrefix(t, "b/")
				if t != "/dev/null" {
					j.toolWrite(t, true)
				}
			}
		}
	}
}

func (j *judge) toolRead(p string) {
	c, at := j.toolPlace(p)
	if at.path == "" {
		at.path = "/" + strings.TrimPrefix(p, "/")
	}
	j.readPath(&c, at.path, p)
	if strings.HasPrefix(at.path, "/proc/") && (strings.HasSuffix(at.path, "/environ") || strings.HasSuffix(at.path, "/mem")) {
		j.add(&c, SecretRead, AnyScope, "secret-read", p)
	}
}

// urls judges the addresses among a leaf's words.
func (j *judge) urls(c *call) {
	switch c.name() {
	case "curl", "wget", "http", "https", "xh", "httpie", "git", "open", "xdg-open", "start", "invoke-webrequest", "invoke-restmethod", "fetch", "aria2c", "pip", "pip3", "npm", "go", "lynx", "w3m", "wget2", "curlie", "brew", "gh", "docker", "svn", "hg":
	default:
		return
	}
	for i := 1; i < len(c.l.Argv); i++ {
		t := c.l.Argv[i].Text
		if strings.Contains(t, "://") || c.name() == "curl" && strings.HasPrefix(t, "169.254.") {
			fetches := c.name() == "curl" || c.name() == "wget" || c.name() == "http" || c.name() == "xh" || c.name() == "invoke-webrequest" || c.name() == "invoke-restmethod" || c.name() == "wget2"
			if k := strings.Index(t, "://"); k >= 0 {
				// --url=https://…, git+https://…, data with an address inside
				at := k
				for at > 0 && (t[at-1] >= 'a' && t[at-1] <= 'z' || t[at-1] >= 'A' && t[at-1] <= 'Z') {
					at--
				}
				if at > 0 && t[at-1] != '=' && t[at-1] != '+' {
					continue
				}
				t = t[at:]
			}
			j.shellURL(t, c.l.Offset, c.l.End, fetches)
		}
	}
}

// shellURL is url for an address in a command, where private networks are day work.
func (j *judge) shellURL(u string, from, to int, fetches bool) {
	rest := u
	if _, after, ok := strings.Cut(u, "://"); ok {
		rest = after
	}
	host := rest
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	user, bare, at := strings.Cut(host, "@")
	if at {
		host = bare
	}
	if h, _, ok := strings.Cut(host, ":"); ok && !strings.HasPrefix(host, "[") {
		host = h
	}
	if at && strings.Contains(user, ".") && !strings.Contains(user, "$") && deceptiveUser(user) {
		j.addAt(DeceptiveURL, AnyScope, "url-credentials", u, from, to)
	}
	if deceptiveHost(host) {
		j.addAt(DeceptiveURL, AnyScope, "url-deceptive", u, from, to)
	}
	if fetches && metadataHost(host) {
		j.addAt(InternalNet, System, "metadata-address", u, from, to)
	}
}

// deceptiveUser tells a user name that poses as a host: https://github.com@evil/.
func deceptiveUser(user string) bool {
	name, _, _ := strings.Cut(user, ":")
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return false
	}
	switch name[i+1:] {
	case "com", "org", "net", "io", "dev", "gov", "edu", "co", "app", "sh", "ai", "uk", "de", "me":
		return true
	}
	return false
}

// url judges an address that a tool would fetch.
func (j *judge) url(u string, from, to int, tool bool) {
	if u == "" {
		return
	}
	low := strings.ToLower(u)
	scheme, rest, ok := strings.Cut(low, "://")
	if !ok {
		rest, scheme = low, "https"
	}
	if scheme == "file" {
		j.toolRead(strings.TrimPrefix(u[strings.Index(u, "://")+3:], "localhost"))
		return
	}
	host := rest
	if i := strings.IndexAny(host, "/?#\\"); i >= 0 {
		host = host[:i]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		j.addAt(DeceptiveURL, AnyScope, "url-credentials", u, from, to)
		host = host[i+1:]
	}
	if strings.HasPrefix(host, "[") {
		host, _, _ = strings.Cut(host[1:], "]")
	} else {
		host, _, _ = strings.Cut(host, ":")
	}
	host = strings.TrimSuffix(host, ".")
	switch {
	case deceptiveHost(host):
		j.addAt(DeceptiveURL, AnyScope, "url-deceptive", u, from, to)
	case metadataHost(host):
		j.addAt(InternalNet, System, "metadata-address", u, from, to)
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		// one's own development server
	case privateHost(host):
		j.addAt(InternalNet, AnyScope, "private-address", u, from, to)
	}
}

// deceptiveHost tells names that are not what they look like: letters of other
// scripts, punycode, invisible characters.
func deceptiveHost(h string) bool {
	for _, label := range strings.Split(strings.ToLower(h), ".") {
		if strings.HasPrefix(label, "xn--") {
			return true
		}
	}
	for i := 0; i < len(h); i++ {
		if h[i] >= 0x80 {
			return true
		}
	}
	return strings.Contains(h, "%") && !strings.Contains(h, "%(") && !strings.HasPrefix(h, "%")
}

// address reads the numeric spellings of an address that clients accept: dotted,
// one number, hexadecimal, octal.
func address(h string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(h); err == nil {
		return a.Unmap(), true
	}
	parts := strings.Split(h, ".")
	if len(parts) > 4 || h == "" {
		return netip.Addr{}, false
	}
	var n uint64
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			n = n<<(8*uint(5-len(parts))) | v
		} else {
			n = n<<8 | v
		}
	}
	if n > 0xFFFFFFFF {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), true
}

func metadataHost(h string) bool {
	switch h {
	case "metadata.google.internal", "metadata", "metadata.azure.com", "metadata.azure.internal", "instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.packet.net", "169.254.169.254.nip.io":
		return true
	}
	a, ok := address(h)
	if !ok {
		return false
	}
	switch a.String() {
	case "169.254.169.254", "169.254.170.2", "169.254.169.253", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "168.63.129.16", "169.254.169.123", "169.254.170.23":
		return true
	}
	return a.IsLinkLocalUnicast()
}

func privateHost(h string) bool {
	if strings.HasSuffix(h, ".internal") || strings.HasSuffix(h, ".local") || strings.HasSuffix(h, ".corp") || strings.HasSuffix(h, ".lan") || strings.HasSuffix(h, ".intranet") {
		return true
	}
	a, ok := address(h)
	return ok && (a.IsPrivate() || a.IsUnspecified())
}

// mcpCall is a call to an MCP server's tool.
type mcpCall struct{ server, tool string }

// mcpName splits the spellings of an MCP tool: mcp__server__tool (Claude, Codex),
// server/tool and server-tool (Copilot), server_tool (OpenCode).
func mcpName(ev *event.Event) mcpCall {
	n := ev.Tool.Name
	if rest, ok := strings.CutPrefix(n, "mcp__"); ok {
		server, tool, _ := strings.Cut(rest, "__")
		return mcpCall{server, tool}
	}
	if s := ev.Tool.MCPServer; s != "" {
		tool := strings.TrimPrefix(n, s)
		return mcpCall{s, strings.TrimLeft(tool, "/-_")}
	}
	if server, tool, ok := strings.Cut(n, "/"); ok {
		return mcpCall{server, tool}
	}
	if kindOf(n) == toolOther && (strings.ContainsRune(n, '_') || strings.ContainsRune(n, '-')) {
		if i := strings.IndexAny(n, "_-"); i > 0 && mcpVerb(n[i+1:]) {
			return mcpCall{n[:i], n[i+1:]}
		}
	}
	return mcpCall{}
}

func mcpVerb(tool string) bool {
	return strings.HasPrefix(tool, "delete") || strings.HasPrefix(tool, "drop") || strings.HasPrefix(tool, "destroy") || strings.HasPrefix(tool, "execute") || strings.HasPrefix(tool, "run_")
}

// MCPRule is a rule for tools of MCP servers.
type MCPRule struct {
	ID string `json:"id"`
	// Server and Tool are patterns as in path.Match; empty matches all.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Arg is the name of a top-level argument that Value has to match, as in
	// path.Match; with an empty Value it only has to be there.
	Arg   string `json:"arg,omitempty"`
	Value string `json:"value,omitempty"`
	// Deny refuses; else the person is asked.
	Deny bool `json:"deny,omitempty"`
	// Instead is told to the model.
	Instead string `json:"instead,omitempty"`
}

func (r *MCPRule) matches(m mcpCall, args map[string]json.RawMessage) bool {
	match := func(pattern, s string) bool {
		if pattern == "" {
			return true
		}
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(s))
		return ok && err == nil
	}
	if !match(r.Server, m.server) || !match(r.Tool, m.tool) {
		return false
	}
	if r.Arg == "" {
		return true
	}
	raw, ok := args[r.Arg]
	if !ok || r.Value == "" {
		return ok
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return match(r.Value, s)
}

// mcp judges a call to an MCP server: its rules, then what its name and arguments
// say: paths, addresses, commands and statements are what they are everywhere.
func (j *judge) mcp(m mcpCall, raw []byte, in *input) {
	if m.server == "" {
		return
	}
	var args map[string]json.RawMessage
	_ = json.Unmarshal(raw, &args) // no object: no arguments to match
	for i := range j.cfg.MCP {
		r := &j.cfg.MCP[i]
		if r.matches(m, args) {
			scope := One
			if r.Deny {
				scope = Mass
			}
			id := r.ID
			if id == "" {
				id = "mcp-rule"
			}
			j.addAt(MCPCall, scope, id, m.server+"/"+m.tool, 0, 0)
		}
	}
	if m.server == "lidguard" || strings.HasPrefix(m.server, "lidguard") {
		return // its tools only report
	}
	tool := strings.ToLower(m.tool)
	switch {
	case wordHas(tool, "delete", "destroy", "drop", "remove", "purge", "wipe", "truncate", "terminate"):
		scope, rule := One, "mcp-delete"
		switch {
		case wordHas(tool, "repository", "repo", "database", "project", "bucket", "cluster", "branch") && !wordHas(tool, "file", "comment", "label", "item"):
			if !wordHas(tool, "branch") {
				scope = Mass
			}
		}
		if !wordHas(tool, "comment", "label", "reaction", "draft", "node", "entity", "entities", "relations", "observations", "memory", "bookmark", "todo", "task", "session", "tab", "breakpoint", "element", "marker") {
			j.addAt(MCPCall, scope, rule, m.server+"/"+m.tool, 0, 0)
		}
	}
	if wordHas(tool, "execute", "exec", "run", "shell", "bash", "terminal", "command", "query", "sql") {
		for _, key := range [...]string{"command", "cmd", "script", "shell_command"} {
			var s string
			if json.Unmarshal(args[key], &s) == nil && s != "" {
				j.inner(s, shell.Bash, 0, 0)
			}
		}
		for _, key := range [...]string{"query", "sql", "statement"} {
			var s string
			if json.Unmarshal(args[key], &s) == nil && s != "" {
				j.sql(s, 0, 0)
			}
		}
	}
	writes := wordHas(tool, "write", "edit", "create", "move", "delete", "update", "save", "append", "remove")
	reads := wordHas(tool, "read", "get", "view", "open", "cat", "load", "list", "search", "head", "tail")
	for _, key := range [...]string{"path", "file_path", "filePath", "filename", "file", "source", "destination", "uri", "target"} {
		var s string
		if json.Unmarshal(args[key], &s) != nil || s == "" {
			continue
		}
		s = strings.TrimPrefix(s, "file://")
		if strings.Contains(s, "://") {
			continue
		}
		if !strings.ContainsAny(s, "/~\\.") {
			continue
		}
		if writes && (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || drive(s)) {
			if wordHas(tool, "delete", "remove") {
				c, at := j.toolPlace(s)
				if at.scope >= Outside {
					j.add(&c, Delete, at.scope, ruleDelete(at.scope), s)
				}
				continue
			}
			j.toolWrite(s, false)
		} else if reads || key == "source" {
			j.toolRead(s)
		}
	}
	var paths []string
	if json.Unmarshal(args["paths"], &paths) == nil {
		for _, p := range paths {
			j.toolRead(p)
		}
	}
	if in.URL.s != "" {
		j.url(in.URL.s, 0, 0, true)
	}
}

// wordHas reports whether one of the words is a part of a tool's name.
func wordHas(tool string, words ...string) bool {
	for _, part := range strings.FieldsFunc(tool, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' || r == ' ' }) {
		for _, w := range words {
			if part == w || part == w+"s" || strings.HasPrefix(part, w) && len(part) > len(w) && len(w) > 5 {
				return true
			}
		}
	}
	return false
}

// DialectOf is the shell that a tool's commands are written in, and false for
// tools that take none.
func DialectOf(tool string) (shell.Dialect, bool) {
	switch kindOf(tool) {
	case toolBash:
		return shell.Bash, true
	case toolPowerShell:
		return shell.PowerShell, true
	case toolCmd:
		return shell.Cmd, true
	}
	return shell.Bash, false
}
