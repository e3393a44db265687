package shell

import (
	"slices"
	"strings"
)

// started is how a program that is a leaf runs others: it adds the leaf, walks
// f and joins the two.
func (w *walker) started(argv []Arg, c ctx, link Wrap, f func(leaf int, c ctx)) {
	i := w.leaf(argv, c)
	from := len(w.f.Leaves)
	inner := c
	inner.out, inner.outKind = nil, OutputInherit
	inner.via = via(c.via, link)
	inner.redirs = slices.DeleteFunc(inherit(c.redirs), func(r Redirect) bool { return r.Op[0] == '<' })
	w.sub(func() { f(i, inner) })
	w.runs(i, from)
}

// shellWord walks a word that a program hands to sh.
func (w *walker) shellWord(a *Arg, why string, leaf int, c ctx) {
	if a == nil {
		return
	}
	w.inChild(func() {
		n := len(w.f.Opaque)
		if !w.code(a.Value, POSIX, a, why, c) && len(w.f.Opaque) > n {
			w.f.Opaque[n].Leaf = leaf
		}
	})
}

func joinedArg(argv []Arg) *Arg {
	if len(argv) == 0 {
		return nil
	}
	vals := make([]Value, len(argv))
	for i := range argv {
		vals[i] = argv[i].Value
	}
	return &Arg{Value: joinValues(vals, " "), Offset: argv[0].Offset, End: argv[len(argv)-1].End, Quote: argv[0].Quote}
}

// program walks programs that run others besides doing something themselves.
// It reports whether it added the leaf.
func (w *walker) program(name string, argv []Arg, c ctx) bool {
	if w.starts(name, argv, c) {
		return true
	}
	switch name {
	case "find", "gfind", "bfs":
		w.find(argv, c)
	case "fd", "fdfind":
		w.fd(argv, c)
	case "git", "hub", "yadm":
		w.git(argv, c)
	case "ssh", "autossh", "mosh", "slogin", "dbclient", "plink", "tsh", "rsh":
		w.ssh(name, argv, c)
	case "docker", "podman", "nerdctl", "finch", "docker-compose", "podman-compose", "lxc", "incus", "crictl", "buildah", "apptainer", "singularity", "distrobox", "toolbox", "machinectl", "vagrant", "adb", "wsl":
		w.container(name, argv, c)
	case "kubectl", "oc", "k3s", "microk8s", "k":
		w.kubectl(name, argv, c)
	case "ip":
		if len(argv) > 4 && argv[1].Text == "netns" && argv[2].Text == "exec" {
			w.started(argv, c, Wrap{Name: name, Argv: argv[:4]}, func(_ int, c ctx) { w.launch(argv[4:], c) })
			return true
		}
		return false
	case "tar", "gtar", "bsdtar":
		w.tar(argv, c)
	case "cmake":
		return w.cmake(argv, c)
	case "rsync", "scp", "sftp":
		opts, _ := options(argv, 1, "efBMTcFiJloPSD", " --rsh --rsync-path --filter --exclude --include --files-from ")
		w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
			for n := range argv {
				if argv[n].Text == "-e" && n+1 < len(argv) && name == "rsync" {
					w.shellWord(&argv[n+1], "rsync -e", i, c)
					return
				}
			}
			if name == "rsync" {
				w.shellWord(value(opts, " -e --rsh "), "rsync -e", i, c)
			} else if s := value(opts, " -S "); s != nil {
				w.shellWord(s, name+" -S", i, c)
			}
		})
	case "sed", "gsed":
		w.sed(argv, c)
	case "vim", "vi", "nvim", "view", "gvim", "ex", "vimdiff", "rvim", "mvim", "rview", "gview", "rgvim":
		w.vim(argv, c)
	case "ed", "red":
		w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, inner ctx) { w.typed("ed", i, c.in, inner) })
	case "tmux", "screen", "zellij", "byobu", "dtach", "abduco":
		w.tmux(name, argv, c)
	case "npx", "bunx", "pnpx", "uvx", "pipx":
		w.packageRunner(name, argv, 1, c)
	case "npm", "pnpm", "yarn", "bun", "deno":
		return w.npm(name, argv, c)
	case "make", "gmake", "just", "task":
		w.make(name, argv, c)
	case "entr", "watchexec", "nodemon", "chokidar", "reflex", "modd", "watchman-make":
		w.watcher(name, argv, c)
	case "at", "batch":
		here := hereArg(c)
		w.started(argv, c, Wrap{Name: name, Argv: argv}, func(i int, c ctx) {
			if c.in.Text != nil {
				text := *c.in.Text
				c.in, c.stream = Input{}, nil
				w.inChild(func() { w.code(text, POSIX, here, name, c) })
			}
		})
	case "hyperfine":
		opts, n := options(argv, 1, "wmrMpcPDLSnN", " --warmup --min-runs --max-runs --runs --prepare --conclude --setup --cleanup --parameter-scan --parameter-list --shell --style --sort --export-json --export-csv --export-markdown --command-name --time-unit --reference --output --input ")
		w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
			for _, o := range []string{" -p --prepare ", " -c --cleanup ", " -s --setup ", " --conclude "} {
				w.shellWord(value(opts, o), name, i, c)
			}
			for j := n; j < len(argv); j++ {
				w.shellWord(&argv[j], name, i, c)
			}
		})
	case "capsh":
		for n := range argv {
			if argv[n].Text == "--" {
				next := append([]Arg{{Value: exact("bash"), Offset: argv[n].Offset, End: argv[n].End}}, argv[n+1:]...)
				w.started(argv, c, Wrap{Name: name, Argv: argv[:n]}, func(_ int, c ctx) { w.launch(next, c) })
				return true
			}
		}
		return false
	case "gdb", "lldb":
		w.debugger(name, argv, c)
	case "newgrp":
		w.started(argv, c, Wrap{Name: name, Argv: argv}, func(i int, inner ctx) {
			if c.in.Text != nil { // to the shell that it starts
				w.inChild(func() { w.code(*c.in.Text, POSIX, hereArg(c), name, inner) })
			}
		})
	case "ninja", "samurai":
		w.ninja(argv, c)
	case "mix", "rebar3":
		lang := "elixir"
		if name == "rebar3" {
			lang = "erlang"
		}
		i := w.leaf(argv, c)
		for n := 1; n+1 < len(argv); n++ {
			if t := argv[n].Text; t == "-e" || t == "--eval" || t == "eval" && n == 1 {
				w.f.Code = append(w.f.Code, Code{Language: lang, Text: argv[n+1].Value, Leaf: i, Offset: argv[n+1].Offset})
			}
		}
	case "nix-shell":
		opts, _ := options(argv, 1, "pIA", " --run --command --packages ")
		code := value(opts, " --run --command ")
		for n := range argv {
			if t := argv[n].Text; (t == "--run" || t == "--command") && n+1 < len(argv) {
				code = &argv[n+1]
			}
		}
		w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) { w.shellWord(code, name, i, c) })
	case "start-stop-daemon":
		_, n := options(argv, 1, "xnpuagrdNkC", " --exec --name --pidfile --user --startas --group --chroot --chdir --nicelevel --umask --output ")
		w.started(argv, c, Wrap{Name: name, Argv: argv[:min(n, len(argv))]}, func(_ int, c ctx) {
			opts, _ := options(argv, 1, "xnpuagrdNkC", " --exec --name --pidfile --user --startas ")
			if x := value(opts, " -x --exec -a --startas "); x != nil {
				w.launch(append([]Arg{*x}, argv[min(n, len(argv)):]...), c)
			}
		})
	case "go":
		if len(argv) > 2 && argv[1].Text == "run" {
			for n := 2; n < len(argv); n++ {
				if v, ok := w.made(&argv[n]); ok {
					i := w.leaf(argv, c)
					w.f.Code = append(w.f.Code, Code{Language: "go", Text: v, Leaf: i, Offset: argv[n].Offset})
					return true
				}
			}
		}
		for n := 1; n < len(argv); n++ {
			a := argv[n]
			if a.Text == "-exec" || a.Text == "-toolexec" || a.Text == "--exec" || a.Text == "--toolexec" {
				if n+1 < len(argv) {
					w.started(argv, c, Wrap{Name: name, Argv: argv[:2]}, func(i int, c ctx) { w.shellWord(&argv[n+1], "go "+a.Text, i, c) })
					return true
				}
			}
			for _, p := range [...]string{"-exec=", "-toolexec=", "--exec=", "--toolexec="} {
				if strings.HasPrefix(a.Text, p) && len(a.Alts) == 0 {
					a.Value = a.slice(len(p), len(a.Text))
					w.started(argv, c, Wrap{Name: name, Argv: argv[:2]}, func(i int, c ctx) { w.shellWord(&a, "go -exec", i, c) })
					return true
				}
			}
		}
		return false
	case "man", "info":
		for n := 1; n+1 < len(argv); n++ {
			if t := argv[n].Text; t == "-P" || t == "-H" || t == "--pager" {
				w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) { w.shellWord(&argv[n+1], name+" "+t, i, c) })
				return true
			}
		}
		return false
	case "zip":
		for n := 1; n < len(argv); n++ {
			if t := argv[n].Text; (t == "-TT" || t == "--unzip-command") && n+1 < len(argv) {
				w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) { w.shellWord(&argv[n+1], "zip -TT", i, c) })
				return true
			}
		}
		return false
	case "sort", "split", "tcpdump", "pg_dump", "less", "rg", "openssl":
		for n := 1; n < len(argv); n++ {
			a := argv[n]
			for _, p := range [...]string{"--compress-program=", "--filter=", "--pre=", "-z"} {
				if a.Text == p || a.Text == strings.TrimSuffix(p, "=") {
					if p == "-z" && name != "tcpdump" {
						continue
					}
					if n+1 < len(argv) && a.Text != p+"=" {
						w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) { w.shellWord(&argv[n+1], name, i, c) })
						return true
					}
				}
				if p != "-z" && strings.HasPrefix(a.Text, p) && len(a.Alts) == 0 {
					a.Value = a.slice(len(p), len(a.Text))
					w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) { w.shellWord(&a, name, i, c) })
					return true
				}
			}
		}
		return false
	case "socat":
		w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
			for n := 1; n < len(argv); n++ {
				a := argv[n]
				for _, p := range [...]string{"EXEC:", "SYSTEM:", "exec:", "system:", "SHELL:", "shell:"} {
					if strings.HasPrefix(a.Text, p) && len(a.Alts) == 0 {
						end := strings.IndexByte(a.Text, ',')
						if end < 0 {
							end = len(a.Text)
						}
						a.Value = a.slice(len(p), end)
						a.Text = unquoteWord(a.Text)
						w.shellWord(&a, "socat "+p, i, c)
					}
				}
			}
		})
	case "nc", "ncat", "netcat":
		w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
			for n := 1; n+1 < len(argv); n++ {
				switch t := argv[n].Text; {
				case t == "-c" || t == "--sh-exec":
					w.shellWord(&argv[n+1], name+" "+t, i, c)
				case t == "-e" || t == "--exec" || (len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.HasSuffix(t, "e")):
					w.shellWord(&argv[n+1], name+" "+t, i, c)
				}
			}
		})
	default:
		return false
	}
	return true
}

