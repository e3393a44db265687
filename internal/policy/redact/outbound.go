package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// reach says how far a tool's input goes.
type reach int

const (
	stays   reach = iota // on this machine, or to the model that wrote it
	command              // wherever the command sends it
	leaves               // to a server
)

// reachOf tells a tool's reach. What is not known is taken for a server's tool.
func reachOf(ev *event.Event) reach {
	if ev.Tool.MCPServer != "" || strings.HasPrefix(ev.Tool.Name, "mcp__") {
		return leaves
	}
	if _, ok := dialectOf(ev.Tool.Name); ok {
		return command
	}
	switch strings.ToLower(ev.Tool.Name) {
	case "read", "view", "glob", "grep", "rg", "ls", "list", "lsp", "edit", "write", "create", "str_replace", "multiedit", "patch", "apply_patch", "notebookedit", "notebookread",
		"agent", "task", "spawn_agent", "wait_agent", "send_input", "close_agent", "taskoutput", "taskstop", "taskcreate", "taskget", "tasklist", "taskupdate", "todowrite", "todoread",
		"update_plan", "update_todo", "report_intent", "askuserquestion", "ask_user", "question", "request_user_input", "exitplanmode", "exit_plan_mode", "enterplanmode", "bashoutput", "killshell",
		"read_bash", "write_bash", "stop_bash", "list_bash", "read_agent", "list_agents", "write_stdin", "skill", "toolsearch", "monitor", "view_image",
		"listmcpresourcestool", "readmcpresourcetool", "croncreate", "crondelete", "cronlist", "schedulewakeup", "sendmessage", "create_goal", "update_goal", "get_goal":
		return stays
	}
	return leaves
}

// dialectOf is the shell that a tool's commands are written in.
func dialectOf(tool string) (shell.Dialect, bool) {
	switch strings.ToLower(tool) {
	case "bash", "shell", "exec_command", "shell_command", "local_shell", "unified_exec", "run_in_terminal":
		return shell.Bash, true
	case "powershell", "pwsh":
		return shell.PowerShell, true
	}
	return shell.Bash, false
}

// writers are tools whose input becomes the content of a file.
func writes(tool string) bool {
	switch strings.ToLower(tool) {
	case "write", "edit", "multiedit", "notebookedit", "create", "str_replace", "patch", "apply_patch":
		return true
	}
	return false
}

// outbound judges what a call would send, and keeps masks out of files.
func (p *pack) outbound(ev *event.Event) event.Verdict {
	if writes(ev.Tool.Name) {
		return p.writesMask(ev)
	}
	how := reachOf(ev)
	if how == stays {
		return event.Verdict{}
	}
	out, r, ok := p.engine().JSON(ev.Tool.Input, false)
	if !ok {
		_, r = p.engine().Text(string(ev.Tool.Input))
	}
	if r.Clean() {
		return event.Verdict{}
	}
	if r.Withheld {
		return p.refuse(ev, r, "lidguard redact: this input is too costly to search for secrets, so it is not sent. Send less at once.")
	}
	if how == command {
		program := sends(ev)
		if program == "" {
			return event.Verdict{} // it stays on this machine
		}
		return p.refuse(ev, r, fmt.Sprintf("lidguard redact: %s would send what stands in this command, and there is %s in it. Do not write secrets out: let the program read an environment variable or a file, or leave it to the person.", program, counted(&r)))
	}
	if ok && p.cfg.Outbound != DenyOutbound && p.cfg.Outbound != AskOutbound && r.Keys == 0 && stillMeans(out) {
		p.note(ev, Report{Result: r, Masked: true, Out: true})
		return event.Verdict{UpdatedInput: out, Contexts: []string{
			"lidguard redact took " + counted(&r) + " out of what " + ev.Tool.Name + " gets and put [redacted:…] there."}}
	}
	return p.refuse(ev, r, fmt.Sprintf("lidguard redact: %s would get %s. Do not send secrets to it: name where the secret is kept, or leave it to the person.", ev.Tool.Name, counted(&r)))
}

// refuse stops a call, or asks where a person wants to be asked.
func (p *pack) refuse(ev *event.Event, r Result, reason string) event.Verdict {
	p.note(ev, Report{Result: r, Out: true})
	v := event.Verdict{Decision: event.Deny, Reason: reason, Rule: r.Rules[0]}
	if p.cfg.Outbound == AskOutbound {
		v.Decision = event.Ask
	}
	return v
}

// stillMeans tells whether every text with a mask in it is still a sentence that says
// what it said: a title, a question, a report. An address, a header or a value that
// was the secret alone is none.
func stillMeans(input []byte) bool {
	v, ok := readJSON(input)
	if !ok {
		return false
	}
	for _, p := range v.parts {
		text := v.text[p.from:p.to]
		if !bytes.Contains(text, []byte("[redacted:")) {
			continue
		}
		words := 0
		for _, w := range bytes.Fields(text) {
			switch {
			case bytes.Contains(w, []byte("://")) && bytes.Contains(w, []byte("[redacted:")):
				return false
			case !bytes.Contains(w, []byte("[redacted:")):
				words++
			}
		}
		if words < 3 {
			return false
		}
	}
	return true
}

