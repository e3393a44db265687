package gate

import (
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// filePrograms judges programs that delete, move, overwrite or change files. It
// reports whether it knows the program.
func (j *judge) filePrograms(c *call, name string) bool {
	j.outputs(c, name)
	switch name {
	case "rm", "grm", "rmdir", "unlink", "srm", "rimraf", "trash", "trash-put", "del-cli", "rm-rf", "gio", "safe-rm", "del", "rip", "wipe":
		j.rm(c, name)
	case "shred", "gshred":
		for _, a := range c.operands(" -n -s --size --iterations --random-source ") {
			p := j.locate(a, c.l.Dir)
			if device(p.path) {
				j.add(c, Disk, AnyScope, "disk-write", p.text)
			} else if p.scope >= Project {
				// Shredded is gone: git may have it, the disk has not.
				j.add(c, Delete, max(p.scope, Tracked), "shred", p.text)
			}
		}
	case "find", "gfind", "bfs":
		j.find(c)
	case "fd", "fdfind":
	case "mv", "gmv":
		j.mv(c)
	case "cp", "gcp", "install", "ginstall", "ditto", "ln", "gln":
		j.cp(c, name)
	case "tee", "gtee", "sponge":
		appends := c.short("a") || c.has("--append")
		for _, a := range c.operands(" --output-error ") {
			j.write(c, a, appends)
		}
	case "dd", "gdd", "dcfldd", "dc3dd":
		j.dd(c)
	case "truncate", "gtruncate":
		for _, a := range c.operands(" -s --size -r --reference ") {
			p := j.locate(a, c.l.Dir)
			if !j.special(c, p, false) {
				j.add(c, Truncate, lift(p), "truncate", p.text)
			}
		}
	case "chmod", "gchmod", "setfacl":
		j.chmod(c)
	case "chown", "gchown", "chgrp", "gchgrp":
		j.ownership(c)
	case "chattr", "chflags", "chcon":
		for _, a := range c.operands(" -p -v -t -u -r -l --type --user --role --range --reference ") {
			if t := a.String(); t != "" && (t[0] == '+' || t[0] == '=' || t[0] == '-') {
				continue
			}
			if p := j.locate(a, c.l.Dir); p.scope >= Outside {
				j.add(c, Permission, p.scope, "chattr", p.text)
			}
		}
	case "patch":
		j.patchFile(c)
	case "sed", "gsed", "perl", "ruby", "ex", "ed", "awk", "gawk":
		j.inPlace(c, name)
		if strings.HasSuffix(name, "sed") {
			j.sedWrites(c)
		}
	case "rsync":
		j.rsync(c)
	case "tar", "gtar", "bsdtar", "unzip", "7z", "7za", "7zz", "7zr", "rar", "cpio":
		j.unpack(c, name)
	case "zip":
		if c.short("m") || c.has("--move") {
			j.packedAway(c, " -x -i -b -t -n -P -s --exclude --include --password ")
		}
	case "touch", "mkdir", "mkfifo", "mknod":
		for _, a := range c.operands(" -m -t -d -r --mode --date --reference --time ") {
			p := j.locate(a, c.l.Dir)
			if name == "mkdir" {
				continue
			}
			j.special(c, p, true)
		}
	case "vim", "nano", "vi", "nvim", "emacs":
	case "crontab":
		j.crontab(c)
	default:
		return false
	}
	return true
}

// outputs judges where programs put what they make by an option or a word of their
// own. Only a place that matters counts: the rest is day work.
func (j *judge) outputs(c *call, name string) {
	files, folders, word := "", "", -1 // word is the operand that is written, from 0
	valued := ""
	switch name {
	case "sort", "gsort", "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "rustc", "go", "pandoc", "gpg", "gpg2", "dot", "iconv", "nasm", "javac", "tsc", "esbuild", "ltrace", "strace",
		"shuf", "qrencode", "xmllint", "tidy", "plantuml", "yt-dlp", "time", "gtime", "sops", "age", "strip", "base64", "cwebp", "dwebp", "rsvg-convert", "inkscape", "asciidoctor", "jsonnet", "protoc":
		files = "-o --output --outfile --outDir"
	case "pg_dump", "pg_dumpall":
		files = "-f --file"
	case "mysqldump", "mariadb-dump":
		files = "-r --result-file"
	case "mongodump", "mongoexport":
		files = "-o --out"
	case "unar":
		folders = "-o -output-directory"
	case "ssh-keygen":
		// A new key beside the others is what it is for.
		if f := c.opt("-f"); f != nil && !c.short("ylFRHeip") {
			if p := j.locate(f, c.l.Dir); path.Base(path.Dir(p.path)) != ".ssh" || j.w.Kind != nil && j.w.Kind(p.path) == KindFile || persistent(j.w.Home, p.path) != "" {
				files = "-f"
			}
		}
	case "openssl":
		files = "-out -keyout"
	case "tcpdump", "tshark", "dumpcap", "varnishncsa":
		files = "-w"
	case "less":
		files = "-o -O --log-file --LOG-FILE"
	case "screen":
		files = "-Logfile"
	case "plutil":
		if ops := c.operands(" -o -e "); len(ops) > 0 && c.has("-replace", "-insert", "-remove", "-convert") && !c.has("-o") {
			j.write(c, ops[len(ops)-1], false)
		}
	case "PlistBuddy":
		if ops := c.operands(" -c "); len(ops) > 0 {
			if o := c.opt("-c"); o != nil && !strings.HasPrefix(o.Text, "Print") {
				j.write(c, ops[len(ops)-1], false)
			}
		}
	case "defaults":
		// A domain may be the path of a file, without its ending.
		if ops := c.operands(""); len(ops) > 2 && ops[0].Text == "write" && strings.ContainsAny(ops[1].Text, "/~") {
			p := j.locate(ops[1], c.l.Dir)
			p.path += ".plist"
			j.special(c, p, false)
		}
	case "unsquashfs":
		folders = "-d -dest"
	case "nmap":
		files = "-oN -oX -oG -oS -oA"
	case "ssh":
		files = "-E"
	case "csplit":
		files = "-f --prefix"
	case "script":
		word, valued = 0, " -c --command -t -T -I -O -B -E -m -o "
	case "uniq", "xxd", "objcopy":
		word, valued = 1, " -f -s -w -l -c -g -o -O -I -B -j -R -N "
	case "split":
		word, valued = 1, " -a -b -C -l -n --bytes --lines --number --suffix-length --filter "
	case "curl", "curlie":
		files, folders = "-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts --alt-svc --libcurl", "--output-dir"
	case "wget", "wget2":
		files, folders = "-a --append-output --save-cookies", "-P --directory-prefix"
	case "aria2c", "axel":
		files, folders = "-o --out --log --save-session", "-d --dir"
	case "yq":
		if c.short("i") || c.has("--inplace") {
			if ops := c.operands(""); len(ops) > 1 {
				j.write(c, ops[len(ops)-1], false)
			}
		}
	case "cpio":
		if c.short("i") || c.has("--extract") {
			folders = "-D --directory"
		}
	case "git":
		sub, _ := c.git()
		if sub == "apply" || sub == "am" {
			if d := c.opt("--directory"); d != nil {
				j.fills(c, j.locate(d, c.l.Dir))
			} else if d := c.opt("-C"); d != nil {
				j.fills(c, j.locate(d, c.l.Dir))
			}
		}
		return
	}
	if files != "" {
		for _, f := range strings.Fields(files) {
			if o := c.opt(f); o != nil && o.Text != "-" && (len(f) > 2 || f[0] != '-' || !strings.HasPrefix(o.Text, "=")) {
				j.writeFar(c, o)
			}
		}
	}
	if word >= 0 {
		if ops := c.operands(valued); word < len(ops) {
			j.writeFar(c, ops[word])
		}
	}
	if folders != "" {
		if d := c.opt(strings.Fields(folders)...); d != nil {
			j.fills(c, j.locate(d, c.l.Dir))
		}
	}
}

// writeFar judges a file that is written, where it is none of the project's.
func (j *judge) writeFar(c *call, a *shell.Arg) {
	if p := j.locate(a, c.l.Dir); p.scope >= Home || p.path != "" && !j.inProject(p.path) {
		j.writePlace(c, p, false)
	}
}

// fills judges a folder into which files of names that are not known come: those
// of an archive, a patch or a download.
func (j *judge) fills(c *call, p place) {
	switch {
	case c.elsewhere() || p.path == "":
	case p.scope == System || p.path == j.w.Home:
		j.add(c, Overwrite, max(p.scope, Home), "unpack-over-system", p.text)
	default:
		for _, name := range [...]string{"", "/authorized_keys", "/x", "/settings.json"} {
			in := p
			if in.path += name; j.special(c, in, true) {
				return
			}
		}
	}
}

// patchFile judges the file that is patched, or the folder below which all are.
func (j *judge) patchFile(c *call) {
	if c.has("--dry-run") {
		return
	}
	if d := c.opt("-d", "--directory"); d != nil {
		j.fills(c, j.locate(d, c.l.Dir))
	} else if len(c.operands(" -p -i ")) == 0 {
		j.fills(c, j.here(c))
	}
	if ops := c.operands(" -p -i -d -o -r -D -B -F -V -Y -z --input --directory --output "); len(ops) > 0 {
		j.write(c, ops[0], true)
	}
}

// lift makes a single file of the project a plain project file: the tracked scope
// is for folders, since agents change single files all day.
func lift(p place) Scope {
	if p.scope == Tracked && !gitInside(p.path) {
		return Project
	}
	return p.scope
}

func gitInside(p string) bool { return strings.HasSuffix(p, "/.git") || strings.Contains(p, "/.git/") }

func (j *judge) rm(c *call, name string) {
	l := c.l
	recursive := c.short("rR") || c.has("--recursive", "--dir") || name == "rimraf" || name == "rm-rf" || name == "trash" || name == "trash-put" || name == "rip"
	switch name {
	case "gio":
		if l.Arg(1) != "trash" && l.Arg(1) != "remove" {
			return
		}
	case "rmdir":
		recursive = c.short("p") || c.has("--parents")
		if c.has("/s") || c.has("/S") || c.has("/q") {
			recursive = true
		}
	case "trash", "trash-put", "safe-rm":
		recursive = true
	}
	args := c.operands("")
	if name == "del" && len(args) > 0 && c.l.Name != "del" {
		args = args[1:]
	}
	if c.has("--no-preserve-root") {
		j.add(c, Delete, System, "delete-root", "--no-preserve-root")
	}
	for _, a := range args {
		t := a.String()
		if len(t) == 2 && t[0] == '/' && (name == "del" || name == "rmdir") {
			continue // a switch of cmd.exe
		}
		j.remove(c, a, recursive)
	}
	if len(args) == 0 && l.Flags&shell.PerInput != 0 && recursive {
		j.add(c, Delete, Unknown, "delete-unknown", "names from another program")
	}
}

// remove judges the deletion of one word.
func (j *judge) remove(c *call, a *shell.Arg, recursive bool) {
	j.w.itself = len(a.Holes)+len(a.Alts) == 0 && !a.Glob && a.FromGlob == "" && !strings.HasSuffix(a.Text, "/") && !strings.ContainsAny(a.Text, "*?[")
	p := j.locate(a, c.l.Dir)
	j.removePlace(c, a, p, recursive)
	j.w.itself = false
}

func (j *judge) removePlace(c *call, a *shell.Arg, p place, recursive bool) {
	j.touch(c, p)
	if c.elsewhere() {
		s := p.scope
		if host, own := j.mounted(c, p); host.path != "" {
			inside := *c.l
			inside.Flags &^= shell.Contained
			j.removePlace(&call{j: j, i: c.i, l: &inside}, a, host, recursive)
			return
		} else if own {
			return
		}
		if c.l.Flags&shell.Contained != 0 && c.l.Flags&shell.Remote == 0 && s < Home {
			return // a container's own files
		}
		if s == Unknown || s == Outside {
			if recursive {
				j.add(c, Delete, Outside, "delete-remote", p.text)
			}
			return
		}
		if s >= Home {
			j.add(c, Delete, s, ruleDelete(s), p.text)
		}
		return
	}
	scope := p.scope
	if j.agentFile(p.path) || recursive && (agentFolder(p.path) || agentFolder(j.w.real(p.path))) {
		j.add(c, AgentConfig, AnyScope, "agent-config", p.text)
		return
	}
	switch {
	case device(p.path) && scope != Temp:
		j.add(c, Delete, System, "delete-device", p.text)
		return
	case strings.HasSuffix(p.path, "/.git") || p.all && strings.HasSuffix(p.path, "/.git"):
		if recursive && (j.w.project() == "" || under(p.path, j.w.project())) {
			if p.path == j.w.project()+"/.git" {
				j.add(c, RepoDestroy, AnyScope, "delete-git-folder", p.text)
			} else {
				j.add(c, RepoDestroy, One, "delete-git-folder", p.text)
			}
			return
		}
	case strings.Contains(p.path, "/.git/") && j.inProject(p.path):
		if strings.HasSuffix(p.path, ".lock") || strings.Contains(p.path, "/rebase-") || strings.HasSuffix(p.path, "_HEAD") || strings.HasSuffix(p.path, "_MSG") || strings.HasSuffix(p.path, ".sample") {
			return
		}
		j.add(c, RepoDestroy, AnyScope, "delete-git-folder", p.text)
		return
	}
	if base := path.Base(p.path); scope > Build && (strings.HasSuffix(base, ".tfstate") || strings.HasSuffix(base, ".tfstate.backup")) {
		j.add(c, CloudDestroy, One, "infrastructure-state", p.text) // nothing else knows what was built
		return
	}
	// A name that find or a list gives: what is known is the filter.
	if len(a.Holes) > 0 && scope < Home && scope > Ignored {
		if s, ok := j.fromFind(c, a); ok {
			if s != AnyScope {
				rule := ruleDelete(s)
				if !recursive && s < Tracked {
					return
				}
				if s == Project {
					s = Tracked // whole folders of what some list names
				}
				j.add(c, Delete, s, rule, p.text)
			}
			return
		}
	}
	switch scope {
	case Temp, Build, Ignored:
		if p.all && p.path != "" && (p.path == "/tmp" || p.path == "/var/tmp") {
			j.add(c, Delete, Temp, "delete-temp", p.text)
		}
		return
	case Project, Tracked:
		if !recursive {
			return
		}
		j.add(c, Delete, j.projectDelete(a, p), "delete-project-folder", p.text)
	case ProjectRoot:
		if !recursive && !p.all {
			return // rm without -r does not delete folders
		}
		j.add(c, Delete, ProjectRoot, "delete-project", p.text)
	case Unknown:
		if recursive {
			j.add(c, Delete, Unknown, "delete-unknown", p.text)
		}
	case RootUnknown:
		if !recursive && !p.all {
			return
		}
		j.add(c, Delete, RootUnknown, "delete-unset-variable", p.text)
	case Home:
		j.add(c, Delete, Home, "delete-home", p.text)
	case Outside:
		if j.secret(p.path) == secretKey {
			j.add(c, Delete, Home, "delete-home", p.text)
			return
		}
		j.add(c, Delete, Outside, "delete-outside", p.text)
	case AnyScope:
	default:
		j.add(c, Delete, scope, ruleDelete(scope), p.text)
	}
}

func ruleDelete(s Scope) string {
	switch s {
	case System:
		return "delete-system"
	case Home:
		return "delete-home"
	case RootUnknown:
		return "delete-unset-variable"
	case Outside:
		return "delete-outside"
	case Unknown:
		return "delete-unknown"
	case ProjectRoot:
		return "delete-project"
	}
	return "delete-project-folder"
}

// projectDelete tells work from what can be made again, for a recursive delete in
// the project.
func (j *judge) projectDelete(a *shell.Arg, p place) Scope {
	if p.path == "" {
		return Tracked
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(p.path, j.w.project()), "/")
	kind := KindUnknown
	if j.w.Kind != nil {
		kind = j.w.Kind(p.path)
		if kind == KindMissing && j.w.Kind(j.w.project()) != KindDir {
			kind = KindUnknown // nothing is known of a project that is not here
		}
	}
	switch {
	case p.scope == Tracked:
		return Tracked
	case kind == KindFile:
		return Project
	case kind == KindMissing && !sourceName(rel) && globStart(p.path) < 0:
		return Project
	case globStart(p.path) >= 0 && strings.Contains(path.Base(p.path), "."):
		return Project // *.egg-info and other files by their ending
	case len(a.Holes) > 0 && nameHole(a.Holes[0]):
		return Project
	}
	return Tracked
}

func (j *judge) inProject(p string) bool {
	project := j.w.project()
	return project != "" && under(p, project)
}

// device tells block devices and the like.
func device(p string) bool {
	if !strings.HasPrefix(p, "/dev/") {
		low := strings.ToLower(p)
		return strings.Contains(low, "physicaldrive") || strings.HasPrefix(low, "//./") && len(low) > 5
	}
	rest := p[5:]
	for _, prefix := range [...]string{"null", "zero", "full", "random", "urandom", "std", "fd/", "tty", "pts/", "shm/", "tcp/", "udp/", "console", "dri", "snd", "input", "kvm", "fuse", "net/", "ptmx", "video", "nvidia", "kfd"} {
		if strings.HasPrefix(rest, prefix) {
			return false
		}
	}
	return rest != "" && rest != "fd" && rest != "shm"
}

func (j *judge) mv(c *call) {
	args := c.operands(" -t --target-directory -S --suffix ")
	target := c.opt("-t", "--target-directory")
	if target == nil && len(args) > 1 {
		target = args[len(args)-1]
		args = args[:len(args)-1]
	}
	if target != nil {
		p := j.locate(target, c.l.Dir)
		if p.path == "/dev/null" {
			for _, a := range args {
				q := j.locate(a, c.l.Dir)
				j.add(c, Delete, max(q.scope, Tracked), "move-to-null", q.text)
			}
			return
		}
		j.special(c, p, false)
		if p.scope == System && !c.elsewhere() {
			j.add(c, Overwrite, System, "write-system", p.text)
		}
	}
	for _, a := range args {
		p := j.locate(a, c.l.Dir)
		j.touch(c, p)
		if j.agentFile(p.path) || agentFolder(p.path) {
			j.add(c, AgentConfig, AnyScope, "agent-config", p.text)
			continue
		}
		switch {
		case p.scope == Outside && target != nil && j.locate(target, c.l.Dir).scope == Outside:
		case p.scope == Outside && path.Ext(p.path) != "":
		case p.scope == Tracked && !gitInside(p.path):
		case p.scope >= Tracked && p.scope != Unknown && p.scope != One && !c.elsewhere():
			if strings.HasSuffix(p.path, "/.git") {
				j.add(c, RepoDestroy, One, "delete-git-folder", p.text)
				continue
			}
			j.add(c, MoveAway, p.scope, "move-away", p.text)
		}
		if j.secret(p.path) == secretKey {
			j.add(c, SecretRead, AnyScope, "secret-copy", p.text)
		}
	}
}

func (j *judge) cp(c *call, name string) {
	valued := " -t --target-directory -S --suffix -m --mode -o --owner -g --group "
	args := c.operands(valued)
	target := c.opt("-t", "--target-directory")
	if target == nil && len(args) > 1 {
		target = args[len(args)-1]
		args = args[:len(args)-1]
	}
	if name == "install" && (c.short("d") || c.has("--directory")) {
		return
	}
	if target == nil {
		return
	}
	p := j.locate(target, c.l.Dir)
	if m := c.opt("-m", "--mode"); m != nil && (name == "install" || name == "ginstall") && setsID(m.Text) && !c.elsewhere() {
		j.add(c, Permission, System, "setuid", p.text)
	}
	if name != "ln" && j.special(c, p, false) {
		return
	}
	if name == "ln" && j.special(c, p, !c.short("f")) {
		return
	}
	// Into a folder the file keeps its name.
	for _, a := range args {
		q := j.locate(a, c.l.Dir)
		if p.path != "" && q.path != "" {
			in := p
			in.path = path.Join(p.path, path.Base(q.path))
			if j.special(c, in, true) {
				return
			}
		}
		if name == "ln" && (c.short("s") || c.has("--symbolic")) {
			continue
		}
	}
	if p.scope == System && !c.elsewhere() {
		if name == "cp" || name == "ln" || name == "install" || name == "ditto" {
			j.add(c, Overwrite, System, "write-system", p.text)
		}
	}
}

// write judges a word that a program or redirection writes to.
func (j *judge) write(c *call, a *shell.Arg, appends bool) {
	p := j.locate(a, c.l.Dir)
	j.writePlace(c, p, appends)
}

func (j *judge) writePlace(c *call, p place, appends bool) {
	if c.elsewhere() {
		if host, _ := j.mounted(c, p); host.path != "" {
			inside := *c.l
			inside.Flags &^= shell.Contained
			j.writePlace(&call{j: j, i: c.i, l: &inside}, host, appends)
			return
		}
	}
	if c.elsewhere() && p.scope < Home {
		return
	}
	if j.special(c, p, appends) {
		return
	}
	switch p.scope {
	case System, RootUnknown:
		if p.path == "" && p.scope == RootUnknown {
			return // "$LOG" >> file with an unset name fails
		}
		j.add(c, Overwrite, p.scope, "write-system", p.text)
	case Home:
		if p.path != j.w.Home && !(appends && strings.HasSuffix(p.path, "/.ssh/known_hosts")) {
			j.add(c, Overwrite, Home, "write-home", p.text)
		}
	case Outside:
		if j.w.Home != "" && under(p.path, j.w.Home) && strings.HasPrefix(p.path[len(j.w.Home):], "/.") && j.secret(p.path) == secretKey {
			j.add(c, Overwrite, Home, "write-secret", p.text)
			return
		}
		fallthrough
	default:
		j.add(c, Overwrite, lift(p), "write", p.text)
	}
}

// special judges writes to places that do more than hold data. It reports whether
// the place is one.
func (j *judge) special(c *call, p place, appends bool) bool {
	j.touch(c, p)
	if p.path == "" {
		return j.specialName(c, p)
	}
	if j.specialPath(c, p, appends) {
		return true
	}
	if real := j.w.real(p.path); real != "" {
		p.path = real
		return j.specialPath(c, p, appends)
	}
	return false
}

func (j *judge) specialPath(c *call, p place, appends bool) bool {
	switch {
	case netPath(p.path):
		return true // judged with the flows
	case device(p.path) && p.scope != Temp:
		j.add(c, Disk, AnyScope, "disk-write", p.text)
	case p.path == "/proc/sysrq-trigger", strings.HasPrefix(p.path, "/sys/power/"):
		j.add(c, Power, AnyScope, "power", p.text)
	case strings.HasPrefix(p.path, "/boot/") || strings.HasPrefix(p.path, "/efi/") || strings.HasPrefix(p.path, "/sys/firmware/"):
		j.add(c, Boot, AnyScope, "boot", p.text)
	case !appends && strings.HasSuffix(p.path, "_history") && !j.inProject(p.path):
		j.add(c, TrustDown, AnyScope, "history-clear", p.text)
	case p.path == "/etc/passwd" || p.path == "/etc/shadow" || p.path == "/etc/group" || strings.HasPrefix(p.path, "/etc/sudoers"):
		j.add(c, UserAccount, AnyScope, "user-account", p.text)
	case j.self(p.path) || agentConfig(p.path):
		j.add(c, AgentConfig, AnyScope, "agent-config", p.text)
	default:
		if what := persistent(j.w.Home, p.path); what != "" {
			j.add(c, Persistence, AnyScope, what, p.text)
			return true
		}
		if j.inProject(p.path) && strings.Contains(p.path, "/.git/") {
			if strings.HasSuffix(p.path, "/.git/info/exclude") || strings.HasSuffix(p.path, "_MSG") || strings.HasSuffix(p.path, "_EDITMSG") {
				return false
			}
			if strings.Contains(p.path, "/.git/hooks/") || strings.HasSuffix(p.path, "/.git/config") {
				j.add(c, Persistence, AnyScope, "git-hook", p.text)
			} else {
				j.add(c, RepoDestroy, AnyScope, "write-git-folder", p.text)
			}
			return true
		}
		return false
	}
	return true
}

// specialName judges a write to a path whose folder is not known.
func (j *judge) specialName(c *call, p place) bool {
	for _, name := range [...]string{"/.bashrc", "/.zshrc", "/.profile", "/.bash_profile", "/.zshenv", "/.zprofile", "authorized_keys", "/.git/hooks/", "/.bash_login", "/.config/fish/config.fish"} {
		if strings.HasSuffix(p.text, name) || strings.Contains(p.text, name) && strings.HasSuffix(name, "/") {
			j.add(c, Persistence, AnyScope, "start-up-file", p.text)
			return true
		}
	}
	if strings.Contains(strings.ToLower(strings.ReplaceAll(p.text, `\`, "/")), "/start menu/programs/startup/") {
		j.add(c, Persistence, AnyScope, "start-up-file", p.text)
		return true
	}
	if strings.Contains(p.text, "variable profile>") || strings.HasPrefix(strings.ToLower(p.text), "$profile") {
		j.add(c, Persistence, AnyScope, "start-up-file", p.text)
		return true
	}
	return false
}

// mounted tells where a path in a container that docker run starts lies on this
// machine, by the folders given to it; own is set when it is the container's own and
// goes with it.
func (j *judge) mounted(c *call, p place) (host place, own bool) {
	if c.l.Flags&shell.Contained == 0 || c.l.Flags&shell.Remote != 0 || p.path == "" {
		return place{}, false
	}
	for _, v := range c.l.Via {
		switch v.Name {
		case "docker", "podman", "nerdctl", "finch", "docker-compose", "podman-compose":
		default:
			continue
		}
		runs, throughout := false, false
		for k := range v.Argv {
			if k&255 == 255 && j.late(c.l.Offset, c.l.End) {
				return place{}, false
			}
			t, exact := v.Argv[k].Exact()
			switch {
			case t == "run":
				runs = true
			case t == "--privileged", t == "--volumes-from", t == "compose", strings.HasPrefix(t, "--volumes-from="), strings.HasPrefix(t, "--pid"):
				throughout = true
			}
			flag, value, cut := strings.Cut(t, "=")
			if !cut && k+1 < len(v.Argv) {
				value, exact = v.Argv[k+1].Exact()
			}
			var from, to string
			switch {
			case flag == "-v" || flag == "--volume":
				at := 0
				if drive(value) { // C:\x:/x
					at = 2
				}
				from, to, _ = strings.Cut(value[at:], ":")
				from = value[:at] + from
				to, _, _ = strings.Cut(to, ":")
			case flag == "--mount":
				for part := range strings.SplitSeq(value, ",") {
					switch key, is, _ := strings.Cut(part, "="); key {
					case "source", "src":
						from = is
					case "target", "destination", "dst":
						to = is
					}
				}
			default:
				continue
			}
			if !exact || to == "" {
				throughout = throughout || !exact
				continue
			}
			if to = path.Clean(to); !under(p.path, to) && !under(to, p.path) {
				continue
			}
			if !strings.ContainsAny(from, "/~.") && !drive(from) {
				throughout = true // a named volume stays
				continue
			}
			if at, ok := j.w.abs(from, j.w.Dir); ok {
				if under(p.path, to) {
					at = path.Clean(at + "/" + p.path[len(strings.TrimSuffix(to, "/")):])
				}
				return place{path: at, text: p.text, scope: j.w.classify(at), all: p.all}, false
			}
		}
		return place{}, runs && !throughout && p.path != "/"
	}
	return place{}, false
}

// agentFile tells files that steer lidguard or an agent, by their path or that to
// which a link leads.
func (j *judge) agentFile(p string) bool {
	if j.self(p) || agentConfig(p) {
		return true
	}
	if base := path.Base(p); (base == "lidguard" || base == "lidguard-hook") && path.Base(path.Dir(p)) == "bin" && !j.inProject(p) {
		return true // the programs that the hooks call
	}
	real := j.w.real(p)
	return real != "" && (j.self(real) || agentConfig(real))
}

func (j *judge) self(p string) bool {
	for _, s := range j.w.Self {
		if s != "" && under(p, s) {
			return true
		}
	}
	return false
}

// agentFolder tells folders that hold such files.
func agentFolder(p string) bool {
	switch path.Base(p) {
	case ".claude", ".codex", ".copilot", ".opencode", ".lidguard":
		return true
	}
	return strings.HasSuffix(p, "/.config/opencode")
}

// agentConfig tells files that steer agents: hooks, settings, permissions.
func agentConfig(p string) bool {
	base := path.Base(p)
	dir := path.Base(path.Dir(p))
	switch dir {
	case ".claude":
		return strings.HasPrefix(base, "settings") && strings.HasSuffix(base, ".json") || base == "managed-settings.json" || base == "hooks"
	case ".codex":
		return base == "config.toml" || base == "hooks.json" || base == "auth.json" || base == "managed_config.toml" || base == "requirements.toml"
	case ".copilot":
		return base == "config.json" || base == "settings.json" || base == "mcp-config.json"
	case ".lidguard":
		return true
	case "lidguard":
		return base == "settings.json" || base == "rules.toml" || base == "packs.json"
	case "opencode":
		return strings.HasPrefix(base, "opencode.json")
	}
	switch base {
	case ".claude.json", "managed-settings.json", "managed-mcp.json", ".mcp.json", "opencode.json", "opencode.jsonc":
		return true
	case ".lidguard":
		return true
	}
	for _, part := range [...]string{"/.github/hooks/", "/.copilot/hooks/", "/.codex/hooks/", "/.claude/hooks/", "/.opencode/", "/.config/opencode/",
		"/opencode/plugin/", "/opencode/plugins/", "/.cursor/hooks", "/.gemini/settings.json", "/.lidguard/", "/.codex/rules/"} {
		if strings.Contains(p, part) {
			return true
		}
	}
	return false
}

// persistent names the rule for places from which code is started later.
func persistent(home, p string) string {
	switch {
	case under(p, "/etc/cron.d"), under(p, "/etc/cron.daily"), under(p, "/etc/cron.hourly"), under(p, "/etc/cron.weekly"), p == "/etc/crontab", under(p, "/var/spool/cron"), under(p, "/var/at"):
		return "cron"
	case under(p, "/etc/systemd"), under(p, "/lib/systemd"), under(p, "/usr/lib/systemd"), under(p, "/etc/init.d"), under(p, "/etc/rc.d"), p == "/etc/rc.local":
		return "service-unit"
	case under(p, "/Library/LaunchDaemons"), under(p, "/Library/LaunchAgents"), strings.Contains(p, "/Library/LaunchAgents/"):
		return "launch-agent"
	case p == "/etc/profile", under(p, "/etc/profile.d"), p == "/etc/bash.bashrc", p == "/etc/zshrc", p == "/etc/zshenv", p == "/etc/environment", p == "/etc/ld.so.preload", p == "/etc/ld.so.conf", under(p, "/etc/pam.d"):
		return "start-up-file"
	case strings.HasSuffix(p, "/.ssh/authorized_keys"), strings.HasSuffix(p, "/.ssh/authorized_keys2"), strings.HasSuffix(p, "/.ssh/config"), strings.HasSuffix(p, "/.ssh/rc"):
		return "authorized-keys"
	case strings.Contains(strings.ToLower(p), "/start menu/programs/startup/"), strings.HasSuffix(strings.ToLower(p), "_profile.ps1"),
		strings.HasSuffix(strings.ToLower(p), "powershell/profile.ps1"):
		return "start-up-file"
	}
	if home == "" || !under(p, home) {
		if dir := path.Dir(p); dir == "/root" || path.Dir(dir) == "/home" || path.Dir(dir) == "/Users" {
			home = dir
		} else {
			return ""
		}
	}
	rest := strings.TrimPrefix(p[len(home):], "/")
	switch rest {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc",
		".inputrc", ".cshrc", ".tcshrc", ".login", ".xinitrc", ".xprofile", ".xsession", ".pam_environment", ".config/fish/config.fish", ".vimrc", ".config/nvim/init.lua", ".config/nvim/init.vim",
		".pythonrc", ".pdbrc", ".psqlrc", ".sqliterc", ".curlrc", ".wgetrc", ".hgrc", ".perldb", ".bunfig.toml", ".Xclients", ".xsessionrc", ".pip/pip.conf", ".cargo/config", ".cargo/env", ".gradle/init.gradle", ".config/gdb/gdbinit", ".config/direnv/direnvrc",
		".jupyter/jupyter_notebook_config.py", ".config/psql/psqlrc", ".config/sqlite3/sqliterc", "Library/Preferences/com.apple.loginwindow.plist", ".irbrc", ".gdbinit", ".lldbinit", ".tmux.conf", ".screenrc", ".nanorc", ".emacs", ".emacs.d/init.el", ".ssh/rc", ".ssh/environment", ".Rprofile", ".octaverc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".config/pip/pip.conf", ".cargo/config.toml":
		return "start-up-file"
	case ".gitconfig", ".config/git/config":
		return "git-config"
	}
	for _, dir := range [...]string{".config/systemd/", ".local/share/systemd/", ".config/autostart/", ".config/fish/conf.d/", ".bashrc.d/", ".zshrc.d/", ".config/environment.d/", ".oh-my-zsh/custom/", ".local/share/dbus-1/services/", ".config/upstart/", ".vim/plugin/", ".vim/autoload/", ".config/nvim/plugin/", ".config/nvim/after/", ".gradle/init.d/",
		".git-templates/", ".git-template/", ".config/git/hooks/", ".config/fish/functions/", ".ipython/profile_default/startup/", ".config/plasma-workspace/env/", ".kde/Autostart/", ".kde4/Autostart/", "Library/ScriptingAdditions/", "Library/StartupItems/", "Library/Application Support/com.apple.backgroundtaskmanagementagent/"} {
		if strings.HasPrefix(rest, dir) {
			return "start-up-file"
		}
	}
	if base := path.Base(rest); (base == "usercustomize.py" || base == "sitecustomize.py" || path.Ext(base) == ".pth") && strings.Contains(rest, "/site-packages/") && !strings.Contains(rest, "venv/") {
		return "start-up-file" // every Python runs it
	}
	// A program of a common name in a folder early on the PATH shadows the real one.
	for _, dir := range [...]string{".local/bin/", "bin/", ".cargo/bin/", "go/bin/", ".pyenv/shims/", ".rbenv/shims/", ".asdf/shims/", ".volta/bin/", ".bun/bin/", ".deno/bin/", ".local/share/mise/shims/"} {
		if name, ok := strings.CutPrefix(rest, dir); ok && shadowed(name) {
			return "path-shim"
		}
	}
	if strings.HasPrefix(rest, ".nvm/versions/") && shadowed(path.Base(rest)) {
		return "path-shim"
	}
	return ""
}

func shadowed(name string) bool {
	switch name {
	case "python3.12", "python3.13", "pip", "pip3", "npx", "corepack", "ruby", "gem", "rustc", "rustup", "gopls", "gofmt", "pnpm", "yarn", "bun", "deno", "uv":
		return true
	case "ls", "cd", "cat", "git", "sudo", "ssh", "su", "bash", "sh", "zsh", "rm", "cp", "mv", "python", "python3", "node", "npm", "curl", "wget", "docker", "kubectl", "ps", "grep", "lidguard", "lidguard-hook", "claude", "codex", "gh", "aws", "gpg", "pass", "make", "go", "cargo":
		return true
	}
	return false
}

func (j *judge) dd(c *call) {
	for i, t := range c.argv() {
		if v, ok := strings.CutPrefix(t, "of="); ok && v != "" {
			a := c.l.Argv[i]
			if len(a.Alts) == 0 && len(a.Text) >= 3 {
				a.Value = sliceFrom(a.Value, 3)
			}
			j.write(c, &a, false)
			if a.Holes != nil && a.Holes[0].At == 0 {
				j.add(c, Disk, AnyScope, "disk-write", a.String())
			}
		}
	}
}

func (j *judge) chmod(c *call) {
	recursive := c.short("R") || c.has("--recursive")
	valued, mode := " --reference ", ""
	if c.name() == "setfacl" {
		valued = " -m -x -M -X --modify --remove "
	}
	args := c.operands(valued)
	for _, t := range c.argv()[1:] { // chmod -x: a mode that looks like an option
		if len(t) > 1 && t[0] == '-' && strings.Trim(t[1:], "rwxXst") == "" {
			mode = t
			break
		}
	}
	if len(args) > 0 && c.name() != "setfacl" && !c.has("--reference") {
		if mode == "" {
			mode = args[0].String()
			args = args[1:]
		}
		open := worldWritable(mode)
		setuid := setsID(mode)
		for _, a := range args {
			p := j.locate(a, c.l.Dir)
			switch {
			case j.agentFile(p.path):
				j.add(c, AgentConfig, AnyScope, "agent-config", p.text)
			case setuid && !c.elsewhere():
				j.add(c, Permission, System, "setuid", p.text)
			case p.scope >= Home && !c.elsewhere():
				if recursive || open || closes(mode) || p.scope == System {
					j.add(c, Permission, p.scope, "chmod-system", p.text)
				}
			case p.scope == Outside && recursive:
				j.add(c, Permission, Outside, "chmod-outside", p.text)
			case open && recursive && p.scope != Temp && p.scope != Build:
				j.add(c, Permission, ProjectRoot, "chmod-open", p.text)
			case open && p.scope != Temp && p.scope != Build && p.scope != AnyScope:
				j.add(c, Permission, max(Tracked, min(p.scope, ProjectRoot)), "chmod-open", p.text)
			case closes(mode) && recursive && p.scope >= Project:
				j.add(c, Permission, ProjectRoot, "chmod-closed", p.text)
			case p.scope == RootUnknown:
				j.add(c, Permission, RootUnknown, "chmod-system", p.text)
			}
			if j.secret(p.path) == secretKey && (open || othersRead(mode) && p.scope >= Outside) {
				j.add(c, Permission, Home, "chmod-secret", p.text)
			}
		}
		return
	}
	for _, a := range args {
		if p := j.locate(a, c.l.Dir); p.scope >= Home {
			j.add(c, Permission, p.scope, "chmod-system", p.text)
		}
	}
}

// sedWrites judges the files that w and s///w of a sed script write.
func (j *judge) sedWrites(c *call) {
	if e := c.opt("-e", "--expression"); e != nil {
		j.sedScript(c, e.Text)
	} else if ops := c.operands(" -f --file -l --line-length "); len(ops) > 0 {
		j.sedScript(c, ops[0].Text)
	}
}

func (j *judge) sedScript(c *call, script string) {
	for line := range strings.SplitSeq(script, "\n") {
		// w FILE behind an address or flags; r FILE, where GNU's takes r/FILE too.
		for _, part := range [...]string{"w ", "w\t", "r ", "r/", "R "} {
			i := strings.LastIndex(line, part)
			if i < 0 || i > 0 && letter(line[i-1]) && !strings.Contains("gpIie0123456789$", line[i-1:i]) {
				continue
			}
			name := strings.TrimSpace(line[i+1:])
			if len(name) < 2 || name[0] != '/' && name[0] != '~' {
				continue
			}
			v := shell.Value{Text: name}
			switch p := j.locateValue(&v, c.l.Dir, false); {
			case part[0] != 'w':
				j.readPlace(c, p)
			case p.scope >= Home:
				j.writePlace(c, p, true)
			}
		}
	}
}

// editorWrites judges where the commands of ed, ex and vim write: the file they
// name, else the one that is open.
func (j *judge) editorWrites(c *call, script string) {
	valued := " -c --cmd -S -u -i -T "
	if n := c.name(); n == "ed" || n == "red" {
		valued = " -p "
	}
	if c.short("c") && len(c.argv()) > 1 && c.argv()[1] == "-sc" {
		valued += "-sc "
	}
	open := c.operands(valued)
	word := func(t string) *shell.Arg {
		t = expandHome(t)
		if strings.HasPrefix(t, "~/") && j.w.Home != "" {
			t = j.w.Home + t[1:] // the editor does it
		}
		return &shell.Arg{Value: shell.Value{Text: t}}
	}
	for line := range strings.FieldsFuncSeq(script, func(r rune) bool { return r == '\n' || r == '|' }) {
		line = strings.TrimLeft(line, " \t:%.,$+-0123456789'")
		for _, p := range [...]string{"silent! ", "silent ", "sil! ", "sil ", "call "} {
			line = strings.TrimPrefix(line, p)
		}
		if strings.HasPrefix(line, "delete(") {
			if args, _ := arguments(line, len("delete")); len(args) > 0 {
				j.remove(c, word(args[0]), len(args) > 1 && strings.Contains(args[1], "r"))
			}
			continue
		}
		end := 0
		for end < len(line) && line[end] >= 'a' && line[end] <= 'z' {
			end++
		}
		name, rest := line[:end], strings.TrimPrefix(line[end:], "!")
		if rest != "" && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '>' {
			continue // :s/…/…/, :wincmd and whatever else begins like it
		}
		rest = strings.TrimSpace(rest)
		if strings.HasPrefix(rest, "!") {
			continue // to a program; the shell's reader walks it
		}
		target := []*shell.Arg{word(strings.TrimLeft(rest, "> "))}
		switch name {
		case "e", "edit", "f", "file", "sp", "split", "vs", "tabe", "tabedit", "new":
			if rest != "" {
				open = append(open, target...)
			}
			continue
		case "w", "write", "wq", "sav", "saveas", "up", "update", "x", "xit", "exit", "wa", "wall", "wqa", "wqall", "xa", "xall":
		default:
			continue
		}
		if rest == "" {
			target = open
		}
		for _, a := range target {
			if !strings.HasPrefix(a.Text, "+") {
				j.write(c, a, false)
			}
		}
	}
}

// worldWritable reports whether a mode lets everybody write.
func worldWritable(mode string) bool {
	if m := strings.TrimLeft(mode, "0"); len(m) >= 3 && strings.Trim(m, "01234567") == "" {
		return (m[len(m)-1]-'0')&2 != 0
	}
	for _, part := range strings.Split(mode, ",") {
		who, what, ok := strings.Cut(part, "+")
		if !ok {
			who, what, ok = strings.Cut(part, "=")
		}
		if ok && (strings.ContainsAny(who, "ao")) && strings.Contains(what, "w") {
			return true
		}
	}
	return false
}

// othersRead reports whether a mode lets the group or others read.
func othersRead(mode string) bool {
	if m := strings.TrimLeft(mode, "0"); len(m) >= 3 && strings.Trim(m, "01234567") == "" {
		return (m[len(m)-1]-'0')&4 != 0 || (m[len(m)-2]-'0')&4 != 0
	}
	for part := range strings.SplitSeq(mode, ",") {
		if who, what, ok := strings.Cut(part, "+"); ok && (who == "" || strings.ContainsAny(who, "ago")) && strings.Contains(what, "r") {
			return true
		}
	}
	return false
}

func setsID(mode string) bool {
	m := strings.TrimLeft(mode, "0")
	if len(m) == 4 && strings.Trim(m, "01234567") == "" {
		return (m[0]-'0')&6 != 0
	}
	for part := range strings.SplitSeq(mode, ",") { // u+s, =xs
		if i := strings.IndexAny(part, "+="); i >= 0 && strings.Contains(part[i:], "s") && strings.Trim(part, "ugoa+=rwxXst") == "" {
			return true
		}
	}
	return false
}

func closes(mode string) bool {
	m := strings.TrimLeft(mode, "0")
	return m == "" && mode != "" || mode == "a-rwx" || mode == "-rwx" || mode == "a=" || mode == "-x" || mode == "a-r" || mode == "-r" || mode == "ugo-rwx"
}

func (j *judge) ownership(c *call) {
	args := c.operands(" --from --reference ")
	if len(args) < 2 {
		return
	}
	recursive := c.short("R") || c.has("--recursive")
	for _, a := range args[1:] {
		p := j.locate(a, c.l.Dir)
		switch {
		case c.elsewhere():
		case j.agentFile(p.path):
			j.add(c, AgentConfig, AnyScope, "agent-config", p.text)
		case p.scope >= Home:
			j.add(c, Permission, p.scope, "chown-system", p.text)
		case p.scope == Outside && recursive, p.scope == Unknown && recursive:
			j.add(c, Permission, p.scope, "chown-outside", p.text)
		case strings.HasPrefix(args[0].String(), "root") && recursive:
			j.add(c, Permission, ProjectRoot, "chown-outside", p.text)
		}
	}
}

// inPlace judges editors that change files without being asked again.
func (j *judge) inPlace(c *call, name string) {
	in := false
	for _, t := range c.argv()[1:] {
		if t == "--in-place" || strings.HasPrefix(t, "--in-place=") || t == "--inplace" || t == "inplace" ||
			len(t) > 1 && t[0] == '-' && t[1] != '-' && inPlaceFlag(name, t[1:]) {
			in = true
		}
	}
	if !in {
		return
	}
	args := c.operands(" -e -f --expression --file ")
	if len(args) > 0 && !c.has("-e", "-f", "--expression") && !c.short("e") {
		args = args[1:]
	}
	for _, a := range args {
		j.write(c, a, false)
	}
}

func inPlaceFlag(name, cluster string) bool {
	switch name {
	case "sed", "gsed":
		return strings.HasPrefix(cluster, "i") || strings.HasPrefix(cluster, "Ei") || strings.HasPrefix(cluster, "ri") || strings.HasPrefix(cluster, "ni")
	case "perl", "ruby":
		i := strings.IndexByte(cluster, 'i')
		return i >= 0 && strings.Trim(cluster[:i], "pnlaw0") == ""
	case "awk", "gawk":
		return cluster == "i"
	}
	return false
}

func (j *judge) rsync(c *call) {
	if c.short("n") || c.has("--dry-run", "--list-only") {
		return
	}
	args := c.operands(" -e --rsh --exclude --include --filter --rsync-path --files-from --exclude-from --include-from -f --out-format --log-file --port --bwlimit --partial-dir --temp-dir -T --password-file --chmod --chown ")
	if len(args) < 2 {
		return
	}
	target := args[len(args)-1]
	text := target.String()
	if c.has("--remove-source-files") {
		for _, a := range args[:len(args)-1] {
			if p := j.locate(a, c.l.Dir); p.scope >= Tracked {
				j.add(c, Delete, p.scope, ruleDelete(p.scope), p.text)
			}
		}
	}
	deletes := c.has("--delete", "--delete-before", "--delete-after", "--delete-during", "--delete-excluded", "--del", "--delete-delay")
	if strings.Contains(text, ":") && !drive(text) {
		for _, a := range args[:len(args)-1] {
			if p := j.locate(a, c.l.Dir); p.scope == Home || j.secret(p.path) != notSecret {
				j.add(c, Exfiltrate, AnyScope, "exfiltrate", strings.Join(c.argv(), " "))
			}
		}
		if deletes {
			j.add(c, Delete, Outside, "rsync-delete", text)
		}
		return
	}
	p := j.locate(target, c.l.Dir)
	if j.special(c, p, false) {
		return
	}
	if deletes {
		if p.scope >= ProjectRoot || p.scope == Tracked {
			j.add(c, Delete, p.scope, "rsync-delete", p.text)
		}
	} else if p.scope >= Home && p.path != j.w.Home {
		j.add(c, Overwrite, p.scope, "write-system", p.text)
	}
}

func (j *judge) unpack(c *call, name string) {
	switch name {
	case "tar", "gtar", "bsdtar":
		if c.has("--remove-files") {
			j.packedAway(c, " -f --file -C --directory -X --exclude-from --exclude -T --files-from ")
			if c.opt("-T", "--files-from") != nil {
				j.add(c, Delete, Unknown, "delete-unknown", "--remove-files")
			}
		}
		extract := c.short("x") || c.has("--extract", "--get") || len(c.argv()) > 1 && c.argv()[1] != "" && c.argv()[1][0] != '-' && strings.Contains(c.argv()[1], "x") && !strings.ContainsAny(c.argv()[1], "./")
		if !extract {
			return
		}
		if c.has("--to-stdout") || c.short("O") {
			return
		}
		dir := c.opt("-C", "--directory", "--cd")
		if dir != nil {
			j.fills(c, j.locate(dir, c.l.Dir))
		}
		if c.short("P") || c.has("--absolute-names") || c.argv()[1] != "" && c.argv()[1][0] != '-' && strings.Contains(c.argv()[1], "P") {
			j.add(c, Overwrite, System, "unpack-over-system", "absolute names")
		}
	case "7z", "7za", "7zz", "7zr", "rar":
		if c.has("-sdel", "-df") || name == "rar" && len(c.argv()) > 1 && (c.argv()[1] == "m" || c.argv()[1] == "mf") {
			j.packedAway(c, "")
		}
		for i, t := range c.argv() { // -oDIR, without a blank
			if a := c.l.Argv[i]; len(t) > 2 && strings.HasPrefix(t, "-o") && len(a.Alts) == 0 {
				a.Value = sliceFrom(a.Value, 2)
				j.fills(c, j.locate(&a, c.l.Dir))
			}
		}
	case "unzip":
		if dir := c.opt("-d"); dir != nil {
			j.fills(c, j.locate(dir, c.l.Dir))
		}
	}
}

// packedAway judges what an archiver deletes once it is in the archive. The
// archive itself is among the words and does no harm: it is no folder.
func (j *judge) packedAway(c *call, valued string) {
	for _, a := range c.operands(valued) {
		j.remove(c, a, true)
	}
}

func (j *judge) crontab(c *call) {
	args := c.operands(" -u ")
	switch {
	case c.short("l"):
	case c.short("r"):
		j.add(c, Persistence, AnyScope, "cron", "crontab -r")
	case c.short("e"), len(args) > 0, c.l.Stdin.Kind != shell.InputInherit:
		j.add(c, Persistence, AnyScope, "cron", "crontab")
	}
}

// redirects judges where a leaf's output goes.
func (j *judge) redirects(c *call) {
	for i := range c.l.Redirects {
		r := &c.l.Redirects[i]
		if r.Op == "<" && c.l.Flags&shell.RedirectOnly != 0 {
			j.readPlace(c, j.locate(&r.Target, c.l.Dir)) // "$(<file)"
			continue
		}
		if !r.Writes() || r.Here != nil {
			continue
		}
		if r.Op == ">&" || r.Op == "<&" {
			if t := r.Target.Text; t == "-" || strings.Trim(t, "0123456789") == "" || strings.Trim(t, "0123456789-") == "" {
				continue
			}
		}
		p := j.locate(&r.Target, c.l.Dir)
		if strings.HasPrefix(p.text, "&") {
			continue
		}
		j.writePlace(c, p, !r.Truncates())
	}
}