func hereArg(c ctx) *Arg {
	for j := range c.redirs {
		if c.redirs[j].Here != nil {
			return &c.redirs[j].Target
		}
	}
	return nil
}

// find walks -exec and its kin; {} becomes the starting points with something
// below them.
func (w *walker) find(argv []Arg, c ctx) {
	n := 1
	for n < len(argv) {
		t := argv[n].Text
		if t == "-H" || t == "-L" || t == "-P" || strings.HasPrefix(t, "-O") {
			n++
		} else if t == "-D" {
			n += 2
		} else {
			break
		}
	}
	var roots []Value
	for n < len(argv) {
		a := &argv[n]
		if len(a.Alts) == 0 && len(a.Text) > 0 && (a.Text[0] == '-' || a.Text[0] == '(' || a.Text[0] == '!') && (len(a.Holes) == 0 || a.Holes[0].At > 0) {
			break
		}
		if a.Glob {
			roots = append(roots, w.item(*a))
		} else {
			roots = append(roots, a.Value)
		}
		n++
	}
	if len(roots) == 0 {
		roots = []Value{exact(".")}
	}
	below := Value{Holes: []Hole{{Kind: HolePath, Name: "{}"}}}
	var found []Value
	for _, r := range roots {
		for _, one := range r.Each() {
			found = append(found, join(one, below))
		}
	}
	match := either(found...)
	rest := argv[min(n, len(argv)):]
	w.started(argv, c, Wrap{Name: "find", Argv: argv[:min(n, len(argv))]}, func(i int, c ctx) {
		c.flags |= PerInput
		for k := 0; k < len(rest); k++ {
			switch rest[k].Text {
			case "-exec", "-execdir", "-ok", "-okdir":
			default:
				continue
			}
			end := k + 1
			for end < len(rest) && rest[end].Text != ";" && !(rest[end].Text == "+" && rest[end-1].Text == "{}") {
				end++
			}
			if cmd := rest[k+1 : end]; len(cmd) > 0 {
				v := match
				cc := c
				cc.via = slices.Clone(c.via)
				cc.via[len(cc.via)-1].Argv = argv[:n+k+1]
				w.sub(func() {
					if strings.HasSuffix(rest[k].Text, "dir") {
						w.st.dir = hole(HolePath, "{}")
					}
					w.launch(substitute(cmd, "{}", v), cc)
				})
			}
			k = end
		}
	})
}

// fd walks -x and -X.
func (w *walker) fd(argv []Arg, c ctx) {
	cut := -1
	for n := 1; n < len(argv); n++ {
		if t := argv[n].Text; t == "-x" || t == "-X" || t == "--exec" || t == "--exec-batch" {
			cut = n
			break
		}
	}
	if cut < 0 || cut+1 >= len(argv) {
		w.leaf(argv, c)
		return
	}
	root := exact("./")
	_, n := options(argv[:cut], 1, "dEetSoMcCjg", " --max-depth --exclude --extension --type --size --owner --color --base-directory --threads --changed-within --changed-before --search-path --min-depth --exact-depth ")
	if n+1 < cut {
		root = concat(argv[n+1].Value, exact("/"))
	}
	opts, _ := options(argv[:cut], 1, "dEetSoMcCjg", " --base-directory --search-path ")
	match := concat(root, Value{Holes: []Hole{{Kind: HolePath, Name: "{}"}}})
	cmd := argv[cut+1:]
	for i := range cmd {
		if cmd[i].Text == ";" {
			cmd = cmd[:i]
			break
		}
	}
	w.started(argv, c, Wrap{Name: "fd", Argv: argv[:cut+1]}, func(_ int, c ctx) {
		c.flags |= PerInput
		if d := value(opts, " -C --base-directory "); d != nil {
			w.st.dir = joinPath(w.st.dir, d.Value)
		}
		marked := false
		for i := range cmd {
			marked = marked || strings.Contains(cmd[i].Text, "{")
		}
		next := cmd
		if marked {
			for _, m := range [...]string{"{}", "{.}", "{/}", "{//}", "{/.}"} {
				next = substitute(next, m, match)
			}
		} else {
			next = append(cmd[:len(cmd):len(cmd)], Arg{Value: match, Quote: Expanded})
		}
		w.launch(next, c)
	})
}

