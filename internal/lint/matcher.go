package lint

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// maxMatcher is the longest matcher that is looked at: longer ones are nobody's, and
// would be compiled again and again.
const maxMatcher = 2000

// matcher looks at whether a matcher can ever match, and what else it matches.
func (c *checker) matcher(s *source, e *entry) {
	if e.matcher == nil || e.inner > 0 {
		return // said of the group's first handler
	}
	m := *e.matcher
	if len(m) > maxMatcher {
		return
	}
	law := e.census.Matcher.Law
	if e.pascal() && law == census.FullRegex {
		// Claude Code's matchers count under PascalCase PreToolUse (contracts/copilot
		// §6); how the other events' do was not found out, but for one.
		if e.event == "Notification" && m == "*" {
			c.on(s, matcherInvalid, e, "matcher", "Copilot refuses the matcher * on Notification")
		}
		if r := census.ListOrRegex.Read(m); r.Fault != "" {
			c.on(s, matcherInvalid, e, "matcher", "the matcher %q is no regular expression: %s", m, r.Fault)
		}
		return
	}
	if law == census.Ignored {
		if !slices.Contains([]string{"", "*", ".*", "^.*$", ".+"}, m) {
			c.on(s, matcherIgnored, e, "matcher", "%s is matched by nothing, and the matcher %q is ignored", e.event, m)
		}
		return
	}
	r := law.Read(m)
	switch {
	case r.Fault != "":
		c.on(s, matcherInvalid, e, "matcher", "the matcher %q is no regular expression here: %s", m, r.Fault)
	case r.All:
	case law == census.FileNames:
		if strings.ContainsAny(m, `*^$[]()\+?`) {
			c.on(s, matcherNever, e, "matcher", "file names are compared as they are written, and no file is called %q", m)
		}
	case r.Names != nil && onTools(e):
		c.toolNames(s, e, r)
	case r.Names != nil && len(e.census.Matcher.Values) > 0:
		for _, name := range r.Names {
			c.value(s, e, name)
		}
	case r.Pattern != "":
		c.pattern(s, e, r)
	}
}

func onTools(e *entry) bool {
	return e.census.Matcher.Field == "tool_name" || e.census.Matcher.Field == "toolName"
}

// value looks at one name of a list, where all values are known.
func (c *checker) value(s *source, e *entry, name string) {
	values := e.census.Matcher.Values
	if slices.Contains(values, name) {
		return
	}
	for _, v := range values {
		if strings.EqualFold(v, name) {
			c.on(s, matcherCase, e, "matcher", "%q is spelled %s", name, v)
			return
		}
	}
	c.on(s, matcherNever, e, "matcher", "%s has no %s %q; there are %s", e.event, e.census.Matcher.Field, name, strings.Join(values, ", "))
}

// names are all names of tools that a matcher of this client may use.
func names(p event.Provider) []string {
	out := slices.Clone(census.Tools(p))
	for alias := range census.Aliases(p) {
		out = append(out, alias)
	}
	slices.Sort(out)
	return append(out, census.FormerTools(p)...)
}

// bareServer reports whether a name is that of an MCP server alone.
func bareServer(name string) bool {
	rest, ok := strings.CutPrefix(name, "mcp__")
	return ok && !strings.Contains(strings.Trim(rest, "_"), "__")
}

// toolNames looks at a list of whole names of tools.
func (c *checker) toolNames(s *source, e *entry, r census.Reading) {
	known := names(s.Provider)
	fires := 0
	var foreign []string
	for _, name := range r.Names {
		switch {
		case slices.Contains(known, name):
			fires++
		case bareServer(name):
			c.on(s, matcherServer, e, "matcher", "%q is the name of a server; its tools are %s__<tool>", name, name)
			fires++
		case strings.HasPrefix(name, "mcp__"):
			fires++
		default:
			said, other := c.unknownTool(s, e, name, known)
			switch {
			case said:
				fires++ // said already
			case other:
				foreign = append(foreign, name)
			default:
				fires++ // a tool that this table does not know
			}
		}
	}
	if fires == 0 && len(foreign) > 0 {
		client, _ := census.Of(s.Provider)
		c.on(s, matcherNever, e, "matcher", "%s has none of the tools %s", client.Title, strings.Join(foreign, ", "))
	}
}

