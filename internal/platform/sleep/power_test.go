package sleep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseAbilities(t *testing.T) {
	with := func(fields ...int) []byte {
		b := make([]byte, abilitiesSize)
		for _, f := range fields {
			b[f] = 1
		}
		return b
	}
	for name, c := range map[string]struct {
		b    []byte
		want Abilities
	}{
		"a laptop that sleeps to memory":   {with(2, 5, 6, 8), Abilities{Lid: true, Sleep: true, Hibernate: true}},
		"a laptop with modern standby":     {with(2, 6, 8, 20), Abilities{Lid: true, Hibernate: true, ModernStandby: true}},
		"hibernation switched off":         {with(2, 5, 6), Abilities{Lid: true, Sleep: true}},
		"an old machine that knows S1":     {with(3), Abilities{Sleep: true}},
		"a virtual machine":                {with(), Abilities{}},
		"fields that are none of ours all": {with(0, 1, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23), Abilities{}},
	} {
		if got, err := parseAbilities(c.b); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, c.want)
		}
	}
	if _, err := parseAbilities(make([]byte, 12)); err == nil {
		t.Error("an answer cut short is believed")
	}
}

// schemes are power schemes in memory.
type schemes struct {
	active string
	values map[string]uint32 // by scheme and power source
	err    error
}

func (s *schemes) key(scheme string, mains bool) string { return fmt.Sprint(scheme, mains) }

func (s *schemes) ActiveScheme() (string, error) { return s.active, s.err }

func (s *schemes) LidAction(scheme string, mains bool) (uint32, error) {
	v, ok := s.values[s.key(scheme, mains)]
	if !ok {
		return 0, ErrNoSetting
	}
	return v, s.err
}

func (s *schemes) SetLidAction(scheme string, mains bool, action uint32) error {
	if s.err == nil {
		s.values[s.key(scheme, mains)] = action
	}
	return s.err
}

const balanced, saver = "381b4222-f694-41f0-9685-ff5bb260df2e", "a1841308-3541-4fab-bc81-f71556f20b4a"

func TestLidAction(t *testing.T) {
	ctx := t.Context()
	s := &schemes{active: balanced, values: map[string]uint32{
		balanced + "true": 1, balanced + "false": 2, saver + "true": 3, saver + "false": 0}}
	l := LidAction{s}
	names, err := l.Names()
	if err != nil || len(names) != 2 {
		t.Fatalf("got %q, %v", names, err)
	}
	for i, want := range []string{"1", "2"} {
		if got, err := l.Read(ctx, names[i]); got != want || err != nil {
			t.Errorf("%s reads %q, %v, want %q", names[i], got, err, want)
		}
	}
	if shut, err := l.Shut(ctx); shut || err != nil {
		t.Errorf("Shut = %v, %v", shut, err)
	}
	if err := l.Write(ctx, names[0], "0"); err != nil {
		t.Fatal(err)
	}
	if shut, err := l.Shut(ctx); shut || err != nil {
		t.Errorf("with one of two values changed: Shut = %v, %v", shut, err)
	}
	if err := l.Write(ctx, names[1], "0"); err != nil {
		t.Fatal(err)
	}
	if shut, err := l.Shut(ctx); !shut || err != nil {
		t.Errorf("with both values changed: Shut = %v, %v", shut, err)
	}
	// A name goes on meaning its own scheme.
	s.active = saver
	if err := l.Write(ctx, names[0], "1"); err != nil || s.values[balanced+"true"] != 1 || s.values[saver+"true"] != 3 {
		t.Errorf("Write = %v, values %v", err, s.values)
	}
	if shut, err := l.Shut(ctx); shut || err != nil {
		t.Errorf("in another scheme: Shut = %v, %v", shut, err)
	}
}

func TestLidAction_badNamesAndValues(t *testing.T) {
	s := &schemes{active: balanced, values: map[string]uint32{}}
	l := LidAction{s}
	for _, name := range []string{"", "LIDACTION", lidActionMains, lidActionMains + "../x", lidActionMains + strings.ToUpper(balanced),
		"LIDACTION somewhere " + balanced, lidActionBattery + balanced + " ", "disablesleep"} {
		if v, err := l.Read(t.Context(), name); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q reads %q, %v", name, v, err)
		}
		if err := l.Write(t.Context(), name, "1"); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q is written: %v", name, err)
		}
	}
	for _, value := range []string{"", "-1", "sleep", "4294967296"} {
		if err := l.Write(t.Context(), lidActionMains+balanced, value); err == nil || len(s.values) != 0 {
			t.Errorf("value %q: %v, %v", value, err, s.values)
		}
	}
	// A scheme that was deleted meanwhile has nothing to put back.
	if v, err := l.Read(t.Context(), lidActionMains+saver); v != "" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Write(ended, lidActionMains+balanced, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context writes: %v", err)
	}
	s.err = errors.New("broken")
	if _, err := l.Names(); !errors.Is(err, s.err) {
		t.Errorf("got %v", err)
	}
}

func FuzzParseLidName(f *testing.F) {
	for _, s := range []string{lidActionMains + balanced, lidActionBattery + saver, "", "LIDACTION mains {}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		scheme, mains, err := parseLidName(name)
		if err != nil {
			return
		}
		names := []string{lidActionBattery + scheme, lidActionMains + scheme}
		if want := names[map[bool]int{false: 0, true: 1}[mains]]; name != want || !slices.Contains(names, name) {
			t.Errorf("%q is read as %q", name, want)
		}
	})
}
