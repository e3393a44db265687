package confedit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func write(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // past the umask
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// names lists what is in a folder.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// installing and removing are what a caller does with one hook.
func installing(mode Mode, value any) func(*File) (Draft, error) {
	return func(f *File) (Draft, error) {
		d, err := ParseJSON(f.Bytes(), mode)
		if err != nil {
			return Draft{}, err
		}
		if err := (jsonEdit{path: Path{"hooks", "Stop"}, value: value}).install(d); err != nil {
			return Draft{}, err
		}
		return d.Draft(), nil
	}
}

func removing(mode Mode, value any) func(*File, []Path) (Draft, error) {
	return func(f *File, created []Path) (Draft, error) {
		d, err := ParseJSON(f.Bytes(), mode)
		if err != nil {
			return Draft{}, err
		}
		e := jsonEdit{path: Path{"hooks", "Stop"}, value: value}
		if e.find(d) >= 0 {
			if err := e.remove(d); err != nil {
				return Draft{}, err
			}
		}
		if err := d.Prune(created...); err != nil {
			return Draft{}, err
		}
		return d.Draft(), nil
	}
}

// keep sends the record through JSON, as callers do.
func keep(t testing.TB, u Undo) *Undo {
	t.Helper()
	data, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	var back Undo
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

func TestUpdate_writesOnceAndRevertsExactly(t *testing.T) {
	const before = "{\r\n\t\"hooks\": {\r\n\t}\r\n}"
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	write(t, path, before, 0o640)
	ctx := t.Context()

	res, err := Update(ctx, path, Options{Now: noon}, installing(Strict, ours))
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(dir, "settings.json.lidguard-backup-20260301-120000")
	if !res.Changed || res.Backup != backup || string(res.Before) != before || string(res.After) != read(t, path) {
		t.Errorf("Result = %+v", res)
	}
	if got := read(t, backup); got != before {
		t.Errorf("backup holds %q", got)
	}
	if want := []string{"settings.json", filepath.Base(backup)}; !slices.Equal(names(t, dir), want) {
		t.Errorf("folder holds %q, want %q", names(t, dir), want)
	}
	for _, name := range []string{path, backup} {
		if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("mode of %s: %v, %v, want 0640", name, info.Mode(), err)
		}
	}

	undo := keep(t, res.Undo)
	installed, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Update(ctx, path, Options{Now: noon.Add(time.Hour), Previous: undo}, installing(Strict, ours))
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := os.Stat(path); again.Changed || again.Backup != "" || !os.SameFile(installed, now) || !now.ModTime().Equal(installed.ModTime()) {
		t.Errorf("the second install wrote: %+v", again)
	}
	if again.Undo.Post != undo.Post || len(again.Undo.Created) != len(undo.Created) {
		t.Errorf("the second install forgot the first: %+v, want %+v", again.Undo, undo)
	}

	// A newer version of ours follows; the way back still leads to the start.
	newer, err := Update(ctx, path, Options{Now: noon.Add(time.Hour), Previous: undo}, func(f *File) (Draft, error) {
		d, err := ParseJSON(f.Bytes(), Strict)
		if err != nil {
			return Draft{}, err
		}
		err = d.Set(Path{"hooks", "Stop", 0}, "newer")
		return d.Draft(), err
	})
	if err != nil || !newer.Changed || newer.Backup != "" {
		t.Fatalf("update over our own write: %+v, %v", newer, err)
	}
	gone, err := Revert(ctx, path, Options{Now: noon.Add(time.Hour)}, keep(t, newer.Undo), removing(Strict, "newer"))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != before || !gone.Changed {
		t.Errorf("after removal %q, want %q", got, before)
	}
	if want := []string{"settings.json", filepath.Base(backup)}; !slices.Equal(names(t, dir), want) {
		t.Errorf("folder holds %q, want %q", names(t, dir), want)
	}

	// And once more: the same original needs no second backup.
	res, err = Update(ctx, path, Options{Now: noon.Add(2 * time.Hour)}, installing(Strict, ours))
	if err != nil || res.Backup != backup {
		t.Errorf("reinstall: backup %q, %v, want %q", res.Backup, err, backup)
	}
}

func TestRevert_takesOnlyOursFromAnEditedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	write(t, path, "{}\n", 0o600)
	res, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours))
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(read(t, path), "{\n", "{\n  \"model\": \"new\",\n", 1)
	write(t, path, edited, 0o600)

	// An update of ours on top of a person's edit: that edit is the new
	// original, and the old backup is no way back any more.
	second, err := Update(t.Context(), path, Options{Now: noon.Add(time.Hour), Previous: keep(t, res.Undo)}, installing(Strict, "second"))
	if err != nil {
		t.Fatal(err)
	}
	if want := path + ".lidguard-backup-20260301-130000"; second.Backup != want || read(t, want) != edited {
		t.Errorf("backup %q, want %q", second.Backup, want)
	}
	gone, err := Revert(t.Context(), path, Options{Now: noon.Add(2 * time.Hour)}, keep(t, second.Undo), func(f *File, created []Path) (Draft, error) {
		draft, err := removing(Strict, "second")(f, nil)
		if err != nil {
			return draft, err
		}
		rest := *f
		rest.data = draft.Text
		return removing(Strict, ours)(&rest, created)
	})
	if err != nil || !gone.Changed {
		t.Fatal(gone, err)
	}
	if got, want := read(t, path), "{\n  \"model\": \"new\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUpdate_afterAPersonPutTheOriginalBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	write(t, path, "{\n}", 0o600)
	first, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "{\n}", 0o600)
	second, err := Update(t.Context(), path, Options{Now: noon.Add(time.Hour), Previous: &first.Undo}, installing(Strict, "new"))
	if err != nil || second.Backup != first.Backup {
		t.Errorf("backup %q, %v, want %q", second.Backup, err, first.Backup)
	}
	if u := second.Undo; u.Pre != first.Undo.Pre || u.Post != digestOf(second.After) || !u.Existed {
		t.Errorf("the way back is lost: %+v", u)
	}
}

