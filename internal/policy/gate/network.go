package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// networkPrograms judges programs that talk to others: what they would listen
// for, hand over or open a shell to.
func (j *judge) networkPrograms(c *call, name string) bool {
	argv := c.argv()
	all := strings.Join(argv, " ")
	j.serves(c, name)
	j.ownSocket(c, name)
	switch name {
	case "mshta", "regsvr32", "rundll32", "wscript", "cscript": // Windows' ways to run a script from elsewhere
		if low := strings.ToLower(all); strings.Contains(low, "http:") || strings.Contains(low, "https:") || strings.Contains(low, "javascript:") || strings.Contains(low, "vbscript:") {
			j.add(c, RemoteExec, AnyScope, "download-into-interpreter", all)
		}
	case "nc", "ncat", "netcat", "nc.traditional", "nc.openbsd":
		switch {
		case c.has("-e", "-c", "--exec", "--sh-exec", "--lua-exec"), c.short("e"):
			j.add(c, ReverseShell, AnyScope, "reverse-shell", all)
		case c.short("l") || c.has("--listen"):
			j.add(c, Listen, AnyScope, "listen", all)
		}
		if t := c.l.Stdin.Text; t != nil {
			if low := strings.ToLower(t.Text); strings.Contains(low, "flush_all") || strings.Contains(low, "flushall") || strings.Contains(low, "flushdb") {
				j.add(c, DatabaseDestroy, Mass, "database-flush", all)
			}
		}
	case "socat":
		low := strings.ToLower(all)
		switch {
		case strings.Contains(low, "exec:") || strings.Contains(low, "system:") || strings.Contains(low, "shell:"):
			j.add(c, ReverseShell, AnyScope, "reverse-shell", all)
		case strings.Contains(low, "-listen:") || strings.Contains(low, "listen:"):
			j.add(c, Listen, AnyScope, "listen", all)
		}
	case "openssl":
		if len(argv) > 1 && argv[1] == "s_server" {
			j.add(c, Listen, AnyScope, "listen", all)
		}
	case "ngrok", "cloudflared", "localtunnel", "lt", "bore", "frpc", "chisel", "ligolo", "pagekite", "serveo", "tailscale", "zrok", "telebit":
		if name == "cloudflared" && !c.has("tunnel", "access") && !strings.Contains(all, "tunnel") || name == "tailscale" && !strings.Contains(all, "funnel") && !strings.Contains(all, "serve") ||
			name == "cloudflared" && c.fits("tunnel list|info|login|create|route|token|diag|ready|delete|cleanup", c.operandsFrom(1)) || strings.HasSuffix(all, " version") || strings.Contains(all, " login") || strings.Contains(all, " config check") {
			return true
		}
		j.add(c, Listen, AnyScope, "tunnel", all)
	case "ssh", "autossh":
		for i, t := range argv[1:] { // -R x, -Rx, -fNR x
			if len(t) > 1 && t[0] == '-' && strings.IndexByte(t, 'R') > 0 && strings.Trim(t[:strings.IndexByte(t, 'R')], "-fNnTtqvCAaxXgk46") == "" && strings.Contains(strings.Join(argv[i+1:min(len(argv), i+3)], ""), ":") {
				j.add(c, Listen, AnyScope, "tunnel", all)
				break
			}
			if operandLike(t) && !strings.HasPrefix(t, "-") {
				break
			}
		}
		if o := strings.ToLower(all); strings.Contains(o, "proxycommand=") || strings.Contains(o, "localcommand=") || strings.Contains(o, "permitlocalcommand") {
			for i, t := range argv {
				if k, v, ok := strings.Cut(t, "="); ok && (strings.HasSuffix(strings.ToLower(k), "proxycommand") || strings.HasSuffix(strings.ToLower(k), "localcommand")) && i > 0 {
					j.inner(v, shell.POSIX, c.l.Offset, c.l.End)
					if !strings.HasPrefix(v, "ssh ") && !strings.HasPrefix(v, "nc ") && !strings.HasPrefix(v, "cloudflared ") && !strings.HasPrefix(v, "aws ") && v != "none" {
						j.add(c, EnvHijack, AnyScope, "ssh-proxy-command", all)
					}
				}
			}
		}
	case "ssh-keygen":
		if f := c.opt("-f"); f != nil && c.short("y") {
			if p := j.locate(f, c.l.Dir); j.secret(p.path) == secretKey {
				j.add(c, SecretRead, AnyScope, "secret-read", p.text)
			}
		}
	case "x11vnc", "vncserver", "Xvnc":
		if !c.has("-localhost") {
			j.add(c, Listen, AnyScope, "listen", all)
		}
	case "smbclient", "lftp":
		if a := c.opt("-c", "-e"); a != nil {
			for cmd := range strings.FieldsFuncSeq(a.String(), func(r rune) bool { return r == ';' || r == '\n' }) {
				f := strings.Fields(cmd)
				if len(f) < 2 {
					continue
				}
				switch f[0] {
				case "del", "rm", "deltree", "mrm", "mdelete", "rmdir":
					j.add(c, Delete, Outside, "delete-remote", all)
				case "mirror":
					if contains(f, "--delete") || contains(f, "--delete-first") || contains(f, "-e") {
						j.add(c, Delete, Outside, "delete-remote", all)
					}
				}
			}
		}
	case "ssh-copy-id":
		j.add(c, Persistence, AnyScope, "authorized-keys", all)
	case "msfvenom", "msfconsole", "mimikatz", "hydra", "john", "hashcat", "sqlmap", "responder", "crackmapexec", "evil-winrm", "xmrig", "minerd", "cpuminer", "linpeas", "linpeas.sh", "pspy", "pspy64", "beef-xss", "ettercap", "bettercap", "slowloris", "hping3", "masscan", "arpspoof", "dsniff", "medusa", "ncrack", "aircrack-ng":
		j.add(c, ReverseShell, AnyScope, "attack-tool", all)
	case "scp", "sftp":
		j.scp(c)
	case "curl", "wget", "wget2", "http", "https", "xh", "httpie", "curlie", "aria2c":
		j.fetch(c, name)
	case "dig", "nslookup", "host", "drill", "ping", "whois":
	case "pip", "pip3", "uv", "npm", "pnpm", "yarn", "bun", "gem", "cargo", "go", "poetry", "twine", "flit", "hatch", "pdm", "maturin", "rake", "bundle", "dotnet", "nuget", "mvn", "gradle", "gradlew",
		"lerna", "nx", "changeset", "semantic-release", "release-it", "np", "vsce", "ovsx", "goreleaser", "cpan", "cpanm", "luarocks", "opam", "composer", "pub", "dart", "flutter", "mix", "hex", "cabal", "stack", "conan", "pod", "fastlane", "ko", "skopeo", "crane", "oras", "deno", "jsr", "pipx", "easy_install", "python", "python3", "npx", "bunx", "pnpx", "uvx", "corepack", "rustup", "nvm", "rye", "conda", "mamba":
		j.packages(c, name)
	default:
		return false
	}
	return true
}

// ownSocket judges programs that would talk to lidguard through its socket.
func (j *judge) ownSocket(c *call, name string) {
	switch name {
	case "nc", "ncat", "netcat", "nc.openbsd", "socat", "curl", "websocat":
	default:
		return
	}
	for i := range c.l.Argv[1:] {
		v := c.l.Argv[i+1].Value
		if k := strings.IndexAny(v.Text, ":="); k >= 0 && len(v.Alts) == 0 {
			v = sliceFrom(v, k+1)
		}
		if v.Text == "" || !strings.Contains(v.Text, "/") {
			continue
		}
		if p := j.locateValue(&v, c.l.Dir, false); p.path != "" && j.self(p.path) {
			j.add(c, AgentConfig, AnyScope, "agent-config", p.text)
			return
		}
	}
}

// serves judges a folder that is put on the network: a home folder or the system
// is more than anybody means to show.
func (j *judge) serves(c *call, name string) {
	dir := (*shell.Arg)(nil)
	ops := c.operands(" -p --port -b --bind -m -d --directory -t -S -h -e -r --listen -l -a ")
	switch name {
	case "python", "python3":
		if m := c.opt("-m"); m == nil || m.Text != "http.server" {
			return
		}
		dir = c.opt("-d", "--directory")
	case "php":
		if c.opt("-S") == nil {
			return
		}
		dir = c.opt("-t")
	case "ruby":
		if e := c.opt("-e"); e == nil || e.Text != "httpd" {
			return
		}
		if len(ops) > 0 {
			dir = ops[0]
		}
	case "serve", "http-server", "live-server", "darkhttpd", "miniserve":
		if len(ops) > 0 {
			dir = ops[0]
		}
	case "httpd":
		dir = c.opt("-h")
	case "caddy":
		if len(ops) == 0 || ops[0].Text != "file-server" {
			return
		}
		dir = c.opt("--root", "-r")
	default:
		return
	}
	p := j.here(c)
	if dir != nil {
		p = j.locate(dir, c.l.Dir)
	}
	if p.scope >= Home && !c.elsewhere() {
		j.add(c, Listen, AnyScope, "listen", p.text)
	}
}

