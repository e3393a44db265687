package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/lint"
	"github.com/spf13/cobra"
)

func (a *app) hooksLintCmd() *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use:   "lint [FILE …] [--provider P]",
		Short: "what in an agent's hooks will not do what it looks like",
		Example: `lidguard hooks lint
lidguard hooks lint .claude/settings.json
lidguard hooks lint hooks.json --provider codex --json`,
		Long: "Reads settings, hook files, plugins, and the front matter of skills and agents, of Claude Code,\n" +
			"Codex, Copilot CLI and OpenCode, whoever wrote them, and the scripts they call; without FILE\n" +
			"those at the usual places, for you and for the project here. Nothing is run or changed. Exit\n" +
			"code 1 when a finding is an error; warnings and notes do not count. Docs: docs/lint.md.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if provider != "" && !slices.Contains(censusNames(), provider) {
				return hint(&usageError{fmt.Errorf("no agent %q", provider)},
					didYouMean(provider, censusNames(), "--provider ", "the agents are "+strings.Join(censusNames(), ", ")))
			}
			return a.hooksLint(args, event.Provider(provider))
		},
	}
	cmd.Flags().StringVar(&provider, "provider", "", "the agent (`P`) whose files they are: "+strings.Join(censusNames(), ", "))
	completeWith(cmd, "provider", censusNames())
	return cmd
}

func (a *app) hooksLint(paths []string, provider event.Provider) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	host := lint.Host{GOOS: a.GOOS, Env: a.Env, Home: d.Home, WorkDir: a.WorkDir}
	files, err := a.lintFiles(host, paths, provider)
	if err != nil {
		return err
	}
	report := lint.Files(host, files)
	if err := a.result(report, func() { a.printLint(report, d.Home) }); err != nil {
		return err
	}
	if report.Worst(lint.Error) {
		return errNo{}
	}
	return nil
}

func (a *app) lintFiles(host lint.Host, paths []string, provider event.Provider) ([]lint.File, error) {
	if len(paths) == 0 {
		return slices.DeleteFunc(lint.Places(host), func(f lint.File) bool { return provider != "" && f.Provider != provider }), nil
	}
	var files []lint.File
	for _, path := range paths {
		path = a.absolute(path)
		data, err := lint.ReadFile(path) // what cannot be read is told with the findings
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%q does not exist", path)
		}
		f, ok := lint.Guess(host, path, data, provider)
		if !ok {
			return nil, hint(fmt.Errorf("%q is no file that hooks are in", path), "settings and hooks are in .json, .jsonc, .toml, .md, .js and .ts files; --provider tells whose a file is")
		}
		files = append(files, f)
	}
	return files, nil
}

func (a *app) printLint(r lint.Report, home string) {
	short := func(path string) string {
		if rel, err := filepath.Rel(a.WorkDir, path); err == nil && a.WorkDir != "" && filepath.IsLocal(rel) {
			return rel
		}
		if rel, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
			return "~" + string(filepath.Separator) + rel
		}
		return path
	}
	count := map[lint.Severity]int{}
	told := map[string]bool{} // why and how to mend it are said once for a rule
	last := ""
	for _, f := range r.Findings {
		count[f.Severity]++
		if f.File != last {
			if last != "" {
				a.say("")
			}
			client, _ := census.Of(f.Provider)
			a.heading(short(f.File) + " (" + client.Title + ")")
			last = f.File
		}
		where := ""
		if f.Line > 0 {
			where = fmt.Sprintf("%d:%d ", f.Line, f.Column)
		}
		message := f.Message
		if f.Event != "" && !strings.Contains(message, f.Event) {
			message = f.Event + ": " + message
		}
		a.say("  %s%s %s: %s", where, f.Severity, f.Rule, message)
		if !told[f.Rule] {
			a.say("      why: %s", f.Cause)
			a.say("      fix: %s", f.Fix)
		}
		told[f.Rule] = true
	}
	if len(r.Findings) > 0 {
		a.say("")
	}
	var parts []string
	for _, s := range []lint.Severity{lint.Error, lint.Warning, lint.Note} {
		if count[s] > 0 {
			parts = append(parts, counted(count[s], string(s)))
		}
	}
	if parts == nil {
		parts = []string{"nothing to report"}
	}
	a.say("%s in %s", strings.Join(parts, ", "), counted(len(r.Files), "file"))
}

// counted is a number with its word, in the plural where that is due.
func counted(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
