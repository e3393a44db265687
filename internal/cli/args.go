package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noArgs refuses words behind a command that takes only options.
func noArgs(cmd *cobra.Command, args []string) error { return upTo(0)(cmd, args) }

// upTo accepts at most n words behind the command.
func upTo(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return usagef(cmd, "%s: unexpected %q", cmd.Name(), args[n])
	}
}

// oneOf accepts exactly one of the words, or none.
func oneOf(words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := upTo(1)(cmd, args); err != nil || len(args) == 0 {
			return err
		}
		if slices.Contains(words, args[0]) {
			return nil
		}
		return hint(&usageError{fmt.Errorf("%s: no %q, only %s", cmd.Name(), args[0], strings.Join(words, ", "))},
			didYouMean(args[0], words, "lidguard "+cmd.Name()+" ", seeHelp(cmd)))
	}
}

// usagef is an error of usage whose hint leads to the command's help.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return hint(&usageError{fmt.Errorf(format, args...)}, seeHelp(cmd))
}

func seeHelp(cmd *cobra.Command) string { return "see `" + cmd.CommandPath() + " --help`" }

// unknownCommand names the most similar command.
func unknownCommand(cmd *cobra.Command, word string) error {
	if !cmd.HasAvailableSubCommands() {
		return usagef(cmd, "%s has no commands of its own, so no %q", cmd.CommandPath(), word)
	}
	list := "`" + cmd.CommandPath() + " --help` lists its commands"
	if !cmd.HasParent() {
		list = "`lidguard help` lists all commands"
	}
	return hint(&usageError{fmt.Errorf("no command %q", word)}, didYouMean(word, commandNames(cmd), cmd.CommandPath()+" ", list))
}

// commandNames are the commands below cmd that people may use.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// flagError turns pflag's complaints into ours, with the nearest option's name.
func flagError(cmd *cobra.Command, err error) error {
	var none *pflag.NotExistError
	if errors.As(err, &none) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		name := none.GetSpecifiedName()
		typed := "--" + name
		if none.GetSpecifiedShortnames() != "" {
			typed = "-" + name
		}
		return hint(&usageError{fmt.Errorf("%s has no option %q", cmd.Name(), typed)},
			didYouMean(name, names, "--", seeHelp(cmd)))
	}
	var bad *pflag.InvalidValueError
	var refused *settings.Error
	if errors.As(err, &refused) {
		return hint(&usageError{refused}, seeHelp(cmd))
	}
	var number *strconv.NumError
	if errors.As(err, &bad) && errors.As(bad, &number) {
		return usagef(cmd, "--%s cannot be %q: allowed is a whole number", bad.GetFlag().Name, bad.GetValue())
	}
	if errors.As(err, &bad) {
		return usagef(cmd, "--%s cannot be %q: %v", bad.GetFlag().Name, bad.GetValue(), bad.Unwrap())
	}
	var short *pflag.ValueRequiredError
	if errors.As(err, &short) {
		return usagef(cmd, "--%s needs a value", short.GetSpecifiedName())
	}
	return usagef(cmd, "%v", err)
}

// noEmptyOptions refuses `--session ""`, as a script writes it whose variable is
// unset: that is no wish for what comes without the option. A prompt may be empty.
func noEmptyOptions(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == "" && f.Name != "prompt"
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = slices.Contains(list.GetSlice(), "")
		}
		if empty && err == nil {
			err = usagef(cmd, "--%s needs a value", f.Name)
		}
	})
	return err
}

// didYouMean is a hint with the nearest of the words, or the other hint.
func didYouMean(word string, words []string, prefix, other string) string {
	if near := nearest(word, words); near != "" {
		return "did you mean `" + prefix + near + "`?"
	}
	return other
}

// nearest returns the word that word was probably meant to be, or "".
func nearest(word string, words []string) string {
	best, bestCost := "", len(word)/3+1
	for _, w := range words {
		// What people leave out is mostly the front or the end.
		if len(word) >= 4 && (strings.HasPrefix(w, word) || strings.HasSuffix(w, word)) {
			return w
		}
		if c := distance(word, w); c < bestCost || c == bestCost && best == "" && c <= 2 && len(word) > 3 {
			best, bestCost = w, c
		}
	}
	return best
}

// distance is the number of single-letter changes, additions, removals and swaps
// of neighbours that turn a into b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}

// switchValue is a switch that also takes the boolean words of settings.
type switchValue bool

func (v *switchValue) String() string {
	if v != nil && bool(*v) {
		return "true"
	}
	return "false"
}

func (v *switchValue) Set(s string) error {
	on, ok := settings.ParseBool(s)
	if !ok {
		return errors.New("allowed is true or false (also yes, no, on, off, 1, 0)")
	}
	*v = switchValue(on)
	return nil
}

func (v *switchValue) Type() string { return "" } // help shows no placeholder behind a switch

// addSwitch defines --name, which stands for --name true.
func addSwitch(f *pflag.FlagSet, v *bool, name, help string) {
	f.Var((*switchValue)(v), name, help)
	f.Lookup(name).NoOptDefVal = "true"
}

// switches are the names of all options made by addSwitch, in any command below
// root: joinSwitches needs them before it is known which command they belong to.
func switches(root *cobra.Command) map[string]bool {
	names := map[string]bool{}
	note := func(f *pflag.Flag) {
		if _, is := f.Value.(*switchValue); is {
			names[f.Name] = true
		}
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(root)
	return names
}

// joinSwitches lets `--all true` mean `--all=true`, as it does for options with
// values; pflag itself would take "true" for an argument. 1 and 0 are left alone
// here: behind a switch they may well be an argument (suspend-history --json 1).
func joinSwitches(args []string, switches map[string]bool) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, isOption := strings.CutPrefix(args[i], "--")
		if isOption && i+1 < len(args) && switches[name] && len(args[i+1]) > 1 {
			if _, ok := settings.ParseBool(args[i+1]); ok {
				out = append(out, args[i]+"="+args[i+1])
				i++
				continue
			}
		}
		out = append(out, args[i])
	}
	return out
}
