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
// The runtime writes there, and a hook that finds no runtime; the line goes out
// in one append, so that two writers never mix. Two that rotate at once may drop
// an old file, which a diagnostic log can bear.
func AppendHookLog(path string, h *HookEvent) error {
	line := append(AppendHookEvent(make([]byte, 0, 512), h), '\n')
	open := func() (*os.File, error) {
		return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	}
	f, err := open()
	if os.IsNotExist(err) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		f, err = open()
	}
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Size()+int64(len(line)) > MaxHookLog {
		f.Close()
		if err := os.Rename(path, path+".1"); err != nil && !os.IsNotExist(err) {
			return err
		}
		if f, err = open(); err != nil {
			return err
		}
	}
	_, err = f.Write(line)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
