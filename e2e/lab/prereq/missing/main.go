//go:build linux

// Command missing prints the Debian packages that the end-to-end tests need
// and this machine lacks, one per line; nothing when all is there.
package main

import (
	"fmt"

	"github.com/lidguard-go/lidguard/e2e/lab/prereq"
)

func main() {
	for _, name := range prereq.List() {
		fmt.Println(name)
	}
}
