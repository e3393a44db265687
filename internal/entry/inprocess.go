package entry

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
	"github.com/lidguard-go/lidguard/internal/policy/rule"
)

// Rehearsal answers payloads in this process as a hook process would, and means
// none of it: no runtime hears of the sessions, nothing is noted in a log, and a
// person's exceptions neither count nor are used up. The person's rulebook is read
// once, and so is a project's.
// Packs that keep values or run programs do so all the same, below the folders of
// the environment it was given. It is safe for use by several goroutines.
type Rehearsal struct {
	env   Env
	dirs  paths.Dirs
	packs Packs
	own   *Books
	away  *ipc.Away
	known folders
	still *still // see Freeze
}

// Freeze has the gate look at each place of the disk once, whatever changes there
// afterwards: for many payloads about files that nobody changes. It must be called
// before the first of them.
func (r *Rehearsal) Freeze() { r.still = &still{worlds: map[string]gate.World{}} }

// folders keeps the books that count in a folder.
type folders struct{ books sync.Map } // of string to *Books

func (f *folders) in(own *Books, dirs paths.Dirs, cwd string) *Books {
	if b, ok := f.books.Load(cwd); ok {
		return b.(*Books)
	}
	b, _ := f.books.LoadOrStore(cwd, own.in(dirs, cwd))
	return b.(*Books)
}

// Rehearse reads the rulebook that env leads to. away is what a runtime would say
// about the person; nil is a runtime that cannot tell.
func Rehearse(env Env, away *ipc.Away) (*Rehearsal, error) {
	r := &Rehearsal{env: env, away: away}
	var err error
	if r.dirs, err = paths.Resolve(env.OS, env.Getenv); err != nil {
		return nil, err
	}
	if r.packs, err = LoadPacks(r.dirs); err != nil {
		return nil, err
	}
	if r.own, err = ownBook(r.dirs); err != nil {
		return nil, err
	}
	return r, nil
}

// Proof is what came of one example of a rule, or that the rule lacks some.
type Proof struct {
	Rule, Case string
	Want       string // what the rule should do
	Problem    string // what it does instead, or else is wrong; "" if all is well
}

// Prove holds the person's own rules to their examples: the [[rule]]s, and those of
// [redact] while that pack is not off.
func (r *Rehearsal) Prove() []Proof {
	var list []Proof
	rules := r.own.Rules
	word := map[bool]string{true: "the rule fires", false: "the rule does not fire"}
	for _, p := range rule.Prove(rules.Rule, gate.DialectOf) {
		list = append(list, Proof{p.Rule, p.Case, word[p.Fires], p.Problem})
	}
	if modeOf(&redactPack, &r.packs, rules) == Off {
		return list
	}
	word = map[bool]string{true: "the rule finds a secret", false: "the rule finds nothing"}
	for _, p := range redact.Prove(redactConfig(rules).Rules) {
		list = append(list, Proof{p.Rule, p.Case, word[strings.HasPrefix(p.Case, "mask")], p.Problem})
	}
	return list
}

// Judge answers a payload. args is the command line of a hook entry: its name, and
// perhaps --event.
func (r *Rehearsal) Judge(args []string, payload []byte) (out event.Output, err error) {
	h, err := r.hook(args)
	if err != nil {
		return event.Output{}, err
	}
	defer h.survive(&out)
	if len(payload) == 0 {
		return h.answer(nil, errEmptyPayload), nil
	}
	return h.answer(payload, nil), nil
}

// Run answers what comes from stdin, as a hook process reads it: bounded in size
// and in time.
func (r *Rehearsal) Run(args []string, stdin io.Reader) (out event.Output, err error) {
	h, err := r.hook(args)
	if err != nil {
		return event.Output{}, err
	}
	defer h.survive(&out)
	payload, err := readPayload(stdin, h.deadline.Sub(h.env.Now()))
	return h.answer(payload, err), nil
}

func (r *Rehearsal) hook(args []string) (*hook, error) {
	var codec Codec
	if len(args) > 0 {
		codec = find(args[0])
	}
	if codec == nil {
		return nil, fmt.Errorf("no hook entry %q; one of %s", strings.Join(args, " "), names())
	}
	h := &hook{env: r.env, codec: codec, args: args[1:], deadline: r.env.Now().Add(Limit),
		dirs: r.dirs, packs: r.packs, own: r.own, away: r.away, dry: true, folders: &r.known}
	if r.still != nil {
		h.world = r.still.world
	}
	return h, nil
}

// EntryOf is the name of a client's hook entry, and false for a client without.
func EntryOf(p event.Provider) (name string, codec Codec, ok bool) {
	for _, r := range rows {
		if r.codec.Provider() == p {
			return r.name, r.codec, true
		}
	}
	return "", nil, false
}