func TestRevert_backupGoneOrAltered(t *testing.T) {
	for _, harm := range []func(string) error{os.Remove, func(name string) error { return os.WriteFile(name, []byte("{}"), 0o600) }} {
		path := filepath.Join(t.TempDir(), "s.json")
		write(t, path, "{\"a\": 1}", 0o600)
		res, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours))
		if err != nil {
			t.Fatal(err)
		}
		if err := harm(res.Backup); err != nil {
			t.Fatal(err)
		}
		if _, err := Revert(t.Context(), path, Options{Now: noon}, &res.Undo, removing(Strict, ours)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != "{\"a\": 1}" {
			t.Errorf("got %q", got)
		}
	}
}

func TestRevert_withoutRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	write(t, path, `{"hooks":{"Stop":[]}}`, 0o600)
	if _, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours)); err != nil {
		t.Fatal(err)
	}
	// The record is lost, a second install makes a new one over our entry.
	res, err := Update(t.Context(), path, Options{Now: noon.Add(time.Hour)}, installing(Strict, "second"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Revert(t.Context(), path, Options{Now: noon}, &res.Undo, removing(Strict, ours)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != `{"hooks":{"Stop":[]}}` {
		t.Errorf("got %q", got)
	}
	if res, err := Revert(t.Context(), path, Options{Now: noon}, nil, removing(Strict, ours)); err != nil || res.Changed {
		t.Errorf("nothing to remove: %+v, %v", res, err)
	}
}

func TestUpdate_createsAndDeletesFileAndFolders(t *testing.T) {
	for _, edited := range []bool{false, true} {
		home := t.TempDir()
		path := filepath.Join(home, "a", "b", "hooks.json")
		res, err := Update(t.Context(), path, Options{}, installing(Strict, ours)) // no backup, so no clock needed
		if err != nil {
			t.Fatal(err)
		}
		if res.Backup != "" || res.Undo.Existed || len(res.Undo.Dirs) != 2 {
			t.Errorf("Result = %+v", res)
		}
		if runtime.GOOS != "windows" {
			for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
				if info, err := os.Stat(name); err != nil || info.Mode() != want {
					t.Errorf("mode of %s: %v, %v, want %v", name, info.Mode(), err, want)
				}
			}
		}
		undo := keep(t, res.Undo)
		if edited { // somebody reformats it; still nothing of theirs is in it
			write(t, path, strings.ReplaceAll(read(t, path), "  ", "\t"), 0o600)
		}
		gone, err := Revert(t.Context(), path, Options{Now: noon}, undo, removing(Strict, ours))
		if err != nil || !gone.Changed || gone.After != nil {
			t.Fatalf("Revert = %+v, %v", gone, err)
		}
		left := names(t, home)
		if edited { // their version was backed up beside it
			left = names(t, filepath.Join(home, "a", "b"))
			if len(left) != 1 || !strings.HasPrefix(left[0], "hooks.json.lidguard-backup-") {
				t.Errorf("left: %q", left)
			}
		} else if len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

func TestRevert_keepsACreatedFileSomebodyElseUses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	res, err := Update(t.Context(), path, Options{}, installing(Strict, ours))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(read(t, path), "{\n", "{\n  \"theirs\": 1,\n", 1), 0o600)
	if _, err := Revert(t.Context(), path, Options{Now: noon}, &res.Undo, removing(Strict, ours)); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, path), "{\n  \"theirs\": 1\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUpdate_nothingToDoLeavesNoTrace(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "a", "s.json")
	res, err := Update(t.Context(), path, Options{}, func(f *File) (Draft, error) { return removing(Strict, ours)(f, nil) })
	if err != nil || res.Changed || len(names(t, home)) > 0 {
		t.Errorf("%+v, %v, %q", res, err, names(t, home))
	}
}

