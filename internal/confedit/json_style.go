package confedit

import (
	"strings"

	"github.com/tailscale/hujson"
)

// style is how the person (or program) before us laid the document out.
type style struct {
	unit  string // one level of indentation
	colon string // what stands after a colon
	comma string // what stands after a comma on the same line
	eol   string
}

// style looks for the first evidence of each habit; without any it is what
// most formatters do: two spaces, one blank after a colon.
func (d *JSON) style() style {
	s := style{unit: "", colon: " ", eol: d.eol}
	colonSeen, commaSeen := false, false
	for v := range d.root.All() {
		c := containerOf(v)
		if c == nil || c.len() == 0 {
			continue
		}
		if c.object != nil && !colonSeen {
			colonSeen = true
			if len(c.value(0).BeforeExtra) == 0 {
				s.colon = ""
			}
		}
		if s.unit == "" && hasNewline(c.before(0)) {
			parent, child := lineIndent(d.text, c.open), lineIndent(d.text, c.start(0))
			if unit, ok := strings.CutPrefix(child, parent); ok {
				s.unit = unit
			}
		}
		if !commaSeen && c.len() > 1 && !hasNewline(c.before(1)) {
			commaSeen = true
			if len(c.before(1)) > 0 {
				s.comma = " "
			}
		}
		if colonSeen && commaSeen && s.unit != "" {
			break
		}
	}
	if s.unit == "" {
		s.unit = "  "
	}
	if !commaSeen {
		s.comma = s.colon
	}
	return s
}

// render writes v, a tree without blanks. In lines mode every member and
// element gets its own line, indented one unit deeper than base; the first
// line is not indented because something stands before it.
func (s style) render(v *hujson.Value, base string, lines bool) string {
	var b strings.Builder
	s.write(&b, v, base, lines)
	return b.String()
}

func (s style) write(b *strings.Builder, v *hujson.Value, base string, lines bool) {
	c := containerOf(v)
	if c == nil {
		b.Write(v.Value.(hujson.Literal))
		return
	}
	left, right := byte('['), byte(']')
	if c.object != nil {
		left, right = '{', '}'
	}
	b.WriteByte(left)
	deeper := base + s.unit
	for i := range c.len() {
		switch {
		case lines:
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(s.eol + deeper)
		case i > 0:
			b.WriteString("," + s.comma)
		}
		if c.object != nil {
			b.Write(c.object.Members[i].Name.Value.(hujson.Literal))
			b.WriteString(":" + s.colon)
		}
		s.write(b, c.value(i), deeper, lines)
	}
	if lines && c.len() > 0 {
		b.WriteString(s.eol + base)
	}
	b.WriteByte(right)
}