// git walks what git can be told to run: aliases, hooks-like settings, -x.
func (w *walker) git(argv []Arg, c ctx) {
	w.started(argv, c, Wrap{Name: "git", Argv: argv[:1]}, func(i int, c ctx) {
		aliases := map[string]Value{}
		setting := func(key string, v Value, at *Arg) {
			key = strings.ToLower(key)
			a := *at
			a.Value = v
			switch {
			case strings.HasPrefix(key, "alias."):
				aliases[strings.TrimPrefix(key, "alias.")] = v
			case key == "core.sshcommand", key == "core.pager", key == "core.editor", key == "sequence.editor", key == "core.askpass",
				key == "diff.external", key == "core.fsmonitor", key == "gpg.program", key == "gpg.ssh.program", key == "credential.helper",
				strings.HasPrefix(key, "pager."), strings.HasPrefix(key, "credential.") && strings.HasSuffix(key, ".helper"),
				strings.HasSuffix(key, ".cmd"), strings.HasSuffix(key, ".textconv"), strings.HasPrefix(key, "filter."),
				strings.HasSuffix(key, ".driver"), key == "uploadpack.packobjectshook", strings.HasSuffix(key, ".command") && strings.HasPrefix(key, "diff."):
				if t, ok := v.Exact(); ok && (t == "" || t == "true" || t == "false" || t == "cat") {
					return
				}
				if strings.Contains(key, "credential") {
					if !strings.HasPrefix(v.Text, "!") {
						return
					}
					a.Value = a.slice(1, len(a.Text))
				}
				w.shellWord(&a, "git "+key, i, c)
			}
		}
		cfg := func(a *Arg) {
			if key, _, ok := strings.Cut(a.Text, "="); ok && len(a.Alts) == 0 {
				setting(key, a.slice(len(key)+1, len(a.Text)), a)
			}
		}
		n := 1
		for n < len(argv) {
			a := &argv[n]
			t := a.Text
			if len(t) < 2 || t[0] != '-' {
				break
			}
			n++
			switch {
			case t == "-c" && n < len(argv):
				cfg(&argv[n])
				n++
			case t == "-C" && n < len(argv):
				w.st.dir = joinPath(w.st.dir, argv[n].Value)
				n++
			case t == "--git-dir" || t == "--work-tree" || t == "--namespace" || t == "--exec-path" || t == "--super-prefix" || t == "--config-env" || t == "--attr-source":
				n++
			case strings.HasPrefix(t, "-c") && strings.Contains(t, "="):
				v := *a
				v.Value = a.slice(2, len(t))
				cfg(&v)
			}
		}
		for _, as := range c.assigns {
			a := Arg{Value: as.Value, Offset: as.Offset, End: as.Offset}
			switch as.Name {
			case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "EDITOR", "VISUAL", "PAGER", "SSH_ASKPASS":
				if t, ok := as.Value.Exact(); !ok || (t != "" && t != "true" && t != ":" && t != "cat" && t != "false" && t != "echo") {
					w.shellWord(&a, as.Name, i, c)
				}
			case "GIT_CONFIG_PARAMETERS":
				a.Text = strings.ReplaceAll(a.Text, "'", "")
				cfg(&a)
			}
			if k, ok := strings.CutPrefix(as.Name, "GIT_CONFIG_KEY_"); ok {
				for _, bs := range c.assigns {
					if bs.Name == "GIT_CONFIG_VALUE_"+k {
						setting(as.Value.Text, bs.Value, &Arg{Offset: bs.Offset, End: bs.Offset})
					}
				}
			}
		}
		if n >= len(argv) {
			return
		}
		sub, rest := argv[n].Text, argv[n+1:]
		if v, ok := aliases[strings.ToLower(sub)]; ok {
			a := argv[n]
			if strings.HasPrefix(v.Text, "!") && len(v.Alts) == 0 {
				a.Value = concat(append([]Value{v.slice(1, len(v.Text))}, joinArgs(rest))...)
				w.shellWord(&a, "git alias", i, c)
			} else if !w.calling(call{name: "git " + sub}) {
				w.calls = append(w.calls, call{name: "git " + sub})
				a.Value = concat(exact("git "), v, joinArgs(rest))
				w.shellWord(&a, "git alias", i, c)
				w.calls = w.calls[:len(w.calls)-1]
			}
			return
		}
		after := func(names string) {
			for k := range rest {
				a := rest[k]
				if has(names, a.Text) && k+1 < len(rest) {
					w.shellWord(&rest[k+1], "git "+sub, i, c)
					continue
				}
				if key, _, ok := strings.Cut(a.Text, "="); ok && has(names, key) && len(a.Alts) == 0 {
					a.Value = a.slice(len(key)+1, len(a.Text))
					w.shellWord(&a, "git "+sub, i, c)
				}
			}
		}
		switch sub {
		case "rebase":
			after(" -x --exec ")
		case "bisect":
			if len(rest) > 1 && rest[0].Text == "run" {
				w.launch(rest[1:], c)
			}
		case "submodule":
			for k := range rest {
				if rest[k].Text == "foreach" {
					tail := rest[k+1:]
					for len(tail) > 0 && strings.HasPrefix(tail[0].Text, "-") {
						tail = tail[1:]
					}
					w.shellWord(joinedArg(tail), "git submodule foreach", i, c)
					break
				}
			}
		case "for-each-repo":
		case "filter-branch":
			after(" --tree-filter --index-filter --env-filter --msg-filter --commit-filter --tag-name-filter --parent-filter --setup ")
		case "difftool", "mergetool":
			after(" -x --extcmd ")
		case "grep":
			for k := range rest {
				a := rest[k]
				if t := a.Text; strings.HasPrefix(t, "-O") && len(t) > 2 && len(a.Alts) == 0 {
					a.Value = a.slice(2, len(t))
					w.shellWord(&a, "git grep -O", i, c)
				} else if p := "--open-files-in-pager="; strings.HasPrefix(t, p) && len(a.Alts) == 0 {
					a.Value = a.slice(len(p), len(t))
					w.shellWord(&a, "git grep -O", i, c)
				}
			}
		case "clone", "fetch", "pull", "ls-remote", "push", "archive", "fetch-pack", "send-pack":
			after(" -u --upload-pack --receive-pack --exec ")
			for k := range rest {
				if p := "ext::"; strings.HasPrefix(rest[k].Text, p) && len(rest[k].Alts) == 0 {
					a := rest[k]
					a.Value = a.slice(len(p), len(a.Text))
					a.Text = strings.ReplaceAll(a.Text, "% ", `\ `) // its way to write a blank
					w.shellWord(&a, "git ext::", i, c)
				}
			}
			for k := range rest {
				if t := rest[k].Text; (t == "-c" || t == "--config") && k+1 < len(rest) {
					cfg(&rest[k+1])
				}
			}
		case "config":
			// Not run now, but with the next git: the value is code all the same.
			k := 0
			for k < len(rest) && strings.HasPrefix(rest[k].Text, "-") {
				k++
			}
			if k < len(rest) && (rest[k].Text == "set") {
				k++
				for k < len(rest) && strings.HasPrefix(rest[k].Text, "-") {
					k++
				}
			}
			if k+1 < len(rest) {
				key, v := rest[k].Text, rest[k+1]
				if strings.HasPrefix(strings.ToLower(key), "alias.") {
					if strings.HasPrefix(v.Text, "!") && len(v.Alts) == 0 {
						v.Value = v.slice(1, len(v.Text))
						w.shellWord(&v, "git alias", i, c)
					}
				} else {
					setting(key, v.Value, &v)
				}
			}
		}
	})
}

// ssh walks the remote command: the words after the host, joined.
func (w *walker) ssh(name string, argv []Arg, c ctx) {
	short := "bcDEeFIiJLlmOopQRSWwBP"
	opts, n := options(argv, 1, short, " --ssh --port --predict --family ")
	here := hereArg(c)
	w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
		for k := range opts {
			o := opts[k]
			if o.name != "-o" || o.value == nil || len(o.value.Alts) > 0 {
				continue
			}
			sep := strings.IndexAny(o.value.Text, "= ")
			if sep < 0 {
				continue
			}
			switch strings.ToLower(o.value.Text[:sep]) {
			case "proxycommand", "localcommand", "knownhostscommand":
				a := *o.value
				a.Value = a.slice(sep+1, len(a.Text))
				if a.Text != "none" {
					w.shellWord(&a, "ssh -o", i, c)
				}
			}
		}
		if n >= len(argv) {
			return
		}
		host := argv[n].String()
		_, m := options(argv, n+1, short, "")
		cmd := argv[min(m, len(argv)):]
		c.flags |= Remote
		c.via = slices.Clone(c.via)
		c.via[len(c.via)-1] = Wrap{Name: name, Argv: argv[:min(m, len(argv))], Host: host}
		w.st = w.elsewhere()
		if len(cmd) == 0 {
			if c.in.Text != nil {
				in := *c.in.Text
				c.in, c.stream = Input{}, nil
				w.code(in, Bash, here, "ssh input", c)
			}
			return
		}
		w.code(joinedArg(cmd).Value, Bash, joinedArg(cmd), "ssh", c)
	})
}

