package battery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
)

// supplies writes power supplies: "BAT0: type=Battery capacity=50".
func supplies(t *testing.T, lines string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "sys/class/power_supply"), 0o755); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		name, values, _ := strings.Cut(strings.TrimSpace(line), ": ")
		dir := filepath.Join(root, "sys/class/power_supply", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for kv := range strings.FieldsSeq(values) {
			k, v, _ := strings.Cut(kv, "=")
			if err := os.WriteFile(filepath.Join(dir, k), []byte(strings.ReplaceAll(v, "_", " ")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestReadSysfs(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/supplies.txtar")
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]string{}
	for _, f := range ar.Files {
		trees[f.Name] = string(f.Data)
	}
	tests := []struct {
		tree string
		want Reading
	}{
		{"a laptop on battery", Reading{Present: true, OnBattery: true, Percent: 40, State: Discharging, Watts: 10, ToEmpty: 2 * time.Hour}},
		{"a laptop on mains", Reading{Present: true, Percent: 80, State: Charging, Watts: 30}},
		{"full", Reading{Present: true, Percent: 100, State: Full}},
		{"held by a charge limit", Reading{Present: true, Percent: 80, State: Idle}},
		{"counted in charge", Reading{Present: true, OnBattery: true, Percent: 50, State: Discharging, Watts: 12, ToEmpty: 2 * time.Hour}},
		{"two batteries, one in use", Reading{Present: true, OnBattery: true, Percent: 55, State: Discharging, Watts: 11, ToEmpty: 3 * time.Hour}},
		{"two batteries of unlike size", Reading{Present: true, OnBattery: true, Percent: 10, State: Discharging, Watts: 10, ToEmpty: time.Hour}},
		{"an empty bay", Reading{Present: true, Percent: 70, State: Full}},
		{"a weak charger", Reading{Present: true, Percent: 30, State: Discharging, Watts: 5}},
		{"only a mouse", Reading{State: Unknown}},
		{"a desktop", Reading{State: Unknown}},
		{"no mains listed", Reading{Present: true, OnBattery: true, Percent: 20, State: Discharging}},
		{"a driver that signs the current", Reading{Present: true, OnBattery: true, Percent: 50, State: Discharging, Watts: 12, ToEmpty: 2 * time.Hour}},
		{"a status nobody knows", Reading{Present: true, Percent: 60, State: Unknown}},
	}
	if len(tests) != len(trees) {
		t.Errorf("%d tests for %d trees", len(tests), len(trees))
	}
	for _, tt := range tests {
		t.Run(tt.tree, func(t *testing.T) {
			tt.want.Source = "sysfs"
			got, err := readSysfs(supplies(t, trees[tt.tree]))
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestRead_nothingKnown(t *testing.T) {
	s := Open(Options{SystemBus: "unix:path=/nonexistent", Root: t.TempDir()})
	defer s.Close()
	if r, err := s.Read(t.Context()); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %+v, %v, want ErrUnknown", r, err)
	}
}

func TestRead_uPowerFirst(t *testing.T) {
	address := bustest.Start(t)
	up := bustest.NewUPower(t, address)
	root := supplies(t, "BAT0: type=Battery status=Full capacity=99\nAC: type=Mains online=1")
	s := Open(Options{SystemBus: address, Root: root})
	defer s.Close()
	check := func(want Reading) {
		t.Helper()
		if got, err := s.Read(t.Context()); got != want || err != nil {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	check(Reading{Present: true, Percent: 100, State: Full, Source: "upower"})
	up.Set(map[string]any{"OnBattery": true})
	up.SetDisplay(map[string]any{"State": uint32(2), "Percentage": 17.0, "EnergyRate": 9.5, "TimeToEmpty": int64(1800)})
	check(Reading{Present: true, OnBattery: true, Percent: 17, State: Discharging, Watts: 9.5, ToEmpty: 30 * time.Minute, Source: "upower"})
	up.SetDisplay(map[string]any{"State": uint32(0)})
	check(Reading{Present: true, OnBattery: true, Percent: 17, State: Unknown, Watts: 9.5, Source: "upower"})
	up.Set(map[string]any{"OnBattery": false})
	up.SetDisplay(map[string]any{"IsPresent": false})
	check(Reading{Source: "upower"})
	up.Stop()
	check(Reading{Present: true, Percent: 99, State: Full, Source: "sysfs"})
}

func watch(t *testing.T, o Options) func() float64 {
	t.Helper()
	s := Open(o)
	var mu sync.Mutex
	last := -1.0
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Watch(ctx, func(r Reading, err error) {
			mu.Lock()
			defer mu.Unlock()
			last = r.Percent
		})
	}()
	t.Cleanup(func() { cancel(); <-done; s.Close(); s.Close() })
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

func TestWatch_isTold(t *testing.T) {
	address := bustest.Start(t)
	up := bustest.NewUPower(t, address)
	got := watch(t, Options{SystemBus: address, Root: t.TempDir(), Poll: time.Hour})
	bustest.Eventually(t, "first", func() bool { return got() == 100 })
	up.SetDisplay(map[string]any{"Percentage": 20.0})
	bustest.Eventually(t, "drained", func() bool { return got() == 20 })
	up.Restart()
	up.SetDisplay(map[string]any{"Percentage": 19.0})
	bustest.Eventually(t, "told after a restart", func() bool { return got() == 19 })
}

func TestWatch_pollsWithoutUPower(t *testing.T) {
	root := supplies(t, "BAT0: type=Battery status=Discharging capacity=50")
	got := watch(t, Options{SystemBus: "unix:path=/nonexistent", Root: root, Poll: time.Millisecond})
	bustest.Eventually(t, "first", func() bool { return got() == 50 })
	if err := os.WriteFile(filepath.Join(root, "sys/class/power_supply/BAT0/capacity"), []byte("49"), 0o644); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "drained", func() bool { return got() == 49 })
}