func TestUpdate_refusedFileIsUntouched(t *testing.T) {
	for _, text := range []string{"{ // c\n}", "{\"a\": ", "[]", "\xff\xfe{\x00}\x00", "{} trailing", "\x00"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.json")
		write(t, path, text, 0o600)
		_, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours))
		if syntax, ok := errors.AsType[*SyntaxError](err); !ok || syntax.Line != 1 || !strings.Contains(err.Error(), fmt.Sprintf("%q", path)) {
			t.Errorf("%q: got %v, want a *SyntaxError that names the file", text, err)
		}
		if got := read(t, path); got != text || len(names(t, dir)) != 1 {
			t.Errorf("%q became %q beside %q", text, got, names(t, dir))
		}
	}
}

func TestUpdate_modes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows knows no modes beyond read-only")
	}
	for _, mode := range []fs.FileMode{0o400, 0o600, 0o640, 0o644, 0o755, 0o666} {
		path := filepath.Join(t.TempDir(), "s.json")
		write(t, path, "{}", mode)
		res, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, res.Backup} {
			if info, err := os.Stat(name); err != nil || info.Mode() != mode {
				t.Errorf("mode of %s is %v, %v, want %v", name, info.Mode(), err, mode)
			}
		}
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("this Windows account may not create symlinks: %v", err)
		}
		t.Fatal(err)
	}
}

func TestUpdate_writesThroughSymlinks(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"dotfiles/claude", "dotfiles/real"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// .claude is itself a link, and the link inside counts from the real folder.
	symlink(t, filepath.Join(home, "dotfiles", "claude"), filepath.Join(home, ".claude"))
	link := filepath.Join(home, ".claude", "settings.json")
	symlink(t, filepath.Join("..", "real", "one.json"), link)
	target := filepath.Join(home, "dotfiles", "real", "one.json")

	for _, before := range []string{"", "{\"a\": 1}\n"} {
		if before != "" {
			write(t, target, before, 0o600)
		}
		res, err := Update(t.Context(), link, Options{Now: noon}, installing(Strict, ours))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, target); got != string(res.After) || got == before {
			t.Errorf("target holds %q, want %q", got, res.After)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", info, err)
		}
		if _, err := Revert(t.Context(), link, Options{Now: noon}, &res.Undo, removing(Strict, ours)); err != nil {
			t.Fatal(err)
		}
		if before == "" {
			if left := names(t, filepath.Dir(target)); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		} else if got := read(t, target); got != before {
			t.Errorf("after removal %q, want %q", got, before)
		}
	}
	// The backup lies beside the link, where a person looks for it.
	if want := []string{"settings.json", "settings.json.lidguard-backup-20260301-120000"}; !slices.Equal(names(t, filepath.Dir(link)), want) {
		t.Errorf("beside the link: %q, want %q", names(t, filepath.Dir(link)), want)
	}
}

