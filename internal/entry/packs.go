package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/sandbox"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// Mode says what a pack may do.
type Mode string

// The modes of a pack.
const (
	Off   Mode = "off"
	On    Mode = "on"
	Audit Mode = "audit" // notes what it would say, and says nothing
)

// UnmarshalText reads a mode.
func (m *Mode) UnmarshalText(text []byte) error {
	switch got := Mode(text); got {
	case Off, On, Audit:
		*m = got
		return nil
	}
	return fmt.Errorf("a pack can be %q, %q or %q, not %q", On, Audit, Off, text)
}

// Packs is what `hooks enable` and `hooks disable` write: which packs are switched,
// whatever the rulebook says, and the few things that can be told on the command
// line. No file means that nothing is switched.
type Packs struct {
	Modes   map[string]Mode `json:"modes,omitempty"`
	Profile *gate.Profile   `json:"profile,omitempty"` // the gate's
	Roots   []string        `json:"roots,omitempty"`   // the sandbox's
}

// maxPacks bounds the file in bytes; ours is a few hundred.
const maxPacks = 256 << 10

// LoadPacks reads the file. A missing one is no error and means that nothing is
// switched.
func LoadPacks(dirs paths.Dirs) (Packs, error) {
	var p Packs
	data, err := smallfile.Read(dirs.Packs(), maxPacks)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("reading the hook packs: %w", err)
	}
	if !p.plain(data) {
		p = Packs{}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&p); err != nil {
			return Packs{}, fmt.Errorf("reading %q: %w", dirs.Packs(), err)
		}
	}
	if err := knownPacks(p.Modes); err != nil {
		return Packs{}, fmt.Errorf("reading %q: %w", dirs.Packs(), err)
	}
	return p, nil
}

// plain reads the file that says nothing but modes, as it nearly always does: the
// first use of encoding/json costs a hook as much as judging a command. It reports
// false for every other file, which the decoder knows more of.
func (p *Packs) plain(data []byte) bool {
	modes, ok := map[string]Mode{}, true
	one := func(key, value []byte) bool {
		text, isText := jsontext.String(value)
		mode := Mode(text)
		ok = ok && isText && (mode == Off || mode == On || mode == Audit)
		modes[string(key)] = mode
		return ok
	}
	err := jsontext.Object(data, func(key, value []byte) bool {
		ok = string(key) == "modes" && jsontext.Object(value, one) == nil && ok
		return ok
	})
	p.Modes = modes
	return ok && err == nil && data[0] == '{'
}

// knownPacks refuses names that no pack has.
func knownPacks(modes map[string]Mode) error {
	known := packs()
	for name := range modes {
		if !slices.ContainsFunc(known, func(p pack) bool { return p.name == name }) {
			return fmt.Errorf("there is no pack %q; there are %s", name, strings.Join(PackNames(), ", "))
		}
	}
	return nil
}

// SavePacks writes the file in one step.
func SavePacks(dirs paths.Dirs, p Packs) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return fmt.Errorf("writing the hook packs: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dirs.Packs()), 0o700); err != nil {
		return fmt.Errorf("writing the hook packs: %w", err)
	}
	if err := replaceFile(dirs.Packs(), b.Bytes()); err != nil {
		return fmt.Errorf("writing the hook packs: %w", err)
	}
	return nil
}

// Switch sets a pack's mode. profile may be nil, roots may be nil; both stay as
// they were then.
func (p *Packs) Switch(pack string, mode Mode, profile *gate.Profile, roots []string) {
	if p.Modes == nil {
		p.Modes = map[string]Mode{}
	}
	p.Modes[pack] = mode
	if pack == gate.Name && profile != nil {
		p.Profile = profile
	}
	if pack == sandbox.Name && roots != nil {
		p.Roots = roots
	}
}

// pack is one row of the table: a part of the chain that can be switched.
type pack struct {
	name   string
	band   int
	role   policy.Role
	events string // at which it may say something, for people
	// eventsOf are those that the rulebook names; nil: they are always the same.
	eventsOf func(*Rules) []string
	// told reports whether the rulebook has something for it, which switches it on.
	told func(*Rules) bool
	// build makes its handlers; it is called where the pack is on.
	build func(*hook, *Rules, Mode) []policy.Handler
	// detail is what it was told, for people.
	detail func(*Rules, *Packs) string
	// state is what it has on this machine, for people; nil: nothing of its own.
	state func(paths.Dirs) string
	// beside is what the pack may be told by a project's book that nobody trusts;
	// nil: nothing. It is for packs that run no program and send nothing, and whose
	// handlers, as tightened leaves them, can only object.
	beside func(*Rules) *Rules
	// check finds what is wrong in a book beyond what its types say; nil: nothing.
	check func(*Rules) *Fault
}

// packs is the table of the chain. A new pack is one row here and one section in
// Rules.
func packs() []pack {
	return []pack{gatePack, rulePack, sandboxPack, approvePack, handlerPack, redactPack, formatPack, contextPack, nudgePack, compactPack, untilPack, checkPack, telemetryPack, noticesPack}
}

// PackNames are the packs that can be switched.
func PackNames() []string {
	var names []string
	for _, p := range packs() {
		names = append(names, p.name)
	}
	return names
}

// modeOf is whether a pack is on: by the command line, else by the rulebook's
// [packs], else because the rulebook has something for it.
func modeOf(p *pack, sw *Packs, r *Rules) Mode {
	if m, ok := sw.Modes[p.name]; ok {
		return m
	}
	if m, ok := r.Packs[p.name]; ok {
		return m
	}
	if p.told(r) {
		return On
	}
	return Off
}

// replaceFile writes beside path and renames, so that a hook never reads half a
// file. It is for the person alone.
func replaceFile(path string, data []byte) error { return replaceAs(path, data, 0o600) }

func replaceAs(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && mode != 0o600 {
		err = os.Chmod(f.Name(), mode)
	}
	if err == nil {
		err = smallfile.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error that matters is the first
	}
	return err
}
