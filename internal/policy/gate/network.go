package gate

import (
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// networkPrograms judges programs that talk to others: what they would listen
// for, hand over or open a shell to.
func (j *judge) networkPrograms(c *call, name string) bool {
	argv := c.argv()
	all := strings.Join(argv, " ")
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
			strings.HasSuffix(all, " version") || strings.Contains(all, " login") || strings.Contains(all, " config check") {
			return true
		}
		j.add(c, Listen, AnyScope, "tunnel", all)
	case "ssh", "autossh":
		if c.short("R") && c.opt("-R") != nil {
			j.add(c, Listen, AnyScope, "tunnel", all)
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
	case "ssh-copy-id":
		j.add(c, Persistence, AnyScope, "authorized-keys", all)
	case "msfvenom", "msfconsole", "mimikatz", "hydra", "john", "hashcat", "sqlmap", "responder", "crackmapexec", "evil-winrm", "xmrig", "minerd", "cpuminer", "linpeas", "linpeas.sh", "pspy", "pspy64", "beef-xss", "ettercap", "bettercap", "slowloris", "hping3", "masscan":
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
		for i, t := range argv {
			v := ""
			switch {
			case t == "-d" || t == "--data" || t == "--data-binary" || t == "--data-raw" || t == "--data-urlencode" || t == "-F" || t == "--form" || t == "-T" || t == "--upload-file" || t == "--json" || t == "-b" || t == "-H" || t == "--header" || t == "-u" || t == "--user" || t == "--data-ascii":
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
			if k := strings.IndexByte(v, '@'); k >= 0 && (k == 0 || v[k-1] == '=') {
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
	if methodIsDelete(argv, name) {
		if host := firstHost(argv); !localHost(host) {
			j.add(c, CloudDestroy, One, "http-delete", all)
		} else if strings.Contains(all, ":9200") || strings.Contains(all, ":9300") || strings.Contains(all, ":5984") || strings.Contains(all, ":6333") || strings.Contains(all, ":8500") {
			j.add(c, DatabaseDestroy, One, "http-delete", all)
		}
	}
	if low := strings.ToLower(all); strings.Contains(low, "_delete_by_query") {
		j.add(c, DatabaseDestroy, One, "database-delete", all)
	}
}

func methodIsDelete(argv []string, name string) bool {
	for i, t := range argv {
		switch {
		case (t == "-X" || t == "--request" || t == "--method") && i+1 < len(argv) && strings.EqualFold(argv[i+1], "DELETE"),
			strings.EqualFold(t, "-XDELETE"), strings.EqualFold(t, "--request=DELETE"), strings.EqualFold(t, "--method=DELETE"),
			name != "curl" && name != "wget" && t == "DELETE",
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

// envSecret names a variable that holds a secret by its name, if v has it as hole.
func envSecret(v *shell.Value) string {
	for _, h := range v.Holes {
		if h.Kind == shell.HoleVar && secretVariable(h.Name) {
			return h.Name
		}
	}
	return ""
}

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
		"rclone", "s3cmd", "gsutil", "ipfs", "croc", "wormhole", "transfer.sh", "pastebinit", "termbin", "gist", "ntfy", "apprise", "mosquitto_pub", "kcat", "nats", "logger", "aws", "gh", "busybox", "certutil", "bitsadmin", "hurl", "grpcurl", "scp", "sftp", "rsync":
		switch l.Name {
		case "gh":
			return l.Arg(1) == "gist" || l.Arg(1) == "api" || l.Arg(1) == "issue" || l.Arg(1) == "pr"
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
	case "env", "printenv", "set", "export", "declare", "compgen", "history", "pbpaste", "xclip", "xsel", "wl-paste", "get-clipboard", "mysqldump", "pg_dump", "pg_dumpall", "mongodump", "screencapture", "scrot", "dmesg", "last", "w", "who", "ifconfig", "arp", "netstat":
		if l.Name == "env" && len(l.Argv) > 1 {
			break
		}
		if l.Name == "printenv" && len(l.Argv) > 1 && !secretVariable(l.Arg(1)) {
			break
		}
		if (l.Name == "declare" || l.Name == "export") && len(l.Argv) > 1 && l.Argv[1].Text != "-p" && l.Argv[1].Text != "-x" {
			break
		}
		return true
	}
	if secretTool(&c) {
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
				if r.Op == "<" {
					continue
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
	case "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/master.passwd", "/etc/security/opasswd", "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/kubernetes.io/serviceaccount/token", "/etc/krb5.keytab", "/etc/shadow-", "/etc/kubernetes/admin.conf":
		return secretKey
	}
	if strings.HasPrefix(p, "/proc/") && (base == "environ" || base == "mem") || strings.HasPrefix(p, "/run/secrets/") || strings.HasPrefix(p, "/etc/ssh/ssh_host_") && !strings.HasSuffix(p, ".pub") || strings.HasPrefix(p, "/etc/ssl/private/") || strings.HasPrefix(p, "/etc/letsencrypt/live/") && strings.Contains(base, "priv") {
		return secretKey
	}
	for _, dir := range [...]string{"/.gnupg/", "/.password-store/", "/.aws/credentials", "/.aws/sso/", "/.aws/cli/cache", "/.azure/", "/.config/gcloud/", "/.kube/config", "/.kube/cache/oidc", "/.docker/config.json", "/.config/gh/hosts.yml", "/.config/hub", "/.netrc", "/_netrc", "/.pgpass", "/.my.cnf", "/.mylogin.cnf",
		"/.npmrc", "/.pypirc", "/.git-credentials", "/.config/git/credentials", "/.gem/credentials", "/.cargo/credentials", "/.terraform.d/credentials", "/.terraformrc", "/.vault-token", "/.config/op/", "/.config/rclone/rclone.conf", "/.s3cfg", "/.boto", "/.oci/config", "/.config/doctl/", "/.fly/config.yml", "/.config/heroku", "/.heroku/", "/.config/vercel/auth", "/.local/share/keyrings/", "/library/keychains/", "/.config/google-chrome/", "/.mozilla/firefox/", "/library/application support/google/chrome/", "/library/application support/firefox/", "/library/cookies/", "/.codex/auth.json", "/.claude/.credentials.json", "/.local/share/opencode/auth.json", "/.config/github-copilot/", "/.electrum/", "/.bitcoin/wallet", "/.ethereum/keystore", "/.config/solana/", "/wallet.dat", "/.databrickscfg", "/.snowflake/", "/.config/containers/auth.json", "/.composer/auth.json", "/.m2/settings.xml", "/.m2/settings-security.xml", "/.gradle/gradle.properties", "/.nuget/nuget.config", "/appdata/roaming/microsoft/credentials", "/appdata/local/google/chrome/", "/.config/keybase/", "/.subversion/auth/", "/.config/sops/age/keys.txt", "/.age/", "/.ansible/vault", "/.config/hcloud/", "/.config/stripe/", "/.config/ngrok/ngrok.yml", "/.ngrok2/", "/.cloudflared/", "/.wrangler/config", "/.config/.wrangler/", "/.linode-cli", "/.config/linode-cli", "/.ibmcloud/"} {
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
	if strings.HasSuffix(low, "/.gnupg") || strings.HasSuffix(low, "/.password-store") || strings.HasSuffix(low, "/.ssh") || strings.HasSuffix(low, "/.aws") && home != "" && path.Dir(p) == home {
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
		"get-content", "select-string", "copy-item", "compress-archive", "type", "findstr", "certutil", "set-clipboard", "import-csv", "convertfrom-json", "[system.io.file]::readalltext", "more.com", "busybox", "keytool", "age", "sops", "ansible-vault", "plutil", "sqlite3", "strace", "xargs", "while", "printf", "echo":
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
	if (name == "echo" || name == "printf") && l.Stdout.Kind == shell.OutputInherit {
		for i := range l.Argv {
			if v := envSecret(&l.Argv[i].Value); v != "" {
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
	if len(l.Argv) < 2 {
		return
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
			if c.has("-pubout", "-pubin") {
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
	case "node", "python", "python3", "ruby", "php", "perl":
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
		if name != "view" {
			return
		}
	}
	for _, a := range ops {
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
		if path.Dir(p.path) == path.Dir(target.path) || p.path == target.path {
			continue
		}
		out = append(out, a)
	}
	return out
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
	if a.Glob && p.path != "" {
		text := a.Text
		base := path.Base(text)
		dirOf := p
		if globStart(path.Dir(text)) < 0 {
			abs, ok := j.w.abs(path.Dir(text), exactOr(dir))
			if ok {
				for _, name := range [...]string{"id_rsa", "id_ed25519", "credentials", ".env", "key.pem", "server.key"} {
					if matches, err := path.Match(base, name); err == nil && matches {
						if base == "*" && name != "id_rsa" && name != "credentials" {
							continue // a bare * in a project is day work
						}
						q := dirOf
						q.path = abs + "/" + name
						out = append(out, q)
					}
				}
			}
		}
	}
	return out
}

func exactOr(v shell.Value) string {
	s, _ := v.Exact()
	return s
}

func (j *judge) readPlace(c *call, p place) {
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
		j.add(c, SecretRead, Private, "env-read", text)
	}
}

// secretTool tells programs that print secrets out of a store.
func secretTool(c *call) bool {
	argv := c.argv()
	get := func(i int) string {
		if i < len(argv) {
			return argv[i]
		}
		return ""
	}
	ops := c.plain(" -n --namespace --context --profile --region -p --output -o --vault --account --project --query ")
	op := func(i int) string {
		if i < len(ops) {
			return ops[i]
		}
		return ""
	}
	switch c.name() {
	case "pass", "gopass":
		return get(1) == "show" || len(argv) == 2 && get(1) != "ls" && get(1) != "list" && get(1) != "git" && get(1) != "init" && get(1) != "version" && get(1) != "find"
	case "op":
		return get(1) == "read" || get(1) == "item" && get(2) == "get" || get(1) == "document" && get(2) == "get"
	case "bw", "lpass", "rbw", "keepassxc-cli", "dcli", "pass-cli":
		return get(1) == "get" || get(1) == "show" || get(1) == "export" || get(1) == "list" && c.name() == "bw"
	case "vault":
		return get(1) == "read" || get(1) == "kv" && get(2) == "get" || get(1) == "print" && get(2) == "token"
	case "aws":
		return op(0) == "secretsmanager" && strings.HasPrefix(op(1), "get-secret") || op(0) == "ssm" && strings.HasPrefix(op(1), "get-parameter") && c.has("--with-decryption") || op(0) == "configure" && (op(1) == "export-credentials" || op(1) == "get" && strings.Contains(op(2), "secret")) || op(0) == "sts" && (op(1) == "get-session-token" || op(1) == "assume-role") || op(0) == "iam" && op(1) == "create-access-key" || op(0) == "ecr" && op(1) == "get-login-password" && c.l.Stdout.Kind != shell.OutputPipe
	case "gcloud":
		return op(0) == "auth" && strings.HasPrefix(op(1), "print-") || op(0) == "auth" && op(2) == "print-access-token" || op(0) == "secrets" && op(1) == "versions" && op(2) == "access"
	case "az":
		return op(0) == "account" && op(1) == "get-access-token" || op(0) == "keyvault" && op(1) == "secret" && (op(2) == "show" || op(2) == "download")
	case "kubectl", "oc":
		if op(0) == "get" && (op(1) == "secret" || op(1) == "secrets" || strings.HasPrefix(op(1), "secret/") || strings.HasPrefix(op(1), "secrets/")) {
			o := c.opt("-o", "--output")
			return o != nil && !strings.HasPrefix(o.String(), "name") && !strings.HasPrefix(o.String(), "wide")
		}
		return op(0) == "config" && op(1) == "view" && c.has("--raw")
	case "gh":
		return get(1) == "auth" && get(2) == "token" || get(1) == "auth" && get(2) == "status" && c.has("--show-token", "-t")
	case "heroku":
		return get(1) == "auth:token" || get(1) == "config" || get(1) == "config:get"
	case "npm":
		return get(1) == "token" && (get(2) == "list" || get(2) == "create") || get(1) == "config" && get(2) == "get" && strings.Contains(get(3), "authToken")
	case "gpg", "gpg2":
		return c.has("--export-secret-keys", "--export-secret-subkeys", "--export-secret-key")
	case "secret-tool", "kwallet-query", "ksecretdump":
		return get(1) == "lookup" || get(1) == "search" || c.name() != "secret-tool"
	case "doppler", "infisical", "chamber", "sops", "ansible-vault":
		return get(1) == "secrets" && (get(2) == "get" || get(2) == "download" || get(2) == "") || c.name() == "chamber" && (get(1) == "read" || get(1) == "export") || c.name() == "ansible-vault" && (get(1) == "view" || get(1) == "decrypt") || c.name() == "sops" && (c.short("d") || c.has("--decrypt", "decrypt") || get(1) == "decrypt")
	case "docker-credential-desktop", "docker-credential-osxkeychain", "docker-credential-secretservice", "git-credential-osxkeychain", "cmdkey", "vaultcmd":
		return get(1) == "get" || get(1) == "/list"
	case "unshadow", "pwdump", "secretsdump.py", "lazagne":
		return true
	}
	return false
}
