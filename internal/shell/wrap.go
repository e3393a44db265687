package shell

import (
	"slices"
	"strings"
)

// grammar is how a wrapper reads its own words before the command it starts.
type grammar struct {
	// short are the one-letter options that take a value.
	short string
	// long are the long options that take a value as a word of its own, with
	// spaces around each.
	long string
	// two are long options that take two words.
	two string
	// skip counts operands before the command.
	skip int
	// assigns is set when VAR=value words may stand before the command.
	assigns bool
	// shell is set when the words are joined and given to a shell.
	shell bool
	// sub lists subcommands, with spaces around each, one of which must come
	// first for a command to follow.
	sub string
	// dash is set when only what follows -- is a command.
	dash bool
	// dir holds options that set the working directory, with spaces around each.
	dir string
	// stop lists options that make the program do something else than run a
	// command, with spaces around each.
	stop string
	// also is set when the program is a leaf besides.
	also  bool
	flags Flags
}

// grammarOf returns the grammar of a wrapper. The sources are the manual pages
// of util-linux 2.40, coreutils 9.5, sudo 1.9.15, OpenDoas 6.8, procps 4.0 and
// the --help texts of the development tools, read in 2026.
func grammarOf(name string) (grammar, bool) {
	switch name {
	case "sudo":
		return grammar{short: "CDghpRrtTUu", long: " --user --group --host --prompt --chroot --role --type --other-user --close-from --chdir --command-timeout --login-class ",
			assigns: true, dir: " -D --chdir ", flags: Elevated, stop: " -l -v -k -K -V -h -e --list --validate --remove-timestamp --reset-timestamp --version --help --edit "}, true
	case "doas":
		return grammar{short: "aCu", flags: Elevated}, true
	case "pkexec":
		return grammar{long: " --user ", flags: Elevated, stop: " --version --help "}, true
	case "gosu", "su-exec", "setuidgid", "chpst", "run0":
		return grammar{short: "uUbemnop/cCPltf", skip: skipUnless(name, "chpst", "run0"), flags: Elevated}, true
	case "env", "genv":
		return grammar{short: "uCaP", long: " --unset --chdir --argv0 ", assigns: true, dir: " -C --chdir "}, true
	case "nice", "gnice":
		return grammar{short: "n", long: " --adjustment "}, true
	case "ionice":
		return grammar{short: "cnpPu", long: " --class --classdata --pid --pgid --uid "}, true
	case "chrt":
		return grammar{short: "TPD", long: " --sched-runtime --sched-period --sched-deadline ", skip: 1, stop: " -p --pid "}, true
	case "taskset":
		return grammar{skip: 1, stop: " -p --pid "}, true
	case "numactl":
		return grammar{short: "NmCpiPl", stop: " --show --hardware -s -H "}, true
	case "nohup", "gnohup", "setsid", "noglob", "nocorrect", "-", "chronic", "ifne", "torsocks", "torify", "tsocks", "fakeroot",
		"dbus-launch", "dbus-run-session", "unbuffer", "catchsegv", "busybox", "toybox", "winpty", "tini", "dumb-init", "catatonit", "unshare-user",
		"env-cmd", "setarch", "linux32", "linux64", "i386", "x86_64", "arch", "cross-env", "cross-env-shell", "dotenv", "godotenv", "dotenvx-run", "eatmydata", "exec-wrapper":
		return grammar{short: shortOf(name), long: " --load --save --mode --env --file ", skip: skipUnlessNot(name, "setarch"), assigns: strings.HasPrefix(name, "cross-env"), shell: name == "cross-env-shell"}, true
	case "timeout", "gtimeout":
		return grammar{short: "ks", long: " --kill-after --signal ", skip: 1}, true
	case "stdbuf", "gstdbuf":
		return grammar{short: "ioe", long: " --input --output --error "}, true
	case "time", "gtime":
		return grammar{short: "fo", long: " --format --output "}, true
	case "command":
		return grammar{stop: " -v -V "}, true
	case "builtin":
		return grammar{}, true
	case "chroot", "gchroot", "arch-chroot":
		return grammar{long: " --userspec --groups ", skip: 1, flags: Contained}, true
	case "unshare":
		return grammar{short: "RwSG", long: " --root --wd --setuid --setgid --propagation --map-users --map-groups ", dir: " -w --wd ", flags: Contained}, true
	case "nsenter":
		return grammar{short: "tSGW", long: " --target --setuid --setgid --wdns ", flags: Contained | Elevated}, true
	case "bwrap":
		return grammar{two: " --dev-bind --dev-bind-try --bind --bind-try --ro-bind --ro-bind-try --symlink --setenv --file --bind-data --ro-bind-data --chmod --overlay ", long: " --dev-bind --bind --ro-bind --symlink --setenv --file --bind-data --chmod --perms --size --tmpfs --proc --dev --mqueue --dir --chdir --unsetenv --uid --gid --hostname --lock-file --sync-fd --seccomp --cap-add --cap-drop --remount-ro ", flags: Contained}, true
	case "firejail", "proot", "systemd-nspawn":
		return grammar{short: "rbqwDMu", flags: Contained}, true
	case "flock":
		return grammar{short: "wE", long: " --timeout --wait --conflict-exit-code ", skip: 1}, true
	case "watch", "gwatch":
		return grammar{short: "nqi", long: " --interval --equexit ", shell: true}, true
	case "caffeinate":
		return grammar{short: "tw"}, true
	case "systemd-run":
		return grammar{short: "pEuHM", long: " --unit --property --slice --setenv --uid --gid --nice --working-directory --on-calendar --on-active --on-boot --on-unit-active --timer-property --description --service-type --host --machine ", dir: " --working-directory "}, true
	case "systemd-inhibit":
		return grammar{long: " --what --who --why --mode ", stop: " --list "}, true
	case "xvfb-run":
		return grammar{short: "efnpsw", long: " --error-file --auth-file --server-num --server-args --xauth-protocol --wait "}, true
	case "strace", "ltrace":
		return grammar{short: "abeEIoOpPsSuUX", stop: " -V -h "}, true
	case "valgrind", "heaptrack", "perf-stat", "samply", "hyperfine-run", "dtruss", "ktrace":
		return grammar{}, true
	case "setpriv":
		return grammar{long: " --ruid --euid --rgid --egid --reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig --selinux-label --apparmor-profile "}, true
	case "prlimit", "cgexec", "rlwrap", "daemonize", "trickle", "cpulimit", "proxychains", "proxychains4", "faketime", "softlimit":
		return grammar{short: "gacelopfHSudwlC", skip: skipUnlessNot(name, "faketime")}, true
	case "sshpass":
		return grammar{short: "pfdP"}, true
	case "direnv":
		return grammar{sub: " exec ", skip: 1, also: true}, true
	case "mise", "rtx":
		return grammar{sub: " exec x ", dash: true, short: "Cjc", also: true}, true
	case "asdf", "rbenv", "pyenv", "nodenv", "goenv", "jenv", "bundle", "bundler", "corepack", "volta":
		return grammar{sub: " exec run ", also: true}, true
	case "poetry", "pipenv", "pdm", "hatch", "rye", "uv":
		return grammar{sub: " run ", short: "pPw", long: " --with --python --extra --group --project --directory --env-file --package --with-requirements --with-editable --index --env --only-group --no-group ", also: true}, true
	case "conda", "mamba", "micromamba":
		return grammar{sub: " run ", short: "np", long: " --name --prefix --cwd ", also: true}, true
	case "op", "doppler", "infisical", "chamber", "dotenvx", "teller", "vlt", "sops", "varlock":
		return grammar{sub: " run exec exec-env ", dash: true, also: true}, true
	case "aws-vault", "aws-okta":
		return grammar{sub: " exec ", dash: true, also: true}, true
	case "nix", "flox", "devbox", "devenv":
		return grammar{sub: " shell develop run activate ", dash: true, also: true}, true
	case "retry":
		return grammar{short: "tdsmMbw"}, true
	}
	return grammar{}, false
}

