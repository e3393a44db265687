package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// This file judges what the text given to a database client does to files and
// programs: COPY … TO '/etc/x', .output x of sqlite, \o |cmd of psql, pager of
// mysql. The statements are those of PostgreSQL 17, MySQL 8.4, SQLite 3.46 and
// DuckDB 1.1 as their manuals have them.

// sqlToken is one word of a statement; quoted when it stood in single quotes.
type sqlToken struct {
	text   string
	quoted bool
}

// sqlFiles judges statements and client commands by the files they name.
func (j *judge) sqlFiles(text string, dir shell.Value, from, to int) {
	if len(text) > maxProgram {
		return // judged as too large where it is run
	}
	c := &call{j: j, l: &shell.Leaf{Dir: dir, Offset: from, End: to}}
	lines := 0
	for line := range strings.SplitSeq(text, "\n") {
		if lines++; lines&255 == 0 && j.late(from, to) {
			return
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case line[0] == '.' || line[0] == '\\':
			j.clientCommand(c, sqlTokens(line))
		default:
			if i := strings.Index(line, `\g`); i >= 0 { // SELECT … \g FILE
				j.clientCommand(c, sqlTokens(line[i:]))
			}
			for stmt := range strings.SplitSeq(line, ";") {
				if f := strings.Fields(stmt); len(f) > 1 && (f[0] == "pager" || f[0] == "tee" || f[0] == "source") {
					j.clientCommand(c, sqlTokens(stmt))
				}
			}
		}
	}
	j.statementFiles(c, sqlTokens(text))
}

// sqlTokens parts text into words, constants and single marks.
func sqlTokens(t string) (out []sqlToken) {
	for i := 0; i < len(t); {
		switch b := t[i]; {
		case b == '\'' || b == '"':
			end := strings.IndexByte(t[i+1:], b)
			if end < 0 {
				end = len(t) - i - 1
			}
			out = append(out, sqlToken{t[i+1 : i+1+end], b == '\''})
			i += end + 2
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			i++
		case b == '(' || b == ')' || b == ',' || b == ';':
			out = append(out, sqlToken{text: t[i : i+1]})
			i++
		default:
			k := i
			for k < len(t) && !strings.ContainsRune(" \t\r\n(),;'\"", rune(t[k])) {
				k++
			}
			out = append(out, sqlToken{text: t[i:k]})
			i = k
		}
	}
	return out
}

// clientCommand judges a command of the client's own.
func (j *judge) clientCommand(c *call, words []sqlToken) {
	if len(words) < 2 {
		return
	}
	last := words[len(words)-1].text
	rest := func(from int) string {
		var b []string
		for _, w := range words[min(from, len(words)):] {
			b = append(b, w.text)
		}
		return strings.TrimPrefix(strings.Join(b, " "), "|")
	}
	piped := strings.HasPrefix(words[1].text, "|")
	switch strings.ToLower(words[0].text) {
	case ".output", ".once", ".log", ".backup", ".save", ".clone", `\o`, `\out`, `\g`, `\gx`, `\w`, `\write`, "tee", `\t`:
		if piped {
			j.inner(rest(1), shell.POSIX, c.l.Offset, c.l.End)
		} else if strings.ContainsAny(last, "/~") {
			j.write(c, sqlPath(last), false)
		}
	case ".read", ".import", `\i`, `\ir`, `\include`, "source", `\.`:
		if piped {
			j.inner(rest(1), shell.POSIX, c.l.Offset, c.l.End)
		} else {
			j.readPlace(c, j.locate(sqlPath(words[1].text), c.l.Dir))
		}
	case "pager", `\p`:
		j.inner(rest(1), shell.POSIX, c.l.Offset, c.l.End)
	case `\setenv`:
		v := shell.Value{Text: rest(2)}
		j.variable(c, words[1].text, &v, true)
	case ".load":
		j.loadsCode(c, words[1].text)
	case `\lo_export`:
		j.write(c, sqlPath(last), false)
	}
}

func sqlPath(t string) *shell.Arg { return &shell.Arg{Value: shell.Value{Text: t}} }

// statementFiles judges the constants of statements that name files and programs.
func (j *judge) statementFiles(c *call, words []sqlToken) {
	copies := false // in a statement whose TO and FROM are of files
	start := true
	for i := 0; i+1 < len(words); i++ {
		if i&1023 == 1023 && j.late(c.l.Offset, c.l.End) {
			return
		}
		w, next := words[i], words[i+1]
		if w.quoted {
			continue
		}
		up := strings.ToUpper(w.text)
		if start {
			copies = up == "COPY" || up == `\COPY` || up == "EXPORT" || up == "LOAD" || up == "ATTACH" || up == "VACUUM"
		}
		start = w.text == ";"
		switch up {
		case "PROGRAM":
			if next.quoted {
				j.inner(next.text, shell.POSIX, c.l.Offset, c.l.End)
			}
		case "OUTFILE", "DUMPFILE":
			if next.quoted {
				j.write(c, sqlPath(next.text), false)
			}
		case "TO", "INTO":
			if copies && next.quoted {
				j.write(c, sqlPath(next.text), false)
			}
		case "FROM", "INFILE":
			if next.quoted && (copies || strings.ContainsAny(next.text, "/~")) {
				j.readPlace(c, j.locate(sqlPath(next.text), c.l.Dir))
			}
		case "LOAD_EXTENSION", "WRITEFILE", "EDIT", "READFILE", "PG_READ_FILE", "PG_READ_BINARY_FILE", "LO_IMPORT", "LO_EXPORT", "LOAD_FILE", "READ_TEXT", "READ_BLOB", "READ_CSV", "READ_CSV_AUTO", "READ_JSON":
			j.fileFunction(c, up, words[i+1:])
		}
	}
}

// fileFunction judges a call whose constants name a file; words start at its
// parenthesis.
func (j *judge) fileFunction(c *call, name string, words []sqlToken) {
	if len(words) < 2 || words[0].text != "(" {
		return
	}
	var args []string
	for _, w := range words[1:min(len(words), 16)] {
		if w.text == ")" && !w.quoted {
			break
		}
		if w.quoted {
			args = append(args, w.text)
		}
	}
	if len(args) == 0 {
		return
	}
	switch name {
	case "WRITEFILE", "LO_EXPORT":
		j.write(c, sqlPath(args[0]), false)
	case "LOAD_EXTENSION":
		j.loadsCode(c, args[0])
	case "EDIT":
		if len(args) > 1 {
			j.inner(args[1], shell.POSIX, c.l.Offset, c.l.End)
		}
	default:
		j.readPlace(c, j.locate(sqlPath(args[0]), c.l.Dir))
	}
}
