// Package e2e tells lidguard's stories with everything real but the model and
// the hardware: the binaries built from the checkout, the published clients,
// and a laptop whose logind is Debian's own. It sees lidguard from outside
// only and imports nothing of internal/. README.md says how to add a story.
package e2e
