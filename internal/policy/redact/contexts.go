package redact

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// Here are the kinds of secrets that only what stands around them gives away: keys
// between two lines, passwords in addresses, values behind a name. A finder gets the
// text and the place of its keyword, looks a bounded way in both directions and
// reports what it found.

// maxValue bounds a value behind a name in bytes; session tokens have two thousand.
const maxValue = 4096

// maxKey bounds a private key in bytes; the largest in use (RSA 16384, in a JSON
// text, in a diff) is a third of it.
const maxKey = 64 << 10

// finder is a kind of secret with its keywords.
type finder struct {
	id    string
	words []string // lower case
	find  func(s *scan, at int, word string)
}

var finders = []finder{
	{"private-key", []string{"-----begin ", "-----end ", "---- begin ssh2 ", "putty-user-key-file"}, (*scan).privateKey},
	{"jwt", []string{"eyj"}, (*scan).jwt},
	{"url-password", []string{"://"}, (*scan).url},
	{"authorization", []string{"bearer ", "basic ", "authorization: token ", "authorization: apikey "}, (*scan).authorization},
	{"telegram-bot-token", []string{":aa"}, (*scan).telegram},
	{"azure-client-secret", []string{"0q~", "1q~", "2q~", "3q~", "4q~", "5q~", "6q~", "7q~", "8q~", "9q~"}, (*scan).azure},
	{"azure-devops-token", []string{"azdo"}, (*scan).azureDevOps},
	{"signed-url", []string{"sig=", "x-amz-signature=", "x-goog-signature="}, (*scan).signature},
	{"mailchimp-key", []string{"-us"}, (*scan).mailchimp},
	{"netrc", []string{"password "}, (*scan).netrc},
	{"assigned", []string{
		"passw", "passphrase", "pwd", "_pass", "secret", "token", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key",
		"privatekey", "private_key", "private-key", "signingkey", "signing_key", "signing-key", "encryptionkey", "encryption_key", "encryption-key",
		"masterkey", "master_key", "master-key", "accountkey", "authkey", "auth_key", "auth-key", "subscription-key", "subscription_key", "subscriptionkey",
		"credential", "presharedkey", "preshared_key", "psk=", "_key", "\"auth\"",
	}, (*scan).assigned},
}

// privateKey takes a key from its first line to its last. Where one of the two is
// missing, as in a part of a file, the lines of the body that are there go.
func (s *scan) privateKey(at int, word string) {
	if at < s.keyTo {
		return // inside of one
	}
	t := s.text
	end := min(len(t), at+maxKey)
	line := t[at:min(end, at+80)]
	switch word {
	case "-----begin ":
		if !bytes.Contains(line, []byte("PRIVATE KEY")) {
			return
		}
		if i := s.nextEnd(at); i >= 0 && at+i < end {
			tail := t[at+i : min(len(t), at+i+80)]
			if j := bytes.Index(tail[9:], []byte("-----")); j >= 0 && bytes.Contains(tail[:9+j], []byte("PRIVATE KEY")) {
				s.addKey(at, at+i+9+j+5)
				return
			}
		}
		s.addKey(at, s.body(at+headline(line), end, 1))
	case "-----end ":
		if !bytes.Contains(line, []byte("PRIVATE KEY")) {
			return
		}
		from := s.body(at, max(s.keyTo, at-maxKey), -1)
		if j := bytes.Index(t[at+9:min(len(t), at+80)], []byte("-----")); j >= 0 && from < at {
			s.addKey(from, at+9+j+5)
		}
	default: // ssh.com's and PuTTY's forms
		if word[0] == '-' && !bytes.Contains(bytes.ToUpper(line), []byte("PRIVATE KEY")) {
			return
		}
		for _, last := range []string{"---- END SSH2", "Private-MAC: "} {
			s.spend(end - at)
			if i := bytes.Index(t[at:end], []byte(last)); i >= 0 {
				to := at + i + len(last)
				for to < len(t) && t[to] > ' ' {
					to++
				}
				s.addKey(at, to)
				return
			}
		}
	}
}

// nextEnd is how far the next last line of a key is from at, -1 for none. The place is
// kept, so that many first lines cost one search.
func (s *scan) nextEnd(at int) int {
	if s.endAt < at && s.endAt >= 0 {
		s.endAt = -1
		if i := bytes.Index(s.text[at:], []byte("-----END ")); i >= 0 {
			s.endAt = at + i
		}
	}
	if s.endAt < 0 {
		return -1
	}
	return s.endAt - at
}