// container walks docker exec and its many cousins.
func (w *walker) container(name string, argv []Arg, c ctx) {
	host, cmd := "", []Arg(nil)
	var dir *Arg
	own := 0
	switch name {
	case "vagrant":
		for k := 1; k+1 < len(argv); k++ {
			if t := argv[k].Text; t == "-c" || t == "--command" {
				w.started(argv, c, Wrap{Name: name, Argv: argv[:k]}, func(i int, c ctx) {
					c.flags |= Remote
					w.st = w.elsewhere()
					w.shellWord(&argv[k+1], "vagrant ssh", i, c)
				})
				return
			}
		}
	case "adb":
		for k := 1; k+1 < len(argv); k++ {
			if argv[k].Text == "shell" {
				w.started(argv, c, Wrap{Name: name, Argv: argv[:k+1]}, func(i int, c ctx) {
					c.flags |= Remote
					w.st = w.elsewhere()
					w.shellWord(joinedArg(argv[k+1:]), "adb shell", i, c)
				})
				return
			}
		}
	case "wsl":
		_, n := options(argv, 1, "du", " --distribution --user --cd --exec -e ")
		for k := 1; k < len(argv); k++ {
			if t := argv[k].Text; t == "-e" || t == "--exec" || t == "--" {
				n = k + 1
				break
			}
		}
		own, cmd = n, argv[min(n, len(argv)):]
	default:
		short := "ueweplhvcHtfapmi"
		long := " --user --env --workdir --env-file --context --host --config --name --volume --network --net --publish --entrypoint --mount --label --hostname --platform --memory --cpus --add-host --cap-add --cap-drop --device --restart --pull --log-driver --ulimit --security-opt --tmpfs --gpus --ipc --pid --userns --uts --file --project-name --profile --project-directory --index --log-level --root --bind --machine --shm-size --dns --expose --link --volumes-from --cidfile --group-add --runtime --annotation --cpuset-cpus --oom-score-adj --stop-signal --stop-timeout --image "
		if name == "docker" || name == "podman" || name == "nerdctl" || name == "finch" {
			short = "uewplvHcam" + "h"
		}
		_, n := options(argv, 1, "HclfpD", long)
		if n < len(argv) && (argv[n].Text == "compose" || argv[n].Text == "container" || argv[n].Text == "machine") {
			_, n = options(argv, n+1, "fp", long)
		}
		if n >= len(argv) {
			break
		}
		switch sub := argv[n].Text; sub {
		case "exec", "run", "shell", "ssh", "enter", "create":
			opts, m := options(argv, n+1, strings.ReplaceAll(short, "H", ""), long)
			if name == "distrobox" || name == "toolbox" {
				for k := n + 1; k < len(argv); k++ {
					if t := argv[k].Text; t == "--" || t == "-e" {
						m = k
						break
					}
				}
			}
			if m < len(argv) {
				host = argv[m].String()
				m++
			}
			if m < len(argv) && argv[m].Text == "--" {
				m++
			}
			own, cmd = m, argv[min(m, len(argv)):]
			dir = value(opts, " -w --workdir ")
			if e := value(opts, " --entrypoint "); e != nil && !e.IsEmpty() {
				cmd = append([]Arg{*e}, cmd...)
			}
		}
	}
	if len(cmd) == 0 {
		w.leaf(argv, c)
		return
	}
	w.started(argv, c, Wrap{Name: name, Argv: argv[:min(own, len(argv))], Host: host}, func(_ int, c ctx) {
		c.flags |= Contained
		w.st = w.elsewhere()
		if dir != nil && strings.HasPrefix(dir.Text, "/") {
			w.st.dir = dir.Value
		}
		if strings.HasPrefix(cmd[0].Text, "-") {
			// An image with an entry point of its own takes options here.
			return
		}
		w.launch(cmd, c)
	})
}

func (w *walker) kubectl(name string, argv []Arg, c ctx) {
	if name == "k3s" || name == "microk8s" {
		if len(argv) > 2 && argv[1].Text == "kubectl" {
			w.kubectl("kubectl", argv[1:], c)
			return
		}
		w.leaf(argv, c)
		return
	}
	long := " --namespace --context --kubeconfig --cluster --user --container --filename --image --server --token --as --request-timeout --cache-dir --restart --env --labels --overrides --target "
	_, n := options(argv, 1, "ncfsl", long)
	if n < len(argv) && has(" exec run debug attach rsh ", argv[n].Text) {
		for k := n + 1; k < len(argv); k++ {
			if argv[k].Text == "--" && k+1 < len(argv) {
				host := ""
				if _, m := options(argv, n+1, "ncfsl", long); m < k {
					host = argv[m].String()
				}
				w.started(argv, c, Wrap{Name: name, Argv: argv[:k+1], Host: host}, func(_ int, c ctx) {
					c.flags |= Contained | Remote
					w.st = w.elsewhere()
					w.launch(argv[k+1:], c)
				})
				return
			}
		}
		if argv[n].Text == "exec" || argv[n].Text == "rsh" {
			if _, m := options(argv, n+1, "ncfsl", long); m+1 < len(argv) {
				w.started(argv, c, Wrap{Name: name, Argv: argv[:m+1], Host: argv[m].String()}, func(_ int, c ctx) {
					c.flags |= Contained | Remote
					w.st = w.elsewhere()
					w.launch(argv[m+1:], c)
				})
				return
			}
		}
	}
	w.leaf(argv, c)
}

// tar walks the options that run programs.
func (w *walker) tar(argv []Arg, c ctx) {
	w.started(argv, c, Wrap{Name: "tar", Argv: argv[:1]}, func(i int, c ctx) {
		for n := 1; n < len(argv); n++ {
			a := argv[n]
			if len(a.Alts) > 0 {
				continue
			}
			key, _, cut := strings.Cut(a.Text, "=")
			v := a
			if cut {
				v.Value = a.slice(len(key)+1, len(a.Text))
			} else if n+1 < len(argv) {
				v = argv[n+1]
			} else {
				continue
			}
			switch key {
			case "--to-command", "--info-script", "--new-volume-script", "--use-compress-program", "--rsh-command", "-F", "-I":
				w.shellWord(&v, "tar "+key, i, c)
			case "--checkpoint-action":
				if p := "exec="; strings.HasPrefix(v.Text, p) && len(v.Alts) == 0 {
					v.Value = v.slice(len(p), len(v.Text))
					v.Text = unquoteWord(v.Text)
					w.shellWord(&v, "tar "+key, i, c)
				}
			}
		}
	})
}

