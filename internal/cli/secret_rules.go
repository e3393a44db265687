package cli

import (
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
