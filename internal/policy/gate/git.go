package gate

import (
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// git returns the subcommand and the words behind it.
func (c *call) git() (string, []string) {
	argv := c.argv()
	i := 1
	for i < len(argv) {
		switch t := argv[i]; {
		case t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" || t == "--exec-path" || t == "--config-env" || t == "--super-prefix" || t == "--attr-source":
			i += 2
		case strings.HasPrefix(t, "-"):
			i++
		default:
			return t, apart(argv[i+1:], gitValued[t])
		}
	}
	return "", nil
}

// gitValued are the letters that take a value, by subcommand: behind them in a
// cluster, or in the next word, stands no flag.
var gitValued = map[string]string{
	"branch": "u", "checkout": "bB", "clean": "e", "clone": "bcjou", "commit": "CFcmt", "merge": "FXms", "notes": "CFcm", "pull": "Xjos", "push": "o",
	"rebase": "CXsx", "restore": "s", "stash": "m", "switch": "Cc", "tag": "Fmu", "worktree": "Bb",
}

// apart gives values that stand in a cluster, as in -mtext, words of their own, and
// a value that looks like an option another look.
func apart(words []string, valued string) []string {
	if valued == "" || !slices.ContainsFunc(words, func(t string) bool { return len(t) > 1 && t[0] == '-' && strings.ContainsAny(t, valued) }) {
		return words
	}
	out := make([]string, 0, len(words)+2)
	for i := 0; i < len(words); i++ {
		t := words[i]
		if t == "--" {
			return append(out, words[i:]...)
		}
		at := -1
		if len(t) > 1 && t[0] == '-' && t[1] != '-' {
			at = strings.IndexAny(t, valued)
		}
		value := ""
		switch {
		case at < 0:
			out = append(out, t)
			continue
		case at+1 < len(t):
			value = t[at+1:]
		case i+1 < len(words):
			i++
			value = words[i]
		}
		if strings.HasPrefix(value, "-") {
			value = "./" + value
		}
		if out = append(out, t[:at+1]); value != "" {
			out = append(out, value)
		}
	}
	return out
}

// flag reports whether one of the long options, or an abbreviation of it of at
// least two letters as git allows, or a letter in a cluster is among words
// before "--".
func flag(words []string, letters string, long ...string) bool {
	for _, t := range words {
		if t == "--" {
			return false
		}
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		if t[1] != '-' {
			if letters != "" && strings.ContainsAny(t[1:], letters) {
				return true
			}
			continue
		}
		name, _, _ := strings.Cut(t, "=")
		for _, l := range long {
			if name == l || len(name) > 3 && strings.HasPrefix(l, name) {
				return true
			}
		}
	}
	return false
}

// pathWords are the words that are no options; dashes reports whether some stand
// behind "--".
func pathWords(words []string) (out []string, dashes bool) {
	for i, t := range words {
		if t == "--" {
			return append(out, words[i+1:]...), i+1 < len(words)
		}
		if t == "" || t[0] != '-' || t == "-" {
			out = append(out, t)
		}
	}
	return out, false
}

// freshFolder reports whether git works in a folder that mktemp made in this command.
func (j *judge) freshFolder(c *call) bool {
	v := c.l.Dir
	if a := c.opt("-C"); a != nil {
		v = a.Value
	}
	for _, t := range c.argv() {
		if strings.HasPrefix(t, "--git-dir") || strings.HasPrefix(t, "--work-tree") {
			return false
		}
	}
	if len(v.Holes) != 1 || strings.Contains(v.Text, "..") {
		return false
	}
	h := v.Holes[0]
	return h.Kind == shell.HoleName && h.Name == "mktemp"
}

// gitPrograms judges git. The manual pages are those of git 2.47.
func (j *judge) git(c *call) {
	sub, rest := c.git()
	if flag(rest, "", "--help") || len(rest) == 1 && rest[0] == "-h" {
		return
	}
	dry := false
	for _, t := range rest {
		dry = (dry || flag([]string{t}, "", "--dry-run")) && t != "--no-dry-run" // the last one counts
	}
	for i, t := range c.argv() {
		if t == "-c" && i+1 < len(c.argv()) {
			j.gitSetting(c, c.argv()[i+1])
		}
		// --config-env=core.pager=NAME takes the value from the environment.
		if kv, ok := strings.CutPrefix(t, "--config-env="); ok {
			if key, _, _ := strings.Cut(strings.ToLower(kv), "="); runsByConfig(key) {
				j.add(c, EnvHijack, AnyScope, "git-setting", t)
			}
		}
		if t == "--" || t == sub {
			break
		}
	}
	if sub == "clone" || sub == "submodule" {
		for i, t := range rest {
			if (t == "-c" || t == "--config") && i+1 < len(rest) {
				j.gitSetting(c, rest[i+1])
			} else if kv, ok := strings.CutPrefix(t, "--config="); ok {
				j.gitSetting(c, kv)
			}
		}
	}
	words, dashes := pathWords(rest)
	ask := func(e Effect, s Scope, rule string) {
		if (e == DiscardWork || e == RewriteHistory) && j.freshFolder(c) {
			return // nobody has work in it yet
		}
		j.add(c, e, s, rule, "git "+strings.Join(append([]string{sub}, rest...), " "))
	}
	switch sub {
	case "reset":
		if flag(rest, "", "--hard", "--merge") {
			ask(DiscardWork, AnyScope, "git-reset-hard")
		}
	case "clean":
		if !dry && !flag(rest, "n") && flag(rest, "fdxX", "--force") {
			ask(DiscardWork, AnyScope, "git-clean")
			at := j.here(c)
			if a := c.opt("-C"); a != nil {
				at = j.locate(a, c.l.Dir)
			}
			if at.scope >= Home && !c.elsewhere() {
				j.add(c, Delete, at.scope, ruleDelete(at.scope), at.text)
			}
		}
	case "checkout":
		switch {
		case flag(rest, "f", "--force"), flag(rest, "", "--ours", "--theirs") && len(words) > 0 && wholeTree(words):
			ask(DiscardWork, AnyScope, "git-checkout-paths")
		case flag(rest, "p", "--patch"):
		case flag(rest, "bB", "--orphan", "--track"):
			if flag(rest, "B") {
				ask(RewriteHistory, AnyScope, "git-move-branch")
			}
		case dashes && len(words) > 0:
			if !flag(rest, "", "--ours", "--theirs") {
				ask(DiscardWork, AnyScope, "git-checkout-paths")
			}
		case len(words) > 1, len(words) == 1 && j.treePath(c, words[0]):
			if !flag(rest, "", "--ours", "--theirs", "--detach") {
				ask(DiscardWork, AnyScope, "git-checkout-paths")
			}
		case flag(rest, "", "--pathspec-from-file"):
			ask(DiscardWork, AnyScope, "git-checkout-paths")
		}
	case "restore":
		switch {
		case flag(rest, "p", "--patch"):
		case flag(rest, "S", "--staged") && !flag(rest, "W", "--worktree"):
		case len(words) > 0 || flag(rest, "", "--pathspec-from-file"):
			ask(DiscardWork, AnyScope, "git-restore")
		}
	case "switch":
		if flag(rest, "f", "--force", "--discard-changes") {
			ask(DiscardWork, AnyScope, "git-switch-discard")
		} else if flag(rest, "C", "--force-create") {
			ask(RewriteHistory, AnyScope, "git-move-branch")
		}
	case "stash":
		if len(words) > 0 && (words[0] == "drop" || words[0] == "clear") {
			ask(DiscardWork, AnyScope, "git-stash-drop")
		}
	case "branch":
		switch {
		case flag(rest, "D"), flag(rest, "d", "--delete") && flag(rest, "f", "--force"):
			ask(DiscardWork, AnyScope, "git-branch-delete")
		case flag(rest, "f", "--force") && len(words) > 0, flag(rest, "M"), flag(rest, "C") && !flag(rest, "", "--contains"):
			if flag(rest, "M") && len(words) <= 1 {
				break // renames the branch one is on
			}
			ask(RewriteHistory, AnyScope, "git-move-branch")
		}
	case "tag":
		if flag(rest, "d", "--delete") {
			ask(DiscardWork, AnyScope, "git-tag-delete")
		} else if flag(rest, "f", "--force") && len(words) > 0 {
			ask(RewriteHistory, AnyScope, "git-tag-move")
		}
	case "worktree":
		if len(words) > 0 && words[0] == "remove" && flag(rest, "f", "--force") {
			ask(DiscardWork, AnyScope, "git-worktree-remove")
		}
		if len(words) > 1 && words[0] == "add" {
			j.checkedOut(c, "add", " -b -B --reason ", 0)
		}
	case "format-patch":
		if o := c.opt("-o", "--output-directory"); o != nil {
			j.fills(c, j.locate(o, c.l.Dir))
		}
	case "bundle":
		if len(words) > 1 && words[0] == "create" {
			j.writeFar(c, &shell.Arg{Value: shell.Value{Text: words[1]}})
		}
	case "clone", "init":
		// Hooks come with a template.
		if t := c.opt("--template"); t != nil && t.String() != "" && !strings.HasPrefix(t.String(), "/usr/") {
			if p := j.locate(t, c.l.Dir); !j.inProject(p.path) {
				ask(EnvHijack, AnyScope, "git-setting")
			}
		}
		j.checkedOut(c, sub, " -b --branch -o --origin -u --upload-pack --reference --reference-if-able --template --separate-git-dir --depth --shallow-since --shallow-exclude -j --jobs --filter -c --config --server-option --initial-branch --object-format ", map[string]int{"clone": 1}[sub])
	case "submodule":
		if len(words) > 0 && words[0] == "deinit" && flag(rest, "f", "--force", "--all") {
			ask(DiscardWork, AnyScope, "git-submodule-deinit")
		}
		if len(words) > 0 && words[0] == "update" && flag(rest, "f", "--force") {
			ask(DiscardWork, AnyScope, "git-checkout-paths")
		}
		if len(words) > 1 && words[0] == "foreach" {
			j.inner(strings.Join(words[1:], " "), shell.POSIX, c.l.Offset, c.l.End)
		}
	case "rm":
		switch {
		case dry || flag(rest, "n") || flag(rest, "", "--cached"):
		case flag(rest, "f", "--force"):
			ask(DiscardWork, AnyScope, "git-rm-force")
		case flag(rest, "r") && len(words) > 0 && wholeTree(words):
			ask(DiscardWork, AnyScope, "git-rm-force")
		}
	case "push":
		j.push(c, rest, dry || flag(rest, "n"))
	case "rebase":
		switch {
		case flag(rest, "", "--continue", "--abort", "--skip", "--quit", "--edit-todo", "--show-current-patch"):
		case flag(rest, "x", "--exec"):
			for i, t := range rest {
				if (t == "-x" || t == "--exec") && i+1 < len(rest) {
					j.inner(rest[i+1], shell.POSIX, c.l.Offset, c.l.End)
				} else if v, ok := strings.CutPrefix(t, "--exec="); ok {
					j.inner(v, shell.POSIX, c.l.Offset, c.l.End)
				}
			}
			fallthrough
		default:
			if flag(rest, "i", "--interactive", "--root", "--onto") {
				ask(RewriteHistory, AnyScope, "git-rebase")
			}
		}
	case "bisect":
		if len(words) > 1 && words[0] == "run" {
			j.inner(strings.Join(words[1:], " "), shell.POSIX, c.l.Offset, c.l.End)
		}
	case "filter-branch", "filter-repo":
		if !dry && !flag(rest, "", "--analyze") {
			ask(HistoryDestroy, AnyScope, "git-filter-branch")
		}
	case "reflog":
		if len(words) > 0 && (words[0] == "expire" || words[0] == "delete" || words[0] == "drop") && !dry && !flag(rest, "n") {
			ask(HistoryDestroy, AnyScope, "git-reflog-expire")
		}
	case "gc":
		for _, t := range c.argv() {
			low := strings.ToLower(t)
			key, v, _ := strings.Cut(low, "=")
			if (v == "now" || v == "all") && (t == "--prune="+v || key == "gc.pruneexpire" || strings.HasPrefix(key, "gc.reflogexpire")) {
				ask(HistoryDestroy, One, "git-gc-prune")
			}
		}
	case "prune":
		if !dry && !flag(rest, "n") {
			ask(HistoryDestroy, One, "git-gc-prune")
		}
	case "update-ref":
		if flag(rest, "d", "--delete", "--stdin") {
			ask(HistoryDestroy, One, "git-update-ref")
		} else if len(words) > 1 {
			ask(RewriteHistory, AnyScope, "git-update-ref")
		}
	case "symbolic-ref":
		if flag(rest, "d", "--delete") {
			ask(HistoryDestroy, One, "git-update-ref")
		}
	case "replace":
		if len(words) > 1 && !flag(rest, "dl", "--delete", "--list") || flag(rest, "e", "--edit", "--convert-graft-file") {
			ask(RewriteHistory, AnyScope, "git-replace")
		}
	case "checkout-index":
		if flag(rest, "f", "--force") {
			ask(DiscardWork, AnyScope, "git-checkout-paths")
		}
	case "read-tree":
		if flag(rest, "u", "--reset") {
			ask(DiscardWork, AnyScope, "git-reset-hard")
		}
	case "merge", "cherry-pick", "revert", "am":
		// --abort gives up a merge under way, not work of before.
	case "remote":
		if len(words) > 1 && (words[0] == "remove" || words[0] == "rm") {
			ask(DiscardWork, AnyScope, "git-remote-remove")
		}
	case "config":
		j.gitConfig(c, rest, words)
	case "lfs":
		switch {
		case len(words) > 0 && words[0] == "prune" && flag(rest, "f", "--force"):
			ask(DiscardWork, AnyScope, "git-lfs-prune")
		case len(words) > 1 && words[0] == "migrate" && (words[1] == "import" || words[1] == "export") && !flag(rest, "", "--no-rewrite"):
			ask(RewriteHistory, AnyScope, "git-filter-branch")
		case len(words) > 0 && words[0] == "unlock" && flag(rest, "f", "--force"): // another's lock
			ask(RepoDestroy, One, "repo-delete")
		}
	case "fetch", "pull":
		// From a remote into a branch of one's own, whatever that holds.
		for i, w := range words {
			from, to, _ := strings.Cut(w, ":")
			if i > 0 && to != "" && !strings.HasPrefix(to, "refs/remotes/") && !strings.HasPrefix(to, "refs/tags/") && !dry && (from != "" && from[0] == '+' || flag(rest, "f", "--force")) {
				ask(RewriteHistory, AnyScope, "git-move-branch")
				break
			}
		}
	case "maintenance":
		if len(words) > 0 && words[0] == "start" {
			ask(Persistence, AnyScope, "scheduled-task")
		}
	case "daemon":
		if l := c.opt("--listen"); (l == nil || !localHost(l.String())) && !flag(rest, "", "--inetd") {
			ask(Listen, AnyScope, "listen")
		}
	// The commands of git-extras.
	case "delete-branch", "delete-tag":
		ask(PushForce, AnyScope, "git-push-delete")
	case "obliterate":
		ask(HistoryDestroy, AnyScope, "git-filter-branch")
	case "reset-file":
		ask(DiscardWork, AnyScope, "git-checkout-paths")
	case "clear", "clear-soft", "force-clone", "fresh-branch":
		ask(DiscardWork, AnyScope, "git-clean")
	case "delete-submodule":
		ask(DiscardWork, AnyScope, "git-submodule-deinit")
	case "bulk":
		j.inner("git "+quoteJoin(rest), shell.POSIX, c.l.Offset, c.l.End)
	case "svn", "p4":
	case "send-email":
		ask(Publish, AnyScope, "git-send-email")
	case "credential":
		switch {
		case len(words) > 0 && words[0] == "fill":
			j.add(c, SecretRead, AnyScope, "secret-tool", "git credential fill")
		case len(words) > 0 && (words[0] == "reject" || words[0] == "erase"):
			ask(Service, AnyScope, "sign-out")
		}
	case "apply":
		// What git diff prints, taken back, throws the changes away.
		if paths, _ := pathWords(rest); flag(rest, "R", "--reverse") && len(paths) == 0 && !flag(rest, "", "--check", "--cached", "--stat", "--numstat", "--summary") {
			for from := range j.f.Feeders(c.i) {
				feeder := call{j: j, i: from, l: &j.f.Leaves[from]}
				if sub, words := feeder.git(); feeder.name() == "git" && sub == "diff" && !flag(words, "", "--cached", "--staged") && !slices.ContainsFunc(words, func(t string) bool {
					return strings.Contains(t, "..") || strings.HasPrefix(t, "HEAD~") || strings.HasPrefix(t, "HEAD^")
				}) {
					ask(DiscardWork, AnyScope, "git-restore")
				}
			}
		}
	case "archive":
		if o := c.opt("-o", "--output"); o != nil {
			j.write(c, o, false)
		}
	case "update-index":
	case "notes", "hash-object", "fast-import":
		if sub == "fast-import" && flag(rest, "", "--force") {
			ask(RewriteHistory, AnyScope, "git-fast-import")
		}
	}
}

// checkedOut judges the folder that git fills: the operand number n behind a word.
func (j *judge) checkedOut(c *call, after, valued string, n int) {
	for i := range c.l.Argv {
		if c.l.Argv[i].Text != after {
			continue
		}
		from := *c.l
		from.Argv = c.l.Argv[i:]
		in := call{j: j, i: c.i, l: &from}
		if ops := in.operands(valued); n < len(ops) {
			dir := c.l.Dir
			if a := c.opt("-C"); a != nil {
				if p := j.locate(a, dir); p.path != "" {
					dir = shell.Value{Text: p.path}
				}
			}
			if p := j.locate(ops[n], dir); j.agentFile(p.path) || p.scope >= Home && p.path != j.w.Home {
				j.writePlace(c, p, false)
			}
		}
		return
	}
}

// wholeTree reports whether the words name the whole working tree.
func wholeTree(words []string) bool {
	for _, w := range words {
		switch w {
		case ".", "./", "*", ":/", ":/.", "..", "./*", ":(top)", ":", "-A":
			return true
		}
	}
	return false
}

// treePath tells a path from a branch in `git checkout X`. Git takes a branch
// first, so only what can be no branch, or is a file, counts as path.
func (j *judge) treePath(c *call, w string) bool {
	switch {
	case w == "-" || w == "@" || w == "":
		return false
	case wholeTree([]string{w}), strings.HasSuffix(w, "/"), strings.HasPrefix(w, "./"), strings.HasPrefix(w, "../"), strings.HasPrefix(w, ":"), strings.ContainsAny(w, "*?["), strings.HasPrefix(w, "/"):
		return true
	}
	p := shell.Arg{Value: shell.Value{Text: w}}
	at := j.locate(&p, c.l.Dir)
	if j.w.Kind != nil && at.path != "" {
		if k := j.w.Kind(at.path); k == KindFile || k == KindDir {
			return j.w.Track == nil || j.w.Track(at.path) != UntrackedPath
		}
	}
	// By its ending, a file: release-1.2 and v1.0 are branches and tags.
	if i := strings.LastIndexByte(w, '.'); i > 0 {
		switch w[i+1:] {
		case "go", "py", "js", "ts", "tsx", "jsx", "rs", "c", "h", "cpp", "java", "rb", "md", "txt", "json", "yaml", "yml", "toml", "html", "css", "sh", "sql", "lock", "mod", "sum", "php", "cs", "kt", "swift", "vue", "svelte":
			return true
		}
	}
	return false
}

func (j *judge) push(c *call, rest []string, dry bool) {
	if dry {
		return
	}
	words, _ := pathWords(rest)
	target := "git push " + strings.Join(rest, " ")
	switch {
	case flag(rest, "", "--mirror", "--prune"):
		j.add(c, PushForce, Mass, "git-push-mirror", target)
	case flag(rest, "f", "--force", "--force-with-lease", "--force-if-includes"):
		j.add(c, PushForce, AnyScope, "git-push-force", target)
	case flag(rest, "d", "--delete"):
		j.add(c, PushForce, AnyScope, "git-push-delete", target)
	}
	for i, w := range words {
		if i == 0 {
			continue
		}
		switch {
		case strings.HasPrefix(w, "+"):
			j.add(c, PushForce, AnyScope, "git-push-force", target)
		case strings.HasPrefix(w, ":") && len(w) > 1:
			j.add(c, PushForce, AnyScope, "git-push-delete", target)
		}
	}
}

// gitConfig judges lasting settings.
func (j *judge) gitConfig(c *call, rest, words []string) {
	if flag(rest, "l", "--get", "--list", "--get-all", "--get-regexp", "--get-urlmatch", "--show-origin", "--name-only") {
		return
	}
	if len(words) > 0 && (words[0] == "get" || words[0] == "list" || words[0] == "edit") {
		return
	}
	// A value of an option is no key.
	for i, t := range rest {
		if t == "-f" || t == "--file" || t == "--blob" || t == "--type" || t == "--default" || t == "--comment" {
			words, _ = pathWords(slices.Concat(rest[:i], rest[min(len(rest), i+2):]))
			break
		}
	}
	if f := c.opt("-f", "--file"); f != nil && len(words) > 1 {
		if p := j.locate(f, c.l.Dir); p.scope == System {
			j.writePlace(c, p, true)
		}
	}
	if section := removedSection(rest, words); strings.HasPrefix(section, "remote.") {
		j.add(c, DiscardWork, AnyScope, "git-remote-remove", section)
		return
	}
	if len(words) > 0 && (words[0] == "set" || words[0] == "unset") {
		words = words[1:]
	}
	if flag(rest, "", "--unset", "--unset-all", "--remove-section", "--rename-section") || len(words) < 2 {
		return
	}
	key, value := strings.ToLower(words[0]), words[1]
	target := words[0] + "=" + value
	switch {
	case key == "core.hookspath":
		j.add(c, Persistence, AnyScope, "git-hook", target)
	case key == "http.sslverify" && (value == "false" || value == "0"), strings.HasSuffix(key, ".sslverify") && value == "false", key == "safe.directory" && value == "*":
		j.add(c, TrustDown, AnyScope, "git-trust-down", target)
	case strings.HasPrefix(key, "url.") && strings.HasSuffix(key, "insteadof"):
		// Another spelling of the same host is day work, another host is not.
		if from, to := repoHost(value), repoHost(key[len("url."):]); from != "" && to != "" && from != to {
			j.add(c, TrustDown, AnyScope, "git-trust-down", target)
		}
	case strings.HasPrefix(key, "alias."):
		if v, ok := strings.CutPrefix(value, "!"); ok {
			j.inner(v, shell.POSIX, c.l.Offset, c.l.End)
			if flag(rest, "", "--global", "--system") {
				j.add(c, Persistence, AnyScope, "git-config", target)
			}
		}
	case runsByConfig(key) && !harmlessTool(value):
		j.add(c, Persistence, AnyScope, "git-config", target)
	}
}

// removedSection is the section that git config would take out with all in it, or
// the address without which a remote is none.
func removedSection(rest, words []string) string {
	if len(words) == 0 {
		return ""
	}
	first := words[0]
	switch {
	case len(words) > 1 && (first == "remove-section" || first == "unset"):
		words = words[1:]
	case flag(rest, "", "--remove-section", "--unset", "--unset-all"):
	default:
		return ""
	}
	key := strings.ToLower(words[0])
	if whole := flag(rest, "", "--remove-section") || first == "remove-section"; !whole && !strings.HasSuffix(key, ".url") {
		return ""
	}
	return key
}

// gitSetting judges one -c key=value.
func (j *judge) gitSetting(c *call, kv string) {
	key, value, _ := strings.Cut(kv, "=")
	key = strings.ToLower(key)
	switch {
	case key == "core.hookspath" && value != "/dev/null" && value != "":
		j.add(c, EnvHijack, AnyScope, "git-setting", kv)
	case strings.HasSuffix(key, "sslverify") && (value == "false" || value == "0" || value == "no" || value == "off"):
		j.add(c, TrustDown, AnyScope, "git-trust-down", kv)
	case key == "protocol.ext.allow", runsByConfig(key) && tempCode(strings.TrimPrefix(value, "!")):
		j.add(c, EnvHijack, AnyScope, "git-setting", kv)
	}
}

// repoHost is the host of an address as git writes it: scheme://host/ or host:.
func repoHost(t string) string {
	if i := strings.Index(t, "://"); i >= 0 {
		t = t[i+3:]
	}
	if i := strings.IndexAny(t, "/:"); i >= 0 {
		t = t[:i]
	}
	return strings.ToLower(t[strings.LastIndexByte(t, '@')+1:])
}

func runsByConfig(key string) bool {
	switch key {
	case "core.sshcommand", "core.pager", "core.editor", "sequence.editor", "core.askpass", "diff.external", "core.fsmonitor", "gpg.program", "gpg.ssh.program",
		"credential.helper", "core.gitproxy", "protocol.ext.allow", "init.templatedir", "uploadpack.packobjectshook", "include.path", "core.attributesfile":
		return true
	}
	return strings.HasPrefix(key, "pager.") || strings.HasPrefix(key, "filter.") || strings.HasSuffix(key, ".textconv")
}

// harmlessTool tells values that people set every day.
func harmlessTool(value string) bool {
	first, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	if strings.ContainsAny(rest, ";|&`$()<>") || strings.HasPrefix(first, "!") {
		return false
	}
	if i := strings.LastIndexByte(first, '/'); i >= 0 {
		first = first[i+1:]
	}
	switch first {
	case "", "true", "false", "cat", "less", "more", "delta", "diff-so-fancy", "bat", "vim", "vi", "nvim", "nano", "emacs", "code", "subl", "hx", "gpg", "gpg2", "ssh-keygen",
		"store", "cache", "osxkeychain", "manager", "manager-core", "wincred", "libsecret", "git-lfs", "git-credential-manager", "ssh", "difft", "most", "op-ssh-sign", "gh", "notepad", "micro", "meld":
		return true
	}
	return strings.HasPrefix(first, "git-lfs") || strings.HasPrefix(value, "git-lfs ")
}