// cmake walks cmake -E, a tool box that is the same on every system: its tools
// are walked as the programs they stand for. The manual is that of cmake 4.1.
func (w *walker) cmake(argv []Arg, c ctx) bool {
	if len(argv) > 2 && argv[1].Text == "-P" {
		i := w.leaf(argv, c)
		if v, ok := w.fed(&argv[2], "cmake", i, c); ok {
			w.f.Code = append(w.f.Code, Code{Language: "cmake", Text: v, Leaf: i, Offset: argv[2].Offset})
		} else if v, ok := w.written(argv[2].Value); ok {
			w.f.Code = append(w.f.Code, Code{Language: "cmake", Text: v, Leaf: i, Offset: argv[2].Offset})
		}
		return true
	}
	if len(argv) < 4 || argv[1].Text != "-E" {
		return false
	}
	var words []string
	rest := argv[3:]
	dir := Value{}
	switch argv[2].Text {
	case "env", "time", "touch", "cat", "tar":
		words = []string{argv[2].Text}
	case "chdir":
		dir, rest = rest[0].Value, rest[1:]
	case "rm":
		words = []string{"rm"}
	case "remove":
		words = []string{"rm", "-f"}
	case "remove_directory":
		words = []string{"rm", "-rf"}
	case "copy", "copy_if_different", "copy_if_newer":
		words = []string{"cp"}
	case "copy_directory", "copy_directory_if_different", "copy_directory_if_newer":
		words = []string{"cp", "-r"}
	case "rename":
		words = []string{"mv"}
	case "create_symlink":
		words = []string{"ln", "-s"}
	case "create_hardlink":
		words = []string{"ln"}
	default:
		return false
	}
	next := make([]Arg, 0, len(words)+len(rest))
	for _, t := range words {
		next = append(next, Arg{Value: exact(t), Offset: argv[2].Offset, End: argv[2].End})
	}
	next = append(next, rest...)
	w.started(argv, c, Wrap{Name: "cmake", Argv: argv[:3]}, func(_ int, c ctx) {
		if argv[2].Text == "chdir" {
			w.st.dir = joinPath(w.st.dir, dir)
		}
		if len(next) > 0 {
			w.launch(next, c)
		}
	})
	return true
}

// awk notes the program text and walks the commands in it: system("..."),
// "..." | getline, print | "...".
func (w *walker) awk(argv []Arg, c ctx) {
	opts, n := options(argv, 1, "FvfeiElD", " --field-separator --assign --file --source --include --exec --load ")
	outer := c // with what feeds it
	w.started(argv, c, Wrap{Name: "awk", Argv: argv[:1]}, func(i int, c ctx) {
		note := func(v Value, off int) {
			if len(w.f.Code) < 256 {
				w.f.Code = append(w.f.Code, Code{Language: "awk", Text: v, Leaf: i, Offset: off})
			}
			for _, cmd := range awkCommands(v.Text) {
				a := Arg{Value: exact(cmd), Offset: off, End: off}
				w.shellWord(&a, "awk", i, c)
			}
		}
		inline := true
		for k := range opts {
			switch opts[k].name {
			case "-f", "--file", "-E", "--exec":
				inline = false
				if opts[k].value == nil {
					continue
				}
				if v, ok := w.fed(opts[k].value, "awk", i, outer); ok {
					note(v, opts[k].value.Offset)
				} else {
					w.codeFile("awk", opts[k].value.Value, i, opts[k].value.Offset)
				}
			case "-e", "--source":
				inline = false
				if opts[k].value != nil {
					note(opts[k].value.Value, opts[k].value.Offset)
				}
			}
		}
		if inline && n < len(argv) {
			note(argv[n].Value, argv[n].Offset)
		}
	})
}

// awkCommands returns the constant strings that an awk program hands to a
// shell. A string joined with something unknown keeps what is known.
func awkCommands(src string) []string {
	var out []string
	last, lastEnd := "", -1
	for i := 0; i < len(src) && len(out) < 64; {
		switch ch := src[i]; {
		case ch == '#':
			for i < len(src) && src[i] != '\n' {
				i++
			}
			continue
		case ch == '"':
			start := i
			i++
			var b strings.Builder
			for i < len(src) && src[i] != '"' {
				if src[i] == '\\' && i+1 < len(src) {
					b.WriteString(ansiC(src[i:i+2], false))
					i += 2
					continue
				}
				b.WriteByte(src[i])
				i++
			}
			i++
			before := strings.TrimRight(src[:start], " \t")
			last, lastEnd = b.String(), i
			switch {
			case strings.HasSuffix(before, "system("):
				out = append(out, last)
			case strings.HasSuffix(before, "|") && !strings.HasSuffix(before, "||"), strings.HasSuffix(before, "|&"):
				out = append(out, last)
			}
			continue
		case ch == '|' && lastEnd >= 0 && strings.TrimSpace(src[lastEnd:i]) == "":
			rest := strings.TrimLeft(strings.TrimPrefix(src[i+1:], "&"), " \t")
			if strings.HasPrefix(rest, "getline") {
				out = append(out, last)
			}
		}
		i++
	}
	return out
}

// sed walks the e command and the e flag of s, and notes w.
func (w *walker) sed(argv []Arg, c ctx) {
	opts, n := options(argv, 1, "efl", " --expression --file --line-length ")
	outer := c // with what feeds it
	w.started(argv, c, Wrap{Name: "sed", Argv: argv[:1]}, func(i int, c ctx) {
		scripts := []*Arg{}
		for k := range opts {
			o := opts[k]
			switch {
			case o.value == nil:
			case o.name == "-e" || o.name == "--expression":
				scripts = append(scripts, o.value)
			case o.name == "-f" || o.name == "--file":
				s := *o.value
				if v, ok := w.fed(o.value, "sed", i, outer); ok {
					s.Value = v
				} else if text, ok := w.readScript(o.value.Value, o.value.Offset); ok {
					s.Value = exact(text)
				} else {
					continue
				}
				scripts = append(scripts, &s)
				if len(w.f.Code) < 256 {
					w.f.Code = append(w.f.Code, Code{Language: "sed", Text: s.Value, Leaf: i, Offset: s.Offset})
				}
			}
		}
		if len(scripts) == 0 && !given(opts, " -f --file ") && n < len(argv) {
			scripts = append(scripts, &argv[n])
		}
		for _, s := range scripts {
			if !w.step(1 + len(s.Text)/64) {
				return
			}
			for _, cmd := range sedCommands(s.Text) {
				if cmd == "" {
					w.opaque(Opaque{Leaf: i, Text: hole(HoleInput, ""), From: c.in.From, Why: "sed e", Offset: s.Offset})
					continue
				}
				a := Arg{Value: exact(cmd), Offset: s.Offset, End: s.End}
				w.shellWord(&a, "sed e", i, c)
			}
		}
	})
}

// sedCommands returns the shell commands in a sed script: the text after e, the
// replacement of s///e. An empty string is the pattern space, unknown.
func sedCommands(src string) []string {
	var out []string
	for line := range strings.SplitSeq(src, "\n") {
		for i := 0; i < len(line) && len(out) < 64; {
			// An address, then a command.
			for i < len(line) && strings.IndexByte(" \t;{}!,0123456789$~+", line[i]) >= 0 {
				i++
			}
			if i >= len(line) {
				break
			}
			switch ch := line[i]; ch {
			case '/', '\\':
				d := ch
				if ch == '\\' && i+1 < len(line) {
					i++
					d = line[i]
				}
				i = skipDelim(line, i+1, d)
				for i < len(line) && (line[i] == 'I' || line[i] == 'M') {
					i++
				}
			case 's', 'y':
				if i+1 >= len(line) {
					return out
				}
				d := line[i+1]
				mid := skipDelim(line, i+2, d)
				end := skipDelim(line, mid, d)
				flags := end
				for flags < len(line) && strings.IndexByte("gpiImMe0123456789", line[flags]) >= 0 {
					flags++
				}
				if ch == 's' && strings.IndexByte(line[end:flags], 'e') >= 0 {
					rep := line[mid:max(mid, end-1)]
					if strings.ContainsAny(rep, "&\\") {
						rep = ""
					}
					out = append(out, rep)
				}
				i = flags
				if i < len(line) && line[i] == 'w' {
					i = len(line)
				}
			case 'e':
				out = append(out, strings.TrimSpace(line[i+1:]))
				i = len(line)
			case 'a', 'i', 'c', 'r', 'R', 'w', 'W', 'b', 't', 'T', ':', '#':
				if ch == 'b' || ch == 't' || ch == 'T' {
					if j := strings.IndexByte(line[i:], ';'); j >= 0 {
						i += j
						continue
					}
				}
				i = len(line)
			default:
				i++
			}
		}
	}
	return out
}

// skipDelim returns the index after the next unescaped d at or after i.
func skipDelim(s string, i int, d byte) int {
	for i < len(s) {
		if s[i] == '\\' {
			i += 2
			continue
		}
		if s[i] == d {
			return i + 1
		}
		i++
	}
	return len(s)
}

