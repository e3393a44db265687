package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
	"github.com/spf13/cobra"
)

type hooksAuditOptions struct {
	corpus, packs, events []string
	kinds                 []string
	provider, format      string
	role                  string
	inside, spawn, both   bool
	all                   bool
	every                 int
	timeout               time.Duration
}

func (a *app) hooksAuditCmd() *cobra.Command {
	o := hooksAuditOptions{format: "table", role: replay.RoleGate}
	cmd := &cobra.Command{
		Use:   "audit [--corpus DIR] [--provider P] [-- COMMAND...]",
		Short: "red team: every dangerous case and its harmless twin",
		Example: `lidguard hooks audit --in-process
lidguard hooks audit --pack protocol --provider codex
lidguard hooks audit --corpus ./my-cases -- ./my-hook.py
lidguard hooks audit --role observer --event PostToolUse --provider claude -- ./log.sh`,
		Long: "Tries lidguard's chain: the corpora that come with it, the examples in your rulebook and in\n" +
			"that of the project here, and what every hook meets (broken, cut off, empty and endless\n" +
			"payloads, calls in disguise, a turn that was kept going before). In this process and as the program that\n" +
			"agents start; both have to say the same. Misses are listed as RULE, CASE, EXPECTED, ACTUAL. A\n" +
			"pair without its other half is a miss, and so is a rule without examples. Exit code 1 on any\n" +
			"miss.\n\n" +
			"A command behind -- is tried instead: with what every hook meets, by its role, at the events\n" +
			"named with --event, and with your --corpus. A gate has to refuse what it cannot read; an\n" +
			"observer must never say anything.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			argv, err := behindDashes(cmd, args)
			if err != nil {
				return err
			}
			return a.hooksAudit(cmd, o, argv)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.corpus, "corpus", nil, "cases of your own (`DIR`, may be repeated); their form: docs/prove.md")
	f.StringArrayVar(&o.packs, "pack", nil, "only this corpus of lidguard's own (`NAME`, may be repeated): "+strings.Join(ownSuites(), ", "))
	f.StringArrayVar(&o.kinds, "kind", nil, "only cases of this `KIND` (may be repeated): "+strings.Join(replay.Kinds(), ", "))
	f.StringVar(&o.provider, "provider", "", "only as this agent (`P`): "+strings.Join(censusNames(), ", "))
	addSwitch(f, &o.inside, "in-process", "only in this process")
	addSwitch(f, &o.spawn, "spawn", "only as a program of its own")
	addSwitch(f, &o.both, "both", "both ways, which have to agree (default)")
	f.StringVar(&o.format, "format", o.format, "how the report is printed (`FORM`): table, json, junit")
	addSwitch(f, &o.all, "all", "list what was met as well")
	f.IntVar(&o.every, "sample", 1, "try one case in `N`, for a quick look")
	f.StringVar(&o.role, "role", o.role, "what the command is (`ROLE`): gate, observer")
	f.StringArrayVar(&o.events, "event", nil, "an event (`E`, may be repeated) that the command is installed for; default all")
	f.DurationVar(&o.timeout, "timeout", 2*time.Second, "how long the command may take (`DURATION`)")
	completeWith(cmd, "provider", censusNames())
	completeWith(cmd, "pack", ownSuites())
	completeWith(cmd, "kind", replay.Kinds())
	completeWith(cmd, "format", []string{"table", "json", "junit"})
	completeWith(cmd, "role", []string{replay.RoleGate, replay.RoleObserver})
	completeWith(cmd, "event", eventNames(census.All()))
	return cmd
}

// protocolSuite is the suite that is made and not kept.
const protocolSuite = "protocol"

func ownSuites() []string { return append(replay.CorpusNames(), protocolSuite) }

