package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// Error is a setting, or a settings file, that cannot be used. Fields that do
// not apply are empty.
type Error struct {
	File      string
	Line, Col int // from 1; Col counts bytes; 0 when not known
	Key       string
	Value     string // as it was written
	Allowed   string
	Reason    string // what is wrong with the file, where no key is to blame
	Unknown   bool   // there is no such key; only changes are refused for that
	Near      string // a key that may have been meant
}

// Error tells all of it in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
		}
		b.WriteString(": ")
	}
	switch {
	case e.Reason != "":
		b.WriteString(e.Reason)
	case e.Unknown:
		fmt.Fprintf(&b, "no setting %q", e.Key)
		if e.Near != "" {
			fmt.Fprintf(&b, ", did you mean %q?", e.Near)
		}
	default:
		fmt.Fprintf(&b, "%s cannot be %q: allowed is %s", e.Key, e.Value, e.Allowed)
	}
	return b.String()
}

// maxFile bounds a settings file in bytes. A hook reads it whole.
const maxFile = 1 << 20

// Load reads the settings file. A file that does not exist gives the defaults.
// On any error the defaults come back with it, so that a caller which must go
// on (a hook) has safe values; an *Error names file, line, key and allowed range.
func Load(path string) (Settings, error) {
	data, err := read(path)
	if err != nil || data == nil {
		return Default(), err
	}
	s, _, err := parse(path, data)
	if err != nil {
		return Default(), err
	}
	return s, nil
}

// Parse reads settings from data; name stands for the file in errors.
func Parse(name string, data []byte) (Settings, error) {
	s, _, err := parse(name, data)
	if err != nil {
		return Default(), err
	}
	return s, nil
}

// read returns nil without an error for a file that does not exist.
func read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading settings: %w", err)
	case len(data) > maxFile:
		return nil, &Error{File: path, Reason: "larger than " + strconv.Itoa(maxFile) + " bytes, which is no settings file"}
	}
	return data, nil
}

// member is one key of the file with its value as written.
type member struct {
	key string
	raw json.RawMessage
}

// parse checks data and returns the settings and the members in file order.
func parse(name string, data []byte) (Settings, []member, error) {
	s := Default()
	at := func(offset int64) (line, col int) {
		head := data[:min(max(offset, 0), int64(len(data)))]
		return bytes.Count(head, []byte("\n")) + 1, len(head) - bytes.LastIndexByte(head, '\n')
	}
	broken := func(offset int64, reason string) error {
		line, col := at(offset)
		return &Error{File: name, Line: line, Col: col, Reason: reason}
	}
	body := data
	bom := []byte("\xef\xbb\xbf") // Windows editors write one
	if bytes.HasPrefix(data, bom) {
		body = data[len(bom):]
	}
	skipped := int64(len(data) - len(body))
	if len(bytes.TrimSpace(body)) == 0 {
		return s, nil, nil // an emptied file is a file without settings
	}
	// The decoder below reports offsets of tokens, not of mistakes; so look
	// for mistakes first, over the whole text.
	var whole json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return s, nil, broken(skipped+syntax.Offset-1, "not valid JSON: "+syntax.Error())
		}
		return s, nil, broken(0, "not valid JSON: "+err.Error())
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return s, nil, broken(skipped, "not a JSON object")
	}
	var members []member
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return s, nil, broken(skipped+dec.InputOffset(), err.Error())
		}
		key, _ := t.(string)
		keyEnd := skipped + dec.InputOffset()
		if seen[key] {
			return s, nil, broken(keyEnd-int64(len(key))-2, fmt.Sprintf("%s is there twice", key))
		}
		seen[key] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return s, nil, broken(skipped+dec.InputOffset(), err.Error())
		}
		members = append(members, member{key, raw})
		k := find(key)
		if k == nil {
			continue
		}
		text, ok := scalar(raw)
		err = nil
		if !ok {
			err = k.refuse(string(raw))
		} else {
			err = k.Set(&s, text)
		}
		var refused *Error
		if errors.As(err, &refused) {
			refused.File = name
			refused.Line, refused.Col = at(skipped + dec.InputOffset() - int64(len(raw)))
			return s, nil, refused
		}
	}
	return s, members, nil
}

