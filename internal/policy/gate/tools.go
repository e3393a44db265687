package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"net/netip"
	"path"
	"slices"
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
	Include  text   `json:"include"`
	Paths    text   `json:"paths"`
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

// read reads every other input.
func (in *input) read(raw []byte) error {
	if len(raw) >= largeInput {
		var err error
		if raw, err = needed(raw); err != nil {
			return err
		}
	}
	return json.Unmarshal(raw, in)
}

// largeInput is the size in bytes from which an input is looked through before
// encoding/json gets it, which takes time and room for all there is; maxMembers bounds
// the members and the edits of such a one.
const (
	largeInput = 64 << 10
	maxMembers = 10_000
)

var errMembers = errors.New("too many members")

// needed is an object without the members that input has no field for, so that the
// contents of files are walked over once and not copied.
func needed(raw []byte) ([]byte, error) {
	return pick(raw, func(key, value []byte) []byte {
		switch {
		case strings.EqualFold(string(key), "edits"):
			return neededEdits(value)
		case !slices.ContainsFunc(inputKeys[:], func(k string) bool { return strings.EqualFold(string(key), k) }):
			return nil
		case len(value) > maxList && value[0] != '"':
			return []byte("0") // as odd as any other list that is too long
		}
		return value
	})
}

// inputKeys are the members of input that are texts.
var inputKeys = [...]string{"command", "script", "cmd", "code", "file_path", "path", "filePath", "notebook_path", "url", "pattern", "glob", "include",
	"paths", "patch", "patchText", "input", "workdir", "cwd"}

// neededEdits is the same for the edits of an input, nil if they are too many.
func neededEdits(value []byte) []byte {
	switch jsontext.Kind(value) {
	case "null":
		return value
	case "array":
	default:
		return []byte("0") // no list of edits either
	}
	out, n := []byte{'['}, 0
	_ = jsontext.Array(value, func(item []byte) bool { // it is well formed
		kept := []byte("0")
		switch jsontext.Kind(item) {
		case "null":
			kept = item
		case "object":
			var err error
			kept, err = pick(item, func(key, value []byte) []byte {
				if !strings.EqualFold(string(key), "file_path") && !strings.EqualFold(string(key), "filePath") {
					return nil
				}
				return value
			})
			if err != nil {
				n = maxMembers
			}
		}
		if n++; n > 1 {
			out = append(out, ',')
		}
		out = append(out, kept...)
		return n <= maxMembers
	})
	if n > maxMembers {
		return []byte("0")
	}
	return append(out, ']')
}

// pick is an object with what keep makes of its values; nil leaves a member out.
func pick(raw []byte, keep func(key, value []byte) []byte) ([]byte, error) {
	out, n := []byte{'{'}, 0
	err := jsontext.Object(raw, func(key, value []byte) bool {
		if n++; n > maxMembers {
			return false
		}
		if value = keep(key, value); value != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(jsontext.AppendString(out, string(key)), ':')
			out = append(out, value...)
		}
		return true
	})
	if err == nil && n > maxMembers {
		err = errMembers
	}
	return append(out, '}'), err
}

// membersOf are the members of an object, none if it is no such thing, and false if
// they are too many to look at.
func membersOf(raw []byte) (args map[string]json.RawMessage, ok bool) {
	if len(raw) < largeInput {
		_ = json.Unmarshal(raw, &args)
		return args, true
	}
	args = map[string]json.RawMessage{}
	err := jsontext.Object(raw, func(key, value []byte) bool {
		args[string(key)] = value
		return len(args) <= maxMembers
	})
	if err != nil {
		return nil, true
	}
	return args, len(args) <= maxMembers
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
	case len(b) > maxList:
		t.odd = true
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

// maxList bounds a list in bytes, as commands are bounded, and maxAddress an address.
const (
	maxList    = 1 << 20
	maxAddress = 64 << 10
)

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
	if w.watched(ev) {
		return judgeWatched(cfg, ev, w)
	}
	return judgeHere(cfg, ev, w)
}

