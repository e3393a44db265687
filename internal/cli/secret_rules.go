package cli

import (
	"fmt"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/secretrules"
)

// writeSecretRules puts the published secret rules where the redact pack's hook finds
// them. Hooks cannot link the set they are from, this program can.
func writeSecretRules(d paths.Dirs) error {
	set, err := secretrules.Published()
	if err != nil {
		return err
	}
	return entry.SaveSecretRules(d, set)
}

// freshSecretRules writes them where the redact pack is on without: it was switched on
// by the rulebook, or the program was upgraded since.
func (a *app) freshSecretRules() error {
	d, err := a.dirs()
	if err != nil || entry.MissingSecretRules(d) == nil {
		return err
	}
	if err := writeSecretRules(d); err != nil {
		return hint(fmt.Errorf("the published secret rules: %w", err), "until then the redact pack has its built-in rules alone; try `lidguard hooks enable redact`")
	}
	a.note("the published secret rules were written for the redact pack")
	return nil
}