// scalar returns the text of a JSON string, number or boolean.
func scalar(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case '"':
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return "", false
		}
		return text, true
	case '{', '[', 'n':
		return "", false
	}
	return string(raw), true
}

// File is a settings file that is being edited: what it sets, in its order, and
// the keys of other versions, which stay.
type File struct {
	path     string
	settings Settings
	members  []member
}

// Open reads the settings file for editing. A file that does not exist is an
// empty one.
func Open(path string) (*File, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, settings: Default()}
	if data != nil {
		if f.settings, f.members, err = parse(path, data); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Settings returns the settings the file stands for.
func (f *File) Settings() Settings { return f.settings }

// Explicit returns the settings that the file names, in its order.
func (f *File) Explicit() []string { return f.keys(true) }

// Unknown returns the keys that are no settings of this version, in file order.
func (f *File) Unknown() []string { return f.keys(false) }

func (f *File) keys(known bool) []string {
	var out []string
	for _, m := range f.members {
		if (find(m.key) != nil) == known {
			out = append(out, m.key)
		}
	}
	return out
}

// Set changes one setting in memory, as the function Set does.
func (f *File) Set(key, value string) error {
	if err := Set(&f.settings, key, value); err != nil {
		return err
	}
	raw := find(key).json(f.settings)
	for i := range f.members {
		if f.members[i].key == key {
			f.members[i].raw = raw
			return nil
		}
	}
	f.members = append(f.members, member{key, raw})
	return nil
}

// json returns the setting's value in s as it is written to files: booleans and
// numbers as such, "off" and texts as strings.
func (k Key) json(s Settings) json.RawMessage {
	value := k.Value(s)
	if k.Kind == Bool || k.Kind == Number && value != "off" {
		return json.RawMessage(value)
	}
	return quote(value)
}

func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // addresses stay readable
	if err := enc.Encode(s); err != nil {
		return json.RawMessage(`""`) // a string always encodes
	}
	return bytes.TrimSpace(b.Bytes())
}

// Bytes returns the file as Save writes it.
func (f *File) Bytes() []byte {
	if len(f.members) == 0 {
		return []byte("{}\n")
	}
	return append(object(f.members, "  "), '\n')
}

// object writes members as a JSON object; with an indent one to a line, else
// compact.
func object(members []member, indent string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		if indent != "" {
			b.WriteString("\n" + indent)
		}
		b.Write(quote(m.key))
		b.WriteByte(':')
		if indent == "" {
			b.Write(m.raw)
			continue
		}
		b.WriteByte(' ')
		if err := json.Indent(&b, m.raw, indent, indent); err != nil {
			b.Write(m.raw)
		}
	}
	if indent != "" {
		b.WriteByte('\n')
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Save writes the file so that a reader sees the old or the new one, never half
// of it, and makes its folder where that is missing. A symbolic link stays one:
// its target is written.
func (f *File) Save() error {
	path := f.path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("writing settings: %w", err)
	}
	if err := writeFile(path, f.Bytes()); err != nil {
		return fmt.Errorf("writing settings: %w", err)
	}
	return nil
}

// Change is one setting to change.
type Change struct{ Key, Value string }

// Update changes several settings of the file at path at once: all of them, or
// on an error none. Two programs that update at the same time do not lose each
// other's changes.
func Update(path string, changes []Change) (Settings, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Default(), fmt.Errorf("writing settings: %w", err)
	}
	lock := flock.New(path + ".lock")
	if err := lock.Lock(); err != nil {
		return Default(), fmt.Errorf("locking settings: %w", err)
	}
	// The lock file stays: removing it would let a third program lock a new
	// file of that name while a second still waits for this one.
	defer lock.Close()
	f, err := Open(path)
	if err != nil {
		return Default(), err
	}
	for _, c := range changes {
		if err := f.Set(c.Key, c.Value); err != nil {
			return f.settings, err
		}
	}
	if err := f.Save(); err != nil {
		return f.settings, err
	}
	return f.settings, nil
}

// MarshalJSON writes all settings as one object in the order people see them,
// with the names and forms of the settings file.
func (s Settings) MarshalJSON() ([]byte, error) {
	members := make([]member, len(table))
	for i := range table {
		members[i] = member{table[i].Name, table[i].json(s)}
	}
	return object(members, ""), nil
}
