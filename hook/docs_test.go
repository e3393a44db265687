package hook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/hook"
)

// blocks returns the fenced blocks of a document, by language, in order.
func blocks(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = append(found[m[1]], m[2])
	}
	return found
}

// docs/sdk.md shows the module that e2e/sdk_test.go builds and runs on real
// clients, and what it says when it is called by hand is what it says.
func TestDocs_theModuleShownIsTheOneThatIsRun(t *testing.T) {
	shown := blocks(t, filepath.Join("..", "docs", "sdk.md"))
	module := filepath.Join("..", "e2e", "testdata", "sdk")
	for i, name := range []string{"main.go", "main_test.go"} {
		want, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(shown["go"]) || shown["go"][i] != string(want) {
			t.Errorf("go block %d of docs/sdk.md is not e2e/testdata/sdk/%s", i+1, name)
		}
	}
	for _, text := range shown["json"] {
		if !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %s", text)
		}
	}

	dir := t.TempDir()
	for _, name := range []string{"go.mod", "main.go"} {
		text, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "guard")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	for _, args := range [][]string{{"mod", "edit", "-replace", "github.com/lidguard-go/lidguard=" + root}, {"build", "-o", program, "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	ran := 0
	for _, line := range shown["sh"] {
		m := regexp.MustCompile(`^echo '(.*)' \| \./guard (.*)\n$`).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		ran++
		cmd := exec.Command(program, strings.Fields(m[2])...)
		cmd.Stdin = strings.NewReader(m[1] + "\n")
		out, err := cmd.Output()
		if want := shown["json"][0]; err != nil || string(out)+"\n" != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", line, out, err, want)
		}
	}
	if ran != 1 {
		t.Errorf("%d commands of docs/sdk.md were run, want 1", ran)
	}

	// The same program, staying in memory; what its own code prints does not get
	// between the answers.
	cmd := exec.Command(program, "--resident")
	cmd.Stdin = strings.NewReader(request(1, "claude", "", claudeCall, ""))
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), `{"id":1,"verdict":{"decision":"deny"`) {
		t.Errorf("--resident: %s, %v", out, err)
	}
}

func TestDocs_theProtocolShownIsTheOneSpoken(t *testing.T) {
	shown := blocks(t, filepath.Join("..", "docs", "resident.md"))
	if len(shown["json"]) != 2 {
		t.Fatalf("%d JSON blocks, want a request and an answer", len(shown["json"]))
	}
	request := strings.Replace(shown["json"][0], `"deadline_ms":80`, `"deadline_ms":60000`, 1)
	got := run(say(hook.Deny("Pushing is for people.").ByRule("no-push")), request, []string{"--resident"})
	if got.stdout != shown["json"][1] {
		t.Errorf("got  %s\nwant %s", got.stdout, shown["json"][1])
	}
}
