package daemon

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
)

// KeeperWord is the hidden command that is a runtime's keeper process.
const KeeperWord = "keeper"

// newKeeper returns a runtime's side of its keeper: this program, started as
// `lidguard keeper`, with as much of the environment as it needs.
func newKeeper(env func(string) string, dirs paths.Dirs, owner string) *lasting.Keeper {
	program, _ := os.Executable() // empty: Ensure says that it cannot start
	k := &lasting.Keeper{Program: program, Args: []string{KeeperWord, "--pending", dirs.Pending(), "--owner", owner}}
	for _, name := range []string{"HOME", "USERPROFILE", "SYSTEMROOT", "LIDGUARD_HOME", "LIDGUARD_MACHINE"} {
		if v := env(name); v != "" {
			k.Env = append(k.Env, name+"="+v)
		}
	}
	return k
}

// Keep is `lidguard keeper`: args are what follows the word, in is the pipe from
// the runtime. With --login it is instead the one look after a login, when a
// runtime that was not there at shutdown may have left values changed: they are
// put back unless a runtime answers at dirs' socket.
func Keep(ctx context.Context, args []string, env func(string) string, dirs paths.Dirs, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet(KeeperWord, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	pending := flags.String("pending", dirs.Pending(), "")
	owner := flags.String("owner", "", "")
	login := flags.Bool("login", false, "")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%s: %w", KeeperWord, err)
	}
	if *login {
		return RestoreLasting(ctx, env, dirs)
	}
	values := lastingValues(env)
	switch {
	case values == nil:
		return errors.New("this system has no lasting values to keep")
	case *owner == "" || *pending == "":
		return errors.New("a keeper needs --pending and --owner; the runtime starts it")
	}
	return lasting.Keep(ctx, &lasting.Store{Path: *pending, Values: values, Owner: *owner, Now: time.Now}, in, out)
}

// RestoreLasting puts back what a dead runtime left changed, unless a runtime
// answers at dirs' socket: then it is that one's. With nothing to put back it
// only looks for the file.
func RestoreLasting(ctx context.Context, env func(string) string, dirs paths.Dirs) error {
	values := lastingValues(env)
	if _, err := os.Lstat(dirs.Pending()); err != nil || values == nil {
		return nil
	}
	if c, err := endpoint.Dial(ctx, dirs.Socket); err == nil {
		return c.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, restoreLimit)
	defer cancel()
	return (&lasting.Store{Path: dirs.Pending(), Values: values, Now: time.Now}).Restore(ctx)
}

// lastingValues are those of this system, or of the fake laptop: files in the
// folder "values" of its control folder. nil where there are none.
func lastingValues(env func(string) string) lasting.Values {
	if dir, fake := strings.CutPrefix(env("LIDGUARD_MACHINE"), fakePrefix); fake {
		return lasting.Files{Dir: filepath.Join(dir, "values")}
	}
	return systemValues()
}
