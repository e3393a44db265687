package confedit

import (
	"fmt"
	"strings"
)

// nasty is a file as a person, a program or a crash may have left it.
type nasty struct {
	name string
	mode Mode
	text string
}

// nastyJSON returns every base document in every layout: line endings,
// byte-order mark, indentation, final newline. Bases are written with two
// blanks per level and LF; the layouts are derived from that.
func nastyJSON() []nasty {
	bases := []nasty{
		{"nothing", Strict, "{}\n"},
		{"a blank", Strict, "{ }\n"},
		{"an empty line", Strict, "{\n}\n"},
		{"empty lines", Strict, "{\n\n\n}\n"},
		{"empty hooks", Strict, "{\n  \"hooks\": {}\n}\n"},
		{"hooks with a line break", Strict, "{\n  \"hooks\": {\n  }\n}\n"},
		{"an empty list", Strict, "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": [ ]\n  }\n}\n"},
		{"an empty list with a line break", Strict, "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n"},
		{"foreign hooks", Strict, "{\n  \"model\": \"m\",\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"say \\\"done\\\"\"\n          }\n        ]\n      }\n    ]\n  },\n  \"zz unknown\": {\n    \"n\": 1e400\n  }\n}\n"},
		{"hugging brackets", Strict, "{\"hooks\": {\n  \"Stop\": [{\n    \"hooks\": []\n  }]},\n  \"x\": [[], [[]]]}\n"},
		{"one line", Strict, "{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":[]}],\"PreToolUse\":[]},\"b\":[1,2,3]}\n"},
		{"one line with blanks", Strict, "{ \"a\": 1, \"hooks\": { \"Stop\": [ { \"hooks\": [ ] } ] }, \"b\": [ 1, 2 ] }\n"},
		{"twins", Strict, "{\n  \"hooks\": {\n    \"Stop\": [\n      1\n    ]\n  },\n  \"hooks\": {\n    \"Stop\": [\n      2\n    ],\n    \"Stop\": []\n  }\n}\n"},
		{"unicode", Strict, "{\n  \"größe 🦊\": \"\\ud83e\\udd8a \u202e\",\n  \"\\u0068ooks\": {\n    \"Stop\": [\n      \"日本語\"\n    ]\n  },\n  \"\": null\n}\n"},
		{"deep", Strict, "{\n  \"d\": " + strings.Repeat("{\"d\": [", 40) + strings.Repeat("]}", 40) + ",\n  \"hooks\": {\n    \"Stop\": [\n      " + strings.Repeat("[", 30) + strings.Repeat("]", 30) + "\n    ]\n  }\n}\n"},
		{"ragged", Strict, "\n\n {\"a\" :1\n ,\"hooks\":\n   {\"Stop\" : [1\n,2 ]\n  ,  \"x\":0}\n\n }  \n \n"},
		{"comments", Comments, "// top\n{\n  // before a\n  \"a\": 1, // behind a\n  /* b */ \"b\": /* two */ 2 /* behind b */,\n  \"hooks\": { // mine\n    \"Stop\": [\n      // first\n      1, // one\n      2 // two \n      // last\n    ]\n  } // end of hooks\n  // end\n} // tail\n// below\n"},
		{"comments in empty places", Comments, "{\n  \"hooks\": {\n    \"Stop\": [\n      // nothing yet\n    ],\n    \"PreToolUse\": [ /* nothing */ ],\n    \"Notification\": [/**/]\n    // none\n  }\n}\n"},
		{"trailing commas", Comments, "{\n  \"a\": [1, 2,],\n  \"hooks\": {\n    \"Stop\": [\n      1,\n      2, // two\n      // last\n    ],\n    \"PreToolUse\": [ 1 , ],\n  },\n}\n"},
		{"a comment instead of members", Comments, "{\n  // \"hooks\": {}\n}\n"},
		{"a comment before the bracket", Comments, "{ /* a */ }\n"},
		{"a comment right before the bracket", Comments, "{\n  /* a */}\n"},
	}
	var out []nasty
	for _, base := range bases {
		for _, indent := range []string{"  ", "\t", "    "} {
			for _, eol := range []string{"\n", "\r\n"} {
				for _, mark := range []string{"", bom} {
					for _, final := range []bool{true, false} {
						text := reindent(base.text, indent)
						if !final {
							text = strings.TrimRight(text, "\n")
						}
						text = mark + strings.ReplaceAll(text, "\n", eol)
						out = append(out, nasty{
							fmt.Sprintf("%s, indent %q, eol %q, bom %v, final newline %v", base.name, indent, eol, mark != "", final),
							base.mode, text,
						})
					}
				}
			}
		}
	}
	for _, text := range []string{"", " ", "\n", "\r\n", " \n ", bom, bom + "\n"} {
		out = append(out, nasty{fmt.Sprintf("only %q", text), Strict, text})
	}
	for _, text := range []string{"// c", "/* c */", "// c\n", "/* c */ \n// d\r\n", "// c \n{}// d", "{// c\n}", "{\"hooks\":{\"Stop\":[1// c\n]}}"} {
		out = append(out, nasty{fmt.Sprintf("only %q", text), Comments, text})
	}
	for _, text := range []string{"{\r}", "{ \r \n}", "{\"hooks\":\r{\r\"Stop\":\r[\r]\r}\r}", "{\n\"hooks\":{\"Stop\":[\r\r\n]}}"} {
		out = append(out, nasty{fmt.Sprintf("lone carriage returns %q", text), Strict, text})
	}
	return out
}

