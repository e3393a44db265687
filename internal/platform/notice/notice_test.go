package notice

import "testing"

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct {
		message uint32
		detail  uintptr
		setting string
		data    []byte
		want    Kind
	}{
		"the lid is shut":                        {wmPowerBroadcast, pbtSettingChange, "BA3E0F4D-B817-4094-A2D1-D56379E6A0F3", []byte{0, 0, 0, 0}, LidClosed},
		"the lid is open":                        {wmPowerBroadcast, pbtSettingChange, lidSwitch, []byte{1, 0, 0, 0}, LidOpen},
		"a lid value that nobody knows":          {wmPowerBroadcast, pbtSettingChange, lidSwitch, []byte{7, 0, 0, 0}, ""},
		"a lid message cut short is no shut lid": {wmPowerBroadcast, pbtSettingChange, lidSwitch, []byte{0}, ""},
		"a lid message without data":             {wmPowerBroadcast, pbtSettingChange, lidSwitch, nil, ""},
		"the charger":                            {wmPowerBroadcast, pbtSettingChange, powerSource, []byte{1, 0, 0, 0}, Power},
		"the charge":                             {wmPowerBroadcast, pbtSettingChange, batteryRemaining, []byte{50, 0, 0, 0}, Power},
		"a screen":                               {wmPowerBroadcast, pbtSettingChange, displayState, []byte{0, 0, 0, 0}, Power},
		"another scheme":                         {wmPowerBroadcast, pbtSettingChange, personality, nil, Scheme},
		"a setting that was not asked for":       {wmPowerBroadcast, pbtSettingChange, "00000000-0000-0000-0000-000000000000", []byte{1}, ""},
		"sleep":                                  {wmPowerBroadcast, pbtSuspend, "", nil, Sleeping},
		"every wake-up":                          {wmPowerBroadcast, pbtResumeAutomatic, "", nil, Woke},
		"the second message of a wake-up is not another": {wmPowerBroadcast, pbtResumeSuspend, "", nil, Power},
		"the supply, as old programs hear it":            {wmPowerBroadcast, pbtStatusChange, "", nil, Power},
		"an unknown detail":                              {wmPowerBroadcast, 0x99, "", nil, ""},
		"another message":                                {0x0010, pbtSuspend, "", nil, ""},
	} {
		if got := decode(c.message, c.detail, c.setting, c.data); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Each setting that is asked for must mean something when it comes.
func TestDecode_everySettingAskedFor(t *testing.T) {
	for _, setting := range settings() {
		if got := decode(wmPowerBroadcast, pbtSettingChange, setting, []byte{1, 0, 0, 0}); got == "" {
			t.Errorf("%s is asked for and not understood", setting)
		}
	}
}
