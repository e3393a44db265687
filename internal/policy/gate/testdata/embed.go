// Package testdata is the gate's corpus for those who prove a whole hook with it:
// effects has the verdict in front of each command, harmless is a day's work that
// must pass. Nothing that runs at an agent's side may import it.
package testdata

import "embed"

// Corpus holds effects/*.txt and harmless/*.txt.
//
//go:embed effects harmless
var Corpus embed.FS
