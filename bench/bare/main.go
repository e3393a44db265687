// Command bare is what lidguard-hook is measured against: a Go program that does
// the same input and output as a hook event and nothing else. It reads a JSON
// payload from stdin, decodes it, sends one line over a Unix socket and reads one
// line back. The socket's path is its only argument.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
)

func main() {
	payload, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(payload, &fields); err != nil {
		os.Exit(1)
	}
	conn, err := net.Dial("unix", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"session":` + string(fields["session_id"]) + "}\n")); err != nil {
		os.Exit(1)
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		os.Exit(1)
	}
}
