package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// This file judges programs that start what an option, a setting or a word of
// their own says: man --pager, fzf --preview, rpm --eval, less +!CMD. What the
// shell's reader walks by itself (find -exec, git, ssh, tar) is not here. The
// options are those of the programs' manual pages.

// startedBy lists the options of a program whose value it hands to a shell or
// starts.
func startedBy(name string) string {
	switch name {
	case "man":
		return "-P --pager -H --html"
	case "bat", "batcat", "delta":
		return "--pager"
	case "fzf", "sk":
		return "--preview"
	case "mysql", "mariadb", "mysqlsh":
		return "--pager"
	case "scp", "sftp":
		return "-S"
	case "rg":
		return "--pre --hostname-bin"
	case "tcpdump":
		return "-z"
	case "svn":
		return "--diff-cmd --diff3-cmd --editor-cmd"
	case "pip", "pip3":
		return "--editor"
	case "npm", "npx", "pnpm":
		return "--script-shell --shell --git"
	case "tar", "gtar", "bsdtar":
		return "--rsh-command --rmt-command"
	case "bazel", "bazelisk":
		return "--run_under --workspace_status_command"
	case "cargo":
		return "-s --shell" // of cargo watch
	case "gem":
		return "-e --editor"
	case "yt-dlp", "youtube-dl":
		return "--exec --exec-before-download"
	case "aria2c":
		return "--on-download-complete --on-download-start --on-download-error --on-download-stop --on-bt-download-complete"
	case "openvpn":
		return "--up --down --route-up --tls-verify --auth-user-pass-verify"
	case "transmission-remote":
		return "--torrent-done-script"
	case "dpkg":
		return "--pre-invoke --post-invoke"
	case "gpg", "gpg2":
		return "--photo-viewer --agent-program --pinentry-program"
	case "go":
		return "-vettool --vettool"
	case "wget":
		return "--use-askpass"
	case "scrot":
		return "-e --exec"
	}
	return ""
}

// loadedBy lists the options of a program whose value it loads as code.
func loadedBy(name string) string {
	switch name {
	case "ssh":
		return "-I -F"
	case "ssh-keygen":
		return "-D"
	case "ssh-add":
		return "-s"
	case "scp", "sftp":
		return "-F"
	case "gawk", "awk":
		return "-l --load"
	case "mysql", "mariadb":
		return "--plugin-dir --defaults-file --defaults-extra-file"
	case "gradle", "gradlew":
		return "-I --init-script"
	case "git":
		return "--exec-path"
	case "gcc", "g++", "clang", "clang++", "cc":
		return "-fplugin -B"
	case "openssl":
		return "-engine -provider-path"
	case "tmux":
		return "-f"
	case "screen":
		return "-c"
	case "nmap":
		return "--script"
	case "pandoc":
		return "-t -f -L --lua-filter --filter"
	case "yum", "dnf":
		return "-c --config"
	}
	return ""
}

// startsByOption judges the programs of this file.
func (j *judge) startsByOption(c *call, name string) {
	if len(c.l.Argv) < 2 || c.elsewhere() {
		return
	}
	for f := range strings.FieldsSeq(startedBy(name)) {
		if a := c.opt(f); a != nil && len(a.Holes)+len(a.Alts) == 0 {
			j.started(c, a.Text)
		}
	}
	for f := range strings.FieldsSeq(loadedBy(name)) {
		if a := c.opt(f); a != nil {
			j.loadsCode(c, a.Text)
		}
	}
	for i, t := range c.argv() {
		switch name {
		case "less", "more", "most":
			if cmd, ok := strings.CutPrefix(t, "+!"); ok {
				j.started(c, cmd)
			}
		case "fzf", "sk":
			// --bind 'KEY:execute(CMD)'; reload, become and preview do the same.
			for _, action := range [...]string{"execute(", "execute-silent(", "reload(", "become(", "preview(", "transform("} {
				if k := strings.Index(t, action); k >= 0 {
					j.started(c, strings.TrimSuffix(t[k+len(action):], ")"))
				}
			}
		case "rpm", "rpmbuild", "rpmspec", "rpmdb", "rpmquery", "rpmverify", "rpmkeys":
			if k := strings.Index(t, "%("); k >= 0 {
				j.started(c, strings.TrimSuffix(t[k+2:], ")"))
			}
		case "dtrace":
			if _, prog, ok := strings.Cut(t, "system("); ok {
				s := scan{j: j, text: "system(" + prog, from: c.l.Offset, to: c.l.End, lang: "dtrace", leaf: -1}
				s.run()
			}
		case "gcc", "g++", "cc":
			if i > 0 && c.argv()[i-1] == "-wrapper" {
				j.started(c, quoteJoin(strings.Split(t, ",")))
			}
		case "tshark", "wireshark":
			if lua, ok := strings.CutPrefix(t, "lua_script:"); ok {
				j.loadsCode(c, lua)
			}
		case "tex", "latex", "pdftex", "pdflatex", "xetex", "xelatex", "luatex", "lualatex":
			// TeX text among the words: \write18{CMD}, \directlua{PROGRAM}.
			if _, cmd, ok := strings.Cut(t, `\write18{`); ok && c.has("-shell-escape", "--shell-escape", "-enable-write18") {
				cmd, _, _ = strings.Cut(cmd, "}")
				j.started(c, cmd)
			}
			if _, prog, ok := strings.Cut(t, `\directlua{`); ok {
				s := scan{j: j, text: prog, from: c.l.Offset, to: c.l.End, lang: "lua", leaf: -1}
				s.run()
			}
		case "apt", "apt-get", "aptitude":
			if key, cmd, ok := strings.Cut(t, "="); ok && strings.Contains(strings.ToLower(key), "invoke") {
				j.started(c, cmd)
			}
		case "ssh", "scp", "sftp":
			if i > 0 && (c.argv()[i-1] == "-o" || strings.HasPrefix(t, "-o")) {
				key, value, _ := strings.Cut(strings.TrimPrefix(t, "-o"), "=")
				switch strings.ToLower(key) {
				case "pkcs11provider", "securitykeyprovider", "knownhostscommand":
					j.loadsCode(c, value)
				}
			}
		case "cargo":
			// --config 'build.rustc-wrapper="X"' and its like.
			if key, value, ok := strings.Cut(t, "="); ok && (strings.Contains(key, "rustc") || strings.HasSuffix(key, "runner") || strings.HasSuffix(key, "linker")) {
				j.loadsCode(c, strings.Trim(value, `"' `))
			}
		case "go":
			if i > 2 && c.argv()[1] == "env" && c.argv()[2] == "-w" {
				if key, value, ok := strings.Cut(t, "="); ok {
					v := shell.Value{Text: value}
					j.variable(c, key, &v, true)
				}
			}
		}
	}
}

// started judges command text that a program hands on, and a program from a folder
// that anybody may write to.
func (j *judge) started(c *call, text string) {
	j.inner(text, shell.POSIX, c.l.Offset, c.l.End)
	j.loadsCode(c, text)
}

// loadsCode refuses code from a folder that anybody may write to; what the project or
// the system holds is day work.
func (j *judge) loadsCode(c *call, file string) {
	if tempCode(file) {
		j.add(c, EnvHijack, AnyScope, "environment-hijack", strings.Join(c.argv(), " "))
	}
}

// tempCode tells a path in a temp folder.
func tempCode(file string) bool {
	return strings.HasPrefix(file, "/tmp/") || strings.HasPrefix(file, "/var/tmp/") || strings.HasPrefix(file, "/dev/shm/")
}
