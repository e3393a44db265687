package build

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
)

// Saying is what is said at one event.
type Saying struct {
	Event  event.Name
	Fields []Field
}

// Item is one active thing of a rulebook: a pack, or one of its rows.
type Item struct {
	Name   string // "gate", "rule no-push"
	Pack   string
	Says   []Saying
	Traits []Trait
	Silent bool // whatever it finds, it says nothing: audit mode, an observer
	// Names are the events that the rulebook names for it, in lidguard's words or a
	// client's.
	Names []event.Name
}

// has reports whether an item has a trait; every one has the empty trait.
func (i *Item) has(t Trait) bool {
	if t == Calls {
		return slices.ContainsFunc(i.Says, func(s Saying) bool { return s.Event == event.PreToolUse })
	}
	return t == "" || slices.Contains(i.Traits, t)
}

func beforeCall() []event.Name {
	return []event.Name{event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand}
}

// Items are what is on in a rulebook, in the order of the packs. A pack in audit
// mode says nothing, and so loses nothing.
func Items(r *entry.Rules, modes map[string]entry.Mode) []Item {
	var list []Item
	for _, name := range entry.PackNames() {
		if modes[name] != entry.On && modes[name] != entry.Audit {
			continue
		}
		for _, item := range itemsOf(name, r) {
			item.Pack = name
			if modes[name] == entry.Audit {
				item.Says, item.Silent = nil, true
			}
			list = append(list, item)
		}
	}
	return list
}

func itemsOf(pack string, r *entry.Rules) []Item {
	one := func(says ...Saying) []Item { return []Item{{Name: pack, Says: says}} }
	var list []Item
	switch pack {
	case "gate":
		return one(Saying{event.PreToolUse, []Field{Deny, Ask}}, Saying{event.PermissionRequest, []Field{Deny}}, Saying{event.PreSkillShellCommand, []Field{Deny, Ask}})
	case "sandbox":
		return one(Saying{event.PreToolUse, []Field{Deny}}, Saying{event.PermissionRequest, []Field{Deny}}, Saying{event.PreSkillShellCommand, []Field{Deny}})
	case "rule":
		for i := range r.Rule {
			row := &r.Rule[i]
			item := Item{Name: "rule " + row.ID}
			events := beforeCall()
			if len(row.Events) > 0 {
				events = nil
				for _, e := range row.Events {
					events = append(events, event.Name(e))
				}
				item.Names = events
			}
			field := Deny
			if event.Decision(row.Decision) == event.Ask {
				field = Ask
			}
			for _, e := range events {
				item.Says = append(item.Says, Saying{e, []Field{field}})
			}
			list = append(list, item)
		}
	case "approve":
		for i := range r.Approve {
			says := []Field{Allow}
			if r.Approve[i].Durable {
				says = append(says, Store)
			}
			list = append(list, Item{Name: "approve " + r.Approve[i].ID, Says: []Saying{{event.PermissionRequest, says}}})
		}
	case "handler":
		for i := range r.Handler {
			row := &r.Handler[i]
			item := Item{Name: "handler " + row.Name}
			events := beforeCall()
			if len(row.Events) > 0 {
				events = nil
				for _, e := range row.Events {
					events = append(events, event.Name(e))
				}
				item.Names = events
			}
			for _, e := range events {
				if row.Role == "observer" {
					item.Silent = true
				} else {
					item.Says = append(item.Says, Saying{e, Answers(e)})
				}
			}
			list = append(list, item)
		}
	case "redact":
		out := []Field{Input, Deny}
		if r.Redact != nil && fmt.Sprint(r.Redact.Outbound) == "ask" {
			out = []Field{Ask, Deny}
		}
		items := one(Saying{event.PreToolUse, out}, Saying{event.PostToolUse, []Field{Output, Context, Message}}, Saying{event.PostToolUseFailure, []Field{Output, Message}})
		items[0].Traits = []Trait{Failures}
		return items
	case "format":
		return one(Saying{event.PostToolUse, []Field{Context}})
	case "context":
		items := one(Saying{event.SessionStart, []Field{Context}})
		if r.Context != nil && len(r.Context.Env) > 0 {
			items[0].Traits = []Trait{Environment}
		}
		return items
	case "nudge":
		start, prompt := Saying{event.SessionStart, []Field{Context}}, Saying{event.UserPromptSubmit, []Field{Context}}
		for i := range r.Nudge {
			says := prompt
			if r.Nudge[i].Target == "start" {
				says = start
			}
			list = append(list, Item{Name: "nudge " + r.Nudge[i].ID, Says: []Saying{says}})
		}
		if len(r.Nudge) == 0 { // those of nudges.json
			return one(prompt, start)
		}
	case "notices":
		items := one(Saying{event.Notification, []Field{Terminal}})
		items[0].Names = []event.Name{event.Notification}
		if r.Notices == nil || r.Notices.Wants("denied") {
			items[0].Says = append(items[0].Says, Saying{event.PreToolUse, []Field{Message}}, Saying{event.PermissionRequest, []Field{Message}})
		}
		return items
	case "compact", "telemetry":
		items := one()
		if pack == "telemetry" && r.Telemetry != nil {
			for _, e := range r.Telemetry.Events {
				items[0].Names = append(items[0].Names, event.Name(e))
			}
		}
		return items
	case "until":
		for i := range r.Until {
			g := &r.Until[i]
			item := Item{Name: "until " + g.ID, Says: []Saying{{event.Stop, []Field{Deny, Message}}}}
			if len(g.Agents) > 0 {
				item.Says[0].Event = event.SubagentStop
			}
			if g.Token != "" {
				item.Traits = []Trait{Token}
			}
			list = append(list, item)
		}
	case "check":
		for i := range r.Check {
			list = append(list, Item{Name: "check " + r.Check[i].ID,
				Says: []Saying{{event.PostToolUse, []Field{Context}}, {event.UserPromptSubmit, []Field{Context}}, {event.Stop, []Field{Deny}}}})
		}
	}
	return list
}

// Named are the events, in the client's words or lidguard's, that items name and
// that a client tells.
func Named(p event.Provider, items []Item) []event.Name {
	set := map[event.Name]bool{}
	for i := range items {
		for _, name := range items[i].Names {
			if told, ok := told(p, name); ok {
				set[told] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// told finds an event by lidguard's word or the client's, and false where the client
// does not tell it.
func told(p event.Provider, name event.Name) (event.Name, bool) {
	for _, e := range Tells(p) {
		if e == name || nativeOf(p, e) == string(name) {
			return e, true
		}
	}
	return "", false
}
