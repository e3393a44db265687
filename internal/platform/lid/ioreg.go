package lid

import (
	"bytes"
	"context"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// ioregPath and ioregArgs ask the I/O registry of macOS for the one entry that
// knows the lid, IOPMrootDomain. ioreg(8): -r roots the output at entries with
// the property -k, -d bounds the depth.
const ioregPath = "/usr/sbin/ioreg"

func ioregArgs() []string { return []string{"-r", "-k", "AppleClamshellState", "-d", "4"} }

// ReadIoreg asks macOS for the lid. It takes some ten milliseconds of a
// processor, and nothing tells of changes: who wants to know asks again.
func ReadIoreg(ctx context.Context, run command.Runner) Reading {
	out, err := run.Output(ctx, ioregPath, ioregArgs()...)
	if err != nil {
		return Reading{Why: err.Error()}
	}
	return parseIoreg(out)
}

// parseIoreg looks for
//
//	|   "AppleClamshellState" = No
//
// which is Yes while the lid is shut. A Mac without a lid has no such property,
// and then ioreg prints nothing.
func parseIoreg(out []byte) Reading {
	r := Reading{Source: "ioreg", Presence: Absent, Why: "this Mac has no lid"}
	for line := range bytes.Lines(out) {
		name, value, ok := bytes.Cut(bytes.Trim(line, " |\t\r\n"), []byte(" = "))
		if !ok || string(name) != `"AppleClamshellState"` {
			continue
		}
		var state State
		switch string(value) {
		case "Yes":
			state = Closed
		case "No":
			state = Open
		}
		if state == Unknown || r.State != Unknown && r.State != state {
			return Reading{Source: "ioreg", Presence: Present, Why: "ioreg gives no clear answer for AppleClamshellState"}
		}
		r = Reading{State: state, Presence: Present, Source: "ioreg"}
	}
	return r
}
