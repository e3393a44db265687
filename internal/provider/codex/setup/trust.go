package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
)

// trustKey is the name under which Codex remembers that a handler is trusted:
// file, event, position of the group, position of the handler. The folder is
// resolved through symlinks, the file in it is not (§6).
func (s Setup) trustKey(file, event string, group, index int) string {
	root := s.Root
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	return fmt.Sprintf("%s:%s:%d:%d", filepath.Join(root, filepath.Base(file)), snake(event), group, index)
}

// every is for trustKeys of all events.
func every(string) bool { return true }

// trustKeys are the keys of our handlers in a file, of the events that are asked for.
func (s Setup) trustKeys(file string, src source, of func(event string) bool) []string {
	var out []string
	for _, name := range src.events() {
		if !of(name) {
			continue
		}
		for _, p := range places(src, name) {
			out = append(out, s.trustKey(file, name, p.group, p.index))
		}
	}
	return out
}

// ownTrust is how trust in a handler of ours is told from others' at whatever position
// it was given: a foreign group that was put in front of it has moved it since.
type ownTrust struct{ file, event, hash string }

// ownTrusts are those of our handlers in a file.
func (s Setup) ownTrusts(file string, src source) []ownTrust {
	var out []ownTrust
	for _, name := range src.events() {
		for _, p := range places(src, name) {
			out = append(out, ownTrust{file, name, trustHash(name, p.handler, p.matcher)})
		}
	}
	return out
}

// trustedAs lists the keys of the trust that config has for these handlers.
func (s Setup) trustedAs(config *tomlSource, own []ownTrust) []string {
	value, _ := config.doc.Get(confedit.Path{"hooks", stateKey})
	state, _ := value.(map[string]any)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(state)) {
		hash := trustOf(config, key).hash
		if slices.ContainsFunc(own, func(o ownTrust) bool {
			start := strings.TrimSuffix(s.trustKey(o.file, o.event, 0, 0), "0:0")
			return hash == o.hash && strings.HasPrefix(key, start)
		}) {
			out = append(out, key)
		}
	}
	return out
}

// trustHash is the hash under which a command handler is trusted: SHA-256 of the
// compact JSON, keys sorted, of what the client makes of it, with the timeout that
// really counts (§6; recomputed and equal to the client's in 28 cases). It covers
// the command line, not the program that it names.
func trustHash(name string, h wireHandler, matcher *string) string {
	limited := name == string(event.SessionEnd) || name == string(event.Interrupt)
	timeout := 600
	switch {
	case h.Timeout != nil && limited:
		timeout = min(max(int(*h.Timeout), 1), 3)
	case h.Timeout != nil:
		timeout = max(int(*h.Timeout), 1)
	case limited:
		timeout = 1
	}
	// encoding/json sorts the keys of maps.
	normal := map[string]any{"type": "command", "command": h.Command, "timeout": timeout, "async": h.Async}
	if h.StatusMessage != nil {
		normal["statusMessage"] = *h.StatusMessage
	}
	if h.ContextLimit != nil {
		normal["additionalContextLimit"] = *h.ContextLimit
	}
	identity := map[string]any{"event_name": snake(name), "hooks": []any{normal}}
	if matcher != nil && !dropsMatcher(name) {
		identity["matcher"] = *matcher
	}
	sum := sha256.Sum256(plainJSON(identity))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// plainJSON encodes with nothing escaped beyond JSON's need: encoding/json also
// escapes <, >, & and, even without that, U+2028 and U+2029.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // maps of strings, numbers and booleans always encode
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	// A backslash before "u2028" may itself be escaped, so walk the escapes.
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		switch {
		case bytes.HasPrefix(text[i:], []byte(`\u2028`)):
			out = append(out, "\u2028"...)
			i += 5
		case bytes.HasPrefix(text[i:], []byte(`\u2029`)):
			out = append(out, "\u2029"...)
			i += 5
		default:
			out = append(out, text[i], text[i+1])
			i++
		}
	}
	return out
}

// snake spells an event's name the way trust keys do.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if 'A' <= r && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// dropsMatcher reports whether the client ignores a matcher on the event (§2).
func dropsMatcher(name string) bool {
	switch event.Name(name) {
	case event.UserPromptSubmit, event.Stop, event.Interrupt:
		return true
	}
	return false
}

// trusted is an entry of hooks.state.
type trusted struct {
	hash    string
	off     bool
	present bool
}

// trustOf reads what the person's config says about a handler.
func trustOf(config *tomlSource, key string) trusted {
	if config == nil {
		return trusted{}
	}
	value, ok := config.doc.Get(confedit.Path{"hooks", stateKey, key})
	entry, _ := value.(map[string]any)
	if !ok || entry == nil {
		return trusted{}
	}
	hash, _ := entry["trusted_hash"].(string)
	enabled, isBool := entry["enabled"].(bool)
	return trusted{hash, isBool && !enabled, hash != ""}
}

// ErrNotInstalled is matched when there is nothing to trust.
var ErrNotInstalled = errors.New("lidguard's hooks are not installed in Codex")

// Trust plans to record that the person trusts lidguard's hooks as they stand now,
// the way Codex does when the person says so there. It is the person's consent
// that is written, so a caller must have asked for it. Hooks that the person has
// switched off stay off.
func (s Setup) Trust(records install.Records) (install.Plan, error) {
	var plan install.Plan
	path, err := s.file()
	if err != nil {
		return plan, s.explain(err)
	}
	src, err := s.open(path)
	if err != nil {
		return plan, s.explain(err)
	}
	hashes := map[string]string{}
	var keys []string
	for _, h := range s.hooks(src) {
		for _, p := range places(src, string(h.Event)) {
			key := s.trustKey(path, string(h.Event), p.group, p.index)
			hashes[key] = trustHash(string(h.Event), p.handler, p.matcher)
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return plan, ErrNotInstalled
	}
	err = plan.Add(s.Config, false, records, func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		config, err := readTOML(data)
		if err != nil {
			return confedit.Draft{}, err
		}
		for _, key := range keys {
			if err := config.doc.Set(confedit.Path{"hooks", stateKey, key, "trusted_hash"}, hashes[key]); err != nil {
				return confedit.Draft{}, err
			}
		}
		return config.draft(), nil
	})
	return plan, s.explain(err)
}