func skipUnless(name string, not ...string) int {
	for _, n := range not {
		if n == name {
			return 0
		}
	}
	return 1
}

func skipUnlessNot(name, only string) int {
	if name == only {
		return 1
	}
	return 0
}

func shortOf(name string) string {
	switch name {
	case "fakeroot":
		return "lsib"
	case "env-cmd", "dotenv", "godotenv":
		return "ef"
	case "exec-wrapper":
		return "a"
	}
	return ""
}

func has(list, word string) bool {
	return word != "" && strings.Contains(list, " "+word+" ")
}

// option is one option of a command line, with its value if it has one.
type option struct {
	name  string // with its dashes
	value *Arg
	attr  bool // value was part of the word
	at    int
}

// options reads options from argv[from:] until the first operand and returns
// them with the index of that operand. short and long say which take a value.
func options(argv []Arg, from int, short, long string) ([]option, int) {
	var opts []option
	i := from
	for i < len(argv) {
		a := &argv[i]
		t := a.Text
		if len(a.Alts) > 0 || len(t) < 2 || t[0] != '-' || (len(a.Holes) > 0 && a.Holes[0].At == 0) {
			break
		}
		i++
		if t == "--" {
			return opts, i
		}
		if strings.HasPrefix(t, "--") {
			name, _, cut := strings.Cut(t, "=")
			o := option{name: name, at: i - 1}
			if cut {
				v := *a
				v.Value = a.slice(len(name)+1, len(t))
				o.value, o.attr = &v, true
			} else if has(long, name) && i < len(argv) {
				o.value = &argv[i]
				i++
			}
			opts = append(opts, o)
			continue
		}
		for j := 1; j < len(t); j++ {
			o := option{name: "-" + t[j:j+1], at: i - 1}
			if strings.IndexByte(short, t[j]) < 0 {
				opts = append(opts, o)
				continue
			}
			if j+1 < len(t) || len(a.Holes) > 0 {
				v := *a
				v.Value = a.slice(j+1, len(t))
				o.value, o.attr = &v, true
			} else if i < len(argv) {
				o.value = &argv[i]
				i++
			}
			opts = append(opts, o)
			break
		}
	}
	return opts, i
}