func (s *scan) addKey(from, to int) {
	s.add(from, to, "private-key")
	s.keyTo = max(s.keyTo, to)
}

// headline is the length of a key's first line.
func headline(line []byte) int {
	if i := bytes.Index(line[10:], []byte("-----")); i >= 0 {
		return 10 + i + 5
	}
	return len(line)
}

// body follows the lines of a key's body from a place, forward (1) or backward (-1),
// and returns where they end: long runs of base64, with little between them (line
// ends as they are or as \n, line numbers, the mark of a diff).
func (s *scan) body(at, bound, step int) int {
	t := s.text
	good, i := at, at
	defer func() { s.spend(max(i-at, at-i)) }()
	next := func(i int) byte {
		if step < 0 {
			return t[i-1]
		}
		return t[i]
	}
	for i != bound {
		run := i
		for run != bound && classOf(next(run))&(base64Set) != 0 {
			run += step
		}
		n := (run - i) * step
		if n >= 16 {
			good = run
		}
		if run == i {
			run += step
		}
		i = run
		if (i-good)*step > 48 {
			break
		}
	}
	return good
}

// jwt takes a JSON web token: a head in base64 that names its algorithm, and two or
// four more pieces.
func (s *scan) jwt(at int, _ string) {
	t := s.text
	if string(t[at:at+3]) != "eyJ" || !s.startsAt(at, 3) {
		return
	}
	to := s.run(at, urlSafe|dot|equals)
	if to-at > 2*maxValue {
		to = at + 2*maxValue
	}
	s.spend(to - at)
	token := bytes.TrimRight(t[at:to], ".")
	head, rest, ok := bytes.Cut(token, []byte("."))
	if !ok || len(head) < 16 || len(rest) < 16 {
		return
	}
	if text := decode64(head); !bytes.Contains(text, []byte(`"alg"`)) && !bytes.Contains(text, []byte(`"typ"`)) {
		return
	}
	s.add(at, at+len(token), "jwt")
}

// url takes the password out of scheme://user:password@host.
func (s *scan) url(at int, _ string) {
	t := s.text
	if at == 0 || classOf(t[at-1])&alnum == 0 {
		return
	}
	from := at + 3
	colonAt, to := -1, -1
	for i := from; i < len(t) && i < from+256; i++ {
		c := t[i]
		if c == '@' {
			to = i // of several, the last: a password may have one
			continue
		}
		if c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == '\\' || c == 0x7f {
			break
		}
		if c == '/' || c == '?' || c == '#' || c >= utf8.RuneSelf {
			if to >= 0 {
				break
			}
			// Before the @ a careless password has such; a path, or a sentence in a
			// script without spaces, does not follow a colon with a text that is no
			// port.
			wide := c >= utf8.RuneSelf
			if colonAt < 0 && !wide || colonAt >= 0 && digitsOnly(t[colonAt+1:i]) && !(wide && i == colonAt+1) {
				return
			}
			continue
		}
		if c == ':' && colonAt < 0 {
			colonAt = i
		}
	}
	s.spend(64)
	if to < 0 {
		return
	}
	if colonAt < 0 || colonAt > to {
		// https://TOKEN@host
		if user := t[from:to]; rolled(user, false) && len(user) >= 20 {
			s.add(from, to, "url-password")
		}
		return
	}
	if password := t[colonAt+1 : to]; len(password) >= 3 && !standIn(password) && password[0] != '$' && password[0] != '{' && password[0] != '%' && !mask(password) {
		s.add(colonAt+1, to, "url-password")
	}
}

