package event

import (
	"strings"
	"unicode"
)

// PreviewLen is how many characters of a prompt are kept.
const PreviewLen = 50

// Preview turns a prompt into one line of at most PreviewLen characters, cut at
// a word with "..." appended inside that limit. Control characters become
// spaces, so that a preview can be printed to any terminal.
func Preview(prompt string) string {
	// A prompt may be megabytes; only its head can matter.
	if len(prompt) > 16*PreviewLen {
		prompt = prompt[:16*PreviewLen]
	}
	line := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(prompt, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf)
	}), " ")
	runes := []rune(line)
	if len(runes) <= PreviewLen {
		return line
	}
	cut := string(runes[:PreviewLen-3])
	if i := strings.LastIndexByte(cut, ' '); i > PreviewLen/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ") + "..."
}
