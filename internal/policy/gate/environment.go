package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// This file judges programs that print the whole environment. What is in it is
// not known here: a shell may set more than the client had when it started. So
// printing all of it counts as reading secrets, and printing names or variables
// that are named does not.

// environment judges a leaf that prints the environment to where it can be read.
func (j *judge) environment(c *call, name string) {
	if c.elsewhere() {
		return // of another machine or a container
	}
	switch {
	case name == "printenv" && len(c.l.Argv) > 1 && j.shown(c.i, 0):
		for _, v := range c.plain("") {
			if secretVariable(v) {
				j.add(c, SecretRead, Private, "env-read", "$"+v)
			}
		}
	case printsEnvironment(c, name) && j.shown(c.i, 0):
		j.add(c, SecretRead, Private, "env-print", strings.Join(c.argv(), " "))
	case name == "echo" || name == "printf" || name == "write-output" || name == "write-host":
		if c.l.Stdout.Kind != shell.OutputInherit {
			return
		}
		for i := range c.l.Argv {
			for _, h := range c.l.Argv[i].Holes {
				for k := h.From.From; k < h.From.To && k < len(j.f.Leaves); k++ {
					from := call{j: j, i: k, l: &j.f.Leaves[k]}
					if !from.elsewhere() && printsEnvironment(&from, from.name()) {
						j.add(c, SecretRead, Private, "env-print", strings.Join(from.argv(), " "))
					}
				}
			}
		}
	}
}

// printsEnvironment reports whether a program prints every variable with its
// value.
func printsEnvironment(c *call, name string) bool {
	argv := c.argv()
	switch name {
	case "env", "genv":
		// With a program behind it, that program is the leaf.
		return !c.has("-i", "--ignore-environment", "-") && !c.short("i")
	case "printenv":
		return len(c.plain("")) == 0
	case "export", "readonly", "declare", "typeset":
		for _, t := range argv[1:] {
			if t == "" || t[0] != '-' || strings.ContainsAny(t, "fFaAiln") {
				return false
			}
		}
		return name != "readonly"
	case "set":
		return len(argv) == 1 || len(argv) == 2 && strings.TrimSpace(argv[1]) == ""
	case "ps":
		// ps eww: among letters without a dash e is the environment.
		return len(argv) > 1 && argv[1] != "" && argv[1][0] != '-' && strings.ContainsRune(argv[1], 'e') && lettersOnly(argv[1])
	case "jq", "gojq", "jaq":
		for _, t := range argv[1:] {
			if t = strings.TrimSpace(t); t == "env" || t == "$ENV" {
				return true
			}
		}
	case "systemctl":
		return c.has("show-environment")
	case "get-childitem", "get-item", "gci", "dir", "ls", "gi", "get-content":
		for _, t := range argv[1:] {
			name, ok := strings.CutPrefix(strings.TrimPrefix(strings.ToLower(t), "environment::"), "env:")
			if name = strings.Trim(name, `*\/`); ok && (name == "" || secretVariable(name)) {
				return true
			}
		}
	case "[environment]::getenvironmentvariables", "[system.environment]::getenvironmentvariables":
		return true
	}
	return false
}

func lettersOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// shown reports whether what leaf i prints, a line for each variable, comes to
// where it is read, with its values.
func (j *judge) shown(i, depth int) bool {
	l := &j.f.Leaves[i]
	switch l.Stdout.Kind {
	case shell.OutputInherit:
		return true
	case shell.OutputPipe:
		if depth > 12 {
			return true
		}
		for k := l.Stdout.To.From; k < l.Stdout.To.To && k < len(j.f.Leaves); k++ {
			to := call{j: j, i: k, l: &j.f.Leaves[k]}
			if k != i && passesValues(&to) && j.shown(k, depth+1) {
				return true
			}
		}
	}
	return false
}

// passesValues reports whether a filter lets the values of secrets through.
func passesValues(c *call) bool {
	all := strings.Join(c.argv(), " ")
	switch c.name() {
	case "cat", "gcat", "bat", "batcat", "tac", "sort", "uniq", "head", "ghead", "tail", "gtail", "less", "more", "most", "nl", "column", "fold", "fmt", "pr", "tee", "tr", "rev", "paste", "xargs", "strings",
		"base64", "base32", "xxd", "hexdump", "od", "jq", "yq", "perl", "ruby", "python", "python3", "out-string", "out-host", "sort-object":
		return true
	case "select-object", "format-table", "format-list", "ft", "fl":
		columns := 0
		for _, a := range c.psOperands() {
			switch t := strings.ToLower(a.Text); {
			case t == "name" || t == "key":
				columns++
			case strings.Trim(t, "0123456789") != "": // else how many
				return true
			}
		}
		return columns == 0
	case "cut":
		return !(c.has("-f1", "--fields=1") || strings.Contains(all, "-f 1")) || !strings.Contains(all, "=")
	case "sed", "gsed":
		return !strings.Contains(all, "=.*")
	case "awk", "gawk", "mawk":
		return !strings.Contains(all, "$1") || strings.Contains(all, "$2") || strings.Contains(all, "$0") || !strings.Contains(all, "=")
	case "findstr", "find.exe":
		searched := false
		for _, t := range c.argv()[1:] {
			option, text, isText := strings.Cut(t, ":")
			switch {
			case strings.EqualFold(option, "/v"):
				return true
			case strings.HasPrefix(t, "/") && !(isText && strings.EqualFold(option, "/c")):
				continue
			case !strings.HasPrefix(t, "/"):
				text = t
			}
			if searched = true; fitsSecret(strings.Join(strings.Fields(text), "|")) {
				return true
			}
		}
		return !searched
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "select-string":
		if c.short("qclL") || c.has("--quiet", "--count", "--files-with-matches", "--silent") {
			return false
		}
		if c.short("v") || c.has("--invert-match") {
			return true
		}
		pattern := c.opt("-e", "--regexp", "-pattern")
		if ops := c.operands(readerValued(c.name())); pattern == nil && len(ops) > 0 {
			pattern = ops[0]
		}
		if pattern == nil {
			return true
		}
		text, known := pattern.Exact()
		return !known || fitsSecret(text)
	}
	return false
}