// fetch judges curl, wget and friends: addresses, uploads, destructive methods and
// places where the download lands.
func (j *judge) fetch(c *call, name string) {
	argv := c.argv()
	all := strings.Join(argv, " ")
	switch name {
	case "curl", "curlie":
		for _, o := range [...]string{"-o", "--output"} {
			if a := c.opt(o); a != nil && a.Text != "-" {
				j.write(c, a, false)
			}
		}
		j.curlFiles(c)
		if a := c.opt("-b", "--cookie"); a != nil && !strings.Contains(a.Text, "=") {
			j.sends(c, a.String(), all) // a file of cookies
		}
		for i, t := range argv {
			v := ""
			switch {
			case t == "-d" || t == "--data" || t == "--data-binary" || t == "--data-raw" || t == "--data-urlencode" || t == "-F" || t == "--form" || t == "-T" || t == "--upload-file" || t == "--json" || t == "-H" || t == "--header" || t == "-u" || t == "--user" || t == "--data-ascii":
				if i+1 < len(argv) {
					v = argv[i+1]
					if t == "-T" || t == "--upload-file" {
						v = "@" + v
					}
				}
			case strings.HasPrefix(t, "-d") && len(t) > 2, strings.HasPrefix(t, "-F") && len(t) > 2:
				v = t[2:]
			case strings.HasPrefix(t, "-T") && len(t) > 2:
				v = "@" + t[2:]
			case strings.HasPrefix(t, "--data"), strings.HasPrefix(t, "--form="), strings.HasPrefix(t, "--json="):
				_, v, _ = strings.Cut(t, "=")
			case strings.HasPrefix(t, "--upload-file="):
				v = "@" + strings.TrimPrefix(t, "--upload-file=")
			}
			j.httpSQL(c, v)
			if k := strings.IndexByte(v, '@'); k >= 0 && (k == 0 || v[k-1] == '=' || t == "--data-urlencode" && strings.IndexByte(v[:k], '=') < 0) {
				j.sends(c, strings.TrimPrefix(v[k:], "@"), all)
			} else if k := strings.Index(v, "=<"); k >= 0 {
				j.sends(c, v[k+2:], all)
			}
		}
	case "wget", "wget2":
		for _, o := range [...]string{"-O", "--output-document", "-o"} {
			if a := c.opt(o); a != nil && a.Text != "-" {
				j.write(c, a, false)
			}
		}
		if a := c.opt("--post-file", "--body-file"); a != nil {
			j.sends(c, a.String(), all)
		}
	case "http", "https", "xh", "httpie":
		for _, t := range argv[1:] {
			if k := strings.IndexByte(t, '@'); k > 0 && !strings.Contains(t[:k], ":") {
				j.sends(c, t[k+1:], all)
			}
		}
	}
	for _, t := range argv[1:] {
		if _, query, ok := strings.Cut(t, "?"); ok && strings.Contains(t, "/") {
			query, _ = unescaped(strings.ReplaceAll(query, "+", " "))
			for v := range strings.SplitSeq(query, "&") {
				j.httpSQL(c, v)
			}
		}
	}
	if methodIsDelete(argv, name) {
		if host := firstHost(argv); !localHost(host) {
			j.add(c, CloudDestroy, One, "http-delete", all)
		} else if strings.Contains(all, ":9200") || strings.Contains(all, ":9300") || strings.Contains(all, ":5984") || strings.Contains(all, ":6333") || strings.Contains(all, ":7700") || strings.Contains(all, ":8108") || strings.Contains(all, ":8086") || strings.Contains(all, ":8200") || strings.Contains(all, ":4646") || strings.Contains(all, ":8983") || strings.Contains(all, ":8500") {
			j.add(c, DatabaseDestroy, One, "http-delete", all)
		}
	}
	if host := firstHost(argv); !localHost(host) && deletesByName(argv) {
		j.add(c, CloudDestroy, One, "http-delete", all)
	}
	switch low := strings.ToLower(all); {
	case strings.Contains(low, "_delete_by_query"), strings.Contains(low, "/update") && (strings.Contains(low, "<delete>") || strings.Contains(low, `"delete":`)) && strings.Contains(low, "/solr/"):
		j.add(c, DatabaseDestroy, One, "database-delete", all)
	case strings.Contains(low, "destructive_requires_name") && strings.Contains(low, "false"):
		j.add(c, Service, AnyScope, "database-config", all)
	}
}

// httpSQL judges a value that is posted to a database, or asked of it: the statement
// itself, or q= and query= before it.
func (j *judge) httpSQL(c *call, v string) {
	if k := strings.IndexByte(v, '='); k > 0 && (v[:k] == "q" || v[:k] == "query" || v[:k] == "sql") {
		v = v[k+1:]
	}
	first, rest, _ := strings.Cut(v, " ")
	switch strings.ToUpper(first) {
	case "DROP", "TRUNCATE", "DELETE", "ALTER":
		if rest != "" {
			j.sql(v, c.l.Offset, c.l.End)
		}
	}
}

// deletesByName reports whether something is posted to an address that ends in a
// verb of deletion.
func deletesByName(argv []string) bool {
	posts := false
	for _, t := range argv[1:] {
		posts = posts || t == "POST" || t == "PUT" || t == "-XPOST" || t == "-d" || strings.HasPrefix(t, "--data") || t == "--json"
	}
	if !posts {
		return false
	}
	for _, t := range argv[1:] {
		if !strings.HasPrefix(t, "http://") && !strings.HasPrefix(t, "https://") {
			continue
		}
		t, _, _ = strings.Cut(t, "?")
		switch strings.ToLower(t[strings.LastIndexByte(t, '/')+1:]) {
		case "delete", "dodelete", "delete_series", "clean_tombstones", "deleterange", "_close", "poweroff", "purge_cache", "purge", "destroy", "terminate":
			return true
		}
	}
	return false
}

func methodIsDelete(argv []string, name string) bool {
	for i, t := range argv {
		switch {
		case (t == "-X" || t == "--request" || t == "--method") && i+1 < len(argv) && strings.EqualFold(argv[i+1], "DELETE"),
			strings.EqualFold(t, "-XDELETE"), strings.EqualFold(t, "--request=DELETE"), strings.EqualFold(t, "--method=DELETE"),
			name != "curl" && name != "wget" && (t == "DELETE" || i == 1 && strings.EqualFold(t, "DELETE")),
			len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.HasSuffix(t, "X") && i+1 < len(argv) && strings.EqualFold(argv[i+1], "DELETE"):
			return true
		}
	}
	return false
}

func firstHost(argv []string) string {
	for _, t := range argv[1:] {
		if h := hostOf(t); h != "" {
			return h
		}
	}
	return ""
}

func hostOf(t string) string {
	t = strings.Trim(t, `'"`)
	if i := strings.Index(t, "://"); i >= 0 {
		t = t[i+3:]
	} else if !strings.HasPrefix(t, "localhost") && !strings.HasPrefix(t, "127.") && !strings.HasPrefix(t, ":") {
		return ""
	}
	end := strings.IndexAny(t, "/?#")
	if end >= 0 {
		t = t[:end]
	}
	if i := strings.LastIndexByte(t, '@'); i >= 0 {
		t = t[i+1:]
	}
	if i := strings.LastIndexByte(t, ':'); i >= 0 && !strings.HasSuffix(t, "]") {
		t = t[:i]
	}
	return strings.ToLower(t)
}

func localHost(h string) bool {
	return h == "localhost" || strings.HasPrefix(h, "127.") || h == "[::1]" || h == "::1" || h == "0.0.0.0" || h == "" || strings.HasSuffix(h, ".localhost") || h == "host.docker.internal" || strings.HasSuffix(h, ".test")
}

// sends judges a file that is handed to a network program.
func (j *judge) sends(c *call, file, all string) {
	if file == "-" || file == "" {
		return
	}
	if k := strings.IndexByte(file, ';'); k > 0 {
		file = file[:k]
	}
	v := shell.Arg{Value: shell.Value{Text: file}}
	for i := range c.l.Argv { // with its holes, where it is a word of its own
		if c.l.Argv[i].String() == file || strings.HasSuffix(c.l.Argv[i].String(), "@"+file) {
			break
		}
	}
	p := j.locate(&v, c.l.Dir)
	j.handsOver(c, p, all)
}

func (j *judge) handsOver(c *call, p place, all string) {
	if p.path == "" {
		if k := secretPath(j.w.Home, "/"+p.text); k != notSecret {
			j.add(c, Exfiltrate, AnyScope, "exfiltrate", all)
		}
		return
	}
	switch k := j.secret(p.path); {
	case k != notSecret, privateFile(j.w.Home, p.path):
		j.add(c, Exfiltrate, AnyScope, "exfiltrate", all)
	case p.scope == Home, p.scope == System && !strings.HasPrefix(p.path, "/usr/share/"):
		j.add(c, Exfiltrate, AnyScope, "exfiltrate", all)
	}
}

