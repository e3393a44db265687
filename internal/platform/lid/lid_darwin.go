package lid

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// ioreg is the backend of macOS; a Watch polls.
type ioreg struct{ run command.Runner }

func open(Options, func()) backend { return ioreg{command.System()} }

func (i ioreg) read(ctx context.Context) Reading { return ReadIoreg(ctx, i.run) }
func (ioreg) pushes() bool                       { return false }
func (ioreg) close()                             {}
