package confedit

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// handler and group look like what the installers append.
type handler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

type group struct {
	Hooks []handler `json:"hooks"`
}

var ours = group{[]handler{{"command", "lidguard hook && true"}}}

func mustJSON(t testing.TB, text string, mode Mode) *JSON {
	t.Helper()
	d, err := ParseJSON([]byte(text), mode)
	if err != nil {
		t.Fatalf("ParseJSON(%q): %v", text, err)
	}
	return d
}

func TestJSON_appendAndRemove(t *testing.T) {
	stop := Path{"hooks", "Stop"}
	tests := []struct {
		name   string
		mode   Mode
		before string
		want   string
	}{
		{
			"an empty object opens up", Strict,
			"{}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n}\n",
		},
		{
			"a missing file gets a whole document", Strict,
			"",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n}\n",
		},
		{
			"blanks without final newline stay in front", Strict,
			"  ",
			"  \n{\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n}",
		},
		{
			"only comments stay in front", Comments,
			"// mine\n",
			"// mine\n{\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n}\n",
		},
		{
			"an object with a line break inside keeps it", Strict,
			"{\n}\n",
			"{\n\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n}\n",
		},
		{
			"an array with a blank inside keeps it", Strict,
			"{\n\t\"hooks\": {\n\t\t\"Stop\": [ ]\n\t}\n}",
			"{\n\t\"hooks\": {\n\t\t\"Stop\": [ \n\t\t\t7\n\t\t]\n\t}\n}",
		},
		{
			"one line stays one line", Strict,
			`{"a":1,"hooks":{"Stop":[]}}`,
			`{"a":1,"hooks":{"Stop":[7]}}`,
		},
		{
			"one line with blanks stays one line with blanks", Strict,
			`{ "a": 1, "b": [1, 2] }`,
			`{ "a": 1, "b": [1, 2], "hooks": {"Stop": [7]} }`,
		},
		{
			"four blanks are four blanks", Strict,
			"{\n    \"model\": \"m\"\n}\n",
			"{\n    \"model\": \"m\",\n    \"hooks\": {\n        \"Stop\": [\n            7\n        ]\n    }\n}\n",
		},
		{
			"CRLF stays CRLF", Strict,
			"{\r\n\t\"model\": \"m\"\r\n}\r\n",
			"{\r\n\t\"model\": \"m\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t7\r\n\t\t]\r\n\t}\r\n}\r\n",
		},
		{
			"the byte-order mark stays first", Strict,
			bom + "{}",
			bom + "{\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n}",
		},
		{
			"a comment behind the last member stays with it", Comments,
			"{\n  \"a\": 1 // one\n}\n",
			"{\n  \"a\": 1, // one\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n}\n",
		},
		{
			"a comment at the end of a CRLF line stays with it", Comments,
			"{\r\n  \"a\": 1 // one \r\n}\r\n",
			"{\r\n  \"a\": 1, // one \r\n  \"hooks\": {\r\n    \"Stop\": [\r\n      7\r\n    ]\r\n  }\r\n}\r\n",
		},
		{
			"comments at the end of the list stay above the new entry", Comments,
			"{\n  \"hooks\": {\n    \"Stop\": [\n      1\n      // , 2\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      1,\n      // , 2\n      7\n    ]\n  }\n}\n",
		},
		{
			"a list with a trailing comma keeps having one", Comments,
			"{\n  \"hooks\": {\"Stop\": [\n    1, // one\n  ]},\n}\n",
			"{\n  \"hooks\": {\"Stop\": [\n    1, // one\n    7,\n  ]},\n}\n",
		},
		{
			"a comment in an empty array stays above", Comments,
			"{\n  \"hooks\": {\"Stop\": [\n    // nothing\n  ]}\n}\n",
			"{\n  \"hooks\": {\"Stop\": [\n    // nothing\n    7\n  ]}\n}\n",
		},
		{
			"a comment in an empty array on one line stays there", Comments,
			"{\"hooks\": {\"Stop\": [ /* nothing */ ]}}",
			"{\"hooks\": {\"Stop\": [ /* nothing */ 7 ]}}",
		},
		{
			"a line comment without line ending ends the file", Comments,
			"{} // end",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      7\n    ]\n  }\n} // end",
		},
		{
			"of two equal keys the last one counts", Strict,
			`{"hooks":{"Stop":[1]},"hooks":{"Stop":[2]}}`,
			`{"hooks":{"Stop":[1]},"hooks":{"Stop":[2,7]}}`,
		},
		{
			"an escaped key is the same key", Strict,
			`{"\u0068ooks":{"Stop":[2]}}`,
			`{"\u0068ooks":{"Stop":[2,7]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustJSON(t, tt.before, tt.mode)
			n := d.Len(stop)
			if err := d.Append(stop, 7); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.want {
				t.Fatalf("Append:\n got %q\nwant %q", got, tt.want)
			}
			if got, ok := d.Get(stop.With(n)); !ok || string(got) != "7" {
				t.Errorf("Get = %s, %v, want 7", got, ok)
			}
			created := d.Created()

			d = mustJSON(t, tt.want, tt.mode)
			if err := d.Remove(stop.With(n)); err != nil {
				t.Fatal(err)
			}
			if err := d.Prune(created...); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.before {
				t.Errorf("Remove:\n got %q\nwant %q", got, tt.before)
			}
		})
	}
}

func TestJSON_appendLaysOutLikeTheFile(t *testing.T) {
	tests := []struct{ name, before, want string }{
		{
			"every member on its own line",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      },\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"lidguard hook && true\"\n          }\n        ]\n      }\n    ]\n  }\n}\n",
		},
		{
			"brackets that hug each other",
			"{\"hooks\": {\n  \"Stop\": [{\n    \"hooks\": []\n  }]\n}}\n",
			"{\"hooks\": {\n  \"Stop\": [{\n    \"hooks\": []\n  }, {\n    \"hooks\": [\n      {\n        \"type\": \"command\",\n        \"command\": \"lidguard hook && true\"\n      }\n    ]\n  }]\n}}\n",
		},
		{
			"all on one line",
			`{"hooks":{"Stop":[{"hooks":[]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[]},{"hooks":[{"type":"command","command":"lidguard hook && true"}]}]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustJSON(t, tt.before, Strict)
			if err := d.Append(Path{"hooks", "Stop"}, ours); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestJSON_remove(t *testing.T) {
	tests := []struct {
		name   string
		before string
		path   Path
		want   string
	}{
		{"the first of three", `{"a": [1, 2, 3]}`, Path{"a", 0}, `{"a": [2, 3]}`},
		{"the middle of three", `{"a": [1, 2, 3]}`, Path{"a", 1}, `{"a": [1, 3]}`},
		{"the last of three", `{"a": [1, 2, 3]}`, Path{"a", 2}, `{"a": [1, 2]}`},
		{"the only one closes the brackets", "{\n  \"a\": [\n    1\n  ]\n}", Path{"a", 0}, "{\n  \"a\": []\n}"},
		{"a member in the middle keeps the comments around it", "{\n  // x\n  \"x\": 1, // one\n  // y\n  \"y\": 2, // two\n  \"z\": 3\n}", Path{"y"}, "{\n  // x\n  \"x\": 1, // one\n  // y\n // two\n  \"z\": 3\n}"},
		{"a comment between value and comma stays", "{\"x\": 1 /* one */, \"y\": 2}", Path{"x"}, "{ /* one */ \"y\": 2}"},
		{"a line comment before it still ends in a line ending", "{ // c\n  \"x\": 1 }", Path{"x"}, "{ // c\n }"},
		{"and in one of two bytes where that is the habit", "{ // c\r\n  \"x\": 1 }", Path{"x"}, "{ // c\r\n }"},
		{"a line comment before a middle one, too", "[ // c\n 1, 2]", Path{"a", 0}, "[ // c\n 2]"},
		{"the trailing comma stays with the new last one", "{\"x\": 1, \"y\": 2,}", Path{"y"}, "{\"x\": 1,}"},
		{"the only one takes its trailing comma along", "{\"x\": 1,}", Path{"x"}, "{}"},
		{"every member of that name", `{"x": 1, "y": 2, "x": 3}`, Path{"x"}, `{"y": 2}`},
		{"what is not there changes nothing", `{"x": 1}`, Path{"y", "z", 4}, `{"x": 1}`},
		{"an index into an object changes nothing", `{"x": 1}`, Path{0}, `{"x": 1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, want := tt.before, tt.want
			if strings.HasPrefix(before, "[") {
				before, want = `{"a": `+before+`}`, `{"a": `+want+`}`
			}
			d := mustJSON(t, before, Comments)
			if err := d.Remove(tt.path); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestJSON_set(t *testing.T) {
	tests := []struct {
		name   string
		before string
		path   Path
		value  any
		want   string
	}{
		{"a new key goes last", "{\n  \"a\": 1\n}\n", Path{"b"}, true, "{\n  \"a\": 1,\n  \"b\": true\n}\n"},
		{"a value is replaced where it stands", `{"a": 1, "b": 2}`, Path{"a"}, "x", `{"a": "x", "b": 2}`},
		{"the same value stays as it is written", `{"a": [1,   2]}`, Path{"a"}, []int{1, 2}, `{"a": [1,   2]}`},
		{"the same object in another order stays", `{"a": {"y":1, "x":2}}`, Path{"a"}, map[string]int{"x": 2, "y": 1}, `{"a": {"y":1, "x":2}}`},
		{"of two equal keys the last one is set", `{"a": 1, "a": 2}`, Path{"a"}, 3, `{"a": 1, "a": 3}`},
		{"parents are created", `{"x":1}`, Path{"mcp", "lidguard"}, map[string]any{"on": true}, `{"x":1,"mcp":{"lidguard":{"on":true}}}`},
		{"an element gives way to an empty group", "{\"a\": [\n  {\"hooks\": [1]},\n  2\n]}", Path{"a", 0}, json.RawMessage(`{"hooks":[]}`), "{\"a\": [\n  {\n    \"hooks\": []\n  },\n  2\n]}"},
		{"keys and strings are escaped", `{}`, Path{"a\"\n"}, "C:\\x \u2028 é", "{\n  \"a\\\"\\n\": \"C:\\\\x \\u2028 é\"\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustJSON(t, tt.before, Strict)
			if err := d.Set(tt.path, tt.value); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
			if err := d.Set(tt.path, tt.value); err != nil || string(d.Bytes()) != tt.want {
				t.Errorf("second Set: %q, %v, want no change", d.Bytes(), err)
			}
		})
	}
}

func TestParseJSON_refuses(t *testing.T) {
	tests := []struct {
		name string
		mode Mode
		text string
		want string
	}{
		{"a comment in plain JSON", Strict, "{\n  // x\n}", "line 2, column 3: a comment in a file that must be plain JSON"},
		{"a trailing comma in plain JSON", Strict, "{\"é\": 1,\n}", "line 1, column 8: a trailing comma in a file that must be plain JSON"},
		{"an array", Strict, "\n[]", "line 2, column 1: the file holds an array, expected an object"},
		{"a string", Comments, `"x"`, "line 1, column 1: the file holds a string, expected an object"},
		{"null", Strict, "null\n", "line 1, column 1: the file holds null, expected an object"},
		{"half a file", Strict, "{\n  \"a\": [1,", "line 2, column 11: the file ends in the middle of a value"},
		{"an open string", Strict, "{\"key\": \"sk-secret\n}", "line 1, column 9: this string is not closed on its line"},
		{"an open comment", Comments, "{ /* x }", "line 1, column 3: this comment is never closed"},
		{"a bad escape", Strict, `{"a": "\x sk-secret"}`, "line 1, column 7: this string holds a control character or an unknown escape"},
		{"a bad word", Strict, `{"a": nul}`, "line 1, column 7: this is neither a number nor true, false or null"},
		{"two documents", Strict, "{} {}", `line 1, column 4: invalid character '{' after top-level value`},
		{"a missing comma", Strict, "{\"a\": 1\n \"b\": 2}", `line 2, column 2: invalid character '"' after object value (expecting ',' or '}')`},
		{"a byte-order mark is not counted", Strict, bom + "{,}", "line 1, column 2: invalid character ',' at start of value"},
		{"UTF-16", Strict, "\xff\xfe{\x00}\x00", "line 1, column 1: the file is UTF-16, expected UTF-8"},
		{"Latin-1", Strict, "{\"a\": \"\xe9\"}", "line 1, column 8: the bytes here are not UTF-8"},
		{"zeros left by a crash", Strict, "\x00\x00\x00", `line 1, column 1: invalid character '\u0000' at start of value`},
		{"a lone carriage return in a comment", Comments, "{ // x\r \"a\": 1\n}", "line 1, column 7: a carriage return without line feed in a comment"},
		{"brackets without end", Strict, strings.Repeat("[", 1<<20), "line 1, column 10001: nested more than 10000 levels deep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseJSON([]byte(tt.text), tt.mode)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, want a *SyntaxError", err)
			}
			if err.Error() != tt.want {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
		})
	}
}

func TestJSON_refusesAndStaysAsItWas(t *testing.T) {
	const text = "{\n  \"hooks\": null,\n  \"list\": [1],\n  \"s\": \"x\"\n}\n"
	tests := []struct {
		name string
		edit func(*JSON) error
		want string
	}{
		{"append below null", func(d *JSON) error { return d.Append(Path{"hooks", "Stop"}, 1) }, "line 2, column 12: hooks is null, expected an object"},
		{"append to a string", func(d *JSON) error { return d.Append(Path{"s"}, 1) }, "line 4, column 8: s is a string, expected an array"},
		{"a key in an array", func(d *JSON) error { return d.Set(Path{"list", "k"}, 1) }, "line 3, column 11: list is an array, expected an object"},
		{"an element that is not there", func(d *JSON) error { return d.Append(Path{"list", 3, "x"}, 1) }, "there is no element list[3]"},
		{"the document as array", func(d *JSON) error { return d.Append(nil, 1) }, "line 1, column 1: the document is an object, expected an array"},
		{"the document as number", func(d *JSON) error { return d.Set(nil, 1) }, "the document must stay an object, not become a number"},
		{"removing the document", func(d *JSON) error { return d.Remove(nil) }, "the document itself cannot be removed"},
		{"a step that is no step", func(d *JSON) error { return d.Set(Path{"a", 1.5}, 1) }, "path a(float64) has a step of type float64, want string or int"},
		{"a negative index", func(d *JSON) error { return d.Remove(Path{"list", -1}) }, "path list[-1] has a negative index"},
		{"a value that is no JSON", func(d *JSON) error { return d.Set(Path{"a"}, func() {}) }, "encoding the new value: json: unsupported type: func()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustJSON(t, text, Strict)
			err := tt.edit(d)
			if err == nil || err.Error() != tt.want {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
			if got := string(d.Bytes()); got != text {
				t.Errorf("document changed to %q", got)
			}
		})
	}
}

func TestJSON_reads(t *testing.T) {
	d := mustJSON(t, "{\n  // c\n  \"a\": [ {\"x\": 1, }, 2 ], \"é\": {}\n}", Comments)
	if got, ok := d.Get(Path{"a"}); !ok || string(got) != `[{"x":1},2]` {
		t.Errorf("Get(a) = %s, %v", got, ok)
	}
	if got, ok := d.Get(Path{"a", 2}); ok {
		t.Errorf("Get(a[2]) = %s, want nothing", got)
	}
	var v []any
	if ok, err := d.Decode(Path{"a"}, &v); !ok || err != nil || len(v) != 2 {
		t.Errorf("Decode = %v, %v, %v", v, ok, err)
	}
	var n int
	if ok, err := d.Decode(Path{"a"}, &n); !ok || err == nil {
		t.Errorf("Decode into int = %v, %v, want an error", ok, err)
	}
	if d.Len(Path{"a"}) != 2 || d.Len(nil) != 2 || d.Len(Path{"a", 1}) != 0 || d.Len(Path{"no"}) != 0 {
		t.Error("Len is wrong")
	}
	if pos, ok := d.Locate(Path{"é"}); !ok || pos != (Position{3, 27}) {
		t.Errorf("Locate(é) = %v, %v", pos, ok)
	}
	if _, ok := d.Locate(Path{"no"}); ok {
		t.Error("Locate found nothing somewhere")
	}
	for text, want := range map[string]bool{"": true, " \n": true, "{}": true, "{ \n}\n": true, "{} // c": false, "{/**/}": false, `{"a":1}`: false, "// c": false} {
		if got := mustJSON(t, text, Comments).Empty(); got != want {
			t.Errorf("Empty(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestJSON_pruneKeepsWhatOthersUse(t *testing.T) {
	created := []Path{{"hooks"}, {"hooks", "Stop"}}
	for before, want := range map[string]string{
		`{"hooks": {"Stop": []}}`:               `{}`,
		`{"hooks": {"Stop": [], "Other": []}}`:  `{"hooks": {"Other": []}}`,
		`{"hooks": {"Stop": [1]}}`:              `{"hooks": {"Stop": [1]}}`,
		`{"hooks": {"Stop": [/* why */]}}`:      `{"hooks": {"Stop": [/* why */]}}`,
		`{"hooks": null}`:                       `{"hooks": null}`,
		`{"other": {}, "hooks": {"Stop": [ ]}}`: `{"other": {}}`,
	} {
		d := mustJSON(t, before, Comments)
		if err := d.Prune(created...); err != nil {
			t.Fatal(err)
		}
		if got := string(d.Bytes()); got != want {
			t.Errorf("Prune(%s) = %s, want %s", before, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	p := Path{"hooks", "a b", 2, "", "x"}
	if got, want := p.String(), `hooks."a b"[2]."".x`; got != want {
		t.Errorf("String = %s, want %s", got, want)
	}
	data, err := json.Marshal([]Path{p, {}})
	if err != nil {
		t.Fatal(err)
	}
	var back []Path
	if err := json.Unmarshal(data, &back); err != nil || len(back) != 2 || !back[0].equal(p) || len(back[1]) != 0 {
		t.Errorf("round trip of %s: %v, %v", data, back, err)
	}
	for _, bad := range []string{`{}`, `[1.5]`, `[-1]`, `[null]`, `["a", 1`} {
		if err := json.Unmarshal([]byte(bad), new(Path)); err == nil {
			t.Errorf("Unmarshal(%s): want an error", bad)
		}
	}
}
