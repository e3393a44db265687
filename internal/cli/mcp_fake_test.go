package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// fakeAgent stands in for `codex mcp`, `claude mcp` and `copilot mcp`: it notes its
// command line in agents.log of the home folder and does to the client's file what
// the real one does, comments and exit codes included (docs/contracts). With
// FAKE_AGENT=broken it only fails, with FAKE_AGENT=lazy it only succeeds.
func fakeAgent() {
	ownHome()
	home := os.Getenv("HOME")
	log, err := os.OpenFile(filepath.Join(home, "agents.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(log, strings.Join(os.Args[1:], " "))
	if err := log.Close(); err != nil {
		panic(err)
	}
	switch os.Getenv("FAKE_AGENT") {
	case "broken":
		die("Cannot find module 'x'")
	case "lazy":
		os.Exit(0)
	}
	agent, args := os.Args[1], os.Args[2:]
	args = slices.DeleteFunc(args, func(s string) bool { return s == "--scope" || s == "user" })
	if len(args) < 3 || args[0] != "mcp" {
		die("unknown command")
	}
	name, command := args[2], []string(nil)
	if args[1] == "add" {
		if len(args) < 5 || args[3] != "--" {
			die("unknown arguments")
		}
		command = args[4:]
	}
	switch agent {
	case "codex":
		fakeCodex(filepath.Join(home, ".codex", "config.toml"), name, command)
	case "claude":
		fakeJSON(filepath.Join(home, ".claude.json"), name, command, func(argv []string) any {
			return map[string]any{"type": "stdio", "command": argv[0], "args": argv[1:], "env": map[string]any{}}
		})
	case "copilot":
		fakeJSON(filepath.Join(home, ".copilot", "mcp-config.json"), name, command, func(argv []string) any {
			return map[string]any{"tools": []string{"*"}, "type": "local", "command": argv[0], "args": argv[1:]}
		})
	}
}

func die(text string) {
	fmt.Fprintln(os.Stderr, "Error: "+text)
	os.Exit(1)
}

// fakeJSON adds or removes (command is nil) an entry, and refuses what is there
// already or not at all.
func fakeJSON(path, name string, command []string, entry func([]string) any) {
	doc := map[string]any{}
	if data, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(data, &doc) != nil {
			die("the config is no JSON")
		}
	}
	servers, _ := doc["mcpServers"].(map[string]any)
	if servers == nil {
		servers = map[string]any{}
	}
	_, there := servers[name]
	switch {
	case command == nil && !there:
		die("Server " + name + " not found.")
	case command != nil && there:
		die("MCP server " + name + " already exists in user config")
	case command == nil:
		delete(servers, name)
	default:
		servers[name] = entry(command)
	}
	doc["mcpServers"] = servers
	data, err := json.MarshalIndent(doc, "", "  ")
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		die(err.Error())
	}
}

// fakeCodex replaces or removes a table; comments behind values of all MCP tables
// get lost, and removing what is not there succeeds.
func fakeCodex(path, name string, command []string) {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		die(err.Error())
	}
	var out []string
	servers, ours, found := false, false, false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "[") {
			servers = strings.HasPrefix(line, "[mcp_servers.")
			ours = line == "[mcp_servers."+name+"]" || strings.HasPrefix(line, "[mcp_servers."+name+".")
			found = found || ours
		}
		if servers && !strings.HasPrefix(line, "#") {
			line = regexp.MustCompile(` +#.*`).ReplaceAllString(line, "")
		}
		if !ours {
			out = append(out, line)
		}
	}
	if command != nil {
		args, err := json.Marshal(command[1:])
		if err != nil {
			die(err.Error())
		}
		out = append(out, "", "[mcp_servers."+name+"]", fmt.Sprintf("command = %q", command[0]), "args = "+string(args))
		fmt.Printf("Added global MCP server '%s'.\n", name)
	} else if found {
		fmt.Printf("Removed global MCP server '%s'.\n", name)
	} else {
		fmt.Printf("No MCP server named '%s' found.\n", name)
	}
	if err := os.WriteFile(path, []byte(strings.TrimLeft(strings.Join(out, "\n"), "\n")+"\n"), 0o600); err != nil {
		die(err.Error())
	}
}
