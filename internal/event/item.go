package event

import "encoding/json"

// ItemKind is what an Item of a session's history is.
type ItemKind string

// The kinds of items.
const (
	ItemPrompt ItemKind = "prompt" // a person typed Text
	ItemSaid   ItemKind = "said"   // the assistant answered Text
	ItemCall   ItemKind = "call"   // the assistant called Tool with Input
	ItemResult ItemKind = "result" // that call gave Text, or Failed
)

// Item is one thing that a session's transcript tells of its conversation, in the
// order in which it happened.
type Item struct {
	Kind   ItemKind
	Text   string
	Tool   string
	Input  json.RawMessage
	CallID string // pairs a result with its call
	Failed bool
	Agent  string // the subagent's id, "" for the session's own
}