// value returns the value of the last option with one of the names.
func value(opts []option, names string) *Arg {
	for i := len(opts) - 1; i >= 0; i-- {
		if has(names, opts[i].name) && opts[i].value != nil {
			return opts[i].value
		}
	}
	return nil
}

func given(opts []option, names string) bool {
	for i := range opts {
		if has(names, opts[i].name) {
			return true
		}
	}
	return false
}

// wrapper walks what a prefix wrapper starts. It reports false if name is none,
// or starts nothing here.
func (w *walker) wrapper(name string, argv []Arg, c ctx) bool {
	switch name {
	case "env", "genv":
		return w.env(argv, c)
	case "su", "runuser":
		return w.su(name, argv, c)
	case "script":
		return w.script(argv, c)
	case "flock":
		if w.flock(argv, c) {
			return true
		}
	case "xargs", "gxargs":
		return w.xargs(argv, c)
	case "parallel":
		return w.parallel(argv, c)
	}
	g, ok := grammarOf(name)
	if !ok {
		return false
	}
	opts, n := options(argv, 1, g.short, g.long)
	if g.two != "" {
		for opts, n = nil, 1; n < len(argv) && strings.HasPrefix(argv[n].Text, "-"); {
			switch t := argv[n].Text; {
			case has(g.two, t):
				n += 3
			case has(g.long, t):
				n += 2
			default:
				n++
			}
		}
	}
	if g.sub != "" {
		if n >= len(argv) || !has(g.sub, argv[n].Text) {
			return false
		}
		var more []option
		more, n = options(argv, n+1, g.short, g.long)
		opts = append(opts, more...)
	}
	for i := range opts {
		if has(g.stop, opts[i].name) {
			return false
		}
	}
	if name == "nsenter" || name == "systemd-run" || name == "unshare" {
		c.flags |= g.flags
	}
	c.assigns = slices.Clip(c.assigns) // shared with others
	for ; g.assigns && n < len(argv); n++ {
		a := &argv[n]
		k, _, ok := strings.Cut(a.Text, "=")
		if !ok || len(a.Alts) > 0 || (len(a.Holes) > 0 && a.Holes[0].At <= len(k)) {
			break
		}
		c.assigns = append(c.assigns, Assign{Name: k, Value: a.slice(len(k)+1, len(a.Text)), Exported: true, Offset: a.Offset})
	}
	c.assigns = slices.Clip(c.assigns)
	skip := g.skip
	if name == "setarch" && n < len(argv) && !strings.ContainsAny(argv[n].Text, "0123456789") {
		skip = 0 // it may be left out; every machine's name but uname's has digits
	}
	for ; skip > 0 && n < len(argv); skip-- {
		n++
		var more []option
		more, n = options(argv, n, g.short, g.long)
		opts = append(opts, more...)
	}
	if g.dash && (n == 0 || n > len(argv) || argv[n-1].Text != "--") {
		for n < len(argv) && argv[n].Text != "--" {
			n++
		}
		n++
	}
	if n >= len(argv) {
		return false
	}
	c.flags |= g.flags
	c.via = via(c.via, Wrap{Name: name, Argv: argv[:n]})
	c.bare = name != "time" && name != "noglob" && name != "-" && name != "nocorrect"
	at := -1
	if g.also {
		own := c
		own.out = nil
		own.via = c.via[:len(c.via)-1]
		at = w.leaf(argv, own)
	}
	from := len(w.f.Leaves)
	walk := func() {
		if dir := value(opts, g.dir); dir != nil {
			w.st.dir = joinPath(w.st.dir, dir.Value)
		}
		if strings.HasSuffix(name, "chroot") {
			w.st.dir = hole(HolePath, "chroot")
		}
		if g.shell && !given(opts, " -x --exec ") {
			vals := make([]Value, 0, len(argv)-n)
			for _, a := range argv[n:] {
				vals = append(vals, a.Value)
			}
			a := Arg{Offset: argv[n].Offset, End: argv[len(argv)-1].End}
			w.code(joinValues(vals, " "), POSIX, &a, name, c)
			return
		}
		w.run(argv[n:], c)
	}
	if name == "command" || name == "builtin" || name == "time" || name == "noglob" || name == "nocorrect" {
		walk()
	} else {
		w.sub(walk)
	}
	if at >= 0 && at < len(w.f.Leaves) {
		w.f.Leaves[at].Runs = Span{from, len(w.f.Leaves)}
	}
	return true
}

