package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/doctor"
)

// trusts runs `hooks trust` as a person in a folder, who answers the question.
func trusts(t *testing.T, home, dir, agent, answer string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), Options{Args: append([]string{"hooks", "trust"}, args...),
		Env:   func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] },
		Stdin: strings.NewReader(answer + "\n"), Stdout: &out, Stderr: &errs, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		GOOS: "linux", WorkDir: dir, Version: "v1.2.3", NotByHand: func() string { return inside(agent) }},
		func(a *app) { a.interactive = true })
	return code, out.String(), errs.String()
}

func put(t *testing.T, text string, elem ...string) string {
	t.Helper()
	name := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestHooksTrust_aProject(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "p")
	book := put(t, "[gate]\nprofile = \"strict\"\n[packs]\nsandbox = \"off\"\n# \u202ehello\n", project, ".lidguard", "rules.toml")
	deep := filepath.Join(project, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := trusts(t, home, deep, "claude", "y"); code != ExitFailed || !strings.Contains(stderr, "inside claude") {
		t.Fatalf("an agent may: %d %s", code, stderr)
	}
	if code, _, stderr := trusts(t, home, home, "", "y"); code != ExitFailed || !strings.Contains(stderr, "no project with a rulebook") {
		t.Errorf("outside: %d %s", code, stderr)
	}
	code, stdout, stderr := trusts(t, home, deep, "", "n")
	if code == ExitDone || !strings.Contains(stderr, "trust exactly this content? [y/N]") {
		t.Errorf("no: %d %s", code, stderr)
	}
	for _, want := range []string{book, "sha256:", "+profile = \"strict\"", "gate", "profile strict", "counts without trust", "switched off", "counts only with your trust"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the book is shown without %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "\u202e") {
		t.Error("the book reaches the terminal's controls")
	}
	if _, stdout, _ := trusts(t, home, deep, "", "", "--list"); !strings.Contains(stdout, "no rulebook is trusted") {
		t.Errorf("after a no: %s", stdout)
	}
	if code, stdout, stderr := trusts(t, home, deep, "", "y"); code != ExitDone || !strings.Contains(stdout, "trusted: "+book) {
		t.Fatalf("yes: %d %s %s", code, stdout, stderr)
	}
	if _, stdout, _ := trusts(t, home, home, "codex", "", "--list"); !strings.Contains(stdout, "trusted  sha256:") || !strings.Contains(stdout, book) {
		t.Errorf("the list: %s", stdout)
	}
	put(t, "[gate]\nprofile = \"relaxed\"\n", book)
	if _, stdout, _ := trusts(t, home, home, "", "", "--list"); !strings.Contains(stdout, "changed") {
		t.Errorf("the list after a change: %s", stdout)
	}
	if _, stdout, _ := trusts(t, home, project, "", "n"); !strings.Contains(stdout, "changed since you trusted sha256:") ||
		!strings.Contains(stdout, "-profile = \"strict\"") || !strings.Contains(stdout, "+profile = \"relaxed\"") {
		t.Errorf("the change: %s", stdout)
	}
	if found := findings(t, home, deep); found != "book-changed" {
		t.Errorf("doctor finds %q", found)
	}
	code, stdout, stderr = trusts(t, home, home, "", "", book, "--yes", "--json")
	var r trustReport
	if err := json.Unmarshal([]byte(stdout), &r); code != ExitDone || err != nil || !r.Trusted || r.Before == "" || r.Path != book || len(r.Would) != 1 || r.Include != "" {
		t.Errorf("as JSON: %d %s %s %v", code, stdout, stderr, err)
	}
	if found := findings(t, home, deep); found != "" {
		t.Errorf("trusted, doctor finds %q", found)
	}
	if code, _, stderr := trusts(t, home, project, "claude", "", "--revoke"); code != ExitFailed || !strings.Contains(stderr, "inside claude") {
		t.Errorf("an agent may revoke: %d %s", code, stderr)
	}
	if code, stdout, _ := trusts(t, home, project, "", "", "--revoke"); code != ExitDone || !strings.Contains(stdout, "trusted no longer") {
		t.Errorf("revoke: %d %s", code, stdout)
	}
	if code, _, stderr := trusts(t, home, project, "", "", "--revoke"); code != ExitFailed || !strings.Contains(stderr, "is not trusted") {
		t.Errorf("revoke again: %d %s", code, stderr)
	}
	if kinds := auditKinds(t, home); kinds["trust"] != 2 || kinds["revoke"] != 1 {
		t.Errorf("the audit log has %v", kinds)
	}
	put(t, "[gate]\nprofile = \"lax\"\n", book)
	if code, _, stderr := trusts(t, home, project, "", "y"); code != ExitFailed || !strings.Contains(stderr, "rules.toml:2:11: gate.profile") {
		t.Errorf("a broken book: %d %s", code, stderr)
	}
}

// findings are the codes of what doctor finds about rulebooks in a folder.
func findings(t *testing.T, home, dir string) string {
	t.Helper()
	var found []string
	run(t.Context(), Options{Env: func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] },
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now, GOOS: "linux", WorkDir: dir, Version: "v1.2.3"},
		func(a *app) {
			facts, err := a.bookFacts()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range doctor.Books(facts) {
				found = append(found, f.Code)
			}
		})
	return strings.Join(found, " ")
}