// unknownTool tells what is wrong with a name that no tool has. other is set where
// another client has it.
func (c *checker) unknownTool(s *source, e *entry, name string, known []string) (said, other bool) {
	for _, k := range known {
		if strings.EqualFold(k, name) {
			c.on(s, matcherCase, e, "matcher", "%q is spelled %s", name, k)
			return true, false
		}
	}
	if s.Provider != event.Claude && slices.Contains(names(event.Claude), name) {
		return false, true
	}
	if row, ok := census.Find(s.Provider, name); ok {
		c.on(s, matcherNever, e, "matcher", "%s is an event, and the matcher of %s is compared with the names of tools", row.Native, e.event)
		return true, false
	}
	if strings.Contains(name, " ") {
		c.on(s, matcherNever, e, "matcher", "no tool is called %q; names are separated by |", name)
		return true, false
	}
	for _, k := range known {
		if len(name) >= 2 && (strings.HasPrefix(k, name) || strings.HasSuffix(k, name)) {
			c.on(s, matcherNever, e, "matcher", "%q is compared with whole names, and no tool is called so; %s is not matched", name, k)
			return true, false
		}
	}
	if near := nearest(name, known); near != "" && distance(near, name) <= 2 {
		c.on(s, matcherNever, e, "matcher", "no tool is called %q; is %s meant?", name, near)
		return true, false
	}
	return false, false
}

// permissionRule is what people put into matchers instead of into if.
var permissionRule = re(`^([A-Za-z_][A-Za-z0-9_]*)\((.*)\)$`)

// pattern looks at a regular expression.
func (c *checker) pattern(s *source, e *entry, r census.Reading) {
	m := r.Pattern
	if values := e.census.Matcher.Values; len(values) > 0 {
		if !slices.ContainsFunc(values, r.Matches) {
			c.on(s, matcherNever, e, "matcher", "%q matches none of %s", m, strings.Join(values, ", "))
		}
		return
	}
	if tree, err := syntax.Parse(m, syntax.Perl); err == nil && !possible(tree, onTools(e)) {
		c.on(s, matcherNever, e, "matcher", "%q needs a character that no %s has", m, e.census.Matcher.Field)
		return
	}
	if !onTools(e) {
		return
	}
	known := names(s.Provider)
	if rule := permissionRule.FindStringSubmatch(m); rule != nil && (slices.Contains(known, rule[1]) || slices.Contains(names(event.Claude), rule[1])) {
		instead := "put it into if"
		if s.Provider != event.Claude {
			instead = "match " + rule[1] + " and decide in the hook"
		}
		c.on(s, matcherNever, e, "matcher", "%q is a permission rule: as a regular expression it matches no tool; %s", m, instead)
		return
	}
	var whole, more []string
	for _, tool := range known {
		switch {
		case r.Whole(tool):
			whole = append(whole, tool)
		case r.Matches(tool) && slices.Contains(census.Tools(s.Provider), tool):
			more = append(more, tool)
		}
	}
	if len(whole)+len(more) == 0 {
		c.wrongWords(s, e, r, known)
		return
	}
	if len(whole) > 0 && len(more) > 0 && !r.Loose {
		c.on(s, matcherUnanchored, e, "matcher", "%q also matches %s", m, strings.Join(more, ", "))
	}
}