func (a *app) hooksAudit(cmd *cobra.Command, o hooksAuditOptions, argv []string) error {
	opts := replay.AuditOptions{Inside: o.inside || !o.spawn, Spawn: o.spawn || !o.inside, Every: o.every, Kinds: o.kinds, Path: a.Env("PATH"), Listen: a.listen}
	if o.both {
		opts.Inside, opts.Spawn = true, true
	}
	switch {
	case !slices.Contains([]string{"table", "json", "junit"}, o.format):
		return usagef(cmd, "--format cannot be %q: there are table, json, junit", o.format)
	case o.role != replay.RoleGate && o.role != replay.RoleObserver:
		return usagef(cmd, "--role cannot be %q: there are gate, observer", o.role)
	case o.every < 1:
		return usagef(cmd, "--sample cannot be %d", o.every)
	case len(argv) == 0 && (len(o.events) > 0 || o.role != replay.RoleGate):
		return usagef(cmd, "--role and --event are for a command behind --")
	}
	if o.provider != "" {
		if _, ok := census.Of(event.Provider(o.provider)); !ok {
			return hint(&usageError{fmt.Errorf("no agent %q", o.provider)}, didYouMean(o.provider, censusNames(), "--provider ", "the agents are "+strings.Join(censusNames(), ", ")))
		}
		opts.Providers = []event.Provider{event.Provider(o.provider)}
	}
	for _, name := range o.packs {
		if !slices.Contains(ownSuites(), name) {
			return hint(&usageError{fmt.Errorf("no corpus %q", name)}, didYouMean(name, ownSuites(), "--pack ", "there are "+strings.Join(ownSuites(), ", ")))
		}
	}
	for _, kind := range o.kinds {
		if !slices.Contains(replay.Kinds(), kind) {
			return hint(&usageError{fmt.Errorf("no kind %q", kind)}, didYouMean(kind, replay.Kinds(), "--kind ", "there are "+strings.Join(replay.Kinds(), ", ")))
		}
	}
	for _, name := range o.events {
		if len(eventsNamed(census.All(), name)) == 0 {
			return hint(&usageError{fmt.Errorf("no event %q", name)}, didYouMean(name, eventNames(census.All()), "--event ", "`lidguard hooks events` lists them"))
		}
	}
	var err error
	if len(argv) > 0 {
		opts.Foreign = &replay.ForeignHook{Argv: argv, WorkDir: a.WorkDir, Environ: os.Environ(), Role: o.role, Events: o.events, Limit: o.timeout}
	} else if opts.Program, err = a.hookProgram(); err != nil {
		return err
	}
	if opts.Suites, err = a.suites(o, len(argv) > 0); err != nil {
		return err
	}
	if a.json {
		o.format = "json"
	}
	r, err := replay.Audit(cmd.Context(), opts)
	if err != nil {
		return err
	}
	if err := a.printAudit(r, o); err != nil {
		return err
	}
	if r.Misses > 0 {
		return errNo{}
	}
	return nil
}

// suites are the corpora that were asked for.
func (a *app) suites(o hooksAuditOptions, foreign bool) ([]replay.Suite, error) {
	var out []replay.Suite
	for _, dir := range o.corpus {
		path := a.absolute(dir)
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("there is no folder %q", dir)
		}
		s, err := replay.Corpus(filepath.Base(path), os.DirFS(path))
		if err != nil {
			return nil, err
		}
		if s.Rules == nil && !foreign {
			// Cases without a rulebook are about the person's own.
			own, err := a.ownRules()
			if err != nil {
				return nil, err
			}
			s.Rules, s.Packs, s.Books = own.Rules, own.Packs, own.Books
		}
		out = append(out, s)
	}
	protocol := slices.Contains(o.packs, protocolSuite)
	named := slices.DeleteFunc(slices.Clone(o.packs), func(n string) bool { return n == protocolSuite })
	switch {
	case len(named) > 0 || len(o.packs) == 0 && len(o.corpus) == 0 && !foreign:
		own, err := replay.Corpora(named...)
		if err != nil {
			return nil, err
		}
		out = append(out, own...)
	}
	if protocol || len(o.packs) == 0 && (foreign || len(o.corpus) == 0) {
		out = append(out, replay.Protocol(o.role, !foreign))
	}
	if !foreign && len(o.packs) == 0 && len(o.corpus) == 0 {
		own, err := a.ownRules()
		if err != nil {
			return nil, err
		}
		if own.Rules != nil {
			out = append(out, replay.Rulebook("rulebook", own.Rules, own.Packs, own.Books))
		}
		theirs, err := a.projectRules()
		if err != nil {
			return nil, err
		}
		out = append(out, theirs...)
	}
	return out, nil
}

