package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// judge is one judgement under way.
type judge struct {
	cfg *Config
	w   World
	f   *shell.Facts
	out []Hazard
	// seen has the hazards in out once they are many; nil before.
	seen map[hazardKey]bool
	// depth counts commands found inside program text of other languages.
	depth int
	// at moves places found in inner commands to the outer one.
	at, end int
	// touched are the absolute paths that would be written, moved or deleted, with
	// their links followed.
	touched []string
	listing bool // touched is what is asked for
	// work counts the words that were looked at; at looked the limits were tested last.
	work, looked int
}

// hazardKey tells hazards apart: the same one in two places is noted once.
type hazardKey struct {
	effect       Effect
	scope        Scope
	rule, target string
}

// Touches lists the absolute paths that a call says it would write, move or
// delete on this machine, as far as they are known: clean, and where links lead. It
// is false if the call cannot be read, or not in the time there is.
func Touches(ev *event.Event, w World) (touched []string, whole bool) {
	if w.watched(ev) {
		return touchesWatched(ev, w)
	}
	return touchesHere(ev, w)
}

func touchesWatched(ev *event.Event, w World) (touched []string, whole bool) {
	type answer struct {
		touched []string
		whole   bool
	}
	got, _ := beforeAlarm(&w, ev, func(ev *event.Event) (a answer) {
		a.touched, a.whole = touchesHere(ev, w)
		return a
	})
	return got.touched, got.whole
}

func touchesHere(ev *event.Event, w World) (touched []string, whole bool) {
	j := judge{cfg: &Config{}, w: w, listing: true}
	j.within(func() { j.event(ev) })
	for i := range j.out {
		if h := &j.out[i]; h.Effect == Unjudged && h.Scope == AnyScope {
			return j.touched, false
		}
	}
	return j.touched, w.Budget == nil || w.Budget()
}

// maxWork bounds the words that one judgement looks at, each look counted: more than
// a command of 1 MiB takes where every rule looks once, and some tenths of a second.
const maxWork = 1 << 26

// tooMuch ends a judgement that spent what it may.
type tooMuch struct{}

// spend counts words that are looked at. A program may have half a million, and the
// rules for it may look through all of them for each: so the limits are checked where
// all looks go through.
func (j *judge) spend(words int) {
	if j.work += words; j.work-j.looked < 1<<15 {
		return
	}
	j.looked = j.work
	if j.work > maxWork || j.w.Budget != nil && !j.w.Budget() {
		panic(tooMuch{})
	}
}

// within judges, and refuses what takes more than it may.
func (j *judge) within(judgement func()) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case tooMuch{}:
			j.depth = 0
			j.addAt(Unjudged, AnyScope, "command-over-limit", "judging the command takes more than it may", 0, 0)
		default:
			panic(r)
		}
	}()
	judgement()
}

func (j *judge) touch(c *call, p place) {
	if p.path == "" || c.elsewhere() {
		return
	}
	if real := j.w.real(p.path); real != "" {
		p.path = real
	}
	j.touched = append(j.touched, p.path)
}

// Command judges command text in a dialect.
func Command(cfg Config, command string, d shell.Dialect, w World) Result {
	j := judge{cfg: &cfg, w: w}
	j.within(func() { j.command(command, d) })
	return j.result(command)
}

func (j *judge) command(command string, d shell.Dialect) {
	outer := j.f
	j.f = shell.Inspect(command, d, shell.World{Dir: j.w.Dir, Home: j.w.Home, Env: j.w.Env, Private: secretVariable, ReadFile: j.w.ReadFile, Glob: j.w.Glob, Budget: j.w.Budget})
	j.facts()
	j.f = outer
}

// facts judges what shell found out.
func (j *judge) facts() {
	f := j.f
	if f.Over != nil {
		j.addAt(Unjudged, AnyScope, "command-over-limit", f.Over.String(), 0, 0)
	}
	for i := range f.Leaves {
		if i&63 == 63 && j.late(0, 0) {
			return
		}
		j.leaf(i)
		j.link(i)
	}
	if (f.Over != nil || len(f.Leaves) >= 64) && j.late(0, 0) {
		return
	}
	for _, r := range f.Recursions {
		if r.Forks {
			j.addAt(ForkBomb, AnyScope, "fork-bomb", r.Name, r.Offset, r.Offset)
		}
	}
	for i := range f.Opaque {
		j.opaque(&f.Opaque[i])
	}
	for i := range f.Code {
		j.code(&f.Code[i])
	}
	for i := range f.Problems {
		j.problem(&f.Problems[i])
	}
	j.flows()
}

