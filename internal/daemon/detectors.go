package daemon

import (
	"os"
	"path/filepath"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/transcript"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/transcript"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/transcript"
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
	case event.Copilot:
		return copilot.New(key)
	}
	return nil
}

// limitOver tells when the usage limit is over that ended a turn, as its client says
// in the last message; zero where it does not. A new client is one line here.
func limitOver(s *event.Signal, now time.Time) time.Time {
	if s.Kind != event.Failed || s.AgentID != "" || s.Session.Provider != event.Claude {
		return time.Time{}
	}
	return claude.LimitOver(s.LastMessage, now)
}

// Locate returns where the client keeps the session's transcript, for events that
// named none: the one file with the session's id, or "". env looks up CODEX_HOME,
// CLAUDE_CONFIG_DIR and HOME. It lists folders of the client's and may take a
// while on a slow disk.
func Locate(env func(string) string) func(event.SessionKey) string {
	return func(key event.SessionKey) string {
		folder := func(variable, standard, sub string) string {
			if dir := env(variable); dir != "" {
				return filepath.Join(dir, sub)
			}
			return filepath.Join(env("HOME"), standard, sub)
		}
		var root, found string
		var err error
		switch key.Provider {
		case event.Claude:
			root = folder("CLAUDE_CONFIG_DIR", ".claude", "projects")
			found, err = claude.Find(os.DirFS(root), key.ID)
		case event.Codex:
			root = folder("CODEX_HOME", ".codex", "sessions")
			found, err = codex.Find(os.DirFS(root), key.ID)
		}
		if err != nil || found == "" {
			return "" // none, or more than one: the hooks alone tell then
		}
		return filepath.Join(root, filepath.FromSlash(found))
	}
}