// privateFile tells files that are nobody's business though they hold no key.
func privateFile(home, p string) bool {
	switch p {
	case "/etc/passwd", "/etc/hosts", "/etc/group", "/etc/sudoers", "/etc/fstab", "/etc/resolv.conf", "/etc/hostname":
		return true
	}
	base := path.Base(p)
	if strings.HasSuffix(base, "_history") || base == ".gitconfig" || base == "known_hosts" || base == ".bashrc" || base == ".zshrc" || base == ".viminfo" || base == ".lesshst" {
		return true
	}
	if home != "" && under(p, home) {
		first, _, _ := strings.Cut(strings.TrimPrefix(p[len(home):], "/"), "/")
		switch first {
		case "Documents", "Desktop", "Downloads", "Pictures", "Library", ".config", ".local", ".mozilla", ".thunderbird":
			return true
		}
	}
	return false
}

func (j *judge) scp(c *call) {
	args := c.operands(" -i -P -F -o -c -l -S -J -D ")
	if len(args) < 2 {
		return
	}
	target := args[len(args)-1].String()
	out := strings.Contains(target, ":") && !drive(target)
	if !out {
		j.write(c, args[len(args)-1], true)
		return
	}
	for _, a := range args[:len(args)-1] {
		if strings.Contains(a.String(), ":") {
			continue
		}
		p := j.locate(a, c.l.Dir)
		if j.secret(p.path) != notSecret || p.scope == Home {
			j.add(c, Exfiltrate, AnyScope, "exfiltrate", strings.Join(c.argv(), " "))
		}
	}
}

// flows judges what is piped or substituted into programs that send it away.
func (j *judge) flows() {
	f := j.f
	written := j.secretFiles()
	for i := range f.Leaves {
		l := &f.Leaves[i]
		c := call{j: j, i: i, l: l}
		j.netRedirect(&c)
		if !sender(l) {
			continue
		}
		all := strings.Join(c.argv(), " ")
		secret := false
		visit := func(s shell.Span) {
			for k := s.From; k < s.To && k < len(f.Leaves); k++ {
				if k != i && j.private(k, 0) {
					secret = true
				}
			}
		}
		secret = j.sentByName(&c) || j.sendsVariable(&c) || j.sendsOne(&c, written)
		if l.Stdin.Kind == shell.InputPipe && readsInput(l) {
			visit(l.Stdin.From)
		}
		if l.Stdin.Kind == shell.InputFile && l.Stdin.File != nil && readsInput(l) {
			a := shell.Arg{Value: *l.Stdin.File}
			j.handsOver(&c, j.locate(&a, l.Dir), all)
		}
		for k := range l.Argv {
			for _, v := range l.Argv[k].Each() {
				for _, h := range v.Holes {
					if h.Kind == shell.HoleInput && h.Name != "" {
						a := shell.Arg{Value: shell.Value{Text: h.Name}}
						if p := j.locate(&a, l.Dir); j.secret(p.path) != notSecret || privateFile(j.w.Home, p.path) {
							secret = true
						}
					}
					visit(h.From)
				}
				if h := envSecret(&v); h != "" && l.Argv[k].Quote != shell.Single && (l.Name == "dig" || l.Name == "nslookup" || l.Name == "host" || l.Name == "ping") {
					secret = true
				}
			}
		}
		if secret {
			j.add(&c, Exfiltrate, AnyScope, "exfiltrate", all)
		}
	}
	j.fifoShell()
}

// sentByName reports whether a sender is given a file that holds a secret, as a
// word, in an option, in a script of puts or in an address of socat.
func (j *judge) sentByName(c *call) bool {
	for n := 1; n < len(c.l.Argv); n++ {
		a := c.l.Argv[n]
		if len(a.Alts) > 0 || usesKey(c.l.Name, c.argv()[n-1]) || usesKey(c.l.Name, a.Text) || c.l.Name == "curl" || c.l.Name == "wget" {
			continue // curl and wget are read in full elsewhere
		}
		// --body-file=F, -fF, a=@F, FILE:F
		for _, cut := range [...]int{0, strings.IndexByte(a.Text, '=') + 1, strings.IndexByte(a.Text, '@') + 1, strings.IndexByte(a.Text, ':') + 1} {
			if cut >= len(a.Text) || cut == 0 && strings.HasPrefix(a.Text, "-") {
				continue
			}
			v := a.Value
			if cut > 0 {
				v = sliceFrom(v, cut)
			}
			switch p := j.locateValue(&v, c.l.Dir, false); {
			case j.secret(p.path) == secretKey && !j.inProject(p.path):
				return true
			case j.secret(p.path) == secretLocal && (c.l.Name == "wormhole" || c.l.Name == "magic-wormhole" || c.l.Name == "croc" || c.l.Name == "az" && c.fits("storage", c.operandsFrom(1))):
				return true
			}
		}
		if strings.Contains(a.Text, "put ") {
			if j.putsSecret(c, a.Text) {
				return true
			}
		}
	}
	return c.l.Stdin.Text != nil && j.putsSecret(c, c.l.Stdin.Text.Text)
}

// ownerOf names the hosts a well-known variable's secret is meant for; ok is false
// for other variables. An empty owner is sent to nobody: it signs.
func ownerOf(name string) (hosts []string, ok bool) {
	switch name {
	case "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN":
		return nil, true
	case "GITHUB_TOKEN", "GH_TOKEN":
		return []string{"github", "ghcr.io", "git."}, true
	case "NPM_TOKEN", "NODE_AUTH_TOKEN":
		return []string{"npm", "registry", "github", "gitlab"}, true
	case "ANTHROPIC_API_KEY":
		return []string{"anthropic", "claude"}, true
	case "OPENAI_API_KEY":
		return []string{"openai"}, true
	}
	return nil, false
}

// sendsVariable reports whether a secret that a variable holds is sent to somebody
// it is not meant for: in the address or the body of a request, where it logs in
// nowhere, or as the raw input of a connection.
func (j *judge) sendsVariable(c *call) bool {
	argv := c.argv()
	switch c.l.Name {
	case "curl", "wget", "http", "https", "xh", "httpie":
		host := firstHost(argv)
		for _, t := range argv[1:] { // an address may come without its scheme
			if host == "" && operandLike(t) && strings.Contains(t, ".") {
				host, _, _ = strings.Cut(strings.ToLower(t), "/")
			}
		}
		if localHost(host) {
			return false
		}
		for n := 1; n < len(c.l.Argv); n++ {
			switch argv[n-1] {
			case "-H", "--header", "-u", "--user", "-A", "--aws-sigv4", "-b", "--cookie", "--oauth2-bearer":
				continue
			}
			if strings.HasPrefix(argv[n], "-H") || strings.HasPrefix(argv[n], "--header") || strings.HasPrefix(argv[n], "-u") {
				continue
			}
			for _, v := range c.l.Argv[n].Each() {
				for _, h := range v.Holes {
					hosts, known := ownerOf(h.Name)
					if h.Kind == shell.HoleVar && known && !slices.ContainsFunc(hosts, func(part string) bool { return strings.Contains(host, part) }) {
						return true
					}
				}
			}
		}
	case "nc", "ncat", "netcat", "socat", "telnet":
		for from := range j.f.Feeders(c.i) {
			l := &j.f.Leaves[from]
			if l.Name != "echo" && l.Name != "printf" || localHost(c.l.Arg(1)) {
				continue
			}
			for n := range l.Argv {
				for _, v := range l.Argv[n].Each() {
					if envSecret(&v) != "" {
						return true
					}
				}
			}
		}
	}
	return false
}

// secretFiles are the files into which the command writes the environment, or copies
// a project's own secrets.
func (j *judge) secretFiles() (out []string) {
	for i := range j.f.Leaves {
		if len(out) >= 16 {
			return out
		}
		switch l := &j.f.Leaves[i]; l.Name {
		case "cp", "gcp", "mv", "gmv", "install", "ditto":
			if len(l.Argv) < 3 {
				continue
			}
			to := j.locateValue(&l.Argv[len(l.Argv)-1].Value, l.Dir, false)
			for n := 1; n < len(l.Argv)-1; n++ {
				if from := j.locateValue(&l.Argv[n].Value, l.Dir, false); from.path != "" && to.path != "" && j.secret(from.path) == secretLocal {
					out = append(out, to.path, path.Join(to.path, path.Base(from.path)))
				}
			}
		case "env", "printenv", "export", "set", "declare":
			for _, r := range l.Redirects {
				if at := j.locateValue(&r.Target.Value, l.Dir, false); at.path != "" && len(out) < 16 && j.private(i, 0) {
					out = append(out, at.path)
				}
			}
		}
	}
	return out
}

// sendsOne reports whether a word of a call names one of the files.
func (j *judge) sendsOne(c *call, files []string) bool {
	if len(files) == 0 {
		return false
	}
	if file := c.l.Stdin.File; file != nil && slices.Contains(files, j.locateValue(file, c.l.Dir, false).path) {
		return true
	}
	for n := 1; n < len(c.l.Argv); n++ {
		t := c.l.Argv[n].Text
		v := shell.Value{Text: t[strings.LastIndexAny(t, "@=<")+1:]}
		if p := j.locateValue(&v, c.l.Dir, false); p.path != "" && slices.Contains(files, p.path) {
			return true
		}
	}
	return false
}

// putsSecret looks for a secret among what a script of ftp's or sftp's sends.
func (j *judge) putsSecret(c *call, script string) bool {
	if !strings.Contains(script, "put ") {
		return false
	}
	for line := range strings.FieldsFuncSeq(script, func(r rune) bool { return r == '\n' || r == ';' }) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "put" && f[0] != "mput" && f[0] != "reput" && f[0] != "mirror" {
			continue
		}
		for _, w := range f[1:] {
			v := shell.Value{Text: w}
			if p := j.locateValue(&v, c.l.Dir, false); j.secret(p.path) == secretKey || j.secret(p.path) == secretLocal {
				return true
			}
		}
	}
	return false
}

