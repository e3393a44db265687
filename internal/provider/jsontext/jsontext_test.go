package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

var texts = []string{
	`{}`, ` { "a" : 1 } `, `{"a":{"b":[1,2,{"c":null}]},"d":"x\"y\\z","e":-1.5e+3}`,
	`{"a":1,"a":2}`, "\ufeff{\"a\":true}", `{"\u0061":"\ud83d\ude00 \ud800 \u00e9"}`,
	`{"a":1}x`, `{"a":1,}`, `{"a"}`, `{a:1}`, `[1]`, `"x"`, ``, `{`, `{"a":"x`, `{"a":"\q"}`,
	`{"a":01}`, `{"a":.5}`, `{"a":1.}`, `{"a":tru}`, `{"a":[1,,2]}`, `{"a":[1}`, "{\"a\":\"\x01\"}",
	"{\"a\":\"\xff\"}", `{"a":-}`, `{"a":1e}`, `null`, `{"a":nul`, `{"a":"\u12"}`, `{"a":"\`,
	strings.Repeat("[", 2000), `{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
}

func TestObject_agreesWithTheStandardLibrary(t *testing.T) {
	for _, text := range texts {
		var want map[string]json.RawMessage
		err := json.Unmarshal(bytes.TrimPrefix([]byte(text), []byte("\ufeff")), &want)
		deep := strings.Count(text, "[") > 512
		got := map[string]string{}
		gotErr := jsontext.Object([]byte(text), func(k, v []byte) bool { got[string(k)] = string(v); return true })
		if text == "null" {
			if gotErr == nil {
				t.Errorf("null passed for an object")
			}
			continue
		}
		if (err == nil && !deep) != (gotErr == nil) {
			t.Errorf("%.60q: got error %v, the standard library %v", text, gotErr, err)
		}
		if err == nil && !deep {
			for k, v := range want {
				if got[k] != string(v) {
					t.Errorf("%q: member %q is %q, want %q", text, k, got[k], v)
				}
			}
		}
	}
}

func TestObject_stopsWhenTold(t *testing.T) {
	n := 0
	err := jsontext.Object([]byte(`{"a":1,"b":2,"c":rubbish`), func(k, _ []byte) bool { n++; return string(k) != "b" })
	if err != nil || n != 2 {
		t.Errorf("got %d members and error %v, want 2 and none", n, err)
	}
}

func TestObject_handsOverWhatCameBeforeACut(t *testing.T) {
	var got string
	err := jsontext.Object([]byte(`{"id":"s1","big":"aaaa`), func(k, v []byte) bool { got += string(k); return true })
	if err == nil || got != "id" {
		t.Errorf("got members %q and error %v, want id and an error", got, err)
	}
}

func TestArray(t *testing.T) {
	var got []string
	if err := jsontext.Array([]byte(` [ 1 , "a" , {"b":[]} ] `), func(v []byte) bool { got = append(got, string(v)); return true }); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "|") != `1|"a"|{"b":[]}` {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"", "{}", "[1", "[1,]", "[1] 2"} {
		if jsontext.Array([]byte(bad), func([]byte) bool { return true }) == nil {
			t.Errorf("Array(%q) passed", bad)
		}
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text is not copied", "fix the bug", "fix the bug"},
		{"an escape sequence loses its escape", "\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"line feeds and tabs stay, CR goes", "a\r\nb\tc", "a\nb\tc"},
		{"C1 controls go", "a\u009bb\u0085c", "abc"},
		{"marks that reorder text go", "a\u202egnp.exe\u2066", "agnp.exe"},
		{"a joined emoji stays whole", "👩\u200d💻", "👩\u200d💻"},
		{"broken UTF-8 is marked", "a\xffb", "a\uFFFDb"},
	} {
		if got := jsontext.Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestShape_isClosed(t *testing.T) {
	shape := jsontext.Shape{
		{Key: "decision", Kind: "string", Enum: []string{"block"}, Required: true},
		{Key: "inner", Kind: "object", Members: jsontext.Shape{{Key: "n", Kind: "number"}}},
	}
	for _, c := range []struct{ name, text, fault string }{
		{"all of it", `{"decision":"block","inner":{"n":1}}`, ""},
		{"the optional left out", `{"decision":"block"}`, ""},
		{"required left out", `{"inner":{}}`, `"decision" is missing`},
		{"an unknown member", `{"decision":"block","x":1}`, `"x" is not known`},
		{"an unknown member inside", `{"decision":"block","inner":{"m":1}}`, `in "inner": member "m" is not known`},
		{"a value outside the list", `{"decision":"deny"}`, `is "deny", want one of`},
		{"a wrong kind", `{"decision":1}`, `is number, want string`},
		{"given twice", `{"decision":"block","decision":"block"}`, `given twice`},
		{"broken", `{"decision":"block"`, `JSON text ends`},
	} {
		err := shape.Check([]byte(c.text))
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: Check(%s) = %v, want %q", c.name, c.text, err, c.fault)
		}
	}
}

func TestSameShape(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"another text", `{"a":"x","b":[{"t":"1"}]}`, `{"b":[{"t":"2"}],"a":"y"}`, true},
		{"a member missing", `{"a":"x","b":1}`, `{"a":"x"}`, false},
		{"a member too many", `{"a":"x"}`, `{"a":"x","b":1}`, false},
		{"a text for an object", `{"a":"x"}`, `"x"`, false},
		{"an element of another kind", `[{"t":"1"}]`, `["1"]`, false},
		{"null says nothing", `{"a":null}`, `{"a":"x"}`, true},
		{"a shorter list", `[1,2]`, `[1]`, true},
	} {
		if got := jsontext.SameShape([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s: SameShape(%s, %s) = %v", c.name, c.a, c.b, got)
		}
	}
}

func TestMember(t *testing.T) {
	text := []byte(`{"a":{"b":"c"},"n":12,"t":true,"z":null}`)
	if got := jsontext.Text(jsontext.Member(text, "a"), "b"); got != "c" {
		t.Errorf("a.b is %q", got)
	}
	if n, ok := jsontext.Int(jsontext.Member(text, "n")); !ok || n != 12 {
		t.Errorf("n is %d %v", n, ok)
	}
	if !jsontext.True(jsontext.Member(text, "t")) || jsontext.Member(text, "q") != nil {
		t.Error("t is not true, or q exists")
	}
	if _, ok := jsontext.String(jsontext.Member(text, "z")); ok {
		t.Error("null passed for a string")
	}
}

// FuzzObject holds the laws: it agrees with the standard library on what is an
// object, every value it hands over is valid JSON, and strings read the same.
func FuzzObject(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var fields []json.RawMessage
		err := jsontext.Object(data, func(_, v []byte) bool { fields = append(fields, v); return true })
		if valid := json.Valid(data); err == nil != (valid && jsontext.Kind(bytes.TrimLeft(data, " \t\r\n")) == "object") &&
			!bytes.HasPrefix(data, []byte("\ufeff")) && bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) < 500 {
			t.Fatalf("Object(%q) = %v, json.Valid says %v", data, err, valid)
		}
		if jsontext.Valid(data) != json.Valid(data) && bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) < 500 {
			t.Fatalf("Valid(%q) = %v", data, jsontext.Valid(data))
		}
		for _, v := range fields {
			if !json.Valid(v) {
				t.Fatalf("Object(%q) handed over %q", data, v)
			}
			var want string
			// A run of broken bytes becomes one mark here, one each there.
			if got, ok := jsontext.String(v); ok && utf8.Valid(v) && (json.Unmarshal(v, &want) != nil || got != want) {
				t.Fatalf("String(%q) = %q, want %q", v, got, want)
			}
		}
	})
}

