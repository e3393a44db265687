package confedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mark is a value of ours, told apart from others by what it says.
type mark struct {
	Hooks []handler `json:"hooks"`
}

func markOf(n int) mark {
	return mark{[]handler{{"command", fmt.Sprintf("lidguard %d ünïcode \\ \"q\" && exit 0", n)}}}
}

// jsonEdit is one thing an installer does to a document.
type jsonEdit struct {
	path  Path
	value any
	set   bool // Set a key that is not there, rather than Append
}

// install does what is not done yet.
func (e jsonEdit) install(d *JSON) error {
	if e.set {
		return d.Set(e.path, e.value)
	}
	if e.find(d) >= 0 {
		return nil
	}
	return d.Append(e.path, e.value)
}

// find returns the index of our element, or -1.
func (e jsonEdit) find(d *JSON) int {
	want, _ := json.Marshal(e.value)
	for i := range d.Len(e.path) {
		if got, ok := d.Get(e.path.With(i)); ok && sameJSON(got, want) {
			return i
		}
	}
	return -1
}

func (e jsonEdit) remove(d *JSON) error {
	if e.set {
		return d.Remove(e.path)
	}
	i := e.find(d)
	if i < 0 {
		return fmt.Errorf("our element is not in %s", e.path)
	}
	return d.Remove(e.path.With(i))
}

var jsonEdits = []jsonEdit{
	{path: Path{"hooks", "Stop"}, value: markOf(1)},
	{path: Path{"hooks", "Stop"}, value: markOf(2)},
	{path: Path{"hooks", "PreToolUse"}, value: markOf(3)},
	{path: Path{"hooks", "Notification"}, value: markOf(4)},
	{path: Path{"mcp", "servers", "lidguard"}, value: map[string]any{"command": []string{"lidguard", "mcp-server"}, "env": map[string]string{}}, set: true},
	{path: Path{"lid/guard ~\u2028"}, value: 7, set: true},
}

// checkJSONLaws holds the laws of editing against one document: edits that
// are done twice are done once, add bytes and take none, leave a document that
// parses; taking them out again in the given order gives the same bytes.
func checkJSONLaws(t rapid.TB, text string, mode Mode, edits []jsonEdit, order []int) {
	t.Helper()
	d, err := ParseJSON([]byte(text), mode)
	if err != nil {
		t.Fatalf("ParseJSON(%q): %v", text, err)
	}
	if got := string(d.Bytes()); got != text {
		t.Fatalf("round trip:\n got %q\nwant %q", got, text)
	}
	for _, e := range edits {
		if err := e.install(d); err != nil {
			t.Fatalf("install %s into %q: %v", e.path, text, err)
		}
	}
	installed := d.Bytes()
	if !subsequence(text, string(installed)) {
		t.Fatalf("installing took bytes away:\nbefore %q\nafter  %q", text, installed)
	}
	if d.Len(nil) > 0 && mode == Strict {
		var v map[string]any
		dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(installed, []byte(bom))))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", installed, err)
		}
	}

	created := d.Created()
	d, err = ParseJSON(installed, mode)
	if err != nil {
		t.Fatalf("ParseJSON(%q): %v", installed, err)
	}
	for _, e := range edits {
		if err := e.install(d); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Bytes(); !bytes.Equal(got, installed) || len(d.Created()) > 0 {
		t.Fatalf("the second install changed something:\n got %q\nwant %q", got, installed)
	}

	for _, i := range order {
		if err := edits[i].remove(d); err != nil {
			t.Fatalf("remove from %q: %v", d.Bytes(), err)
		}
	}
	if err := d.Prune(created...); err != nil {
		t.Fatal(err)
	}
	if got := string(d.Bytes()); got != text {
		t.Fatalf("removed in order %v:\n     got %q\n    want %q\ninstalled %q", order, got, text, installed)
	}
}

// subsequence reports whether long holds the bytes of short in order.
func subsequence(short, long string) bool {
	for i := range len(long) {
		if short != "" && short[0] == long[i] {
			short = short[1:]
		}
	}
	return short == ""
}

func reversed(n int) []int {
	var out []int
	for i := range n {
		out = append(out, n-1-i)
	}
	return out
}

func TestJSON_lawsOnNastyFiles(t *testing.T) {
	files := nastyJSON()
	if len(files) < 200 {
		t.Fatalf("only %d files", len(files))
	}
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			order := reversed(len(jsonEdits))
			checkJSONLaws(t, f.text, f.mode, jsonEdits, order)
			slices.Reverse(order)
			checkJSONLaws(t, f.text, Comments, jsonEdits, order)
			for _, e := range jsonEdits[1:5] {
				checkJSONLaws(t, f.text, f.mode, []jsonEdit{e}, []int{0})
			}
		})
	}
}

