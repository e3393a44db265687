package battery

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// pmset is the backend of macOS; a Watch polls.
type pmset struct{ run command.Runner }

func open(Options, func()) backend { return pmset{command.System()} }

func (p pmset) read(ctx context.Context) (Reading, error) { return ReadPmset(ctx, p.run) }
func (pmset) pushes() bool                                { return false }
func (pmset) close()                                      {}