// usesKey tells options whose file a program signs or logs in with and does not
// send.
func usesKey(name, option string) bool {
	switch option {
	case "-i", "-F", "-I", "-o", "-S", "-E":
		return name == "ssh" || name == "scp" || name == "sftp" || name == "rsync" || name == "openssl"
	}
	option, _, _ = strings.Cut(option, "=")
	switch option {
	case "--key", "--cert", "--cacert", "--private-key", "--identity", "--kubeconfig", "--config", "--netrc-file", "--credential-file", "--password-file", "--cafile", "--pass", "-key", "-cert", "-CAfile", "-oIdentityFile", "IdentityFile":
		return true
	}
	return strings.HasPrefix(option, "-i/") || strings.HasPrefix(option, "-i~")
}

// envSecret names a variable that holds a secret by its name, if v has it as hole.
func envSecret(v *shell.Value) string {
	for _, h := range v.Holes {
		if h.Kind == shell.HoleVar && secretVariable(h.Name) {
			return h.Name
		}
	}
	return ""
}

// SecretVariable reports whether a variable holds a secret, by its name; its value is no
// business of anyone who looks at a command.
func SecretVariable(name string) bool { return secretVariable(name) }

func secretVariable(name string) bool {
	up := strings.ToUpper(name)
	for _, s := range [...]string{"SECRET", "PASSWORD", "PASSWD", "PRIVATE_KEY", "API_KEY", "APIKEY", "ACCESS_KEY", "_TOKEN"} {
		if strings.Contains(up, s) {
			return true
		}
	}
	return up == "TOKEN"
}

// sender tells programs that send what they are given to another machine.
func sender(l *shell.Leaf) bool {
	switch l.Name {
	case "curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "tftp", "lftp", "http", "https", "xh", "httpie", "curlie", "ssh", "mail", "mailx", "sendmail", "mutt", "msmtp", "swaks",
		"dig", "nslookup", "host", "drill", "ping", "websocat", "wscat", "invoke-webrequest", "invoke-restmethod", "send-mailmessage", "resolve-dnsname", "test-netconnection",
		"gcloud", "az", "mc", "b2", "azcopy", "magic-wormhole", "docker", "podman", "kubectl", "oc", "ab", "cupsfilter", "lp", "lpr", "rclone", "s3cmd", "gsutil", "ipfs", "croc", "wormhole", "transfer.sh", "pastebinit", "termbin", "gist", "ntfy", "apprise", "mosquitto_pub", "kcat", "nats", "logger", "aws", "gh", "busybox", "certutil", "bitsadmin", "hurl", "grpcurl", "scp", "sftp", "rsync":
		switch l.Name {
		case "gh":
			return l.Arg(1) == "gist" || l.Arg(1) == "api" || l.Arg(1) == "issue" || l.Arg(1) == "pr" || l.Arg(1) == "release"
		case "docker", "podman", "kubectl", "oc":
			return l.Arg(1) == "cp"
		case "gcloud":
			return l.Arg(1) == "storage" || l.Arg(1) == "compute" && l.Arg(2) == "scp"
		case "az":
			return l.Arg(1) == "storage"
		case "aws":
			return l.Arg(1) == "s3" || l.Arg(1) == "s3api" || l.Arg(1) == "sns" || l.Arg(1) == "sqs"
		case "logger":
			for i := range l.Argv {
				if l.Argv[i].Text == "-n" || l.Argv[i].Text == "--server" {
					return true
				}
			}
			return false
		}
		return true
	case "openssl":
		return l.Arg(1) == "s_client"
	}
	return hasNetPath(l) && (l.Name == "cat" || l.Name == "echo" || l.Name == "printf" || l.Name == "tee" || l.Name == "tar" || l.Name == "bash" || l.Name == "sh" || l.Name == "exec" || l.Name == "base64")
}

// readsInput reports whether a sender sends what comes by its standard input.
func readsInput(l *shell.Leaf) bool {
	switch l.Name {
	case "curl", "curlie":
		for i := range l.Argv {
			if t := l.Argv[i].Text; strings.HasSuffix(t, "@-") || t == "-T" || t == "--upload-file" || t == "-T-" || strings.HasSuffix(t, "=@-") || strings.HasSuffix(t, "@/dev/stdin") || strings.HasSuffix(t, "<-") {
				return true
			}
		}
		return false
	case "wget":
		for i := range l.Argv {
			if strings.Contains(l.Argv[i].Text, "/dev/stdin") || strings.HasSuffix(l.Argv[i].Text, "=-") {
				return true
			}
		}
		return false
	case "dig", "nslookup", "host", "ping":
		return l.Name == "dig" || l.Name == "nslookup"
	}
	return true
}

// private reports whether leaf k gives out something secret: it reads a secret
// itself, prints the environment, or gets it from a leaf that does.
func (j *judge) private(k, depth int) bool {
	if depth > 12 {
		return false
	}
	l := &j.f.Leaves[k]
	c := call{j: j, i: k, l: l}
	switch l.Name {
	case "env", "printenv", "set", "export", "declare", "compgen", "history", "pbpaste", "xclip", "xsel", "wl-paste", "get-clipboard", "mysqldump", "pg_dump", "pg_dumpall", "mongodump", "screencapture", "scrot", "dmesg", "last", "w", "who", "ifconfig", "arp", "netstat", "typeset", "import", "xwd", "gnome-screenshot", "spectacle", "grim":
		if l.Name == "env" && len(l.Argv) > 1 {
			break
		}
		if l.Name == "printenv" && len(l.Argv) > 1 && !secretVariable(l.Arg(1)) {
			break
		}
		if (l.Name == "declare" || l.Name == "export" || l.Name == "typeset") && len(l.Argv) > 1 && l.Argv[1].Text != "-p" && l.Argv[1].Text != "-x" {
			break
		}
		return true
	}
	if secretTool(&c) || strings.Contains(l.Name, "-") && printsEnvironment(&c, l.Name) {
		return true
	}
	for n := 1; n < len(l.Argv); n++ {
		a := &l.Argv[n]
		if t := a.String(); t == "" || t[0] == '-' && !strings.Contains(t, "/") {
			continue
		}
		p := j.locate(a, l.Dir)
		if p.path == "" {
			if k := secretPath(j.w.Home, "/"+strings.TrimPrefix(p.text, "/")); k != notSecret && !strings.ContainsAny(p.text, " ;") {
				return true
			}
			continue
		}
		if contentReader(l.Name) && (j.secret(p.path) != notSecret || privateFile(j.w.Home, p.path)) {
			return true
		}
		if (l.Name == "tar" || l.Name == "zip" || l.Name == "7z" || l.Name == "gtar") && (p.scope == Home || j.secret(p.path) != notSecret || p.scope == System) && p.path != "" {
			return true
		}
	}
	if l.Stdin.Kind == shell.InputFile && l.Stdin.File != nil {
		a := shell.Arg{Value: *l.Stdin.File}
		if p := j.locate(&a, l.Dir); j.secret(p.path) != notSecret || privateFile(j.w.Home, p.path) {
			return true
		}
	}
	if l.Stdin.Kind == shell.InputPipe {
		for from := range j.f.Feeders(k) {
			if from != k && j.private(from, depth+1) {
				return true
			}
		}
	}
	for n := range l.Argv {
		for _, v := range l.Argv[n].Each() {
			for _, h := range v.Holes {
				for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
					if from != k && j.private(from, depth+1) {
						return true
					}
				}
			}
		}
	}
	return false
}

// netRedirect judges bash's /dev/tcp.
func (j *judge) netRedirect(c *call) {
	for i := range c.l.Redirects {
		r := &c.l.Redirects[i]
		if !netPath(r.Target.Text) {
			continue
		}
		target := r.Op + r.Target.Text
		switch c.l.Name {
		case "bash", "sh", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "exec", "":
			if c.l.Name == "exec" || c.l.Name == "" {
				host, _, _ := strings.Cut(r.Target.Text[len("/dev/tcp/"):], "/")
				if r.Op == "<" || localHost(host) {
					continue // a port of this machine is asked something
				}
			}
			j.add(c, ReverseShell, AnyScope, "reverse-shell", target)
		case "cat":
			if r.Writes() && len(c.l.Argv) == 1 {
				j.add(c, ReverseShell, AnyScope, "reverse-shell", target)
			}
		default:
			if strings.Contains(r.Op, ">") && (c.l.Name == "echo" || c.l.Name == "printf" || c.l.Name == ":" || c.l.Name == "true") {
				continue // asks whether a port is open
			}
		}
	}
}

// fifoShell finds a shell that is fed by a network program and feeds it in turn.
func (j *judge) fifoShell() {
	f := j.f
	for i := range f.Leaves {
		l := &f.Leaves[i]
		switch l.Name {
		case "nc", "ncat", "netcat", "telnet", "openssl", "socat":
			for from := range f.Feeders(i) {
				switch f.Leaves[from].Name {
				case "sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh":
					c := call{j: j, i: i, l: l}
					j.add(&c, ReverseShell, AnyScope, "reverse-shell", strings.Join(c.argv(), " "))
				}
			}
		}
	}
}