// writesMask refuses to write a mask where a secret was: a model that was shown a
// masked file and writes it back would destroy it. A text that only talks of masks,
// as this pack's own tests do, has them without an id of a rule.
func (p *pack) writesMask(ev *event.Event) event.Verdict {
	if !bytes.Contains(ev.Tool.Input, []byte("[redacted:")) {
		return event.Verdict{}
	}
	v, ok := readJSON(ev.Tool.Input)
	if !ok {
		return event.Verdict{}
	}
	for rest := v.text; ; {
		_, after, found := bytes.Cut(rest, []byte("[redacted:"))
		if !found {
			return event.Verdict{}
		}
		id, _, closed := bytes.Cut(after[:min(len(after), 64)], []byte("]"))
		if closed && p.engine().has(string(id)) {
			return event.Verdict{Decision: event.Deny, Rule: "writes-mask",
				Reason: "lidguard redact: this would write [redacted:" + string(id) + "] into a file where a secret stands or stood. Change the lines around it and leave that line alone, or name a variable there."}
		}
		rest = after
	}
}

// has tells whether a rule has this id.
func (e *Engine) has(id string) bool {
	for i := range tokens {
		if tokens[i].id == id {
			return true
		}
	}
	for i := range finders {
		if finders[i].id == id {
			return true
		}
	}
	for i := range e.regexps {
		if e.regexps[i].id == id {
			return true
		}
	}
	return id == "aws-secret-access-key" || id == "base64-secret" || strings.HasPrefix(id, "env-") || strings.HasPrefix(id, "assigned-")
}

// senders are programs that talk to other machines.
var senders = []string{
	"curl", "wget", "wget2", "http", "https", "xh", "httpie", "curlie", "aria2c", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "lftp", "sftp", "scp", "ssh", "rsync", "sshpass",
	"gh", "glab", "hub", "aws", "gcloud", "gsutil", "az", "doctl", "flyctl", "fly", "heroku", "vercel", "netlify", "wrangler", "supabase", "railway", "kubectl", "helm", "oc",
	"docker", "podman", "skopeo", "crane", "oras", "npm", "pnpm", "yarn", "twine", "gem", "cargo", "mail", "mailx", "sendmail", "mutt", "swaks", "s3cmd", "rclone", "mc",
	"grpcurl", "websocat", "wscat", "nats", "mosquitto_pub", "kcat", "psql", "mysql", "mariadb", "mongosh", "mongo", "redis-cli", "clickhouse-client", "sqlcmd", "snowsql",
	"dig", "nslookup", "host", "ping", "iwr", "irm", "invoke-webrequest", "invoke-restmethod", "send-mailmessage", "start-bitstransfer",
}

// sends names the program in a command that sends something, or what cannot be known
// about it; "" where all of it stays.
func sends(ev *event.Event) string {
	v, ok := readJSON(ev.Tool.Input)
	if !ok {
		return "a command that cannot be read"
	}
	d, _ := dialectOf(ev.Tool.Name)
	for i, p := range v.parts {
		if !p.key || string(v.text[p.from:p.to]) != "command" && string(v.text[p.from:p.to]) != "cmd" && string(v.text[p.from:p.to]) != "script" {
			continue
		}
		if i+1 == len(v.parts) || v.parts[i+1].key {
			continue
		}
		text := string(v.text[v.parts[i+1].from:v.parts[i+1].to])
		if name := sender(text, d); name != "" {
			return name
		}
	}
	return ""
}

func sender(text string, d shell.Dialect) string {
	f := shell.Inspect(text, d, shell.World{})
	for i := range f.Leaves {
		l := &f.Leaves[i]
		name := strings.ToLower(l.Name)
		if slices.Contains(senders, name) {
			return l.Name
		}
		for _, w := range l.Via {
			if slices.Contains(senders, strings.ToLower(w.Name)) {
				return w.Name
			}
		}
		if name == "git" {
			for n := 1; n < len(l.Argv); n++ {
				switch l.Argv[n].Text {
				case "push", "fetch", "pull", "clone", "ls-remote", "send-email":
					return "git " + l.Argv[n].Text
				}
			}
		}
		for _, r := range l.Redirects {
			if strings.HasPrefix(r.Target.Text, "/dev/tcp/") || strings.HasPrefix(r.Target.Text, "/dev/udp/") {
				return "a redirection to the network"
			}
		}
	}
	for _, c := range f.Code {
		low := strings.ToLower(c.Text.Text)
		for _, word := range [...]string{"http", "socket", "urllib", "requests", "fetch(", "smtplib", "net/", "ftplib", "axios"} {
			if strings.Contains(low, word) {
				return "a " + c.Language + " program"
			}
		}
	}
	if f.Over != nil || len(f.Opaque) > 0 {
		return "a command that is not wholly known"
	}
	return ""
}
