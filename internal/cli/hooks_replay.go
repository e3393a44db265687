package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/replay"
	"github.com/lidguard-go/lidguard/internal/rulebook"
	"github.com/spf13/cobra"
)

type hooksReplayOptions struct {
	provider, event, payload string
	spawn, away              bool
	timeout                  time.Duration
}

func (a *app) hooksReplayCmd() *cobra.Command {
	var o hooksReplayOptions
	cmd := &cobra.Command{
		Use:   "replay --provider P --event E [--payload FILE] [-- COMMAND...]",
		Short: "give a hook an exact payload and show what the agent would do",
		Example: `lidguard hooks replay --provider claude --event PreToolUse
lidguard hooks replay --provider codex --event PreToolUse --payload call.json -- ./my-hook.py
echo '{"tool_name":"Bash"}' | lidguard hooks replay --provider claude --event PreToolUse --payload -`,
		Long: "Without a command it is lidguard's own chain with your rulebook, in this process or, with\n" +
			"--spawn, as the program that agents start. Your runtime hears nothing of it. A command is\n" +
			"started as the agent would start it. Without --payload it gets what the real agent once\n" +
			"sent at that event. What the agent would do is told by docs/contracts.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			argv, err := behindDashes(cmd, args)
			if err != nil {
				return err
			}
			if o.spawn && len(argv) > 0 {
				return usagef(cmd, "--spawn is for lidguard's own hook; a command is always started")
			}
			return a.hooksReplay(cmd, o, argv)
		},
	}
	addCase(cmd, &o.provider, &o.event)
	cmd.Flags().StringVar(&o.payload, "payload", "", "the payload's `FILE`, - for stdin; default one that the agent once sent")
	addSwitch(cmd.Flags(), &o.spawn, "spawn", "start lidguard's hook as a program of its own")
	addSwitch(cmd.Flags(), &o.away, "away", "as if the lid were closed and nobody there")
	cmd.Flags().DurationVar(&o.timeout, "timeout", replay.Limit, "how long the hook may take (`DURATION`)")
	return cmd
}

// addCase defines --provider and --event of an event that is to be played.
func addCase(cmd *cobra.Command, provider, native *string) {
	cmd.Flags().StringVar(provider, "provider", "", "the agent (`P`): "+strings.Join(censusNames(), ", "))
	cmd.Flags().StringVar(native, "event", "", "the event (`E`), as the agent or lidguard calls it")
	completeWith(cmd, "provider", censusNames())
	completeWith(cmd, "event", eventNames(census.All()))
}

// behindDashes is the command behind --, and refuses words before it.
func behindDashes(cmd *cobra.Command, args []string) ([]string, error) {
	at := cmd.ArgsLenAtDash()
	dashes := at >= 0
	if !dashes {
		at = len(args)
	}
	switch {
	case at > 0:
		return nil, hint(usagef(cmd, "%s does not take %q", cmd.Name(), args[0]), "put the hook's command behind --")
	case dashes && (len(args) == 0 || args[0] == ""):
		// Perhaps a variable was empty; lidguard's own chain is not what was meant.
		return nil, usagef(cmd, "there is no command behind --")
	}
	return args[at:], nil
}

// nativeEvent finds an event of a client by any of its names.
func nativeEvent(cmd *cobra.Command, provider, name string) (event.Provider, string, error) {
	if provider == "" || name == "" {
		return "", "", usagef(cmd, "%s needs --provider and --event", cmd.Name())
	}
	rows := census.Events(event.Provider(provider))
	if len(rows) == 0 {
		return "", "", hint(&usageError{fmt.Errorf("no agent %q", provider)}, didYouMean(provider, censusNames(), "--provider ", "the agents are "+strings.Join(censusNames(), ", ")))
	}
	for _, e := range rows {
		if e.Native == name || e.Pascal != "" && e.Pascal == name {
			return e.Provider, name, nil // Copilot's two spellings are two dialects
		}
	}
	found := eventsNamed(rows, name)
	if len(found) == 0 {
		return "", "", hint(&usageError{fmt.Errorf("%s has no event %q", provider, name)}, didYouMean(name, eventNames(rows), "--event ", "`lidguard hooks events --provider "+provider+"` lists them"))
	}
	return found[0].Provider, found[0].Native, nil
}

// replayed is what `hooks replay --json` prints.
type replayed struct {
	Provider event.Provider `json:"provider"`
	Event    string         `json:"event"`
	Payload  int            `json:"payload_bytes"`
	Exit     int            `json:"exit_code"`
	Signal   string         `json:"signal,omitempty"`
	Timeout  bool           `json:"timed_out"`
	TookMS   float64        `json:"took_ms"`
	Stdout   string         `json:"stdout"`
	Stderr   string         `json:"stderr"`
	Decision string         `json:"decision"` // none, allow, ask, deny
	Reason   string         `json:"reason,omitempty"`
	Contexts []string       `json:"contexts,omitempty"`
	Input    any            `json:"updated_input,omitempty"`
	Output   any            `json:"updated_output,omitempty"`
	Does     string         `json:"agent_does"`
	By       string         `json:"by"`
	Failed   bool           `json:"hook_failed"`
	Faults   []string       `json:"faults,omitempty"`
}