// secrecy is how secret a file is.
type secrecy uint8

const (
	notSecret   secrecy = iota
	secretLocal         // a project's own secrets: .env
	secretCert          // may be a key or a public certificate
	secretKey           // keys and credential stores
)

// secret tells what a path holds, by its name or that of what it leads to.
func (j *judge) secret(p string) secrecy {
	s := secretPath(j.w.Home, p)
	if s == notSecret {
		if real := j.w.real(p); real != "" {
			s = secretPath(j.w.Home, real)
		}
	}
	return s
}

// secretPath tells by its name what an absolute path holds.
func secretPath(home, p string) secrecy {
	if p == "" {
		return notSecret
	}
	low := strings.ToLower(p)
	base := path.Base(low)
	switch p {
	case "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/master.passwd", "/etc/security/opasswd", "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/kubernetes.io/serviceaccount/token", "/etc/krb5.keytab", "/etc/shadow-", "/etc/kubernetes/admin.conf", "/dev/mem", "/dev/kmem", "/proc/kcore":
		return secretKey
	}
	if strings.HasPrefix(p, "/proc/") && (base == "environ" || base == "mem") || strings.HasPrefix(p, "/run/secrets/") || strings.HasPrefix(p, "/etc/ssh/ssh_host_") && !strings.HasSuffix(p, ".pub") || strings.HasPrefix(p, "/etc/ssl/private/") || strings.HasPrefix(p, "/etc/letsencrypt/live/") && strings.Contains(base, "priv") {
		return secretKey
	}
	for _, dir := range [...]string{"/.gnupg/", "/.password-store/", "/.aws/credentials", "/.aws/sso/", "/.aws/cli/cache", "/.azure/", "/.config/gcloud/", "/.kube/config", "/.kube/cache/oidc", "/.docker/config.json", "/.config/gh/hosts.yml", "/.config/glab-cli/config.yml", "/.local/share/com.vercel.cli/auth.json", "/.config/hub", "/.netrc", "/_netrc", "/.pgpass", "/.my.cnf", "/.mylogin.cnf",
		"/.npmrc", "/.pypirc", "/.git-credentials", "/.config/git/credentials", "/.gem/credentials", "/.cargo/credentials", "/.terraform.d/credentials", "/.terraformrc", "/.vault-token", "/.config/op/", "/.config/rclone/rclone.conf", "/.s3cfg", "/.boto", "/.oci/config", "/.config/doctl/", "/.fly/config.yml", "/.config/heroku", "/.heroku/", "/.config/vercel/auth", "/.local/share/keyrings/", "/library/keychains/", "/library/messages/", "/library/safari/", "/.config/google-chrome/", "/.mozilla/firefox/", "/library/application support/google/chrome/", "/library/application support/firefox/", "/library/cookies/", "/.codex/auth.json", "/.claude/.credentials.json", "/.local/share/opencode/auth.json", "/.config/github-copilot/", "/.electrum/", "/.bitcoin/wallet", "/.ethereum/keystore", "/.config/solana/", "/wallet.dat", "/.databrickscfg", "/.snowflake/", "/.config/containers/auth.json", "/.composer/auth.json", "/.m2/settings.xml", "/.m2/settings-security.xml", "/.gradle/gradle.properties", "/.nuget/nuget.config", "/appdata/roaming/microsoft/credentials", "/appdata/local/microsoft/credentials", "/appdata/roaming/microsoft/protect", "/appdata/roaming/gcloud/", "/appdata/roaming/gnupg/", "/appdata/roaming/nuget/nuget.config", "/appdata/local/microsoft/edge/user data/", "/appdata/roaming/mozilla/firefox/", "/appdata/roaming/github cli/hosts.yml", "/system32/config/sam", "/system32/config/security", "/appdata/local/google/chrome/", "/.config/keybase/", "/.subversion/auth/", "/.config/sops/age/keys.txt", "/.age/", "/.ansible/vault", "/.config/hcloud/", "/.config/stripe/", "/.config/ngrok/ngrok.yml", "/.ngrok2/", "/.cloudflared/", "/.wrangler/config", "/.config/.wrangler/", "/.linode-cli", "/.config/linode-cli", "/.ibmcloud/", "/.config/netlify/config.json", "/.supabase/access-token", "/.railway/config.json", "/.config/turso/settings.json", "/.twilio-cli/config.json", "/.sentryclirc", "/.circleci/cli.yml", "/.bundle/config"} {
		if i := strings.Index(low, dir); i >= 0 {
			if (dir == "/.npmrc" || dir == "/_netrc") && home != "" && !under(p, home) {
				continue
			}
			if dir == "/.npmrc" && home != "" && path.Dir(p) != home {
				continue // a project's own, which is checked in
			}
			if rest := low[i+len(dir):]; strings.HasSuffix(dir, "/") || rest == "" || rest[0] == '/' || rest[0] == '.' || strings.HasSuffix(dir, "hub") && rest == "" || strings.HasSuffix(dir, "heroku") || dir == "/.aws/cli/cache" || dir == "/.vault-token" {
				if strings.HasSuffix(low, ".pub") || strings.HasSuffix(low, ".crt") {
					return notSecret
				}
				return secretKey
			}
		}
	}
	if strings.HasSuffix(low, "/library/keychains") || strings.HasSuffix(low, "/library/cookies") || strings.HasSuffix(low, "/.gnupg") || strings.HasSuffix(low, "/.password-store") || strings.HasSuffix(low, "/.ssh") || strings.HasSuffix(low, "/.aws") && home != "" && path.Dir(p) == home {
		return secretKey
	}
	if strings.Contains(low, "/.ssh/") {
		switch {
		case strings.HasSuffix(base, ".pub"), base == "known_hosts", base == "config", strings.HasPrefix(base, "known_hosts"), base == "authorized_keys", base == "allowed_signers":
			return notSecret
		}
		return secretKey
	}
	switch base {
	case "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "id_ecdsa_sk", "id_ed25519_sk", ".netrc", ".pgpass", "credentials.json", "service-account.json", "serviceaccount.json", "service_account.json", "secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "master.key", "private.key", "privkey.pem", "private.pem", "private_key.pem", "server.key", "ca.key", "key.pem", "client_secret.json", "firebase-adminsdk.json", "gcp-key.json", "keystore.jks", "vault_pass.txt", ".vault_pass", ".vault-pass", "kubeconfig", ".htpasswd", "wallet.dat", "ntds.dit", ".git-credentials", "shadow":
		if base == "shadow" {
			if path.Dir(p) != "/etc" {
				return notSecret
			}
		}
		return secretKey
	}
	if strings.HasSuffix(base, ".tfstate") || strings.HasSuffix(base, ".tfvars") && strings.Contains(base, "secret") {
		return secretLocal
	}
	if base == ".env" || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env") && base != ".env" || base == ".envrc" || base == ".dev.vars" {
		for _, s := range [...]string{"example", "sample", "template", "dist", "defaults", "schema", "test", "ci", "md", "d.ts", "ts", "js", "go", "py"} {
			if strings.HasSuffix(base, "."+s) || strings.HasSuffix(base, "."+s+".env") || base == s+".env" {
				return notSecret
			}
		}
		if base == ".envrc" {
			return notSecret
		}
		return secretLocal
	}
	switch path.Ext(base) {
	case ".pem":
		for _, s := range [...]string{"cert", "ca", "pub", "chain", "bundle", "root"} {
			if strings.Contains(base, s) && !strings.Contains(base, "key") {
				return notSecret
			}
		}
		return secretKey
	case ".key":
		if strings.Contains(base, "pub") {
			return notSecret
		}
		return secretKey
	case ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".gpg-key", ".asc-key", ".keytab":
		return secretKey
	}
	return notSecret
}

// contentReader tells programs that give out what is in a file.
func contentReader(name string) bool {
	switch name {
	case "cat", "gcat", "bat", "batcat", "tac", "head", "ghead", "tail", "gtail", "less", "more", "most", "nl", "grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "zgrep", "sed", "gsed", "awk", "gawk", "mawk", "cut", "sort", "uniq", "tr", "rev", "fold", "fmt", "pr", "column", "paste", "join", "comm",
		"base64", "base32", "basenc", "xxd", "hexdump", "hd", "od", "strings", "dd", "gdd", "jq", "yq", "gojq", "xmllint", "openssl", "gpg", "diff", "sdiff", "colordiff", "cmp", "vimdiff", "delta", "cp", "gcp", "rsync", "scp", "tar", "gtar", "zip", "7z", "gzip", "bzip2", "xz", "zstd", "mv", "ln", "install", "tee", "split", "csplit",
		"view", "vim", "vi", "nano", "emacs", "ed", "ex", "nvim", "pico", "python", "python3", "node", "perl", "ruby", "php", "pygmentize", "highlight", "glow", "mdcat", "fzf", "iconv", "dos2unix", "expand", "unexpand", "shuf", "look", "mapfile", "readarray", "read", "source-highlight", "curl", "wget", "nc", "pbcopy", "xclip", "wl-copy", "clip", "qrencode", "lp", "lpr", "enscript", "mail", "mutt",
		"copy", "xcopy", "robocopy", "get-content", "select-string", "format-hex", "copy-item", "compress-archive", "type", "findstr", "certutil", "set-clipboard", "import-csv", "convertfrom-json", "[system.io.file]::readalltext", "more.com", "busybox", "keytool", "age", "sops", "ansible-vault", "plutil", "sqlite3", "strace", "xargs", "while", "printf", "echo", "source", ".":
		return true
	}
	return false
}

