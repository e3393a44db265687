package entry

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// Question is a call that somebody wants explained.
type Question struct {
	Command  string
	Provider event.Provider
	Tool     string // the client's name for it; "" is its shell
	Dir      string // absolute
}

// Explanation is what the gate makes of a call.
type Explanation struct {
	Command  string `json:"command"`
	Tool     string `json:"tool"`
	Profile  string `json:"profile"`
	Decision string `json:"decision"` // deny, ask, or none
	Rule     string `json:"rule,omitempty"`
	// Reason is what the model would read, with CODE for the code of the call.
	Reason string `json:"reason,omitempty"`
	// Book is the project's rulebook, where the gate's section that decided is its.
	Book string `json:"book,omitempty"`
	// Leaves are the programs that would run, in order.
	Leaves []ExplainedLeaf `json:"leaves"`
	// Hazards are the effects found, gravest first; those that are silent too.
	Hazards []ExplainedHazard `json:"hazards"`
	// Unknown lists what could not be read or told beforehand.
	Unknown []string `json:"unknown,omitempty"`
}

// ExplainedLeaf is one program.
type ExplainedLeaf struct {
	Words []string `json:"words"`
	Via   []string `json:"via,omitempty"` // the wrappers that lead to it, outermost first
	Dir   string   `json:"dir,omitempty"`
	// Writes are the targets of its redirections.
	Writes []string `json:"writes,omitempty"`
}

// ExplainedHazard is one effect.
type ExplainedHazard struct {
	Decision string `json:"decision"`
	Effect   string `json:"effect"`
	Scope    string `json:"scope"`
	Rule     string `json:"rule"`
	Means    string `json:"means"`
	Target   string `json:"target,omitempty"`
}

// Explain judges a call as a hook would, with the person's settings and the books
// that count in its folder, and tells how it came to that. It changes nothing and
// notes nothing.
func Explain(goos string, dirs paths.Dirs, getenv func(string) string, q Question) (Explanation, error) {
	sw, err := LoadPacks(dirs)
	if err != nil {
		return Explanation{}, err
	}
	books, err := LoadBooks(dirs, q.Dir)
	if err == nil {
		err = books.Refused
	}
	if err != nil {
		return Explanation{}, err
	}
	if q.Tool == "" {
		q.Tool = "Bash"
	}
	if _, ok := gate.DialectOf(q.Tool); !ok {
		return Explanation{}, fmt.Errorf("the tool %q takes no commands: there are Bash, PowerShell and cmd, and the agents' own names for them", q.Tool)
	}
	if info, err := os.Stat(q.Dir); err != nil || !info.IsDir() {
		return Explanation{}, fmt.Errorf("there is no folder %q to judge in", q.Dir)
	}
	input, err := json.Marshal(map[string]string{"command": q.Command})
	if err != nil {
		return Explanation{}, err
	}
	ev := event.Event{Provider: q.Provider, Name: event.PreToolUse, Native: string(event.PreToolUse), Cwd: q.Dir,
		Tool: &event.Tool{Name: q.Tool, Input: input}}
	w := gateWorld(goos, q.Dir, getenv, dirs.Home)
	w.Self = []string{dirs.Config, dirs.State, dirs.Run}
	inTime := func() func() bool { return startWatch(time.Now).inTime }
	if q.Provider == event.Codex || q.Provider == event.OpenCode {
		w.Unattended = unattended(&ev, getenv)
	}
	var r gate.Result
	var by gateBook
	for i, book := range books.gates(&sw) {
		w.Budget = inTime()
		// The person's own comes first and speaks for all that say the same.
		if said := gate.Judge(book.cfg, &ev, w); i == 0 || said.Decision > r.Decision {
			r, by = said, book
		}
	}
	if r.Decision == event.Deny {
		r.Reason += onceMore + "CODE"
	}
	out := Explanation{Command: q.Command, Tool: q.Tool, Profile: by.cfg.Profile.String(), Decision: r.Decision.String(), Rule: r.Rule(), Reason: r.Reason, Book: by.path,
		Leaves: []ExplainedLeaf{}, Hazards: []ExplainedHazard{}}
	for _, h := range r.Hazards {
		out.Hazards = append(out.Hazards, ExplainedHazard{Decision: h.Decision.String(), Effect: h.Effect.String(), Scope: h.Scope.String(),
			Rule: h.Rule, Means: gate.Explain(h.Rule), Target: h.Target})
	}
	if d, ok := gate.DialectOf(q.Tool); ok {
		out.leaves(shell.Inspect(q.Command, d, shell.World{Dir: w.Dir, Home: w.Home, Env: w.Env, Private: gate.SecretVariable, ReadFile: w.ReadFile, Glob: w.Glob, Budget: inTime()}))
	}
	return out, nil
}

// gateBook is what one book tells the gate.
type gateBook struct {
	cfg  gate.Config
	path string // the project's book; "" is the person's own
}

// gates are the gates that judge in a folder when the pack is on: the person's, and
// those that a project's book adds, as packHandlers builds them.
func (b *Books) gates(sw *Packs) []gateBook {
	list := []gateBook{{cfg: gateConfig(b.Rules, sw)}}
	of := map[*Rules]string{} // what was trusted before is of none of them
	for _, p := range b.projects() {
		if p.Trusted && p.Rules.Gate != nil {
			list[0].path = p.File.Path
		}
		if p.Broken != nil {
			list = append(list, gateBook{path: p.File.Path})
		}
		of[p.Rules] = p.File.Path
	}
	for _, r := range b.Tighten {
		if r.Packs[gate.Name] == On || gatePack.told(r) {
			path := of[r]
			if path == "" {
				path = b.Project.File.Path
			}
			list = append(list, gateBook{gateConfig(gatePack.beside(r), &Packs{}), path})
		}
	}
	return list
}

func (e *Explanation) leaves(f *shell.Facts) {
	for i := range f.Leaves {
		l := &f.Leaves[i]
		x := ExplainedLeaf{Dir: l.Dir.String()}
		x.Words, _ = l.ArgvText()
		for _, v := range l.Via {
			x.Via = append(x.Via, v.Name)
		}
		for k := range l.Redirects {
			if l.Redirects[k].Writes() {
				x.Writes = append(x.Writes, l.Redirects[k].Op+l.Redirects[k].Target.String())
			}
		}
		if len(x.Words) == 0 {
			for k := range l.Assigns {
				x.Words = append(x.Words, l.Assigns[k].Name+"="+l.Assigns[k].Value.String())
			}
		}
		e.Leaves = append(e.Leaves, x)
	}
	for _, o := range f.Opaque {
		e.Unknown = append(e.Unknown, o.Why+": "+o.Text.String())
	}
	for _, p := range f.Problems {
		e.Unknown = append(e.Unknown, strings.TrimSpace(p.Kind.String()+" "+p.Path+" "+p.Detail))
	}
	if f.Over != nil {
		e.Unknown = append(e.Unknown, f.Over.String())
	}
}

// Profiles are the names of the gate's profiles.
func Profiles() []string {
	return []string{gate.Standard.String(), gate.Strict.String(), gate.Relaxed.String()}
}

// Profile is the profile of that name; nil where there is none.
func Profile(name string) *gate.Profile {
	if p, ok := gate.ParseProfile(name); ok {
		return &p
	}
	return nil
}
