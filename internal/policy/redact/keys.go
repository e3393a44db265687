package redact

// index finds many keywords in one pass over a text, whatever their case. It looks
// at three bytes at a time in a table that fits the processor's nearest cache; only
// where these begin a keyword, the keyword is compared.
type index struct {
	heads   [indexSize]uint16 // 1 + the first entry with this hash
	fold    [256]byte
	entries []indexEntry
}

const indexSize = 1 << 14

type indexEntry struct {
	word string // lower case, three bytes or more
	rule uint16
	next uint16
}

// minKeyword is the shortest keyword in bytes.
const minKeyword = 3

func hash3(a, b, c byte) uint32 {
	return (uint32(a)<<9 ^ uint32(b)<<5 ^ uint32(c)) & (indexSize - 1)
}

// fold makes ASCII letters small.
func fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func newIndex() *index {
	x := new(index)
	for i := range x.fold {
		x.fold[i] = fold(byte(i))
	}
	return x
}

func (x *index) add(word string, rule int) {
	h := hash3(word[0], word[1], word[2])
	x.entries = append(x.entries, indexEntry{word, uint16(rule), x.heads[h]})
	x.heads[h] = uint16(len(x.entries))
}

// each calls hit for every keyword in text.
func (x *index) each(text []byte, hit func(rule, at int, word string)) {
	if len(text) < minKeyword {
		return
	}
	a, b := x.fold[text[0]], x.fold[text[1]]
	for i, c := range text[2:] {
		c = x.fold[c]
		for n := x.heads[hash3(a, b, c)]; n != 0; {
			e := &x.entries[n-1]
			if hasFold(text[i:], e.word) {
				hit(int(e.rule), i, e.word)
			}
			n = e.next
		}
		a, b = b, c
	}
}

// hasFold reports whether text begins with word, which is in lower case.
func hasFold(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := 0; i < len(word); i++ {
		if fold(text[i]) != word[i] {
			return false
		}
	}
	return true
}
