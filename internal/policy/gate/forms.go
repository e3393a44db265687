package gate

import (
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// What a service program does depends on its words, and there are thousands of
// commands. Those that follow the patterns of services.go need no mention; the
// others are told here and in forms_data.go, one form a line, each from the
// program's own reference.

// form is one form of a command line and what it does. Its words:
//
// A form is a list of words. A plain word is an operand and has its place: the
// first stands for the first operand, and so on; what may be the value of an
// option before it is passed over. "a|b" is either, "*" is any, "a*" starts with
// a, "*a" ends with it, "*a*" has it inside, `\*` has a star in it; letters count
// whatever their case.
// "a~" may be shortened as programs allow that take any beginning that is not
// ambiguous, "a:b~" part by part. "+a" is an operand at any place behind the
// others.
//
// A word with a dash is an option that has to be given somewhere, "!-a" one that
// must not be: a single letter also counts within a cluster unless a dot follows,
// "--a|-b=c,d" needs one of these values, and "--ab~cd" may be cut down to --ab.
type form struct {
	words  string
	effect Effect // NoEffect: it only looks dangerous, and nothing else of the call is judged by its program
	scope  Scope
	rule   string
}

// operand is a word that is no option; value says that it may be the value of the
// option before it.
type operand struct {
	text  string
	value bool
}

// program finds the program that a leaf really runs, where its own name says less,
// and the place of its first word: php artisan, python manage.py, java -jar x.jar.
func (c *call) program(name string) (string, int) {
	argv := c.argv()
	word := func(i int) string {
		if i < len(argv) {
			return argv[i]
		}
		return ""
	}
	switch name {
	case "php", "symfony", "sail", "python", "python3", "spring":
		for i := 1; i < len(argv) && i < 6; i++ {
			switch base := path.Base(argv[i]); {
			case base == "artisan" || base == "console" || base == "manage.py" || base == "phinx" || name == "spring" && base == "rails":
				return base, i + 1
			case argv[i] == "-m" && word(i+1) == "django":
				return "django-admin", i + 2
			case argv[i] == "-m" && word(i+1) != "":
				return word(i + 1), i + 2
			}
		}
	case "java":
		for i := 1; i+1 < len(argv); i++ {
			if argv[i] == "-jar" {
				base := strings.TrimSuffix(path.Base(argv[i+1]), ".jar")
				if k := strings.LastIndexByte(base, '-'); k > 0 && k+1 < len(base) && base[k+1] >= '0' && base[k+1] <= '9' {
					base = base[:k]
				}
				return base, i + 2
			}
		}
	case "lvm", "clickhouse":
		if w := word(1); w != "" && w[0] != '-' {
			return map[string]string{"lvm": "", "clickhouse": "clickhouse-"}[name] + w, 2
		}
	case "firebase-tools":
		return "firebase", 1
	case "aws-cdk":
		return "cdk", 1
	case "neon":
		return "neonctl", 1
	case "mariadb-admin":
		return "mysqladmin", 1
	case "django-admin.py":
		return "django-admin", 1
	case "typeorm-ts-node-commonjs", "typeorm-ts-node-esm":
		return "typeorm", 1
	case "mvnw":
		return "mvn", 1
	}
	if strings.HasPrefix(name, "kafka-") {
		name = strings.TrimSuffix(name, ".sh")
	}
	return name, 1
}

// done judges a leaf by the forms that are told for its program. It reports
// whether the call was found to be harmless after all.
func (j *judge) done(c *call, name string) bool {
	if c.statements(name) && !c.dryRun() {
		j.sqlWords(c)
	}
	name, from := c.program(name)
	forms := formsOf(name)
	if forms == nil {
		return false
	}
	dry := c.dryRun()
	ops := c.operandsFrom(from)
	for i := range forms {
		d := &forms[i]
		if dry && d.effect != NoEffect || !c.fits(d.words, ops) {
			continue
		}
		if d.effect == NoEffect {
			return true
		}
		if d.rule == "service-stop" && j.ownServer(c, name) {
			return false
		}
		if c.l.Flags&shell.Contained != 0 && (d.effect == Service || d.effect == GlobalInstall) {
			return false // a container's own
		}
		j.add(c, d.effect, d.scope, d.rule, strings.Join(c.argv(), " "))
		return false
	}
	return false
}

// ownServer reports whether a server program is told to stop the one whose data are
// in a temp folder, or whose settings are in the project.
func (j *judge) ownServer(c *call, name string) bool {
	switch name {
	case "pg_ctl":
		dir := c.opt("-D", "--pgdata")
		return dir != nil && j.locate(dir, c.l.Dir).scope == Temp
	case "nginx":
		dir := c.opt("-p")
		return dir != nil && j.locate(dir, c.l.Dir).scope <= ProjectRoot
	}
	return false
}

// onlyLooks reports whether a program that another runs, its words from a place on,
// has a form that only looks dangerous.
func (c *call) onlyLooks(name string, from int) bool {
	ops := c.operandsFrom(from)
	for _, f := range formsOf(name) {
		if f.effect == NoEffect && c.fits(f.words, ops) {
			return true
		}
	}
	return false
}

// packaged judges the words of a call for the program that an image or a package is
// made for: docker run hashicorp/terraform apply, nix run nixpkgs#terraform -- apply.
func (j *judge) packaged(c *call) {
	if len(c.l.Via) == 0 || len(c.l.Argv) == 0 {
		return
	}
	v := &c.l.Via[len(c.l.Via)-1]
	last := ""
	for i := len(v.Argv) - 1; i > 1 && (last == "" || last == "--"); i-- {
		last = v.Argv[i].Text
	}
	switch v.Name {
	case "docker", "podman", "nerdctl":
		if v.Argv[1].Text != "run" {
			return
		}
		last = last[strings.LastIndexByte(last, '/')+1:]
		last, _, _ = strings.Cut(last, ":")
		last, _, _ = strings.Cut(last, "@")
	case "nix":
		last = last[strings.LastIndexByte(last, '#')+1:]
	default:
		return
	}
	switch last {
	case "aws-cli", "awscli", "awscli2":
		last = "aws"
	case "opentofu":
		last = "tofu"
	case "terraform", "tofu", "pulumi", "kubectl", "helm", "flyway", "liquibase", "migrate", "dbmate", "restic", "rclone", "doctl", "vault", "packer", "skopeo", "firebase-tools", "heroku", "flyctl":
	default:
		return
	}
	own := *c.l
	own.Name = last
	own.Argv = append([]shell.Arg{{Value: shell.Value{Text: last}}}, c.l.Argv...)
	in := call{j: j, i: c.i, l: &own}
	if !in.asksHelp() && !j.done(&in, last) {
		j.servicePrograms(&in, last)
	}
}

// operandsFrom lists the operands from a place on, without those that are surely
// the values of options.
func (c *call) operandsFrom(from int) []operand {
	argv := c.argv()
	var out []operand
	option, over := "", false
	for i := min(from, len(argv)); i < len(argv); i++ {
		t := argv[i]
		switch {
		case !over && t == "--":
			over, option = true, ""
		case !over && len(t) > 1 && t[0] == '-':
			option = t
			if strings.Contains(t, "=") || alone(t) {
				option = ""
			}
		case takesWord(option):
			option = ""
		default:
			out = append(out, operand{t, option != ""})
			option = ""
		}
	}
	return out
}

// alone tells options that take no value, whatever the program.
func alone(option string) bool {
	switch option {
	case "--verbose", "--debug", "--quiet", "--yes", "--force", "--silent", "--json", "--now", "--all", "--recursive", "--help", "--version", "--dry-run", "-y", "-q", "-v", "-vv", "-vvv", "-qq":
		return true
	}
	return strings.HasPrefix(option, "--no-") || strings.HasPrefix(option, "--non-")
}

// takesWord tells options that take the next word, whatever the program.
func takesWord(option string) bool {
	switch option {
	case "--namespace", "--context", "--kubeconfig", "--profile", "--region", "--project", "--account", "--zone", "--output", "--format", "--endpoint", "--endpoints", "--host", "--server", "--query", "--token", "--workdir", "--cwd", "--log-level", "--log-file", "--exclude", "--include",
		"--transfers", "--prefix", "--workspace", "--repo", "--manifest-path", "--registry", "--password-file", "--vhost", "--node", "--scope", "--subscription", "--project-directory", "--ansi", "--progress", "--parallel", "--tag", "--color":
		return true
	}
	return false
}

// fits reports whether a call has a form.
func (c *call) fits(form string, ops []operand) bool {
	if form == "" {
		return true
	}
	word, form, _ := strings.Cut(form, " ")
	switch {
	case word[0] == '-':
		return c.optionFits(word) && c.fits(form, ops)
	case word[0] == '!':
		return !c.optionFits(word[1:]) && c.fits(form, ops)
	case word[0] == '+':
		for _, o := range ops {
			if wordFits(word[1:], o.text) {
				return c.fits(form, ops)
			}
		}
		return false
	}
	// A subcommand stands in front: so many values before it are none.
	for i := 0; i < min(len(ops), 8); i++ {
		if wordFits(word, ops[i].text) && c.fits(form, ops[i+1:]) {
			return true
		}
		if !ops[i].value {
			return false
		}
	}
	return false
}

// wordFits reports whether one of the alternatives of a form's word is the word.
func wordFits(form, word string) bool {
	for form != "" {
		var alt string
		alt, form, _ = strings.Cut(form, "|")
		if short, ok := strings.CutSuffix(alt, "~"); ok {
			if shortened(short, word) {
				return true
			}
			continue
		}
		if alt == `\*` {
			if strings.IndexByte(word, '*') >= 0 {
				return true
			}
			continue
		}
		if partsFit(alt, word) {
			return true
		}
	}
	return false
}

// partsFit reports whether a word has the parts between the stars, in that order.
func partsFit(glob, word string) bool {
	first, rest, star := strings.Cut(glob, "*")
	if !star {
		return strings.EqualFold(glob, word)
	}
	word = strings.ToLower(word)
	if !strings.HasPrefix(word, first) {
		return false
	}
	word = word[len(first):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(word, part)
		}
		at := strings.Index(word, part)
		if at < 0 {
			return false
		}
		word, rest = word[at+len(part):], after
	}
}

