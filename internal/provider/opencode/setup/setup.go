// Package setup connects OpenCode with lidguard: it writes the plugin through which
// the client's sessions are seen and its prompts are answered, tells whether it is
// there, and takes it out again. Nothing is written before a plan is applied, and a
// file of somebody else's with the plugin's name is left alone.
//
// Facts about the client are from docs/contracts/opencode.md, cited as "contract §5".
package setup

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// FileName is the plugin's name in a plugins folder.
const FileName = "lidguard.js"

// plugin is the plugin with a placeholder for the program's path.
//
//go:embed lidguard.js
var plugin []byte

// The plugin's first words say that it is ours, whatever version wrote it; in the
// line that holds the placeholder stands the program.
const (
	mark        = "// lidguard plugin for OpenCode"
	placeholder = `"@PROGRAM@"`
)

// Setup is OpenCode of one user.
type Setup struct {
	Root   string // its config folder
	File   string // our plugin
	others []string
}

// New finds the client's places: OPENCODE_CONFIG_DIR, else opencode in
// XDG_CONFIG_HOME or in .config of the home folder, on every system. The plugin
// never goes into a project, where the client would install packages beside it
// (contract §5). Nothing needs to exist.
func New(_ string, env paths.Env, home, workDir string) Setup {
	config := env("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	roots := []string{filepath.Join(config, "opencode")}
	if own := env("OPENCODE_CONFIG_DIR"); own != "" {
		roots = append([]string{own}, roots...)
	}
	s := Setup{Root: roots[0], File: filepath.Join(roots[0], "plugins", FileName)}
	for _, root := range roots {
		s.others = append(s.others, filepath.Join(root, "plugins", FileName), filepath.Join(root, "plugin", FileName))
	}
	if workDir != "" {
		s.others = append(s.others, filepath.Join(workDir, ".opencode", "plugins", FileName), filepath.Join(workDir, ".opencode", "plugin", FileName))
	}
	s.others = slices.DeleteFunc(s.others, func(path string) bool { return path == s.File })
	return s
}

// Provider is the client's name.
func (s Setup) Provider() event.Provider { return event.OpenCode }

// Title is the client's name for people.
func (s Setup) Title() string { return "OpenCode" }

// Present reports whether the client has been used here: its folder exists.
func (s Setup) Present() bool {
	info, err := os.Stat(s.Root)
	return err == nil && info.IsDir()
}

// Snippet is the plugin, for those who keep such files by hand.
func (s Setup) Snippet(p install.Program) ([]byte, error) {
	// JSON's escapes are JavaScript's, with < and the line separators escaped.
	path, err := json.Marshal(p.Path)
	if err != nil {
		return nil, fmt.Errorf("writing the path of the program: %w", err)
	}
	return bytes.Replace(plugin, []byte(placeholder), path, 1), nil
}

// Install plans to write the plugin, or to bring it up to date. A second copy in
// another folder would tell everything twice, so it goes.
func (s Setup) Install(p install.Program, records install.Records) (install.Plan, error) {
	var plan install.Plan
	want, err := s.Snippet(p)
	if err != nil {
		return plan, err
	}
	err = plan.Add(s.File, false, records, func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		if !isOurs(data) && len(bytes.TrimSpace(data)) > 0 {
			return confedit.Draft{}, install.ErrForeign
		}
		return confedit.Draft{Text: want}, nil
	})
	if err != nil {
		return plan, err
	}
	return plan, s.clear(&plan, records)
}

// Remove plans to delete the plugin, wherever it is.
func (s Setup) Remove(records install.Records) (install.Plan, error) {
	var plan install.Plan
	if err := plan.Add(s.File, true, records, remove); err != nil {
		return plan, err
	}
	return plan, s.clear(&plan, records)
}

// clear plans to delete other copies.
func (s Setup) clear(plan *install.Plan, records install.Records) error {
	for _, path := range s.others {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if err := plan.Add(path, true, records, remove); err != nil {
			return err
		}
	}
	return nil
}

func remove(data []byte, _ []confedit.Path) (confedit.Draft, error) {
	return confedit.Draft{Text: data, Delete: isOurs(data)}, nil
}

// isOurs reports whether a plugin was written by some version of lidguard.
func isOurs(data []byte) bool { return bytes.HasPrefix(data, []byte(mark)) }

// Status tells how the plugin stands. Its one "hook" is the file. It reads and
// changes nothing.
func (s Setup) Status(p install.Program) install.Report {
	r := install.Report{Provider: s.Provider(), Root: s.Root, Present: s.Present(), File: s.File}
	h := install.Hook{Event: "plugin", State: install.Missing}
	f, err := confedit.Open(s.File)
	want, snippetErr := s.Snippet(p)
	switch {
	case err != nil:
		r.State = install.Unreadable
		r.Problems = append(r.Problems, install.Broken(s.File, err, ""))
		r.Settle()
		return r
	case !f.Exists:
	case !isOurs(f.Bytes()):
		h.State = install.Foreign
		r.Problems = append(r.Problems, install.Problem{Code: install.ForeignFile, Text: s.File + " is not lidguard's, so it is left alone",
			Remedy: "rename it, then install again"})
	default:
		h.State, h.Command = install.Installed, programOf(f.Bytes())
		if snippetErr != nil || !bytes.Equal(f.Bytes(), want) {
			h.State, h.Detail = install.NeedsUpdate, "of another version, or edited"
			if h.Command != p.Path {
				h.Detail = "another program"
			}
		}
	}
	r.Hooks = append(r.Hooks, h)
	for _, path := range s.others {
		if data, err := os.ReadFile(path); err == nil && isOurs(data) {
			r.Hooks = append(r.Hooks, install.Hook{Event: "plugin", State: install.NeedsUpdate, Detail: "stands in " + path + " as well"})
		}
	}
	r.Settle()
	return r
}

// programOf reads the program out of a plugin; "" where it cannot be found.
func programOf(data []byte) string {
	before, after, _ := bytes.Cut(plugin, []byte(placeholder))
	head := before[bytes.LastIndexByte(before, '\n')+1:]
	tail, _, _ := bytes.Cut(after, []byte("\n"))
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, head); ok && len(head) > 0 {
			var path string
			if json.Unmarshal(bytes.TrimSuffix(rest, tail), &path) == nil {
				return path
			}
		}
	}
	return ""
}