// fitsSecret reports whether a pattern, read as a regular expression or as it
// stands, may pick the line of a variable that holds a secret.
func fitsSecret(pattern string) bool {
	named := false
	for _, part := range strings.FieldsFunc(pattern, func(r rune) bool { return r == '|' || r == '(' || r == ')' || r == '\n' }) {
		if strings.Trim(part, `^$\`) == "" {
			continue // what is around a group
		}
		named = true
		word := strings.ToUpper(strings.Trim(strings.TrimSuffix(part, `\`), `^$\.*+?=[]"' b`))
		if len(word) < 2 || strings.ContainsAny(word, `*[]?.`) {
			return true // nearly everything
		}
		if secretVariable(word) {
			return true
		}
		for _, s := range [...]string{"SECRET", "PASSWORD", "PASSWD", "PRIVATE", "API", "KEY", "TOKEN", "CREDENTIAL", "AUTH", "ACCESS",
			"AWS", "AZURE", "GOOGLE", "GCP", "GITHUB", "GH_", "GITLAB", "NPM_", "OPENAI", "ANTHROPIC", "CLAUDE", "SLACK", "STRIPE", "DATABASE", "DB_", "PG", "REDIS", "SENTRY", "DOCKER_", "VAULT"} {
			if strings.Contains(word, s) || (len(word) > 2 || word == "GH") && strings.HasPrefix(s, word) {
				return true
			}
		}
	}
	return !named
}

// printsEnvironmentText reports whether program text of another language prints
// the whole environment.
func printsEnvironmentText(lang, text string) bool {
	prints := false
	for _, p := range [...]string{"print", "puts", "console.", "log(", "dump", "echo", "pp ", "p ENV", "p(ENV", "say", "stdout", "write", "inspect", "stringify", "process.env\x00"} {
		if strings.Contains(text+"\x00", p) {
			prints = true
			break
		}
	}
	whole := func(name, after string) bool {
		byVariable := strings.Contains(text, name) && valueByVariable(text, name)
		for rest := text; ; {
			i := strings.Index(rest, name)
			if i < 0 {
				return false
			}
			before := strings.TrimRight(text[:len(text)-len(rest)+i], " ")
			rest = rest[i+len(name):]
			tail := strings.TrimLeft(rest, " ")
			if namesAlone(lang, before, tail) && !byVariable {
				continue
			}
			if tail == "" || !strings.ContainsRune(after, rune(tail[0])) {
				return true
			}
			for _, m := range [...]string{".items(", ".values(", ".copy(", ".to_h", ".each", ".map", ".inspect", ".to_a"} {
				if strings.HasPrefix(tail, m) {
					return true
				}
			}
		}
	}
	switch lang {
	case "python":
		if strings.Contains(text, "os.environ.keys(") && valueByVariable(text, "os.environ") {
			return prints
		}
		return prints && whole("os.environ", ".[bI=_")
	case "node", "deno", "bun", "javascript", "typescript":
		return prints && (whole("process.env", ".[?=_") || strings.Contains(text, "Deno.env.toObject("))
	case "ruby":
		return prints && whole("ENV", ".[=_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	case "perl":
		return prints && (strings.Contains(text, "%ENV") || strings.Contains(text, "%{ENV}"))
	case "php":
		return prints && (strings.Contains(text, "getenv()") || whole("$_ENV", "[=_"))
	case "awk":
		return prints && strings.Contains(text, "in ENVIRON")
	case "lua":
		return false // has no way to list them
	}
	return false
}

// namesAlone reports whether the environment, named between before and tail, is
// asked for the names of its variables or for whether it has one.
func namesAlone(lang, before, tail string) bool {
	switch lang {
	case "python":
		if strings.HasPrefix(tail, ")") {
			for _, f := range [...]string{"sorted(", "list(", "len(", "set(", "tuple("} {
				if strings.HasSuffix(before, f) && !strings.HasSuffix(before, "_"+f) {
					return true
				}
			}
		}
		return strings.HasSuffix(before, " in") && !strings.HasPrefix(tail, ".") // for k in os.environ, "X" in os.environ
	case "node", "deno", "bun", "javascript", "typescript":
		return strings.HasPrefix(tail, ")") && strings.HasSuffix(before, "Object.keys(") || strings.HasSuffix(before, " in") && !strings.HasPrefix(tail, ".")
	}
	return false
}

// valueByVariable reports whether program text takes a variable out of the
// environment by a name that is no constant.
func valueByVariable(text, env string) bool {
	for _, take := range [...]string{env + "[", env + ".get(", "getenv(", "environb[", "env["} {
		for rest := text; ; {
			i := strings.Index(rest, take)
			if i < 0 {
				break
			}
			rest = strings.TrimLeft(rest[i+len(take):], " ")
			if rest == "" || rest[0] != '"' && rest[0] != '\'' {
				return true
			}
		}
	}
	return false
}
