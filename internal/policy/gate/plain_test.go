package gate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// What is read without encoding/json is read as encoding/json reads it.
func FuzzPlain(f *testing.F) {
	read := 0
	seeds := []string{
		`{"command":"git status"}`, `{"command":"a\u00e9\n\"b\"","description":"x","timeout":5,"run_in_background":true}`,
		`{"command":"a","command":"b"}`, ` {"command":"a"}`, `{"command":"a"} `, `{"command":"a"}x`, `{"Command":"a"}`,
		`{"command":"a","COMMAND":"b"}`, `{"comm\u0061nd":"a"}`, `{"command":null}`, `{"command":["a","b"]}`, `{"command":5}`,
		`{"command":"a","cwd":"/x"}`, `{"description":{"a":[1,2]}}`, `{}`, `[]`, ``, "{\"command\":\"\xff\"}", `{"command":"\ud800"}`,
		"\xef\xbb\xbf{}", `{"command":"a","description":}`, `null`, `{"command":"a`,
	}
	for _, s := range seeds {
		var in input
		if in.plain([]byte(s)) {
			read++
		}
		f.Add([]byte(s))
	}
	if read < 5 {
		f.Errorf("only %d of %d inputs were plain", read, len(seeds))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got, want input
		if !got.plain(raw) {
			if !reflect.DeepEqual(got, input{}) {
				t.Errorf("%q: left %+v behind", raw, got)
			}
			return
		}
		if err := json.Unmarshal(raw, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v, %v", raw, got, want, err)
		}
	})
}

// What a large input is cut down to is read as the whole.
func FuzzNeeded(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"command":"git status","description":"x"}`, `{"file_path":"a","content":"b\u00e9\"c"}`, `{"FILE_PATH":"a","file_path":"b"}`,
		`{"edits":[{"file_path":"a","old_string":"x"},{"filePath":["b","c"]},null,{}]}`, `{"edits":null}`, `{"edits":5}`, `{"edits":{}}`, `{"edits":["a"]}`,
		`{"edits":[{"file_path":"a"},{"filePath":"b"}],"edits":[{},{}]}`, `{"comm\u0061nd":["a","b"]}`, `{"command":null,"cmd":5,"url":{"a":1}}`,
		`{"\u017fcript":"a"}`, `{"\u212aey":1,"path":"a"}`, ` {"paths" : [ "a" , "b" ] , "x" : [ { } ] } `, `[]`, `"a"`, `{"a":1`, `{"a":1}}`, "{\"command\":\"\xff\",\"\xff\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got, want input
		cut, err := needed(raw)
		wanted := json.Unmarshal(raw, &want)
		if err != nil {
			if wanted == nil && string(bytes.TrimSpace(raw)) != "null" && bytes.Count(raw, []byte("[")) < 500 && bytes.Count(raw, []byte("{")) < 500 {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		if !json.Valid(raw) {
			return // a byte-order mark
		}
		if err := json.Unmarshal(cut, &got); (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v, want %+v, %v", raw, got, err, want, wanted)
		}
	})
}
