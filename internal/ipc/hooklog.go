package ipc

import (
	"os"
	"path/filepath"
)

// MaxHookLog bounds one provider's hook-event log in bytes; its predecessor
// (".1") may be as large again. At some 200 bytes a line that is more than a
// thousand events each.
const MaxHookLog = 256 << 10

// AppendHookLog adds one line to the hook-event log at path and keeps it bounded.
// The runtime writes there, and hooks that find no runtime; each line goes out in
// one append to a file opened for it, so that writers never mix and nobody writes
// into a file that another has turned over. Two that turn it over at the very same
// moment may lose the older file, which a diagnostic log can bear. Where it cannot be turned
// over, as on Windows while somebody reads it, it may grow to twice its bound, and
// then lines are dropped.
func AppendHookLog(path string, h *HookEvent) error {
	line := append(AppendHookEvent(make([]byte, 0, 512), h), '\n')
	f, info, err := openHookLog(path)
	if os.IsNotExist(err) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		f, info, err = openHookLog(path)
	}
	if err != nil {
		return err
	}
	if size := info.Size() + int64(len(line)); size > MaxHookLog {
		f.Close()
		// Somebody else may have turned it over since it was opened.
		if now, err := os.Stat(path); err == nil && os.SameFile(info, now) {
			if err := os.Rename(path, path+".1"); err != nil && !os.IsNotExist(err) && size > 2*MaxHookLog {
				return err
			}
		}
		if f, _, err = openHookLog(path); err != nil {
			return err
		}
	}
	_, err = f.Write(line)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func openHookLog(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
