package entry

import (
	"path"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

// Objection is what the gate said about one call, read back from the audit log.
type Objection struct {
	Code       string         `json:"code,omitempty"`
	Time       time.Time      `json:"time,omitzero"`
	Provider   event.Provider `json:"provider"`
	Tool       string         `json:"tool"`
	Decision   string         `json:"decision"`
	Profile    string         `json:"profile"`
	Unattended bool           `json:"unattended,omitempty"`
	Grounds    []Ground       `json:"grounds"`
}

// Ground is one hazard of a call.
type Ground struct {
	Rule  string `json:"rule"`
	Means string `json:"means"`
	// Effect is the effect, its scope, and the target where it is no text.
	Effect string `json:"effect,omitempty"`
}

// Why finds the newest objection with a code. False: there is none.
func Why(dirs paths.Dirs, code string) (o Objection, found bool, err error) {
	code = strings.ToLower(strings.TrimSpace(code))
	err = ReadAudit(dirs, func(e *AuditEntry) bool {
		if e.Code != code || e.Kind != "said" {
			return true
		}
		found = true
		o = Objection{Code: e.Code, Time: e.Time, Provider: e.Provider, Tool: e.Tool, Decision: e.Decision, Profile: e.Profile, Unattended: e.Unattended}
		for i, rule := range e.Rules {
			g := Ground{Rule: rule, Means: gate.Explain(rule)}
			if i < len(e.Effects) {
				g.Effect = e.Effects[i]
			}
			o.Grounds = append(o.Grounds, g)
		}
		return true
	})
	return o, found, err
}

// Redacted is the objection without what tells of the person: to be shown to
// strangers who look after the rules. Of a path stay the places that every machine
// has, and the ending.
func (o Objection) Redacted(home string) Objection {
	o.Code, o.Time = "", time.Time{}
	if strings.HasPrefix(o.Tool, "mcp__") {
		o.Tool = "mcp"
	}
	grounds := make([]Ground, len(o.Grounds))
	for i, g := range o.Grounds {
		if effect, rest, ok := strings.Cut(g.Effect, " "); ok {
			if scope, target, ok := strings.Cut(rest, " "); ok {
				g.Effect = effect + " " + scope + " " + blur(target, home)
			}
		}
		grounds[i] = g
	}
	o.Grounds = grounds
	return o
}

// blur puts x for every part of a path or an address that not every machine has.
func blur(target, home string) string {
	scheme, rest, isURL := strings.Cut(target, "://")
	if isURL {
		_, p, _ := strings.Cut(rest, "/")
		if p == "" {
			return scheme + "://host"
		}
		return scheme + "://host/" + blur(p, "")
	}
	if home != "" && (target == home || strings.HasPrefix(target, home+"/")) {
		target = "~" + target[len(home):]
	}
	parts := strings.Split(strings.ReplaceAll(target, `\`, "/"), "/")
	for i, part := range parts {
		if !common(part) {
			ext := path.Ext(part)
			if len(ext) > 5 || ext == part || ext == "." {
				ext = ""
			}
			parts[i] = "x" + ext
		}
	}
	return strings.Join(parts, "/")
}

// common tells names that say nothing about a person.
func common(part string) bool {
	if strings.Trim(part, ".*?{}[]") == "" || strings.HasPrefix(part, "$") {
		return true
	}
	switch strings.ToLower(part) {
	case "~", "bin", "boot", "dev", "etc", "home", "lib", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "usr", "var", "users", "windows", "c:",
		"local", "share", "log", "cache", "passwd", "shadow", "sudoers", "hosts", "sda", "nvme0n1", "null", "environ", "self",
		".git", "hooks", ".env", ".ssh", ".gnupg", ".aws", ".kube", ".config", ".local", ".claude", ".codex", ".copilot", "settings.json", "authorized_keys", "id_rsa", "id_ed25519",
		".bashrc", ".profile", ".zshrc", ".npmrc", ".netrc", "documents", "desktop", "downloads", "pictures", "src", "test", "tests", "docs", "build", "dist", "out", "target", "node_modules", "vendor":
		return true
	}
	return false
}
