package lasting

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LoginAgent is the file by which macOS runs `lidguard keeper --login` once at
// each login: after a power failure no keeper is left, and the changed values
// outlive the reboot. launchd.plist(5); files of that folder are loaded at login
// without further ado. Linux has no lasting values and needs none of this.
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

// Install writes the file and reports whether it was otherwise before. A file
// without our mark is left alone.
func (a LoginAgent) Install() (changed bool, err error) {
	before, err := a.ours()
	if err != nil || bytes.Equal(before, a.Text()) {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(a.Path()), 0o755); err != nil {
		return false, err
	}
	return true, replace(a.Path(), a.Text())
}

// Remove deletes the file if it is ours, and reports whether there was one.
func (a LoginAgent) Remove() (removed bool, err error) {
	before, err := a.ours()
	if err != nil || before == nil {
		return false, err
	}
	return true, os.Remove(a.Path())
}

// ours reads the file: nil where there is none, an error where it is another's.
func (a LoginAgent) ours() ([]byte, error) {
	data, err := os.ReadFile(a.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !bytes.Contains(data, []byte(loginMark)):
		err = fmt.Errorf("%s was not written by lidguard, and is left alone", a.Path())
	}
	return data, err
}
