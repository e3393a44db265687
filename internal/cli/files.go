package cli

import (
	"debug/buildinfo"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// exists reports whether there is something at path; a dangling link counts.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// noSocket says what is at path in place of a socket; "" where one is, or nothing.
func noSocket(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	switch t := info.Mode().Type(); {
	case t == fs.ModeSocket || t&fs.ModeIrregular != 0: // a named pipe of Windows is the latter
		return ""
	case t.IsRegular():
		return "a file"
	case t.IsDir():
		return "a folder"
	case t == fs.ModeSymlink:
		return "a link"
	}
	return "something else"
}

// runFolder says what is wrong with the socket's folder, about which a call
// complained with err.
func runFolder(path string, err error) (fs.FileMode, doctor.RunOdd) {
	info, statErr := os.Lstat(path)
	switch {
	case statErr != nil:
		return 0, ""
	case !info.IsDir():
		return info.Mode(), doctor.RunIsOther
	case errors.Is(err, ipc.ErrTheirs):
		return info.Mode(), doctor.RunIsTheirs
	case info.Mode().Perm() != 0o700:
		return info.Mode(), doctor.RunIsOpen
	}
	return info.Mode(), ""
}

// shutFolder is the folder on the way to path that may not be entered; "" if none
// is in the way.
func shutFolder(path string) string {
	for {
		_, err := os.Lstat(path)
		above := filepath.Dir(path)
		if err == nil || above == path {
			return ""
		}
		if _, err := os.Lstat(above); err == nil {
			return above
		}
		path = above
	}
}

// stuckFolder is the folder in which path, or a file in it, cannot be made, with the
// reason; "" if none is in the way.
func stuckFolder(path string) (string, error) {
	for !exists(path) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
	}
	if err := paths.MayWrite(path); err != nil {
		return path, err
	}
	return "", nil
}

// hookBinary finds the thin hook program beside this one and reads its version
// from the file, without running it.
func (a *app) hookBinary() (path, version string) {
	if a.Executable == "" {
		return "", ""
	}
	name := "lidguard-hook"
	if a.GOOS == "windows" {
		name += ".exe"
	}
	path = filepath.Join(filepath.Dir(a.Executable), name)
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return "", ""
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return path, ""
	}
	version = ipc.VersionOf(info)
	if own, ok := debug.ReadBuildInfo(); ok && version == ipc.VersionOf(own) {
		version = a.Version // a version linked in by a packager does not show in files
	}
	return path, version
}

// absolute makes a path that a person typed independent of the current folder.
func (a *app) absolute(path string) string {
	if filepath.IsAbs(path) || a.WorkDir == "" {
		return path
	}
	return filepath.Join(a.WorkDir, path)
}

// same reports whether two paths are one file.
func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
