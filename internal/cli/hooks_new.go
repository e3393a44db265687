package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/replay"
	"github.com/spf13/cobra"
)

type hooksNewOptions struct{ lang string }

// newBody is the word for a hook of one's own.
const newBody = "body"

func (a *app) hooksNewCmd() *cobra.Command {
	var o hooksNewOptions
	cmd := &cobra.Command{
		Use:   "new PACK|body [--lang L] [DIR]",
		Short: "write a working rulebook section or a hook, with the cases that prove it",
		Example: `lidguard hooks new rule
lidguard hooks new until ~/src/api/.lidguard-until
lidguard hooks new body --lang python ~/.claude/hooks/generated`,
		Long: "A pack gives a commented section for your rulebook and its cases; body gives a hook program in\n" +
			"Go (with lidguard's SDK), Python or sh (with nothing but what the language brings). Either\n" +
			"passes `lidguard hooks audit` as it is; change it from there. Nothing that exists is changed.\n" +
			"Packs: " + strings.Join(replay.CorpusNames(), ", ") + ".",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef(cmd, "new needs a pack (%s) or body", strings.Join(replay.CorpusNames(), ", "))
			case len(args) > 2:
				return usagef(cmd, "new takes a pack and a folder, not %q", args[2])
			}
			return nil
		},
		ValidArgs: append(replay.CorpusNames(), newBody),
		RunE:      func(cmd *cobra.Command, args []string) error { return a.hooksNew(cmd, o, args) },
	}
	cmd.Flags().StringVar(&o.lang, "lang", "", "the language of a body (`L`): "+strings.Join(replay.Languages(), ", "))
	completeWith(cmd, "lang", replay.Languages())
	return cmd
}

// written is what `hooks new --json` prints.
type written struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	Audit string   `json:"audit"` // the command that proves it, to be run in Dir
}

func (a *app) hooksNew(cmd *cobra.Command, o hooksNewOptions, args []string) error {
	what := args[0]
	if what != newBody && o.lang != "" {
		return usagef(cmd, "--lang is for a body")
	}
	dir := "lidguard-" + what
	if len(args) == 2 {
		if dir = args[1]; dir == "" {
			return usagef(cmd, "the folder has no name") // perhaps a variable was empty
		}
	}
	dir = filepath.Clean(a.absolute(dir))
	var d replay.Draft
	var err error
	if what == newBody {
		if o.lang == "" {
			o.lang = replay.Languages()[0]
		}
		if !slices.Contains(replay.Languages(), o.lang) {
			return usagef(cmd, "--lang cannot be %q: there are %s", o.lang, strings.Join(replay.Languages(), ", "))
		}
		d, err = replay.NewBody(o.lang, programName(dir))
	} else if d, err = replay.NewPack(what); err != nil {
		return hint(&usageError{err}, didYouMean(what, append(replay.CorpusNames(), newBody), "hooks new ", "`lidguard hooks new --help` lists them"))
	}
	if err != nil {
		return err
	}
	w := written{Dir: dir, Audit: strings.Join(d.Audit, " ")}
	for _, f := range d.Files {
		if err := writeNew(filepath.Join(dir, filepath.FromSlash(f.Name)), f); err != nil {
			return err
		}
		w.Files = append(w.Files, f.Name)
	}
	return a.result(w, func() {
		for _, f := range w.Files {
			a.say("%s", filepath.Join(dir, f))
		}
		a.heading("prove it")
		to := install.ShellWord(dir)
		if a.GOOS == "windows" {
			to = `"` + dir + `"` // for cmd and PowerShell
		}
		a.say("  cd %s", to)
		if o.lang == "go" {
			a.say("  go get github.com/lidguard-go/lidguard/hook && go build")
		}
		a.say("  %s", w.Audit)
		if what != newBody {
			if c, err := a.dirs(); err == nil {
				a.heading("switch it on")
				a.say("  put the section of rules.toml into %s", c.Rules())
			}
		}
	})
}

// writeNew writes a file that must not be there yet.
func writeNew(path string, f replay.DraftFile) error {
	mode := fs.FileMode(0o644)
	if f.Run {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing a new hook: %w", err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return hint(fmt.Errorf("%q exists already", path), "name another folder behind the command")
	}
	if err != nil {
		return fmt.Errorf("writing a new hook: %w", err)
	}
	_, err = out.Write(f.Text)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing a new hook: %w", err)
	}
	return nil
}

// programName is a folder's name as the name of a program and a module.
func programName(dir string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return unicode.ToLower(r)
		}
		return '-'
	}, filepath.Base(dir))
	if name = strings.Trim(name, "-"); name == "" {
		return "hook"
	}
	return name
}
