package ipc

import (
	"runtime/debug"

	"golang.org/x/mod/semver"
)

// linkedVersion overrides the version of the build info; packagers set it with
// -ldflags "-X github.com/lidguard-go/lidguard/internal/ipc.linkedVersion=v1.2.3".
var linkedVersion string

// Version is this program's version: the linked one, else the module version of
// the build info, else "devel" with the revision where it is known.
func Version() string {
	if linkedVersion != "" {
		return linkedVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return VersionOf(info)
}

// VersionOf is Version for a build info that was read from a program's file; a
// linked version does not show in it.
func VersionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	v := "devel"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			v += "-" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			v += "+dirty"
		}
	}
	return v
}

// Newer reports whether version a is newer than b. Versions that are no semantic
// versions ("devel") are never newer than anything: two builds of a working tree
// cannot be ordered, and replacing a running runtime on a guess would make two
// checkouts take turns.
func Newer(a, b string) bool {
	return semver.IsValid(a) && semver.IsValid(b) && semver.Compare(a, b) > 0
}
