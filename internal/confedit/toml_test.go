package confedit

import (
	"errors"
	"math"
	"testing"
)

func mustTOML(t testing.TB, text string) *TOML {
	t.Helper()
	d, err := ParseTOML([]byte(text))
	if err != nil {
		t.Fatalf("ParseTOML(%q): %v", text, err)
	}
	return d
}

func TestTOML_edits(t *testing.T) {
	state := Path{"hooks", "state", `C:\Users\x/.codex/hooks.json:stop:0:0`, "trusted_hash"}
	tests := []struct {
		name   string
		before string
		edit   func(*TOML) error
		want   string
	}{
		{
			"a hook group goes to the end below a blank line",
			"model = \"m\" # mine\n",
			func(d *TOML) error {
				return d.AppendTables(hookGroup("PermissionRequest", "lidguard codex-hook").tables...)
			},
			"model = \"m\" # mine\n\n[[hooks.PermissionRequest]]\nmatcher = \"Bash\"\n\n[[hooks.PermissionRequest.hooks]]\ntype = \"command\"\ncommand = \"lidguard codex-hook\"\ntimeout = 30\n",
		},
		{
			"a trust entry gets its own table with a quoted key",
			"model = \"m\"\r\n",
			func(d *TOML) error { return d.Set(state, "sha256:ab") },
			"model = \"m\"\r\n\r\n[hooks.state.\"C:\\\\Users\\\\x/.codex/hooks.json:stop:0:0\"]\r\ntrusted_hash = \"sha256:ab\"\r\n",
		},
		{
			"a value changes where it stands and keeps its comment",
			"[features]\n  hooks  =  false   # why\n",
			func(d *TOML) error { return d.Set(Path{"features", "hooks"}, true) },
			"[features]\n  hooks  =  true   # why\n",
		},
		{
			"the same value stays as it is written",
			"[a]\nb = 'x' # c\nl = [ 'y', \"z\" ]\n",
			func(d *TOML) error {
				return errors.Join(d.Set(Path{"a", "b"}, "x"), d.Set(Path{"a", "l"}, []string{"y", "z"}))
			},
			"[a]\nb = 'x' # c\nl = [ 'y', \"z\" ]\n",
		},
		{
			"a value over several lines is replaced as a whole",
			"[a]\nl = [ # list\n  1,\n  2, # two\n] # end\nz = 1\n",
			func(d *TOML) error { return d.Set(Path{"a", "l"}, []any{3, "x", 1.0, false}) },
			"[a]\nl = [3, \"x\", 1.0, false] # end\nz = 1\n",
		},
		{
			"a new key goes below the last one of its table",
			"[a]\n\tb = 1 # one\n\n# about c\n[c]\n",
			func(d *TOML) error { return d.Set(Path{"a", "n"}, int64(-2)) },
			"[a]\n\tb = 1 # one\n\tn = -2\n\n# about c\n[c]\n",
		},
		{
			"a new key in an empty table goes below the header",
			"[a] # here\n[c]\n",
			func(d *TOML) error { return d.Set(Path{"a", "a.b"}, "") },
			"[a] # here\n\"a.b\" = \"\"\n[c]\n",
		},
		{
			"a new key at the root goes below the last one there",
			"a = 1\n[c]\n",
			func(d *TOML) error { return d.Set(Path{"b"}, 2) },
			"a = 1\nb = 2\n[c]\n",
		},
		{
			"the first key at the root goes to the top",
			"[c]\n",
			func(d *TOML) error { return d.Set(Path{"b"}, 2) },
			"b = 2\n\n[c]\n",
		},
		{
			"a table of dotted keys gets a dotted key",
			"[mcp_servers]\nlid-guard.command = \"x\"\nother.command = \"y\"\n",
			func(d *TOML) error { return d.Set(Path{"mcp_servers", "lid-guard", "a b"}, 1) },
			"[mcp_servers]\nlid-guard.command = \"x\"\nlid-guard.\"a b\" = 1\nother.command = \"y\"\n",
		},
		{
			"a renamed key keeps value, comment and place",
			"[a]\n\"b\" = 1 # one\nc.b = 2\n",
			func(d *TOML) error {
				return errors.Join(d.Rename(Path{"a", "b"}, "n"), d.Rename(Path{"a", "c", "b"}, "m"), d.Rename(Path{"a", "no"}, "x"))
			},
			"[a]\n\"n\" = 1 # one\nc.m = 2\n",
		},
		{
			"an element of an array of tables gets a key",
			"[[a]]\nx = 1\n[[a]]\nx = 2\n[[a.b]]\ny = 1\n",
			func(d *TOML) error {
				return errors.Join(d.Set(Path{"a", 1, "z"}, 3), d.Set(Path{"a", 1, "b", 0, "y"}, 4))
			},
			"[[a]]\nx = 1\n[[a]]\nx = 2\nz = 3\n[[a.b]]\ny = 4\n",
		},
		{
			"an element goes with everything below it, its neighbours stay",
			"[[a]] # first\nx = 1\n\n# second\n[[a]]\nx = 2\n[[a.b]]\ny = 1\n[a.c]\nz = 1\n# third\n[[a]]\nx = 3\n",
			func(d *TOML) error { return d.Remove(Path{"a", 1}) },
			"[[a]] # first\nx = 1\n\n# second\n# third\n[[a]]\nx = 3\n",
		},
		{
			"a table goes wherever its parts stand",
			"[s.lidguard]\nk = 1\n\n[other]\nk = 2\n\n[s.lidguard.env]\nA = 1\n\n[s]\nlidguarded = 1\n",
			func(d *TOML) error { return d.Remove(Path{"s", "lidguard"}) },
			"[other]\nk = 2\n\n[s]\nlidguarded = 1\n",
		},
		{
			"dotted keys and inline tables below a header go as lines",
			"[s]\na = 1\nlidguard.command = \"x\"\nlidguard.args = [\n]\nb = 2\n[t]\nlidguard = { command = \"x\" }\n",
			func(d *TOML) error {
				return errors.Join(d.Remove(Path{"s", "lidguard"}), d.Remove(Path{"t", "lidguard"}))
			},
			"[s]\na = 1\nb = 2\n[t]\n",
		},
		{
			"a group gives way to an empty one in its place",
			"[[hooks.Stop]]\nmatcher = \"a\"\n[[hooks.Stop.hooks]]\ncommand = \"lidguard\"\n\n[[hooks.Stop]]\nmatcher = \"b\"\n",
			func(d *TOML) error {
				return d.Replace(Path{"hooks", "Stop", 0}, Table{Key: []string{"hooks", "Stop"}, Array: true, Pairs: []Pair{{"hooks", []any{}}}})
			},
			"[[hooks.Stop]]\nhooks = []\n\n[[hooks.Stop]]\nmatcher = \"b\"\n",
		},
		{
			"the last line needs no line ending to be replaced",
			"[[a]]\r\nb = 1",
			func(d *TOML) error { return d.Replace(Path{"a", 0}, Table{Key: []string{"a"}, Array: true}) },
			"[[a]]",
		},
		{
			"what is not there changes nothing",
			"[a]\nb = 1\n",
			func(d *TOML) error {
				return errors.Join(d.Remove(Path{"a", "c"}), d.Remove(Path{"x", 3}), d.AppendTables())
			},
			"[a]\nb = 1\n",
		},
		{
			"a created table goes when it is empty, and not before",
			"[mine]\n[theirs]\nk = 1\n[parent] # c\n[parent.child]\n",
			func(d *TOML) error { return d.Prune(Path{"mine"}, Path{"theirs"}, Path{"parent"}, Path{"gone"}) },
			"[theirs]\nk = 1\n[parent.child]\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustTOML(t, tt.before)
			if err := tt.edit(d); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestTOML_refusesAndStaysAsItWas(t *testing.T) {
	const text = "tui = { theme = \"dark\" }\nlist = [1]\ns = \"x\"\n[hooks]\nStop = [{ matcher = \"\" }]\n[[arr]]\nk = 1\n[tab]\nk = 1\n"
	group := func(key ...string) Table { return Table{Key: key, Array: true} }
	tests := []struct {
		name string
		edit func(*TOML) error
		want string
	}{
		{"a key in an inline table", func(d *TOML) error { return d.Set(Path{"tui", "new"}, 1) }, "line 1, column 1: tui is written as an inline table; write it as a [tui] section first"},
		{"a table below an inline table", func(d *TOML) error { return d.AppendTables(Table{Key: []string{"tui", "x"}}) }, "line 1, column 1: tui is written as an inline table; write it as a [tui] section first"},
		{"a key taken from an inline table", func(d *TOML) error { return d.Remove(Path{"tui", "theme"}) }, "line 1, column 1: tui is written as an inline table; write it as a [tui] section first"},
		{"a group added to an inline array", func(d *TOML) error { return d.AppendTables(group("hooks", "Stop")) }, "line 5, column 1: hooks.Stop is written as an inline array; write it as [[hooks.Stop]] sections first"},
		{"a group taken from an inline array", func(d *TOML) error { return d.Remove(Path{"hooks", "Stop", 0}) }, "line 5, column 1: hooks.Stop is written as an inline array; write it as [[hooks.Stop]] sections first"},
		{"a key below a string", func(d *TOML) error { return d.Set(Path{"s", "k"}, 1) }, "line 3, column 1: s is a plain value, expected a table"},
		{"a table that exists", func(d *TOML) error { return d.AppendTables(Table{Key: []string{"tab"}}) }, "line 8, column 1: the table tab exists already"},
		{"an array that is a table", func(d *TOML) error { return d.AppendTables(group("tab")) }, "line 11, column 3: key tab already exists as a table, but should be an array table"},
		{"a table below an element", func(d *TOML) error { return d.AppendTables(Table{Key: []string{"arr", "x"}}) }, "line 6, column 1: arr is an array, expected a table"},
		{"a value that is a table", func(d *TOML) error { return d.Set(Path{"tab"}, 1) }, "line 8, column 1: tab is a table, expected a plain value"},
		{"a value that is an array", func(d *TOML) error { return d.Set(Path{"arr"}, 1) }, "line 6, column 1: arr is an array, expected a plain value"},
		{"an element that is not there", func(d *TOML) error { return d.Set(Path{"arr", 5, "k"}, 1) }, "there is no table arr[5]"},
		{"replacing what is not there", func(d *TOML) error { return d.Replace(Path{"arr", 5}) }, "there is no table arr[5]"},
		{"a path without key", func(d *TOML) error { return d.Set(Path{"arr", 0}, 1) }, "arr[0] does not end in a key"},
		{"the document", func(d *TOML) error { return d.Set(nil, 1) }, "the document itself cannot be set"},
		{"removing the document", func(d *TOML) error { return d.Remove(nil) }, "the document itself cannot be removed"},
		{"a step that is no step", func(d *TOML) error { return d.Remove(Path{true}) }, "path (bool) has a step of type bool, want string or int"},
		{"a value TOML does not have", func(d *TOML) error { return d.Set(Path{"n"}, nil) }, "writing n: values of type <nil> are not written as TOML here"},
		{"a value nobody wants", func(d *TOML) error { return d.Set(Path{"n"}, math.NaN()) }, "writing n: NaN is no value for a config file"},
		{"a string that is no text", func(d *TOML) error { return d.Set(Path{"n"}, "\xff") }, `writing n: "\xff" is not UTF-8 and cannot stand in TOML`},
		{"a table without key", func(d *TOML) error { return d.AppendTables(Table{}) }, "a table needs a key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustTOML(t, text)
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

func TestParseTOML_refuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"half a line", "a = 1\nb = \n", "line 2, column 5: unexpected character U+000A at start of value"},
		{"an open string", "\"é\" = \"x\n", "line 1, column 9: basic strings cannot have new lines"},
		{"the same key twice", "[a]\nk = 1\nk = 2\n", "line 3, column 1: key k is already defined"},
		{"the same table twice", bom + "[a]\n[a]\n", "line 2, column 2: table a already exists"},
		{"JSON", "{\n}", "line 1, column 1: invalid character at start of key: U+007B '{'"},
		{"UTF-16", "\xfe\xff", "line 1, column 1: the file is UTF-16, expected UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseTOML([]byte(tt.text))
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

func TestTOML_reads(t *testing.T) {
	d := mustTOML(t, "a.b = 1\n[x]\n \"é\" = { k = [1, {z = 2}] }\n[[l]]\n[[l]]\nk = 3\n[l.sub]\n")
	for _, tt := range []struct {
		path Path
		pos  Position
		ok   bool
	}{
		{nil, Position{1, 1}, true},
		{Path{"a"}, Position{1, 1}, true},
		{Path{"a", "b"}, Position{1, 1}, true},
		{Path{"x"}, Position{2, 1}, true},
		{Path{"x", "é"}, Position{3, 2}, true},
		{Path{"x", "é", "k", 1, "z"}, Position{3, 2}, true},
		{Path{"l"}, Position{4, 1}, true},
		{Path{"l", 1}, Position{5, 1}, true},
		{Path{"l", 1, "k"}, Position{6, 1}, true},
		{Path{"l", 1, "sub"}, Position{7, 1}, true},
		{Path{"l", 0, "sub"}, Position{}, false},
		{Path{"x", 0}, Position{}, false},
		{Path{"l", "k"}, Position{}, false},
		{Path{"l", 1.0}, Position{}, false},
	} {
		if pos, ok := d.Locate(tt.path); pos != tt.pos || ok != tt.ok {
			t.Errorf("Locate(%s) = %v, %v, want %v, %v", tt.path, pos, ok, tt.pos, tt.ok)
		}
	}
	var v struct {
		L []struct{ K int }
	}
	if err := d.Decode(&v); err != nil || len(v.L) != 2 || v.L[1].K != 3 {
		t.Errorf("Decode = %v, %v", v, err)
	}
	if d.Empty() || !mustTOML(t, bom+" \n").Empty() || mustTOML(t, "# c").Empty() {
		t.Error("Empty is wrong")
	}
}

// What we write must come back as what it was.
func TestTOML_valuesComeBack(t *testing.T) {
	for _, s := range []string{"", "a b", `"'\`, "\x00\x01\x1f\x7f\u0080", "tab\tnl\ncr\r", "größe 🦊 \u2028", "[[x]]", "# no comment", `C:\Users\x`} {
		d := mustTOML(t, "")
		if err := d.Set(Path{"t", s, s}, []string{s}); err != nil {
			t.Fatalf("Set %q: %v", s, err)
		}
		if got, _ := d.Get(Path{"t", s, s, 0}); got != s {
			t.Errorf("got %q, want %q in %q", got, s, d.Bytes())
		}
	}
	for _, f := range []float64{0, -1.5, 1e300, 1e-300, 3} {
		d := mustTOML(t, "")
		if err := d.Set(Path{"f"}, f); err != nil {
			t.Fatal(err)
		}
		if got, _ := d.Get(Path{"f"}); got != f {
			t.Errorf("got %v, want %v in %q", got, f, d.Bytes())
		}
	}
}
