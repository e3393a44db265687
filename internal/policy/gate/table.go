package gate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Effect is what a call does to the world. The order is gravity, gravest first.
type Effect uint8

// The effects.
const (
	NoEffect Effect = iota
	Disk
	Boot
	ForkBomb
	Delete
	Overwrite
	Truncate
	MoveAway
	Permission
	KillAll
	RemoteExec
	ReverseShell
	Exfiltrate
	SecretRead
	Persistence
	EnvHijack
	AgentConfig
	DatabaseDestroy
	CloudDestroy
	ClusterDestroy
	RepoDestroy
	HistoryDestroy
	Opaque
	Unjudged
	Power
	UserAccount
	TrustDown
	DiscardWork
	RewriteHistory
	PushForce
	Service
	ProcessKill
	ContainerWipe
	Publish
	GlobalInstall
	Elevate
	Apply
	Listen
	DeceptiveURL
	InternalNet
	OutsideWrite
	MCPCall
	Denied
	lastEffect
)

var effectNames = [...]string{"", "disk", "boot", "fork-bomb", "delete", "overwrite", "truncate", "move-away", "permission-change",
	"kill-all", "remote-exec", "reverse-shell", "exfiltrate", "secret-read", "persistence", "environment-hijack", "agent-config",
	"database-destroy", "cloud-destroy", "cluster-destroy", "repo-destroy", "history-destroy", "opaque-exec", "unjudged", "power",
	"user-account", "trust-down", "discard-work", "rewrite-history", "push-force", "service", "process-kill", "container-wipe",
	"package-publish", "global-install", "elevate", "apply", "listen", "deceptive-url", "internal-network", "outside-write", "mcp-call", "sandbox"}

func (e Effect) String() string { return effectNames[e] }

// Scope is where an effect strikes. The order is gravity, mildest first.
type Scope uint8

// The scopes. One and Mass are for effects on things that are not files.
const (
	AnyScope Scope = iota
	Temp
	Build
	Ignored
	Project
	Private // local secrets of the project such as .env
	Tracked // tracked by git, or work that nobody has a copy of
	ProjectRoot
	Container
	One
	Unknown
	Outside
	Mass
	Home
	System
	RootUnknown // may be the root when something unknown is empty
	lastScope
)

var scopeNames = [...]string{"any", "temp", "build-output", "ignored", "project", "private", "tracked", "project-root", "container",
	"one", "unknown", "outside", "mass", "home", "system", "unknown-root"}

func (s Scope) String() string { return scopeNames[s] }

// ParseEffect returns the effect of that name.
func ParseEffect(name string) (Effect, bool) {
	for i, n := range effectNames {
		if n == name && i > 0 {
			return Effect(i), true
		}
	}
	return 0, false
}

// ParseScope returns the scope of that name.
func ParseScope(name string) (Scope, bool) {
	for i, n := range scopeNames {
		if n == name {
			return Scope(i), true
		}
	}
	return 0, false
}

// MarshalText writes the name.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a name.
func (e *Effect) UnmarshalText(b []byte) error {
	v, ok := ParseEffect(string(b))
	if !ok {
		return fmt.Errorf("no effect %q", b)
	}
	*e = v
	return nil
}

// MarshalText writes the name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name.
func (s *Scope) UnmarshalText(b []byte) error {
	v, ok := ParseScope(string(b))
	if !ok {
		return fmt.Errorf("no scope %q", b)
	}
	*s = v
	return nil
}

// Profile is how strict the table is read.
type Profile uint8

// The profiles. Each denies what the milder one denies.
const (
	Standard Profile = iota
	Strict           // what standard asks about is denied
	Relaxed          // only the catastrophes
)

func (p Profile) String() string { return [...]string{"standard", "strict", "relaxed"}[p] }

// ParseProfile returns the profile of that name.
func ParseProfile(name string) (Profile, bool) {
	for _, p := range [...]Profile{Standard, Strict, Relaxed} {
		if p.String() == name {
			return p, true
		}
	}
	return 0, false
}

// MarshalText writes the name.
func (p Profile) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a name.
func (p *Profile) UnmarshalText(b []byte) error {
	v, ok := ParseProfile(string(b))
	if !ok {
		return fmt.Errorf("no profile %q: there are standard, strict and relaxed", b)
	}
	*p = v
	return nil
}

// Row is one cell of the table, or a whole line where Scope is AnyScope.
type Row struct {
	Effect   Effect
	Scope    Scope
	Decision event.Decision // None, Ask or Deny
	// Catastrophe keeps a Deny in the relaxed profile.
	Catastrophe bool
}

type rowJSON struct {
	Effect      Effect `json:"effect"`
	Scope       Scope  `json:"scope,omitempty"`
	Decision    string `json:"decision"`
	Catastrophe bool   `json:"catastrophe,omitempty"`
}

// MarshalJSON writes {"effect":…,"scope":…,"decision":"deny"}.
func (r Row) MarshalJSON() ([]byte, error) {
	d := r.Decision.String()
	if r.Decision == event.None {
		d = "silent"
	}
	return json.Marshal(rowJSON{r.Effect, r.Scope, d, r.Catastrophe})
}

