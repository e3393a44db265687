package replay

import (
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// readClaude is docs/contracts/claude.md §1, §2, §3: JSON counts on every exit
// code, exit 2 blocks whatever stdout says, and everything else fails open.
func readClaude(c Case, a Answer, row *census.Event) Reading {
	var r Reading
	if a.Late {
		r.By = ByTimeout
		if row.Name == event.PreModelSwitch {
			r.Decision = event.Deny
			return r
		}
		return r.void("it gave no answer in time, and the client does not wait")
	}
	s, isObject := object(a.Stdout)
	text := strings.TrimSpace(string(a.Stdout))
	ok := isObject
	var broken Reading
	if isObject {
		r.By = ByJSON
		if why := r.claude(s, row); why != "" {
			broken, ok = r.void("%s", why), false
		}
		r.claudeCall(c, row)
	} else if text != "" {
		r.By = ByText
		r.claudeText(a, row, text)
	}
	if a.Code == 2 {
		return r.claudeExit2(a, row, ok, broken)
	}
	if isObject && !ok {
		if a.Code != 0 {
			broken.fault("%s blocks nothing; only 2 does", a.Ended())
		}
		return broken
	}
	if a.Code != 0 {
		switch row.Name {
		case event.WorktreeCreate, event.WorktreeRemove:
			r.Decision, r.By, r.Reason = event.Deny, ByExit, strings.TrimSpace(string(a.Stderr))
			return r
		}
		r.Failed = r.Decision == event.None
		if r.By == "" {
			r.By = ByExit
		}
		r.fault("%s blocks nothing; only 2 does", a.Ended())
	}
	return r
}

// claudeCall holds an answer against the call that it is for (contract §3).
func (r *Reading) claudeCall(c Case, row *census.Event) {
	v := &r.Verdict
	tool := jsontext.Text(c.Payload, "tool_name")
	if row.Name == event.PermissionRequest && r.Decision == event.Allow && tool == "AskUserQuestion" && v.UpdatedInput == nil {
		r.Decision = event.None
		r.fault("allow without answers leaves the dialog of %s open", tool)
	}
	if v.UpdatedOutput == nil || row.Name != event.PostToolUse {
		return
	}
	if response := jsontext.Member(c.Payload, "tool_response"); !jsontext.SameShape(response, v.UpdatedOutput) {
		v.UpdatedOutput = nil
		r.fault("the rewritten output has another shape than the tool's own, so the original goes through")
	}
}

// claudeText is stdout that is no JSON object.
func (r *Reading) claudeText(a Answer, row *census.Event, text string) {
	switch {
	case row.Name == event.WorktreeCreate:
		return // the path of the tree
	case noise(a.Stdout):
		r.Failed = true
		r.fault("something stands before or behind the JSON on stdout, so none of it counts")
	case honours(row, "stdout") && a.Code == 0:
		r.Verdict.Contexts = []string{text}
	default:
		r.fault("text on stdout is no answer at %s", row.Native)
	}
}

func (r *Reading) claudeExit2(a Answer, row *census.Event, ok bool, broken Reading) Reading {
	out := Reading{By: ByExit, Faults: r.Faults}
	if !ok && broken.Faults != nil {
		out.Faults = broken.Faults
	}
	if len(a.Stdout) > 0 {
		out.fault("exit code 2 and an answer on stdout together: the exit code decides")
	}
	if row.Name == event.PermissionRequest {
		if ok && r.Decision != event.None {
			r.Faults = out.Faults
			return *r
		}
		out.fault("exit code 2 is not honoured at PermissionRequest: the dialog stays open")
		return out
	}
	if !row.Blocks.Exit2 {
		out.fault("exit code 2 blocks nothing at %s", row.Native)
		return out
	}
	out.Decision = event.Deny
	if out.Reason = strings.TrimSpace(string(a.Stderr)); r.Decision == event.Deny && r.Reason != "" {
		out.Reason = r.Reason
	}
	if out.Reason == "" {
		out.fault("exit code 2 without a reason on stderr")
	}
	return out
}

// claude reads the object; why says what breaks its schema.
func (r *Reading) claude(s said, row *census.Event) (why string) {
	for _, key := range []string{"reason", "stopReason", "systemMessage", "decision", "terminalSequence"} {
		if _, _, bad := s.text(key); bad {
			return key + " is no text"
		}
	}
	goOn, hasGoOn, bad := s.flag("continue")
	if bad {
		return "continue is neither true nor false"
	}
	h, hasInner, bad := s.inner("hookSpecificOutput")
	if bad {
		return "hookSpecificOutput is no object"
	}
	if hasInner {
		if name, has, _ := h.text("hookEventName"); !has || name != row.Native {
			return "hookSpecificOutput does not name its event as " + row.Native
		}
	}
	decision, hasDecision, _ := s.text("decision")
	if hasDecision && decision != "block" && decision != "approve" {
		return "decision is \"block\" or \"approve\", not \"" + decision + "\""
	}
	known := []string{"hookSpecificOutput", "decision", "reason", "continue", "stopReason", "suppressOutput", "systemMessage", "terminalSequence",
		"suppressOriginalPrompt", "async", "asyncTimeout"}
	for _, key := range s.lost(known...) {
		switch key {
		case "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "updatedToolOutput", "behavior":
			r.fault("%q counts inside hookSpecificOutput only; here it is ignored", key)
		default:
			r.fault("there is no %q; it is ignored", key)
		}
	}
	v := &r.Verdict
	v.SystemMessage, _, _ = s.text("systemMessage")
	v.TerminalSequence, _, _ = s.text("terminalSequence")
	reason, _, _ := s.text("reason")
	if hasDecision {
		switch {
		case !honours(row, "decision") && row.Name == event.PermissionRequest:
			r.fault("a top-level decision is ignored at PermissionRequest")
		case !honours(row, "decision"):
			r.fault("decision is ignored at %s", row.Native)
		case decision == "block":
			r.Decision, r.Reason = event.Deny, reason
		case row.Name == event.PreToolUse:
			r.Decision, r.Reason = event.Allow, reason
		}
		if decision == "block" && reason == "" && r.Decision == event.Deny {
			r.fault("a block without a reason")
		}
	}
	if hasInner {
		if why := r.claudeInner(h, row); why != "" {
			return why
		}
	}
	if hasGoOn && !goOn {
		if honours(row, "continue") {
			v.StopTurn = true
			v.StopReason, _, _ = s.text("stopReason")
			if row.Name == event.Stop || row.Name == event.SubagentStop {
				r.Decision, r.Reason = event.None, "" // it wins over a block
			}
		} else {
			r.fault("continue is ignored at %s", row.Native)
		}
	}
	return ""
}

// claudeInner reads hookSpecificOutput.
func (r *Reading) claudeInner(h said, row *census.Event) (why string) {
	v := &r.Verdict
	honoured := func(key string) bool {
		raw, has := h[key]
		if !has || string(raw) == "null" {
			return false
		}
		if !honours(row, "hookSpecificOutput."+key) {
			r.fault("%q is ignored at %s", key, row.Native)
			return false
		}
		return true
	}
	if honoured("additionalContext") {
		text, _, bad := h.text("additionalContext")
		if bad {
			return "additionalContext is no text"
		}
		v.Contexts = []string{text}
		if row.Name == event.Stop || row.Name == event.SubagentStop {
			r.Decision = event.Deny // it continues the turn as a block does
		}
	}
	if honoured("permissionDecision") {
		word, _, bad := h.text("permissionDecision")
		reason, _, _ := h.text("permissionDecisionReason")
		switch {
		case bad:
			return "permissionDecision is no text"
		case word == "deny":
			r.Decision = event.Deny
			if reason == "" {
				r.fault("a refusal without a reason")
			}
		case word == "ask":
			r.Decision = event.Ask
		case word == "allow":
			r.Decision = event.Allow
		case word == "defer":
			r.Does = "ends the run, to be resumed"
		default:
			return "permissionDecision is no " + `"` + word + `"`
		}
		r.Reason = reason
		if row.Name == event.PreSkillShellCommand {
			if r.Decision == event.Allow {
				r.Decision = event.None
			} else {
				r.Decision, r.Does = event.Deny, ""
			}
		}
	}
	if honoured("updatedInput") {
		if _, _, bad := h.inner("updatedInput"); bad {
			return "updatedInput is no object"
		}
		v.UpdatedInput = h["updatedInput"]
		if row.Name == event.PreSkillShellCommand {
			r.Decision, v.UpdatedInput = event.Deny, nil
			r.fault("a rewrite refuses the command here, whatever it holds")
		}
	}
	if honoured("updatedToolOutput") {
		v.UpdatedOutput = h["updatedToolOutput"]
	}
	if honoured("updatedMCPToolOutput") {
		v.UpdatedOutput = h["updatedMCPToolOutput"]
	}
	if honoured("decision") {
		d, _, bad := h.inner("decision")
		if bad {
			r.fault("decision is no object: the dialog stays open")
			return ""
		}
		r.behaviour(d)
		v.Permissions = d["updatedPermissions"]
		v.UpdatedInput = d["updatedInput"]
	}
	if honoured("action") {
		action, _, _ := h.text("action")
		if !slices.Contains([]string{"accept", "decline", "cancel"}, action) {
			return `action is "accept", "decline" or "cancel", not "` + action + `"`
		}
		v.ElicitAction, v.ElicitContent = action, h["content"]
		if action != "accept" {
			r.Decision = event.Deny
		}
	}
	v.SessionTitle, _, _ = h.text("sessionTitle")
	return ""
}

// behaviour reads a decision on a permission, of Claude Code and of Codex.
func (r *Reading) behaviour(d said) {
	word, _, _ := d.text("behavior")
	switch word {
	case "allow":
		r.Decision = event.Allow
	case "deny":
		r.Decision = event.Deny
		r.Reason, _, _ = d.text("message")
		r.Verdict.Interrupt, _, _ = d.flag("interrupt")
	default:
		r.fault("behavior is \"allow\" or \"deny\", not %q: the dialog stays open", word)
	}
}
