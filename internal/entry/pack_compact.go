package entry

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/compact"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/transcript"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/transcript"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/transcript"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// compactPack carries facts over a compaction.
var compactPack = pack{
	name: compact.Name, band: policy.BandContext + 50, events: "PreCompact SessionStart UserPromptSubmit",
	told: func(r *Rules) bool { return r.Compact != nil },
	build: func(h *hook, r *Rules, _ Mode) []policy.Handler {
		var cfg compact.Config
		if r.Compact != nil {
			cfg = *r.Compact
		}
		read := func(ev *event.Event) (iter.Seq[event.Item], error) {
			if !h.dry {
				waitForQuiet(ev.TranscriptPath)
			}
			return history(ev)
		}
		return compact.New(cfg, h.kit().Store(compact.Name), read, masker())
	},
	check: func(r *Rules) *Fault {
		if r.Compact == nil {
			return nil
		}
		if key, problem := r.Compact.Check(); key != "" {
			return &Fault{Section: compact.Name, Index: -1, Key: key, Problem: problem}
		}
		return nil
	},
}

// A client may write its log a moment after the event that the log is about: Claude
// Code's had the last call of a turn not yet, one time in four, when it compacted in the
// middle of that turn (measured on 2.1.332). Nobody waits for this hook but a
// compaction, which takes far longer.
const (
	quiet    = 200 * time.Millisecond
	maxQuiet = time.Second
)

// waitForQuiet waits until a file has not grown for a moment, and not for long.
func waitForQuiet(file string) {
	size := int64(-1)
	for range maxQuiet / quiet {
		info, err := os.Stat(file)
		if err != nil || info.Size() == size {
			return
		}
		size = info.Size()
		time.Sleep(quiet)
	}
}

// masker takes secrets out of texts by the built-in rules, whether the pack that
// does so for tools is on or not. It is made when the first text comes.
func masker() func(string) string {
	engine := sync.OnceValue(func() *redact.Engine { return redact.NewEngine(&redact.Config{}, nil) })
	return func(text string) string {
		masked, _ := engine().Text(text)
		return masked
	}
}

// maxHistory bounds how much of a session's log is read, in bytes from its end.
const maxHistory = 16 << 20

// errNoLog: the client keeps no log that could be read (OpenCode has a database).
var errNoLog = errors.New("the client names no session log")

// history reads the conversation from the client's session log. Its lines are
// read as they are asked for.
func history(ev *event.Event) (iter.Seq[event.Item], error) {
	var read func(line []byte) []event.Item
	switch ev.Provider {
	case event.Claude:
		read = claude.History
	case event.Codex:
		read = codex.History
	case event.Copilot:
		read = copilot.History
	}
	if read == nil || ev.TranscriptPath == "" {
		return nil, errNoLog
	}
	data, err := tail(ev.TranscriptPath, maxHistory)
	if err != nil {
		return nil, err
	}
	return func(yield func(event.Item) bool) {
		for line := range bytes.Lines(data) {
			for _, it := range read(line) {
				if !yield(it) {
					return
				}
			}
		}
	}, nil
}

// tail reads the last lines of a file, at most limit bytes.
func tail(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no file", file)
	}
	f, err := smallfile.Open(file, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	skip := max(0, info.Size()-limit)
	data, err := io.ReadAll(io.NewSectionReader(f, skip, limit))
	if err != nil {
		return nil, err
	}
	if skip > 0 { // the first line is cut
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data, nil
}
