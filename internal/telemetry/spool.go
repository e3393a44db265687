package telemetry

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// A spool is a queue of lines on disk. Every line has a number, which never comes
// again. They stand in segments, files named by the number of their first line; a
// segment goes when all of it was taken. The state file says which line is next, so
// that a crash can only make lines come twice. It has no lock of its own: its owner
// sees to it that one goroutine uses it at a time.
type spool struct {
	dir                 string
	maxEvents, maxBytes int64
	lock                *flock.Flock

	segments []segment // oldest first; lines are appended to the last
	out      *os.File  // the last segment; nil: not open
	next     uint64    // number of the next line that is appended
	unsaved  int       // drops since the state was written
	state    spoolState
	off      int64 // where line state.Head begins in the first segment
}

type segment struct {
	first uint64
	size  int64
}

// spoolState is the state file.
type spoolState struct {
	Head     uint64    `json:"head"` // the next line to be taken
	Sent     int64     `json:"sent"`
	Dropped  int64     `json:"dropped"`
	Refused  int64     `json:"refused"`
	LastLoss time.Time `json:"last_loss,omitzero"`
}

const (
	segmentExt = ".jsonl"
	stateFile  = "state.json"
	// maxSegment bounds a segment in bytes, and with it what opening a spool reads.
	maxSegment = 1 << 20
	// maxUnsaved is how many drops a crash may forget to count.
	maxUnsaved = 256
)

// openSpool opens the spool in dir, which it makes where there is none. The error
// is context.DeadlineExceeded where another process has it open.
func openSpool(ctx context.Context, dir string) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &spool{dir: dir, lock: flock.New(filepath.Join(dir, "lock"))}
	if _, err := s.lock.TryLockContext(ctx, 2*time.Millisecond); err != nil {
		return nil, fmt.Errorf("another process has the telemetry spool: %w", err)
	}
	if err := s.load(); err != nil {
		s.lock.Close()
		return nil, fmt.Errorf("telemetry spool: %w", err)
	}
	return s, nil
}

func (s *spool) load() error {
	data, err := os.ReadFile(filepath.Join(s.dir, stateFile))
	if err == nil && json.Unmarshal(data, &s.state) != nil {
		s.state = spoolState{} // what is there is told twice rather than never
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".state.") {
			os.Remove(filepath.Join(s.dir, e.Name())) // of a crash while it was written
		}
		word, ok := strings.CutSuffix(e.Name(), segmentExt)
		first, err := strconv.ParseUint(word, 10, 64)
		if !ok || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		s.segments = append(s.segments, segment{first, info.Size()})
	}
	slices.SortFunc(s.segments, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	s.next = max(s.state.Head, 1)
	if n := len(s.segments); n > 0 {
		lines, whole, err := s.measure(s.segments[n-1])
		if err != nil {
			return err
		}
		last := &s.segments[n-1]
		if whole != last.size { // a write that a crash cut off
			if err := os.Truncate(s.path(*last), whole); err != nil {
				return err
			}
			last.size = whole
		}
		s.next = max(s.next, last.first+lines)
		s.state.Head = max(s.state.Head, s.segments[0].first)
	}
	s.state.Head = min(max(s.state.Head, 1), s.next)
	for len(s.segments) > 1 && s.segments[1].first <= s.state.Head {
		if err := s.removeFirst(); err != nil {
			return err
		}
	}
	if len(s.segments) == 0 {
		return nil
	}
	if s.state.Head == s.next {
		return s.removeFirst()
	}
	for n := s.segments[0].first; n < s.state.Head; n++ {
		size, err := s.lineAt(s.off)
		if err != nil {
			return err
		}
		s.off += size
	}
	return nil
}

