package entry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	sessioncontext "github.com/lidguard-go/lidguard/internal/policy/context"
)

// contextPack tells the model where it is.
var contextPack = pack{
	name: sessioncontext.Name, band: policy.BandContext + 10, events: "SessionStart",
	told: func(r *Rules) bool { return r.Context != nil },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		var cfg sessioncontext.Config
		if r.Context != nil {
			cfg = *r.Context
		}
		k := h.kit()
		return []policy.Handler{sessioncontext.New(cfg, sessioncontext.World{Runner: k, Store: k.Store(sessioncontext.Name),
			Getenv: h.env.Getenv, Exists: upwards(h.dirs), Append: appendLines, Mask: masker()})}
	},
	detail: func(r *Rules, _ *Packs) string {
		if r.Context == nil || r.Context.Probes == nil {
			return "branch, dirty, toolchain"
		}
		return strings.Join(r.Context.Probes, ", ")
	},
	check: func(r *Rules) *Fault {
		if r.Context == nil {
			return nil
		}
		if row, key, problem := r.Context.Check(); problem != "" {
			return &Fault{Section: sessioncontext.Name, Index: -1, Key: key, Problem: problemOf(row, problem)}
		}
		return nil
	},
}

// problemOf names the probe at fault, which is a row below the section.
func problemOf(row int, problem string) string {
	if row < 0 {
		return problem
	}
	return fmt.Sprintf("probe %d: %s", row+1, problem)
}

// upwards reports whether a name is in a folder or above it, up to the home folder.
func upwards(dirs paths.Dirs) func(dir, name string) bool {
	return func(dir, name string) bool {
		if !filepath.IsAbs(dir) {
			return false
		}
		for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return true
			}
			if dir == dirs.Home || dir == filepath.Dir(dir) {
				return false
			}
		}
	}
}

// appendLines adds to a file that the client made for it.
func appendLines(file string, lines []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// SessionPane is where a session can be seen.
type SessionPane struct {
	sessioncontext.Pane
	// Command shows the pane; "" where its terminal has none.
	Command string `json:"focus,omitempty"`
}

// Panes are the terminal panes of the sessions that were noted, newest last.
func Panes(dirs paths.Dirs) ([]SessionPane, error) {
	list := []SessionPane{}
	value, err := (&Kit{Dirs: dirs}).Store(sessioncontext.Name).(store).read(sessioncontext.PanesKey)
	for _, p := range sessioncontext.ParsePanes(value) {
		list = append(list, SessionPane{Pane: p, Command: p.Focus()})
	}
	return list, err
}