// shortened reports whether each part of a word, between colons, is a beginning of
// the same part of the whole.
func shortened(whole, word string) bool {
	for {
		w, restWhole, more := strings.Cut(whole, ":")
		p, restWord, moreWord := strings.Cut(word, ":")
		if p == "" || more != moreWord || !strings.HasPrefix(w, p) {
			return false
		}
		if !more {
			return true
		}
		whole, word = restWhole, restWord
	}
}

// optionFits reports whether one of the options of a form's word is given.
func (c *call) optionFits(form string) bool {
	argv := c.argv()
	names, want, valued := strings.Cut(form, "=")
	want = strings.ReplaceAll(want, ",", "|")
	for i := 1; i < len(argv) && argv[i] != "--"; i++ {
		t := argv[i]
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		has, value, eq := strings.Cut(t, "=")
		for rest := names; rest != ""; {
			var name string
			name, rest, _ = strings.Cut(rest, "|")
			name, exact := strings.CutSuffix(name, ".")
			least := len(name)
			if k := strings.IndexByte(name, '~'); k > 0 {
				name, least = name[:k]+name[k+1:], k
			}
			letter := len(name) == 2 && t[1] != '-' && !exact
			switch {
			case len(has) >= least && strings.HasPrefix(name, has):
				v := value
				if valued && !eq && i+1 < len(argv) {
					v = argv[i+1]
				}
				if !valued && v != "false" && v != "no" || valued && wordFits(want, v) {
					return true
				}
			case letter && !valued && strings.IndexByte(has, name[1]) > 0:
				return true
			case letter && valued && strings.HasPrefix(t, name) && wordFits(want, t[2:]):
				return true
			}
		}
	}
	return false
}