// measure counts the lines of a segment and the bytes up to the end of the last.
func (s *spool) measure(g segment) (lines uint64, whole int64, err error) {
	f, err := os.Open(s.path(g))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	var at int64
	for {
		n, err := f.Read(buf)
		lines += uint64(bytes.Count(buf[:n], []byte("\n")))
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			whole = at + int64(i) + 1
		}
		at += int64(n)
		if err == io.EOF {
			return lines, whole, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

func (s *spool) path(g segment) string {
	return filepath.Join(s.dir, fmt.Sprintf("%020d%s", g.first, segmentExt))
}

// waiting is how many lines wait, and how many bytes they have.
func (s *spool) waiting() (events, size int64) {
	for _, g := range s.segments {
		size += g.size
	}
	return int64(s.next - s.state.Head), size - s.off
}

// bound sets the bounds; zero is none.
func (s *spool) bound(events, bytes int64) { s.maxEvents, s.maxBytes = events, bytes }

// append adds a line and drops the oldest beyond the bounds.
func (s *spool) append(line []byte, now time.Time) error {
	limit := int64(maxSegment)
	if s.maxBytes > 0 {
		limit = min(limit, s.maxBytes/8)
	}
	if n := len(s.segments); n == 0 || s.segments[n-1].size >= limit {
		if s.out != nil {
			s.out.Close()
			s.out = nil
		}
		s.segments = append(s.segments, segment{first: s.next})
	}
	last := &s.segments[len(s.segments)-1]
	if s.out == nil {
		f, err := os.OpenFile(s.path(*last), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			s.forgetEmpty()
			return err
		}
		s.out = f
	}
	n, err := s.out.Write(append(slices.Clone(line), '\n'))
	if err != nil {
		if n > 0 { // a full disk; half a line would spoil the next
			err = errors.Join(err, s.out.Truncate(last.size))
		}
		return err
	}
	last.size += int64(n)
	s.next++
	for {
		events, size := s.waiting()
		if events <= 1 || (s.maxEvents == 0 || events <= s.maxEvents) && (s.maxBytes == 0 || size <= s.maxBytes) {
			return nil
		}
		if err := s.drop(now); err != nil {
			return err
		}
	}
}

// forgetEmpty takes back a segment whose file could not be made.
func (s *spool) forgetEmpty() {
	if n := len(s.segments); n > 0 && s.segments[n-1].size == 0 {
		s.segments = s.segments[:n-1]
	}
}

// drop takes the oldest line away and counts it.
func (s *spool) drop(now time.Time) error {
	size, err := s.lineAt(s.off)
	if err != nil {
		return err
	}
	s.state.Dropped++
	s.state.LastLoss = now.UTC()
	s.unsaved++
	gone, err := s.advance(s.state.Head+1, s.off+size)
	if err == nil && (gone || s.unsaved >= maxUnsaved) {
		err = s.save()
	}
	return err
}

// lineAt is the length of the line at an offset of the first segment, with its
// newline.
func (s *spool) lineAt(off int64) (int64, error) {
	f, err := os.Open(s.path(s.segments[0]))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buf := make([]byte, 4<<10)
	for size := int64(0); ; {
		n, err := f.ReadAt(buf, off+size)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return size + int64(i) + 1, nil
		}
		if err != nil {
			return 0, fmt.Errorf("segment %d ends inside a line: %w", s.segments[0].first, err)
		}
		size += int64(n)
	}
}

// advance makes head the next line, which begins at off of the first segment, and
// removes a segment that is done with.
func (s *spool) advance(head uint64, off int64) (gone bool, err error) {
	s.state.Head, s.off = head, off
	if off < s.segments[0].size {
		return false, nil
	}
	return true, s.removeFirst()
}

func (s *spool) removeFirst() error {
	if len(s.segments) == 1 && s.out != nil {
		s.out.Close()
		s.out = nil
	}
	name := s.path(s.segments[0])
	s.segments, s.off = s.segments[1:], 0
	return os.Remove(name)
}

// batch is what was read of a spool.
type batch struct {
	first uint64 // number of the first line
	lines [][]byte
	seg   uint64 // the segment that they are in
	end   int64  // where they end in it
}

// peek reads the next lines, at most n and some limit bytes; at least one, if there
// is one. They stay where they are.
func (s *spool) peek(n int, limit int64) (b batch, err error) {
	if s.state.Head == s.next {
		return b, nil
	}
	g := s.segments[0]
	f, err := os.Open(s.path(g))
	if err != nil {
		return b, err
	}
	defer f.Close()
	b = batch{first: s.state.Head, seg: g.first, end: s.off}
	in := bufio.NewReaderSize(io.NewSectionReader(f, s.off, g.size-s.off), 32<<10)
	for len(b.lines) < n && (len(b.lines) == 0 || b.end-s.off < limit) {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return batch{}, err
		}
		b.end += int64(len(line))
		b.lines = append(b.lines, line[:len(line)-1])
	}
	if len(b.lines) == 0 {
		return b, fmt.Errorf("segment %d has lost its lines", g.first)
	}
	return b, nil
}

// taken says that a batch was delivered, or refused for ever. Of lines that were
// dropped meanwhile the delivered ones were not lost.
func (s *spool) taken(b batch, refused bool, now time.Time) error {
	n := uint64(len(b.lines))
	if overlap := min(max(s.state.Head, b.first), b.first+n) - b.first; overlap > 0 {
		s.state.Dropped -= int64(overlap)
	}
	if refused {
		s.state.Refused += int64(n)
		s.state.LastLoss = now.UTC()
	} else {
		s.state.Sent += int64(n)
	}
	if b.first+n > s.state.Head && len(s.segments) > 0 && s.segments[0].first == b.seg {
		if _, err := s.advance(b.first+n, b.end); err != nil {
			return errors.Join(err, s.save())
		}
	}
	return s.save()
}

// lost counts lines that never came into the spool.
func (s *spool) lost(n int64, now time.Time) {
	if n > 0 {
		s.state.Dropped += n
		s.state.LastLoss = now.UTC()
		s.unsaved++
	}
}

// abandon gives up on what cannot be read: a disk that lost a segment must not end
// telemetry for good.
func (s *spool) abandon(now time.Time) error {
	if len(s.segments) == 0 {
		return nil
	}
	end := s.next
	if len(s.segments) > 1 {
		end = s.segments[1].first
	}
	s.lost(int64(end-s.state.Head), now)
	s.state.Head = end
	err := s.removeFirst()
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.save())
}

func (s *spool) save() error {
	data, err := json.Marshal(s.state)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, ".state.*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.dir, stateFile))
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	s.unsaved = 0
	return nil
}

func (s *spool) close() error {
	var err error
	if s.unsaved > 0 {
		err = s.save()
	}
	if s.out != nil {
		err = errors.Join(err, s.out.Close())
		s.out = nil
	}
	return errors.Join(err, s.lock.Close())
}
