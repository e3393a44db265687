package daemon

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// A journal is a file that replays by itself: its first line is the snapshot it
// begins with, every other line a Record.
type journalStart struct {
	Start  json.RawMessage `json:"start,omitempty"` // none: a new Core
	Config CoreConfig      `json:"config"`
}

// journal writes the record of everything the Core was told. Full or read-only
// disks are borne in silence, see rotating.
type journal struct{ file *rotating }

// begin starts a new file with the state of core.
func (j *journal) begin(core *Core, config CoreConfig) {
	state, err := core.Snapshot()
	if err != nil {
		return
	}
	line, err := json.Marshal(journalStart{Start: state, Config: config})
	if err != nil {
		return
	}
	j.file.turn()
	j.file.Write(append(line, '\n'))
}

// record writes one input. It reports whether the file is full, after which the
// caller begins a new one.
func (j *journal) record(at event.Instant, in Input, effects []awake.Effect) (full bool) {
	if s := in.Session; s != nil && s.Signal != nil && s.Signal.LastMessage != "" {
		// What the assistant said decides nothing and is not ours to keep.
		signal, input := *s.Signal, *s
		signal.LastMessage = ""
		input.Signal = &signal
		in.Session = &input
	}
	line, err := json.Marshal(Record{At: at, Input: in, Effects: effects})
	if err != nil {
		return false
	}
	j.file.Write(append(line, '\n'))
	return j.file.full()
}

// ReadJournal reads a journal for Replay. A partial last line, as a crash leaves
// it, is dropped; a log without a starting line replays from nothing.
func ReadJournal(r io.Reader) (start []byte, config CoreConfig, records []Record, err error) {
	in := bufio.NewReader(r)
	line, err := in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, config, nil, err
	}
	var first journalStart
	if err := json.Unmarshal(line, &first); err != nil {
		return nil, config, nil, fmt.Errorf("first line of the journal: %w", err)
	}
	rest := io.Reader(in)
	if first.Start == nil {
		rest = io.MultiReader(strings.NewReader(string(line)), in)
	}
	records, err = ReadRecords(rest)
	return first.Start, first.Config, records, err
}

// hookLogs are the hook-event logs, one file per provider. They are opened for each
// line, as hooks that write there themselves do: whoever kept one open would go on
// writing into it after another had turned it over.
type hookLogs struct {
	path func(provider event.Provider) string
	// quietUntil spares a full or read-only disk for a while after an error.
	quietUntil time.Time
}

// add writes one line. It belongs to the owner goroutine. That it cannot be written
// changes nothing else.
func (l *hookLogs) add(h *ipc.HookEvent, now time.Time) {
	if now.Before(l.quietUntil) {
		return
	}
	l.quietUntil = time.Time{}
	if err := ipc.AppendHookLog(l.path(h.Provider), h); err != nil {
		l.quietUntil = now.Add(time.Minute)
	}
}
