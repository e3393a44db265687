package confedit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The index answers as counting through the text does, also across its marks, in
// the last of two members, and after an edit.
func TestLocate_asCounted(t *testing.T) {
	long := strings.Repeat("é\n", 3000) + strings.Repeat("é", 7001)
	text := []byte(long + "x")
	x := placeIndex{marks: marksOf(text)}
	for offset := 0; offset <= len(text); offset++ {
		if got, want := x.position(text, offset), positionAt(text, offset); got != want {
			t.Fatalf("offset %d is %v, want %v", offset, got, want)
		}
	}
	d := mustJSON(t, "{\"a\": {\"x\": 1}, \"é\": \""+strings.Repeat("é", 5000)+"\",\n \"a\": {\"y\": [1, 2]}}", Strict)
	for _, c := range []struct {
		path Path
		pos  Position
		ok   bool
	}{{nil, Position{1, 1}, true}, {Path{"a"}, Position{2, 2}, true}, {Path{"a", "x"}, Position{}, false}, {Path{"a", "y", 1}, Position{2, 17}, true},
		{Path{"a", "y", 2}, Position{}, false}, {Path{"a", "y", int64(1)}, Position{}, false}} {
		if pos, ok := d.Locate(c.path); pos != c.pos || ok != c.ok {
			t.Errorf("%s is at %v %v, want %v %v", c.path, pos, ok, c.pos, c.ok)
		}
	}
	if err := d.Set(Path{"a", "z"}, 1); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Locate(Path{"a", "z"}); !ok {
		t.Error("what an edit added is not found")
	}
}

// Twenty thousand hooks on one line, under twenty thousand events, and in TOML: ten
// times as many may not take a hundred times as long.
func TestLocate_manyValues(t *testing.T) {
	for name, ask := range map[string]func(n int) func() bool{
		"one line": func(n int) func() bool {
			d := mustJSON(t, `{"a":[`+strings.Repeat(`{"command":"echo"},`, n)+`0]}`, Strict)
			return func() bool { _, ok := d.Locate(Path{"a", n - 1, "command"}); return ok }
		},
		"many members": func(n int) func() bool {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "\"k%d\": 1,\n", i)
			}
			d := mustJSON(t, "{"+b.String()+`"last": 1}`, Strict)
			return func() bool { _, ok := d.Locate(Path{"k0"}); return ok }
		},
		"TOML": func(n int) func() bool {
			d, err := ParseTOML([]byte(strings.Repeat("[[hooks]]\ncommand = \"echo\"\n", n)))
			if err != nil {
				t.Fatal(err)
			}
			return func() bool { _, ok := d.Locate(Path{"hooks", n - 1, "command"}); return ok }
		},
	} {
		t.Run(name, func(t *testing.T) {
			each := func(n int) time.Duration {
				find := ask(n)
				find() // the index
				begin := time.Now()
				for range 2000 {
					if !find() {
						t.Fatal("not found")
					}
				}
				return time.Since(begin)
			}
			// The quickest of some turns: while it runs, nobody else had the processor.
			small, large := each(200), each(20_000)
			for range 20 {
				small, large = min(small, each(200)), min(large, each(20_000))
			}
			if large > 20*small+10*time.Millisecond {
				t.Errorf("among 200 values 2000 questions take %s, among 20000 %s", small, large)
			}
		})
	}
}