// vim walks the ! commands of -c, --cmd and +.
func (w *walker) vim(argv []Arg, c ctx) {
	outer := c // with what feeds it
	w.started(argv, c, Wrap{Name: "vim", Argv: argv[:1]}, func(i int, c ctx) {
		var typed []Value // one after the other: what one opens the next writes
		at := 0
		for n := 1; n < len(argv); n++ {
			a := argv[n]
			switch {
			case (a.Text == "-S" || a.Text == "-s") && n+1 < len(argv):
				// A script: one that cannot be read is the person's own.
				if v, ok := w.fed(&argv[n+1], "vim", i, outer); ok {
					w.typed("vim", i, Input{Text: &v}, c)
				} else if text, ok := w.readScript(argv[n+1].Value, a.Offset); ok {
					v := exact(text)
					w.typed("vim", i, Input{Text: &v}, c)
				}
				continue
			case (a.Text == "-c" || a.Text == "--cmd" || a.Text == "-sc") && n+1 < len(argv):
				n++
				a = argv[n]
			case len(a.Text) > 1 && a.Text[0] == '+' && len(a.Alts) == 0:
				a.Value = a.slice(1, len(a.Text))
			default:
				continue
			}
			if len(typed) == 0 {
				at = a.Offset
			}
			typed = append(typed, a.Value)
			w.bang(a, i, c)
		}
		if len(typed) > 0 && len(w.f.Code) < 256 {
			w.f.Code = append(w.f.Code, Code{Language: "vim", Text: joinValues(typed, "\n"), Leaf: i, Offset: at})
		}
		if has(" ex vi vim nvim ", programName(argv[0].Text)) {
			w.typed("vim", i, c.in, c)
		}
	})
}

// bang walks :!cmd, :r !cmd, :w !cmd, system('cmd') and their like.
func (w *walker) bang(a Arg, leaf int, c ctx) {
	if len(a.Alts) > 0 {
		return
	}
	j := strings.IndexByte(a.Text, '!')
	head := ""
	if j >= 0 {
		head = strings.Trim(a.Text[:j], " :%.,$0123456789")
	}
	if j >= 0 && has("  r read w write sil silent exe execute ter terminal ", " "+head) || (j >= 0 && head == "") {
		a.Value = a.slice(j+1, len(a.Text))
		w.shellWord(&a, ":!", leaf, c)
		return
	}
	if j >= 0 && (strings.HasPrefix(head, "sil") || strings.HasPrefix(head, "r") && len(head) <= 4 || strings.HasPrefix(head, "w") && len(head) <= 5) {
		a.Value = a.slice(j+1, len(a.Text))
		w.shellWord(&a, ":!", leaf, c)
		return
	}
	for _, p := range [...]string{"system(", "systemlist(", "os.execute(", "io.popen(", "jobstart(", "termopen(", "term_start("} {
		k := strings.Index(a.Text, p)
		if k < 0 {
			continue
		}
		k += len(p)
		if k < len(a.Text) && (a.Text[k] == '\'' || a.Text[k] == '"') {
			if end := strings.IndexByte(a.Text[k+1:], a.Text[k]); end >= 0 {
				b := a
				b.Value = a.slice(k+1, k+1+end)
				w.shellWord(&b, p, leaf, c)
			}
		}
	}
}

// typed walks the commands that an editor reads from standard input.
func (w *walker) typed(lang string, leaf int, in Input, c ctx) {
	if in.Text == nil || in.Text.Text == "" && len(in.Text.Holes)+len(in.Text.Alts) > 0 {
		if !in.From.Empty() {
			w.opaque(Opaque{Leaf: leaf, Text: hole(HoleInput, ""), From: in.From, Why: lang + " input", Offset: c.pos[0]})
		}
		return
	}
	if len(w.f.Code) < 256 {
		w.f.Code = append(w.f.Code, Code{Language: lang, Text: *in.Text, Leaf: leaf, Offset: c.pos[0]})
	}
	for line := range strings.SplitSeq(in.Text.Text, "\n") {
		if !w.step(1) {
			return
		}
		if strings.Contains(line, "!") {
			w.bang(Arg{Value: exact(line), Offset: c.pos[0], End: c.pos[1]}, leaf, c)
		}
	}
}

// made is the text of a file that the command itself makes or gives by a
// descriptor; what was there before is the project's own.
func (w *walker) made(a *Arg) (Value, bool) {
	if v, ok := w.written(a.Value); ok {
		return v, true
	}
	if len(a.Holes) > 0 && a.Holes[0].Kind == HolePath {
		return w.procText(a.Holes[0].Name)
	}
	return Value{}, false
}

// debugger walks the commands that gdb and lldb are given.
func (w *walker) debugger(name string, argv []Arg, c ctx) {
	w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
		for n := 1; n < len(argv); n++ {
			v := argv[n]
			key, _, joined := strings.Cut(v.Text, "=")
			switch key {
			case "-ex", "-iex", "-o", "-O", "--eval-command", "-eval-command", "--init-eval-command", "--one-line", "--one-line-before-file":
				if joined && len(v.Alts) == 0 {
					v.Value = v.slice(len(key)+1, len(v.Text))
				} else if n++; n < len(argv) {
					v = argv[n]
				}
			case "--args":
				w.launch(argv[n+1:], c)
				return
			default:
				continue
			}
			if len(v.Alts) > 0 {
				continue
			}
			for _, p := range [...]string{"shell ", "!", "platform shell ", "pipe ", "|"} {
				if !strings.HasPrefix(v.Text, p) {
					continue
				}
				if k := strings.IndexByte(v.Text, '|'); p == "pipe " && k > 0 {
					p = v.Text[:k+1]
				}
				a := v
				a.Value = v.slice(len(p), len(v.Text))
				w.shellWord(&a, name, i, c)
				break
			}
			for _, p := range [...]string{"python ", "python-interactive ", "py ", "script "} {
				if strings.HasPrefix(v.Text, p) && len(w.f.Code) < 256 {
					w.f.Code = append(w.f.Code, Code{Language: "python", Text: v.slice(len(p), len(v.Text)), Leaf: i, Offset: v.Offset})
				}
			}
		}
	})
}

// ninja walks the commands of a build file that the command itself writes. Others
// are made by a generator, and large.
func (w *walker) ninja(argv []Arg, c ctx) {
	opts, _ := options(argv, 1, "Cfjkldtw", "")
	file := value(opts, " -f ")
	if file == nil {
		file = &Arg{Value: exact("build.ninja")}
	}
	w.started(argv, c, Wrap{Name: "ninja", Argv: argv[:1]}, func(i int, inner ctx) {
		if d := value(opts, " -C "); d != nil {
			w.st.dir = joinPath(w.st.dir, d.Value)
		}
		v, ok := w.made(file)
		text, exact := v.Exact()
		if !ok || !exact {
			return
		}
		for line := range strings.SplitSeq(text, "\n") {
			if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "command"); ok && w.step(1) {
				a := Arg{Value: Value{Text: strings.TrimLeft(cmd, " =")}, Offset: c.pos[0], End: c.pos[1]}
				w.shellWord(&a, "ninja", i, inner)
			}
		}
	})
}

