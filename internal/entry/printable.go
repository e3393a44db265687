package entry

import (
	"strings"
	"unicode"
)

// Printable takes out of foreign text what could drive a terminal or hide words
// from a reader: control characters but line breaks and tabs, and characters that
// only format (zero width, direction). Bytes that are no UTF-8 become U+FFFD.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != zeroWidthJoiner:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// zeroWidthJoiner holds emoji together, and hides nothing.
const zeroWidthJoiner = '\u200d'
