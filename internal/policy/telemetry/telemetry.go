// Package telemetry says what leaves the machine about an event. In come an event,
// what was answered to it and the rulebook's section; out goes one Record, which
// holds as much as the privacy level lets through. It sends nothing, keeps nothing
// and decides nothing: a record is handed to the runtime, which masks and sends it.
package telemetry

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Name is the pack's name in chains and logs.
const Name = "telemetry"

// Tier is the form in which a sink gets its events.
type Tier string

// The tiers; the zero value is CloudEvents.
const (
	// CloudEvents is CloudEvents 1.0 over HTTP, in batches, or structured one by one
	// where a batch has one event.
	CloudEvents Tier = "cloudevents"
	// Flat is one JSON object for each event, one a line.
	Flat Tier = "flat"
	// OTLP is log records of OpenTelemetry, as the JSON of OTLP/HTTP.
	OTLP Tier = "otlp"
)

// UnmarshalText reads a tier.
func (t *Tier) UnmarshalText(text []byte) error {
	switch v := Tier(text); v {
	case CloudEvents, Flat, OTLP:
		*t = v
		return nil
	}
	return fmt.Errorf("tier is %q, %q or %q, not %q", CloudEvents, Flat, OTLP, text)
}

// Privacy is how much of an event a sink hears.
type Privacy string

// The levels; the zero value is IDs. Each holds what the ones before it do.
const (
	IDs      Privacy = "ids"      // ids, the kinds of things, and what was decided
	Metadata Privacy = "metadata" // names, folders, reasons and sizes
	Full     Privacy = "full"     // what was said, called and answered
)

// UnmarshalText reads a level.
func (p *Privacy) UnmarshalText(text []byte) error {
	switch v := Privacy(text); v {
	case IDs, Metadata, Full:
		*p = v
		return nil
	}
	return fmt.Errorf("privacy is %q, %q or %q, not %q", IDs, Metadata, Full, text)
}

// Config is the rulebook's section.
type Config struct {
	// URL is the sink, http or https.
	URL     string  `toml:"url"`
	Tier    Tier    `toml:"tier"`
	Privacy Privacy `toml:"privacy"`
	// Headers are added to every request. A value is a place, never the value
	// itself: "env:LIDGUARD_NAME" or "file:/absolute/path" (~/ is the home folder).
	Headers map[string]string `toml:"headers"`
	// Events are the ones that are told; none means all.
	Events []string `toml:"events"`
	// Batch is the most events that one request has; 0 means DefaultBatch.
	Batch int `toml:"batch"`
	// MaxEvents and MaxBytes bound what waits on disk for a sink that does not
	// answer; 0 means the defaults.
	MaxEvents int64 `toml:"max_events"`
	MaxBytes  int64 `toml:"max_bytes"`
}

// Defaults of the section.
const (
	DefaultBatch     = 100
	DefaultMaxEvents = 100_000
	DefaultMaxBytes  = 64 << 20
)

// Check says what is wrong with the section, and at which key.
func (c *Config) Check() (key, problem string) {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		return "url", "where the events go is not said"
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "url", "it is no address that begins with http:// or https://"
	case u.User != nil:
		return "url", "a password has no place in a rulebook; use headers"
	case u.Fragment != "":
		return "url", "a fragment is never sent"
	case c.Batch < 0 || c.Batch > 1000:
		return "batch", fmt.Sprintf("it is %d; 1 to 1000 are possible", c.Batch)
	case c.MaxEvents < 0 || c.MaxEvents > 10_000_000:
		return "max_events", fmt.Sprintf("it is %d; 1 to 10000000 are possible", c.MaxEvents)
	case c.MaxBytes != 0 && (c.MaxBytes < 1<<20 || c.MaxBytes > 4<<30):
		return "max_bytes", fmt.Sprintf("it is %d; 1048576 (1 MiB) to 4294967296 (4 GiB) are possible", c.MaxBytes)
	}
	for _, name := range c.Events {
		if !slices.Contains(event.Names(), event.Name(name)) {
			return "events", fmt.Sprintf("there is no event %q; `lidguard hooks events` has them", name)
		}
	}
	for name, from := range c.Headers {
		if problem := checkHeader(name, from); problem != "" {
			return "headers", problem
		}
	}
	return "", ""
}

