package thermal

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	pdh                         = windows.NewLazySystemDLL("pdh.dll")
	pdhOpenQuery                = pdh.NewProc("PdhOpenQueryW")
	pdhAddEnglishCounter        = pdh.NewProc("PdhAddEnglishCounterW")
	pdhCollectQueryData         = pdh.NewProc("PdhCollectQueryData")
	pdhGetFormattedCounterArray = pdh.NewProc("PdhGetFormattedCounterArrayW")
	pdhCloseQuery               = pdh.NewProc("PdhCloseQuery")
)

// counters are those that tell temperatures, the better one first, with what
// makes a kelvin. The first came with Windows 8.1.
var counters = []struct {
	path      string
	perKelvin float64
}{
	{zonesPath + `(*)\High Precision Temperature`, 10},
	{zonesPath + `(*)\Temperature`, 1},
}

// read asks the performance counters, which need no rights that a user of the
// machine does not have. Sensors of the processor itself are beyond them: only
// what the firmware shows as a thermal zone is read.
func read(string) (Reading, error) {
	for _, p := range []*windows.LazyProc{pdhOpenQuery, pdhAddEnglishCounter, pdhCollectQueryData, pdhGetFormattedCounterArray, pdhCloseQuery} {
		if err := p.Find(); err != nil {
			return Reading{}, fmt.Errorf("reading temperatures: %w (%w)", ErrNoSensor, err)
		}
	}
	var last error
	for _, c := range counters {
		zones, err := instances(c.path, c.perKelvin)
		if err != nil {
			last = err
			continue
		}
		r, err := ofZones(zones)
		if err == nil {
			return r, nil
		}
		last = err
	}
	return Reading{}, fmt.Errorf("reading temperatures: %w (%w)", ErrNoSensor, last)
}

// pdhError is a code of PDH.
type pdhError uint32

func (e pdhError) Error() string { return fmt.Sprintf("performance counters say %#x", uint32(e)) }

const (
	pdhMoreData    = pdhError(0x800007d2)
	pdhFmtDouble   = 0x00000200
	pdhFmtNoCap100 = 0x00008000
)

// item is PDH_FMT_COUNTERVALUE_ITEM_W with a double. Its layout is that of
// 64-bit Windows.
type item struct {
	name   *uint16
	status uint32
	_      uint32
	value  float64
}

func instances(path string, perKelvin float64) ([]zone, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	var query, counter windows.Handle
	if code, _, _ := pdhOpenQuery.Call(0, 0, uintptr(unsafe.Pointer(&query))); code != 0 {
		return nil, pdhError(code)
	}
	defer pdhCloseQuery.Call(uintptr(query))
	if code, _, _ := pdhAddEnglishCounter.Call(uintptr(query), uintptr(unsafe.Pointer(name)), 0, uintptr(unsafe.Pointer(&counter))); code != 0 {
		return nil, pdhError(code)
	}
	if code, _, _ := pdhCollectQueryData.Call(uintptr(query)); code != 0 {
		return nil, pdhError(code)
	}
	var size, count uint32
	for try := 0; ; try++ {
		buf := make([]item, int(size)/int(unsafe.Sizeof(item{}))+1)
		room := uint32(0) // asks how much is needed
		if size > 0 {
			room = uint32(len(buf)) * uint32(unsafe.Sizeof(item{}))
		}
		size = room
		code, _, _ := pdhGetFormattedCounterArray.Call(uintptr(counter), pdhFmtDouble|pdhFmtNoCap100,
			uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&buf[0])))
		switch {
		case pdhError(code) == pdhMoreData && try < 5:
			continue
		case code != 0:
			return nil, pdhError(code)
		case room == 0:
			return nil, nil
		}
		if int(count) > len(buf) {
			return nil, fmt.Errorf("performance counters say that %d instances fit into %d bytes", count, room)
		}
		var zones []zone
		for _, i := range buf[:count] {
			// The name lies in buf, behind the items. 0 and 1 are valid and new data.
			zones = append(zones, zone{windows.UTF16PtrToString(i.name), i.value / perKelvin, i.status <= 1})
		}
		return zones, nil
	}
}
