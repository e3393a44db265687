package replay

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// readOpenCode is what lidguard's plugin for OpenCode does with an answer: one
// object with v 1, or exit 2 with a text, and anything else means "go on".
func readOpenCode(c Case, a Answer, row *census.Event) Reading {
	var r Reading
	reason := strings.TrimSpace(string(a.Stderr))
	switch {
	case a.Late:
		r.By = ByTimeout
		return r.void("it gave no answer in time, and the plugin does not wait")
	case a.Code == 2:
		r.By = ByExit
		if reason == "" {
			return r.void("exit code 2 without a reason on stderr blocks nothing")
		}
		switch row.Name {
		case event.PreToolUse, event.PermissionRequest, event.UserPromptSubmit:
			r.Decision, r.Reason = event.Deny, reason
		default:
			r.fault("exit code 2 blocks nothing at %s", row.Native)
		}
		return r
	case a.Code != 0:
		r.By = ByExit
		return r.void("%s blocks nothing; only 2 does", a.Ended())
	}
	if len(strings.TrimSpace(string(a.Stdout))) == 0 {
		return r
	}
	s, ok := object(a.Stdout)
	if !ok {
		r.By = ByText
		return r.void("stdout is no JSON object")
	}
	r.By = ByJSON
	if string(s["v"]) != "1" {
		return r.void("the answer has no v 1, so the plugin leaves it")
	}
	for _, key := range s.lost("v", "do", "text", "reply", "message", "append", "args", "result", "abort") {
		r.fault("there is no %q; it is ignored", key)
	}
	v := &r.Verdict
	if text, has, _ := s.text("append"); has {
		v.Contexts = []string{text}
	}
	v.StopTurn, _, _ = s.flag("abort")
	v.UpdatedInput, v.UpdatedOutput = s["args"], s["result"]
	what, _, _ := s.text("do")
	reply, _, _ := s.text("reply")
	switch {
	case what == "refuse" || what == "continue":
		r.Decision = event.Deny
		r.Reason, _, _ = s.text("text")
	case what == "reject", what == "reply" && reply == "reject":
		r.Decision = event.Deny
		r.Reason, _, _ = s.text("message")
		v.Interrupt = r.Reason == ""
	case what == "reply" && reply == "once":
		r.Decision = event.Allow
	case what != "":
		r.fault("the plugin does not know what to do with %q", what)
	}
	if what == "continue" && row.Name != event.Stop && row.Name != event.SubagentStop {
		r.Decision = event.None
		r.fault("there is no turn to continue at %s", row.Native)
	}
	return r
}
