package gate

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lidguard-go/lidguard/internal/event"
)

// reason puts a result into words for the model: the rule, the gravest hazard and
// where it is, what else there is, what to do instead.
func (j *judge) reason(command string, r *Result) string {
	if r.Decision == event.None || len(r.Hazards) == 0 {
		return ""
	}
	h := &r.Hazards[0]
	rule := ruleOf(h)
	var b strings.Builder
	fmt.Fprintf(&b, "lidguard gate [%s]: %s", h.Rule, rule.what)
	if h.Target != "" && !strings.Contains(rule.what, h.Target) {
		fmt.Fprintf(&b, ": %s", quote(h.Target, 120))
	}
	if where := whereIn(command, h); where != "" {
		b.WriteString(" (" + where + ")")
	}
	b.WriteString(".")
	seen := h.Rule
	also := 0
	for i := 1; i < len(r.Hazards) && also < 3; i++ {
		o := &r.Hazards[i]
		if o.Decision == event.None || strings.Contains(seen, o.Rule) {
			continue
		}
		seen += " " + o.Rule
		if also == 0 {
			b.WriteString(" Also: ")
		} else {
			b.WriteString("; ")
		}
		also++
		fmt.Fprintf(&b, "%s [%s]", ruleOf(o).what, o.Rule)
	}
	if also > 0 {
		b.WriteString(".")
	}
	if j.w.Unattended != "" && j.cfg.decide(h.Effect, h.Scope, h.Rule) == event.Ask {
		b.WriteString(" A person would be asked, but " + j.w.Unattended + ".")
	}
	if r.Decision == event.Ask {
		if rule.instead != "" {
			b.WriteString(" Instead: " + rule.instead + ".")
		}
		return b.String()
	}
	if instead := j.instead(rule, h); instead != "" {
		b.WriteString(" Instead: " + instead + ".")
	}
	b.WriteString(" Do not reach the same end another way.")
	return b.String()
}

// instead is a rule's advice, with a custom rule's own text where it has one.
func (j *judge) instead(rule *rule, h *Hazard) string {
	if h.Effect == MCPCall {
		for i := range j.cfg.MCP {
			if m := &j.cfg.MCP[i]; m.ID == h.Rule && m.Instead != "" {
				return m.Instead
			}
		}
	}
	return rule.instead
}

// whereIn shows where in a command a hazard is.
func whereIn(command string, h *Hazard) string {
	if h.End <= h.Offset || h.End > len(command) || h.Offset == 0 && h.End >= len(strings.TrimSpace(command)) {
		return ""
	}
	line := strings.Count(command[:h.Offset], "\n") + 1
	at := fmt.Sprintf("at byte %d", h.Offset+1)
	if line > 1 {
		at = fmt.Sprintf("line %d", line)
	}
	return at + ": " + quote(command[h.Offset:h.End], 60)
}

// quote shows foreign text on one line, shortened, without control characters.
func quote(s string, n int) string {
	if len(s) > 4*n {
		s = s[:4*n]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) || r == '`' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return "`" + clip(s, n) + "`"
}
