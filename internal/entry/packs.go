package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/sandbox"
)

// Packs is which hook packs are on, and what they are told: one small file that
// is read only for events that a pack could answer. No file means that none is.
type Packs struct {
	Gate    *GatePack    `json:"gate,omitempty"`
	Sandbox *SandboxPack `json:"sandbox,omitempty"`
}

// The modes of a pack. An absent pack is off.
const (
	PackOn    = "on"
	PackAudit = "audit" // logs what it would say, and says nothing
)

// GatePack is the gate's section.
type GatePack struct {
	Mode string `json:"mode"`
	// LogCommands adds the command text to the audit log.
	LogCommands bool `json:"log_commands,omitempty"`
	gate.Config
}

// SandboxPack is the sandbox's section.
type SandboxPack struct {
	Mode string `json:"mode"`
	sandbox.Config
}

// maxPacks bounds the file in bytes; ours is a few hundred.
const maxPacks = 256 << 10

// LoadPacks reads the file. A missing one is no error and means that all packs
// are off.
func LoadPacks(dirs paths.Dirs) (Packs, error) {
	var p Packs
	f, err := os.Open(dirs.Packs())
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("reading the hook packs: %w", err)
	}
	defer f.Close()
	buf := make([]byte, 0, 4<<10)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil || n == 0 {
			break
		}
		if len(buf) > maxPacks {
			return p, fmt.Errorf("%q is larger than %d bytes", dirs.Packs(), maxPacks)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
	dec := json.NewDecoder(bytes.NewReader(buf))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Packs{}, fmt.Errorf("reading %q: %w", dirs.Packs(), err)
	}
	for name, mode := range map[string]string{"gate": p.Gate.mode(), "sandbox": p.Sandbox.mode()} {
		if mode != "" && mode != PackOn && mode != PackAudit {
			return Packs{}, fmt.Errorf("reading %q: %s.mode is %q, it can be %q or %q", dirs.Packs(), name, mode, PackOn, PackAudit)
		}
	}
	return p, nil
}

func (p *GatePack) mode() string {
	if p == nil {
		return ""
	}
	return p.Mode
}

func (p *SandboxPack) mode() string {
	if p == nil {
		return ""
	}
	return p.Mode
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

// replaceFile writes beside path and renames, so that a hook never reads half a
// file.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error that matters is the first
	}
	return err
}
