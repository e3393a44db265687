package entry

import "github.com/lidguard-go/lidguard/internal/policy"

// handlers is the chain that judges every event of every client.
func (h *hook) handlers() []policy.Handler {
	return nil
}