// link notes the link that a leaf makes, since what the command does later goes
// through it.
func (j *judge) link(i int) {
	l := &j.f.Leaves[i]
	c := call{j: j, i: i, l: l}
	var from, to *shell.Arg
	switch l.Name {
	case "ln", "gln", "link":
		if ops := c.operands(" -t --target-directory -S --suffix "); len(ops) > 1 {
			to, from = ops[0], ops[len(ops)-1]
		}
	case "mklink":
		if n := len(l.Argv); n > 2 {
			from, to = &l.Argv[n-2], &l.Argv[n-1]
		}
	case "new-item":
		if t := c.psParam("itemtype"); t != nil && (strings.EqualFold(t.Text, "symboliclink") || strings.EqualFold(t.Text, "junction")) {
			to = c.psParam("value", "target")
			if from = c.psParam("path"); from == nil {
				from = c.psParam("name")
			}
		}
	case "mount":
		if ops := c.operands(" -t -o "); len(ops) > 1 && c.has("--bind", "--rbind", "-B") {
			to, from = ops[0], ops[1]
		}
	}
	if from == nil || to == nil {
		return
	}
	dir := exactOr(l.Dir)
	at, ok := j.w.abs(exactOr(from.Value), dir)
	whole := exactOr(to.Value)
	if !ok || whole == "" {
		return
	}
	folder := path.Dir(at) // what a link says counts from where it stands
	if l.Name == "mount" || !c.short("s") && !c.has("--symbolic") && l.Name == "ln" {
		folder = dir
	}
	if leads, ok := j.w.abs(whole, folder); ok && leads != at {
		if j.w.links == nil {
			j.w.links = map[string]string{}
		}
		j.w.links[at] = leads
	}
}

// late reports whether the time is used up, and notes it.
func (j *judge) late(from, to int) bool {
	if j.w.Budget == nil || j.w.Budget() {
		return false
	}
	j.addAt(Unjudged, AnyScope, "command-over-limit", "the time budget for judging the command is used up", from, to)
	return true
}

func (j *judge) add(c *call, e Effect, s Scope, rule, target string) {
	j.addAt(e, s, rule, target, c.l.Offset, c.l.End)
}

func (j *judge) addAt(e Effect, s Scope, rule, target string, from, to int) {
	if j.depth > 0 {
		from, to = j.at, j.end
	}
	key := hazardKey{e, s, rule, target}
	if j.seen == nil {
		for i := range j.out {
			if h := &j.out[i]; (hazardKey{h.Effect, h.Scope, h.Rule, h.Target}) == key {
				return
			}
		}
		if len(j.out) == 32 { // more than any command of a day
			j.seen = make(map[hazardKey]bool, 64)
			for i := range j.out {
				h := &j.out[i]
				j.seen[hazardKey{h.Effect, h.Scope, h.Rule, h.Target}] = true
			}
		}
	}
	if j.seen != nil {
		if j.seen[key] {
			return
		}
		j.seen[key] = true
	}
	j.out = append(j.out, Hazard{Effect: e, Scope: s, Rule: rule, Target: target, Offset: from, End: to,
		Decision: j.cfg.decide(e, s, rule)})
}

// result merges the hazards: the worst decides.
func (j *judge) result(command string) Result {
	for i := range j.out {
		if h := &j.out[i]; h.Decision == event.Ask && j.w.Unattended != "" {
			h.Decision = event.Deny
		}
	}
	slices.SortStableFunc(j.out, func(a, b Hazard) int {
		if a.Decision != b.Decision {
			return int(b.Decision) - int(a.Decision)
		}
		if a.Effect == b.Effect {
			return int(b.Scope) - int(a.Scope)
		}
		return int(a.Effect) - int(b.Effect)
	})
	r := Result{Hazards: j.out}
	if len(j.out) > 0 {
		r.Decision = j.out[0].Decision
	}
	r.Reason = j.reason(command, &r)
	return r
}

// call is a leaf with the helpers that read its words.
type call struct {
	j     *judge
	i     int
	l     *shell.Leaf
	words []string // argv's; nil before it is asked
}

func (c *call) name() string { return c.l.Name }

// argv are the texts of all words; what is not exact is shown with its holes.
func (c *call) argv() []string {
	if c.words == nil {
		c.words, _ = c.l.ArgvText()
	}
	c.j.spend(len(c.words))
	return c.words
}

