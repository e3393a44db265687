package confedit

import (
	"bytes"
	"testing"
)

// order turns fuzz bytes into an order of n things.
func order(seed uint, n int) []int {
	var out []int
	left := reversed(n)
	for len(left) > 0 {
		i := int(seed % uint(len(left)))
		seed /= uint(len(left))
		out = append(out, left[i])
		left = append(left[:i:i], left[i+1:]...)
	}
	return out
}

func FuzzJSON(f *testing.F) {
	for i, n := range nastyJSON() {
		f.Add([]byte(n.text), n.mode == Comments, uint8(i), uint(i*7))
	}
	f.Fuzz(func(t *testing.T, data []byte, comments bool, which uint8, seed uint) {
		mode := Strict
		if comments {
			mode = Comments
		}
		d, err := ParseJSON(data, mode)
		if err != nil {
			return
		}
		if got := d.Bytes(); !bytes.Equal(got, data) {
			t.Fatalf("round trip:\n got %q\nwant %q", got, data)
		}
		var edits []jsonEdit
		for i, e := range jsonEdits {
			trial, err := ParseJSON(data, mode)
			if err != nil {
				t.Fatal(err)
			}
			if _, there := trial.Get(e.path); e.set && there {
				continue // replacing is not appending
			}
			if which>>i&1 == 1 && e.find(trial) < 0 && e.install(trial) == nil {
				edits = append(edits, e)
			}
		}
		checkJSONLaws(t, string(data), mode, edits, order(seed, len(edits)))
	})
}

func FuzzTOML(f *testing.F) {
	for i, n := range nastyTOML() {
		f.Add([]byte(n.text), uint8(i), uint(i*7))
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8, seed uint) {
		d, err := ParseTOML(data)
		if err != nil {
			return
		}
		if got := d.Bytes(); !bytes.Equal(got, data) {
			t.Fatalf("round trip:\n got %q\nwant %q", got, data)
		}
		var edits []tomlEdit
		for i, e := range tomlEdits {
			trial := mustTOML(t, string(data))
			if _, there := e.isIn(trial); which>>i&1 == 1 && !there && e.install(trial) == nil {
				edits = append(edits, e)
			}
		}
		checkTOMLLaws(t, string(data), edits, order(seed, len(edits)))
	})
}
