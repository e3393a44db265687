package ipc

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// MaxHookLog bounds one provider's hook-event log in bytes; its predecessor
// (".1") may be as large again. At some 200 bytes a line that is more than a
// thousand events each.
const MaxHookLog = 256 << 10

// maxHookText bounds one text of a logged event in bytes. Clients choose ids and names,
// and a line beyond the log's bound would hide what is before it.
const maxHookText = 4 << 10

// AppendHookLog adds one line to the hook-event log at path and keeps it bounded.
// The runtime writes there, and hooks that find no runtime; each line goes out in
// one append to a file opened for it, so that writers never mix. Only who holds the
// lock beside the log turns it over, and nobody waits for that lock: meanwhile the
// others write on, so the bound may be passed by a line each. Where the log cannot
// be turned over, as on Windows while somebody reads it, it may grow to twice its
// bound, and then lines are dropped.
func AppendHookLog(path string, h *HookEvent) error {
	e := *h
	e.Event, e.Session, e.Tool = clipped(e.Event), clipped(e.Session), clipped(e.Tool)
	e.Prompt, e.Answer, e.Error = clipped(e.Prompt), clipped(e.Answer), clipped(e.Error)
	line := append(AppendHookEvent(make([]byte, 0, 512), &e), '\n')
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
		if err := turnOver(path, info); err != nil && size > 2*MaxHookLog {
			return err
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

// clipped is text, cut to maxHookText, with dots in place of what is left out.
func clipped[T ~string](text T) T {
	if len(text) <= maxHookText {
		return text
	}
	return T(strings.ToValidUTF8(string(text[:maxHookText]), "")) + "..."
}

// turnOver makes the full log its own predecessor, unless somebody else does or did.
func turnOver(path string, full os.FileInfo) error {
	lock := flock.New(path + ".lock")
	if mine, err := lock.TryLock(); err != nil || !mine {
		return err
	}
	defer lock.Close()
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(full, now) {
		return err
	}
	return os.Rename(path, path+".1")
}

func openHookLog(path string) (*os.File, os.FileInfo, error) {
	f, err := smallfile.Open(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
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
