package event

import "encoding/json"

// Decision is what a policy wants to happen. The order is the merge order:
// deny beats ask beats allow beats nothing.
type Decision int

// The decisions. None prints nothing and leaves the client's own flow alone.
const (
	None Decision = iota
	Allow
	Ask
	Deny
)

// String names the decision in lower case.
func (d Decision) String() string {
	return [...]string{"none", "allow", "ask", "deny"}[d]
}

// Verdict is the merged answer of the policy chain to one Event. The zero value
// decides nothing. Codecs translate it into one client's dialect, or into
// silence where that client has no words for it.
type Verdict struct {
	Decision Decision
	// Reason is written for the model (deny, block) or the person (ask). On
	// Stop events Deny means "go on working" and Reason says with what.
	Reason string
	Policy string // name of the policy that decided, for logs and `why`
	Rule   string // id of the rule that decided, if any

	// Interrupt ends the turn with the denial where the client can do that.
	Interrupt bool

	Contexts      []string        // texts added to the model's context, in order
	UpdatedInput  json.RawMessage // a rewritten tool input; nil keeps the original
	UpdatedOutput json.RawMessage // a rewritten tool response, in the tool's own shape
	Permissions   json.RawMessage // PermissionRequest: rules to store (Claude only)
	SystemMessage string          // shown to the person where the client can
	StopTurn      bool            // end the turn (continue:false)
	StopReason    string

	ElicitAction  string // Elicitation: accept, decline or cancel
	ElicitContent json.RawMessage

	SessionTitle     string
	WatchPaths       []string
	TerminalSequence string
}

// IsZero reports whether the verdict says nothing at all.
func (v Verdict) IsZero() bool {
	return v.Decision == None && v.Reason == "" && len(v.Contexts) == 0 && v.UpdatedInput == nil &&
		v.UpdatedOutput == nil && v.Permissions == nil && v.SystemMessage == "" && !v.StopTurn &&
		v.ElicitAction == "" && v.SessionTitle == "" && len(v.WatchPaths) == 0 && v.TerminalSequence == ""
}

// Output is what a hook process gives back to its client. The zero value is
// "exit 0, nothing printed".
type Output struct {
	Stdout []byte
	Stderr []byte
	Code   int
}
