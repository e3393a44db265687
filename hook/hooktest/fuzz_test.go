package hooktest

import (
	"slices"
	"testing"

	"github.com/lidguard-go/lidguard/hook"
)

// Whatever comes on standard input, under whatever name, for whatever client: the
// answer is one that the client takes, and a gate lets no call pass that it could
// not read.
func FuzzRun(f *testing.F) {
	for i, client := range []Client{Claude, Codex, Copilot, OpenCode} {
		for _, p := range client.All() {
			f.Add(i, p.Native, p.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, client int, native string, payload []byte) {
		provider := hook.Providers()[uint(client)%4]
		p := Payload{Name: "fuzzed", Provider: provider, Native: native, body: slices.Clone(payload)}
		_, err := hook.Decode(provider, p.body, native, nil)
		for _, role := range []hook.Role{hook.Gate, hook.Helper, hook.Observer} {
			c := contract{opts: []hook.Option{role}, role: role, fault: t.Errorf}
			c.check(everything, p, err == nil)
		}
	})
}