func checkHeader(name, from string) string {
	for i := range len(name) {
		// RFC 9110 §5.6.2, token
		if c := name[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return fmt.Sprintf("%q is no name of a header", name)
		}
	}
	switch strings.ToLower(name) {
	case "":
		return "a header needs a name"
	case "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "host":
		return fmt.Sprintf("%s is lidguard's own to set", name)
	}
	kind, place, _ := strings.Cut(from, ":")
	switch {
	case kind == "env" && strings.HasPrefix(place, "LIDGUARD_"):
	case kind == "env":
		return fmt.Sprintf("%s comes from %q; the runtime sees only variables whose names begin with LIDGUARD_", name, place)
	case kind == "file" && (strings.HasPrefix(place, "/") || strings.HasPrefix(place, "~/") || len(place) > 2 && place[1] == ':'):
	case kind == "file":
		return fmt.Sprintf("%s comes from the file %q, which is no absolute path", name, place)
	default:
		return fmt.Sprintf("%s has to name the place of its value, as in \"file:~/.config/lidguard/token\" or \"env:LIDGUARD_TOKEN\": a rulebook is no place for secrets", name)
	}
	return ""
}

// Wants reports whether events of this name are told.
func (c *Config) Wants(name event.Name) bool {
	return len(c.Events) == 0 || slices.Contains(c.Events, string(name))
}

// Level is the privacy level.
func (c *Config) Level() Privacy {
	if c.Privacy == "" {
		return IDs
	}
	return c.Privacy
}

// Plan is what the runtime needs to know of a rulebook.
type Plan struct {
	Config Config
	// Home is the home folder, for headers that come from files.
	Home string
	// Mask takes secrets out of a text.
	Mask func(string) string
}

// Bounds of a record's texts in bytes. A hook hands over up to MaxTaken of each, of
// which the runtime, once it has masked it, keeps at most MaxText: so a secret that
// the first cut tore apart, and that nobody could recognise, is behind the second.
const (
	MaxTaken = 24 << 10
	MaxText  = 12 << 10
	maxName  = 512
)