// image reports whether a disk program works on an image, a file of the project or
// of a temp folder, and on no device.
func (j *judge) image(c *call) bool {
	found := false
	for _, a := range c.operands("") {
		p := j.locate(a, c.l.Dir)
		switch {
		case strings.HasPrefix(a.String(), "/dev/"), p.path != "" && device(p.path), len(a.Holes) > 0, p.scope >= Unknown:
			return false
		case p.path != "" && (strings.ContainsRune(a.Text, '/') || strings.ContainsRune(a.Text, '.')):
			found = true
		}
	}
	return found
}

// statements reports whether the words of a call are statements of a database.
func (c *call) statements(name string) bool {
	name, from := c.program(name)
	form := ""
	switch name {
	case "psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client", "clickhouse-local", "duckdb", "cqlsh", "snowsql", "usql", "pgcli", "mycli", "litecli", "isql", "sqlplus", "impala-shell", "beeline", "hive", "trino", "presto", "spark-sql", "influx", "osqueryi", "mssql-cli", "Invoke-Sqlcmd", "invoke-sqlcmd", "cockroach", "ysqlsh", "tsql", "db2", "surreal", "edgedb", "gel", "cypher-shell", "mgconsole":
		return true
	case "wrangler":
		form = "d1 execute"
	case "heroku":
		form = "pg:psql"
	case "snow", "dolt":
		form = "sql"
	case "turso":
		form = "db shell"
	case "manage.py", "django-admin":
		form = "dbshell"
	case "rails":
		form = "db|dbconsole"
	case "gcloud":
		form = "spanner databases ddl|execute-sql"
	case "bq", "typeorm":
		form = "query"
	case "wp":
		form = "db query"
	case "drush":
		form = "sqlq|sql-query|sql:query"
	case "aws":
		form = "rds-data|athena execute-statement|batch-execute-statement|start-query-execution"
	case "pscale":
		form = "shell"
	default:
		return false
	}
	return c.fits(form, c.operandsFrom(from))
}

