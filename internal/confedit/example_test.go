package confedit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lidguard-go/lidguard/internal/confedit"
)

// Install a hook, keep the record, and take the hook out again.
func Example() {
	dir, err := os.MkdirTemp("", "confedit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "settings.json")
	os.WriteFile(path, []byte("{\"model\": \"opus\"}\n"), 0o600)

	ctx := context.Background()
	opt := confedit.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	stop := confedit.Path{"hooks", "Stop"}

	installed, err := confedit.Update(ctx, path, opt, func(f *confedit.File) (confedit.Draft, error) {
		doc, err := confedit.ParseJSON(f.Bytes(), confedit.Strict)
		if err != nil {
			return confedit.Draft{}, err
		}
		// A real caller looks first whether its entry is there already.
		if err := doc.Append(stop, "lidguard"); err != nil {
			return confedit.Draft{}, err
		}
		return doc.Draft(), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(confedit.Diff(installed.Before, installed.After, "settings.json"))
	fmt.Println(filepath.Base(installed.Backup))

	removed, err := confedit.Revert(ctx, path, opt, &installed.Undo, func(f *confedit.File, created []confedit.Path) (confedit.Draft, error) {
		doc, err := confedit.ParseJSON(f.Bytes(), confedit.Strict)
		if err != nil {
			return confedit.Draft{}, err
		}
		for i := doc.Len(stop) - 1; i >= 0; i-- {
			if v, _ := doc.Get(stop.With(i)); string(v) == `"lidguard"` {
				if err := doc.Remove(stop.With(i)); err != nil {
					return confedit.Draft{}, err
				}
			}
		}
		err = doc.Prune(created...)
		return doc.Draft(), err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(removed.After))

	// Output:
	// --- settings.json
	// +++ settings.json
	// @@ -1 +1 @@
	// -{"model": "opus"}
	// +{"model": "opus", "hooks": {"Stop": ["lidguard"]}}
	// settings.json.lidguard-backup-20260301-120000
	// {"model": "opus"}
}
