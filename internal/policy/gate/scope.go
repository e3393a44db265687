package gate

import (
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// FileKind is what stands at a path.
type FileKind uint8

// The kinds. KindUnknown is the answer of a world that cannot tell.
const (
	KindUnknown FileKind = iota
	KindMissing
	KindFile
	KindDir
)

// Track is what git knows of a path.
type Track uint8

// The states of a path. TrackedPath is also a folder with tracked files in it.
const (
	TrackUnknown Track = iota
	TrackedPath
	IgnoredPath
	UntrackedPath
)

// World is what the gate may ask about the machine. Every field may be zero;
// what depends on it is then unknown. Callbacks must be quick, must not follow
// links into /proc, start nothing and write nothing.
type World struct {
	Dir     string // working folder of the call, absolute
	Home    string
	Project string // top folder of the project; empty takes Dir, unless that is too high up
	Temp    []string
	Windows bool // paths have drive letters and backslashes

	Env      func(name string) (string, bool)
	ReadFile func(path string, max int) (string, bool)
	Glob     func(dir, pattern string) ([]string, bool)
	Kind     func(path string) FileKind
	Track    func(path string) Track
	// Tracks reports whether git tracks a file in or below dir whose last part
	// fits a shell pattern. The second result is false if nobody can tell.
	Tracks func(dir, pattern string) (tracked, known bool)
	// Resolve follows the symbolic links of a path, as far as it exists.
	Resolve func(path string) string
	// Budget is asked all the while; false ends the judgement, and the call is refused.
	Budget func() bool
	// Alarm is asked once for an input that is large. When what it gives is closed the
	// call is refused at once, whatever is being done then; that goes on to its next
	// look at Budget, with these callbacks. nil: nothing ends a judgement from outside.
	Alarm func() <-chan struct{}

	// links are those that the judged command makes itself: where by whereto.
	links map[string]string
	// itself is set while a path is deleted that may be a link: the link goes, and
	// what it leads to stays.
	itself bool

	// Unattended is set when nobody could answer a question, with the reason.
	Unattended string
	// Self are lidguard's own folders.
	Self []string
}

// place is where a word points to.
type place struct {
	path  string // absolute and clean, "" if not known
	text  string // for people
	scope Scope
	all   bool // everything below path: a bare * or the folder itself
}

// abs makes p absolute and clean. The second result is false if it cannot.
func (w *World) abs(p string, dir string) (string, bool) {
	if strings.ContainsRune(p, '\\') && (w.Windows || drive(p)) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	for _, prefix := range [...]string{"file://", "Microsoft.PowerShell.Core/FileSystem::", "FileSystem::", "//?/", "//./"} {
		p = strings.TrimPrefix(p, prefix)
	}
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		if w.Home == "" {
			return "", false
		}
		p = w.Home + p[1:]
	case strings.HasPrefix(p, "/"), drive(p):
	case dir == "":
		return path.Clean(p), false
	default:
		p = dir + "/" + p
	}
	if host, rest, ok := strings.Cut(strings.TrimPrefix(p, "//"), "/"); ok && strings.HasPrefix(p, "//") && host != "" && len(rest) > 1 && rest[1] == '$' {
		p = rest[:1] + ":" + rest[2:] // the drives that Windows shares with administrators
	}
	if drive(p) {
		p = strings.ToUpper(p[:1]) + strings.ReplaceAll(p[1:], `\`, "/")
		if len(p) == 2 {
			p += "/"
		}
		if c := path.Clean(p); len(c) > 3 {
			return c, true
		}
		return p[:2] + "/", true
	}
	return path.Clean(p), true
}

func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

// under reports whether p is dir or below it.
func under(p, dir string) bool {
	if drive(dir) && len(p) >= len(dir) && strings.EqualFold(p[:len(dir)], dir) { // letters of either case name the same there
		p = dir + p[len(dir):]
	}
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// classify tells the scope of an absolute clean path.
func (w *World) classify(p string) Scope {
	scope := w.classifyPlain(p)
	if (w.Resolve != nil || w.links != nil) && (scope <= Project || scope == Outside) {
		// A link inside the project or a temp folder may lead out of it.
		if real := w.follow(p); real != "" && real != p {
			if there := w.classifyPlain(real); there > scope && !(scope == Temp && w.inTemp(p, real)) {
				return there
			}
		}
	}
	return scope
}

// real is where a path leads by links, "" if there are none or nobody can tell.
func (w *World) real(p string) string {
	if w.Resolve == nil && w.links == nil || p == "" || p[0] != '/' && !drive(p) || w.Budget != nil && !w.Budget() {
		return ""
	}
	if real := w.follow(p); real != p {
		return real
	}
	return ""
}

// follow resolves the links of a path: those that the command makes, then those that
// are there.
func (w *World) follow(p string) string {
	last := ""
	if w.itself {
		p, last = path.Dir(p), "/"+path.Base(p)
	}
	for range 40 { // as many as Linux follows, path_resolution(7); a ring ends
		to, rest, ok := w.linked(p)
		if !ok {
			break
		}
		p = path.Clean(to + rest)
	}
	if w.Resolve != nil {
		if p = w.Resolve(p); p == "" {
			return ""
		}
	}
	return path.Clean(p + last)
}

// linked finds the first part of a path that is a link which the command makes: where
// it leads, and what of the path comes after it.
func (w *World) linked(p string) (to, rest string, ok bool) {
	if len(w.links) == 0 {
		return "", "", false
	}
	for i := 1; i <= len(p); i++ {
		if i == len(p) || p[i] == '/' {
			if to, ok = w.links[p[:i]]; ok {
				return to, p[i:], true
			}
		}
	}
	return "", "", false
}

// inTemp reports whether real, to which p in a temp folder leads, is in that folder:
// it may be a link itself.
func (w *World) inTemp(p, real string) bool {
	whole := *w
	whole.itself = false
	for _, t := range append(w.Temp[:len(w.Temp):len(w.Temp)], tempFolders[:]...) {
		if t = path.Clean(t); under(p, t) {
			if folder := whole.follow(t); folder != "" && w.throwAway(real, folder) {
				return true
			}
		}
	}
	return false
}

// tempFolders are where everybody may leave what nobody misses.
var tempFolders = [...]string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders", "/dev/shm"}

func (w *World) classifyPlain(p string) Scope {
	if p == "/dev/null" || strings.HasPrefix(p, "/dev/std") || strings.HasPrefix(p, "/dev/fd/") || p == "/dev/tty" || under(p, "/dev/shm") || strings.EqualFold(p, "nul") {
		return Temp
	}
	project := w.project()
	if project != "" && under(p, project) {
		if len(p) == len(project) {
			return ProjectRoot
		}
		if rest := p[len(strings.TrimSuffix(project, "/"))+1:]; rest == ".git" || strings.HasPrefix(rest, ".git/") {
			return Tracked
		}
		if buildPath(p[len(project):]) {
			return Build
		}
		if w.Track != nil {
			switch w.Track(p) {
			case TrackedPath:
				return Tracked
			case IgnoredPath:
				return Ignored
			}
		}
		return Project
	}
	if project != "" && under(project, p) {
		// A folder above the project: deleting it takes the project along.
		if s := w.top(p); s != Outside {
			return s
		}
		return Home
	}
	for _, t := range w.Temp {
		if w.throwAway(p, t) {
			return Temp
		}
	}
	for _, t := range tempFolders {
		if w.throwAway(p, t) {
			return Temp
		}
	}
	if p == "/tmp" || p == "/var/tmp" {
		return Outside
	}
	return w.top(p)
}

// throwAway reports whether p lies in the temp folder t. A home folder that was
// put into one, as containers and build machines do, is a home all the same.
func (w *World) throwAway(p, t string) bool {
	return p != t && under(p, t) && !(under(w.Home, t) && under(p, w.Home))
}

// project is the folder that counts as the agent's own.
func (w *World) project() string {
	p := w.Project
	if p == "" {
		p = w.Dir
	}
	if p == "" || p == "/" || len(p) <= 3 && drive(p) || p == w.Home || under(w.Home, p) || p == "/tmp" || p == "/var/tmp" {
		return ""
	}
	if s := w.top(p); s == System || s == Home && p != w.Home && strings.Count(strings.TrimPrefix(p, w.Home), "/") <= 1 && homeFolder(path.Base(p)) {
		return ""
	}
	return p
}

// top tells system, home and everything else apart.
func (w *World) top(p string) Scope {
	if w.Home != "" && under(p, w.Home) {
		rest := strings.TrimPrefix(p[len(w.Home):], "/")
		first, deeper, _ := strings.Cut(rest, "/")
		switch {
		case rest == "":
			return Home
		case deeper == "" && homeFolder(first):
			return Home
		case first == ".ssh" || first == ".gnupg" || first == ".aws" || first == ".kube" || first == ".password-store":
			return Home
		case first == "Library" && strings.Count(deeper, "/") == 0:
			return Home
		case strings.EqualFold(first, "appdata"):
			return appData(strings.ToLower(deeper))
		}
		return Outside
	}
	if drive(p) {
		rest := strings.ToLower(strings.Trim(p[2:], "/"))
		first, deeper, _ := strings.Cut(rest, "/")
		switch first {
		case "", "windows", "program files", "program files (x86)", "programdata", "boot", "recovery", "system volume information", "$recycle.bin", "perflogs",
			"bootmgr", "bootnxt", "boot.ini", "ntldr", "pagefile.sys", "hiberfil.sys", "swapfile.sys":
			return System
		case "users":
			if strings.Count(deeper, "/") == 0 {
				return Home
			}
			if sub := deeper[strings.IndexByte(deeper, '/')+1:]; !strings.Contains(sub, "/") && homeFolder(sub) {
				return Home
			}
			if _, sub, ok := strings.Cut(deeper, "/appdata/"); ok {
				return appData(sub)
			}
		}
		return Outside
	}
	first, deeper, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch first {
	case "", "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "run", "sbin", "sys", "usr", "opt", "lost+found",
		"Windows", "Program Files", "Program Files (x86)", "ProgramData", // of the drive that is current
		"System", "Library", "Applications", "private", "cores", "nix", "snap", "efi", "bin.usr-is-merged":
		return System
	case "var":
		return System
	case "srv", "data", "mnt", "media", "Volumes", "net", "export":
		if letter, rest, ok := strings.Cut(deeper, "/"); ok && first == "mnt" && len(letter) == 1 {
			return w.top(strings.ToUpper(letter) + ":/" + rest) // a drive of Windows, as WSL has it
		}
		if deeper == "" || (first == "Volumes" || first == "mnt" || first == "media") && !strings.Contains(deeper, "/") {
			return System
		}
	case "home", "Users":
		// Another person's home folder, or all of them.
		if !strings.Contains(deeper, "/") {
			return Home
		}
		if sub := deeper[strings.IndexByte(deeper, '/')+1:]; homeFolder(sub) || strings.HasPrefix(sub, ".ssh") || strings.HasPrefix(sub, ".gnupg") {
			return Home
		}
	case "c", "d": // Git Bash spells C:\ as /c
		if s := w.top(strings.ToUpper(first) + ":/" + deeper); w.Windows || deeper != "" {
			return s
		}
	}
	return Outside
}

// appData tells what is below AppData, in lower case, of a person on Windows.
func appData(sub string) Scope {
	switch {
	case strings.HasPrefix(sub, "local/temp/"):
		return Temp
	case !strings.Contains(sub, "/"):
		return Home
	}
	return Outside
}

// emptied reports whether what is in a folder may go all at once: it is a temp folder.
func (w *World) emptied(p string) bool {
	for _, t := range w.Temp {
		if p == path.Clean(t) {
			return true
		}
	}
	return p == "/tmp" || p == "/var/tmp" || strings.HasSuffix(strings.ToLower(p), "/appdata/local/temp")
}

// homeFolder tells folders directly below a home folder that hold what cannot be
// had again.
func homeFolder(name string) bool {
	switch strings.ToLower(name) {
	case "documents", "desktop", "downloads", "pictures", "music", "videos", "movies", "public", "dropbox", "onedrive", "google drive",
		"library", "applications", "appdata", "projects", "src", "code", "repos", "work", "workspace", "dev", "git", "go", "backup", "backups",
		".ssh", ".gnupg", ".config", ".local", ".aws", ".kube", ".azure", ".docker", ".mozilla", ".thunderbird", ".password-store",
		".claude", ".codex", ".copilot", ".vscode", ".vim", ".emacs.d", ".oh-my-zsh", ".git", "dotfiles", ".dotfiles", ".gcloud":
		return true
	}
	return false
}

// buildPath reports whether a path below a project names something that a build,
// a test run or a package manager makes again.
func buildPath(p string) bool {
	for p != "" {
		var part string
		part, p, _ = strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if part != "" && buildName(part, p == "") {
			return true
		}
		if part == "" && p == "" {
			break
		}
	}
	return false
}

func buildName(name string, last bool) bool {
	switch strings.ToLower(name) {
	case "node_modules", "dist", "build", "builds", "out", "output", "target", ".next", ".nuxt", ".output", ".svelte-kit", ".turbo", ".parcel-cache",
		".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", "__pycache__", ".eggs", "coverage", "htmlcov",
		".nyc_output", ".coverage", "obj", ".gradle", ".venv", "venv", ".virtualenv", ".terraform", "tmp", "temp", ".tmp", "logs", "log",
		"debug", "release", "deriveddata", ".build", "pods", ".dart_tool", ".angular", "storybook-static", "_build", "_site", "site-packages",
		".stack-work", "dist-newstyle", "elm-stuff", "bower_components", "jspm_packages", ".serverless", ".aws-sam", "cdk.out", ".vercel",
		".netlify", ".docusaurus", ".vite", ".eslintcache", ".stylelintcache", ".rollup.cache", ".webpack", "generated", "gen", ".ipynb_checkpoints",
		"test-results", "playwright-report", "allure-results", "reports", "artifacts", "__snapshots__", ".scannerwork", "zig-out", "zig-cache",
		".zig-cache", "cmakefiles", "cmakecache.txt", ".sass-cache", ".bundle", "wheelhouse", "bazel-bin", "bazel-out", "bazel-testlogs", ".expo",
		".metro", ".yarn", ".pnpm-store", ".npm", ".wrangler", ".astro", ".cargo-cache", ".swiftpm", ".idea_modules", "result", ".direnv", "storage/logs",
		"bin", "vendor", "www/build", "dist-ssr", "esm", "cjs", "lib-cov", ".nx", ".rpt2_cache", ".fusebox", ".dynamodb", ".temp", "sandbox", "scratch", "demo-output",
		"__pypackages__", ".pyre", ".pytype", "cython_debug", "buck-out", ".fleet", ".trunk", "nohup.out", "core", ".ds_store", "thumbs.db", ".installed.cfg",
		"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "npm-debug.log":
		return true
	}
	for _, p := range [...]string{"cmake-build-", "build-", "build_", "tmp-", "tmp.", "temp-", "bazel-", "out-", "test-output", ".coverage."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	if last {
		switch path.Ext(name) {
		case ".pyc", ".pyo", ".o", ".a", ".so", ".obj", ".class", ".log", ".tmp", ".temp", ".bak", ".swp", ".swo", ".orig", ".rej", ".egg-info", ".dist-info",
			".out", ".test", ".prof", ".pid", ".tsbuildinfo", ".map", ".cache", ".gcda", ".gcno", ".coverage", ".lcov", ".whl", ".tgz", ".gz", ".zip", ".tar", ".dSYM", ".exe", ".dll", ".pdb", ".aux", ".toc", ".fls":
			return true
		}
	}
	return false
}

// sourceName tells names that hold a project's own work, for paths about which
// the world knows nothing.
func sourceName(p string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "./"), "/")
	switch strings.ToLower(first) {
	case "src", "source", "sources", "lib", "libs", "app", "apps", "internal", "cmd", "pkg", "packages", "test", "tests", "spec", "specs", "docs", "doc",
		"migrations", "db", "database", "data", "config", "configs", "scripts", "public", "assets", "static", "include", "server", "client", "frontend",
		"backend", "api", "web", "core", "components", "pages", "models", "modules", "services", "infra", "terraform", ".github", ".git", ".svn", ".hg",
		"important", "prod", "production", "uploads", "media", "backups", "backup", "content", "project", "my-project", "myproject", "repo", ".vscode", "important_data":
		return true
	}
	return false
}

// globStart is the index of the first pattern character of p, -1 for none.
func globStart(p string) int {
	at := strings.IndexAny(p, "*?[")
	for _, ext := range [...]string{"!(", "@(", "+("} {
		if k := strings.Index(p, ext); k >= 0 && (at < 0 || k < at) {
			at = k
		}
	}
	return at
}

// locate tells where a word of a command points to. The worst of its
// alternatives counts.
func (j *judge) locate(a *shell.Arg, dir shell.Value) place {
	best := place{scope: AnyScope}
	for n, v := range a.Each() {
		p := j.locateValue(&v, dir, a.Glob || a.FromGlob != "" && globStart(a.FromGlob) >= 0)
		if a.FromGlob != "" && wholeGlob(path.Base(a.FromGlob)) {
			// Names that a bare * gave: all of the folder is meant.
			all := shell.Value{Text: a.FromGlob}
			if q := j.locateValue(&all, dir, true); q.scope > p.scope {
				p = q
			}
		}
		if n == 0 || p.scope > best.scope {
			best = p
		}
	}
	if best.text == "" {
		best.text = a.String()
	}
	return best
}

func wholeGlob(name string) bool {
	switch name {
	case "*", ".*", "**", "?*", "*.*", ".[!.]*", ".[^.]*", "..?*", "*/", "{*,.*}", "{.*,*}", ".??*":
		return true
	}
	return strings.HasPrefix(name, "!(") && strings.HasSuffix(name, ")") // all but what it names
}

// maxPath is longer than any system takes for a path. What is longer still is not
// looked into; for a deletion it counts as the worst.
const maxPath = 32 << 10

func (j *judge) locateValue(v *shell.Value, dir shell.Value, glob bool) place {
	if len(dir.Alts) > 0 { // as after a cd that may have failed
		worst := place{}
		for n, d := range dir.Each() {
			if p := j.locateValue(v, d, glob); n == 0 || p.scope > worst.scope {
				worst = p
			}
		}
		return worst
	}
	j.spend(16)
	w := &j.w
	base := ""
	if d, ok := dir.Exact(); ok {
		base = d
		if strings.HasPrefix(d, `\\`) {
			base = strings.ReplaceAll(d, `\`, "/")
		}
	}
	if len(v.Holes) > 0 {
		return j.locateHoles(v, dir)
	}
	text := v.Text
	if n := len(w.Home); n > 0 && len(text) > n && text[n] == '\\' && text[:n] == w.Home { // %USERPROFILE%\x of a cmd.exe that another shell starts
		text = strings.ReplaceAll(text, `\`, "/")
	}
	if d := j.f; d != nil && (d.Dialect == shell.PowerShell || d.Dialect == shell.Cmd) && !drive(text) {
		text = strings.ReplaceAll(text, `\`, "/")                                                                                                                  // either one parts names there, on any system
		if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && drive(base) && w.top(path.Clean(text)) < Home && !(len(text) > 2 && text[2] == '/') { // /c/x is for Git's shell
			text = base[:2] + text
		}
		if provider, rest, ok := strings.Cut(text, ":"); ok && len(provider) > 1 && !strings.ContainsAny(provider, "/.~") && d.Dialect == shell.PowerShell {
			switch strings.ToLower(provider) {
			case "temp":
				return place{text: text, path: "/tmp" + rest, scope: Temp}
			case "filesystem", "microsoft.powershell.core", "http", "https", "file":
			default: // the drive of something that is no file, or of a folder not known here
				return place{text: text, scope: Unknown}
			}
		}
	}
	out := place{text: text}
	if text == "" {
		return out
	}
	if len(text) > maxPath {
		out.text, out.scope = clip(text, 200), RootUnknown
		return out
	}
	if glob {
		if i := globStart(text); i >= 0 {
			cut := strings.LastIndexAny(text[:i], `/\`) + 1
			name := text[cut:]
			part, rest, deeper := strings.Cut(name, "/")
			parent := text[:cut]
			if parent == "" {
				parent = "."
			}
			p, ok := w.abs(parent, base)
			if !ok {
				out.scope = Unknown
				return out
			}
			if deeper && wholeGlob(part) && (p == "/" || p == "/home" || p == "/Users") {
				// /*/x: a name below every top folder.
				out.path, out.scope = p, System
				return out
			}
			out.path = p
			switch scope := w.classify(p); {
			case wholeGlob(strings.TrimSuffix(name, "/")) || deeper && wholeGlob(part) && wholeGlob(rest):
				out.all, out.scope = true, scope
				if w.emptied(p) {
					out.scope = Temp
				}
			case p == "/" || scope == System:
				out.scope = System
			case scope == Home && p == w.Home && len(part) <= 3:
				out.scope = Home
			case scope == Home:
				out.scope = Outside
			default:
				out.path = path.Clean(p + "/" + name) // x/*/../../y leads up
				out.scope = w.classify(out.path)
			}
			if out.scope == Tracked && !out.all {
				out.scope = Project
			}
			return out
		}
	}
	p, ok := w.abs(text, base)
	if !ok {
		out.path, out.scope = "", Unknown
		if j.remoteDir(dir) {
			out.scope = Outside
		}
		if !strings.HasPrefix(p, "..") && buildPath(p) {
			out.scope = Build
		}
		return out
	}
	out.path = p
	out.scope = w.classify(p)
	return out
}

// remoteDir reports whether a folder is on another machine or in a container,
// where nothing is known about it.
func (j *judge) remoteDir(dir shell.Value) bool { return len(dir.Holes) > 0 && dir.Text == "" }

// locateHoles places a word that is not wholly known: once with its holes filled
// by a plain name and once with them empty, where they may be.
func (j *judge) locateHoles(v *shell.Value, dir shell.Value) place {
	out := place{text: v.String()}
	first := v.Holes[0]
	if first.At == 0 && first.Kind == shell.HoleVar && (first.Name == "TEMP" || first.Name == "TMP") && j.f.Dialect == shell.PowerShell &&
		len(v.Text) > 0 && !strings.Contains(v.Text, "..") && (len(v.Holes) > 1 || strings.Trim(v.Text, `/\*.`) != "") {
		out.scope = Temp // named as on Windows, which has it always
		return out
	}
	if first.At == 0 && len(v.Text) == 0 || first.At == 0 && !nameHole(first) {
		if s, ok := j.holeScope(v, dir); ok && !strings.Contains(v.Text, "..") {
			if s >= Project && s <= ProjectRoot && buildPath(v.Text) {
				s = Build
			}
			out.scope = s
			return out
		}
	}
	fill := func(with string) place {
		var b strings.Builder
		at := 0
		for _, h := range v.Holes {
			b.WriteString(v.Text[at:h.At])
			at = h.At
			if h.Kind == shell.HolePath && h.Name == "{}" && at > 0 && v.Text[at-1] != '/' {
				b.WriteByte('/') // what find prints is below where it starts
			}
			if with != "" || nameHole(h) || h.NonEmpty {
				b.WriteString("lidguard-unknown")
			}
		}
		b.WriteString(v.Text[at:])
		e := shell.Value{Text: b.String()}
		return j.locateValue(&e, dir, globStart(e.Text) >= 0)
	}
	full := fill("x")
	if first.At == 0 && !nameHole(first) {
		full.scope, full.path = Unknown, ""
	}
	out.scope, out.path = full.scope, full.path
	if path.Dir(full.path) == "/" && full.path != "/" && first.At > 0 {
		out.scope = System // some folder of the system's, whichever it is
	}
	if nameHole(first) && len(v.Holes) == 1 {
		return out
	}
	empty := fill("")
	switch {
	case first.At == 0 && empty.scope >= Home:
		if !first.NonEmpty {
			out.scope = RootUnknown
		}
	case empty.scope >= Home && out.scope < empty.scope:
		out.scope = empty.scope
	case empty.scope == ProjectRoot && out.scope < ProjectRoot:
		out.scope = ProjectRoot
	}
	return out
}

func nameHole(h shell.Hole) bool { return h.Kind == shell.HoleName || h.Kind == shell.HoleNumber }

// holeScope knows programs whose output is a path of a known kind.
func (j *judge) holeScope(v *shell.Value, dir shell.Value) (Scope, bool) {
	h := v.Holes[0]
	if h.From.Empty() {
		return 0, false
	}
	worst, known := AnyScope, false
	for i := h.From.From; i < h.From.To && i < len(j.f.Leaves); i++ {
		l := &j.f.Leaves[i]
		switch l.Name {
		case "mktemp":
			worst, known = max(worst, Temp), true
		case "new-temporaryfile", "[io.path]::gettempfilename", "[io.path]::gettemppath":
			worst, known = max(worst, Temp), true
		case "find", "fd", "fdfind", "ls", "dir", "git", "rg", "grep", "locate":
			s, ok := j.listed(i)
			if !ok {
				return 0, false
			}
			worst, known = max(worst, s), true
		}
	}
	return worst, known
}