// has reports whether one of the words (or word=value) is given before "--".
func (c *call) has(words ...string) bool {
	for _, t := range c.argv()[min(1, len(c.l.Argv)):] {
		if t == "--" {
			return false
		}
		for _, w := range words {
			if t == w || len(t) > len(w) && t[len(w)] == '=' && strings.HasPrefix(t, w) {
				return true
			}
		}
	}
	return false
}

// short reports whether a one-letter option is given, alone or in a cluster.
func (c *call) short(letters string) bool {
	for _, t := range c.argv()[min(1, len(c.l.Argv)):] {
		if t == "--" {
			return false
		}
		if len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[1:], letters) {
			return true
		}
	}
	return false
}

// opt returns the value of an option: "--name value", "--name=value", "-n value"
// or "-nvalue"; nil if it is not given.
func (c *call) opt(names ...string) *shell.Arg {
	argv := c.argv()
	for i := 1; i < len(argv); i++ {
		for _, n := range names {
			switch t := argv[i]; {
			case t == n && i+1 < len(argv):
				return &c.l.Argv[i+1]
			case strings.HasPrefix(t, n+"="), len(n) == 2 && n[0] == '-' && n[1] != '-' && strings.HasPrefix(t, n) && len(t) > 2:
				a := c.l.Argv[i]
				cut := len(n)
				if len(t) > cut && t[cut] == '=' {
					cut++
				}
				if len(a.Alts) > 0 || len(a.Text) < cut {
					return &c.l.Argv[i]
				}
				a.Value = sliceFrom(a.Value, cut)
				return &a
			}
		}
	}
	return nil
}

func sliceFrom(v shell.Value, from int) shell.Value {
	out := shell.Value{Text: v.Text[from:]}
	for _, h := range v.Holes {
		if h.At >= from {
			h.At -= from
			out.Holes = append(out.Holes, h)
		}
	}
	return out
}

// operands are the words that are no options. valued lists the options that take
// the next word, with spaces around each.
func (c *call) operands(valued string) []*shell.Arg {
	var out []*shell.Arg
	argv := c.argv()
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		switch {
		case t == "--":
			for i++; i < len(argv); i++ {
				out = append(out, &c.l.Argv[i])
			}
			return out
		case len(t) > 1 && t[0] == '-' && c.l.Argv[i].Prefix() != "":
			if valued != "" && strings.Contains(valued, " "+t+" ") {
				i++
			}
		default:
			out = append(out, &c.l.Argv[i])
		}
	}
	return out
}

// plain are the texts of the operands.
func (c *call) plain(valued string) []string {
	var out []string
	for _, a := range c.operands(valued) {
		t, ok := a.Exact()
		if !ok {
			t = a.String()
		}
		out = append(out, t)
	}
	return out
}

// asksHelp reports whether the program would only tell about itself: a word for it
// stands where nothing before it could be an operand. Many a program works through
// its operands first, and takes "help" behind them for one more.
func (c *call) asksHelp() bool {
	argv := c.argv()
	switch c.l.Name {
	case "echo", "printf", "rm":
		return false
	}
	if c.j.f.Dialect == shell.Cmd && c.has("/?") {
		return true
	}
	for i := 1; i < len(argv); i++ {
		switch t := argv[i]; {
		case t == "--help", t == "-help", t == "--usage", t == "-?", t == "--version" && i == len(argv)-1:
			return true
		case t == "-h":
			return i == len(argv)-1 && i <= 2 && c.l.Name != "shutdown"
		case t == "-V":
			return len(argv) == 2
		case t == "help":
			// aws says it last, the others first.
			if i == 1 && !slices.ContainsFunc(argv[2:], operandLike) || c.l.Name == "aws" && i == len(argv)-1 {
				return true
			}
		case operandLike(t) && !(i == 1 && runsFiles(c.l.Name)):
			return false
		}
	}
	return false
}

// operandLike tells words that can be no subcommand and no option's name: paths,
// numbers, patterns, what is not known.
func operandLike(t string) bool {
	name := strings.TrimLeft(t, "-")
	if len(name) < len(t) {
		t, _, _ = strings.Cut(t, "=")
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return true
	}
	for _, r := range []byte(t) {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == ':', r == '=', r == '.', r == ',':
		default:
			return true
		}
	}
	return false
}

// runsFiles tells programs whose first word is a program of the project.
func runsFiles(name string) bool {
	switch name {
	case "python", "python3", "php", "node", "ruby", "perl", "deno", "bun", "tsx", "npx":
		return true
	}
	return false
}

