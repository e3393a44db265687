package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/spf13/cobra"
)

func (a *app) hooksAllowOnceCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "allow-once CODE",
		Short:   "let one refused call through, once",
		Example: `lidguard hooks allow-once k3fz-q7ma`,
		Long: "CODE stands in the refusal. The very same call, in the same folder, passes once within ten\n" +
			"minutes. Only for a person: refused inside an agent's process tree and without a terminal.\n" +
			"The audit log keeps it.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "allow-once takes one code; it stands in the refusal")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.hooksAllowOnce(args[0]) },
	}
}

func (a *app) hooksAllowOnce(code string) error {
	if err := a.personOnly("allow-once"); err != nil {
		return err
	}
	d, err := a.dirs()
	if err != nil {
		return err
	}
	code = strings.ToLower(strings.TrimSpace(code))
	var found *entry.AuditEntry
	if err := entry.ReadAudit(d, func(e *entry.AuditEntry) bool {
		if e.Code == code && e.Kind == "said" {
			found = e
		}
		return true
	}); err != nil {
		return err
	}
	if found == nil {
		return hint(fmt.Errorf("no refusal with code %q", code), "the code stands at the end of the refusal, four and four letters")
	}
	// First the log, then the exception: none goes unnoted.
	now := a.Now()
	until := now.Add(entry.AllowanceLife)
	if err := entry.AppendAudit(d, &entry.AuditEntry{Time: now.UTC(), Kind: "allow-once", Provider: found.Provider, Session: found.Session,
		Tool: found.Tool, Rules: found.Rules, Code: code, Digest: found.Digest, Until: &until}); err != nil {
		return fmt.Errorf("noting it in the audit log: %w", err)
	}
	if err := entry.Allow(d, found.Digest, until); err != nil {
		return err
	}
	out := struct {
		Code  string    `json:"code"`
		Rules []string  `json:"rules"`
		Until time.Time `json:"until"`
	}{code, found.Rules, until.UTC()}
	return a.result(out, func() {
		a.say("the call that %s refused passes once, until %s", strings.Join(found.Rules, ", "), when(until, now))
	})
}

func (a *app) hooksRelaxCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "relax DURATION",
		Short: "stop catastrophes only, for a while",
		Example: `lidguard hooks relax 15m
lidguard hooks relax off`,
		Long: "For that long the gate reads its table in the relaxed profile: it stops catastrophes and asks\n" +
			"nothing. Four hours at most; off ends it. Only for a person: refused inside an agent's process\n" +
			"tree and without a terminal. The audit log keeps it.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "relax takes a time such as 15m, or off")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.hooksRelax(cmd, args[0]) },
	}
}

func (a *app) hooksRelax(cmd *cobra.Command, word string) error {
	var length time.Duration
	if word != "off" {
		var err error
		length, err = time.ParseDuration(word)
		if err != nil || length < time.Second || length > entry.MaxRelax {
			return usagef(cmd, "relax cannot be %q: allowed is 1s to %s, such as 15m, or off", word, span(entry.MaxRelax))
		}
	}
	if err := a.personOnly("relax"); err != nil {
		return err
	}
	d, err := a.dirs()
	if err != nil {
		return err
	}
	now := a.Now()
	var until time.Time
	if length > 0 {
		until = now.Add(length)
	}
	note := &entry.AuditEntry{Time: now.UTC(), Kind: "relax"}
	if length > 0 {
		utc := until.UTC()
		note.Until = &utc
	}
	if err := entry.AppendAudit(d, note); err != nil {
		return fmt.Errorf("noting it in the audit log: %w", err)
	}
	if err := entry.Relax(d, until); err != nil {
		return err
	}
	out := struct {
		Until *time.Time `json:"until"`
	}{note.Until}
	return a.result(out, func() {
		if length == 0 {
			a.say("the gate reads its profile as before")
			return
		}
		a.say("the gate stops catastrophes only, until %s", when(until, now))
	})
}