// wrongWords looks at a pattern that matches no tool that is known: MCP servers
// have tools that are not known, so it need not be a fault.
func (c *checker) wrongWords(s *source, e *entry, r census.Reading, known []string) {
	m := r.Pattern
	if s.Provider == event.Copilot && strings.Contains(m, "mcp__") {
		c.on(s, matcherNever, e, "matcher", "Copilot's tools of MCP servers are called server-tool, not %q", m)
		return
	}
	if expr, err := regexp.Compile("(?i)" + m); err == nil {
		for _, tool := range known {
			if expr.MatchString(tool) && !strings.Contains(m, "mcp") {
				c.on(s, matcherCase, e, "matcher", "%q matches no tool; with case let aside it would match %s", m, tool)
				return
			}
		}
	}
	if s.Provider != event.Claude {
		other := census.ListOrRegex.Read(m)
		if len(other.Names) == 0 && !other.Matches("mcp__x__y") && slices.ContainsFunc(names(event.Claude), other.Whole) {
			client, _ := census.Of(s.Provider)
			c.on(s, matcherNever, e, "matcher", "%q matches no tool of %s, only Claude Code's", m, client.Title)
		}
	}
}

// possible reports whether a pattern can match a text of the characters that names
// are made of. tools: those of tools, else those of agents, commands and servers.
func possible(re *syntax.Regexp, tools bool) bool {
	ok := func(r rune) bool {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return true
		case tools:
			return r == '.'
		}
		return r != '!'
	}
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, func(r rune) bool { return !ok(r) })
	case syntax.OpCharClass:
		for r := rune('!'); r <= '~'; r++ {
			if !ok(r) {
				continue
			}
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if re.Rune[i] <= r && r <= re.Rune[i+1] {
					return true
				}
			}
		}
		return false
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !possible(sub, tools) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return possible(sub, tools) })
	case syntax.OpPlus, syntax.OpCapture:
		return possible(re.Sub[0], tools)
	case syntax.OpRepeat:
		return re.Min == 0 || possible(re.Sub[0], tools)
	}
	return true
}

// ifEvents are the events on which an if counts (contracts/claude §6).
var ifEvents = []event.Name{event.PreToolUse, event.PostToolUse, event.PostToolUseFailure, event.PermissionRequest, event.PermissionDenied}

// condition looks at the if of a handler of Claude Code's.
func (c *checker) condition(s *source, e *entry) {
	value, has := e.fields["if"]
	if !has {
		return
	}
	text, ok := value.(string)
	never := func(format string, args ...any) {
		c.on(s, ifNever, e, "if", "%s", fmt.Sprintf(format, args...))
	}
	switch text = strings.TrimSpace(text); {
	case !ok:
		c.on(s, handlerDropped, e, "if", "if is %s, not a text", kindOf(value))
		return
	case !slices.Contains(ifEvents, e.census.Name):
		never("%s is no tool event: with an if the handler never runs", e.event)
		return
	case text == "":
		return
	case text == "*":
		never("* matches nothing in an if")
		return
	case bareServer(text):
		never("%q names a server; its tools are %s__<tool>", text, text)
		return
	}
	tool, rest, _ := strings.Cut(text, "(")
	outside := tool
	if end := strings.LastIndexByte(rest, ')'); end >= 0 {
		outside += rest[end+1:]
		if strings.Contains(rest[:end], ")|") || strings.Contains(rest[:end], "), ") || strings.Contains(rest[:end], ") ||") || strings.Contains(rest[:end], ") or ") {
			never("%q holds several rules; an if holds one", text)
			return
		}
	}
	if strings.ContainsAny(outside, "|,") {
		never("%q holds several rules; an if holds one", text)
		return
	}
	tool = strings.TrimSpace(tool)
	if tool == "" || strings.ContainsAny(tool, "*?") || strings.HasPrefix(tool, "mcp__") {
		return
	}
	known := names(s.Provider)
	if !slices.Contains(known, tool) {
		for _, k := range known {
			if strings.EqualFold(k, tool) {
				never("the tool %q is spelled %s", tool, k)
				return
			}
		}
		return
	}
	if e.matcher != nil {
		r := e.census.Matcher.Law.Read(*e.matcher)
		if r.Fault == "" && !r.Matches(tool) && !r.Matches(census.Aliases(s.Provider)[tool]) {
			c.on(s, ifContradicts, e, "if", "the matcher %q does not let %s through, which the if is about", *e.matcher, tool)
		}
	}
}
