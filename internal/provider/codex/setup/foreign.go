package setup

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// TrustKey is the name under which Codex remembers its trust in the handler at a
// place of a hooks file, whoever wrote that: index of the group under the event,
// index of the handler in the group (§6).
func TrustKey(file, event string, group, index int) string {
	return Setup{Root: filepath.Dir(file)}.trustKey(file, event, group, index)
}

// TrustHash is the hash under which a command handler is trusted. handler is the
// entry as JSON; the formula is known for the type command only.
func TrustHash(event string, matcher *string, handler json.RawMessage) (string, error) {
	var h wireHandler
	if err := json.Unmarshal(handler, &h); err != nil {
		return "", fmt.Errorf("reading a handler of %s: %w", event, err)
	}
	return trustHash(event, h, matcher), nil
}