func (a *app) hooksReplay(cmd *cobra.Command, o hooksReplayOptions, argv []string) error {
	p, native, err := nativeEvent(cmd, o.provider, o.event)
	if err != nil {
		return err
	}
	c := replay.Case{Provider: p, Event: native, Away: o.away}
	if c.Payload, err = a.payload(p, native, o.payload); err != nil {
		return err
	}
	runner, done, err := a.hookToReplay(o, argv)
	if err != nil {
		return err
	}
	defer done()
	out, err := replay.Play(cmd.Context(), runner, c)
	if err != nil {
		return err
	}
	r := replayed{Provider: p, Event: native, Payload: len(c.Payload), Exit: out.Code, Signal: out.Signal, Timeout: out.Late, TookMS: float64(out.Took.Microseconds()) / 1000,
		Stdout: string(out.Stdout), Stderr: string(out.Stderr), Decision: out.Decision.String(), Reason: out.Reason, Contexts: out.Verdict.Contexts,
		Does: out.Does, By: out.By, Failed: out.Failed, Faults: out.Faults}
	if v := out.Verdict.UpdatedInput; json.Valid(v) {
		r.Input = v
	}
	if v := out.Verdict.UpdatedOutput; json.Valid(v) {
		r.Output = v
	}
	return a.result(r, func() { a.printReplay(&r) })
}

func (a *app) printReplay(r *replayed) {
	client, _ := census.Of(r.Provider)
	ended := replay.Answer{Code: r.Exit, Signal: r.Signal}
	took := fmt.Sprintf("%s after %.1f ms", ended.Ended(), r.TookMS)
	if r.Timeout {
		took = fmt.Sprintf("no answer after %.0f ms, killed", r.TookMS)
	}
	rows := [][]string{
		{"event", fmt.Sprintf("%s %s, %d bytes", client.Title, r.Event, r.Payload)},
		{"hook", took},
		{"stdout", dash(shown(r.Stdout))},
		{"stderr", dash(shown(r.Stderr))},
		{"verdict", r.Decision},
		{"reason", shown(r.Reason)},
		{client.Title, r.Does + ", by " + r.By},
	}
	for _, text := range r.Contexts {
		rows = append(rows, []string{"context", shown(text)})
	}
	for _, fault := range r.Faults {
		rows = append(rows, []string{"fault", fault})
	}
	var kept [][]string
	for _, row := range rows {
		if row[1] != "" {
			kept = append(kept, row)
		}
	}
	a.table("", kept)
}

// shown is a stream on one line of bounded length.
func shown(s string) string {
	const most = 600
	s = oneLine(s)
	if len(s) > most {
		s = s[:most] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}

// payload reads what is to be replayed: a file, stdin, or the fixture.
func (a *app) payload(p event.Provider, native, file string) ([]byte, error) {
	switch file {
	case "":
		return replay.Fixture(p, native, filepath.ToSlash(a.WorkDir))
	case "-":
		return io.ReadAll(io.LimitReader(a.Stdin, entry.MaxPayload+1))
	}
	f, err := os.Open(a.absolute(file))
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, entry.MaxPayload+1))
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	return data, nil
}

// hookToReplay is the hook that was asked for, and what ends it.
func (a *app) hookToReplay(o hooksReplayOptions, argv []string) (replay.Runner, func(), error) {
	nothing := func() {}
	if len(argv) > 0 {
		f, err := replay.NewForeign(argv, a.WorkDir, a.WorkDir, os.Environ())
		if err == nil && a.GOOS != "windows" {
			_, err = exec.LookPath(f.Argv[0])
		}
		switch {
		case err != nil && a.GOOS == "windows": // which shell a client has there is not known
			return nil, nothing, err
		case err != nil:
			f = replay.NotThere(argv, a.WorkDir, os.Environ())
		}
		f.Limit = o.timeout
		return f, nothing, nil
	}
	if o.spawn {
		stage, err := a.ownStage()
		if err != nil {
			return nil, nothing, err
		}
		program, err := a.hookProgram()
		return &replay.Spawn{Program: program, Stage: stage}, stage.Close, err
	}
	r, err := entry.Rehearse(entry.Env{OS: a.GOOS, Getenv: a.Env, Environ: os.Environ(), Executable: a.Executable, Now: time.Now}, awayAs(o.away))
	if err != nil {
		return nil, nothing, hint(err, "`lidguard hooks list` reads the same files")
	}
	return own{r}, nothing, nil
}

func awayAs(away bool) *ipc.Away {
	if away {
		return &ipc.Away{Lid: "closed", Away: true}
	}
	return &ipc.Away{Lid: "open", Displays: 1}
}

// own is the person's chain in this process.
type own struct{ chain *entry.Rehearsal }

func (r own) Run(_ context.Context, c replay.Case) (replay.Answer, error) {
	return replay.Rehearsed(r.chain, c)
}

// ownStage is a stage with the person's folders and rules.
func (a *app) ownStage() (*replay.Stage, error) {
	d, err := a.dirs()
	if err != nil {
		return nil, err
	}
	o, err := a.ownRules()
	if err != nil {
		return nil, err
	}
	o.Home, o.Project, o.Path, o.Listen = d.Home, a.WorkDir, a.Env("PATH"), a.listen
	trust, err := rulebook.LoadTrust(d)
	if err != nil {
		return nil, err
	}
	for _, pin := range trust.Pins() {
		if data, ok := trust.Kept(pin.SHA256); ok {
			o.Books = append(o.Books, rulebook.File{Path: pin.Path, Data: data, Digest: pin.SHA256})
		}
	}
	if o.Trusted, err = os.ReadFile(d.TrustedBooks()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return replay.OpenStage(o)
}

// hookProgram is the program that agents start: the thin one beside this one where
// there is one.
func (a *app) hookProgram() (string, error) {
	if a.Executable == "" {
		return "", errors.New("the path of the lidguard program is not known")
	}
	if beside := filepath.Join(filepath.Dir(a.Executable), "lidguard-hook"+filepath.Ext(a.Executable)); exists(beside) {
		return beside, nil
	}
	return a.Executable, nil
}
