// Package lint reads the hook configuration of any agent, whoever wrote it, and
// says what in it will not do what it looks like: matchers that never match,
// answers in a dialect that the client throws away, programs that are not there.
// In come files (or none: then the usual places), an environment and a home
// folder; out go findings, each with rule, file, event, place, cause and fix. It
// changes nothing, runs nothing, and never reports the text of a secret.
//
// What the clients do is in internal/census and docs/contracts; each rule here
// cites it.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Severity says how bad a finding is.
type Severity string

// The severities. An Error does not do what it is there for; a Warning does it
// otherwise than it looks, or costs something; a Note is worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is one thing that a person should know about a file.
type Finding struct {
	Rule     string         `json:"rule"`
	Severity Severity       `json:"severity"`
	Provider event.Provider `json:"provider"`
	File     string         `json:"file"`
	Line     int            `json:"line,omitempty"` // from 1; 0: the file as a whole
	Column   int            `json:"column,omitempty"`
	Event    string         `json:"event,omitempty"`
	Path     string         `json:"path,omitempty"` // of the value in the file
	Message  string         `json:"message"`        // what is the case, here
	Cause    string         `json:"cause"`          // why that is a fault
	Fix      string         `json:"fix"`
}

// Host is the machine that the files are for.
type Host struct {
	GOOS    string
	Env     func(name string) string
	Home    string
	WorkDir string // the folder whose project is looked at
	Managed string // an administrator's settings for Claude Code; empty: the system's usual place
}

// Report is the result for a set of files.
type Report struct {
	Files    []File    `json:"files"`
	Findings []Finding `json:"findings"`
}

// Worst reports whether a finding of this severity is among them.
func (r Report) Worst(s Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == s })
}

// limit is the largest file that is read: no client's config or hook script is
// near it.
const limit = 4 << 20

// Files lints files, each by itself and all together.
func Files(host Host, files []File) Report {
	r := Report{Files: files, Findings: []Finding{}}
	if r.Files == nil {
		r.Files = []File{}
	}
	var sources []*source
	for _, f := range files {
		data, err := ReadFile(f.Path)
		if err != nil {
			r.Findings = append(r.Findings, newFinding(fileUnreadable, f, fmt.Sprintf("%v", pathError(err))))
			continue
		}
		src, found := read(host, f, data)
		r.Findings = append(r.Findings, found...)
		if src != nil {
			sources = append(sources, src)
		}
	}
	c := &checker{host: host, found: &r.Findings}
	for _, src := range sources {
		c.check(src)
	}
	c.together(sources)
	r.Findings = sorted(r.Findings)
	return r
}

// Text lints the text of one file that need not exist.
func Text(host Host, f File, data []byte) []Finding {
	src, found := read(host, f, data)
	if src != nil {
		c := &checker{host: host, found: &found}
		c.check(src)
		c.together([]*source{src})
	}
	return sorted(found)
}

// sorted puts findings in the order of files and places, each once.
func sorted(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(found)
}

// newFinding is a finding about a file as a whole.
func newFinding(rule string, f File, message string) Finding {
	r := byID(rule)
	return Finding{Rule: r.ID, Severity: r.Severity, Provider: f.Provider, File: f.Path, Message: message, Cause: r.Cause, Fix: r.Fix}
}

// ReadFile reads a regular file of bounded size; another is not opened.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("this is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && len(data) > limit {
		return nil, fmt.Errorf("this file is larger than %d MiB", limit>>20)
	}
	return data, err
}

// pathError is err without the path, which stands beside it.
func pathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// absolute makes a path that a person typed independent of the current folder.
func (h Host) absolute(path string) string {
	if filepath.IsAbs(path) || h.WorkDir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(h.WorkDir, path)
}

func (h Host) env(name string) string {
	if h.Env == nil {
		return ""
	}
	return h.Env(name)
}