// statement cuts the option off that a statement is glued to: --command=DROP …,
// -cDROP ….
func statement(t string) string {
	if len(t) < 3 || t[0] != '-' || strings.HasPrefix(t, "-- ") {
		return t
	}
	if k := strings.IndexAny(t, "= "); k > 0 && t[k] == '=' {
		return t[k+1:]
	}
	if t[1] != '-' && strings.IndexByte(t, ' ') > 0 {
		// The statement starts behind the cluster's last letter.
		for k := 2; k < len(t) && k < 6; k++ {
			if t[k-1] == 'c' || t[k-1] == 'e' || t[k-1] == 'q' || t[k-1] == 'Q' {
				return t[k:]
			}
		}
	}
	return t
}

// ownDatabase reports whether a client opens one file in a temp folder or a database
// in memory, and no other by a statement.
func (j *judge) ownDatabase(c *call) bool {
	if name := c.name(); name != "sqlite3" && name != "duckdb" && name != "litecli" {
		return false
	}
	for _, t := range c.argv() {
		if low := strings.ToLower(t); strings.Contains(low, "attach") || strings.Contains(low, ".open") {
			return false
		}
	}
	if c.has(":memory:") {
		return true
	}
	ops := c.operands(" -cmd -init -separator -c -nullvalue -newline -mmap -vfs -f ")
	return len(ops) > 0 && j.locate(ops[0], c.l.Dir).scope == Temp
}

// sqlWords judges the statements that a call has among its words and its input.
func (j *judge) sqlWords(c *call) {
	judge := j.sql
	if j.ownDatabase(c) {
		judge = j.clientShell // no statement destroys anything there
	}
	for i := 1; i < len(c.l.Argv); i++ {
		if t := c.l.Argv[i].Text; strings.ContainsRune(t, ' ') {
			judge(statement(t), c.l.Offset, c.l.End)
		}
	}
	for _, r := range c.l.Redirects {
		if r.Here != nil {
			judge(r.Here.Text, c.l.Offset, c.l.End)
		}
	}
	if c.l.Stdin.Text != nil {
		judge(c.l.Stdin.Text.Text, c.l.Offset, c.l.End)
	}
}
