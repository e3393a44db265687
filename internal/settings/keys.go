package settings

import (
	"math"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Kind is the form a setting's value has.
type Kind string

// The kinds.
const (
	Bool   Kind = "boolean"
	Number Kind = "number"
	Choice Kind = "choice"
	Text   Kind = "text"
	URL    Kind = "url"
	Sound  Kind = "sound"
	Topic  Kind = "topic"
)

// Key describes one setting. Its name is the same in the file, on the command
// line and in every JSON output.
type Key struct {
	Name    string
	Kind    Kind
	Group   string   // the heading people see it under
	Help    string   // one line, no full stop
	Choices []string // of a Choice, and the fixed names of a Sound
	// Secret: whoever knows the value may answer for the person, so no agent is
	// told it or may change it.
	Secret bool

	min, max int  // bounds of a Number, inclusive
	hasOff   bool // "off" is allowed and stored as off
	off      int
	clamp    bool // a Number outside the bounds is moved to the nearer one

	// Exactly one of these is set and finds the value.
	flag  func(*Settings) *bool
	count func(*Settings) *int
	text  func(*Settings) *string
}

// Upper bounds that nobody reaches on purpose: they keep a mistyped number from
// overflowing a time.Duration or filling the disk.
const (
	yearSeconds = 365 * 24 * 60 * 60
	yearMinutes = 365 * 24 * 60
	dayMinutes  = 24 * 60
	maxHistory  = 10_000
	maxText     = 200 // bytes: a power request reason is one line on a screen
	maxURL      = 2048
)

// MaxPhoneWait is below the ten minutes that the installed hooks of permission
// prompts have, in seconds: a hook that its client ends has said nothing.
const MaxPhoneWait = 540

// minTopic is how many characters the name of a phone's topic has at least: who
// guesses it can read and give answers.
const minTopic = 16

// The headings.
const (
	groupAwake    = "keeping awake"
	groupSuspend  = "suspending"
	groupSessions = "sessions"
	groupLid      = "closed lid"
	groupWebhooks = "webhooks"
	groupPhone    = "phone"
	groupSafety   = "heat, battery and network"
)

// table holds every setting in the order people see them. It is plain data, so
// that a hook which links this package pays nothing at start.
var table = [...]Key{
	{Name: "prevent-system-sleep", Kind: Choice, Group: groupAwake, Choices: []string{"off", "on", "strict"},
		Help: "keep the system awake while an agent works; strict also refuses your own suspend (Linux)",
		text: func(s *Settings) *string { return &s.PreventSystemSleep }},
	{Name: "prevent-display-sleep", Kind: Bool, Group: groupAwake,
		Help: "keep the display on as well",
		flag: func(s *Settings) *bool { return &s.PreventDisplaySleep }},
	{Name: "prevent-away-mode-sleep", Kind: Bool, Group: groupAwake,
		Help: "ask for away mode as well (Windows)",
		flag: func(s *Settings) *bool { return &s.PreventAwayModeSleep }},
	{Name: "change-lid-action", Kind: Bool, Group: groupAwake,
		Help: "closing the lid does not suspend while an agent works",
		flag: func(s *Settings) *bool { return &s.ChangeLidAction }},
	{Name: "watch-parent-process", Kind: Bool, Group: groupAwake,
		Help: "a session ends when the agent's process is gone",
		flag: func(s *Settings) *bool { return &s.WatchParentProcess }},
	{Name: "power-request-reason", Kind: Text, Group: groupAwake, max: maxText,
		Help: "the reason the system shows for staying awake",
		text: func(s *Settings) *string { return &s.PowerRequestReason }},
	{Name: "reachable-minutes", Kind: Number, Group: groupAwake, min: 1, max: dayMinutes, hasOff: true,
		Help:  "how long the machine stays reachable once the last agent is done, on mains only",
		count: func(s *Settings) *int { return &s.ReachableMinutes }},
	{Name: "reachable-on-battery", Kind: Bool, Group: groupAwake,
		Help: "that time counts on battery too",
		flag: func(s *Settings) *bool { return &s.ReachableOnBattery }},
	{Name: "count-remote-logins", Kind: Bool, Group: groupAwake,
		Help: "somebody who is logged in over ssh keeps the machine awake like an agent, once agents had work (Linux)",
		flag: func(s *Settings) *bool { return &s.CountRemoteLogins }},
	{Name: "wake-after-limit", Kind: Bool, Group: groupAwake,
		Help: "wake the sleeping machine when the usage limit that ended a turn is over (Linux)",
		flag: func(s *Settings) *bool { return &s.WakeAfterLimit }},

	{Name: "post-stop-suspend-delay-seconds", Kind: Number, Group: groupSuspend, max: yearSeconds,
		Help:  "how long after the last agent stopped the closed machine is suspended",
		count: func(s *Settings) *int { return &s.PostStopSuspendDelaySeconds }},
	{Name: "suspend-mode", Kind: Choice, Group: groupSuspend, Choices: []string{"sleep", "hibernate", "none"},
		Help: "how the closed machine is suspended after the last agent stopped",
		text: func(s *Settings) *string { return &s.SuspendMode }},
	{Name: "post-stop-suspend-sound", Kind: Sound, Group: groupSuspend, hasOff: true,
		Choices: []string{"Asterisk", "Beep", "Exclamation", "Hand", "Question"},
		Help:    "sound played before suspending",
		text:    func(s *Settings) *string { return &s.PostStopSuspendSound }},
	{Name: "post-stop-suspend-sound-volume-override-percent", Kind: Number, Group: groupSuspend, min: 1, max: 100, hasOff: true,
		Help:  "volume of that sound; the old volume comes back afterwards",
		count: func(s *Settings) *int { return &s.SoundVolumePercent }},
	{Name: "suspend-history-count", Kind: Number, Group: groupSuspend, min: 1, max: maxHistory, hasOff: true,
		Help:  "how many suspends are remembered",
		count: func(s *Settings) *int { return &s.SuspendHistoryCount }},

	{Name: "session-timeout-minutes", Kind: Number, Group: groupSessions, min: 1, max: yearMinutes, hasOff: true,
		Help:  "a session without a sign of life for this long no longer keeps the machine awake",
		count: func(s *Settings) *int { return &s.SessionTimeoutMinutes }},
	{Name: "soft-lock-grace-seconds", Kind: Number, Group: groupSessions, max: yearSeconds,
		Help:  "how long the machine stays up for a session that waits for you",
		count: func(s *Settings) *int { return &s.SoftLockGraceSeconds }},
	{Name: "max-tool-minutes", Kind: Number, Group: groupSessions, min: 1, max: yearMinutes, hasOff: true,
		Help:  "how long one tool call may keep the machine awake",
		count: func(s *Settings) *int { return &s.MaxToolMinutes }},
	{Name: "max-background-minutes", Kind: Number, Group: groupSessions, min: 1, max: yearMinutes, hasOff: true,
		Help:  "how long monitors, crons and idle teammates may keep the machine awake",
		count: func(s *Settings) *int { return &s.MaxBackgroundMinutes }},
	{Name: "server-runtime-cleanup-delay-minutes", Kind: Number, Group: groupSessions, max: yearMinutes, hasOff: true, off: -1,
		Help:  "how long the runtime stays after the last session; off keeps it",
		count: func(s *Settings) *int { return &s.RuntimeCleanupDelayMinutes }},
	{Name: "prompt-previews", Kind: Bool, Group: groupSessions,
		Help: "show the first words of a prompt; off keeps prompts out of every log, webhook and screen",
		flag: func(s *Settings) *bool { return &s.PromptPreviews }},

	{Name: "closed-lid-permission-request-decision", Kind: Choice, Group: groupLid, Choices: []string{"deny", "allow", "ask", "phone"},
		Help: "the answer to a permission prompt while the lid is closed; ask leaves it open, phone asks yours and denies without an answer",
		text: func(s *Settings) *string { return &s.ClosedLidPermissionDecision }},
	{Name: "closed-lid-interrupt", Kind: Bool, Group: groupLid,
		Help: "also end the turn with that answer; Claude Code then sends no stop event",
		flag: func(s *Settings) *bool { return &s.ClosedLidInterrupt }},
	{Name: "closed-lid-copilot-strict", Kind: Bool, Group: groupLid,
		Help: "answer every Copilot permission check while the lid is closed, also those it would have allowed",
		flag: func(s *Settings) *bool { return &s.ClosedLidCopilotStrict }},

	{Name: "phone-url", Kind: Topic, Group: groupPhone, hasOff: true, Secret: true,
		Help: "the ntfy topic that your phone listens to",
		text: func(s *Settings) *string { return &s.PhoneURL }},
	{Name: "phone-wait-seconds", Kind: Number, Group: groupPhone, min: 10, max: MaxPhoneWait,
		Help:  "how long a permission prompt waits for your answer from the phone",
		count: func(s *Settings) *int { return &s.PhoneWaitSeconds }},

	{Name: "pre-suspend-webhook-url", Kind: URL, Group: groupWebhooks, hasOff: true,
		Help: "called before the machine is suspended",
		text: func(s *Settings) *string { return &s.PreSuspendWebhookURL }},
	{Name: "post-session-end-webhook-url", Kind: URL, Group: groupWebhooks, hasOff: true,
		Help: "called when a session ends and the machine stays up",
		text: func(s *Settings) *string { return &s.PostSessionEndWebhookURL }},

	{Name: "emergency-hibernation-on-high-temperature", Kind: Bool, Group: groupSafety,
		Help: "hibernate a closed machine that gets too hot",
		flag: func(s *Settings) *bool { return &s.EmergencyHibernation }},
	{Name: "emergency-hibernation-on-high-temperature-mode", Kind: Choice, Group: groupSafety, Choices: []string{"low", "average", "high"},
		Help: "which of the sensors counts",
		text: func(s *Settings) *string { return &s.EmergencyHibernationMode }},
	{Name: "emergency-hibernation-on-high-temperature-celsius", Kind: Number, Group: groupSafety, min: 70, max: 110, clamp: true,
		Help:  "the temperature that is too hot",
		count: func(s *Settings) *int { return &s.EmergencyHibernationCelsius }},
	{Name: "battery-floor-percent", Kind: Number, Group: groupSafety, min: 1, max: 90, hasOff: true,
		Help:  "on battery below this a closed machine is suspended although agents work",
		count: func(s *Settings) *int { return &s.BatteryFloorPercent }},
	{Name: "protect-on-battery", Kind: Bool, Group: groupSafety,
		Help: "keep awake on battery too; off means on mains only",
		flag: func(s *Settings) *bool { return &s.ProtectOnBattery }},
	{Name: "network-lost-minutes", Kind: Number, Group: groupSafety, min: 1, max: dayMinutes, hasOff: true,
		Help:  "how long the network of a closed machine at work may be gone until that is noted",
		count: func(s *Settings) *int { return &s.NetworkLostMinutes }},
	{Name: "network-lost-release", Kind: Bool, Group: groupSafety,
		Help: "suspend the machine then, although agents work",
		flag: func(s *Settings) *bool { return &s.NetworkLostRelease }},
}

// Keys returns every setting in the order people see them.
func Keys() []Key { return append([]Key(nil), table[:]...) }

// Lookup returns the setting called name.
func Lookup(name string) (Key, bool) {
	if k := find(name); k != nil {
		return *k, true
	}
	return Key{}, false
}

func find(name string) *Key {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// Allowed says in words what values the setting takes, for help and errors.
func (k Key) Allowed() string {
	off := ""
	if k.hasOff {
		off = "off, or "
	}
	switch k.Kind {
	case Bool:
		return "true or false (also yes, no, on, off, 1, 0)"
	case Number:
		words := off + "a whole number from " + strconv.Itoa(k.min) + " to " + strconv.Itoa(k.max)
		if k.clamp {
			words += " (a number outside becomes the nearer bound)"
		}
		return words
	case Choice:
		return strings.Join(k.Choices, ", ")
	case Sound:
		return off + "one of " + strings.Join(k.Choices, ", ") + ", or the path of a .wav file"
	case URL:
		return off + "an http:// or https:// address"
	case Topic:
		return off + "an https:// address that ends in a topic of " + strconv.Itoa(minTopic) + " to 57 letters, digits, _ and - (http:// on this machine)"
	}
	return "one line of at most " + strconv.Itoa(k.max) + " bytes"
}

// Default returns the setting's value in a fresh installation, as Value does.
func (k Key) Default() string { return k.Value(Default()) }

// Value returns the setting's value in s in the form that Set takes.
func (k Key) Value(s Settings) string {
	switch {
	case k.flag != nil:
		return strconv.FormatBool(*k.flag(&s))
	case k.count != nil:
		n := *k.count(&s)
		if k.hasOff && n == k.off {
			return "off"
		}
		return strconv.Itoa(n)
	}
	v := *k.text(&s)
	if k.hasOff && v == "" {
		return "off"
	}
	return v
}

// Set changes the setting in s. A value that is not allowed leaves s alone and
// gives an *Error.
func (k Key) Set(s *Settings, value string) error {
	switch k.Kind {
	case Bool:
		on, ok := ParseBool(value)
		if !ok {
			return k.refuse(value)
		}
		*k.flag(s) = on
	case Number:
		if k.hasOff && isOff(value) {
			*k.count(s) = k.off
			return nil
		}
		n, err := strconv.Atoi(value)
		switch {
		case err != nil && !isNumber(value):
			return k.refuse(value)
		case err != nil: // too long for an int, so out of any bounds
			n = math.MaxInt
			if value[0] == '-' {
				n = math.MinInt
			}
		}
		if k.clamp {
			n = min(max(n, k.min), k.max)
		}
		if n < k.min || n > k.max {
			return k.refuse(value)
		}
		*k.count(s) = n
	case Choice:
		v, ok := k.choose(value)
		if !ok {
			return k.refuse(value)
		}
		*k.text(s) = v
	case Sound:
		v, ok := k.choose(value)
		switch {
		case isOff(value):
			v = "off"
		case ok:
		case len(value) > len(".wav") && strings.EqualFold(value[len(value)-len(".wav"):], ".wav") && oneLine(value):
			v = value
		default:
			return k.refuse(value)
		}
		*k.text(s) = v
	case URL:
		if isOff(value) {
			*k.text(s) = ""
			return nil
		}
		if !isWeb(value) {
			return k.refuse(value)
		}
		*k.text(s) = value
	case Topic:
		if isOff(value) {
			*k.text(s) = ""
			return nil
		}
		if !isTopic(value) {
			return k.refuse(value)
		}
		*k.text(s) = value
	case Text:
		if value == "" || len(value) > k.max || !oneLine(value) {
			return k.refuse(value)
		}
		*k.text(s) = value
	}
	return nil
}

// choose matches value against the choices without regard to case. Where off
// and on are both choices, the other spellings of a boolean mean them too.
func (k Key) choose(value string) (string, bool) {
	var off, on bool
	for _, c := range k.Choices {
		if strings.EqualFold(c, value) {
			return c, true
		}
		off, on = off || c == "off", on || c == "on"
	}
	if b, ok := ParseBool(value); ok && off && on {
		if b {
			return "on", true
		}
		return "off", true
	}
	return "", false
}

func (k Key) refuse(value string) error {
	return &Error{Key: k.Name, Value: value, Allowed: k.Allowed()}
}

// ParseBool reads true/false, yes/no, on/off and 1/0 without regard to case.
func ParseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

func isOff(s string) bool { return strings.EqualFold(s, "off") }

// isNumber tells a number that is too large from something that is none.
func isNumber(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// oneLine reports whether s is text without control characters, which would
// disturb a screen or a log.
func oneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' })
}

func isWeb(s string) bool {
	if len(s) > maxURL || !oneLine(s) || strings.Contains(s, " ") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// isTopic reports whether s names a topic of a push service in a way that nobody
// on the road can read. An answer's topic has seven characters more, and 64 is the
// most that ntfy takes.
func isTopic(s string) bool {
	if !isWeb(s) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.RawPath != "" {
		return false
	}
	if host, _ := netip.ParseAddr(u.Hostname()); u.Scheme != "https" && u.Hostname() != "localhost" && !host.IsLoopback() {
		return false
	}
	topic := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	return len(topic) >= minTopic && len(topic) <= 57 && !strings.ContainsFunc(topic, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
}

// Set changes the setting called key in s, as Key.Set does. An unknown key gives
// an *Error whose Near is the most similar name.
func Set(s *Settings, key, value string) error {
	k := find(key)
	if k == nil {
		return &Error{Key: key, Unknown: true, Near: Nearest(key)}
	}
	return k.Set(s, value)
}

// Get returns the value of the setting called key in the form that Set takes,
// and false if there is no such setting.
func (s Settings) Get(key string) (string, bool) {
	if k := find(key); k != nil {
		return k.Value(s), true
	}
	return "", false
}

// Nearest returns the setting whose name is most like key, and nothing when none
// is alike enough to be meant.
func Nearest(key string) string {
	best, bestCost := "", len(key)/3+1
	for i := range table {
		name := table[i].Name
		// What people leave out is a word at the front or the end.
		if len(key) >= 6 && (strings.HasPrefix(name, key) || strings.HasSuffix(name, key)) {
			return name
		}
		if c := editCost(key, name); c < bestCost {
			best, bestCost = name, c
		}
	}
	return best
}

// editCost is the Levenshtein distance of two short words.
func editCost(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