// env handles env with its split string, which is where its grammar differs.
func (w *walker) env(argv []Arg, c ctx) bool {
	n := 1
	var dir *Arg
	for n < len(argv) {
		a := &argv[n]
		t := a.Text
		if len(a.Alts) > 0 {
			break
		}
		switch {
		case t == "-" || t == "-i" || t == "--ignore-environment":
			c.flags |= InlineEnvOnly
		case t == "-u" || t == "--unset" || t == "-a" || t == "--argv0" || t == "-P":
			n++
		case t == "-C" || t == "--chdir":
			n++
			if n < len(argv) {
				dir = &argv[n]
			}
		case strings.HasPrefix(t, "--chdir="):
			v := *a
			v.Value = a.slice(len("--chdir="), len(t))
			dir = &v
		case t == "-S" || t == "--split-string" || t == "-vS" || t == "-iS":
			if n+1 >= len(argv) {
				return false
			}
			return w.envSplit(argv, n+1, argv[n+1].Value, dir, c)
		case strings.HasPrefix(t, "--split-string="):
			return w.envSplit(argv, n, a.slice(len("--split-string="), len(t)), dir, c)
		case strings.HasPrefix(t, "-") && strings.Contains(t, "S") && !strings.HasPrefix(t, "--"):
			return w.envSplit(argv, n, a.slice(strings.IndexByte(t, 'S')+1, len(t)), dir, c)
		case t == "--":
			n++
			goto operands
		case strings.HasPrefix(t, "-") && len(t) > 1:
			if strings.HasPrefix(t, "-u") && len(t) > 2 {
				break // -uNAME
			}
			if strings.HasPrefix(t, "-i") && len(t) > 2 && strings.HasSuffix(t, "u") {
				c.flags |= InlineEnvOnly
				n++
			}
		default:
			goto operands
		}
		n++
	}
operands:
	c.assigns = slices.Clip(c.assigns) // shared with others
	for ; n < len(argv); n++ {
		a := &argv[n]
		k, _, ok := strings.Cut(a.Text, "=")
		if !ok || len(a.Alts) > 0 || k == "" || (len(a.Holes) > 0 && a.Holes[0].At <= len(k)) {
			break
		}
		c.assigns = append(c.assigns, Assign{Name: k, Value: a.slice(len(k)+1, len(a.Text)), Exported: true, Offset: a.Offset})
	}
	c.assigns = slices.Clip(c.assigns)
	if n >= len(argv) {
		return false // env alone prints the environment
	}
	c.via = via(c.via, Wrap{Name: "env", Argv: argv[:n]})
	w.sub(func() {
		if dir != nil {
			w.st.dir = joinPath(w.st.dir, dir.Value)
		}
		w.launch(argv[n:], c)
	})
	return true
}

