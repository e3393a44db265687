package confedit

import (
	"fmt"
	"slices"
	"strings"
)

// diffContext is how many unchanged lines surround a change.
const diffContext = 3

// Diff returns the change from before to after as a unified diff, for people
// to read, or "" if there is none. name heads it on both sides.
func Diff(before, after []byte, name string) string {
	a, b := splitLines(string(before)), splitLines(string(after))
	edits := diffLines(a, b)
	if len(edits) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for len(edits) > 0 {
		// Changes whose context touches share a hunk.
		n := 1
		for n < len(edits) && edits[n].a0-edits[n-1].a1 <= 2*diffContext {
			n++
		}
		writeHunk(&out, a, b, edits[:n])
		edits = edits[n:]
	}
	return out.String()
}

// edit replaces lines a0 to a1 of the old text with b0 to b1 of the new one.
type edit struct{ a0, a1, b0, b1 int }

func writeHunk(out *strings.Builder, a, b []string, edits []edit) {
	first, last := edits[0], edits[len(edits)-1]
	lead := min(diffContext, first.a0)
	trail := min(diffContext, len(a)-last.a1)
	a0, b0 := first.a0-lead, first.b0-lead
	fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkRange(a0, last.a1+trail), hunkRange(b0, last.b1+trail))
	at := a0
	for _, e := range edits {
		writeLines(out, ' ', a[at:e.a0])
		writeLines(out, '-', a[e.a0:e.a1])
		writeLines(out, '+', b[e.b0:e.b1])
		at = e.a1
	}
	writeLines(out, ' ', a[at:last.a1+trail])
}

// hunkRange writes lines from to to (0-based, exclusive) the way patch(1)
// reads them: an empty range names the line before it.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, to-from)
	}
}

func writeLines(out *strings.Builder, sign byte, lines []string) {
	for _, line := range lines {
		out.WriteByte(sign)
		out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// splitLines keeps the line endings.
func splitLines(s string) []string {
	return slices.Collect(strings.Lines(s))
}

// maxDiffWork bounds the search for the shortest script, which takes time and
// memory with the square of its length. Beyond it all lines between the first
// and the last difference are shown as replaced: correct, only longer.
const maxDiffWork = 1000

// diffLines returns the changes that lead from a to b, in order, by the greedy
// algorithm of Myers, "An O(ND) Difference Algorithm and Its Variations".
func diffLines(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) == 0 && len(y) == 0 {
		return nil
	}
	whole := []edit{{head, len(a) - tail, head, len(b) - tail}}
	if len(x) == 0 || len(y) == 0 {
		return whole
	}

	// v[k+off] is how far down x diagonal k (x minus y) got; trace keeps v
	// before each round d.
	limit := min(len(x)+len(y), maxDiffWork)
	off := limit + 1
	v := make([]int, 2*off+1)
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v[off-d-1:off+d+2]))
		for k := -d; k <= d; k += 2 {
			i := v[off+k-1] + 1
			if k == -d || k != d && v[off+k-1] < v[off+k+1] {
				i = v[off+k+1]
			}
			for i < len(x) && i-k < len(y) && x[i] == y[i-k] {
				i++
			}
			v[off+k] = i
			if i >= len(x) && i-k >= len(y) {
				return backtrack(trace, len(x), len(y), head)
			}
		}
	}
	return whole
}

// backtrack walks the rounds back and collects the single steps, joining
// neighbours to one edit.
func backtrack(trace [][]int, i, j, head int) []edit {
	var edits []edit
	for d := len(trace) - 1; d > 0; d-- {
		v := trace[d] // v[0] is diagonal -d-1
		at := func(k int) int { return v[k+d+1] }
		k := i - j
		prev := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			prev = k + 1
		}
		pi := at(prev)
		pj := pi - prev
		e := edit{head + pi, head + pi, head + pj, head + pj}
		if prev == k-1 {
			e.a1++
		} else {
			e.b1++
		}
		if n := len(edits); n > 0 && edits[n-1].a0 == e.a1 && edits[n-1].b0 == e.b1 {
			edits[n-1].a0, edits[n-1].b0 = e.a0, e.b0
		} else {
			edits = append(edits, e)
		}
		i, j = pi, pj
	}
	slices.Reverse(edits)
	return edits
}
