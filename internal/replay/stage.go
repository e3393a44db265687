package replay

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// StageHome is the home folder that corpora speak of; on a stage it is replaced by
// the stage's own.
const StageHome = "/home/u"

// Stage is a made-up home with a project in it, where hooks are tried: files that
// git tracks, ignores and does not know, a rulebook, and a runtime that this process
// plays, so that no real one hears of made-up sessions.
type Stage struct {
	Home    string // absolute, with slashes
	Project string
	root    string
	path    string
	// borrowed: Home is a person's own.
	borrowed bool
	options  StageOptions

	listeners []net.Listener
	done      sync.WaitGroup
}

// StageOptions set a stage up. The zero value has no rules at all.
type StageOptions struct {
	Rules []byte // rules.toml
	Packs []byte // packs.json
	// Books are kept by their digests: what Rules includes, which stands elsewhere
	// here, and what was trusted.
	Books   []rulebook.File
	Trusted []byte // which books of projects are trusted; nil: none
	Files   fs.FS  // copied into the project; nil: none
	Path    string // PATH of what runs there
	// Home and Project make a stage of the person's own folders: nothing is put
	// into them, only lidguard's own places are made up. Absolute.
	Home, Project string
	// Listen makes a runtime's socket. Default: a Unix socket.
	Listen func(socket string) (net.Listener, error)
}

// The two homes of lidguard on a stage: one with a person there, one with the lid
// closed; each once for the chain in this process and once for spawned hooks, since
// packs may keep values.
const (
	modeInside = "in"
	modeSpawn  = "out"
)

// stageFiles are the project's files; true: git tracks them.
var stageFiles = map[string]bool{
	"README.md": true, "main.go": true, "src/a.go": true, "package.json": true, "Makefile": true, "clean.sh": true, "src/a.snap": true,
	"evil.sh": false, "evil.py": false, "own.py": false, "draft/notes.md": false, "private/x": false,
}

// stageText is what stands in those files whose text matters to a gate.
var stageText = map[string]string{
	".gitignore":   "private/\n",
	"clean.sh":     "#!/bin/sh\nrm -rf build\n",
	"evil.sh":      "#!/bin/sh\nrm -rf /\n",
	"evil.py":      "import os\nos.system('rm -rf /')\n",
	"own.py":       "import shutil, sys\nshutil.rmtree(sys.argv[1])\n",
	"package.json": `{"scripts":{"build":"tsc","test":"jest","nuke":"rm -rf ~"}}` + "\n",
	"Makefile":     "all:\n\tgo build\nclean:\n\trm -rf build\nnuke:\n\trm -rf /\n",
}

// OpenStage builds a stage. Close removes it.
func OpenStage(o StageOptions) (*Stage, error) {
	root := "/tmp" // below TMPDIR a socket's name may grow too long
	if runtime.GOOS == "windows" {
		root = ""
	}
	dir, err := os.MkdirTemp(root, "lidguard-stage-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to try hooks in: %w", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // on macOS /tmp is a link
	}
	s := &Stage{root: dir, path: o.Path, options: o, Home: filepath.ToSlash(filepath.Join(dir, "u"))}
	s.Project = s.Home + "/proj"
	if o.Home != "" {
		s.borrowed = true
		s.Home, s.Project = filepath.ToSlash(o.Home), filepath.ToSlash(o.Project)
	}
	if err := s.build(o); err != nil {
		s.Close()
		return nil, fmt.Errorf("making a folder to try hooks in: %w", err)
	}
	return s, nil
}

// Close ends the runtimes it plays and removes the folder.
func (s *Stage) Close() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
	s.done.Wait()
	_ = os.RemoveAll(s.root)
}

func (s *Stage) build(o StageOptions) error {
	if o.Home == "" {
		if err := s.furnish(o); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(s.root, "empty", "proc"), 0o700); err != nil {
		return err
	}
	return s.settle(o)
}

// Refurnish puts the project's files back as they were, since some packs change
// them.
func (s *Stage) Refurnish() error {
	if s.borrowed {
		return nil
	}
	if err := s.furnish(s.options); err != nil {
		return fmt.Errorf("making a project to try hooks in: %w", err)
	}
	return nil
}

