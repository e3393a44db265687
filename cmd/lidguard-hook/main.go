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
	program, _ := os.Executable() // empty: the runtime is looked for on PATH
	env := entry.Env{OS: runtime.GOOS, Getenv: os.Getenv, Environ: os.Environ(), Executable: program, PID: os.Getpid(), Now: time.Now}
	os.Exit(entry.Run(os.Args[1:], env, os.Stdin, os.Stdout, os.Stderr))
}