// UnmarshalJSON reads what MarshalJSON writes. There is no "allow": the gate never
// speaks for a call.
func (r *Row) UnmarshalJSON(b []byte) error {
	var j rowJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	r.Effect, r.Scope, r.Catastrophe = j.Effect, j.Scope, j.Catastrophe
	switch strings.ToLower(j.Decision) {
	case "deny":
		r.Decision = event.Deny
	case "ask":
		r.Decision = event.Ask
	case "silent", "none":
		r.Decision = event.None
	default:
		return fmt.Errorf("decision %q is none of deny, ask, silent", j.Decision)
	}
	if r.Effect == NoEffect {
		return fmt.Errorf("a row needs an effect")
	}
	return nil
}

// table is the standard profile. Cells that are not named are silent; a row with
// AnyScope comes first and the cells behind it correct it.
var table = [...]Row{
	{Disk, AnyScope, event.Deny, true},
	{Boot, AnyScope, event.Deny, true},
	{ForkBomb, AnyScope, event.Deny, true},
	{KillAll, AnyScope, event.Deny, true},

	{Delete, Tracked, event.Ask, false},
	{Delete, ProjectRoot, event.Ask, false},
	{Delete, Private, event.Ask, false},
	{Delete, Unknown, event.Ask, false},
	{Delete, Outside, event.Ask, false},
	{Delete, Home, event.Deny, true},
	{Delete, System, event.Deny, true},
	{Delete, RootUnknown, event.Deny, true},

	{Overwrite, Home, event.Deny, true},
	{Overwrite, System, event.Deny, true},
	{Overwrite, RootUnknown, event.Deny, false},
	{Truncate, Outside, event.Ask, false},
	{Truncate, Home, event.Deny, true},
	{Truncate, System, event.Deny, true},
	{MoveAway, Tracked, event.Ask, false},
	{MoveAway, ProjectRoot, event.Ask, false},
	{MoveAway, Outside, event.Ask, false},
	{MoveAway, Home, event.Deny, true},
	{MoveAway, System, event.Deny, true},
	{MoveAway, RootUnknown, event.Deny, true},
	{Permission, ProjectRoot, event.Ask, false},
	{Permission, Tracked, event.Ask, false},
	{Permission, Unknown, event.Ask, false},
	{Permission, Outside, event.Ask, false},
	{Permission, Home, event.Deny, true},
	{Permission, System, event.Deny, true},
	{Permission, RootUnknown, event.Deny, true},

	{RemoteExec, AnyScope, event.Deny, true},
	{ReverseShell, AnyScope, event.Deny, true},
	{Exfiltrate, AnyScope, event.Deny, true},
	{SecretRead, AnyScope, event.Deny, false},
	{SecretRead, Private, event.Ask, false},
	{Persistence, AnyScope, event.Deny, false},
	{EnvHijack, AnyScope, event.Deny, false},
	{AgentConfig, AnyScope, event.Deny, true},
	{Opaque, AnyScope, event.Deny, false},
	{Opaque, Unknown, event.Ask, false},
	{Unjudged, AnyScope, event.Deny, false},
	{Unjudged, Unknown, event.Ask, false},
	{HistoryDestroy, AnyScope, event.Deny, true},
	{HistoryDestroy, One, event.Ask, false},
	{RepoDestroy, AnyScope, event.Deny, true},
	{RepoDestroy, One, event.Ask, false},
	{DatabaseDestroy, AnyScope, event.Deny, true},
	{DatabaseDestroy, One, event.Ask, false},
	{ClusterDestroy, AnyScope, event.Deny, true},
	{ClusterDestroy, One, event.Ask, false},
	{CloudDestroy, AnyScope, event.Deny, true},
	{CloudDestroy, One, event.Ask, false},
	{Power, AnyScope, event.Deny, true},
	{UserAccount, AnyScope, event.Deny, false},
	{TrustDown, AnyScope, event.Ask, false},
	{TrustDown, System, event.Deny, false},

	{DiscardWork, AnyScope, event.Ask, false},
	{RewriteHistory, AnyScope, event.Ask, false},
	{PushForce, AnyScope, event.Ask, false},
	{Service, AnyScope, event.Ask, false},
	{ProcessKill, AnyScope, event.Ask, false},
	{ContainerWipe, AnyScope, event.Ask, false},
	{Publish, AnyScope, event.Ask, false},
	{GlobalInstall, AnyScope, event.Ask, false},
	{Elevate, AnyScope, event.Ask, false},
	{Apply, AnyScope, event.Ask, false},
	{Listen, AnyScope, event.Ask, false},
	{DeceptiveURL, AnyScope, event.Deny, false},
	{InternalNet, AnyScope, event.Ask, false},
	{InternalNet, System, event.Deny, false}, // metadata services hand out credentials
	{OutsideWrite, AnyScope, event.Ask, false},
	{MCPCall, AnyScope, event.Ask, false},
	{MCPCall, Mass, event.Deny, false},
	{Denied, AnyScope, event.Deny, true},
}

// Table returns the shipped table, for people to read.
func Table() []Row { return append([]Row{}, table[:]...) }

// decide looks an effect on a scope up.
func (c *Config) decide(e Effect, s Scope, rule string) event.Decision {
	for _, off := range c.Off {
		if off == rule {
			return event.None
		}
	}
	var hit Row
	for _, rows := range [...][]Row{table[:], c.Rows} {
		for _, r := range rows {
			if r.Effect == e && (r.Scope == AnyScope || r.Scope == s) {
				hit = r
			}
		}
	}
	switch c.Profile {
	case Strict:
		if hit.Decision == event.Ask {
			return event.Deny
		}
	case Relaxed:
		if hit.Decision != event.Deny || !hit.Catastrophe {
			return event.None
		}
	}
	return hit.Decision
}
