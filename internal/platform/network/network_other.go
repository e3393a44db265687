//go:build !linux

package network

import "net"

// up asks the system for a route by connecting a datagram socket, which sends
// nothing: the system only picks the interface, or says that there is none. The
// addresses are set aside for documentation (RFC 5737, RFC 3849).
func up(string) (bool, error) {
	for _, to := range [...][2]string{{"udp4", "192.0.2.1:9"}, {"udp6", "[2001:db8::1]:9"}} {
		if conn, err := net.Dial(to[0], to[1]); err == nil {
			conn.Close()
			return true, nil
		}
	}
	return false, nil
}
