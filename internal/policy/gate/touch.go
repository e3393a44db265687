package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// written says where a program puts what it makes, beyond what the rules for harm look
// at: that a folder outside is made does none, but it is outside.
type written struct {
	// skip operands stand before those that are written: the mode of chmod; -1: none
	// is written, -2: only the last.
	skip int
	// options have the written file or folder as their value; valued have another
	// value. Both with spaces around each.
	options, valued string
	// only is a word without which nothing is written.
	only string
}

var writes = map[string]written{
	"mkdir": {valued: " -m --mode "}, "md": {}, "rmdir": {}, "shred": {valued: " -n -s "}, "install": {valued: " -m -o -g ", only: "-d"},
	"chmod": {skip: 1}, "chown": {skip: 1}, "chgrp": {skip: 1}, "setfacl": {valued: " -m -x -M -X "}, "chattr": {skip: 1},
	"gzip": {}, "gunzip": {}, "bzip2": {}, "bunzip2": {}, "xz": {}, "unxz": {}, "zstd": {},
	"tar": {skip: -1, options: " -C --directory "}, "unzip": {skip: -1, options: " -d "}, "patch": {skip: -1, options: " -d --directory "},
	"wget": {skip: -1, options: " -P --directory-prefix "}, "curl": {skip: -1, options: " --output-dir "}, "mktemp": {skip: -1, options: " -p --tmpdir "},
	"ssh-keygen": {skip: -1, options: " -f "}, "make": {skip: -1, options: " -C --directory "}, "npm": {skip: -1, options: " --prefix -C "},
	"pip": {skip: -1, options: " -t --target --prefix -d --dest "}, "pip3": {skip: -1, options: " -t --target --prefix -d --dest "},
	"virtualenv": {}, "sqlite3": {skip: -1}, "split": {skip: 1, valued: " -a -b -C -l -n "}, "ffmpeg": {skip: -2}, "convert": {skip: -2},
	"prettier": {only: "--write"}, "gofmt": {only: "-w"}, "black": {}, "rustfmt": {},
	"expand-archive": {skip: 1}, "rename-item": {}, "ren": {}, "rename": {skip: -2}, "mklink": {skip: -1},
}

// touchWritten notes what a program writes that no other rule looks at.
func (j *judge) touchWritten(c *call, name string) {
	touch := func(a *shell.Arg) { j.touch(c, j.locate(a, c.l.Dir)) }
	if name == "git" {
		j.touchGit(c, touch)
		return
	}
	if name == "find" && c.has("-delete") {
		for i := 1; i < len(c.l.Argv) && !strings.HasPrefix(c.l.Argv[i].Text, "-"); i++ {
			touch(&c.l.Argv[i])
		}
	}
	w, ok := writes[name]
	if !ok || w.only != "" && !c.has(w.only) {
		return
	}
	for _, o := range strings.Fields(w.options) {
		if a := c.opt(o); a != nil {
			touch(a)
		}
	}
	ops := c.operands(w.valued)
	switch {
	case w.skip == -2 && len(ops) > 0:
		ops = ops[len(ops)-1:]
	case w.skip < 0 || w.skip > len(ops):
		ops = nil
	default:
		ops = ops[w.skip:]
	}
	for _, a := range ops {
		touch(a)
	}
}

// touchGit notes the folders that git makes, and the other one that it works in.
func (j *judge) touchGit(c *call, touch func(*shell.Arg)) {
	ops := c.operands(" -C -c --git-dir --work-tree --namespace -b --branch -o --origin --depth --reference --template --separate-git-dir -j --jobs ")
	if len(ops) == 0 {
		return
	}
	switch ops[0].Text {
	case "clone":
		if len(ops) > 2 {
			touch(ops[2])
		}
	case "init":
		if len(ops) > 1 {
			touch(ops[1])
		}
	case "worktree":
		if len(ops) > 2 && ops[1].Text == "add" {
			touch(ops[2])
		}
	case "add", "am", "apply", "checkout", "cherry-pick", "clean", "commit", "merge", "mv", "pull", "rebase", "reset", "restore", "revert", "rm", "stash", "switch":
		if a := c.opt("-C"); a != nil {
			touch(a)
		}
	}
}