// tmux walks commands for new windows and keys typed into panes.
func (w *walker) tmux(name string, argv []Arg, c ctx) {
	w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
		if name == "screen" {
			for n := range argv {
				switch t := argv[n].Text; {
				case t == "-X" && n+2 < len(argv) && argv[n+1].Text == "stuff":
					a := argv[n+2]
					a.Text = ansiC(strings.TrimRight(a.Text, "\n\r"), false)
					w.shellWord(&a, "screen stuff", i, c)
					return
				case t == "-X" && n+2 < len(argv) && (argv[n+1].Text == "exec" || argv[n+1].Text == "screen"):
					w.launch(argv[n+2:], c)
					return
				}
			}
			_, n := options(argv, 1, "cehpsStT", "")
			if n < len(argv) && !given2(argv[:n], "-X", "-r", "-ls", "-list", "-wipe") {
				w.launch(argv[n:], c)
			}
			return
		}
		if name != "tmux" && name != "byobu" {
			if name == "zellij" {
				for n := range argv {
					if argv[n].Text == "--" && n+1 < len(argv) {
						w.launch(argv[n+1:], c)
						return
					}
					if argv[n].Text == "write-chars" && n+1 < len(argv) {
						w.shellWord(&argv[n+1], "zellij write-chars", i, c)
						return
					}
				}
				return
			}
			_, n := options(argv, 1, "e", "")
			if n+1 < len(argv) {
				w.launch(argv[n+1:], c)
			}
			return
		}
		_, n := options(argv, 1, "cfLSTD", "")
		// Several tmux commands may follow each other with ";".
		for n < len(argv) {
			end := n
			for end < len(argv) && argv[end].Text != ";" {
				end++
			}
			w.tmuxCommand(argv[n:end], i, c)
			n = end + 1
		}
	})
}

func given2(argv []Arg, names ...string) bool {
	for i := range argv {
		if slices.Contains(names, argv[i].Text) {
			return true
		}
	}
	return false
}

func (w *walker) tmuxCommand(cmd []Arg, leaf int, c ctx) {
	if len(cmd) < 2 {
		return
	}
	switch cmd[0].Text {
	case "send-keys", "send":
		_, n := options(cmd, 1, "tNc", "")
		var typed []Arg
		for _, a := range cmd[min(n, len(cmd)):] {
			switch a.Text {
			case "Enter", "C-m", "C-j", "KPEnter":
				w.shellWord(joinedArg(typed), "tmux send-keys", leaf, c)
				typed = nil
				continue
			case "Space":
				continue
			}
			typed = append(typed, a)
		}
		w.shellWord(joinedArg(typed), "tmux send-keys", leaf, c)
	case "run-shell", "run", "if-shell", "if", "pipe-pane", "pipep":
		_, n := options(cmd, 1, "tdc", "")
		if n < len(cmd) {
			w.shellWord(&cmd[n], "tmux "+cmd[0].Text, leaf, c)
		}
	case "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "respawnp", "respawn-window", "respawnw", "display-popup", "popup":
		_, n := options(cmd, 1, "cFnstxyeflbdhwTES", "")
		if cmd[0].Text == "new-window" || cmd[0].Text == "neww" || strings.HasPrefix(cmd[0].Text, "respawn") {
			_, n = options(cmd, 1, "cFnte", "")
		} else if strings.HasPrefix(cmd[0].Text, "new") {
			_, n = options(cmd, 1, "cFnstxyef", "")
		} else if strings.HasPrefix(cmd[0].Text, "split") {
			_, n = options(cmd, 1, "cFltpe", "")
		}
		if n == len(cmd)-1 {
			w.shellWord(&cmd[n], "tmux "+cmd[0].Text, leaf, c)
		} else if n < len(cmd) {
			w.launch(cmd[n:], c)
		}
	}
}

// packageRunner walks npx and its like: the package's program is the leaf, a
// -c string is code.
func (w *walker) packageRunner(name string, argv []Arg, from int, c ctx) {
	short, long := "pc", " --package --call --node-arg --shell "
	switch name {
	case "uvx":
		short, long = "pwf", " --from --with --python --index --index-url --with-editable --with-requirements --directory --project --env-file --refresh-package "
	case "pipx":
		if len(argv) < 2 || argv[1].Text != "run" {
			w.leaf(argv, c)
			return
		}
		from = 2
		short, long = "", " --spec --python --pip-args --index-url --backend "
	case "bunx", "pnpx":
		long = " --package --shell "
	}
	opts, n := options(argv, from, short, long)
	w.started(argv, c, Wrap{Name: name, Argv: argv[:min(n, len(argv))]}, func(i int, c ctx) {
		if code := value(opts, " -c --call "); code != nil && name != "uvx" {
			w.shellWord(code, name+" -c", i, c)
			return
		}
		if n < len(argv) {
			next := slices.Clone(argv[n:])
			if t := next[0].Text; len(next[0].Holes)+len(next[0].Alts) == 0 {
				// rimraf@5 runs rimraf.
				if at := strings.LastIndexByte(t, '@'); at > 0 {
					next[0].Text = t[:at]
				}
			}
			w.launch(next, c)
		}
	})
}

// npm walks package scripts and exec.
func (w *walker) npm(name string, argv []Arg, c ctx) bool {
	long := " --prefix --workspace --filter --dir --cwd --config --registry --userconfig --loglevel "
	opts, n := options(argv, 1, "CwF", long)
	if n >= len(argv) {
		if name == "yarn" || name == "bun" || name == "deno" {
			return false
		}
		return false
	}
	sub := argv[n].Text
	dir := value(opts, " --prefix -C --dir --cwd ")
	switch {
	case sub == "exec" || sub == "x" || sub == "dlx":
		if name == "deno" {
			return false
		}
		opts2, m := options(argv, n+1, "pc", " --package --call --workspace ")
		w.started(argv, c, Wrap{Name: name, Argv: argv[:min(m, len(argv))]}, func(i int, c ctx) {
			if code := value(opts2, " -c --call "); code != nil {
				w.shellWord(code, name+" exec -c", i, c)
				return
			}
			if m < len(argv) {
				next := slices.Clone(argv[m:])
				if t := next[0].Text; len(next[0].Holes)+len(next[0].Alts) == 0 {
					if at := strings.LastIndexByte(t, '@'); at > 0 {
						next[0].Text = t[:at]
					}
				}
				w.launch(next, c)
			}
		})
		return true
	case sub == "pkg" && n+1 < len(argv) && argv[n+1].Text == "set":
		for k := range argv[n+2:] {
			a := &argv[n+2+k]
			key, _, _ := strings.Cut(a.Text, "=")
			script, ok := strings.CutPrefix(key, "scripts.")
			if !ok {
				script, ok = strings.CutPrefix(strings.TrimSuffix(key, "]"), "scripts[")
			}
			if ok && len(a.Alts) == 0 && len(key) < len(a.Text) {
				w.setScript(script, a.slice(len(key)+1, len(a.Text)))
			}
		}
		return false
	case sub == "set-script" && n+2 < len(argv):
		w.setScript(argv[n+1].Text, argv[n+2].Value)
		return false
	case name == "deno" && (sub == "eval" || sub == "run"):
		i := w.leaf(argv, c)
		_, m := options(argv, n+1, "cr", " --config --import-map --ext ")
		if m < len(argv) {
			if v, ok := w.fed(&argv[m], "node", i, c); ok && sub == "run" {
				w.f.Code = append(w.f.Code, Code{Language: "node", Text: v, Leaf: i, Offset: argv[m].Offset})
			} else if sub == "eval" {
				w.f.Code = append(w.f.Code, Code{Language: "node", Text: argv[m].Value, Leaf: i, Offset: argv[m].Offset})
			} else {
				w.codeFile("node", argv[m].Value, i, argv[m].Offset)
			}
		}
		return true
	}
	script := ""
	k := n
	switch sub {
	case "run", "run-script", "rum", "urn":
		_, k = options(argv, n+1, "wF", long)
		if k < len(argv) {
			script = argv[k].Text
		}
	case "test", "t", "tst", "start", "stop", "restart":
		script = sub
		if sub == "t" || sub == "tst" {
			script = "test"
		}
	case "install", "i", "ci", "add":
		return false
	default:
		if name == "npm" || name == "deno" {
			return false
		}
		script = sub // yarn build, pnpm build, bun build.ts
	}
	if script == "" {
		return false
	}
	if name == "bun" && (strings.ContainsAny(script, "./") || script == "test") {
		return false
	}
	w.started(argv, c, Wrap{Name: name, Argv: argv[:min(k+1, len(argv))]}, func(i int, c ctx) {
		if dir != nil {
			w.st.dir = joinPath(w.st.dir, dir.Value)
		}
		w.packageScript(script, argv[min(k+1, len(argv)):], i, c, sub != script)
	})
	return true
}