func judgeWatched(cfg Config, ev *event.Event, w World) Result {
	r, ok := beforeAlarm(&w, ev, func(ev *event.Event) Result { return judgeHere(cfg, ev, w) })
	if !ok {
		return overdue(&cfg)
	}
	return r
}

func judgeHere(cfg Config, ev *event.Event, w World) Result {
	j := judge{cfg: &cfg, w: w}
	var command string
	j.within(func() { command = j.event(ev) })
	return j.result(command)
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
	if ev.Name == event.PreSkillShellCommand && kind != toolPowerShell && kind != toolCmd {
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
		j.mcpRulesFor(ev.Tool.Name, raw)
		if len(raw) <= MaxInput && hasKey(raw, "command", "cmd", "shell_command") {
			args, ok := membersOf(raw)
			if !ok {
				return refuse("an input of more than " + strconv.Itoa(maxMembers) + " members")
			}
			j.commands(ev.Tool.Name, args)
		}
		return ""
	}
	if len(raw) > MaxInput {
		return refuse("an input of " + strconv.Itoa(len(raw)) + " bytes")
	}
	var in input
	if in.plain(raw) {
		// nothing else to know
	} else if err := in.read(raw); err != nil {
		switch {
		case err == errMembers:
			return refuse("an input of more than " + strconv.Itoa(maxMembers) + " members")
		case mcp.server == "":
			return refuse("an input that is no JSON object")
		}
		in = input{}
	}
	switch kind {
	case toolBash, toolPowerShell, toolCmd:
		t := first(in.Command, in.Cmd, in.Script, in.Input)
		if t.odd || t.s == "" && !hasKey(raw, "command", "cmd", "script", "input", "shellId", "sessionId") {
			return refuse("an input without a command")
		}
		command = t.s
		if strings.HasPrefix(ev.Tool.Name, "write_") {
			command = typed(command)
		}
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
		paths, ok := in.paths()
		if !ok {
			return refuse("a path that is no text")
		}
		for _, p := range paths {
			j.toolWrite(&shell.Leaf{}, p, false)
		}
	case toolPatch:
		t := first(in.Command, in.Patch, in.PatchTxt, in.Input)
		if t.odd || t.s == "" && !hasKey(raw, "command", "patch", "patchText", "input") {
			return refuse("a patch that is no text")
		}
		patch := t.s
		if len(t.argv) > 0 {
			patch = t.argv[len(t.argv)-1]
		}
		j.patch(&shell.Leaf{}, patch)
	case toolRead, toolSearch:
		paths, ok := in.paths()
		if !ok {
			return refuse("a path that is no text")
		}
		for _, p := range paths {
			j.toolRead(p)
		}
		if ev.Tool.Name == "Grep" || ev.Tool.Name == "grep" || ev.Tool.Name == "rg" {
			for _, g := range append(in.Glob.all(), in.Include.all()...) {
				for _, name := range secretNames(g) {
					j.toolRead(path.Join(in.Path.s, name))
				}
			}
		}
	case toolFetch:
		if in.URL.odd {
			return refuse("an address that is no text")
		}
		for _, u := range in.URL.all() {
			j.url(u, 0, 0)
		}
	default:
		j.mcp(mcp, raw, &in)
	}
	return command
}

// hasKey reports whether one of the keys is in the text of an input.
func hasKey(raw []byte, keys ...string) bool {
	for _, k := range keys {
		if bytes.Contains(raw, []byte(`"`+k+`"`)) {
			return true
		}
	}
	return false
}

// typed is text for a running program in which keys have names in braces, as Copilot
// writes them: {enter}.
func typed(text string) string {
	text = strings.ReplaceAll(text, "{enter}", "\n")
	for _, key := range [...]string{"{up}", "{down}", "{left}", "{right}", "{backspace}"} {
		text = strings.ReplaceAll(text, key, "")
	}
	return text
}

// all are the texts of a value that is one or a list.
func (t *text) all() []string {
	switch {
	case t.argv != nil:
		return t.argv
	case t.s != "":
		return []string{t.s}
	}
	return nil
}

func first(all ...text) text {
	for _, t := range all {
		if t.s != "" || t.odd {
			return t
		}
	}
	return text{}
}

