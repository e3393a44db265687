package entry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/paths"
)

// Every field that encoding/json would write is written, under the same name.
func TestAuditEntry_lineAgreesWithTheDecoder(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 890, time.UTC)
	full := AuditEntry{}
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case time.Time:
			f.Set(reflect.ValueOf(at))
		case *time.Time:
			f.Set(reflect.ValueOf(&at))
		case []string:
			f.Set(reflect.ValueOf([]string{"a \"b\" <c>", "é\n\x01"}))
		case bool:
			f.SetBool(true)
		default:
			f.SetString(v.Type().Field(i).Name + " \\ \u2028")
		}
	}
	for _, e := range []AuditEntry{full, {Time: at, Kind: "relax"}} {
		line := e.line()
		var got AuditEntry
		if err := json.Unmarshal(line, &got); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: got %+v, want %+v, %v", line, got, e, err)
		}
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if keys(t, line) != keys(t, want) {
			t.Errorf("got %s, want the fields of %s", line, want)
		}
	}
}

// keys are an object's, in their order.
func keys(t *testing.T, object []byte) string {
	t.Helper()
	var list []string
	dec := json.NewDecoder(strings.NewReader(string(object)))
	for depth, isKey := 0, true; ; {
		tok, err := dec.Token()
		if err != nil {
			return strings.Join(list, " ")
		}
		switch d, delim := tok.(json.Delim); {
		case delim && (d == '{' || d == '['):
			depth, isKey = depth+1, true
		case delim:
			depth, isKey = depth-1, true
		case depth == 1 && isKey:
			list, isKey = append(list, tok.(string)), false
		case depth == 1:
			isKey = true
		}
	}
}

// Hooks that find the log full at once put it aside once, and lose no line of it.
func TestAppendAudit_rotatesOnce(t *testing.T) {
	for range 20 {
		dirs := ownDirs(t)
		name := AuditPath(dirs)
		if err := AppendAudit(dirs, &AuditEntry{Kind: "said", Code: "first"}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, append(readFile(t, name), fullLine()...), 0o600); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				if err := AppendAudit(dirs, &AuditEntry{Kind: "said", Code: "later"}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		seen := map[string]int{}
		if err := ReadAudit(dirs, func(e *AuditEntry) bool { seen[e.Code]++; return true }); err != nil {
			t.Fatal(err)
		}
		if seen["first"] != 1 || seen["later"] != 16 {
			t.Fatalf("%d of 1 and %d of 16 lines are left", seen["first"], seen["later"])
		}
		if info, err := os.Stat(name); err != nil || info.Size() > maxAudit/2 {
			t.Fatalf("the log was not put aside: %v, %v", info, err)
		}
	}
}

// A hook that was killed while it put the log aside holds nobody up for long.
func TestAppendAudit_aLeftLock(t *testing.T) {
	dirs := ownDirs(t)
	name := AuditPath(dirs)
	for _, f := range []struct{ name, text string }{{name, string(fullLine())}, {name + ".rotating", ""}} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.name, []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		if err := AppendAudit(dirs, &AuditEntry{Kind: "said"}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size() < maxAudit/2 {
		t.Error("it was put aside while another hook did so")
	}
	old := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(name+".rotating", old, old); err != nil {
		t.Fatal(err)
	}
	if size(); size() > maxAudit/2 {
		t.Error("a lock that was left keeps the log growing")
	}
}

func ownDirs(t *testing.T) paths.Dirs {
	t.Helper()
	home := t.TempDir()
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home, "APPDATA": home, "LOCALAPPDATA": home}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// fullLine is one line that leaves no room for another.
func fullLine() []byte { return []byte(`{"input":"` + strings.Repeat("x", maxAudit-40) + "\"}\n") }

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A target may hold a secret in the places that are made for one.
func TestLoggedTarget_holdsNoSecret(t *testing.T) {
	for target, want := range map[string]string{
		"https://u:hunter2@example.com/a?token=hunter2#hunter2": "https://example.com/a",
		"ftp://hunter2@example.com":                             "ftp://example.com",
		"http://169.254.169.254/latest/":                        "http://169.254.169.254/latest/",
		"NODE_OPTIONS=--require=hunter2":                        "NODE_OPTIONS",
		"psql -c hunter2":                                       "",
		"/home/u/a=b":                                           "/home/u/a=b",
		"mail/send_one":                                         "mail/send_one",
	} {
		if got := loggedTarget(target); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}
