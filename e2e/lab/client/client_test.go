//go:build linux

package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// npm puts a program of that name before all others in PATH, and an empty cache.
func npm(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("LIDGUARD_LAB_CACHE", filepath.Join(dir, "cache"))
}

func TestInstall_afterABadMomentOfTheRegistry(t *testing.T) {
	npm(t, `echo "$@" >> $(dirname $0)/asked; [ $(wc -l < $(dirname $0)/asked) -gt 1 ] || { echo bad gateway >&2; exit 1; }`)
	for range 2 { // the second time it is there
		dir, err := install("@some/client", "1.2.3")
		if err != nil || filepath.Base(dir) != "some-client-1.2.3" {
			t.Fatalf("got %q, %v", dir, err)
		}
		asked, err := os.ReadFile(filepath.Join(dir, "..", "..", "asked"))
		if err != nil || strings.Count(string(asked), "@some/client@1.2.3\n") != 2 {
			t.Errorf("npm was asked for\n%s%v", asked, err)
		}
	}
}

func TestInstall_saysWhatNpmSays(t *testing.T) {
	npm(t, "echo no such package >&2; exit 1")
	if _, err := install("none", "1"); err == nil || !strings.Contains(err.Error(), "no such package") || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("got %v", err)
	}
}
