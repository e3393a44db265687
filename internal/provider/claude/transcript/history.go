package transcript

import (
	"encoding/json"

	"github.com/lidguard-go/lidguard/internal/event"
)

// History is what one line tells of the conversation: prompts, answers, calls and
// their results (contract §8). Lines that the client wrote for itself, and lines
// that are no JSON, tell nothing.
func History(line []byte) []event.Item {
	var r struct {
		Type      string `json:"type"`
		Meta      bool   `json:"isMeta"`
		Sidechain bool   `json:"isSidechain"`
		Agent     string `json:"agentId"`
		Compact   bool   `json:"isCompactSummary"`
		Message   struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &r) != nil || r.Meta || r.Compact || r.Type != "user" && r.Type != "assistant" {
		return nil
	}
	if r.Sidechain && r.Agent == "" {
		r.Agent = "?"
	}
	kind := event.ItemPrompt
	if r.Type == "assistant" {
		kind = event.ItemSaid
	}
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		return []event.Item{{Kind: kind, Text: text, Agent: r.Agent}}
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		ID      string          `json:"id"`
		Input   json.RawMessage `json:"input"`
		UseID   string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	if json.Unmarshal(r.Message.Content, &blocks) != nil {
		return nil
	}
	var items []event.Item
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if b.Text != markerStream && b.Text != markerTool {
				items = append(items, event.Item{Kind: kind, Text: b.Text, Agent: r.Agent})
			}
		case "tool_use":
			items = append(items, event.Item{Kind: event.ItemCall, Tool: b.Name, Input: b.Input, CallID: b.ID, Agent: r.Agent})
		case "tool_result":
			items = append(items, event.Item{Kind: event.ItemResult, Text: plainText(b.Content), CallID: b.UseID, Failed: b.IsError, Agent: r.Agent})
		}
	}
	return items
}

// plainText is a result's content, which is a text or a list of blocks.
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