// paths are the files and folders that an input names, false if one is no text.
func (in *input) paths() (out []string, ok bool) {
	ok = true
	add := func(t *text) {
		out = append(out, t.all()...)
		ok = ok && !t.odd
	}
	add(&in.FilePath)
	add(&in.Camel)
	add(&in.Notebook)
	if len(out) == 0 {
		add(&in.Path)
		add(&in.Paths)
	}
	for i := range in.Edits {
		add(&in.Edits[i].FilePath)
		add(&in.Edits[i].Camel)
	}
	return out, ok
}

// secretNames are the names a search's pattern for files may mean: each of its
// alternatives, and the secrets that one with wildcards covers.
func secretNames(pattern string) (names []string) {
	alternatives := []string{pattern}
	if before, rest, ok := strings.Cut(pattern, "{"); ok {
		if list, after, ok := strings.Cut(rest, "}"); ok {
			alternatives = nil
			for part := range strings.SplitSeq(list, ",") {
				alternatives = append(alternatives, before+part+after)
			}
		}
	}
	for _, a := range alternatives {
		names = append(names, a)
		if base := path.Base(a); globStart(base) >= 0 && !wholeGlob(base) {
			for _, name := range usualSecrets {
				if globFits(base, name) {
					names = append(names, path.Join(path.Dir(a), name))
				}
			}
		}
	}
	return names
}

// argvPatch judges ["apply_patch", "*** Begin Patch …"].
func (j *judge) argvPatch(argv []string) bool {
	if argv[0] != "apply_patch" && argv[0] != "applypatch" {
		return false
	}
	j.patch(&shell.Leaf{}, argv[len(argv)-1])
	return true
}

// toolPlace places a path of a tool's input, or of a patch that a leaf applies.
func (j *judge) toolPlace(l *shell.Leaf, p string) (call, place) {
	j.spend(1 << 10) // it looks at the disk, and a patch names many
	v, dir := shell.Value{Text: p}, l.Dir
	if len(l.Argv) == 0 {
		dir = shell.Value{Text: j.w.Dir}
	}
	return call{j: j, l: l}, j.locateValue(&v, dir, false)
}