func digitsOnly(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// mask tells a text that is all stars or dots.
func mask(b []byte) bool {
	for _, c := range b {
		if c != b[0] {
			return false
		}
	}
	return true
}

// authorization takes what follows Bearer and Basic.
func (s *scan) authorization(at int, word string) {
	if at > 0 && classOf(s.text[at-1])&alnum != 0 {
		return
	}
	from := at + len(word)
	to := min(s.run(from, anyToken|colon), from+maxValue)
	s.spend(to - from)
	value := s.text[from:to]
	if fold(word[0]) == 'b' && word[1] == 'a' {
		if pair := decode64(value); len(value) < 8 || !printable(pair) || bytes.IndexByte(pair, ':') < 0 {
			return
		}
		s.add(from, to, "authorization")
		return
	}
	if len(value) >= 20 && rolled(value, false) {
		s.add(from, to, "authorization")
	}
}

// telegram takes a bot's token: its number, a colon, 35 characters.
func (s *scan) telegram(at int, _ string) {
	t := s.text
	from := at
	for from > 0 && at-from <= 10 && classOf(t[from-1]) == digit {
		from--
	}
	to := s.run(at+1, urlSafe)
	if n := at - from; n < 8 || n > 10 || to-at-1 != 35 || t[at+1] != 'A' || t[at+2] != 'A' {
		return
	}
	if from > 0 && classOf(t[from-1])&alnum != 0 && !bytes.HasSuffix(t[:from], []byte("bot")) {
		return
	}
	s.add(from, to, "telegram-bot-token")
}

// azure takes an application's secret: three characters, a digit, Q~ and 31 to 34.
func (s *scan) azure(at int, _ string) {
	const set = alnum | under | dot | tilde | dash
	t := s.text
	if t[at+1] != 'Q' {
		return
	}
	from := at
	for from > 0 && at-from < 4 && classOf(t[from-1])&set != 0 {
		from--
	}
	to := s.run(at+3, set)
	if n := to - at - 3; at-from == 3 && n >= 31 && n <= 34 {
		s.add(from, to, "azure-client-secret")
	}
}

// azureDevOps takes a personal token: 84 characters with AZDO near their end.
func (s *scan) azureDevOps(at int, _ string) {
	t := s.text
	if string(t[at:at+4]) != "AZDO" {
		return
	}
	from := at
	for from > 0 && at-from < 80 && classOf(t[from-1])&alnum != 0 {
		from--
	}
	to := s.run(at, alnum)
	if to-from == 84 {
		s.add(from, to, "azure-devops-token")
	}
}

// signature takes the signature of an address that lets in whoever has it.
func (s *scan) signature(at int, word string) {
	t := s.text
	if at == 0 || t[at-1] != '?' && t[at-1] != '&' && t[at-1] != ';' {
		return
	}
	from := at + len(word)
	to := s.run(from, base64Set|percent|dash|under)
	if to-from >= 40 {
		s.add(from, to, "signed-url")
	}
}

// mailchimp takes 32 hexadecimal digits before the name of a data centre.
func (s *scan) mailchimp(at int, _ string) {
	t := s.text
	to := s.run(at+3, digit)
	if to == at+3 || to > at+6 || at < 32 || !isHex(t[at-32:at]) || !s.startsAt(at-32, 32) || lookAt(t[at-32:at]).distinct < 6 {
		return
	}
	s.add(at-32, to, "mailchimp-key")
}

// netrc takes the password of "machine host login name password value".
func (s *scan) netrc(at int, word string) {
	t := s.text
	if at == 0 || t[at-1] > ' ' {
		return
	}
	before := t[max(0, at-256):at]
	if !bytes.Contains(before, []byte("login ")) || !bytes.Contains(before, []byte("machine ")) && !bytes.Contains(before, []byte("default ")) {
		return
	}
	from := at + len(word)
	to := from
	for to < len(t) && t[to] > ' ' && to-from < 256 {
		to++
	}
	if value := t[from:to]; len(value) >= 3 && !standIn(value) {
		s.add(from, to, "netrc")
	}
}

// nameSet is what a name may have around its keyword.
const nameSet = word | dash | dot

// assigned takes the value behind a name such as DB_PASSWORD, apiKey or --token: an
// assignment, a member of JSON or YAML, an element of XML, an argument.
func (s *scan) assigned(at int, kw string) {
	if at < s.nameTo {
		return // a keyword before it in the same name has seen all of this
	}
	t := s.text
	from, to := at, at+len(kw)
	if kw == `"auth"` {
		from, to = at+1, at+5
	} else if kw == "psk=" {
		to--
	}
	for from > 0 && at-from < 64 && s.e.class[t[from-1]]&nameSet != 0 {
		from--
	}
	for to < len(t) && to-at < 64 && s.e.class[t[to]]&nameSet != 0 {
		to++
	}
	s.nameTo = to
	s.spend(to - from)
	name := t[from:to]
	i := to
	for n := 0; n < 4 && i < len(t) && strings.IndexByte("\"'`]\\", t[i]) >= 0; n++ {
		i++
	}
	spaces := func() {
		for n := 0; n < 24 && i < len(t) && (t[i] == ' ' || t[i] == '\t'); n++ {
			i++
		}
	}
	bare := i // right behind the name
	spaces()
	if i >= len(t) {
		return
	}
	env, loose := false, false
	switch c := t[i]; {
	case c == ':' && i+1 < len(t) && t[i+1] == '=', c == '=' && i+1 < len(t) && t[i+1] == '>':
		i += 2
	case c == '=':
		if i+1 < len(t) && strings.IndexByte("=~", t[i+1]) >= 0 || i > 0 && strings.IndexByte("!<>=", t[i-1]) >= 0 {
			return
		}
		env = i == to && envName(name)
		i++
		if env && i < len(t) && (t[i] == ' ' || t[i] == '\t') {
			return // an empty variable
		}
	case c == ':':
		if i+1 < len(t) && strings.IndexByte(":/", t[i+1]) >= 0 {
			return
		}
		i++
	case c == '>' && from > 0 && t[from-1] == '<' && i == to:
		i++
		loose = true
	case i > bare && bytes.HasPrefix(name, []byte("--")):
		// --token VALUE
	default:
		return
	}
	spaces()
	if i < len(t) && strings.IndexByte("bBtT", t[i]) >= 0 {
		for _, scheme := range [...]string{"bearer ", "basic ", "token "} {
			if hasFold(t[i:], scheme) {
				i += len(scheme)
			}
		}
	}
	value, quoted := s.quoted(i)
	if value.to == 0 {
		value = s.unquoted(i, env)
	}
	v := t[value.from:value.to]
	s.spend(2 * len(v))
	if len(v) < 4 {
		return
	}
	after := byte(0)
	if value.to < len(t) {
		after = t[value.to]
	}
	if !quoted && (after == '(' || after == '[' || after == '{') {
		return // code: a call, an index
	}
	if l := lookAt(v); l.digits == 0 && !env && !loose && kw != `"auth"` && (l.other == 0 || !strange(v)) {
		return // a word, a member: neither rolled nor chosen
	}
	kind := kindOf(name)
	ok := false
	switch kind {
	case kindNone:
	case kindPassword:
		ok = chosen(v, env || loose)
	case kindAuth:
		pair := decode64(v)
		ok = len(v) >= 8 && printable(pair) && bytes.IndexByte(pair, ':') > 0
	case kindKey:
		ok = rolled(v, env) && (env || quoted || len(v) >= 20)
	default:
		ok = rolled(v, env || quoted) && (!isUUID(v) || kind == kindSecret)
	}
	if !ok {
		return
	}
	id := "assigned-" + string(kind)
	if env {
		id = "env-" + string(kind)
	}
	if len(v) == 40 && bytes.Contains(bytes.ToLower(name), []byte("secret")) && bytes.Contains(bytes.ToLower(name), []byte("access")) {
		id = "aws-secret-access-key"
	}
	s.add(value.from, value.to, id)
}

// quoted reads a value in quotation marks at i, those that are escaped included.
func (s *scan) quoted(i int) (span, bool) {
	t := s.text
	if i+1 < len(t) && strings.IndexByte("bruf@", t[i]) >= 0 && (t[i+1] == '"' || t[i+1] == '\'') {
		i++ // a prefix that some languages have
	}
	escaped := i+1 < len(t) && t[i] == '\\'
	if escaped {
		i++
	}
	if i >= len(t) || t[i] != '"' && t[i] != '\'' && t[i] != '`' {
		return span{}, false
	}
	q := t[i]
	for n := i + 1; n < len(t) && n-i <= maxValue; n++ {
		switch {
		case t[n] == '\n':
			return span{}, false
		case t[n] == q:
			to := n
			if t[n-1] == '\\' {
				if !escaped {
					continue
				}
				to--
			}
			return span{from: i + 1, to: to}, true
		}
	}
	return span{}, false
}

// unquoted reads a value up to where it must end. In a file of variables that is the
// line's end or a space.
func (s *scan) unquoted(i int, env bool) span {
	stops := ",;\"'`<>(){}[]|&\\"
	if env {
		stops = "\"'`"
	}
	t := s.text
	n := i
	for n < len(t) && n-i < maxValue && t[n] > ' ' && strings.IndexByte(stops, t[n]) < 0 {
		if t[n] == '\\' && n+1 < len(t) && (t[n+1] == 'n' || t[n+1] == 'r') {
			break
		}
		n++
	}
	to := n
	for to > i && strings.IndexByte(".,;:)", t[to-1]) >= 0 {
		to--
	}
	return span{from: i, to: to}
}

// nameKind is what a name says about its value.
type nameKind string

const (
	kindNone     nameKind = ""
	kindPassword nameKind = "password"
	kindSecret   nameKind = "secret"
	kindToken    nameKind = "token"
	kindKey      nameKind = "key"
	kindAuth     nameKind = "auth"
)

// kindOf reads a name. What stands behind the keyword tells whether the value is the
// secret or something about it (password_hash, token_type, secretName).
func kindOf(name []byte) nameKind {
	if len(name) > 96 {
		return kindNone
	}
	var buf [96]byte
	low := buf[:0]
	for _, c := range name {
		if c == '-' || c == '.' || c == '_' {
			continue
		}
		low = append(low, fold(c))
	}
	text := string(low)
	if text == "auth" {
		return kindAuth
	}
	for _, w := range [...]struct {
		text string
		kind nameKind
	}{
		{"password", kindPassword}, {"passphrase", kindPassword}, {"passwd", kindPassword}, {"pwd", kindPassword}, {"pass", kindPassword},
		{"secretaccesskey", kindSecret}, {"clientsecret", kindSecret}, {"secretkey", kindSecret}, {"apikey", kindSecret}, {"accesskey", kindKey},
		{"privatekey", kindSecret}, {"signingkey", kindSecret}, {"encryptionkey", kindSecret}, {"masterkey", kindSecret}, {"accountkey", kindSecret},
		{"authkey", kindSecret}, {"subscriptionkey", kindSecret}, {"presharedkey", kindSecret}, {"psk", kindPassword},
		{"secret", kindSecret}, {"token", kindToken}, {"credentials", kindSecret}, {"credential", kindSecret}, {"key", kindKey},
	} {
		i := strings.LastIndex(text, w.text)
		if i < 0 {
			continue
		}
		switch tail := text[i+len(w.text):]; tail {
		case "", "value", "val", "text", "string", "raw", "plain", "b64", "base64", "data", "prod", "production", "dev", "test", "staging", "live", "new", "old", "current", "primary", "secondary", "key", "word":
			return tellsOf(text, w.kind)
		default:
			if len(tail) <= 3 && digitsOnly([]byte(tail)) {
				return tellsOf(text, w.kind)
			}
		}
	}
	return kindNone
}

// tellsOf takes back what a name is that is about something else after all.
func tellsOf(name string, kind nameKind) nameKind {
	for _, about := range [...]string{
		"nextpagetoken", "pagetoken", "nexttoken", "continuationtoken", "synctoken", "cursor", "csrf", "xsrf", "maxtoken", "tokens", "tokenizer", "tokentype",
		"publickey", "publictoken", "clienttoken", "primarykey", "foreignkey", "cachekey", "sortkey", "partitionkey", "idempotency", "keyless",
	} {
		if strings.Contains(name, about) {
			return kindNone
		}
	}
	return kind
}

// envName tells a name of a variable: capitals, digits, underscores.
func envName(name []byte) bool {
	for _, c := range name {
		if classOf(c)&(upper|digit|under) == 0 {
			return false
		}
	}
	return classOf(name[0]) != digit
}

// decode64 decodes base64 in either alphabet, with or without padding; nil for what
// is none.
func decode64(b []byte) []byte {
	b = bytes.TrimRight(b, "=")
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(b)))
	enc := base64.RawStdEncoding
	if bytes.ContainsAny(b, "-_") {
		enc = base64.RawURLEncoding
	}
	n, err := enc.Decode(out, b)
	if err != nil {
		return nil
	}
	return out[:n]
}

// printable tells text from other bytes, whose last character may be cut; nothing is
// no text.
func printable(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	for n := 0; n < utf8.UTFMax && n < len(b); n++ {
		if utf8.Valid(b[:len(b)-n]) {
			return true
		}
	}
	return false
}
