package gate

import (
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
