//go:build linux

// Command recorder is the hook body of package record:
//
//	recorder DIR [TAG [EVENT]]
//
// It appends one line about the call to DIR/hooks.jsonl and answers by the
// first fitting rule of DIR/answers.json. EVENT names the event for clients
// whose payload does not.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/record"
)

// harmless are the variables whose values are kept: flags, pids, paths.
var harmless = []string{"CLAUDE_PROJECT_DIR", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID",
	"CLAUDE_EFFORT", "XDG_RUNTIME_DIR", "XDG_SESSION_ID"}

func main() {
	code, err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	if len(args) == 0 || len(args) > 3 {
		return 0, fmt.Errorf("usage: recorder DIR [TAG [EVENT]]")
	}
	row := record.Row{At: time.Now(), Names: names(), Client: client(), Ancestry: ancestry()}
	if len(args) > 1 {
		row.Tag = args[1]
	}
	raw, err := io.ReadAll(stdin)
	if err != nil {
		return 0, fmt.Errorf("reading the payload: %w", err)
	}
	row.Raw = string(raw)
	var head struct {
		Event string `json:"hook_event_name"`
		Tool  string `json:"tool_name"`
		Camel string `json:"toolName"` // Copilot CLI
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return 0, fmt.Errorf("the payload %q: %w", raw, err)
	}
	if row.Event = head.Event; len(args) > 2 {
		row.Event = args[2]
	}
	if head.Tool == "" {
		head.Tool = head.Camel
	}
	if row.Dir, err = os.Getwd(); err != nil {
		return 0, err
	}
	if err := write(filepath.Join(args[0], "hooks.jsonl"), row); err != nil {
		return 0, err
	}
	answer, err := choose(args[0], row, head.Tool)
	if err != nil {
		return 0, err
	}
	for answer.After != "" { // the client ends a hook that waits too long
		if _, err := os.Stat(answer.After); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	io.WriteString(stdout, answer.Stdout)
	io.WriteString(stderr, answer.Stderr)
	return answer.Exit, nil
}

func write(path string, row record.Row) error {
	line, err := json.Marshal(row)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(line, '\n')) // one write, so that calls may overlap
	return err
}

func choose(dir string, row record.Row, tool string) (record.Answer, error) {
	text, err := os.ReadFile(filepath.Join(dir, "answers.json"))
	if err != nil {
		return record.Answer{}, err
	}
	var rules []record.Answer
	if err := json.Unmarshal(text, &rules); err != nil {
		return record.Answer{}, err
	}
	for i, rule := range rules {
		if rule.Event == row.Event && (rule.Tool == "" || rule.Tool == tool) && (rule.Tag == "" || rule.Tag == row.Tag) &&
			strings.Contains(row.Raw, rule.Contains) && claim(dir, i, rule.Times) {
			return rule, nil
		}
	}
	return record.Answer{}, nil
}

// claim is true for the first so many callers: one file per use.
func claim(dir string, rule, times int) bool {
	if times == 0 {
		return true
	}
	for use := range times {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("used-%d-%d", rule, use)), os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			f.Close()
			return true
		}
	}
	return false
}

func names() []string {
	var all []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name != record.TopVariable {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func client() map[string]string {
	kept := map[string]string{}
	for _, name := range harmless {
		if value, set := os.LookupEnv(name); set {
			kept[name] = value
		}
	}
	return kept
}

// ancestry lists the processes above this one, up to the test.
func ancestry() []record.Ancestor {
	top, err := strconv.Atoi(os.Getenv(record.TopVariable))
	if err != nil {
		return nil
	}
	var chain []record.Ancestor
	for pid := os.Getppid(); pid > 1 && pid != top && len(chain) < 20; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		head, rest, _ := strings.Cut(string(stat), "(")
		if head == "" {
			break
		}
		end := strings.LastIndexByte(rest, ')')
		fields := strings.Fields(rest[end+1:]) // state ppid pgrp session tty …
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || len(fields) < 5 {
			break
		}
		chain = append(chain, record.Ancestor{PID: pid, Name: rest[:end], Session: number(fields[3]), TTY: number(fields[4]),
			Args: strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")})
		pid = number(fields[1])
	}
	return chain
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