// envSplit runs env with the words of -S in place.
func (w *walker) envSplit(argv []Arg, n int, v Value, dir *Arg, c ctx) bool {
	var words []Arg
	words = append(words, argv[0])
	if dir != nil {
		words = append(words, Arg{Value: exact("-C")}, *dir)
	}
	for _, one := range v.Each()[:1] {
		last := 0
		for i := 0; i <= len(one.Text); i++ {
			if i == len(one.Text) || one.Text[i] == ' ' || one.Text[i] == '\t' || one.Text[i] == '\n' {
				if part := one.slice(last, i); !part.IsEmpty() {
					if !w.step(2) {
						return true
					}
					if len(part.Text) > 1 && len(part.Holes) == 0 {
						part.Text = unquoteWord(part.Text)
					}
					words = append(words, Arg{Value: part, Offset: argv[n].Offset, End: argv[n].End, Quote: argv[n].Quote})
				}
				last = i + 1
			}
		}
	}
	if strings.ContainsAny(v.Text, `'"\`) && len(v.Holes) == 0 && len(v.Alts) == 0 {
		// Quotes in the split string: let the shell grammar take it apart.
		if file, err := w.parse(v.Text, POSIX); err == nil && file != nil {
			if ws := wordsOf(file); ws != nil {
				words = words[:1]
				if dir != nil {
					words = append(words, Arg{Value: exact("-C")}, *dir)
				}
				old := w.src
				w.src = &source{text: v.Text, dialect: POSIX, base: argv[n].Offset, end: argv[n].End}
				words = append(words, w.words(ws)...)
				w.src = old
			}
		}
	}
	words = append(words, argv[n+1:]...)
	if len(words) < 2 {
		return false
	}
	return w.env(words, c)
}

func unquoteWord(s string) string {
	if n := len(s); n > 1 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// su reads su and runuser: options may follow the user name, and -c takes code.
func (w *walker) su(name string, argv []Arg, c ctx) bool {
	c.flags |= Elevated
	var code *Arg
	shell := POSIX
	user := false
	for i := 1; i < len(argv); i++ {
		t := argv[i].Text
		switch {
		case t == "-c" || t == "--command" || t == "--session-command":
			if i+1 < len(argv) {
				i++
				code = &argv[i]
			}
		case strings.HasPrefix(t, "--command=") || strings.HasPrefix(t, "--session-command="):
			a := argv[i]
			a.Value = a.slice(strings.IndexByte(t, '=')+1, len(t))
			code = &a
		case t == "-s" || t == "--shell" || t == "-g" || t == "-G" || t == "-w" || t == "--group" || t == "--supp-group":
			i++
			if i < len(argv) && (t == "-s" || t == "--shell") {
				if d, ok := shellDialect(programName(argv[i].Text)); ok {
					shell = d
				}
			}
		case t == "-u" || t == "--user":
			user = name == "runuser"
			i++
		case t == "-" || t == "-l" || t == "--login":
		case t == "--" && user:
			if i+1 < len(argv) {
				c.via = via(c.via, Wrap{Name: name, Argv: argv[:i+1]})
				w.sub(func() { w.launch(argv[i+1:], c) })
				return true
			}
		case len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.HasSuffix(t, "c"):
			if i+1 < len(argv) {
				i++
				code = &argv[i]
			}
		case strings.HasPrefix(t, "-"):
		default:
			if user {
				c.via = via(c.via, Wrap{Name: name, Argv: argv[:i]})
				w.sub(func() { w.launch(argv[i:], c) })
				return true
			}
		}
	}
	if code == nil {
		if c.in.Text != nil && c.stream != nil {
			c.via = via(c.via, Wrap{Name: name, Argv: argv})
			in := *c.in.Text
			c.in, c.stream = Input{}, nil
			w.sub(func() { w.code(in, shell, nil, name+" input", c) })
			return true
		}
		return false
	}
	c.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
	w.inChild(func() {
		if !w.code(code.Value, shell, code, name+" -c", c) {
			w.settle(w.leaf(argv, c))
		}
	})
	return true
}

// inChild runs f in the state of a new shell.
func (w *walker) inChild(f func()) {
	old := w.st
	w.st = w.child()
	w.ending(f)
	w.st = old
}

func (w *walker) script(argv []Arg, c ctx) bool {
	opts, n := options(argv, 1, "cEImoOBTt", " --command --echo --log-in --log-io --log-out --log-timing --logging-format --output-limit ")
	code := value(opts, " -c --command ")
	c.via = via(c.via, Wrap{Name: "script", Argv: argv[:n]})
	if code == nil {
		// BSD and macOS: script [file [command ...]]
		if n+1 < len(argv) {
			if argv[n+1].Text == "-c" && n+2 < len(argv) {
				code = &argv[n+2]
			} else {
				w.sub(func() { w.launch(argv[n+1:], c) })
				return true
			}
		} else {
			return false
		}
	}
	own := c
	own.out, own.via = nil, c.via[:len(c.via)-1]
	w.leaf(argv, own)
	w.inChild(func() { w.code(code.Value, Bash, code, "script -c", c) })
	return true
}

func (w *walker) flock(argv []Arg, c ctx) bool {
	for i := 1; i+1 < len(argv); i++ {
		if t := argv[i].Text; t == "-c" || t == "--command" {
			c.via = via(c.via, Wrap{Name: "flock", Argv: argv[:i]})
			w.inChild(func() { w.code(argv[i+1].Value, POSIX, &argv[i+1], "flock -c", c) })
			return true
		}
	}
	return false
}

// xargs runs a command with words from standard input or a file.
func (w *walker) xargs(argv []Arg, c ctx) bool {
	opts, n := options(argv, 1, "aEdILnPsJRS", " --arg-file --delimiter --max-lines --max-args --max-procs --max-chars --process-slot-var ")
	// -i and --replace take their value attached or not at all.
	replace := ""
	for i := range opts {
		switch opts[i].name {
		case "-I", "-J":
			if opts[i].value != nil {
				replace = opts[i].value.Text
			}
		case "-i", "--replace":
			replace = "{}"
			if opts[i].value != nil && opts[i].value.Text != "" {
				replace = opts[i].value.Text
			}
			if t := argv[opts[i].at].Text; opts[i].name == "-i" && len(t) > 2 {
				replace = t[2:]
			}
		}
	}
	cmd := argv[min(n, len(argv)):]
	if len(cmd) == 0 {
		cmd = []Arg{{Value: exact("echo"), Offset: argv[0].Offset, End: argv[0].End}}
	}
	c.via = via(c.via, Wrap{Name: "xargs", Argv: argv[:n]})
	c.flags |= PerInput
	input := Value{Holes: []Hole{{Kind: HoleInput, From: c.in.From}}}
	if c.in.Text != nil {
		input = *c.in.Text
	} else if c.in.File != nil {
		input = w.fileHole(*c.in.File)
	}
	if f := value(opts, " -a --arg-file "); f != nil {
		input = w.fileHole(f.Value)
	}
	delim := ""
	if given(opts, " -0 --null ") {
		delim = "\x00"
	} else if d := value(opts, " -d --delimiter "); d != nil {
		delim = ansiC(d.Text, true)
	} else if replace != "" {
		delim = "\n"
	}
	items := w.inputItems(input, delim, c.in.From)
	inner := c
	inner.in, inner.stream = Input{}, nil
	w.sub(func() {
		if replace == "" {
			if w.step(2 * len(cmd)) { // the copy is of so many blocks
				w.launch(append(cmd[:len(cmd):len(cmd)], items...), inner)
			}
			return
		}
		vals := make([]Value, 0, len(items))
		for _, it := range items {
			v := it.Value
			for i := range v.Holes {
				if v.Holes[i].Kind == HoleOutput || v.Holes[i].Kind == HoleInput {
					v.Holes[i].NonEmpty = true
				}
			}
			vals = append(vals, v)
		}
		if len(vals) == 0 {
			return
		}
		w.launch(substitute(cmd, replace, either(vals...)), inner)
	})
	return true
}

// inputItems splits what is known of standard input into words.
func (w *walker) inputItems(input Value, delim string, from Span) []Arg {
	var items []Arg
	for _, v := range input.Each() {
		if !w.step(1 + len(v.Text)/64) {
			break
		}
		start := -1
		flush := func(end int) {
			if start < 0 {
				return
			}
			part := v.slice(start, end)
			start = -1
			if part.IsEmpty() || !w.step(1) || len(items) > 10000 {
				return
			}
			a := Arg{Value: part, Quote: Expanded}
			for i := range a.Holes {
				a.Splits = true
				if a.Holes[i].From.Empty() {
					a.Holes[i].From = from
				}
			}
			if delim == "" && len(part.Holes) == 0 {
				a.Text = unquoteWord(part.Text)
			}
			items = append(items, a)
		}
		h := 0
		for i := 0; i <= len(v.Text); i++ {
			for h < len(v.Holes) && v.Holes[h].At == i {
				if start < 0 {
					start = i
				}
				h++
			}
			if i == len(v.Text) {
				break
			}
			ch := v.Text[i]
			sep := delim == "" && (ch == ' ' || ch == '\t' || ch == '\n') || delim != "" && ch == delim[0]
			if sep {
				flush(i)
			} else if start < 0 {
				start = i
			}
		}
		flush(len(v.Text))
	}
	return items
}

// substitute replaces a marker in the words of a command by a value.
func substitute(argv []Arg, marker string, v Value) []Arg {
	out := make([]Arg, len(argv))
	for i, a := range argv {
		out[i] = a
		if marker == "" || len(a.Alts) > 0 || !strings.Contains(a.Text, marker) {
			continue
		}
		var b builder
		rest := 0
		for n := 0; n < 64; n++ {
			j := strings.Index(a.Text[rest:], marker)
			if j < 0 {
				break
			}
			b.add(a.slice(rest, rest+j))
			b.add(v)
			rest += j + len(marker)
		}
		b.add(a.slice(rest, len(a.Text)))
		out[i].Value = b.take()
		out[i].Quote |= Expanded
	}
	return out
}

// parallel reads GNU parallel: parallel [options] cmd ::: args, or a command a
// line on standard input.
func (w *walker) parallel(argv []Arg, c ctx) bool {
	opts, n := options(argv, 1, "jPNnaIdSLsUkCE", " --jobs --max-procs --arg-file --delay --timeout --retries --joblog --results --tmpdir --sshlogin --colsep --tagstring --load --memfree --halt --nice --workdir --wd --env --max-args --max-replace-args --delimiter --basefile --return ")
	if given(opts, " --version --help -h -V --citation ") {
		return false
	}
	rest := argv[min(n, len(argv)):]
	var cmd, items []Arg
	sep := false
	for _, a := range rest {
		switch a.Text {
		case ":::", ":::+":
			sep = true
			continue
		case "::::":
			items = append(items, Arg{Value: hole(HoleInput, ""), Splits: true})
			sep = true
			continue
		}
		if sep {
			items = append(items, a)
		} else {
			cmd = append(cmd, a)
		}
	}
	input := Value{Holes: []Hole{{Kind: HoleInput, From: c.in.From}}}
	if c.in.Text != nil {
		input = *c.in.Text
	}
	c.via = via(c.via, Wrap{Name: "parallel", Argv: argv[:n]})
	c.flags |= PerInput
	if given(opts, " -S --sshlogin ") {
		c.flags |= Remote
	}
	c.in, c.stream = Input{}, nil
	if !sep && f2(opts) == nil {
		if len(cmd) == 0 {
			// Each line is a command.
			w.inChild(func() {
				if !w.code(input, Bash, nil, "parallel input", c) {
					w.settle(w.leaf(argv, c))
				}
			})
			return true
		}
		items = w.inputItems(input, "\n", input.origin())
	}
	if f := f2(opts); f != nil {
		items = []Arg{{Value: w.fileHole(f.Value), Splits: true}}
	}
	var vals []Value
	for _, it := range items {
		vals = append(vals, it.Value)
		if len(vals) > 4*maxAlts {
			break
		}
	}
	if len(vals) == 0 {
		vals = []Value{input.blur()}
	}
	v := either(vals...)
	if len(cmd) == 0 {
		w.inChild(func() { w.code(v, Bash, nil, "parallel input", c) })
		return true
	}
	marked := false
	for _, a := range cmd {
		marked = marked || strings.Contains(a.Text, "{}") || strings.Contains(a.Text, "{.}") || strings.Contains(a.Text, "{/}") || strings.Contains(a.Text, "{1}")
	}
	if marked {
		cmd = substitute(substitute(substitute(substitute(cmd, "{}", v), "{1}", v), "{.}", v.blur()), "{/}", v.blur())
	} else {
		if len(cmd) > 1 { // items are quoted; a lone one may still be a list of words
			v = quoteValue(v)
		}
		cmd = append(cmd[:len(cmd):len(cmd)], Arg{Value: v, Quote: Expanded})
	}
	texts := make([]Value, len(cmd))
	for i := range cmd {
		texts[i] = cmd[i].Value
	}
	at := Arg{Offset: cmd[0].Offset, End: cmd[len(cmd)-1].End}
	w.inChild(func() { w.code(joinValues(texts, " "), Bash, &at, "parallel", c) })
	return true
}

func f2(opts []option) *Arg { return value(opts, " -a --arg-file ") }