func TestOpen_refuses(t *testing.T) {
	dir := t.TempDir()
	circle := filepath.Join(dir, "circle")
	symlink(t, circle, circle)
	big := filepath.Join(dir, "big")
	write(t, big, "", 0o600)
	if err := os.Truncate(big, MaxSize+1); err != nil {
		t.Fatal(err)
	}
	latin := filepath.Join(dir, "latin")
	write(t, latin, "{\n \"\xe9\": 1}", 0o600)
	below := filepath.Join(latin, "below")

	for _, tt := range []struct{ path, want string }{
		{"", "no file name given"},
		{dir, fmt.Sprintf("reading %q: it is not a regular file", dir)},
		{circle, fmt.Sprintf("resolving %q: its symlinks go in a circle", circle)},
		{big, fmt.Sprintf("reading %q: it has 16777217 bytes, more than the 16777216 a config file may have", big)},
		{latin, fmt.Sprintf("reading %q: line 2, column 3: the bytes here are not UTF-8", latin)},
	} {
		if _, err := Open(tt.path); err == nil || err.Error() != tt.want {
			t.Errorf("Open(%q):\n got %v\nwant %s", tt.path, err, tt.want)
		}
	}
	if _, err := Open(below); err == nil {
		t.Errorf("Open(%q): want an error", below)
	}
}

func TestFile_format(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	write(t, path, bom+"{\r\n}", 0o600)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Format(), (Format{BOM: true, EOL: "\r\n"}); got != want {
		t.Errorf("Format = %+v, want %+v", got, want)
	}
	if got, want := f.Digest(), digestOf([]byte(bom+"{\r\n}")); got != want || len(got) != len("sha256:")+64 {
		t.Errorf("Digest = %s, want %s", got, want)
	}
	if got, want := FormatOf([]byte("\n")), (Format{EOL: "\n", FinalNewline: true}); got != want {
		t.Errorf("Format = %+v, want %+v", got, want)
	}
}

func TestFile_writeNoticesOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	write(t, path, "{}", 0o600)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "{\"new\": 1}", 0o600)
	if _, err := f.Write(t.Context(), Draft{Text: []byte("{\"mine\": 1}")}, Options{Now: noon}); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	if got := read(t, path); got != "{\"new\": 1}" || len(names(t, dir)) != 1 {
		t.Errorf("%q beside %q", got, names(t, dir))
	}

	// Nor does a change get lost that comes after the first look.
	if err := f.replace([]byte("{\"mine\": 1}")); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	if got := read(t, path); got != "{\"new\": 1}" || len(names(t, dir)) != 1 {
		t.Errorf("%q beside %q", got, names(t, dir))
	}

	// Update comes back with what is there then.
	runs := 0
	res, err := Update(t.Context(), path, Options{Now: noon}, func(f *File) (Draft, error) {
		if runs++; runs == 1 {
			write(t, path, "{\"newer\": 1}", 0o600)
		}
		return installing(Strict, ours)(f)
	})
	if err != nil || runs != 2 || !bytes.Contains(res.After, []byte("newer")) {
		t.Errorf("%d runs, %v, %q", runs, err, res.After)
	}

	// A file that appears meanwhile is no less of a change.
	f, err = Open(filepath.Join(dir, "sub", "t.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, f.Path, "", 0o600)
	if _, err := f.Write(t.Context(), Draft{Text: []byte("{}")}, Options{}); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
}

func TestFile_writeNeedsAClockForBackups(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	write(t, path, "{}", 0o600)
	if _, err := Update(t.Context(), path, Options{}, installing(Strict, ours)); err == nil || read(t, path) != "{}" || len(names(t, dir)) != 1 {
		t.Errorf("got %v, file %q beside %q", err, read(t, path), names(t, dir))
	}
}

func TestFile_backupsOfOneSecond(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s[1].json")
	for i := range 3 {
		write(t, path, fmt.Sprintf("{\"n\": %d}", i), 0o600)
		if _, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours)); err != nil {
			t.Fatal(err)
		}
	}
	stem := "s[1].json.lidguard-backup-20260301-120000"
	if want := []string{"s[1].json", stem, stem + "-2", stem + "-3"}; !slices.Equal(names(t, dir), want) {
		t.Errorf("folder holds %q, want %q", names(t, dir), want)
	}
}