// drawEdits draws some of the edits and an order to take them out in.
func drawEdits(t *rapid.T) ([]jsonEdit, []int) {
	edits := rapid.Permutation(jsonEdits).Draw(t, "edits")
	edits = edits[:rapid.IntRange(1, len(edits)).Draw(t, "count")]
	var order []int
	for i := range edits {
		order = append(order, i)
	}
	return edits, rapid.Permutation(order).Draw(t, "order")
}

func TestJSON_lawsInAnyOrder(t *testing.T) {
	files := nastyJSON()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(files).Draw(t, "file")
		edits, order := drawEdits(t)
		checkJSONLaws(t, f.text, f.mode, edits, order)
	})
}

// messyJSON draws a document no formatter has ever seen.
func messyJSON(mode Mode) *rapid.Generator[string] {
	blanks := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\n  ", "\r\n\t", "  ", "\n\n    ", " \n"})
	if mode == Comments {
		blanks = rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\r\n\t", " // c\n", "// \"x\": [\r\n ", "/* c */", " /* {\n */ ", "\n\n", "/**/\n // d\n"})
	}
	keys := rapid.SampledFrom([]string{"hooks", "Stop", "PreToolUse", "mcp", "servers", "a", "b", "größe", "h\\u006foks", ""})
	leaves := rapid.SampledFrom([]string{"1", "-0.5e3", "true", "null", `""`, `"// no comment"`, `"\\"`, `"🦊 \u2028"`})
	var value func(t *rapid.T, kind byte, depth int) string
	list := func(t *rapid.T, left, right string, depth int, item func() string) string {
		var b strings.Builder
		b.WriteString(left)
		n := rapid.IntRange(0, 3).Draw(t, "n")
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(blanks.Draw(t, "before") + item() + blanks.Draw(t, "after"))
		}
		if mode == Comments && n > 0 && rapid.Bool().Draw(t, "comma") {
			b.WriteString(",")
		}
		return b.String() + blanks.Draw(t, "inner") + right
	}
	value = func(t *rapid.T, kind byte, depth int) string {
		if kind == 0 {
			kind = rapid.SampledFrom([]byte("{[x")).Draw(t, "kind")
		}
		switch {
		case kind == '{' && depth > 0:
			return list(t, "{", "}", depth, func() string {
				key := keys.Draw(t, "key")
				// What the edits go through must be what they expect.
				kind := map[string]byte{"hooks": '{', "h\\u006foks": '{', "mcp": '{', "servers": '{', "Stop": '[', "PreToolUse": '['}[key]
				return `"` + key + `"` + blanks.Draw(t, "colon") + ":" + blanks.Draw(t, "value") + value(t, kind, max(depth-1, int(min(kind, 1))))
			})
		case kind == '[' && depth > 0:
			return list(t, "[", "]", depth, func() string { return value(t, 0, depth-1) })
		default:
			return leaves.Draw(t, "leaf")
		}
	}
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", bom}).Draw(t, "bom") + blanks.Draw(t, "head") + value(t, '{', 4) + blanks.Draw(t, "tail")
	})
}

func TestJSON_lawsOnMessyFiles(t *testing.T) {
	for _, mode := range []Mode{Strict, Comments} {
		rapid.Check(t, func(t *rapid.T) {
			text := messyJSON(mode).Draw(t, "text")
			edits, order := drawEdits(t)
			checkJSONLaws(t, text, mode, edits, order)
		})
	}
}

// Somebody else works on the file between install and removal: their bytes
// are where they left them, and nothing of ours stays.
func TestJSON_removalSparesLaterEdits(t *testing.T) {
	files := nastyJSON()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(files).Draw(t, "file")
		edits, order := drawEdits(t)
		d, err := ParseJSON([]byte(f.text), f.mode)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range edits {
			if err := e.install(d); err != nil {
				t.Fatal(err)
			}
		}
		created := d.Created()
		other := jsonEdit{path: rapid.SampledFrom([]Path{{"hooks", "Stop"}, {"hooks", "New"}, {"theirs"}}).Draw(t, "place"), value: "theirs"}
		if err := other.install(d); err != nil {
			t.Fatal(err)
		}
		for _, i := range order {
			if err := edits[i].remove(d); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Prune(created...); err != nil {
			t.Fatal(err)
		}
		got := d.Bytes()
		if other.find(d) < 0 {
			t.Fatalf("their entry is gone: %q", got)
		}
		if bytes.Contains(got, []byte("lidguard")) {
			t.Fatalf("something of ours stayed: %q", got)
		}
		if !subsequence(strings.Map(dropBlanks, f.text), string(got)) {
			t.Fatalf("bytes from before are gone:\nbefore %q\nafter  %q", f.text, got)
		}
	})
}

func dropBlanks(r rune) rune {
	if strings.ContainsRune(" \t\r\n", r) {
		return -1
	}
	return r
}
