package shell

import "strings"

// starter is how a program with subcommands starts another one.
type starter struct {
	// sub are the words that must come first, each with alternatives between "|".
	sub string
	// short and long are the options that take a value, as in grammar.
	short, long string
	// skip counts operands between the subcommand and the command.
	skip int
	// dash is set when only what follows -- is a command.
	dash bool
	// text lists options whose value is text for a shell, rest those behind which
	// the words of the command stand.
	text, rest string
	// before is put in front of the words.
	before string
	flags  Flags
}

// startersOf returns the forms in which a program starts another. The sources are
// the programs' own references, read in 2026.
func startersOf(name string) []starter {
	switch name {
	case "nix":
		return []starter{{sub: "develop|shell", rest: " -c --command "}}
	case "envchain", "envdir":
		return []starter{{skip: 1}}
	case "flatpak-spawn":
		return []starter{{long: " --env --directory --forward-fd "}}
	case "toolbox":
		return []starter{{sub: "run", short: "cdr", long: " --container --distro --release "}}
	case "heroku":
		return []starter{{sub: "run|run:detached|run:inside", short: "aser", long: " --app --size --env --type --remote ", flags: Remote}}
	case "dokku", "scalingo":
		return []starter{{sub: "run|enter", skip: 1, flags: Remote}}
	case "fly", "flyctl":
		return []starter{{sub: "ssh console", text: " -C --command ", flags: Remote}, {sub: "machine|m exec", skip: 1, flags: Remote}}
	case "gcloud":
		return []starter{{sub: "compute ssh", text: " --command ", flags: Remote}, {sub: "alpha|beta compute ssh", text: " --command ", flags: Remote}}
	case "eb":
		return []starter{{sub: "ssh", text: " -c --command ", flags: Remote}}
	case "multipass":
		return []starter{{sub: "exec", skip: 1, short: "d", long: " --working-directory ", flags: Remote}}
	case "limactl":
		return []starter{{sub: "shell", skip: 1, long: " --shell --workdir ", flags: Remote}}
	case "docker-machine":
		return []starter{{sub: "ssh", skip: 1, flags: Remote}}
	case "colima":
		return []starter{{sub: "ssh", short: "p", long: " --profile ", flags: Remote}}
	case "minikube":
		return []starter{{sub: "ssh", short: "np", long: " --node --profile ", flags: Remote}}
	case "pct":
		return []starter{{sub: "exec", skip: 1, flags: Contained}}
	case "fab":
		return []starter{{short: "HuipfRk", dash: true, flags: Remote}}
	case "pssh", "parallel-ssh":
		return []starter{{short: "hHlptoexO", long: " --hosts --host --user --par --outdir --errdir --timeout --option ", flags: Remote}}
	case "devcontainer":
		return []starter{{sub: "exec", long: " --workspace-folder --container-id --config --docker-path --id-label --remote-env ", flags: Contained}}
	case "ddev":
		return []starter{{sub: "exec", short: "sd", long: " --service --dir ", flags: Contained}, {sub: "drush|wp|artisan|composer|php|npm|yarn|rails|python|mysql|psql|magento|console", skip: -1, flags: Contained}}
	case "lando":
		return []starter{{sub: "ssh", short: "su", text: " -c --command ", flags: Contained}, {sub: "drush|wp|artisan|composer|php|npm|yarn|mysql|psql", skip: -1, flags: Contained}}
	case "lerna":
		return []starter{{sub: "exec", long: " --scope --ignore --concurrency --since "}}
	case "nx":
		return []starter{{sub: "exec", dash: true}}
	case "yarn":
		return []starter{{sub: "workspaces foreach", rest: " exec "}}
	case "repo":
		return []starter{{sub: "forall", rest: " -c --command "}}
	case "mr":
		return []starter{{sub: "run"}}
	case "gita":
		return []starter{{sub: "super", before: "git"}, {sub: "shell"}}
	case "meta":
		return []starter{{sub: "exec"}, {sub: "git", skip: -1}}
	case "mani":
		return []starter{{sub: "exec", short: "tpd", long: " --tags --projects --paths --output "}}
	case "just":
		return []starter{{rest: " -c --command "}}
	case "perf":
		return []starter{{sub: "stat|record|trace|mem|kmem|lock|sched", short: "eoFpCIxr", long: " --event --output --freq --repeat "}}
	case "rr":
		return []starter{{sub: "record", short: "o", long: " --output-trace-dir "}}
	}
	return nil
}

// starts walks what a program of startersOf starts. It reports false if the words
// start nothing.
func (w *walker) starts(name string, argv []Arg, c ctx) bool {
	for _, s := range startersOf(name) {
		if w.startsBy(name, &s, argv, c) {
			return true
		}
	}
	return false
}

func (w *walker) startsBy(name string, s *starter, argv []Arg, c ctx) bool {
	_, n := options(argv, 1, s.short, s.long)
	for sub := range strings.FieldsSeq(s.sub) {
		if n >= len(argv) || len(argv[n].Alts) > 0 || !has(" "+strings.ReplaceAll(sub, "|", " ")+" ", argv[n].Text) {
			return false
		}
		if s.skip < 0 {
			break // the subcommand is the command
		}
		_, n = options(argv, n+1, s.short, s.long)
	}
	cmd, from := []Arg(nil), n
	switch {
	case s.text != "" || s.rest != "":
		for k := 1; k < len(argv) && cmd == nil; k++ {
			a := &argv[k]
			key, _, glued := strings.Cut(a.Text, "=")
			switch {
			case len(a.Alts) > 0:
			case has(s.text, key) && glued:
				v := *a
				v.Value = a.slice(len(key)+1, len(a.Text))
				cmd, from = []Arg{v}, k
			case has(s.text, a.Text) && k+1 < len(argv):
				cmd, from = argv[k+1:k+2], k
			case has(s.rest, a.Text) && k+1 < len(argv):
				cmd, from = argv[k+1:], k+1
			}
		}
		if cmd == nil && name != "yarn" && s.flags&Remote != 0 { // ssh NAME -- COMMAND
			for k := n; k+1 < len(argv); k++ {
				if argv[k].Text == "--" {
					cmd, from = argv[k+1:], k+1
					break
				}
			}
		}
	case s.dash:
		for k := 1; k+1 < len(argv); k++ {
			if argv[k].Text == "--" {
				cmd, from = argv[k+1:], k+1
				break
			}
		}
	default:
		for skip := s.skip; skip > 0 && n < len(argv); skip-- {
			_, n = options(argv, n+1, s.short, s.long)
		}
		if n < len(argv) && argv[n].Text == "--" {
			n++
		}
		cmd, from = argv[min(n, len(argv)):], n
	}
	if len(cmd) == 0 {
		return false
	}
	w.started(argv, c, Wrap{Name: name, Argv: argv[:min(from, len(argv))]}, func(i int, c ctx) {
		c.flags |= s.flags
		if s.flags != 0 {
			w.st = w.elsewhere()
		}
		if s.before != "" {
			cmd = append([]Arg{{Value: exact(s.before), Offset: cmd[0].Offset, End: cmd[0].End}}, cmd...)
		}
		if len(cmd) == 1 && (s.text != "" || strings.ContainsAny(cmd[0].Text, " ;|&")) {
			w.shellWord(&cmd[0], name, i, c)
			return
		}
		w.launch(cmd, c)
	})
	return true
}
