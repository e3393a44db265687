package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// Page is docs/losses.md.
func Page() string {
	var b strings.Builder
	b.WriteString(`# What a client cannot carry

Written from the tables in ` + "`internal/build` (`go test ./internal/build -update`)" + `.

A rule is written once and holds on every client, as far as the client has words for it. ` + "`lidguard hooks build`" + ` tells which of your packs, rules and handlers lose what, and what happens instead; this page is all it can tell. A test encodes each verdict by the real codecs: what is listed here they do not carry, and what they do not carry is listed here.

A pack in audit mode and a handler that observes say nothing, and lose nothing.
`)
	for _, p := range census.Providers() {
		client, _ := census.Of(p)
		fmt.Fprintf(&b, "\n## %s\n\n| what is said | at | what happens instead |\n| --- | --- | --- |\n", client.Title)
		for _, l := range Losses() {
			if l.Provider == p {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", l.Field, joined(l.Events), l.Instead)
			}
		}
		b.WriteString("\n| packs | limit |\n| --- | --- |\n")
		for _, l := range Limits() {
			if l.Provider == p {
				fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(l.Packs, ", "), l.Text)
			}
		}
		var untold []event.Name
		for _, name := range Tells(event.Claude) {
			if !slices.Contains(Tells(p), name) {
				untold = append(untold, name)
			}
		}
		if untold != nil {
			fmt.Fprintf(&b, "\nEvents of Claude Code that it does not tell, so that a handler or rule for them is never called: %s.\n", joined(untold))
		}
	}
	return b.String()
}

func joined(names []event.Name) string {
	var list []string
	for _, n := range names {
		list = append(list, string(n))
	}
	return strings.Join(list, ", ")
}