func TestFile_writeWaitsForTheLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	write(t, path, "{}", 0o600)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(t.Context(), f.Target)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.Write(ctx, Draft{Text: []byte("{ }")}, Options{Now: noon}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	unlock()
	if res, err := f.Write(t.Context(), Draft{Text: []byte("{ }")}, Options{Now: noon}); err != nil || !res.Changed {
		t.Errorf("after release: %+v, %v", res, err)
	}
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, "lock") || strings.HasSuffix(name, "tmp") {
			t.Errorf("%s was left behind", name)
		}
	}
}

func TestFile_nameTooLongForANeighbour(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 250))
	write(t, path, "{}", 0o600)
	if _, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours)); err == nil || read(t, path) != "{}" || len(names(t, dir)) != 1 {
		t.Errorf("got %v, file %q beside %q", err, read(t, path), names(t, dir))
	}
}

// Every write is told before anything is done for it, and a refusal keeps all as it is.
// What is told leads back from the content before the write and from that after it.
func TestUpdate_announcesEveryWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	write(t, path, "before", 0o600)
	told, first, backed := 0, "before", 0 // backups that are there when it is told
	var refusal error
	set := func(text string, previous *Undo) (Result, error) {
		now := read(t, path)
		opt := Options{Now: time.Unix(1, 0), Previous: previous, Announce: func(u Undo) error {
			told++
			if read(t, path) != now || len(names(t, dir)) != 1+backed || u.Pre != digestOf([]byte(first)) || u.Post != digestOf([]byte(text)) {
				t.Errorf("announced %+v with %q in the file beside %q", u, read(t, path), names(t, dir))
			}
			if previous != nil {
				for _, f := range []*File{{digest: digestOf([]byte(now))}, {digest: u.Post}} {
					if draft, ok := u.Restore(f); !ok || string(draft.Text) != first {
						t.Errorf("from %q it leads back to %q, %t", f.digest, draft.Text, ok)
					}
				}
			}
			return refusal
		}}
		return Update(t.Context(), path, opt, func(*File) (Draft, error) { return Draft{Text: []byte(text)}, nil })
	}
	refusal = errors.New("no record can be kept")
	if _, err := set("after", nil); !errors.Is(err, refusal) || len(names(t, dir)) != 1 {
		t.Errorf("error %v, files %q", err, names(t, dir))
	}
	refusal = nil
	res, err := set("after", nil)
	if err != nil {
		t.Fatal(err)
	}
	backed = 1
	if res, err = set("later", &res.Undo); err != nil || res.Undo.Was != "" {
		t.Fatalf("%+v %v", res.Undo, err)
	}
	if told != 3 {
		t.Errorf("told %d times, want 3", told)
	}
}

// A writer that was killed leaves its lock and its temporary file; the next write, and
// Tidy, remove them, and no other file.
func TestTidy_removesWhatTheKilledLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	litter := []string{".settings.json.lidguard-lock", ".settings.json.lidguard-123.tmp"}
	for _, tidy := range []func() error{
		func() error { return Tidy(t.Context(), path) },
		func() error {
			_, err := Update(t.Context(), path, Options{Now: time.Unix(1, 0)},
				func(*File) (Draft, error) { return Draft{Text: []byte("{}")}, nil })
			return err
		},
	} {
		for _, name := range append(litter, ".other.json.lidguard-123.tmp") {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := tidy(); err != nil {
			t.Fatal(err)
		}
		for _, name := range litter {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s is left", name)
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, ".other.json.lidguard-123.tmp")); err != nil {
			t.Error(err)
		}
	}
	if err := Tidy(t.Context(), filepath.Join(dir, "no", "folder.json")); err != nil {
		t.Error(err)
	}
}