// remote and contained leaves act on another file system.
func (c *call) elsewhere() bool { return c.l.Flags&(shell.Remote|shell.Contained) != 0 }

// leaf judges one program.
func (j *judge) leaf(i int) {
	c := call{j: j, i: i, l: &j.f.Leaves[i]}
	l := c.l
	j.assigns(&c)
	j.redirects(&c)
	j.elevated(&c)
	if len(l.Argv) == 0 {
		return
	}
	if l.Name == "" || l.Argv[0].Glob && globStart(l.Name) >= 0 {
		j.unknownProgram(&c) // /bin/r? may be any of them
		return
	}
	if c.asksHelp() {
		return
	}
	name := l.Name
	if j.f.Dialect != shell.PowerShell && j.f.Dialect != shell.Cmd {
		if low := strings.ToLower(name); low != name && windowsOnly(low) {
			name = low
		}
	}
	if alias, from := c.program(name); from == 1 {
		name = alias
	}
	j.packaged(&c)
	j.interpreter(&c, name)
	j.runsAddress(&c, name)
	// Several may know a name: npx runs migrations and publishes.
	if !j.done(&c, name) {
		j.filePrograms(&c, name)
		j.changes(&c, name)
		j.systemPrograms(&c, name)
		j.windowsPrograms(&c, name)
		j.networkPrograms(&c, name)
		j.servicePrograms(&c, name)
		j.rare(&c, name)
	}
	j.cmdlets(&c, name)
	j.reads(&c, name)
	j.environment(&c, name)
	j.urls(&c)
	j.startsByOption(&c, name)
	if name == "apply_patch" || name == "applypatch" {
		j.patchProgram(&c)
	}
	if j.listing {
		j.touchWritten(&c, name)
	}
	j.guess(&c, name)
}

// elevated judges the wrappers that lead to a leaf.
func (j *judge) elevated(c *call) {
	l := c.l
	for _, v := range l.Via {
		switch v.Name {
		case "systemd-run":
			for i := range v.Argv {
				if strings.HasPrefix(v.Argv[i].Text, "--on-") {
					j.add(c, Persistence, AnyScope, "scheduled-task", v.Name+" "+l.Name)
					break
				}
			}
		case "strace", "ltrace":
			for i := range v.Argv { // -o '|CMD' sends the trace to a command
				if cmd, ok := strings.CutPrefix(strings.TrimPrefix(v.Argv[i].Text, "-o"), "|"); ok {
					j.inner(cmd, shell.POSIX, l.Offset, l.End)
				}
			}
		case "sudo", "doas", "pkexec", "su", "runuser", "gosu", "run0", "sudoedit", "gsudo":
			if l.Flags&(shell.Remote|shell.Contained) == 0 {
				j.add(c, Elevate, AnyScope, "sudo", v.Name+" "+l.Name)
			}
		case "nsenter": // out of a container, or as root into another's
			j.add(c, Elevate, AnyScope, "sudo", v.Name+" "+l.Name)
		}
	}
	switch l.Name {
	case "sudo", "doas", "pkexec", "su", "runuser", "gsudo":
		for _, t := range c.argv()[1:] {
			switch t {
			case "-l", "-v", "-k", "-K", "-V", "--list", "--version", "--help", "-h", "--validate", "--reset-timestamp":
				return
			}
		}
		if l.Flags&(shell.Remote|shell.Contained) == 0 {
			j.add(c, Elevate, AnyScope, "sudo", strings.Join(c.argv(), " "))
		}
	case "sudoedit", "visudo":
		if l.Name == "visudo" && (c.short("c") || c.has("--check")) {
			return
		}
		j.add(c, Elevate, AnyScope, "sudo", l.Name)
	}
}

