package entry

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"
)

// What is read without encoding/json is read as encoding/json reads it.
func TestPacks_plainAgreesWithTheDecoder(t *testing.T) {
	read := 0
	for _, text := range []string{
		`{"modes":{"gate":"on","rule":"audit","nudge":"off"}}`, "{\n  \"modes\": {\n    \"gate\": \"on\"\n  }\n}\n", `{}`, `{"modes":{}}`,
		`{"modes":{"gate":"on"},"modes":{"rule":"off"}}`, `{"modes":{"gate":"no"}}`, `{"modes":{"gate":null}}`, `{"modes":null}`, `{"modes":[]}`,
		`{"Modes":{"gate":"on"}}`, `{"modes":{"gate":"on"},"profile":"strict"}`, `{"modes":{"gate":"on"},"roots":["/a"]}`, `{"other":1}`,
		`{"modes":{"gate":"on"}`, `{"modes":{"gate":"on"}}x`, ``, `[]`, "\xef\xbb\xbf{}",
	} {
		var got, want Packs
		if !got.plain([]byte(text)) {
			continue
		}
		read++
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&want); err != nil || !maps.Equal(got.Modes, want.Modes) || got.Profile != nil || got.Roots != nil {
			t.Errorf("%s: got %+v, want %+v, %v", text, got, want, err)
		}
	}
	if read != 5 {
		t.Errorf("%d texts were plain, want 5", read)
	}
}
