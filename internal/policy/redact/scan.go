package redact

import (
	"bytes"
	"slices"
	"strings"
)

// scan is one search through one text.
type scan struct {
	e     *Engine
	text  []byte
	found []span

	// What was learned on the way, so that hostile text costs no more than other.
	runs   []cachedRun
	keyTo  int // up to here a private key was found
	nameTo int // up to here names were looked at
	endAt  int // the next last line of a key; -1: there is none
	budget int // bytes that finders may still look at
	hits   [][]int32
}

type cachedRun struct {
	set      class
	from, to int
}

// workPerByte bounds what the finders look at beyond the one pass over the text, as a
// multiple of its length. Real output stays below one.
const workPerByte = 16

// search finds all secrets in text, in no order, overlapping ones too. over tells
// that the text asked for more work than it may.
func (e *Engine) search(text []byte, deep bool) (found []span, over bool) {
	s := scan{e: e, text: text, budget: 64<<10 + workPerByte*len(text)}
	if len(e.regexps) > 0 {
		s.hits = make([][]int32, len(e.regexps))
	}
	e.index.each(text, func(rule, at int, word string) {
		if s.budget <= 0 {
			return
		}
		switch {
		case rule < len(tokens):
			s.token(&tokens[rule], at, word)
		case rule < len(tokens)+len(finders):
			finders[rule-len(tokens)].find(&s, at, word)
		default:
			s.hits[rule-len(tokens)-len(finders)] = append(s.hits[rule-len(tokens)-len(finders)], int32(at))
		}
	})
	s.expressions()
	s.pairs()
	if deep {
		s.encoded()
	}
	s.again()
	return s.found, s.budget <= 0
}

func (s *scan) spend(n int) { s.budget -= n }

// add notes a secret, unless its rule is off or a person allowed it.
func (s *scan) add(from, to int, rule string) {
	if from >= to || s.e.off[rule] || s.e.allowed(s.text[from:to]) {
		return
	}
	s.found = append(s.found, span{from, to, rule})
}

// run returns where the characters of set that begin at i end.
func (s *scan) run(i int, set class) int {
	slot := -1
	for n := range s.runs {
		if s.runs[n].set == set {
			if r := &s.runs[n]; r.from <= i && i <= r.to {
				return r.to
			}
			slot = n
			break
		}
	}
	to := i
	for to < len(s.text) && s.e.class[s.text[to]]&set != 0 {
		to++
	}
	if to-i >= 64 {
		if slot < 0 {
			s.runs = append(s.runs, cachedRun{})
			slot = len(s.runs) - 1
		}
		s.runs[slot] = cachedRun{set, i, to}
	}
	return to
}

// startsAt tells whether a secret of its own may begin at i: what stands before is no
// part of the same word. A letter that belongs to an escape (\n, %3D) is not, and
// beginnings as short as four bytes must not follow a dash either.
func (s *scan) startsAt(i, length int) bool {
	if i == 0 {
		return true
	}
	t := s.text
	c := s.e.class[t[i-1]]
	if length < 5 && c&(dash|under) != 0 && (i < 2 || s.e.class[t[i-2]]&alnum != 0) {
		return false
	}
	if c&alnum == 0 {
		return true
	}
	if i >= 2 && t[i-2] == '\\' && (t[i-1] == 'n' || t[i-1] == 't' || t[i-1] == 'r') {
		return true
	}
	return i >= 3 && t[i-3] == '%' && isHex(t[i-2:i])
}

// token checks a secret that begins with a word of its issuer.
func (s *scan) token(k *token, at int, word string) {
	t := s.text
	from := at + len(word)
	// The keyword is the word in small letters; here it must be as it is written.
	exact := false
	for _, w := range k.words {
		if len(w) == len(word) && string(t[at:from]) == w {
			exact = true
			break
		}
	}
	if !exact || word[0] != '.' && !s.startsAt(at, len(word)) {
		return
	}
	to := s.run(from, k.set)
	if k.set&dot != 0 {
		for to > from && t[to-1] == '.' {
			to--
		}
	}
	n := to - from
	if n < k.min || k.max > 0 && n > k.max || n > 8*maxValue {
		return
	}
	s.spend(n)
	body := t[from:to]
	if k.check != nil && !k.check(body) {
		return
	}
	if lookAt(body).distinct < 6 || standIn(body) {
		return // xxxxxxxx, EXAMPLE
	}
	if word == ".atlasv1." {
		for at > 0 && s.e.class[t[at-1]]&alnum != 0 && from-at < 32 {
			at--
		}
	}
	s.add(at, to, k.id)
}

