package display

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// pathSize is the size of DISPLAYCONFIG_PATH_INFO (wingdi.h), the same on every
// processor: a source of 20 bytes, a target of 48, flags of 4.
const pathSize = 72

// Where in a path its target has what (DISPLAYCONFIG_PATH_TARGET_INFO).
const (
	targetAdapter    = 20 // LUID, 8 bytes
	targetID         = 28
	targetTechnology = 36
	targetAvailable  = 60
	pathFlags        = 68
)

// pathActive is DISPLAYCONFIG_PATH_ACTIVE.
const pathActive = 1

// technologies name DISPLAYCONFIG_VIDEO_OUTPUT_TECHNOLOGY. Displays of Miracast
// and virtual ones count like any other: somebody looks at them.
var technologies = map[uint32]string{
	0: "VGA", 1: "S-video", 2: "composite", 3: "component", 4: "DVI", 5: "HDMI", 6: "LVDS", 8: "D-jpn", 9: "SDI", 10: "DisplayPort",
	11: "embedded DisplayPort", 12: "UDI", 13: "embedded UDI", 14: "SDTV dongle", 15: "Miracast", 16: "wired indirect",
	17: "virtual", 18: "DisplayPort over USB", internalTechnology: "internal",
}

// internalTechnology is DISPLAYCONFIG_OUTPUT_TECHNOLOGY_INTERNAL. It is also a
// flag that newer systems set beside another technology.
const internalTechnology = 0x80000000

// ofTheMachine reports whether a technology is one for the machine's own panel.
func ofTheMachine(technology uint32) bool {
	const lvds, embeddedDisplayPort, embeddedUDI, other = 6, 11, 13, 0xffffffff
	switch technology {
	case lvds, embeddedDisplayPort, embeddedUDI:
		return true
	case other:
		return false // all bits set, and yet not internal
	}
	return technology&internalTechnology != 0
}

// parsePaths reads what QueryDisplayConfig of Windows gives for active paths.
// Several paths to one target are one display.
func parsePaths(b []byte) (Reading, error) {
	if len(b)%pathSize != 0 {
		return Reading{}, fmt.Errorf("counting displays: %w (%d bytes are no whole paths)", ErrUnknown, len(b))
	}
	var r Reading
	for path := range slices.Chunk(b, pathSize) {
		at := func(offset int) uint32 { return binary.LittleEndian.Uint32(path[offset:]) }
		if at(pathFlags)&pathActive == 0 || at(targetAvailable) == 0 {
			continue
		}
		technology := at(targetTechnology)
		name, known := technologies[technology]
		if !known {
			name = fmt.Sprintf("technology %d", int32(technology))
		}
		c := Connector{
			Name:     fmt.Sprintf("%s (%x-%d)", name, binary.LittleEndian.Uint64(path[targetAdapter:]), at(targetID)),
			Internal: ofTheMachine(technology), Status: "connected",
		}
		if !slices.Contains(r.Connectors, c) {
			r.Connectors = append(r.Connectors, c)
		}
	}
	slices.SortFunc(r.Connectors, func(a, b Connector) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}
