package daemon

import "golang.org/x/sys/unix"

// BootID names the present boot of the machine (sysctl kern.bootsessionuuid).
func BootID(string) string {
	id, _ := unix.Sysctl("kern.bootsessionuuid") // empty: see the Linux one
	return id
}
