package gate

import (
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// changes judges what programs write to where no option says so: the last word, the
// files that they are given, the place of an installation. Only a place that matters
// counts.
func (j *judge) changes(c *call, name string) {
	ops := func() []*shell.Arg { return c.operands("") }
	put := func(a *shell.Arg) {
		if a != nil && !c.elsewhere() {
			j.writeFar(c, a)
		}
	}
	last := func() {
		if all := ops(); len(all) > 1 {
			put(all[len(all)-1])
		}
	}
	switch name {
	// The last word.
	case "ffmpeg", "convert", "magick", "sox", "qpdf", "wkhtmltopdf", "unrar":
		last()
	case "rar":
		if len(c.argv()) > 1 && (c.argv()[1] == "x" || c.argv()[1] == "e") {
			last()
		}
	case "docker", "podman", "nerdctl", "kubectl", "oc":
		switch all := ops(); {
		case len(all) > 2 && (all[0].Text == "cp" || all[0].Text == "container" && all[1].Text == "cp"):
			if to := all[len(all)-1]; !strings.Contains(to.Text, ":") {
				put(to)
			}
		case len(all) > 0 && (all[0].Text == "save" || all[0].Text == "export" || len(all) > 1 && all[0].Text == "image" && all[1].Text == "save"):
			put(c.opt("-o", "--output"))
		}
	// The files that are changed where they are.
	case "dos2unix", "unix2dos", "mogrify":
		for _, a := range ops() {
			put(a)
		}
	case "gzip", "bzip2", "xz", "lzma", "gunzip", "bunzip2", "unxz":
		if !c.short("kcltV") && !c.has("--keep", "--stdout", "--list", "--test") {
			for _, a := range ops() {
				put(a)
			}
		}
	case "rename", "prename", "perl-rename":
		if all := ops(); len(all) > 1 && !c.short("n") {
			for _, a := range all[1:] {
				put(a)
			}
		}
	// The place of an installation.
	case "pip", "pip3":
		j.installsTo(c, c.opt("-t", "--target", "--prefix", "--root"))
	case "npm":
		j.installsTo(c, c.opt("--prefix"))
	case "gem":
		j.installsTo(c, c.opt("-i", "--install-dir"))
	case "cargo":
		j.installsTo(c, c.opt("--root"))
	case "cmake":
		if c.has("--install") {
			j.installsTo(c, c.opt("--prefix"))
		}
	case "make", "gmake":
		if !c.has("install", "uninstall") || c.short("n") {
			return
		}
		for i, t := range c.argv() {
			if k, _, ok := strings.Cut(t, "="); ok && (strings.EqualFold(k, "prefix") || k == "DESTDIR") && len(c.l.Argv[i].Alts) == 0 {
				a := c.l.Argv[i]
				a.Value = sliceFrom(a.Value, len(k)+1)
				j.installsTo(c, &a)
			}
		}
	// A folder that is put over another.
	case "mount":
		all := c.operands(" -t -o --types --options -L -U -O ")
		if len(all) < 2 || c.elsewhere() {
			return
		}
		switch to := j.locate(all[1], c.l.Dir); {
		case under(to.path, "/mnt"), under(to.path, "/media"), under(to.path, "/run"), under(to.path, "/srv"):
		case to.scope >= Home:
			j.add(c, Overwrite, to.scope, "write-system", to.text)
		}
	}
}

// installsTo judges the folder that something is installed into.
func (j *judge) installsTo(c *call, a *shell.Arg) {
	if a == nil || c.elsewhere() {
		return
	}
	if p := j.locate(a, c.l.Dir); p.scope == System {
		j.add(c, GlobalInstall, AnyScope, "global-install", strings.Join(c.argv(), " "))
	}
}

// curlFiles judges the files that curl writes: those that are named, in a cluster
// too, and those that have the name of their address.
func (j *judge) curlFiles(c *call) {
	argv := c.argv()
	dir := c.l.Dir
	if d := c.opt("--output-dir"); d != nil {
		if p := j.locate(d, dir); p.path != "" {
			dir = shell.Value{Text: p.path}
		}
	}
	own := c.has("--remote-name", "--remote-name-all")
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		if len(t) < 2 || t[0] != '-' || t[1] == '-' {
			continue
		}
		own = own || strings.IndexByte(t, 'O') > 0
		if strings.HasSuffix(t, "o") && strings.Trim(t[1:len(t)-1], "sSfLkvgiIjJnNORq#0146") == "" && i+1 < len(argv) && argv[i+1] != "-" {
			j.writePlace(c, j.locate(&c.l.Argv[i+1], dir), false)
		}
	}
	if !own {
		return
	}
	for _, t := range argv[1:] {
		if _, rest, ok := strings.Cut(t, "://"); ok {
			rest, _, _ = strings.Cut(rest, "?")
			if strings.IndexByte(rest, '/') > 0 {
				a := shell.Arg{Value: shell.Value{Text: path.Base(rest)}}
				j.writePlace(c, j.locate(&a, dir), false)
			}
		}
	}
}