// ownRules are the person's own files and the books that they include, for a stage.
// A fault in them is told with the place where they really are.
func (a *app) ownRules() (replay.StageOptions, error) {
	var o replay.StageOptions
	d, err := a.dirs()
	if err != nil {
		return o, err
	}
	books, err := entry.LoadBooks(d, "")
	if err == nil {
		err = books.Refused
	}
	if err != nil {
		return o, err
	}
	o.Books = books.Shared
	for file, into := range map[string]*[]byte{d.Rules(): &o.Rules, d.Packs(): &o.Packs} {
		if *into, err = os.ReadFile(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return o, err
		}
	}
	o.Rules = programsOf(o.Rules, d.Home, filepath.Dir(d.Rules()))
	return o, nil
}

// programsOf is a person's book for a stage, which has another home: the programs
// of its handlers are named where they really are.
func programsOf(book []byte, home, dir string) []byte {
	doc, err := confedit.ParseTOML(book)
	if err != nil || book == nil {
		return book
	}
	value, _ := doc.Get(confedit.Path{"handler"})
	list, _ := value.([]any)
	for i, item := range list {
		spec, _ := item.(map[string]any)
		var command any
		switch words := spec["command"].(type) {
		case string: // for the shell
			if rest, ok := strings.CutPrefix(words, "~/"); ok {
				command = "'" + strings.ReplaceAll(home, "'", `'\''`) + "'/" + rest
			}
		case []any:
			if len(words) == 0 {
				continue
			}
			program, _ := words[0].(string)
			if rest, ok := strings.CutPrefix(program, "~/"); ok {
				program = filepath.Join(home, rest)
			} else if strings.Contains(filepath.ToSlash(program), "/") && !filepath.IsAbs(program) {
				program = filepath.Join(dir, program)
			}
			command = append([]any{program}, words[1:]...)
		}
		if command != nil {
			// Where the book is written in a way that is not edited, it stays.
			_ = doc.Set(confedit.Path{"handler", i, "command"}, command)
		}
	}
	return doc.Bytes()
}

// projectRules is the suite of the book of the project here; none where there is none.
func (a *app) projectRules() ([]replay.Suite, error) {
	d, err := a.dirs()
	if err != nil {
		return nil, err
	}
	books, err := entry.LoadBooks(d, a.WorkDir)
	if err != nil || books.Project == nil {
		return nil, err
	}
	if books.Project.Broken != nil {
		return nil, books.Project.Broken
	}
	return []replay.Suite{replay.Rulebook("project", books.Project.File.Data, nil, books.Project.Shared)}, nil
}

func (a *app) printAudit(r *replay.Report, o hooksAuditOptions) error {
	switch o.format {
	case "json":
		a.json = true
		return a.result(r, nil)
	case "junit":
		data, err := r.JUnit()
		if err != nil {
			return err
		}
		return a.raw(data)
	}
	rows := [][]string{{"RULE", "CASE", "EXPECTED", "ACTUAL", "AGENT", "KIND", "MODE"}}
	for _, row := range r.Rows {
		if row.Miss || o.all {
			mark := row.Actual
			if len(row.Faults) > 0 && row.Miss {
				mark += " (" + row.Faults[0] + ")"
			}
			rows = append(rows, []string{row.Suite + "/" + row.Rule, oneLine(row.Case), row.Expected, mark,
				strings.TrimSpace(string(row.Provider) + " " + row.Event), row.Kind, row.Mode})
		}
	}
	if len(rows) > 1 {
		a.table("", rows)
	}
	line := fmt.Sprintf("%d cases, %d misses", r.Cases, r.Misses)
	for _, mode := range []string{replay.Inside, replay.Spawned} {
		if s, ok := r.Modes[mode]; ok && s.Cases > 0 {
			line += fmt.Sprintf("; %s %.0f a second", mode, s.PerSecond)
		}
	}
	a.say("%s", line)
	return nil
}
