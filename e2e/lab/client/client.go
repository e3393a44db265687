//go:build linux

// Package client installs the real clients that the end-to-end tests drive.
// In comes a package name and a version of the npm registry, out goes the
// folder that holds it. Clients stay in the cache between runs; they are run
// by the packages below this one, never with the caller's environment.
package client

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
)

// Install puts one version of an npm package into the cache, unless it is
// there, and returns its folder (the one with node_modules). Only npm runs
// with the environment of the test process, so that a registry set up on the
// machine is used; install scripts never run.
func Install(t testing.TB, name, version string) string {
	t.Helper()
	guard.Require(t)
	dir, err := install(name, version)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func install(name, version string) (string, error) {
	dir := filepath.Join(guard.Cache(), strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-")+"-"+version)
	complete := filepath.Join(dir, "complete")
	if err := os.MkdirAll(guard.Cache(), 0o755); err != nil {
		return "", err
	}
	// Test packages run beside each other; one of them installs.
	lock := flock.New(dir + ".lock")
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("locking the cache of clients: %w", err)
	}
	defer lock.Unlock()
	if _, err := os.Stat(complete); err == nil {
		return dir, nil
	}
	var err error
	for range 3 { // a registry may have a bad moment
		if err = fetch(dir, name+"@"+version); err == nil {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w\nhint: the npm registry must be reachable once; the client then stays in %s", err, guard.Cache())
	}
	return dir, os.WriteFile(complete, nil, 0o644)
}

// fetch has npm install a package into a folder, anew.
func fetch(dir, pkg string) error {
	if err := os.RemoveAll(dir); err != nil { // of an attempt that broke off
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`+"\n"), 0o644); err != nil {
		return err
	}
	cmd := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(guard.Cache(), "npm"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s: %w\n%s", pkg, err, out)
	}
	return nil
}
