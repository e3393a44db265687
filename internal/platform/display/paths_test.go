package display

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// path lays out DISPLAYCONFIG_PATH_INFO.
func path(adapter uint64, id, technology, available, flags uint32) []byte {
	b := make([]byte, pathSize)
	binary.LittleEndian.PutUint64(b[targetAdapter:], adapter)
	binary.LittleEndian.PutUint32(b[targetID:], id)
	binary.LittleEndian.PutUint32(b[targetTechnology:], technology)
	binary.LittleEndian.PutUint32(b[targetAvailable:], available)
	binary.LittleEndian.PutUint32(b[pathFlags:], flags)
	return b
}

func TestParsePaths(t *testing.T) {
	const (
		hdmi, displayPort, embedded, internal, lvds, miracast, other = 5, 10, 11, 0x80000000, 6, 15, 0xffffffff
	)
	for name, c := range map[string]struct {
		paths           [][]byte
		visible, behind int // with the lid open, and shut
	}{
		"the laptop alone":                       {[][]byte{path(1, 1, internal, 1, 1)}, 1, 0},
		"its panel by embedded DisplayPort":      {[][]byte{path(1, 1, embedded, 1, 1)}, 1, 0},
		"its panel by LVDS":                      {[][]byte{path(1, 1, lvds, 1, 1)}, 1, 0},
		"internal beside another technology":     {[][]byte{path(1, 1, internal|displayPort, 1, 1)}, 1, 0},
		"docked, lid open":                       {[][]byte{path(1, 1, internal, 1, 1), path(1, 2, displayPort, 1, 1)}, 2, 1},
		"docked, panel off":                      {[][]byte{path(1, 2, hdmi, 1, 1)}, 1, 1},
		"one of unknown technology is a display": {[][]byte{path(1, 2, 77, 1, 1)}, 1, 1},
		"one of other technology is a display":   {[][]byte{path(1, 2, other, 1, 1)}, 1, 1},
		"Miracast":                               {[][]byte{path(1, 2, miracast, 1, 1)}, 1, 1},
		"a display that is not in use":           {[][]byte{path(1, 2, hdmi, 1, 0)}, 0, 0},
		"a display that was unplugged":           {[][]byte{path(1, 2, hdmi, 0, 1)}, 0, 0},
		"two paths to one display":               {[][]byte{path(1, 2, hdmi, 1, 1), path(1, 2, hdmi, 1, 1)}, 1, 1},
		"one number at two graphics cards":       {[][]byte{path(1, 2, hdmi, 1, 1), path(9, 2, hdmi, 1, 1)}, 2, 2},
		"headless":                               {nil, 0, 0},
	} {
		r, err := parsePaths(slices.Concat(c.paths...))
		if err != nil || r.Visible(false) != c.visible || len(r.Blocking(true)) != c.behind {
			t.Errorf("%s: got %+v, %v, want %d, behind a shut lid %d", name, r, err, c.visible, c.behind)
		}
	}
}

func TestParsePaths_halfAPathIsUnknown(t *testing.T) {
	if r, err := parsePaths(path(1, 1, 5, 1, 1)[:70]); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %+v, %v", r, err)
	}
}
