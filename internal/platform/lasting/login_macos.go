package lasting

import (
	"bytes"
	"encoding/xml"
	"path/filepath"
)

// LoginAgent is the file by which macOS runs `lidguard keeper --login` once at
// each login: after a power failure no keeper is left, and the changed values
// outlive the reboot. launchd.plist(5); files of that folder are loaded at login
// without further ado. Linux has no lasting values and needs none of this. Whoever
// writes or deletes the file leaves another's alone: see Ours.
type LoginAgent struct {
	Home    string // the user's home folder
	Program string // absolute path of lidguard
	// LidguardHome is LIDGUARD_HOME where it is set, since launchd passes on no
	// variables of a shell.
	LidguardHome string
}

const (
	loginLabel = "io.github.lidguard-go.restore"
	loginMark  = "<!-- lidguard: written by `lidguard setup`, deleted by `lidguard uninstall` -->"
)

// Path is the file's.
func (a LoginAgent) Path() string {
	return filepath.Join(a.Home, "Library", "LaunchAgents", loginLabel+".plist")
}

// Text is the file.
func (a LoginAgent) Text() []byte {
	var b bytes.Buffer
	str := func(indent, s string) {
		b.WriteString(indent + "<string>")
		_ = xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
		b.WriteString("</string>\n")
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
` + loginMark + `
<plist version="1.0">
<dict>
	<key>Label</key>
`)
	str("\t", loginLabel)
	b.WriteString("\t<key>ProgramArguments</key>\n\t<array>\n")
	for _, word := range []string{a.Program, "keeper", "--login"} {
		str("\t\t", word)
	}
	b.WriteString("\t</array>\n")
	if a.LidguardHome != "" {
		b.WriteString("\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>LIDGUARD_HOME</key>\n")
		str("\t\t", a.LidguardHome)
		b.WriteString("\t</dict>\n")
	}
	b.WriteString("\t<key>RunAtLoad</key>\n\t<true/>\n\t<key>ProcessType</key>\n\t<string>Background</string>\n</dict>\n</plist>\n")
	return b.Bytes()
}

// Ours reports whether a file's content was written by lidguard.
func (a LoginAgent) Ours(data []byte) bool { return bytes.Contains(data, []byte(loginMark)) }
