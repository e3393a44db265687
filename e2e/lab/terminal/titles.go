//go:build linux

package terminal

import "bytes"

// titles takes operating system commands (OSC, such as the window's title) with
// other than ASCII bytes out of a client's output. The emulator takes the byte
// 0x9c for the end of one, as terminals of eight bits did, though it may be
// part of a letter, and would print the rest of Claude's title on the screen.
type titles struct {
	held []byte // from the ESC of a command that has not ended yet
}

// The longest command that is waited for; what is longer is let through.
const maxCommand = 1 << 16

// filter returns what of output is to be shown, holding back an unfinished
// command until its end comes.
func (f *titles) filter(output []byte) []byte {
	data := append(f.held, output...)
	f.held = nil
	var shown []byte
	for {
		start := bytes.IndexByte(data, 0x1b)
		if start < 0 {
			return append(shown, data...)
		}
		shown, data = append(shown, data[:start]...), data[start:]
		if len(data) == 1 {
			f.held = bytes.Clone(data)
			return shown
		}
		if data[1] != ']' {
			shown, data = append(shown, data[:1]...), data[1:]
			continue
		}
		end := commandEnd(data)
		if end < 0 && len(data) < maxCommand {
			f.held = bytes.Clone(data)
			return shown
		}
		if end < 0 {
			end = len(data)
		}
		if isASCII(data[:end]) {
			shown = append(shown, data[:end]...)
		}
		data = data[end:]
	}
}

// commandEnd is the length of the command that data begins with, or -1.
func commandEnd(data []byte) int {
	bell, st := bytes.IndexByte(data, 0x07), bytes.Index(data[2:], []byte("\x1b\\"))
	switch {
	case st >= 0 && (bell < 0 || st+2 < bell):
		return st + 4
	case bell >= 0:
		return bell + 1
	}
	return -1
}

func isASCII(data []byte) bool {
	for _, b := range data {
		if b >= 0x80 {
			return false
		}
	}
	return true
}
