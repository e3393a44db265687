package network

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	head4   = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	lan4    = "wlan0\t0001A8C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0\n"
	way4    = "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
	down4   = "wlan0\t00000000\t0101A8C0\t0002\t0\t0\t600\t00000000\t0\t0\t0\n"
	half4   = "tun0\t00000000\t00000000\t0001\t0\t0\t50\t00000080\t0\t0\t0\n"
	zero    = "00000000000000000000000000000000"
	way6    = zero + " 00 " + zero + " 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003 wlan0\n"
	reject6 = zero + " 00 " + zero + " 00 " + zero + " ffffffff 00000001 00000000 00200200 lo\n"
	barred6 = zero + " 00 " + zero + " 00 " + zero + " ffffffff 00000001 00000000 00000201 wlan0\n"
	link6   = "fe800000000000000000000000000000 40 " + zero + " 00 " + zero + " 00000100 00000001 00000000 00000001 wlan0\n"
)

func TestUp(t *testing.T) {
	for name, c := range map[string]struct {
		four, six string // "-": no such file
		up, fails bool
	}{
		"a way out":                      {head4 + lan4 + way4, "", true, false},
		"the hotspot is gone":            {head4, reject6, false, false},
		"only the neighbours":            {head4 + lan4, link6, false, false},
		"IPv6 alone":                     {"-", way6 + link6, true, false},
		"a route that is down":           {head4 + down4, "-", false, false},
		"half of the world is no way":    {head4 + half4, "-", false, false},
		"a route that refuses":           {head4, barred6, false, false},
		"an empty file":                  {"", "", false, false},
		"no table at all is not known":   {"-", "-", false, true},
		"lines that make no sense":       {"wlan0 00000000\nx\n", "zz 00\n", false, false},
		"flags that make no sense":       {head4 + "wlan0\t00000000\t0101A8C0\tzz\t0\t0\t600\t00000000\n", "", false, false},
		"the last line without its end":  {head4 + way4[:len(way4)-1], "", true, false},
		"a default route of the machine": {head4 + "lo\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, "proc/net"), 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{"route": c.four, "ipv6_route": c.six} {
				if text == "-" {
					continue
				}
				if err := os.WriteFile(filepath.Join(root, "proc/net", file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			up, err := Up(root)
			if up != c.up || (err != nil) != c.fails {
				t.Errorf("up %v, %v; want %v, an error %v", up, err, c.up, c.fails)
			}
		})
	}
}