// reads judges what a leaf would give out of secret files.
func (j *judge) reads(c *call, name string) {
	l := c.l
	if secretTool(c) {
		j.add(c, SecretRead, AnyScope, "secret-tool", strings.Join(c.argv(), " "))
		return
	}
	if (name == "echo" || name == "printf" || name == "write-output" || name == "write-host") && l.Stdout.Kind == shell.OutputInherit {
		for i := range l.Argv {
			if v := envSecret(&l.Argv[i].Value); v != "" && (name[0] != 'w' || v != strings.ToLower(v)) {
				j.add(c, SecretRead, Private, "env-read", "$"+v)
			}
		}
	}
	for i := range l.Redirects {
		r := &l.Redirects[i]
		if r.Op != "<" && r.Op != "<>" {
			continue
		}
		p := j.locate(&r.Target, l.Dir)
		j.readPlace(c, p)
	}
	if contentReader(name) && strings.Contains(name, "-") {
		j.readsListed(c)
	}
	if len(l.Argv) < 2 {
		return
	}
	j.readsByOption(c, name)
	if !contentReader(name) && !handlesKeys(name) {
		j.readsKeys(c)
	}
	if !contentReader(name) || name == "echo" || name == "printf" {
		return
	}
	switch name {
	case "sed", "gsed":
		if c.short("i") || c.has("--in-place") {
			return // changes it and prints nothing
		}
	case "openssl":
		switch l.Arg(1) {
		case "rsa", "pkey", "ec", "pkcs12", "enc", "base64":
			if c.has("-pubout", "-pubin", "-nokeys") {
				return
			}
		default:
			return // x509, req, s_client and others use a key and do not print it
		}
	case "gpg":
		if !c.has("--armor", "--export", "-d", "--decrypt", "-c", "--symmetric", "-e", "--encrypt") {
			return
		}
	case "curl", "wget":
		return // judged by what they send
	case "scp", "rsync":
		if !strings.Contains(strings.Join(c.argv(), " "), ":") {
			break
		}
	case "grep", "egrep", "rg", "fgrep":
		if c.short("qclL") || c.has("--quiet", "--count", "--files-with-matches", "--silent") {
			return
		}
	case "keytool":
		if !c.has("-importkeystore") {
			return // keys stay in their store
		}
	case "node", "python", "python3", "ruby", "php", "perl":
		if m := c.opt("-m"); m != nil && strings.HasPrefix(name, "python") && (m.Text == "base64" || m.Text == "json.tool") {
			break // programs in a module, which print their operand
		}
		if !c.short("pn") || name == "node" || strings.HasPrefix(name, "python") {
			return // a file named there is run, not printed
		}
	}
	ops := c.operands(readerValued(name))
	switch name {
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq", "gojq", "select-string", "findstr", "tr":
		if len(ops) > 0 && !c.has("-e", "-f", "--regexp", "--file") && name != "select-string" {
			ops = ops[1:]
		}
	case "copy-item":
		// Its last operand is where to, unless that is named.
		ops = c.psOperands()
		if p := c.psParam("path", "literalpath"); p != nil {
			ops = []*shell.Arg{p}
		}
		if to := c.psParam("destination"); to != nil {
			ops = append(ops, to)
		}
		if len(ops) > 1 {
			ops = j.copies(c, ops)
		}
	case "copy", "xcopy", "robocopy":
		ops = slices.DeleteFunc(ops, func(a *shell.Arg) bool { return strings.HasPrefix(a.Text, "/") && strings.Count(a.Text, "/") == 1 })
		if len(ops) > 1 {
			ops = j.copies(c, ops)
		}
	case "cp", "mv", "gcp", "ln", "install":
		if len(ops) > 1 {
			ops = j.copies(c, ops)
		}
	case "tee":
		return
	case "tar", "gtar", "zip":
		if c.short("xt") || len(l.Argv) > 1 && name != "zip" && strings.ContainsAny(l.Arg(1), "xt") && !strings.ContainsAny(l.Arg(1), "/.") {
			return
		}
		if name == "zip" && len(ops) > 0 {
			ops = ops[1:]
		}
	case "dd", "gdd":
		for i, t := range c.argv() {
			if v, ok := strings.CutPrefix(t, "if="); ok {
				a := l.Argv[i]
				if len(a.Alts) == 0 && len(a.Text) >= 3 {
					a.Value = sliceFrom(a.Value, 3)
				}
				_ = v
				j.readPlace(c, j.locate(&a, l.Dir))
			}
		}
		return
	case "vim", "vi", "nano", "nvim", "emacs", "view", "pico":
		if name != "view" && !c.short("e") {
			return // shows it to a person
		}
	case "source", ".":
		// What is no command is shown in an error; local secrets are made for it.
		if len(ops) > 0 && j.secret(j.locate(ops[0], l.Dir).path) != secretLocal {
			j.readPlace(c, j.locate(ops[0], l.Dir))
		}
		return
	}
	for _, a := range ops {
		if len(a.Holes) > 0 || len(a.Alts) > 0 {
			found, known := j.foundSecrets(c, a)
			for _, p := range found {
				j.readPlace(c, p)
			}
			if known {
				continue // by what it looks for, and not by where
			}
		}
		for _, p := range j.readPlaces(a, l.Dir) {
			j.readPlace(c, p)
		}
	}
}

// copies leaves the sources of a copy that takes a secret to where it is less
// well kept; keeping a copy beside the original gives nothing away.
func (j *judge) copies(c *call, ops []*shell.Arg) []*shell.Arg {
	target := j.locate(ops[len(ops)-1], c.l.Dir)
	var out []*shell.Arg
	for _, a := range ops[:len(ops)-1] {
		p := j.locate(a, c.l.Dir)
		if j.secret(p.path) == secretLocal && (target.scope <= ProjectRoot || path.Dir(target.path) == path.Dir(p.path)) {
			continue
		}
		if p.path == target.path || path.Dir(p.path) == path.Dir(target.path) && !j.folder(target) {
			continue
		}
		out = append(out, a)
	}
	return out
}

// folder reports whether a place is known to be a folder.
func (j *judge) folder(p place) bool {
	return p.path == j.w.project() || p.path == j.w.Dir || strings.HasSuffix(p.text, "/") || j.w.Kind != nil && j.w.Kind(p.path) == KindDir
}

// handlesKeys tells programs whose words may name a key without giving out what is
// in it: those that log in or sign with it, that tell about files, or that show
// it to a person.
func handlesKeys(name string) bool {
	switch name {
	case "ssh", "ssh-add", "ssh-keygen", "ssh-copy-id", "ssh-keyscan", "autossh", "mosh", "sshfs", "scp", "sftp", "age-keygen", "ssh-audit", "puttygen",
		"ls", "gls", "eza", "exa", "lsd", "stat", "gstat", "file", "test", "[", "du", "tree", "find", "fd", "realpath", "readlink", "basename", "dirname", "md5sum", "sha1sum", "sha256sum", "shasum", "md5", "cksum", "getfacl", "lsattr", "namei", "lsof", "fuser", "wc",
		"rm", "unlink", "shred", "mkdir", "rmdir", "touch", "chmod", "chown", "chgrp", "chattr", "setfacl", "chflags", "xattr", "restorecon", "cd", "pushd", "trash",
		"code", "cursor", "subl", "open", "xdg-open", "start", "git", "gh", "docker", "podman", "kubectl", "helm", "ansible", "ansible-playbook", "terraform", "vagrant", "inotifywait", "fswatch", "watchexec", "export", "set", "alias", "eval", "type", "which", "keychain", "nginx", "certbot", "mkcert", "step", "security", "restic", "borg", "stow", "chezmoi", "yadm":
		return true
	}
	return talker(name)
}

// readsKeys judges a program of which nothing is known and that is given a key or
// a credential store from its place: what it does with it, it reads it.
func (j *judge) readsKeys(c *call) {
	if c.l.Runs.To > c.l.Runs.From || c.elsewhere() || j.f.Dialect == shell.PowerShell || j.f.Dialect == shell.Cmd {
		return
	}
	argv := c.argv()
	for n := 1; n < len(argv); n++ {
		a := c.l.Argv[n]
		switch {
		case len(a.Alts) > 0 || a.Text == "" || usesKey(c.l.Name, argv[n-1]) || keyOption(argv[n-1]):
			continue
		case a.Text[0] == '@':
			a.Value = sliceFrom(a.Value, 1)
		case a.Text[0] == '-':
			key, _, ok := strings.Cut(a.Text, "=")
			if !ok || keyOption(key) {
				continue
			}
			a.Value = sliceFrom(a.Value, len(key)+1)
		}
		if p := j.locate(&a, c.l.Dir); p.path != "" && !j.inProject(p.path) && (j.w.Home != "" && under(p.path, j.w.Home) || strings.HasPrefix(p.path, "/etc/")) && j.secret(p.path) == secretKey {
			j.add(c, SecretRead, AnyScope, "secret-read", p.text)
			return
		}
	}
}