func TestHooksTrust_aSharedOne(t *testing.T) {
	home := t.TempDir()
	content := "[gate]\nprofile = \"strict\"\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/team/rules.toml":
			w.Write([]byte(content))
		case "/away":
			http.Redirect(w, r, "http://192.0.2.1/rules.toml", http.StatusFound)
		case "/huge":
			w.Write(make([]byte, 2<<20))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{"/none": "404", "/away": "only https:// is", "/huge": "larger than"} {
		if code, _, stderr := trusts(t, home, home, "", "y", server.URL+path); code != ExitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s", path, code, stderr)
		}
	}
	if code, _, stderr := trusts(t, home, home, "", "y", "http://192.0.2.1/rules.toml"); code != ExitFailed || !strings.Contains(stderr, "only https:// is") {
		t.Errorf("plain HTTP: %d %s", code, stderr)
	}
	code, stdout, stderr := trusts(t, home, home, "", "", server.URL+"/team/rules.toml", "--yes", "--json")
	var r trustReport
	if err := json.Unmarshal([]byte(stdout), &r); code != ExitDone || err != nil || !strings.HasPrefix(r.Include, "[[include]]\n") {
		t.Fatalf("%d %s %s %v", code, stdout, stderr, err)
	}
	// Pasted into the person's own book, its rules count.
	put(t, r.Include, home, ".config", "lidguard", "rules.toml")
	if out := hookSays(t, home, "git reset --hard", time.Now()); !strings.Contains(out, `"deny"`) {
		t.Errorf("the shared book does not count: %s", out)
	}
	// Changed on the disk, what was pinned goes on counting.
	put(t, "# nothing\n", r.Path)
	if out := hookSays(t, home, "git reset --hard", time.Now()); !strings.Contains(out, `"deny"`) {
		t.Errorf("a changed shared book takes its rules away: %s", out)
	}
}

// What a project relaxes counts in an explanation from the moment that it is trusted.
func TestHooksExplain_trustedProject(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "p")
	book := put(t, "[gate]\nprofile = \"relaxed\"\n", project, ".lidguard", "rules.toml")
	explain := func() (code int, said string) {
		var out, errs strings.Builder
		code = run(t.Context(), Options{Args: []string{"hooks", "explain", "git reset --hard"},
			Env:   func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] },
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, GOOS: "linux", WorkDir: project, Version: "v1.2.3"}, func(*app) {})
		return code, out.String() + errs.String()
	}
	if code, said := explain(); code != ExitFailed || !strings.Contains(said, "profile standard") {
		t.Errorf("before: %d %s", code, said)
	}
	if code, _, stderr := trusts(t, home, project, "", "y"); code != ExitDone {
		t.Fatalf("trust: %d %s", code, stderr)
	}
	if code, said := explain(); code != ExitDone || !strings.Contains(said, "profile relaxed") || !strings.Contains(said, book) {
		t.Errorf("trusted: %d %s", code, said)
	}
}
