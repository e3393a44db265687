package telemetry

import (
	"encoding/json"
	"strconv"
	"time"
)

// AppendJSON appends r as JSON to dst, without a newline. It is written by hand
// since a hook encodes one record in its life, and encoding/json would compile the
// type for it first; TestRecord_isItsJSON holds it to the field tags.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, r.ID)
	dst = append(dst, `,"time":"`...)
	dst = r.Time.AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","event":`...)
	dst = appendString(dst, r.Event)
	dst = append(dst, `,"privacy":`...)
	dst = appendString(dst, string(r.Privacy))
	dst = append(dst, `,"provider":`...)
	dst = appendString(dst, r.Provider)
	dst = append(dst, `,"session":`...)
	dst = appendString(dst, r.Session)
	for _, f := range [...]struct{ name, value string }{
		{"provider_name", r.ProviderName}, {"turn", r.Turn}, {"agent", r.Agent}, {"tool_use", r.ToolUse}, {"decision", r.Decision},
		{"native", r.Native}, {"tool", r.Tool}, {"mcp_server", r.MCPServer}, {"agent_type", r.AgentType}, {"model", r.Model},
		{"permission_mode", r.Mode}, {"cwd", r.Cwd}, {"path", r.Path}, {"source", r.Source}, {"reason", r.Reason},
		{"trigger", r.Trigger}, {"notification", r.Note}, {"policy", r.Policy}, {"rule", r.Rule},
	} {
		dst = appendField(dst, f.name, f.value)
	}
	for _, f := range [...]struct {
		name  string
		value int
	}{{"prompt_bytes", r.PromptBytes}, {"input_bytes", r.InputBytes}, {"output_bytes", r.OutputBytes}} {
		if f.value != 0 {
			dst = append(append(append(dst, `,"`...), f.name...), `":`...)
			dst = strconv.AppendInt(dst, int64(f.value), 10)
		}
	}
	if r.Failed {
		dst = append(dst, `,"failed":true`...)
	}
	for _, f := range [...]struct{ name, value string }{
		{"prompt", r.Prompt}, {"input", r.Input}, {"output", r.Output}, {"error", r.Error}, {"message", r.Message}, {"why", r.Why},
	} {
		dst = appendField(dst, f.name, f.value)
	}
	if r.Cut {
		dst = append(dst, `,"cut":true`...)
	}
	return append(dst, '}')
}

func appendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return appendString(dst, value)
}

// appendString appends s as a JSON string, as encoding/json writes it.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				return append(dst, `""`...) // a string always marshals
			}
			return append(dst, text...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
