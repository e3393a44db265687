package entry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// redactPack keeps secrets out of what a model reads and sends.
var redactPack = pack{
	name: redact.Name, band: policy.BandRewrite, role: policy.Gate, events: "PreToolUse PostToolUse PostToolUseFailure",
	told: func(r *Rules) bool { return r.Redact != nil },
	build: func(h *hook, r *Rules, mode Mode) []policy.Handler {
		cfg := redactConfig(r)
		var engine *redact.Engine
		return redact.New(cfg, func() *redact.Engine {
			if engine == nil {
				set, err := SecretRules(h.dirs)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					h.complain(err) // the built-in rules hold
				}
				engine = redact.NewEngine(&cfg, set)
			}
			return engine
		}, func(ev *event.Event, rep redact.Report) {
			if mode == Audit {
				return // noted as every pack's silence is
			}
			said := "mask"
			switch {
			case !rep.Masked && rep.Out:
				said = "refuse"
			case !rep.Masked:
				said = "leak"
			}
			h.note(&AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev),
				Kind: "said", Decision: said, Rules: rep.Rules})
		})
	},
	detail: func(r *Rules, _ *Packs) string {
		cfg := redactConfig(r)
		text := "outbound " + string(cfg.Outbound)
		if cfg.Outbound == "" {
			text = "outbound " + string(redact.MaskOutbound)
		}
		if len(cfg.Rules) > 0 {
			var ids []string
			for _, rule := range cfg.Rules {
				ids = append(ids, rule.ID)
			}
			text += "; own rules " + strings.Join(ids, ", ")
		}
		return text
	},
	state: func(dirs paths.Dirs) string {
		own := fmt.Sprintf("%d built-in rules", len(redact.RuleIDs()))
		set, err := SecretRules(dirs)
		if err != nil {
			return own + " alone (lidguard setup adds the published ones)"
		}
		return fmt.Sprintf("%s and %d published ones", own, set.Len())
	},
	check: func(r *Rules) *Fault {
		if r.Redact == nil {
			return nil
		}
		if err := r.Redact.Check(); err != nil {
			return &Fault{Section: redact.Name, Index: -1, Problem: err.Error()}
		}
		return nil
	},
}

func redactConfig(r *Rules) redact.Config {
	if r.Redact == nil {
		return redact.Config{}
	}
	return *r.Redact
}

// SecretSource is the published ruleset whose rules the redact pack uses beside its
// own once a command such as `hooks enable redact` has written them for it. The version is the one that
// the program was built with, so that a newer program writes them anew.
const SecretSource = "github.com/zricethezav/gitleaks/v8@v8.30.1"

// maxSecretRules bounds the file in bytes; it has some 40 kB.
const maxSecretRules = 1 << 20

// maskFailures runs commands of which the model is told what they printed when they
// fail: no tool's output, so no pack would mask it.
func maskFailures(run func(context.Context, policy.Command) (policy.Result, error), mask func(string) string) func(context.Context, policy.Command) (policy.Result, error) {
	return func(ctx context.Context, c policy.Command) (policy.Result, error) {
		r, err := run(ctx, c)
		if err == nil && r.Code != 0 {
			r.Stdout, r.Stderr = []byte(mask(string(r.Stdout))), []byte(mask(string(r.Stderr)))
		}
		return r, err
	}
}

// maskingRunner is a policy.Runner whose commands are run by maskFailures.
type maskingRunner struct {
	policy.Runner
	run func(context.Context, policy.Command) (policy.Result, error)
}

// Run runs a command.
func (m maskingRunner) Run(ctx context.Context, c policy.Command) (policy.Result, error) {
	return m.run(ctx, c)
}

func secretRulesPath(dirs paths.Dirs) string { return dirs.Join(dirs.State, "hooks", "secret-rules") }

// SecretRules reads the published rules; fs.ErrNotExist where none were written.
func SecretRules(dirs paths.Dirs) (*redact.Ruleset, error) {
	data, err := smallfile.Read(secretRulesPath(dirs), maxSecretRules)
	if err != nil {
		return nil, err
	}
	return redact.ParseRuleset(data, SecretSource)
}

// MissingSecretRules is why the published rules do not count although the person's
// redact pack is on: nobody wrote them, or it was another version of the program. It is
// nil where they do, where the pack is off, and where that cannot be known.
func MissingSecretRules(dirs paths.Dirs) error {
	sw, err := LoadPacks(dirs)
	if err != nil {
		return nil
	}
	rules, err := LoadRules(dirs)
	if err != nil || modeOf(&redactPack, &sw, rules) == Off {
		return nil
	}
	_, err = SecretRules(dirs)
	return err
}

// SaveSecretRules writes them in one step.
func SaveSecretRules(dirs paths.Dirs, set redact.Set) error {
	data, err := redact.FormatRuleset(SecretSource, set)
	if err != nil {
		return fmt.Errorf("writing the secret rules: %w", err)
	}
	path := secretRulesPath(dirs)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("writing the secret rules: %w", err)
	}
	if err := replaceFile(path, data); err != nil {
		return fmt.Errorf("writing the secret rules: %w", err)
	}
	return nil
}