// nastyTOML does the same for TOML.
func nastyTOML() []nasty {
	bases := []nasty{
		{"nothing", Strict, ""},
		{"an empty line", Strict, "\n"},
		{"empty lines", Strict, "\n \n\n"},
		{"only a comment", Strict, "#:schema https://example.org/s.json\n"},
		{"plain pairs", Strict, "model = \"m\" # mine\napproval_policy = 'never'\n"},
		{"tables", Strict, "model = \"m\"\n\n[features]\n  hooks = true   # on\n\n  # about servers\n[mcp_servers.other]\n  command = \"x\"\n  args = [\n    \"a\", # first\n    \"b\",\n  ]\n\n[mcp_servers.other.env]\n  K = \"v\"\n# the end\n"},
		{"foreign hooks", Strict, "[[hooks.Stop]]\n  matcher = \"Bash\"\n\n  [[hooks.Stop.hooks]]\n    type = \"command\"\n    command = '''\n[[hooks.Stop]]\n'''\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"y\"\n\n[hooks.state.\"/home/x/.codex/config.toml:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n"},
		{"quoted and dotted keys", Strict, "\"größe\" . 'a b'.c = 1\nmcp_servers.other.command = \"x\"\n[ projects . \"/home/x\" ]   # spaced\ntrust_level = \"trusted\"\n"},
		{"inline tables", Strict, "tui = { theme = \"dark\", keys = [1, 2] }\n[x]\ny = {}\n"},
		{"dates and numbers", Strict, "d = 1979-05-27T07:32:00-08:00\nn = 1_000\nh = 0xFF\ni = -inf\n\n\n"},
		{"multiline strings", Strict, "s = \"\"\"\n[not.a.table]\nk = 1 \\\n   # no comment\n\"\"\"\n[t]\n"},
		{"a table split up", Strict, "[a.b]\nk = 1\n[c]\nk = 2\n[a.d]\nk = 3\n"},
	}
	var out []nasty
	for _, base := range bases {
		for _, indent := range []string{"  ", "\t"} {
			for _, eol := range []string{"\n", "\r\n"} {
				for _, mark := range []string{"", bom} {
					for _, final := range []bool{true, false} {
						text := reindent(base.text, indent)
						if !final {
							text = strings.TrimSuffix(text, "\n")
						}
						text = mark + strings.ReplaceAll(text, "\n", eol)
						out = append(out, nasty{
							fmt.Sprintf("%s, indent %q, eol %q, bom %v, final newline %v", base.name, indent, eol, mark != "", final),
							base.mode, text,
						})
					}
				}
			}
		}
	}
	return out
}

// reindent replaces each level of two blanks at the start of lines.
func reindent(text, unit string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " ")
		blanks := len(line) - len(body)
		b.WriteString(strings.Repeat(unit, blanks/2) + strings.Repeat(" ", blanks%2) + body)
	}
	return b.String()
}
