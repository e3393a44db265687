package transcript

import (
	"encoding/json"

	"github.com/lidguard-go/lidguard/internal/event"
)

// History is what one line tells of the conversation: prompts, answers, calls and
// their results (contract §5). Lines that the client wrote for itself, and lines
// that are no JSON, tell nothing.
func History(line []byte) []event.Item {
	var r struct {
		Type  string `json:"type"`
		Agent string `json:"agentId"`
		Data  struct {
			Content   string          `json:"content"`
			CallID    string          `json:"toolCallId"`
			Tool      string          `json:"toolName"`
			Arguments json.RawMessage `json:"arguments"`
			Success   *bool           `json:"success"`
			Error     struct {
				Message string `json:"message"`
			} `json:"error"`
			Result struct {
				Content string `json:"content"`
			} `json:"result"`
		} `json:"data"`
	}
	if json.Unmarshal(line, &r) != nil {
		return nil
	}
	d := &r.Data
	switch r.Type {
	case "user.message":
		return []event.Item{{Kind: event.ItemPrompt, Text: d.Content, Agent: r.Agent}}
	case "assistant.message":
		if d.Content == "" {
			return nil // it only calls tools
		}
		return []event.Item{{Kind: event.ItemSaid, Text: d.Content, Agent: r.Agent}}
	case "tool.execution_start":
		return []event.Item{{Kind: event.ItemCall, Tool: d.Tool, Input: d.Arguments, CallID: d.CallID, Agent: r.Agent}}
	case "tool.execution_complete":
		text := d.Result.Content
		if text == "" {
			text = d.Error.Message
		}
		return []event.Item{{Kind: event.ItemResult, Text: text, CallID: d.CallID, Failed: d.Success != nil && !*d.Success, Agent: r.Agent}}
	}
	return nil
}
