package entry

import (
	"bufio"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// AuditEntry is one line of the gate's audit log: what was said about a call, or
// what a person excepted. It holds rule ids, effects and targets, and the call's
// own input only where the person wants that.
type AuditEntry struct {
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"` // said, would-say, allowed-once, allow-once, relax
	Provider event.Provider  `json:"provider,omitempty"`
	Session  event.SessionID `json:"session_id,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Decision string          `json:"decision,omitempty"`
	Profile  string          `json:"profile,omitempty"`
	Rules    []string        `json:"rules,omitempty"`
	Effects  []string        `json:"effects,omitempty"` // effect, scope and target of each hazard
	Code     string          `json:"code,omitempty"`
	Digest   string          `json:"digest,omitempty"`
	Until    *time.Time      `json:"until,omitempty"`
	Input    string          `json:"input,omitempty"`
	// Unattended is set when nobody could have been asked.
	Unattended bool `json:"unattended,omitempty"`
}

func (e *AuditEntry) hazards(r *gate.Result) {
	for i, h := range r.Hazards {
		if h.Decision == event.None || i >= 8 {
			break
		}
		e.Rules = append(e.Rules, h.Rule)
		what := h.Effect.String() + " " + h.Scope.String()
		if t := loggedTarget(h.Target); t != "" {
			what += " " + event.Preview(t)
		}
		e.Effects = append(e.Effects, what)
	}
}

// loggedTarget is what of a target the log keeps: of an address no credentials and
// nothing behind the path, of a variable its name. Text of a statement or a command line
// is no target.
func loggedTarget(t string) string {
	if strings.ContainsAny(t, " \n") {
		return ""
	}
	if scheme, rest, ok := strings.Cut(t, "://"); ok {
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest = rest[:i]
		}
		host, path, deeper := strings.Cut(rest, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		if t = scheme + "://" + host; deeper {
			t += "/" + path
		}
		return t
	}
	name, _, ok := strings.Cut(t, "=")
	if ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" {
		return name
	}
	return t
}

// maxAudit bounds the audit log in bytes; its predecessor (".1") may be as large.
const maxAudit = 1 << 20

// AuditPath is the audit log's file.
func AuditPath(dirs paths.Dirs) string { return dirs.Join(dirs.Gate(), "audit.jsonl") }

// audit adds a line and keeps the log bounded. A log that cannot be written is no
// reason to decide otherwise; the caller goes on.
func audit(dirs paths.Dirs, e *AuditEntry) { _ = AppendAudit(dirs, e) }

// note is audit for a hook that is meant.
func (h *hook) note(e *AuditEntry) {
	if !h.dry {
		audit(h.dirs, e)
	}
}

// relaxedUntil is RelaxedUntil for a hook that is meant: what a person relaxes for
// an hour is no property of the rules.
func (h *hook) relaxedUntil() (time.Time, bool) {
	if h.dry {
		return time.Time{}, false
	}
	return RelaxedUntil(h.dirs, h.env.Now())
}

// line is the entry as JSON. It is written by hand, since a hook refuses once in its
// life and the first use of encoding/json is dear.
func (e *AuditEntry) line() []byte {
	var w jsontext.Writer
	text := func(key, value string) {
		if value != "" {
			w.String(key, value)
		}
	}
	list := func(key string, values []string) {
		if len(values) > 0 {
			w.Strings(key, values)
		}
	}
	w.String("time", e.Time.Format(time.RFC3339Nano))
	w.String("kind", e.Kind)
	text("provider", string(e.Provider))
	text("session_id", string(e.Session))
	text("tool", e.Tool)
	text("decision", e.Decision)
	text("profile", e.Profile)
	list("rules", e.Rules)
	list("effects", e.Effects)
	text("code", e.Code)
	text("digest", e.Digest)
	if e.Until != nil {
		w.String("until", e.Until.Format(time.RFC3339Nano))
	}
	text("input", e.Input)
	if e.Unattended {
		w.Bool("unattended", true)
	}
	return w.Bytes()
}

// AppendAudit is audit with its error.
func AppendAudit(dirs paths.Dirs, e *AuditEntry) error {
	line := append(e.line(), '\n')
	name := AuditPath(dirs)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := rotate(name, len(line)); err != nil {
		return err
	}
	f, err := smallfile.Open(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line) // one write, so that two hooks never mix
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// rotate puts the log aside when another line would make it too large. One hook does
// it at a time: a second one would put the new log over the old.
func rotate(name string, more int) error {
	full := func() bool {
		info, err := os.Stat(name)
		return err == nil && info.Size() > 0 && info.Size()+int64(more) > maxAudit
	}
	if !full() {
		return nil
	}
	lock := name + ".rotating"
	f, err := smallfile.Open(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(lock); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(lock) // of one that was killed; the next hook rotates
		}
		return nil
	}
	if err != nil {
		return err
	}
	_ = f.Close()
	if full() {
		err = os.Rename(name, name+".1")
	}
	if rerr := os.Remove(lock); err == nil {
		err = rerr
	}
	return err
}

// ReadAudit calls yield for every line of the log, oldest first, until it returns
// false. Lines that do not parse are left out.
func ReadAudit(dirs paths.Dirs, yield func(*AuditEntry) bool) error {
	for _, name := range [...]string{AuditPath(dirs) + ".1", AuditPath(dirs)} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var e AuditEntry
			if json.Unmarshal(lines.Bytes(), &e) == nil && !yield(&e) {
				f.Close()
				return nil
			}
		}
		err = lines.Err()
		f.Close()
		if err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
	}
	return nil
}

// digestOf identifies a call: the same words in the same folder of the same
// session's client.
func digestOf(ev *event.Event) string {
	sum := sha256.New()
	if ev.Tool == nil {
		return strings.Repeat("a", 52)
	}
	for _, part := range [...]string{string(ev.Provider), ev.Tool.Name, ev.Cwd, string(ev.Tool.Input)} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)))
}

// codeOf is the short form that a person types. The exception itself is kept
// under the whole digest, so that no other call can be made to fit the code.
func codeOf(digest string) string { return digest[:4] + "-" + digest[4:8] }

// allowance is the file that lets one call through.
func allowance(dirs paths.Dirs, digest string) string {
	return dirs.Join(dirs.Gate(), "allow", digest)
}

// Allow lets the call with this digest through once, until a time that is at most
// AllowanceLife away.
func Allow(dirs paths.Dirs, digest string, until time.Time) error {
	name := allowance(dirs, digest)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("noting the exception: %w", err)
	}
	if err := replaceFile(name, []byte(until.UTC().Format(time.RFC3339)+"\n")); err != nil {
		return fmt.Errorf("noting the exception: %w", err)
	}
	return nil
}

// takeAllowance uses an exception up. Removing the file is what makes it single:
// of two hooks only one succeeds.
func takeAllowance(dirs paths.Dirs, digest string, now time.Time) bool {
	name := allowance(dirs, digest)
	b, err := smallfile.Read(name, 64)
	if err != nil {
		return false
	}
	if os.Remove(name) != nil {
		return false
	}
	until, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	// A clock that was set back must not make an exception last.
	return err == nil && now.Before(until) && until.Sub(now) <= AllowanceLife+time.Second
}

// MaxRelax is the longest a person may relax the gate at once.
const MaxRelax = 4 * time.Hour

// Relax makes the gate stop catastrophes only, until a time; the zero time ends it.
func Relax(dirs paths.Dirs, until time.Time) error {
	name := dirs.Join(dirs.Gate(), "relax")
	if until.IsZero() {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("ending the relaxed time: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("noting the relaxed time: %w", err)
	}
	if err := replaceFile(name, []byte(until.UTC().Format(time.RFC3339)+"\n")); err != nil {
		return fmt.Errorf("noting the relaxed time: %w", err)
	}
	return nil
}

// relaxedUntil is when the relaxed time ends; a time in the past when there is none.
func relaxedUntil(dirs paths.Dirs) time.Time {
	b, err := smallfile.Read(dirs.Join(dirs.Gate(), "relax"), 64)
	if err != nil {
		return time.Time{}
	}
	until, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	if err != nil {
		return time.Time{}
	}
	return until
}

// RelaxedUntil is when the relaxed time ends, for people.
func RelaxedUntil(dirs paths.Dirs, now time.Time) (time.Time, bool) {
	t := relaxedUntil(dirs)
	return t, t.After(now) && t.Sub(now) <= MaxRelax
}