// keyOption tells an option whose value is a key to use, by its name.
func keyOption(t string) bool {
	if len(t) < 2 || t[0] != '-' {
		return false
	}
	switch t {
	case "-i", "-k", "-K", "-I":
		return true
	}
	return containsAny(t, "key", "ident", "cert", "cred", "auth", "token", "pass", "secret", "config", "netrc", "store", "wallet")
}

// readsByOption judges files that an option or a word of its own names, whose
// lines come out again: as what was matched, in errors, or in the answer.
func (j *judge) readsByOption(c *call, name string) {
	names := ""
	switch name {
	case "grep", "egrep", "fgrep", "rg", "date", "file":
		names = "-f --file --files-from"
	case "wc", "du", "sort":
		names = "--files0-from"
	case "xargs":
		names = "-a --arg-file"
	case "jq", "gojq", "jaq":
		names = "-f --from-file --rawfile --slurpfile"
	case "curl":
		names = "-K --config"
		for _, a := range c.operands("") {
			if i := strings.Index(a.Text, "file://"); i == 0 && len(a.Alts) == 0 {
				f := *a
				f.Value = sliceFrom(a.Value, len("file://"))
				j.readPlace(c, j.locate(&f, c.l.Dir))
			}
		}
	case "wget":
		names = "-i --input-file"
	case "gcc", "g++", "cc", "clang", "cpp", "m4", "pandoc":
		for _, a := range c.operands(" -o -I -D -L -l ") {
			f := *a
			if strings.HasPrefix(a.Text, "@") && len(a.Alts) == 0 {
				f.Value = sliceFrom(a.Value, 1)
			}
			j.readPlace(c, j.locate(&f, c.l.Dir))
		}
	case "git":
		j.gitReads(c)
	}
	if names == "" {
		return
	}
	if a := c.opt(strings.Fields(names)...); a != nil {
		j.readPlace(c, j.locate(a, c.l.Dir))
	}
}

// gitReads judges git as a reader of files, on the disk and in old commits.
func (j *judge) gitReads(c *call) {
	sub, rest := c.git()
	words, _ := pathWords(rest)
	switch sub {
	case "diff", "blame", "annotate", "hash-object", "add", "stage", "apply":
	case "grep":
		words = words[min(1, len(words)):]
	case "log", "whatchanged":
		if !flag(rest, "puL", "--patch") {
			return
		}
	case "show", "cat-file":
		for i, w := range words {
			if _, file, ok := strings.Cut(w, ":"); ok {
				words[i] = file
			}
		}
	case "config":
		words = nil
		if f := c.opt("-f", "--file"); f != nil {
			words = []string{f.Text}
		}
	default:
		return
	}
	for _, w := range words {
		a := shell.Arg{Value: shell.Value{Text: w}}
		p := j.locate(&a, c.l.Dir)
		if sub == "add" && j.inProject(p.path) {
			continue // adding is no reading, but what is outside would be taken in
		}
		j.readPlace(c, p)
	}
}

func readerValued(name string) string {
	switch name {
	case "head", "tail", "ghead", "gtail":
		return " -n -c --lines --bytes "
	case "grep", "egrep", "fgrep":
		return " -A -B -C -m -e -f --include --exclude --exclude-dir --max-count --color "
	case "rg":
		return " -A -B -C -m -e -f -g --glob -t --type -T --max-count -r "
	case "cut":
		return " -d -f -c -b "
	case "sort":
		return " -k -t -o -S -T "
	case "base64", "gbase64":
		return " -w --wrap "
	case "awk", "gawk", "mawk":
		return " -F -v -f "
	case "sed", "gsed":
		return " -e -f -l "
	case "jq", "gojq", "yq":
		return " --arg --argjson --indent -f --from-file "
	case "xxd":
		return " -l -s -c -g "
	case "od", "hexdump":
		return " -N -n -j -s -t -A -e "
	case "strings":
		return " -n -e -t "
	case "bat":
		return " -l --language -r --line-range --style --theme "
	case "rsync", "scp":
		return " -e -i -P -F -o --exclude --include "
	case "openssl":
		return " -out -outform -inform -passin -passout -CAfile -days "
	}
	return ""
}