// toolWrite judges a file that a tool would write.
func (j *judge) toolWrite(l *shell.Leaf, p string, patch bool) {
	c, at := j.toolPlace(l, p)
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

// patchProgram judges the patch that a shell command hands to apply_patch: Codex
// applies it itself and shows hooks only the command (contracts/codex §2).
func (j *judge) patchProgram(c *call) {
	if c.elsewhere() {
		return
	}
	for i := 1; i < len(c.l.Argv); i++ {
		j.patch(c.l, c.l.Argv[i].Text)
	}
	if in := c.l.Stdin.Text; in != nil {
		for _, v := range in.Each() {
			j.patch(c.l, v.Text)
		}
	}
}

// patch judges the targets of an apply_patch envelope; its text is never read as
// a command. Codex takes blanks around a header, so a line counts as one unless it is
// content of the file that the last one named.
func (j *judge) patch(l *shell.Leaf, patch string) {
	found, content := false, ""
	for line := range strings.Lines(patch) {
		if content != "" && strings.IndexByte(content, line[0]) >= 0 {
			continue
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "*** ")
		if !ok {
			continue
		}
		verb, target, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		target = strings.TrimSpace(target)
		switch verb {
		case "Add File", "Update File", "Move to":
			found, content = true, " +-"
			if verb == "Add File" {
				content = "+"
			}
			j.toolWrite(l, target, true)
		case "Delete File":
			found, content = true, ""
			j.patchDelete(l, target)
		}
	}
	if found {
		return
	}
	// Unified diffs, as OpenCode's older patch tool took.
	old := ""
	name := func(t string) string {
		t, _, _ = strings.Cut(strings.TrimSpace(t), "\t")
		return t
	}
	for line := range strings.Lines(patch) {
		if t, ok := strings.CutPrefix(line, "--- "); ok {
			old = strings.TrimPrefix(name(t), "a/")
		} else if t, ok := strings.CutPrefix(line, "+++ "); ok {
			if t = strings.TrimPrefix(name(t), "b/"); t != "/dev/null" {
				j.toolWrite(l, t, true)
			} else if old != "" {
				j.patchDelete(l, old)
			}
			old = ""
		}
	}
}

func (j *judge) patchDelete(l *shell.Leaf, target string) {
	c, at := j.toolPlace(l, target)
	switch {
	case j.special(&c, at, false):
	case at.scope >= Outside:
		j.add(&c, Delete, at.scope, ruleDelete(at.scope), target)
	case j.secret(at.path) == secretLocal:
		j.add(&c, Delete, Private, "delete-env", target)
	}
}

func (j *judge) toolRead(p string) {
	c, at := j.toolPlace(&shell.Leaf{}, p)
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
	fetches := false
	switch c.name() {
	case "curl", "wget", "http", "https", "xh", "invoke-webrequest", "invoke-restmethod", "wget2":
		fetches = true
	case "nc", "ncat", "netcat", "telnet", "socat":
		for i := 1; i < len(c.l.Argv); i++ {
			for part := range strings.FieldsFuncSeq(c.l.Argv[i].Text, func(r rune) bool { return r == ':' || r == ',' }) {
				if strings.Contains(part, ".") && metadataHost(part) {
					j.add(c, InternalNet, System, "metadata-address", part)
				}
			}
		}
		return
	case "httpie", "git", "open", "xdg-open", "start", "fetch", "aria2c", "pip", "pip3", "npm", "go", "lynx", "w3m", "curlie", "brew", "gh", "docker", "svn", "hg":
	default:
		return
	}
	for i := 1; i < len(c.l.Argv); i++ {
		t := c.l.Argv[i].Text
		switch k := strings.Index(t, "://"); {
		case k >= 0:
			// --url=https://…, git+https://…, data with an address inside
			at := k
			for at > 0 && (t[at-1] >= 'a' && t[at-1] <= 'z' || t[at-1] >= 'A' && t[at-1] <= 'Z') {
				at--
			}
			if at > 0 && t[at-1] != '=' && t[at-1] != '+' {
				continue
			}
			j.shellURL(t[at:], c.l.Offset, c.l.End, fetches)
		case !fetches:
		case i > 1 && (c.l.Argv[i-1].Text == "--resolve" || c.l.Argv[i-1].Text == "--connect-to"):
			// name:port:address
			for part := range strings.FieldsFuncSeq(t, func(r rune) bool { return r == ':' || r == ',' }) {
				if strings.Contains(part, ".") && metadataHost(part) {
					j.add(c, InternalNet, System, "metadata-address", t)
				}
			}
		default:
			// Clients take an address without its scheme, and with half of it.
			if a := readAddress(t); metadataHost(a.host) && (a.scheme != "" || strings.Contains(a.host, ".") || strings.HasPrefix(a.host, "0x")) {
				j.add(c, InternalNet, System, "metadata-address", t)
			}
		}
	}
}

// webAddress is an address as clients read it (the URL standard of WHATWG).
type webAddress struct {
	scheme, user, host string // in lower case; host without brackets, port and last dot
	escaped            bool   // the host was written in percent escapes
}

// readAddress reads an address; without a scheme, what stands first is the host.
// Blanks and line ends inside do not count, nor does how many slashes follow the
// scheme, nor in which direction they lean.
func readAddress(u string) (a webAddress) {
	u = strings.TrimFunc(u, func(r rune) bool { return r <= ' ' })
	if strings.ContainsAny(u, "\t\r\n") {
		u = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(u)
	}
	u = strings.TrimPrefix(u, "view-source:")
	rest := u
	if scheme, after, ok := strings.Cut(u, ":"); ok {
		switch scheme = strings.ToLower(scheme); {
		case scheme == "http" || scheme == "https" || scheme == "ftp" || scheme == "ws" || scheme == "wss":
			a.scheme, rest = scheme, strings.TrimLeft(after, `/\`)
		case strings.HasPrefix(after, "//"):
			a.scheme, rest = scheme, after[2:]
		}
	}
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		a.user, rest = rest[:i], rest[i+1:]
	}
	if plain, ok := unescaped(rest); ok {
		rest, a.escaped = plain, true
	}
	if strings.HasPrefix(rest, "[") {
		rest, _, _ = strings.Cut(rest[1:], "]")
	} else {
		rest, _, _ = strings.Cut(rest, ":")
	}
	a.host = strings.ToLower(strings.TrimSuffix(rest, "."))
	return a
}

// unescaped takes percent escapes out, where there are some and nothing else that
// begins with a percent sign.
func unescaped(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, false
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return s, false
		}
		v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return s, false
		}
		b = append(b, byte(v))
		i += 2
	}
	return string(b), true
}

// shellURL is url for an address in a command, where private networks are day work.
func (j *judge) shellURL(u string, from, to int, fetches bool) {
	a := readAddress(u)
	if strings.Contains(a.user, ".") && !strings.Contains(a.user, "$") && deceptiveUser(a.user) {
		j.addAt(DeceptiveURL, AnyScope, "url-credentials", u, from, to)
	}
	if a.escaped || deceptiveHost(a.host) {
		j.addAt(DeceptiveURL, AnyScope, "url-deceptive", u, from, to)
	}
	if fetches && metadataHost(a.host) {
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
func (j *judge) url(u string, from, to int) {
	if j.spend(len(u) / 8); len(u) > maxAddress {
		j.addAt(Unjudged, AnyScope, "input-unreadable", "an address of "+strconv.Itoa(len(u))+" bytes", from, to)
		return
	}
	if p, ok := fileAddress(u); ok {
		j.toolRead(p)
		return
	}
	a := readAddress(u)
	if a.user != "" {
		j.addAt(DeceptiveURL, AnyScope, "url-credentials", u, from, to)
	}
	switch {
	case a.host == "":
	case metadataHost(a.host):
		j.addAt(InternalNet, System, "metadata-address", u, from, to)
	case a.escaped || deceptiveHost(a.host):
		j.addAt(DeceptiveURL, AnyScope, "url-deceptive", u, from, to)
	case a.host == "localhost" || strings.HasSuffix(a.host, ".localhost"):
		// one's own development server
	case privateHost(a.host) || !strings.ContainsAny(a.host, ".:") && (a.scheme == "http" || a.scheme == "https") && !loopback(a.host):
		j.addAt(InternalNet, AnyScope, "private-address", u, from, to)
	}
}

// fileAddress is the path that an address of a file names, with any number of slashes
// behind the scheme, as clients take it. An address without a file is "/".
func fileAddress(u string) (string, bool) {
	u = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.TrimFunc(u, func(r rune) bool { return r <= ' ' }))
	scheme, p, ok := strings.Cut(strings.TrimPrefix(u, "view-source:"), ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return "", false
	}
	p, _, _ = strings.Cut(p, "?")
	p, _, _ = strings.Cut(p, "#")
	if plain, ok := unescaped(p); ok {
		p = plain
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if host, ok := strings.CutPrefix(p, "//"); ok {
		if p = strings.TrimPrefix(host, "localhost"); !strings.HasPrefix(p, "/") && !drive(p) && !strings.HasPrefix(p, "~") {
			p = "//" + p
		}
	}
	if name := strings.TrimLeft(p, "/"); drive(name) || p == "" {
		return cmp.Or(name, "/"), true
	}
	return p, true
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
// one number, hexadecimal, octal, inside an IPv6 address, and as a name of the public
// services that answer with the address in it.
func address(h string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(h); err == nil {
		return embedded(a.WithZone("").Unmap()), true
	}
	for _, service := range [...]string{".nip.io", ".sslip.io", ".xip.io", ".traefik.me"} {
		if name, ok := strings.CutSuffix(h, service); ok {
			return named(name)
		}
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

// embedded is the IPv4 address in an IPv6 one that leads to it: compatible, through
// NAT64 (RFC 6052), or by 6to4 (RFC 3056).
func embedded(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	b := a.As16()
	switch {
	case string(b[:12]) == "\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00", string(b[:12]) == string(make([]byte, 12)) && (b[12] != 0 || b[13] != 0):
		return netip.AddrFrom4([4]byte(b[12:]))
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}

// named reads the address at the end of a name: a.b.1.2.3.4, a-1-2-3-4, a.01020304.
func named(name string) (netip.Addr, bool) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' })
	if n := len(parts); n >= 4 {
		if a, err := netip.ParseAddr(strings.Join(parts[n-4:], ".")); err == nil {
			return a, true
		}
	}
	if n := len(parts); n > 0 && len(parts[n-1]) == 8 {
		if v, err := strconv.ParseUint(parts[n-1], 16, 32); err == nil {
			return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
		}
	}
	return netip.Addr{}, false
}

func loopback(h string) bool {
	a, ok := address(h)
	return ok && a.IsLoopback()
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

// carrier are the addresses that providers and overlay networks use inside (RFC 6598).
var carrier = netip.MustParsePrefix("100.64.0.0/10")

func privateHost(h string) bool {
	if strings.HasSuffix(h, ".internal") || strings.HasSuffix(h, ".local") || strings.HasSuffix(h, ".corp") || strings.HasSuffix(h, ".lan") || strings.HasSuffix(h, ".intranet") {
		return true
	}
	a, ok := address(h)
	return ok && (a.IsPrivate() || a.IsUnspecified() || carrier.Contains(a))
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
	if kindOf(n) == toolOther {
		for server, tool := range splits(n) {
			if mcpVerb(tool) {
				return mcpCall{server, tool}
			}
		}
	}
	return mcpCall{}
}

// splits are the servers and tools that a name of Copilot's or OpenCode's may mean:
// either may have the sign in it that joins them.
func splits(name string) iter.Seq2[string, string] {
	return func(yield func(server, tool string) bool) {
		for i := 1; i < len(name)-1; i++ {
			if (name[i] == '_' || name[i] == '-') && !yield(name[:i], name[i+1:]) {
				return
			}
		}
	}
}

// mcpVerb tells the beginnings of tools' names whose arguments say what they do.
func mcpVerb(tool string) bool {
	for _, verb := range [...]string{"delete", "drop", "destroy", "execute", "run_", "exec_", "read_", "write_", "edit_", "move_", "copy_", "create_", "remove_", "terminate_", "fetch", "navigate", "query"} {
		if strings.HasPrefix(tool, verb) {
			return true
		}
	}
	return false
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

// mcpRules applies the person's rules to a call.
func (j *judge) mcpRules(m mcpCall, args map[string]json.RawMessage) {
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
}

// mcpRulesFor applies them to a name of which nobody knows where its server ends. A
// rule has to name the server then: else it would be for the client's own tools.
func (j *judge) mcpRulesFor(name string, raw []byte) {
	if len(j.cfg.MCP) == 0 || len(raw) > MaxInput {
		return
	}
	args, ok := membersOf(raw)
	if !ok {
		j.addAt(Unjudged, AnyScope, "input-unreadable", "an input of more than "+strconv.Itoa(maxMembers)+" members", 0, 0)
		return
	}
	named := *j.cfg
	named.MCP = slices.DeleteFunc(slices.Clone(j.cfg.MCP), func(r MCPRule) bool { return strings.Trim(r.Server, "*") == "" })
	whole := j.cfg
	j.cfg = &named
	for server, tool := range splits(name) {
		j.mcpRules(mcpCall{server, tool}, args)
	}
	j.cfg = whole
}

// mcp judges a call to an MCP server: its rules, then what its name and arguments
// say: paths, addresses, commands and statements are what they are everywhere.
func (j *judge) mcp(m mcpCall, raw []byte, in *input) {
	if m.server == "" {
		return
	}
	args, _ := membersOf(raw) // in was read, so they are not too many
	j.mcpRules(m, args)
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
	j.commands(m.server+"/"+m.tool, args)
	if wordHas(tool, "execute", "exec", "run", "shell", "bash", "terminal", "command", "query", "sql") {
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
		if p, ok := fileAddress(s); ok {
			s = p
		}
		if strings.Contains(s, "://") {
			continue
		}
		if !strings.ContainsAny(s, "/~\\.") {
			continue
		}
		if writes { // what is relative counts from the project, where servers are started
			if wordHas(tool, "delete", "remove") {
				c, at := j.toolPlace(&shell.Leaf{}, s)
				if at.scope >= Outside {
					j.add(&c, Delete, at.scope, ruleDelete(at.scope), s)
				}
				continue
			}
			j.toolWrite(&shell.Leaf{}, s, false)
		} else if reads || key == "source" {
			j.toolRead(s)
		}
	}
	var paths []string
	if len(args["paths"]) > maxList {
		j.addAt(Unjudged, AnyScope, "input-unreadable", "a list of "+strconv.Itoa(len(args["paths"]))+" bytes", 0, 0)
	} else if json.Unmarshal(args["paths"], &paths) == nil {
		for _, p := range paths {
			j.toolRead(p)
		}
	}
	addresses := in.URL.all()
	for _, key := range [...]string{"uri", "urls", "endpoint", "address", "href", "link"} {
		var t text
		if t.UnmarshalJSON(args[key]) == nil {
			addresses = append(addresses, t.all()...)
		}
	}
	for _, u := range addresses {
		if _, file := fileAddress(u); file {
			j.url(u, 0, 0)
		} else if a := readAddress(u); a.scheme == "http" || a.scheme == "https" || u == in.URL.s {
			j.url(u, 0, 0)
		}
	}
}

// commands judges the arguments that hold command lines or program text, of a server's
// tool or of one that nobody here knows. A single word is a command only where the
// tool's name says so: many tools have an argument of that name with a verb in it.
func (j *judge) commands(name string, args map[string]json.RawMessage) {
	name = strings.ToLower(name)
	runs := wordHas(name, "execute", "exec", "run", "shell", "bash", "powershell", "pwsh", "terminal", "command", "process")
	d := shell.Bash
	switch {
	case wordHas(name, "powershell", "pwsh"):
		d = shell.PowerShell
	case wordHas(name, "cmd"):
		d = shell.Cmd
	}
	keys := []string{"command", "cmd", "script", "shell_command", "argv"}
	if types := wordHas(name, "terminal", "tmux", "pty", "console", "keys", "shell"); types {
		keys = append(keys, "keys", "input", "text", "data")
	}
	for _, key := range keys {
		var t, more text
		if args[key] == nil || t.UnmarshalJSON(args[key]) != nil {
			continue
		}
		if len(args[key]) > maxList && t.odd {
			j.addAt(Unjudged, AnyScope, "input-unreadable", "a list of "+strconv.Itoa(len(args[key]))+" bytes", 0, 0)
		}
		if t.s == "" {
			continue
		}
		if args["args"] != nil && more.UnmarshalJSON(args["args"]) == nil && more.argv != nil {
			t.s += " " + more.s
		}
		if t.argv == nil && !runs && !strings.ContainsAny(strings.TrimSpace(t.s), " \t\n") {
			continue
		}
		j.inner(typed(t.s), d, 0, 0)
	}
	var code, language string
	if args["code"] == nil || json.Unmarshal(args["code"], &code) != nil || code == "" {
		return
	}
	for _, key := range [...]string{"language", "lang"} {
		if args[key] != nil && json.Unmarshal(args[key], &language) == nil && language != "" {
			break
		}
	}
	language = strings.ToLower(language)
	for _, l := range [...]struct {
		names []string
		run   []string
	}{
		{[]string{"python", "py", "python3", "jupyter", "ipython"}, []string{"python3", "-c"}},
		{[]string{"javascript", "js", "node", "typescript", "ts"}, []string{"node", "-e"}},
		{[]string{"ruby"}, []string{"ruby", "-e"}},
		{[]string{"bash", "sh", "shell", "zsh"}, []string{"bash", "-c"}},
		{[]string{"powershell", "pwsh"}, []string{"pwsh", "-Command"}},
	} {
		if slices.Contains(l.names, language) || language == "" && wordHas(name, l.names...) {
			j.inner(quoteJoin(append(l.run, code)), shell.Bash, 0, 0)
			return
		}
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