// interpreter judges program text that comes straight from the network or out of
// a decoder: python -c "$(curl …)", node <(curl …).
func (j *judge) interpreter(c *call, name string) {
	switch {
	case strings.HasPrefix(name, "python"), strings.HasPrefix(name, "pypy"), strings.HasPrefix(name, "perl"), strings.HasPrefix(name, "ruby"), strings.HasPrefix(name, "lua"), strings.HasPrefix(name, "php"):
	case name == "node", name == "nodejs", name == "deno", name == "bun", name == "osascript", name == "Rscript", name == "groovy", name == "tclsh", name == "pwsh", name == "julia":
	default:
		return
	}
	code := c.opt("-c", "-e", "-p", "-r", "--eval", "--print", "-Command")
	if code == nil {
		if ops := c.operands(""); len(ops) > 0 {
			code = ops[0]
		}
	}
	if code == nil {
		return
	}
	for _, v := range code.Each() {
		for _, h := range v.Holes {
			for i := h.From.From; i < h.From.To && i < len(j.f.Leaves); i++ {
				switch l := &j.f.Leaves[i]; {
				case downloads(l.Name) || hasNetPath(l):
					j.add(c, RemoteExec, AnyScope, "download-into-interpreter", name)
				case decoder(l):
					j.add(c, Opaque, AnyScope, "decoded-into-interpreter", name)
				}
			}
		}
	}
}

// runsAddress judges programs that fetch the program they run when its name is an
// address: deno run https://…, npx github:a/b, uvx --from git+https://…. Installing
// from an archive's address is a question; a repository's is day work.
func (j *judge) runsAddress(c *call, name string) {
	ops := c.operands(" --with --python --index-url --index -c --config --import-map --call --cwd -i --extra-index-url --find-links -f --proxy --https-proxy --noproxy --registry --trusted-host --cert -r --requirement ")
	text := func(n int) string {
		if n < len(ops) {
			return ops[n].Text
		}
		return ""
	}
	first := text(0)
	var ran []string
	switch name {
	case "deno", "bun":
		switch first {
		case "run", "x", "install", "serve", "test", "bench", "compile":
			first = text(1)
		case "eval":
			return
		}
		ran = []string{first}
	case "npx", "bunx", "pnpx", "uvx", "nix-shell":
		ran = []string{first}
	case "ansible-pull":
		if a := c.opt("-U", "--url"); a != nil {
			ran = []string{a.Text}
		}
	case "npm", "pnpm", "yarn":
		switch first {
		case "exec", "x", "dlx", "create", "init":
			ran = []string{text(1)}
		}
	case "pipx", "uv", "nix":
		switch {
		case first == "run" || first == "shell":
			ran = []string{text(1)}
		case first == "tool" && text(1) == "run":
			ran = []string{text(2)}
		}
	}
	switch name {
	case "npx", "npm", "bunx", "pnpx", "pnpm", "uvx", "uv", "pipx":
		if a := c.opt("--from", "--package", "--spec"); a != nil && len(ran) > 0 {
			ran = append(ran, a.Text)
		} else if a := c.opt("-p"); a != nil && name == "npx" {
			ran = append(ran, a.Text)
		}
	case "m4", "gdb", "lldb", "nu", "dc", "swift":
		// They run what is typed, which others pipe data into.
		for i := c.l.Stdin.From.From; i < c.l.Stdin.From.To && i < len(j.f.Leaves); i++ {
			if l := &j.f.Leaves[i]; downloads(l.Name) || hasNetPath(l) {
				j.add(c, RemoteExec, AnyScope, "download-into-interpreter", name)
				return
			}
		}
	case "node", "nodejs", "tsx":
		if a := c.opt("--import", "--loader", "--experimental-loader"); a != nil {
			ran = append(ran, a.Text)
		}
	}
	for _, t := range ran {
		if isAddress(t) && (!strings.Contains(t, "://") || !localHost(hostOf(t))) {
			j.add(c, RemoteExec, AnyScope, "download-into-interpreter", name+" "+t)
			return
		}
	}
	install := false
	switch name {
	case "pip", "pip3", "npm", "pnpm", "yarn", "gem":
		install = first == "install" || first == "i" || first == "add"
	case "uv", "python", "python3":
		install = first == "pip" && text(1) == "install" || first == "add"
	}
	if !install {
		return
	}
	for _, a := range ops {
		if t := a.Text; (strings.HasPrefix(t, "https://") || strings.HasPrefix(t, "http://")) && !strings.HasSuffix(t, ".git") && !localHost(hostOf(t)) && !packageHost(hostOf(t)) {
			j.add(c, TrustDown, AnyScope, "unsigned-package", t)
			return
		}
	}
}

// isAddress tells a program's name that says where to fetch it.
func isAddress(t string) bool {
	for _, p := range [...]string{"https://", "http://", "git+", "git://", "github:", "gitlab:", "bitbucket:", "gist:", "tarball+"} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return false
}

// packageHost tells the hosts from which package managers fetch by themselves.
func packageHost(h string) bool {
	switch h {
	case "files.pythonhosted.org", "pypi.org", "download.pytorch.org", "registry.npmjs.org", "registry.yarnpkg.com", "npm.jsr.io":
		return true
	}
	return false
}