// readPlaces is where a word of a reader may point to: the word, and what a glob
// would take in.
func (j *judge) readPlaces(a *shell.Arg, dir shell.Value) []place {
	p := j.locate(a, dir)
	if len(a.Holes) > 0 && p.path == "" {
		// "$HOME/.ssh/id_rsa" with an unknown home is still what it says.
		if i := strings.Index(a.Text, "/"); i >= 0 && strings.HasPrefix(a.Text[i:], "/.") {
			p.path = "/unknown" + a.Text[i:]
		}
	}
	out := []place{p}
	for _, name := range wellKnown {
		// A folder that holds one, for those that read all of a folder.
		if p.path != "" && !a.Glob && p.path != j.w.Home && p.path == j.w.Home+path.Dir(name) {
			out = append(out, place{path: j.w.Home + name, text: p.text, scope: p.scope})
			break
		}
	}
	if a.Glob && p.path != "" {
		name := a.Text
		if j.windowsText() {
			name = strings.ReplaceAll(name, `\`, "/")
		}
		at, ok := j.w.abs(name, exactOr(dir))
		if ok && !wholeGlob(path.Base(at)) {
			out[0].path = strings.NewReplacer("*", "x", "?", "x").Replace(at) // one that fits
		}
		for _, name := range wellKnown {
			if full := j.w.Home + name; ok && j.w.Home != "" && globFits(at, full) {
				out = append(out, place{path: full, text: a.Text, scope: Home})
			}
		}
		if ok && globFits(at, "/etc/shadow") {
			out = append(out, place{path: "/etc/shadow", text: a.Text, scope: System})
		}
		// A bare * in a project is day work.
		if base := path.Base(a.Text); ok && base != "*" && globStart(path.Dir(a.Text)) < 0 {
			for _, name := range usualSecrets {
				if globFits(base, name) {
					out = append(out, place{path: path.Dir(at) + "/" + name, text: a.Text, scope: p.scope})
				}
			}
		}
	}
	return out
}

// usualSecrets are names of secrets wherever they stand, for words that are patterns.
var usualSecrets = [...]string{".env", "key.pem", "server.key", "credentials", "id_rsa", "id_ed25519"}

// wellKnown are places of keys and credentials in a home folder, for words that
// are patterns.
var wellKnown = [...]string{"/.ssh/id_rsa", "/.ssh/id_ed25519", "/.aws/credentials", "/.netrc", "/.npmrc", "/.pypirc", "/.git-credentials", "/.pgpass", "/.my.cnf",
	"/.docker/config.json", "/.kube/config", "/.gnupg/secring.gpg", "/.config/gh/hosts.yml", "/.cargo/credentials.toml", "/.vault-token"}

// globFits reports whether the shell would take a path in by a pattern. Hidden
// names need their dot.
func globFits(pattern, p string) bool {
	for pattern != "" || p != "" {
		var want, part string
		want, pattern, _ = strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
		part, p, _ = strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if strings.HasPrefix(part, ".") && !strings.HasPrefix(want, ".") {
			return false
		}
		if ok, err := path.Match(want, part); err != nil || !ok {
			return false
		}
	}
	return true
}

// foundSecrets are the secrets that a search hands to a reader: find -exec,
// find | xargs, cat $(find …). What is known are the names it looks for.
func (j *judge) foundSecrets(c *call, a *shell.Arg) (out []place, known bool) {
	look := func(i int) {
		l := &j.f.Leaves[i]
		s := call{j: j, i: i, l: l}
		var q query
		switch l.Name {
		case "find", "gfind", "bfs":
			q = j.findQuery(&s)
		case "fd", "fdfind":
			q = j.fdQuery(&s)
		case "locate", "plocate", "mdfind", "ls":
			for _, op := range s.operands("") {
				q.paths = append(q.paths, op.Text)
			}
		default:
			return
		}
		root := j.w.Home
		if len(q.roots) > 0 && q.roots[0].path != "" {
			root = q.roots[0].path
		}
		known = true
		if len(q.names)+len(q.paths) == 0 {
			if j.secret(root) != notSecret {
				out = append(out, place{path: root, text: root, scope: Unknown})
			}
			return
		}
		for _, name := range append(q.names, q.paths...) {
			if len(out) > 8 {
				return
			}
			at := name
			if !strings.HasPrefix(name, "/") {
				at = root + "/" + strings.TrimPrefix(name, "*/")
			}
			if at = strings.ReplaceAll(at, "*", "x"); j.secret(at) != notSecret {
				out = append(out, place{path: at, text: name, scope: Unknown})
				continue
			}
			// id_* below a home folder takes ~/.ssh/id_rsa in.
			for _, w := range wellKnown {
				fits, err := path.Match(name, path.Base(w))
				if err == nil && fits && name[0] != '*' && j.w.Home != "" && under(j.w.Home, root) && path.Base(w) != "config.json" {
					out = append(out, place{path: j.w.Home + w, text: name, scope: Unknown})
					break
				}
			}
		}
	}
	for k := len(c.l.Via) - 1; k >= 0; k-- {
		if v := &c.l.Via[k]; v.Name != "find" && v.Name != "fd" {
			continue
		}
		for i := c.i - 1; i >= 0; i-- {
			if l := &j.f.Leaves[i]; l.Runs.Contains(c.i) && searches(l.Name) {
				look(i)
				return out, known
			}
		}
	}
	for _, v := range a.Each() {
		for _, h := range v.Holes {
			for i := h.From.From; i < h.From.To && i < len(j.f.Leaves); i++ {
				look(i)
			}
		}
	}
	return out, known
}

func exactOr(v shell.Value) string {
	s, _ := v.Exact()
	return s
}

func (j *judge) readPlace(c *call, p place) {
	if c.elsewhere() {
		if host, _ := j.mounted(c, p); host.path != "" {
			p.path = host.path
		}
	}
	at := p.path
	if at == "" && strings.Contains(p.text, "/") {
		at = p.text
	}
	if p.scope == Unknown && at == "" {
		at = "/" + p.text
	}
	if at != "" && at[0] != '/' && !drive(at) {
		at = "/" + at
	}
	j.readPath(c, at, p.text)
}

func (j *judge) readPath(c *call, at, text string) {
	switch j.secret(at) {
	case secretKey, secretCert:
		j.add(c, SecretRead, AnyScope, "secret-read", text)
	case secretLocal:
		if !namesOnly(c) {
			j.add(c, SecretRead, Private, "env-read", text)
		}
	}
}

// namesOnly reports whether a filter prints what stands before the = of its lines,
// the names of variables, and nothing else.
func namesOnly(c *call) bool {
	ops := c.operands(readerValued(c.name()))
	if c.has("-f", "--file", "-i", "--in-place", "-n") || c.opt("-e", "--expression", "--regexp") != nil {
		return false
	}
	script := ""
	if len(ops) > 0 {
		script, _ = ops[0].Exact()
	}
	switch c.name() {
	case "cut":
		all := " " + strings.Join(c.argv()[1:], " ")
		return (strings.Contains(all, " -f1 ") || strings.Contains(all, " -f 1 ")) && (strings.Contains(all, " -d= ") || strings.Contains(all, " -d = ")) && !strings.Contains(all, "--") && strings.Count(all, " -") == 2
	case "awk", "gawk", "mawk":
		return (c.has("-F=") || c.opt("-F") != nil && c.opt("-F").Text == "=") && strings.ReplaceAll(script, " ", "") == "{print$1}"
	case "sed", "gsed":
		return script == "s/=.*//" || script == "s/=.*/=/" || script == "s|=.*||" || script == "s/=.*$//"
	case "grep", "egrep", "ggrep":
		// -o prints what fits alone: letters at the beginning of the line.
		text, from := strings.CutPrefix(strings.TrimSuffix(script, "="), "^")
		return from && text != "" && (c.short("o") || c.has("--only-matching")) && !c.short("vP") && strings.Trim(text, `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_[]-+*\`) == "" && !strings.Contains(text, `\S`) && !strings.Contains(text, `\W`)
	}
	return false
}

// secretTool tells programs that print secrets out of a store.
func secretTool(c *call) bool {
	argv := c.argv()
	ops := c.plain(" -n --namespace --context --profile --region -p --output -o --vault --account --project --query ")
	op := func(i int) string {
		if i < len(ops) {
			return ops[i]
		}
		return ""
	}
	get := func(i int) string { return op(i - 1) }
	switch c.name() {
	case "pass", "gopass":
		return get(1) == "show" || c.name() == "pass" && len(argv) == 3 && strings.HasPrefix(argv[1], "-c") || len(argv) == 2 && get(1) != "ls" && get(1) != "list" && get(1) != "git" && get(1) != "init" && get(1) != "version" && get(1) != "find"
	case "op":
		return get(1) == "read" || get(1) == "item" && get(2) == "get" || get(1) == "document" && get(2) == "get" || get(1) == "inject" && c.opt("-o", "--out-file") == nil
	case "bw", "lpass", "rbw", "keepassxc-cli", "dcli", "pass-cli":
		return get(1) == "get" || get(1) == "show" || get(1) == "export" || get(1) == "list" && c.name() == "bw"
	case "vault":
		return get(1) == "read" || get(1) == "kv" && get(2) == "get" || get(1) == "print" && get(2) == "token" || get(1) == "operator" && (get(2) == "init" || get(2) == "generate-root") && !c.has("-status") || get(1) == "token" && get(2) == "create" && c.optionFits("-policy|--policy=root")
	case "aws":
		return op(0) == "secretsmanager" && strings.HasPrefix(op(1), "get-secret") || op(0) == "ssm" && strings.HasPrefix(op(1), "get-parameter") && c.has("--with-decryption") || op(0) == "configure" && (op(1) == "export-credentials" || op(1) == "get" && strings.Contains(op(2), "secret")) || op(0) == "sts" && (op(1) == "get-session-token" || op(1) == "assume-role") || op(0) == "iam" && op(1) == "create-access-key" || op(0) == "ecr" && op(1) == "get-login-password" && c.l.Stdout.Kind != shell.OutputPipe
	case "gcloud":
		return op(0) == "auth" && strings.HasPrefix(op(1), "print-") || op(0) == "auth" && op(2) == "print-access-token" || op(0) == "secrets" && op(1) == "versions" && op(2) == "access"
	case "az":
		return op(0) == "account" && op(1) == "get-access-token" || len(ops) > 2 && (ops[len(ops)-2] == "keys" && ops[len(ops)-1] == "list" || ops[len(ops)-1] == "list-keys" || ops[len(ops)-2] == "credential" && ops[len(ops)-1] == "show") || op(0) == "keyvault" && op(1) == "secret" && (op(2) == "show" || op(2) == "download")
	case "kubectl", "oc":
		if op(0) == "get" && (op(1) == "secret" || op(1) == "secrets" || strings.HasPrefix(op(1), "secret/") || strings.HasPrefix(op(1), "secrets/")) {
			o := c.opt("-o", "--output")
			return o != nil && !strings.HasPrefix(o.String(), "name") && !strings.HasPrefix(o.String(), "wide")
		}
		return op(0) == "config" && op(1) == "view" && c.has("--raw") || op(0) == "whoami" && c.has("-t", "--show-token")
	case "fly", "flyctl":
		return get(1) == "auth" && get(2) == "token" || get(1) == "tokens"
	case "glab":
		return get(1) == "auth" && get(2) == "status" && c.has("--show-token", "-t")
	case "git":
		sub, rest := c.git()
		return strings.HasPrefix(sub, "credential-") && len(rest) > 0 && rest[len(rest)-1] == "get" ||
			sub == "config" && (flag(rest, "", "--get", "--get-all", "--get-regexp") || len(rest) > 0 && rest[0] == "get") && strings.HasSuffix(strings.ToLower(rest[len(rest)-1]), "extraheader")
	case "pulumi":
		return c.has("--show-secrets")
	case "firebase":
		return op(0) == "login:ci"
	case "rclone":
		return op(0) == "config" && (op(1) == "show" || op(1) == "dump")
	case "wg":
		return get(1) == "showconf" || get(1) == "show" && (get(len(argv)-1) == "private-key" || get(len(argv)-1) == "dump")
	case "keyring":
		return get(1) == "get"
	case "nmcli":
		return c.has("-s", "--show-secrets")
	case "gh":
		return get(1) == "auth" && get(2) == "token" || get(1) == "auth" && get(2) == "status" && c.has("--show-token", "-t")
	case "heroku":
		if get(1) == "config:get" {
			for _, a := range c.plain(" -a --app -r --remote ")[1:] {
				if fitsSecret(a) {
					return true
				}
			}
			return len(argv) < 3
		}
		return get(1) == "auth:token" || get(1) == "config"
	case "npm":
		return get(1) == "token" && (get(2) == "list" || get(2) == "create") || get(1) == "config" && get(2) == "get" && strings.Contains(get(3), "authToken")
	case "gpg", "gpg2":
		return c.has("--export-secret-keys", "--export-secret-subkeys", "--export-secret-key")
	case "secret-tool", "kwallet-query", "ksecretdump":
		return get(1) == "lookup" || get(1) == "search" || c.name() != "secret-tool"
	case "doppler", "infisical", "chamber", "sops", "ansible-vault":
		return get(1) == "secrets" && (get(2) == "get" || get(2) == "download" || get(2) == "" && !c.has("--only-names")) || c.name() == "chamber" && (get(1) == "read" || get(1) == "export") || c.name() == "infisical" && get(1) == "export" || c.name() == "ansible-vault" && (get(1) == "view" || get(1) == "decrypt") || c.name() == "sops" && (c.short("d") || c.has("--decrypt", "decrypt") || get(1) == "decrypt")
	case "docker-credential-desktop", "docker-credential-osxkeychain", "docker-credential-secretservice", "git-credential-osxkeychain", "git-credential-store", "git-credential-libsecret", "cmdkey", "vaultcmd":
		return get(1) == "get" || get(1) == "/list"
	case "unshadow", "pwdump", "secretsdump.py", "lazagne":
		return true
	}
	return false
}
