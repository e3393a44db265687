package replay

import (
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// readCodex is docs/contracts/codex.md §4: the schemas are closed, and an answer
// with one member too many is thrown away as a whole, whereupon the action goes
// on. Exit 2 blocks only with a reason on stderr.
func readCodex(c Case, a Answer, row *census.Event) Reading {
	var r Reading
	reason := strings.TrimSpace(string(a.Stderr))
	switch {
	case row.Name == event.SessionEnd:
		return r // nobody looks
	case a.Late:
		r.By = ByTimeout
		return r.void("it gave no answer in time, and the client does not wait")
	case a.Code == 2:
		r.By = ByExit
		if len(a.Stdout) > 0 {
			r.fault("exit code 2 and an answer on stdout together: the exit code decides")
		}
		switch {
		case reason == "":
			return r.void("exit code 2 without a reason on stderr blocks nothing")
		case !row.Blocks.Exit2:
			return r.void("exit code 2 blocks nothing at %s", row.Native)
		}
		r.Decision, r.Reason = event.Deny, reason
		return r
	case a.Code != 0:
		r.By = ByExit
		return r.void("%s is a failed hook, which blocks nothing", a.Ended())
	}
	text := strings.TrimSpace(string(a.Stdout))
	if text == "" {
		return r
	}
	s, isObject := object(a.Stdout)
	if !isObject {
		r.By = ByText
		switch {
		case text[0] == '{' || text[0] == '[':
			return r.void("stdout is no JSON object")
		case noise(a.Stdout):
			return r.void("something stands before the JSON on stdout, so none of it counts")
		case honours(row, "stdout"):
			r.Verdict.Contexts = []string{text}
		case row.Name == event.Stop || row.Name == event.SubagentStop || row.Name == event.Interrupt:
			return r.void("text on stdout fails the hook at %s", row.Native)
		default:
			r.fault("text on stdout is no answer at %s", row.Native)
		}
		return r
	}
	r.By = ByJSON
	if why := r.codex(s, row); why != "" {
		return r.void("the client throws the whole answer away: %s", why)
	}
	return r
}

// codexOwn is what stands at the top of an answer.
func codexTop(row *census.Event) []string {
	keys := []string{"systemMessage", "hookSpecificOutput", "continue", "stopReason"}
	for _, o := range row.Outputs {
		keys = append(keys, o.Key)
	}
	return keys
}

func (r *Reading) codex(s said, row *census.Event) (why string) {
	var innerKeys []string
	for _, o := range row.Outputs {
		if key, ok := strings.CutPrefix(o.Key, "hookSpecificOutput."); ok {
			key, _, _ = strings.Cut(key, ".")
			innerKeys = append(innerKeys, key)
		}
	}
	top := codexTop(row)
	if honours(row, "decision") {
		top = append(top, "reason")
	}
	if lost := s.lost(top...); len(lost) > 0 {
		return "it does not know " + strings.Join(lost, ", ")
	}
	h, hasInner, bad := s.inner("hookSpecificOutput")
	switch {
	case bad:
		return "hookSpecificOutput is no object"
	case hasInner && len(innerKeys) == 0:
		return "hookSpecificOutput has no place at " + row.Native
	}
	if hasInner {
		if _, has, _ := h.text("hookEventName"); !has {
			return "hookSpecificOutput has no hookEventName"
		}
		if lost := h.lost(append(innerKeys, "hookEventName")...); len(lost) > 0 {
			return "it does not know " + strings.Join(lost, ", ")
		}
	}
	v := &r.Verdict
	v.SystemMessage, _, _ = s.text("systemMessage")
	decision, hasDecision, bad := s.text("decision")
	reason, _, _ := s.text("reason")
	switch {
	case bad, hasDecision && decision != "block":
		return `decision is "block" and nothing else`
	case hasDecision && strings.TrimSpace(reason) == "":
		return "a block without a reason"
	case !hasDecision && reason != "":
		return "a reason without a decision"
	case hasDecision:
		r.Decision, r.Reason = event.Deny, reason
	}
	goOn, has, bad := s.flag("continue")
	switch {
	case bad:
		return "continue is neither true nor false"
	case has && !goOn && !honours(row, "continue") && row.Name != event.SubagentStart:
		return "continue:false has no place at " + row.Native
	case has && !goOn && row.Name != event.SubagentStart:
		v.StopTurn = true
		v.StopReason, _, _ = s.text("stopReason")
		switch row.Name {
		case event.Stop, event.SubagentStop:
			r.Decision, r.Reason = event.None, ""
		case event.PostToolUse:
			r.Does = string(census.Replaces)
		case event.PreCompact, event.UserPromptSubmit:
			r.Decision = event.Deny
		}
	}
	if !hasInner {
		return ""
	}
	if text, has, bad := h.text("additionalContext"); bad {
		return "additionalContext is no text"
	} else if has {
		v.Contexts = []string{text}
	}
	if d, has, bad := h.inner("decision"); bad {
		return "decision is no object"
	} else if has {
		if lost := slices.DeleteFunc(d.lost("behavior", "message"), func(k string) bool {
			return string(d[k]) == "null" || k == "interrupt" && string(d[k]) == "false"
		}); len(lost) > 0 {
			return "it does not take " + strings.Join(lost, ", ") + " here"
		}
		if word, _, _ := d.text("behavior"); word != "allow" && word != "deny" {
			return `behavior is "allow" or "deny", not "` + word + `"`
		}
		r.behaviour(d)
	}
	return r.codexCall(h)
}

// codexCall reads the answer to a call.
func (r *Reading) codexCall(h said) (why string) {
	word, has, bad := h.text("permissionDecision")
	reason, _, _ := h.text("permissionDecisionReason")
	input, rewrites, badInput := h.inner("updatedInput")
	switch {
	case bad, badInput:
		return "permissionDecision is no text, or updatedInput no object"
	case rewrites && word != "allow":
		return "updatedInput without permissionDecision \"allow\""
	case !has:
		return ""
	case word == "allow" && !rewrites:
		return "allow without updatedInput"
	case word == "deny" && strings.TrimSpace(reason) == "":
		return "deny without a reason"
	case word == "deny":
		r.Decision, r.Reason = event.Deny, reason
	case word == "allow":
		r.Decision, r.Verdict.UpdatedInput = event.Allow, h["updatedInput"]
		_ = input
	default:
		return "it does not know permissionDecision " + `"` + word + `"`
	}
	return ""
}