// unknownProgram judges a program whose name is not known by its words: what
// looks like a recursive delete of the root is taken for one.
func (j *judge) unknownProgram(c *call) {
	if len(c.l.Argv) < 2 {
		return
	}
	recursive := c.short("rR") && (c.short("f") || c.has("--recursive", "--no-preserve-root")) || c.has("--no-preserve-root") ||
		j.f.Dialect == shell.PowerShell && c.psSwitch("recurse", 1)
	for _, a := range c.operands("") {
		if p := j.locate(a, c.l.Dir); recursive && p.scope >= Outside {
			j.add(c, Delete, p.scope, "delete-by-unknown-program", p.text)
		}
	}
	if a := &c.l.Argv[1]; j.f.Dialect == shell.PowerShell && len(c.l.Argv) == 2 && len(a.Holes) == 0 && strings.IndexByte(a.Text, ' ') > 0 && j.depth < 8 {
		j.inner(a.Text, shell.PowerShell, c.l.Offset, c.l.End) // as iex by another name
	}
	switch first := strings.ToLower(c.l.Arg(1)); first {
	case "reset":
		if c.has("--hard") {
			j.add(c, DiscardWork, AnyScope, "git-reset-hard", "")
		}
	case "-c", "-lc", "-ec", "-command":
		if a := c.l.Argv[len(c.l.Argv)-1]; len(a.Holes) == 0 && j.depth < 8 {
			j.inner(a.Text, shell.POSIX, c.l.Offset, c.l.End)
		}
	}
}

// inner judges command text found inside something else.
func (j *judge) inner(text string, d shell.Dialect, from, to int) {
	if j.depth >= 8 || strings.TrimSpace(text) == "" {
		return
	}
	if j.depth == 0 {
		j.at, j.end = from, to
	}
	j.depth++
	j.command(text, d)
	j.depth--
}

// problem judges what could not be read.
func (j *judge) problem(p *shell.Problem) {
	switch p.Kind {
	case shell.Unparsable:
		if j.depth > 0 {
			return // a guess at a command inside other text; it need not be one
		}
		j.addAt(Unjudged, AnyScope, "command-unparsable", p.Detail, p.Offset, p.Offset)
	case shell.TooLarge:
		j.addAt(Unjudged, Unknown, "script-too-large", p.Path, p.Offset, p.Offset)
	case shell.Unread:
		at := p.Path
		kind := KindUnknown
		dir := j.w.Dir
		if p.Leaf >= 0 && p.Leaf < len(j.f.Leaves) {
			dir = exactOr(j.f.Leaves[p.Leaf].Dir)
		}
		if abs, ok := j.w.abs(at, dir); ok && j.w.Kind != nil {
			kind = j.w.Kind(abs)
			at = abs
		}
		if kind == KindFile && j.scriptPlace(at) {
			j.addAt(Unjudged, Unknown, "script-unread", p.Path, p.Offset, p.Offset)
		}
		// What is not there cannot run, and a world that knows no files knows
		// nothing to hold against a script.
	}
}

// fedByDownload reports whether a filter passes on what was downloaded: sed and sort
// between curl and sh.
func (j *judge) fedByDownload(i int) bool {
	seen := map[int]bool{}
	for next := []int{i}; len(next) > 0; {
		k := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[k] || !filter(j.f.Leaves[k].Name) {
			continue
		}
		seen[k] = true
		j.spend(16)
		for from := range j.f.Feeders(k) {
			if l := &j.f.Leaves[from]; downloads(l.Name) || hasNetPath(l) {
				return true
			}
			next = append(next, from)
		}
	}
	return false
}

// containsAny reports whether one of the words stands in text.
func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// filter tells programs whose output is mostly their input.
func filter(name string) bool {
	switch name {
	case "sed", "gsed", "tr", "grep", "egrep", "fgrep", "sort", "uniq", "head", "tail", "cat", "tac", "tee", "cut", "awk", "gawk", "mawk", "perl", "dos2unix", "pv", "buffer", "mbuffer", "envsubst", "fold", "expand", "sponge", "jq", "yq", "rev", "iconv":
		return true
	}
	return false
}

// scriptPlace tells places where a script that cannot be read is a reason to ask:
// not the system's own programs.
func (j *judge) scriptPlace(p string) bool {
	s := j.w.classify(p)
	return s != System && s != AnyScope
}

