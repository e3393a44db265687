// Package install is what the setups of all clients share: how a config file
// calls lidguard, what a plan of edits is and how it is carried out and undone,
// and the words in which the state of an installation is told. In come a
// system's name, an environment, paths and edit functions; out go plans whose
// effect can be shown before anything is written. It knows no client's format.
package install

import (
	"github.com/lidguard-go/lidguard/internal/event"
)

// State tells how an entry, or all entries of a client, stand.
type State string

// The states, from good to bad.
const (
	Installed   State = "installed"
	Conflicts   State = "conflicts"    // installed, but something foreign is in the way
	NotTrusted  State = "not-trusted"  // the client skips it until a person trusts it
	NeedsUpdate State = "needs-update" // ours, but not as this version writes it
	Off         State = "off"          // the client is told to run no hooks, or not this one
	Missing     State = "missing"
	Foreign     State = "foreign"    // somebody else's entry stands under our name
	Unreadable  State = "unreadable" // the config file cannot be used
)

// rank orders the states for Worst.
func (s State) rank() int {
	for i, known := range []State{Installed, Conflicts, NotTrusted, NeedsUpdate, Off, Missing, Foreign, Unreadable} {
		if s == known {
			return i
		}
	}
	return -1 // the zero State: nothing said yet
}

// Worst returns the worse of two states.
func Worst(a, b State) State {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Report is the state of lidguard in one client.
type Report struct {
	Provider event.Provider `json:"provider"`
	Root     string         `json:"root"`    // the client's config folder
	Present  bool           `json:"present"` // that folder exists
	File     string         `json:"file"`    // where the hooks stand, or would
	State    State          `json:"state"`
	Hooks    []Hook         `json:"hooks"`
	Problems []Problem      `json:"problems"`
}

// Hook is one entry of ours.
type Hook struct {
	Event   string `json:"event"`
	State   State  `json:"state"`
	Detail  string `json:"detail,omitempty"` // what is different, in words
	Command string `json:"command,omitempty"`
	Timeout int    `json:"timeout_s,omitempty"`
}

// Problem is something in a client's configuration that a person should know.
type Problem struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
	// Voids: for it the client runs none of the hooks, however they stand.
	Voids bool `json:"-"`
}

// The codes of problems. Scripts may match them.
const (
	HooksOutdated     = "hooks-outdated"
	HooksNotTrusted   = "hooks-not-trusted"
	HooksOff          = "hooks-off"
	HookDisabled      = "hook-disabled"
	PromptHooks       = "prompt-hooks"
	HookFileBroken    = "hook-file-broken"
	FeatureDeprecated = "feature-deprecated"
	TwoHookFiles      = "two-hook-files"

	ForeignStopHooks  = "foreign-stop-hooks"       // may overrule what lidguard says at the end of a turn
	ForeignPermission = "foreign-permission-hooks" // have the last word over lidguard's answer
	KeepAwakeTwice    = "keep-awake-twice"         // the client keeps the machine awake by itself
	ForeignFile       = "foreign-file"             // a file of somebody else's has the name of ours
)

// Settle derives the report's state from its hooks and problems.
func (r *Report) Settle() {
	if r.State != Unreadable {
		missing := 0
		state := Installed
		for _, h := range r.Hooks {
			state = Worst(state, h.State)
			if h.State == Missing {
				missing++
			}
		}
		// Some of many missing is an installation of another version.
		if missing > 0 && missing < len(r.Hooks) && state == Missing {
			state = NeedsUpdate
		}
		for _, p := range r.Problems {
			switch {
			case p.Voids:
				state = Unreadable
			case p.Code == HooksOff && state != Missing:
				state = Worst(state, Off)
			case p.Code == PromptHooks, p.Code == ForeignStopHooks, p.Code == ForeignPermission:
				state = Worst(state, Conflicts)
			}
		}
		r.State = state
	}
	if r.Hooks == nil {
		r.Hooks = []Hook{}
	}
	if r.Problems == nil {
		r.Problems = []Problem{}
	}
}