// bunDeno handles bun FILE and deno run FILE, which interpreter() sees first.
func (w *walker) bunDeno(argv []Arg, file, leaf int, c ctx) {
	sub := argv[file].Text
	if strings.ContainsAny(sub, "./") {
		w.codeFile("node", argv[file].Value, leaf, argv[file].Offset)
		return
	}
	from := len(w.f.Leaves)
	inner := c
	inner.out, inner.outKind = nil, OutputInherit
	inner.via = via(c.via, Wrap{Name: w.f.Leaves[leaf].Name, Argv: argv[:file+1]})
	rest := argv[file+1:]
	_, n := options(rest, 0, "cr", " --config --cwd --filter --import-map ")
	switch sub {
	case "x", "exec":
		if n < len(rest) {
			if sub == "exec" {
				w.shellWord(&rest[n], "bun exec", leaf, inner)
			} else {
				w.sub(func() { w.launch(rest[n:], inner) })
			}
		}
	case "eval":
		if n < len(rest) {
			w.f.Code = append(w.f.Code, Code{Language: "node", Text: rest[n].Value, Leaf: leaf, Offset: rest[n].Offset})
		}
	case "run", "task":
		if n < len(rest) {
			if v, ok := w.fed(&rest[n], "node", leaf, c); ok {
				w.f.Code = append(w.f.Code, Code{Language: "node", Text: v, Leaf: leaf, Offset: rest[n].Offset})
			} else if strings.ContainsAny(rest[n].Text, "./") {
				w.codeFile("node", rest[n].Value, leaf, rest[n].Offset)
			} else {
				w.sub(func() { w.packageScript(rest[n].Text, rest[n+1:], leaf, inner, true) })
			}
		}
	case "install", "add", "remove", "update", "test", "build", "init", "create", "link", "unlink", "pm", "outdated", "publish", "upgrade", "lint", "fmt", "check", "cache", "info", "doc", "compile", "bench", "repl", "i", "a", "rm", "audit", "why", "patch", "types", "completions", "jsr", "serve", "coverage", "deploy", "uninstall":
	default:
		w.sub(func() { w.packageScript(sub, rest, leaf, inner, false) })
	}
	w.runs(leaf, from)
}

// setScript remembers a script that the command puts into package.json.
func (w *walker) setScript(name string, text Value) {
	if w.npmScripts == nil {
		w.npmScripts = map[string]Value{}
	}
	w.npmScripts[name] = text
	w.charge(text)
}

// packageScript walks a script of package.json and those npm runs around it.
func (w *walker) packageScript(script string, args []Arg, leaf int, c ctx, must bool) {
	if script == "" || w.calling(call{name: "script " + script}) {
		return
	}
	content, ok := w.readScript(exact("package.json"), c.pos[0])
	if !ok && w.npmScripts == nil {
		// With --prefix and its kin the folder is not the leaf's own.
		full := joinPath(w.st.dir, exact("package.json"))
		if at, known := full.Exact(); must && known && w.world.ReadFile != nil {
			w.problem(Problem{Kind: Unread, Path: at, Leaf: leaf, Offset: c.pos[0]})
		}
		return
	}
	scripts := packageScripts(content)
	w.calls = append(w.calls, call{name: "script " + script})
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	for _, name := range [...]string{"pre" + script, script, "post" + script} {
		v, ok := w.npmScripts[name]
		if !ok {
			text, ok := scripts[name]
			if !ok {
				continue
			}
			v = exact(text)
		}
		if name == script {
			v = concat(v, joinArgs(args))
		}
		w.inChild(func() {
			cc := c
			if n := len(cc.via); n > 0 {
				cc.via = slices.Clone(cc.via)
				cc.via[n-1].Script = "package.json"
			}
			cc.flags |= FromScript
			w.code(v, POSIX, nil, "package script", cc)
		})
	}
	w.calls = w.calls[:len(w.calls)-1]
}

// watcher walks file watchers, which run the words at their end.
func (w *walker) watcher(name string, argv []Arg, c ctx) {
	short, long := "", ""
	switch name {
	case "watchexec":
		short, long = "wefidWsEN", " --watch --exts --filter --ignore --delay-run --debounce --signal --env --workdir --shell --stop-signal "
	case "nodemon":
		short, long = "wexidsC", " --watch --exec --ext --ignore --delay --signal --config "
	}
	opts, n := options(argv, 1, short, long)
	w.started(argv, c, Wrap{Name: name, Argv: argv[:min(n, len(argv))]}, func(i int, c ctx) {
		c.flags |= PerInput
		c.in, c.stream = Input{}, nil
		if name == "entr" && given(opts, " -s ") {
			if n < len(argv) {
				w.shellWord(&argv[n], "entr -s", i, c)
			}
			return
		}
		if x := value(opts, " --exec -x "); x != nil && name == "nodemon" {
			w.shellWord(x, "nodemon --exec", i, c)
			return
		}
		if n >= len(argv) {
			return
		}
		if name == "watchexec" && !given(opts, " -n ") {
			w.shellWord(joinedArg(argv[n:]), name, i, c)
			return
		}
		if name == "nodemon" {
			w.foreign("node", "", append([]Arg{{Value: exact("node"), Offset: argv[0].Offset}}, argv[n:]...), c)
			return
		}
		w.launch(argv[n:], c)
	})
}

// make walks a makefile on standard input, --eval, and readable makefiles.
func (w *walker) make(name string, argv []Arg, c ctx) {
	opts, n := options(argv, 1, "CfIjloWE", " --directory --file --makefile --include-dir --jobs --eval --justfile --working-directory --taskfile --dir ")
	outer := c // with what feeds it
	w.started(argv, c, Wrap{Name: name, Argv: argv[:1]}, func(i int, c ctx) {
		if d := value(opts, " -C --directory --working-directory --dir "); d != nil {
			w.st.dir = joinPath(w.st.dir, d.Value)
		}
		if given(opts, " -n --dry-run --just-print --recon --version --help -v -h --list -l --summary ") {
			return
		}
		var targets []string
		sets := map[string]string{}
		for k := n; k < len(argv); k++ {
			t, ok := argv[k].Exact()
			if !ok {
				continue
			}
			if key, val, isSet := strings.Cut(t, "="); isSet {
				sets[strings.TrimRight(key, ":?+")] = val
			} else if !strings.HasPrefix(t, "-") {
				targets = append(targets, t)
			}
		}
		if e := value(opts, " --eval -E "); e != nil {
			w.makefile(e.Text, targets, sets, c)
		}
		if name == "task" {
			return
		}
		file := value(opts, " -f --file --makefile --justfile ")
		switch {
		case file == nil:
			for _, f := range [...]string{"GNUmakefile", "makefile", "Makefile"} {
				if name == "just" {
					f = "justfile"
				}
				if content, ok := w.readScript(exact(f), c.pos[0]); ok {
					c.via = slices.Clone(c.via)
					c.via[len(c.via)-1].Script = f
					c.flags |= FromScript
					w.makefile(content, targets, sets, c)
					return
				}
			}
		case file.Text == "-" || file.Text == "/dev/stdin":
			if c.in.Text != nil && len(c.in.Text.Alts) == 0 && len(c.in.Text.Holes) == 0 {
				text := c.in.Text.Text
				c.in, c.stream = Input{}, nil
				w.makefile(text, targets, sets, c)
			} else {
				w.opaque(Opaque{Leaf: i, Text: hole(HoleInput, ""), From: c.in.From, Why: "makefile", Offset: c.pos[0]})
			}
		default:
			if text, ok := w.fed(file, "makefile", i, outer); ok {
				w.makefile(text.Text, targets, sets, c)
				return
			}
			if content, ok := w.readScript(file.Value, c.pos[0]); ok {
				c.flags |= FromScript
				w.makefile(content, targets, sets, c)
			} else {
				w.problem(Problem{Kind: Unread, Path: file.String(), Leaf: i, Offset: c.pos[0]})
			}
		}
	})
}