// Record is one event as a sink hears of it. Its JSON is the flat tier. Names of
// fields are for sinks and do not change.
type Record struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"` // UTC
	Event   string    `json:"event"`
	Privacy Privacy   `json:"privacy"`

	Provider     string `json:"provider"`
	Session      string `json:"session"`
	ProviderName string `json:"provider_name,omitempty"`
	Turn         string `json:"turn,omitempty"`
	Agent        string `json:"agent,omitempty"`
	ToolUse      string `json:"tool_use,omitempty"`
	Decision     string `json:"decision,omitempty"` // what a hook answered

	Native      string `json:"native,omitempty"`
	Tool        string `json:"tool,omitempty"`
	MCPServer   string `json:"mcp_server,omitempty"`
	AgentType   string `json:"agent_type,omitempty"`
	Model       string `json:"model,omitempty"`
	Mode        string `json:"permission_mode,omitempty"`
	Cwd         string `json:"cwd,omitempty"`
	Path        string `json:"path,omitempty"`
	Source      string `json:"source,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Trigger     string `json:"trigger,omitempty"`
	Note        string `json:"notification,omitempty"`
	Policy      string `json:"policy,omitempty"`
	Rule        string `json:"rule,omitempty"`
	PromptBytes int    `json:"prompt_bytes,omitempty"`
	InputBytes  int    `json:"input_bytes,omitempty"`
	OutputBytes int    `json:"output_bytes,omitempty"`
	Failed      bool   `json:"failed,omitempty"`

	Prompt  string `json:"prompt,omitempty"`
	Input   string `json:"input,omitempty"`  // the tool's input, as JSON text
	Output  string `json:"output,omitempty"` // the tool's response, as JSON text
	Error   string `json:"error,omitempty"`
	Message string `json:"message,omitempty"` // the assistant's last words, or a notification's
	Why     string `json:"why,omitempty"`     // the reason of the decision
	// Cut says that a text is not whole.
	Cut bool `json:"cut,omitempty"`
}

// Build makes the record of an event and what was answered. id must be new, at is
// when the event came.
func Build(ev *event.Event, v *event.Verdict, level Privacy, id string, at time.Time) *Record {
	r := &Record{ID: id, Time: at.UTC(), Event: string(ev.Name), Privacy: level,
		Provider: string(ev.Provider), Session: name(string(ev.Session.ID)), ProviderName: name(ev.Session.Name),
		Turn: name(ev.TurnID), Agent: name(ev.AgentID)}
	if ev.Tool != nil {
		r.ToolUse = name(ev.Tool.UseID)
	}
	if v.Decision != event.None {
		r.Decision = v.Decision.String()
	}
	if level == IDs {
		return r
	}
	r.Native, r.AgentType, r.Model, r.Mode = name(ev.Native), name(ev.AgentType), name(ev.Model), name(ev.PermissionMode)
	r.Cwd, r.Path = name(ev.Cwd), name(ev.Path)
	r.Source, r.Reason, r.Trigger = name(ev.Source), name(ev.Reason), name(ev.Trigger)
	r.Policy, r.Rule, r.PromptBytes = name(v.Policy), name(v.Rule), len(ev.Prompt)
	r.Failed = ev.Error != ""
	if n := ev.Notification; n != nil {
		r.Note = name(n.Type)
	}
	if t := ev.Tool; t != nil {
		r.Tool, r.MCPServer = name(t.Name), name(t.MCPServer)
		r.InputBytes, r.OutputBytes = len(t.Input), len(t.Response)
		r.Failed = r.Failed || t.Error != ""
	}
	if level != Full {
		return r
	}
	r.Prompt, r.Error, r.Why = r.text(ev.Prompt), r.text(ev.Error), r.text(v.Reason)
	r.Message = r.text(ev.LastMessage)
	if n := ev.Notification; n != nil && r.Message == "" {
		r.Message = r.text(n.Message)
	}
	if t := ev.Tool; t != nil {
		r.Input, r.Output = r.text(string(t.Input)), r.text(string(t.Response))
		if r.Error == "" {
			r.Error = r.text(t.Error)
		}
	}
	return r
}

// name bounds what is no text: ids, paths, kinds.
func name(s string) string { return head(s, maxName) }

func (r *Record) text(s string) string {
	r.Cut = r.Cut || len(s) > MaxTaken
	return head(s, MaxTaken)
}

// head is the beginning of s in at most n bytes, cut between characters.
func head(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// names are the fields that a client or a person has words in.
func (r *Record) names() []*string {
	return []*string{&r.Native, &r.Tool, &r.MCPServer, &r.AgentType, &r.Model, &r.Mode, &r.Cwd, &r.Path, &r.Source, &r.Reason,
		&r.Trigger, &r.Note, &r.Policy, &r.Rule}
}

// texts are the fields with whole texts.
func (r *Record) texts() []*string {
	return []*string{&r.Prompt, &r.Input, &r.Output, &r.Error, &r.Message, &r.Why}
}

// Lower takes out what a level does not let through of a record that was made at a
// higher one, and reports whether it did.
func (r *Record) Lower(level Privacy) bool {
	levels := []Privacy{IDs, Metadata, Full}
	to := max(slices.Index(levels, level), 0)
	if to >= slices.Index(levels, r.Privacy) {
		return false
	}
	r.Privacy, r.Cut = levels[to], false
	for _, s := range r.texts() {
		*s = ""
	}
	if r.Privacy == IDs {
		for _, s := range r.names() {
			*s = ""
		}
		r.PromptBytes, r.InputBytes, r.OutputBytes, r.Failed = 0, 0, 0, false
	}
	return true
}

// Mask takes secrets out of everything that is no id, and what its level does not
// let through, whoever put it there. Masking again changes nothing.
func (r *Record) Mask(mask func(string) string) {
	for _, s := range r.names() {
		if r.Privacy != Metadata && r.Privacy != Full {
			*s = ""
		} else if *s != "" {
			*s = name(mask(*s))
		}
	}
	for _, s := range r.texts() {
		if r.Privacy != Full {
			*s = ""
			continue
		}
		if *s == "" {
			continue
		}
		torn := len(*s) > MaxTaken-utf8.UTFMax
		*s = mask(*s)
		if keep := MaxText; len(*s) > keep || torn {
			if torn {
				keep = min(keep, len(*s)/2)
			}
			*s, r.Cut = head(*s, keep), true
		}
	}
}