// opaque judges text that would run and is not known.
func (j *judge) opaque(o *shell.Opaque) {
	end := o.Offset
	if o.Leaf >= 0 && o.Leaf < len(j.f.Leaves) {
		end = j.f.Leaves[o.Leaf].End
	}
	where := "shell"
	if o.Leaf >= 0 && j.f.Leaves[o.Leaf].Name != "" {
		where = j.f.Leaves[o.Leaf].Name
	}
	spans := []shell.Span{o.From}
	unknownInput := false
	for _, v := range o.Text.Each() {
		for _, h := range v.Holes {
			spans = append(spans, h.From)
			unknownInput = unknownInput || h.Kind == shell.HoleInput && h.From.Empty()
		}
	}
	worst, seen, plain := NoEffect, false, true
	for _, s := range spans {
		for i := s.From; i < s.To && i < len(j.f.Leaves); i++ {
			seen = true
			l := &j.f.Leaves[i]
			switch {
			case downloads(l.Name) || hasNetPath(l):
				worst = RemoteExec
			case decoder(l):
				if worst != RemoteExec {
					worst = Opaque
				}
			case filter(l.Name) && j.fedByDownload(i):
				worst = RemoteExec
			case !generator(l):
				plain = false
			}
		}
	}
	switch {
	case worst == RemoteExec:
		j.addAt(RemoteExec, AnyScope, "download-into-interpreter", where, o.Offset, end)
	case seen && o.Leaf >= 0 && databaseClient(j.f.Leaves[o.Leaf].Name) && j.unpacked(spans):
		// The same file from a pipe, or a packed one.
	case worst == Opaque:
		j.addAt(Opaque, AnyScope, "decoded-into-interpreter", where, o.Offset, end)
	case !seen && o.Leaf >= 0 && databaseClient(j.f.Leaves[o.Leaf].Name):
		// A schema or a seed file: the file is the project's.
	case o.Why == "printed program": // $(which x) is day work
	case seen && plain:
		// The set-up lines that tools print for a shell: as trusted as the tool.
	case o.Why == "script" || o.Why == "written script" && !seen:
		if j.scriptVariable(o) {
			j.addAt(Opaque, Unknown, "unknown-script", o.Text.String(), o.Offset, end)
		}
	default:
		j.addAt(Opaque, Unknown, "unknown-command-text", o.Text.String(), o.Offset, end)
	}
}

// unpacked reports whether the programs of spans only print files, unpacked or as
// they are.
func (j *judge) unpacked(spans []shell.Span) bool {
	files := false
	for _, s := range spans {
		for i := s.From; i < s.To && i < len(j.f.Leaves); i++ {
			c := call{j: j, i: i, l: &j.f.Leaves[i]}
			switch c.l.Name {
			case "cat", "gcat", "get-content", "type", "pv", "gunzip", "zcat", "gzcat", "xzcat", "bzcat", "zstdcat", "lz4cat":
			case "gzip", "xz", "bzip2", "zstd", "lz4", "unxz", "bunzip2", "unzstd", "pigz":
				if !strings.HasPrefix(c.l.Name, "un") && !c.short("d") && !c.has("--decompress") {
					return false
				}
			case "unzip":
				if !c.short("p") {
					return false
				}
			default:
				return false
			}
			files = files || len(c.operands("")) > 0
			for _, r := range c.l.Redirects {
				if r.Here != nil {
					return false
				}
			}
		}
	}
	return files
}

func databaseClient(name string) bool {
	switch name {
	case "psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client", "duckdb", "cqlsh", "mongosh", "mongo", "redis-cli", "sqlplus":
		return true
	}
	return false
}

// scriptVariable reports whether a script named by an unknown word is worth a
// question: "$DIR/setup.sh" is day work, `bash "$X"` is anything.
func (j *judge) scriptVariable(o *shell.Opaque) bool {
	for _, v := range o.Text.Each() {
		if strings.TrimSpace(v.Text) == "" {
			return true
		}
	}
	return false
}

