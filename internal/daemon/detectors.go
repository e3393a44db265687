package daemon

import (
	"github.com/lidguard-go/lidguard/internal/event"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/transcript"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/transcript"
	"github.com/lidguard-go/lidguard/internal/watch"
)

// Detector returns the reader of a session's transcript, nil for clients whose
// log is not read. A new client is one line here.
func Detector(key event.SessionKey) watch.Detector {
	switch key.Provider {
	case event.Claude:
		return claude.New(key)
	case event.Codex:
		return codex.New(key)
	}
	return nil
}