// pairs takes the secret half of a pair of AWS keys, which has no look of its own,
// where it stands close behind the id.
func (s *scan) pairs() {
	for _, f := range s.found {
		if f.rule != "aws-access-key-id" {
			continue
		}
		for i, end := f.to, min(len(s.text), f.to+160); i < end; {
			if s.e.class[s.text[i]]&(alnum|plus|slash) == 0 {
				i++
				continue
			}
			to := s.run(i, alnum|plus|slash)
			if v := s.text[i:to]; len(v) == 40 {
				if l := lookAt(v); l.upper > 0 && l.lower > 0 && l.digits > 0 {
					s.add(i, to, "aws-secret-access-key")
				}
			}
			i = to
		}
		s.spend(160)
	}
}

// window is how far around its keyword a regular expression may look, in bytes.
const window = 256

// regexpCost is what a byte looked at by an expression costs of the budget.
const regexpCost = 4

// expressions runs the rules that are regular expressions, near their keywords and
// nowhere else.
func (s *scan) expressions() {
	for n, hits := range s.hits {
		r := &s.e.regexps[n]
		if len(r.words) == 0 {
			s.expression(r, 0, len(s.text))
			continue
		}
		for i := 0; i < len(hits); {
			from := max(0, int(hits[i])-window)
			to := min(len(s.text), int(hits[i])+window)
			for i++; i < len(hits) && int(hits[i])-window <= to; i++ {
				to = min(len(s.text), int(hits[i])+window)
			}
			if s.candidate(from, to) {
				s.expression(r, from, to)
			}
		}
	}
}

// candidate tells whether anything near could be a secret: ten characters without a
// break that are no word, for want of letters alone or for their length.
func (s *scan) candidate(from, to int) bool {
	letters, digits := 0, 0
	for i := from; i < to; i++ {
		switch c := s.e.class[s.text[i]]; {
		case c&digit != 0:
			digits++
		case c != 0 && c&(percent|colon) == 0:
			letters++
		default:
			letters, digits = 0, 0
		}
		if letters+digits >= 10 && digits > 0 || letters >= 20 {
			return true
		}
	}
	return false
}

func (s *scan) expression(r *regexpRule, from, to int) {
	r.open()
	re := r.re.get()
	if re == nil {
		return
	}
	for tries := 0; ; tries++ {
		if s.spend(regexpCost * (to - from)); s.budget <= 0 {
			return
		}
		again := false
		for _, m := range re.FindAllSubmatchIndex(s.text[from:to], -1) {
			a, b := m[0], m[1]
			if m[0] == 0 && from > 0 && s.e.class[s.text[from-1]]&alnum != 0 {
				continue // it begins where the window cuts a word
			}
			if m[1] == to-from && to < len(s.text) {
				again = true // it may go on
			}
			if g := r.groupOf(m); g > 0 {
				a, b = m[2*g], m[2*g+1]
			}
			if v := s.text[from+a : from+b]; len(v) > 0 && !r.excused(v, s.text[from+m[0]:from+m[1]]) {
				s.add(from+a, from+b, r.id)
			}
		}
		if !again || tries > 4 {
			return
		}
		to = min(len(s.text), to+(to-from))
	}
}

// groupOf is the group that holds the secret: the one the rule names, else the first
// that took part.
func (r *regexpRule) groupOf(m []int) int {
	if r.group > 0 && 2*r.group+1 < len(m) && m[2*r.group] >= 0 {
		return r.group
	}
	for g := 1; 2*g+1 < len(m); g++ {
		if m[2*g] >= 0 && m[2*g+1] > m[2*g] {
			return g
		}
	}
	return 0
}

// minEncoded is the shortest run of base64 that is looked into, in bytes.
const minEncoded = 24

// encoded looks into what is encoded in base64, over line ends too: a secret inside
// takes all of it away.
func (s *scan) encoded() {
	known := s.known()
	t, class := s.text, &s.e.class
	for i := 0; i < len(t); {
		from := i
		for i < len(t) && class[t[i]]&(base64Set|urlSafe) != 0 {
			i++
		}
		if i-from < minEncoded { // nearly everything: a word
			i++
			continue
		}
		s.lookInside(from, i, known)
		// base64(1) breaks its lines at 76, others at 64: full lines, one like the
		// other, and a last one that is not longer.
		width := i - from
		if width%4 == 1 && ((from == 0 || t[from-1] == '\n') && (t[from] == '+' || t[from] == '-') || from > 0 && t[from-1] == '\\' && t[from] == 'n') {
			from, width = from+1, width-1 // the mark of a diff, the end of an escape
		}
		if width < 60 || width%4 != 0 {
			continue
		}
		var joined []byte
		end := i
		for {
			a, b := s.lineBelow(end, width)
			if a == b {
				break
			}
			s.lookInside(a, b, known)
			if joined == nil {
				joined = slices.Clone(t[from:i])
			}
			full, decodes := len(joined), false
			joined = append(joined, t[a:b]...)
			end = b
			if b-a < width {
				// The last line may be one of other text.
				if _, decodes = s.inside(joined, known); !decodes {
					joined = joined[:full]
				}
				break
			}
		}
		if joined != nil {
			if hit, _ := s.inside(joined, known); hit {
				s.add(from, end, "base64-secret")
			}
		}
		i = max(i, end)
	}
}