func put(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}

// furnish fills the project.
func (s *Stage) furnish(o StageOptions) error {
	var tracked []string
	for name, isTracked := range stageFiles {
		if err := put(filepath.Join(s.Project, name), []byte(stageText[name])); err != nil {
			return err
		}
		if isTracked {
			tracked = append(tracked, name)
		}
	}
	if err := put(filepath.Join(s.Project, ".gitignore"), []byte(stageText[".gitignore"])); err != nil {
		return err
	}
	if o.Files != nil {
		err := fs.WalkDir(o.Files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(o.Files, name)
			if err == nil {
				err = put(filepath.Join(s.Project, filepath.FromSlash(name)), text)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(tracked)
	if err := put(filepath.Join(s.Project, ".git", "HEAD"), []byte("ref: refs/heads/main\n")); err != nil {
		return err
	}
	return put(filepath.Join(s.Project, ".git", "index"), gitIndex(tracked))
}

// settle makes lidguard's own places and plays the runtimes.
func (s *Stage) settle(o StageOptions) error {
	for _, mode := range []string{modeInside, modeSpawn} {
		for _, away := range []bool{false, true} {
			d, err := paths.Resolve(runtime.GOOS, s.getenv("", mode, away))
			if err != nil {
				return err
			}
			if o.Rules != nil {
				if err := put(d.Rules(), []byte(s.Fit(string(o.Rules)))); err != nil {
					return err
				}
			}
			if o.Packs != nil {
				if err := put(d.Packs(), o.Packs); err != nil {
					return err
				}
			}
			if o.Trusted != nil {
				if err := put(d.TrustedBooks(), o.Trusted); err != nil {
					return err
				}
			}
			trust, err := rulebook.LoadTrust(d)
			if err != nil {
				return err
			}
			for _, book := range o.Books {
				if err := trust.Keep(book); err != nil {
					return err
				}
			}
			if mode != modeSpawn {
				continue
			}
			if err := os.MkdirAll(d.Run, 0o700); err != nil {
				return err
			}
			listen := o.Listen
			if listen == nil {
				listen = func(socket string) (net.Listener, error) { return net.Listen("unix", socket) }
			}
			l, err := listen(d.Socket)
			if err != nil {
				return fmt.Errorf("playing the runtime: %w", err)
			}
			s.listeners = append(s.listeners, l)
			s.done.Add(1)
			go s.serve(l, away) // ends when Close closes the listener
		}
	}
	return nil
}

// Fit puts the stage's home in the place of the one that corpora speak of.
func (s *Stage) Fit(text string) string {
	if !strings.Contains(text, StageHome) {
		return text
	}
	// /home/user is somebody else.
	var b strings.Builder
	for {
		i := strings.Index(text, StageHome)
		if i < 0 {
			return b.String() + text
		}
		end := i + len(StageHome)
		b.WriteString(text[:i])
		if end < len(text) && word(text[end]) {
			b.WriteString(StageHome)
		} else {
			b.WriteString(s.Home)
		}
		text = text[end:]
	}
}

func word(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// vars is the environment of lidguard's hooks on this stage, as a client sets it.
func (s *Stage) vars(p event.Provider, mode string, away bool) map[string]string {
	m := map[string]string{
		"HOME": filepath.FromSlash(s.Home), "USERPROFILE": filepath.FromSlash(s.Home), "USER": "u", "LOGNAME": "u", "LANG": "C.UTF-8", "TZ": "UTC",
		"PATH":          s.path,
		"LIDGUARD_ROOT": filepath.Join(s.root, "empty"), // no process above is looked at
	}
	switch own := filepath.Join(s.root, "lg-"+mode); {
	case away:
		m["LIDGUARD_HOME"] = own + "-away"
	case s.borrowed || runtime.GOOS == "windows":
		m["LIDGUARD_HOME"] = own
	default:
		// Where everybody has it, since gates guard their own places.
		m["XDG_STATE_HOME"] = own
	}
	for _, entry := range clientEnv(p, filepath.FromSlash(s.Project), "audit") {
		name, value, _ := strings.Cut(entry, "=")
		m[name] = value
	}
	for _, name := range []string{"SYSTEMROOT", "TEMP", "TMP", "PATHEXT"} { // Windows programs need these
		if v, ok := os.LookupEnv(name); ok && runtime.GOOS == "windows" {
			m[name] = v
		}
	}
	return m
}

func (s *Stage) getenv(p event.Provider, mode string, away bool) func(string) string {
	m := s.vars(p, mode, away)
	return func(name string) string { return m[name] }
}

func (s *Stage) environ(p event.Provider, mode string, away bool) []string {
	var out []string
	for name, value := range s.vars(p, mode, away) {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// awayNow is what the runtime of this stage says about the person.
func awayNow(away bool) *ipc.Away {
	if away {
		return &ipc.Away{Lid: "closed", Away: true}
	}
	return &ipc.Away{Lid: "open", Displays: 1}
}

// Rehearse reads the stage's rulebook for answers in this process.
func (s *Stage) Rehearse(p event.Provider, away bool) (*entry.Rehearsal, error) {
	// The clock stands still, a day ahead: no limit on computing is reached however
	// loaded this machine is. Spawned hooks have the real one.
	still := time.Now().Add(24 * time.Hour)
	return entry.Rehearse(entry.Env{OS: runtime.GOOS, Getenv: s.getenv(p, modeInside, away), Environ: s.environ(p, modeInside, away),
		Now: func() time.Time { return still }}, awayNow(away))
}

func (s *Stage) serve(l net.Listener, away bool) {
	defer s.done.Done()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		s.done.Add(1)
		go func() { // ends with the connection, which its deadline ends
			defer s.done.Done()
			defer conn.Close()
			if conn.SetDeadline(time.Now().Add(talkLimit)) == nil {
				talk(conn, away)
			}
		}()
	}
}

// talkLimit bounds one connection; a hook's own is below a second.
const talkLimit = 10 * time.Second

// talk answers every request as a runtime would that has nothing to do.
func talk(conn net.Conn, away bool) {
	in := ipc.NewReader(conn)
	for {
		line, err := in.Next()
		if err != nil {
			return
		}
		var req ipc.Request
		if json.Unmarshal(line, &req) != nil {
			return
		}
		reply, err := json.Marshal(ipc.Reply{Protocol: ipc.Protocol, Version: req.Version, OK: true, Away: awayNow(away)})
		if err != nil || ipc.WriteMessage(conn, reply) != nil {
			return
		}
	}
}

// gitIndex is an index (gitformat-index(5), version 2) of files that are as they
// were when they were staged, as far as anybody asks here: names alone.
func gitIndex(names []string) []byte {
	var b bytes.Buffer
	b.WriteString("DIRC")
	_ = binary.Write(&b, binary.BigEndian, []uint32{2, uint32(len(names))}) // to memory
	for _, name := range names {
		start := b.Len()
		b.Write(make([]byte, 60))
		_ = binary.Write(&b, binary.BigEndian, uint16(len(name)))
		b.WriteString(name)
		b.Write(make([]byte, 8-(b.Len()-start)%8))
	}
	b.Write(make([]byte, 20)) // the checksum, which nobody here checks
	return b.Bytes()
}

// clientEnv is what a client adds to the environment of its hooks, as far as it is
// no secret: docs/contracts/claude.md §7, codex.md §7, copilot.md §6, opencode.md §1.
func clientEnv(p event.Provider, dir, session string) []string {
	switch p {
	case event.Claude:
		return []string{"CLAUDECODE=1", "CLAUDE_PROJECT_DIR=" + dir, "CLAUDE_CODE_SESSION_ID=" + session, "CLAUDE_CODE_ENTRYPOINT=cli"}
	case event.Copilot:
		return []string{"COPILOT_CLI=1", "COPILOT_PROJECT_DIR=" + dir, "CLAUDE_PROJECT_DIR=" + dir}
	case event.OpenCode:
		return []string{"OPENCODE=1", "AGENT=1"}
	}
	return nil
}