// downloads tells programs whose output came over the network.
func downloads(name string) bool {
	switch strings.ToLower(name) {
	case "curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "xh", "xhs", "lynx", "links", "w3m", "elinks", "nc", "ncat", "netcat", "socat", "telnet",
		"ftp", "tftp", "lftp", "axel", "curlie", "wget2", "get", "lwp-request", "lwp-download", "invoke-webrequest", "invoke-restmethod",
		"start-bitstransfer", "bitsadmin", "certutil", "dig", "nslookup", "host", "drill", "ssh", "scp", "rsync", "s3cmd", "gsutil", "ipfs", "openssl-s_client",
		".downloadstring", ".downloadfile", ".downloaddata", ".downloadstringtaskasync", ".openread", ".getstringasync", ".getasync", ".getbytearrayasync", ".getresponse", ".uploadstring", "[net.webrequest]::create", "[net.webclient]::new", "[net.http.httpclient]::new",
		"wormhole", "croc", "hurl", "grpcurl", "websocat", "resolve-dnsname", "busybox-wget", "ftpget", "puf", "snarf":
		return true
	}
	return false
}

func hasNetPath(l *shell.Leaf) bool {
	if downloader(l) {
		return true
	}
	for i := range l.Redirects {
		if netPath(l.Redirects[i].Target.Text) {
			return true
		}
	}
	for i := range l.Argv {
		t := l.Argv[i].Text
		if netPath(t) || l.Name == "openssl" && t == "s_client" || l.Name == "aws" && strings.HasPrefix(t, "s3://") ||
			l.Name == "gh" && (t == "api" || t == "gist") || l.Name == "git" && t == "archive" {
			return true
		}
		if i > 0 && (strings.HasPrefix(l.Name, "python") || l.Name == "ruby" || l.Name == "perl" || l.Name == "node" || l.Name == "php") &&
			(strings.Contains(t, "http://") || strings.Contains(t, "https://")) {
			return true
		}
	}
	return false
}

func netPath(t string) bool {
	return strings.HasPrefix(t, "/dev/tcp/") || strings.HasPrefix(t, "/dev/udp/")
}

// decoder tells programs whose output hides what they read.
func decoder(l *shell.Leaf) bool {
	switch l.Name {
	case "base64", "base32", "basenc", "xxd", "uudecode", "gpg", "gunzip", "gzip", "zcat", "bzcat", "xzcat", "bzip2", "xz", "zstd", "zstdcat",
		"openssl", "hexdump", "od", "rev", "tr", "strings", "unzip", "steghide", "rot13", "caesar", "uncompress", "lz4", "brotli", "exiftool", "dd", "iconv", "perl", "crypt", "mcrypt", "age", "ccrypt", "funzip", "7z", "certutil":
		return true
	case "[convert]::frombase64string":
		return true
	}
	return false
}

// generator tells programs that print set-up lines for a shell, or nothing that
// matters.
func generator(l *shell.Leaf) bool {
	switch l.Name {
	case "ssh-agent", "brew", "direnv", "pyenv", "rbenv", "nodenv", "goenv", "jenv", "nvm", "fnm", "conda", "mamba", "micromamba", "mise", "rtx", "asdf",
		"starship", "zoxide", "minikube", "docker-machine", "dircolors", "gdircolors", "opam", "luarocks", "atuin", "thefuck", "mcfly", "navi", "hub", "gh", "glab",
		"pip", "pipx", "register-python-argcomplete", "register-python-argcomplete3", "oh-my-posh", "sheldon", "antidote", "keychain", "gpgconf",
		"podman-machine", "eksctl", "vault", "lesspipe", "lesspipe.sh", "locale", "ng", "volta", "proto", "nodebrew", "sdk", "swiftly", "ghcup", "cs",
		"nix", "guix", "devbox", "flox", "pixi", "poetry", "pdm", "hatch", "rustup", "cargo", "go", "npm", "pnpm", "yarn", "bun", "deno", "just", "task",
		"kubectl", "helm", "kind", "k3d", "k9s", "flux", "argocd", "istioctl", "oc", "kustomize", "terraform", "docker", "podman", "aws_completer", "aws-vault", "assume",
		"uv", "uvx", "rye", "mcfly-init", "fzf", "bat", "delta", "atlas", "sqlc", "goreleaser", "golangci-lint", "hugo", "cobra", "stern", "chezmoi", "yadm",
		"autoload", "compinit", "complete", "resize", "tset", "path_helper", "perlbrew", "plenv", "systemd-path", "xdg-user-dir", "dotenv", "envsubst", "supabase", "sentry-cli", "op":
		return true
	}
	for i := 1; i < len(l.Argv) && i < 4; i++ {
		switch l.Argv[i].Text {
		case "init", "completion", "completions", "shellenv", "shell-init", "hook", "activate", "env", "docker-env", "print-env":
			return true
		}
	}
	return false
}
