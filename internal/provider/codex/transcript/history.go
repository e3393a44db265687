package transcript

import (
	"encoding/json"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
)

// History is what one line tells of the conversation: prompts, answers, calls and
// their results (contract §5, items of event_msg and response_item). Lines that the
// client wrote for itself, and lines that are no JSON, tell nothing.
func History(line []byte) []event.Item {
	var r struct {
		Type    string `json:"type"`
		Payload struct {
			Type      string          `json:"type"`
			Name      string          `json:"name"`
			Namespace string          `json:"namespace"`
			Arguments json.RawMessage `json:"arguments"`
			Input     json.RawMessage `json:"input"`
			CallID    string          `json:"call_id"`
			Output    json.RawMessage `json:"output"`
			Item      struct {
				Type    string          `json:"type"`
				Content json.RawMessage `json:"content"`
			} `json:"item"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &r) != nil {
		return nil
	}
	p := &r.Payload
	switch {
	case r.Type == "event_msg" && p.Type == "item_completed" && p.Item.Type == "UserMessage":
		return []event.Item{{Kind: event.ItemPrompt, Text: plainText(p.Item.Content)}}
	case r.Type == "event_msg" && p.Type == "item_completed" && p.Item.Type == "AgentMessage":
		return []event.Item{{Kind: event.ItemSaid, Text: plainText(p.Item.Content)}}
	case r.Type != "response_item":
		return nil
	}
	switch p.Type {
	case "function_call", "custom_tool_call":
		call := event.Item{Kind: event.ItemCall, Tool: p.Name, CallID: p.CallID, Input: p.Input}
		if p.Namespace != "" {
			call.Tool = p.Namespace + "__" + p.Name
		}
		// Arguments are JSON in a text; a custom tool's input is the bare text.
		var text string
		if json.Unmarshal(p.Arguments, &text) == nil && json.Valid([]byte(text)) {
			call.Input = json.RawMessage(text)
		}
		return []event.Item{call}
	case "function_call_output", "custom_tool_call_output":
		text := plainText(p.Output)
		return []event.Item{{Kind: event.ItemResult, Text: text, CallID: p.CallID, Failed: failed(text)}}
	}
	return nil
}

// plainText is a content, which is a text or a list of blocks.
func plainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		text += b.Text
	}
	return text
}

// failed reads the exit code that the client writes into the first lines of a
// command's output.
func failed(output string) bool {
	head, _, _ := strings.Cut(output, "Output:")
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		for _, label := range [...]string{"Exit code: ", "Process exited with code "} {
			if code, ok := strings.CutPrefix(line, label); ok {
				return code != "0"
			}
		}
	}
	return false
}
