// Command lidguard stands in for the real one where only the lab is tested: it
// notes how it was called and does next to nothing.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const hooks = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": 30}]}]}}`

func main() {
	home, args := os.Getenv("HOME"), os.Args[1:]
	f, err := os.OpenFile(filepath.Join(home, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, strings.Join(args, " "))
	switch {
	case args[0] == "hook-install" && args[2] == "codex":
		if err := os.WriteFile(filepath.Join(home, ".codex", "hooks.json"), []byte(hooks), 0o644); err != nil {
			panic(err)
		}
	case args[0] == "fail":
		fmt.Fprintln(os.Stderr, "as asked")
		os.Exit(3)
	case slices.Contains(args, "--json"):
		fmt.Println(`{"sessions": 2}`)
	}
}
