package entry

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/nudge"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// nudgePack reminds the model of facts.
var nudgePack = pack{
	name: nudge.Name, band: policy.BandContext + 20, events: "UserPromptSubmit SessionStart",
	told: func(r *Rules) bool { return len(r.Nudge) > 0 },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		k := h.kit()
		table := r.Nudge
		more, err := LoadNudges(h.dirs)
		if err != nil {
			h.complain(err) // the rulebook's are given all the same
		}
		table = append(slices.Clone(table), more...)
		return []policy.Handler{nudge.New(table, k.Store(nudge.Name), func(id string) bool { return Dismissed(h.dirs, id) })}
	},
	detail: func(r *Rules, _ *Packs) string { return fmt.Sprintf("%d in the rulebook", len(r.Nudge)) },
	state: func(dirs paths.Dirs) string {
		more, err := LoadNudges(dirs)
		if err != nil {
			return "nudges.json does not count: " + err.Error()
		}
		return fmt.Sprintf("%d in nudges.json", len(more))
	},
	check: func(r *Rules) *Fault {
		if row, problem := nudge.Check(r.Nudge); row >= 0 {
			return &Fault{Section: "nudge", Index: row, Problem: problem}
		}
		return nil
	},
}

// maxNudges bounds nudges.json and the list of dismissed nudges in bytes.
const maxNudges = 256 << 10

// LoadNudges reads nudges.json beside the rulebook. No file is no error.
func LoadNudges(dirs paths.Dirs) ([]nudge.Nudge, error) {
	file := dirs.Join(dirs.Config, "nudges.json")
	data, err := smallfile.Read(file, maxNudges)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", file, err)
	}
	table, err := nudge.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", file, err)
	}
	return table, nil
}

// dismissals is the file with the ids that a person wants to hear no more of.
func dismissals(dirs paths.Dirs) string { return dirs.Join(dirs.State, "hooks", "nudge", "dismissed") }

// Dismissed reports whether a person wants to hear no more of a nudge.
func Dismissed(dirs paths.Dirs, id string) bool {
	data, err := smallfile.Read(dismissals(dirs), maxNudges)
	return err == nil && slices.Contains(strings.Split(string(data), "\n"), id)
}

// Dismiss keeps a nudge back from now on, or gives it again.
func Dismiss(dirs paths.Dirs, id string, again bool) error {
	file := dismissals(dirs)
	data, err := smallfile.Read(file, maxNudges)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the dismissed nudges: %w", err)
	}
	ids := strings.Split(strings.Trim(string(data), "\n"), "\n")
	ids = slices.DeleteFunc(ids, func(s string) bool { return s == id || s == "" })
	if !again {
		ids = append(ids, id)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("noting the dismissed nudge: %w", err)
	}
	var b bytes.Buffer
	for _, id := range ids {
		fmt.Fprintln(&b, id)
	}
	if err := replaceFile(file, b.Bytes()); err != nil {
		return fmt.Errorf("noting the dismissed nudge: %w", err)
	}
	return nil
}

// NudgeIDs are the ids of the person's own nudges.
func NudgeIDs(dirs paths.Dirs) ([]string, error) {
	rules, err := LoadRules(dirs)
	if err != nil {
		return nil, err
	}
	more, err := LoadNudges(dirs)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, n := range slices.Concat(rules.Nudge, more) {
		ids = append(ids, n.ID)
	}
	return ids, nil
}
