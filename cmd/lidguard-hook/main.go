// Command lidguard-hook is the hook entries of lidguard and nothing else: what
// agents run for every event links no more than one event needs. It behaves like
// lidguard itself with the same arguments.
package main

import (
	"os"
	"runtime"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
)

func main() {
	entry.OneShot()
	env := entry.Env{OS: runtime.GOOS, Getenv: os.Getenv, Environ: os.Environ(), FindExecutable: os.Executable, PID: os.Getpid(), Now: time.Now}
	os.Exit(entry.Run(os.Args[1:], env, os.Stdin, os.Stdout, os.Stderr))
}