// lead bounds what may stand before a line's base64 in bytes: an indent, a number, the
// mark of a diff or a quotation, the name of a file.
const lead = 64

// lineBelow is the base64 in the line below the one that ends at i: as wide as width,
// or shorter and the last. It is empty where there is none.
func (s *scan) lineBelow(i, width int) (from, to int) {
	t := s.text
	for n := 0; n < 3 && i < len(t) && strings.IndexByte("\"', ", t[i]) >= 0; n++ {
		i++ // the lines of a list or of a program's text
	}
	n := lineEnd(t[i:])
	if n == 0 {
		return i, i
	}
	i += n
	for end := min(len(t), i+lead); i < end && t[i] != '\n'; {
		if s.e.class[t[i]]&(base64Set|urlSafe) == 0 {
			i++
			continue
		}
		to = s.run(i, base64Set|urlSafe)
		switch n := to - i; {
		case n == width+1 && (t[i] == '+' || t[i] == '-'):
			return i + 1, to
		case n == width, n < width && (to == len(t) || t[to] == '"' || t[to] == '\'' || lineEnd(t[to:]) > 0):
			return i, to
		}
		i = to
	}
	return i, i
}

// lineEnd is the width of the line end at the start of b, 0 for none. In a text inside
// a text it is written as an escape.
func lineEnd(b []byte) int {
	for _, end := range [...]string{"\n", "\r\n", `\n`, `\r\n`} {
		if len(b) >= len(end) && string(b[:len(end)]) == end {
			return len(end)
		}
	}
	return 0
}

// lookInside decodes t[from:to] and searches it. With a hit all of it is a secret.
func (s *scan) lookInside(from, to int, known [][]byte) {
	t := s.text
	for from < to && t[from] == '=' {
		from++
	}
	// NAME=value: the run began with the name.
	for range 4 {
		if hit, _ := s.inside(t[from:to], known); hit {
			s.add(from, to, "base64-secret")
			return
		}
		i := bytes.IndexByte(t[from:to], '=')
		if i < 0 || s.budget <= 0 {
			return
		}
		from += i + 1
	}
}

// inside decodes a text in base64 and tells whether there is a secret in it, and
// whether it is base64 at all.
func (s *scan) inside(b []byte, known [][]byte) (hit, decodes bool) {
	if len(b) < minEncoded || isHex(b) {
		return false, false // a digest
	}
	inside := decode64(b)
	if inside == nil && len(b)%4 == 1 {
		inside = decode64(b[:len(b)-1])
	}
	if len(inside) == 0 {
		return false, false
	}
	s.spend(len(b))
	for _, secret := range known {
		hit = hit || bytes.Contains(inside, secret)
	}
	if !hit {
		sub := scan{e: s.e, text: inside, budget: 8<<10 + 4*len(inside)}
		text := printable(inside[:min(64, len(inside))])
		s.e.index.each(inside, func(rule, at int, word string) {
			if rule < len(tokens) {
				sub.token(&tokens[rule], at, word)
			} else if text && rule < len(tokens)+len(finders) && sub.budget > 0 {
				finders[rule-len(tokens)].find(&sub, at, word)
			}
		})
		hit = len(sub.found) > 0
	}
	return hit, true
}

// maxKnown bounds how many secrets are looked for elsewhere in the text.
const maxKnown = 256

// known are the secrets found so far that are worth looking for in other places,
// longest first. A short or plain one would take ordinary words away.
func (s *scan) known() [][]byte {
	var list [][]byte
	seen := map[string]bool{}
	for _, f := range s.found {
		v := s.text[f.from:f.to]
		if len(v) < 8 || len(v) > 1024 || seen[string(v)] || bytes.IndexByte(v, '\n') >= 0 {
			continue
		}
		if l := lookAt(v); l.upper+l.lower == 0 || l.digits == 0 && l.other == 0 || l.distinct < 5 {
			continue
		}
		seen[string(v)] = true
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b []byte) int { return len(b) - len(a) })
	return list[:min(len(list), maxKnown)]
}

// again finds the other places of what was found: a value that a name gave away once
// is a secret where it stands alone.
func (s *scan) again() {
	known := s.known()
	if len(known) > 0 {
		known = known[:min(len(known), 1+(64<<20)/(1+len(s.text)))]
	}
	for _, v := range known {
		rule := "repeated"
		for _, f := range s.found {
			if f.to-f.from == len(v) && bytes.Equal(s.text[f.from:f.to], v) {
				rule = f.rule
				break
			}
		}
		for at := 0; ; {
			i := bytes.Index(s.text[at:], v)
			if i < 0 {
				break
			}
			s.found = append(s.found, span{at + i, at + i + len(v), rule})
			at += i + len(v)
		}
	}
}