func TestWriter_keepsRawValuesOnOneLine(t *testing.T) {
	var w jsontext.Writer
	w.Raw("a", []byte("{\n  \"b\": \"x\\n\xff\"\r\n}"))
	if got, want := string(w.Bytes()), "{\"a\":{\"b\":\"x\\n\uFFFD\"}}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzWriter holds the law that any text written is read back as it was.
func FuzzWriter(f *testing.F) {
	f.Add("key", "a\x1b\"\\\u2028\x7f\xff")
	f.Fuzz(func(t *testing.T, key, text string) {
		var w jsontext.Writer
		w.String(key, text)
		w.Text("clean", text)
		var got map[string]string
		if err := json.Unmarshal(w.Bytes(), &got); err != nil {
			t.Fatalf("%q: %v", w.Bytes(), err)
		}
		if key != "clean" && utf8.ValidString(key) && got[key] != strings.ToValidUTF8(text, "\uFFFD") && utf8.ValidString(text) {
			t.Fatalf("wrote %q, read %q", text, got[key])
		}
		clean := jsontext.Clean(text)
		if clean != jsontext.Clean(clean) || strings.ContainsAny(clean, "\x00\x1b\r\x7f") || !utf8.ValidString(clean) {
			t.Fatalf("Clean(%q) = %q", text, clean)
		}
	})
}

func BenchmarkObject400KB(b *testing.B) {
	payload := []byte(`{"session_id":"s","tool_response":{"stdout":"` + strings.Repeat(`some output \"quoted\"\n`, 18000) + `"}}`)
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if err := jsontext.Object(payload, func(_, _ []byte) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
}
