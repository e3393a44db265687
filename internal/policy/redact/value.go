package redact

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// look is what a value looks like, counted in one pass.
type look struct {
	upper, lower, digits, other int
	distinct                    int
	foreign                     bool // spaces and control characters
	wide                        bool // something beyond ASCII, whose bytes count as small letters
}

func lookAt(value []byte) look {
	var l look
	var seen [256]bool
	for _, c := range value {
		if !seen[c] {
			seen[c] = true
			l.distinct++
		}
		switch {
		case 'a' <= c && c <= 'z':
			l.lower++
		case 'A' <= c && c <= 'Z':
			l.upper++
		case '0' <= c && c <= '9':
			l.digits++
		case c <= ' ' || c == 0x7f:
			l.foreign = true
		case c >= utf8.RuneSelf:
			l.lower++
			l.wide = true
		default:
			l.other++
		}
	}
	return l
}

// entropy is Shannon's, of a value's characters, in bits for each.
func entropy(value []byte) float64 {
	var seen [256]uint16
	for _, c := range value {
		seen[c]++
	}
	bits := 0.0
	for _, n := range seen {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// wordy tells values that are made of words, as names, paths and sentences are, from
// values that were rolled: three quarters of it are pieces that can be spoken.
func wordy(value []byte) bool {
	spoken, all := 0, 0
	for i := 0; i < len(value); {
		n := i
		switch c := classOf(value[i]); c {
		case upper, lower:
			// A piece is one capital and small letters, or letters of one case.
			n++
			if c == upper && n < len(value) && classOf(value[n]) == lower {
				c = lower
			}
			for n < len(value) && classOf(value[n]) == c {
				n++
			}
			all += n - i
			if speakable(value[i:n]) {
				spoken += n - i
			}
		case digit:
			for n < len(value) && classOf(value[n]) == digit {
				n++
			}
			all += n - i
			if n-i == 4 && (value[i] == '1' && value[i+1] == '9' || value[i] == '2' && value[i+1] == '0') || n-i == 1 {
				all -= n - i // a year, a version
			}
		default:
			n++
		}
		i = n
	}
	return all > 0 && spoken*4 >= all*3
}

// speakable tells a piece of three letters or more that has a vowel and no row of
// five consonants.
func speakable(piece []byte) bool {
	if len(piece) < 3 {
		return false
	}
	vowels, row := 0, 0
	for _, c := range piece {
		switch fold(c) {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			vowels++
			row = 0
		default:
			if row++; row >= 5 {
				return false
			}
		}
	}
	return vowels > 0
}

// standIns are texts that stand where a secret would: a value with one of them is
// none.
var standIns = []string{
	"example", "changeme", "change_me", "change-me", "placeholder", "redacted", "your_", "your-", "yourkey", "yourtoken", "yourpass",
	"xxxx", "****", "....", "<", "{{", "${", "$(", "%s", "%v", "%(", "dummy", "insert", "replace", "todo", "lorem", "process.env", "os.environ",
	"getenv", "env.", "secrets.", "vars.", "null", "undefined", "[redacted",
}

// plainWords are values that everybody knows.
var plainWords = []string{
	"password", "passwd", "pass", "secret", "token", "root", "admin", "administrator", "postgres", "mysql", "guest", "user", "username", "test", "none",
	"true", "false", "nil", "string", "required", "optional", "empty", "default", "unset", "hidden", "masked", "private", "public", "prompt", "stdin",
}

func standIn(value []byte) bool {
	low := bytes.ToLower(value)
	for _, w := range standIns {
		if bytes.Contains(low, []byte(w)) {
			return true
		}
	}
	for _, w := range plainWords {
		if string(low) == w {
			return true
		}
	}
	return false
}

// rolled tells a value that a machine made: letters and digits in no order.
func rolled(value []byte, short bool) bool {
	least := 12
	if short {
		least = 8
	}
	if len(value) < least || len(value) > maxValue {
		return false
	}
	l := lookAt(value)
	if l.foreign || l.wide || l.digits == 0 || l.upper+l.lower == 0 {
		return false
	}
	need := 3.0
	if len(value) < 16 {
		need = 2.5
	}
	if len(value) >= 12 && l.distinct < 7 {
		return false
	}
	if value[0] == '/' && len(value) < 32 || value[0] == '.' || value[0] == '~' || value[0] == '$' || value[0] == '@' || value[0] == '%' || bytes.Contains(value, []byte("://")) {
		return false
	}
	return !versionLike(value) && !wordy(value) && entropy(value) >= need && !standIn(value)
}

// versionLike tells versions, dates, addresses, sizes: digits and marks with a few
// letters among them.
func versionLike(value []byte) bool {
	l := lookAt(value)
	return l.digits+l.other > 0 && l.upper+l.lower <= 4 && l.other*4 >= l.digits && len(value) < 40
}

// chosen tells a value that a person chose as a password: anything but a word that
// stands for one. loose takes one without digits too.
func chosen(value []byte, loose bool) bool {
	least := 6
	if loose {
		least = 4
	}
	if len(value) < least || len(value) > 256 {
		return false
	}
	l := lookAt(value)
	if l.foreign || l.distinct < 3 || l.upper+l.lower+l.digits == 0 || value[0] == '$' || standIn(value) {
		return false
	}
	if loose {
		return true
	}
	return l.upper+l.lower > 0 && (l.digits > 0 || l.other > 0 && strange(value)) && !versionLike(value) && !pathLike(value)
}

// strange tells marks that names and sentences do not have inside.
func strange(value []byte) bool { return bytes.ContainsAny(value, "!#$%^&*+=?@") }

// pathLike tells names of files and members.
func pathLike(value []byte) bool {
	if value[0] == '/' || value[0] == '~' || value[0] == '.' {
		return true
	}
	return wordy(value) && bytes.ContainsAny(value, "./_-:")
}
