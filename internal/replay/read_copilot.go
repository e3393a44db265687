package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// readCopilot is docs/contracts/copilot.md §2, §3: before a call a hook that fails
// refuses it, a timeout lets it through, and stderr is nobody's reason.
func readCopilot(c Case, a Answer, row *census.Event) Reading {
	var r Reading
	call := row.Name == event.PreToolUse || row.Name == event.PermissionRequest
	if a.Late {
		r.By = ByTimeout
		return r.void("it gave no answer in time, and the client does not wait")
	}
	s, isObject := object(withoutProgress(a.Stdout))
	text := strings.TrimSpace(string(withoutProgress(a.Stdout)))
	if a.Code != 0 {
		r.By, r.Failed = ByExit, true
		if !call {
			r.fault("%s says nothing here; stderr is shown to the person at most", a.Ended())
			return r
		}
		r.Decision, r.Reason = event.Deny, fmt.Sprintf("hook exited with code %d", a.Code)
		if a.Signal != "" {
			r.Reason = "hook ended by " + a.Signal
		}
		if a.Code == 2 && isObject {
			if reason, has, _ := s.text("permissionDecisionReason"); has {
				r.Reason = reason
			}
		}
		if a.Code != 2 {
			r.fault("%s refuses the call as a broken hook", a.Ended())
		}
		return r
	}
	if text == "" {
		return r
	}
	if !isObject {
		r.By = ByText
		return r.void("stdout is no JSON object, and text is no answer")
	}
	r.By = ByJSON
	pascal := c.Event != "" && c.Event[0] >= 'A' && c.Event[0] <= 'Z'
	if h, has, _ := s.inner("hookSpecificOutput"); has {
		if !pascal || row.Name != event.PreToolUse {
			r.fault("hookSpecificOutput is read at PreToolUse in PascalCase only; here it is ignored")
		} else {
			s = h
			s["modifiedArgs"] = h["updatedInput"]
			if s["modifiedArgs"] == nil {
				delete(s, "modifiedArgs")
			}
			delete(s, "updatedInput")
			delete(s, "hookEventName")
		}
	}
	r.copilot(s, row)
	return r
}

func (r *Reading) copilot(s said, row *census.Event) {
	v := &r.Verdict
	var known []string
	for _, o := range row.Outputs {
		known = append(known, o.Key)
	}
	for _, key := range s.lost(append(known, "hookSpecificOutput", "reason", "modifiedArgs")...) {
		r.fault("%q is ignored at %s", key, row.Native)
	}
	if text, has, _ := s.text("additionalContext"); has && honours(row, "additionalContext") {
		v.Contexts = []string{text}
	}
	switch row.Name {
	case event.PreToolUse:
		if word, has, _ := s.text("permissionDecision"); has {
			r.Reason, _, _ = s.text("permissionDecisionReason")
			switch word {
			case "deny":
				r.Decision = event.Deny
			case "ask":
				r.Decision = event.Ask
			case "allow":
				r.Decision = event.Allow
			default:
				r.fault("permissionDecision is no %q", word)
			}
		}
		v.UpdatedInput = s["modifiedArgs"]
	case event.PermissionRequest:
		if word, has, _ := s.text("behavior"); has {
			switch word {
			case "deny":
				r.Decision = event.Deny
				r.Reason, _, _ = s.text("message")
				v.Interrupt, _, _ = s.flag("interrupt")
			case "allow":
				r.Decision = event.Allow
			default:
				r.fault("behavior is \"allow\" or \"deny\", not %q", word)
			}
		}
	default:
		if word, has, _ := s.text("decision"); has && honours(row, "decision") {
			if word == "block" {
				r.Decision = event.Deny
				r.Reason, _, _ = s.text("reason")
			}
		}
		v.UpdatedOutput = s["modifiedResult"]
	}
}

// withoutProgress takes the lines away that the client shows as progress.
func withoutProgress(stdout []byte) []byte {
	if !bytes.Contains(stdout, []byte(`"progress"`)) {
		return stdout
	}
	var out []byte
	for line := range bytes.Lines(stdout) {
		var p struct{ Type string }
		if json.Unmarshal(line, &p) == nil && p.Type == "progress" {
			continue
		}
		out = append(out, line...)
	}
	return out
}
