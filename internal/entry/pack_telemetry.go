package entry

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/deadline"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
	"github.com/lidguard-go/lidguard/internal/policy/telemetry"
	"github.com/lidguard-go/lidguard/internal/telemetry/inbox"
)

// telemetryPack tells a person's sink of events. Where they go says the person's own
// book alone, whatever projects they trust: the runtime sends for all of them.
var telemetryPack = pack{
	name: telemetry.Name, band: policy.BandObserve + 50, events: "all",
	told: func(r *Rules) bool { return r.Telemetry != nil },
	build: func(h *hook, _ *Rules, mode Mode) []policy.Handler {
		cfg := h.own.Rules.Telemetry
		if cfg == nil {
			return nil
		}
		return []policy.Handler{{
			Name: telemetry.Name, Band: policy.BandObserve + 50,
			Wants: func(ev *event.Event) bool { return cfg.Wants(ev.Name) },
			Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
				if mode == Audit {
					h.note(&AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev),
						Kind: said(Audit), Decision: "send", Rules: []string{telemetry.Name + " " + string(ev.Name)}})
					return event.Verdict{}, nil
				}
				seen := *ev // with what earlier packs masked
				h.report = func() *telemetry.Record {
					at := h.env.Now()
					return telemetry.Build(&seen, &h.verdict, cfg.Level(), newID(at), at)
				}
				return event.Verdict{}, nil
			},
		}}
	},
	detail: func(r *Rules, _ *Packs) string {
		if r.Telemetry == nil {
			return "no sink in the rulebook"
		}
		host := "?"
		if u, err := url.Parse(r.Telemetry.URL); err == nil {
			host = u.Host // the rest of an address may be a secret
		}
		tier := r.Telemetry.Tier
		if tier == "" {
			tier = telemetry.CloudEvents
		}
		return fmt.Sprintf("%s to %s, %s", r.Telemetry.Level(), host, tier)
	},
	check: func(r *Rules) *Fault {
		if r.Telemetry == nil {
			return nil
		}
		if key, problem := r.Telemetry.Check(); key != "" {
			return &Fault{Section: telemetry.Name, Index: -1, Key: key, Problem: problem}
		}
		return nil
	},
}

// newID is a UUID of version 7 (RFC 9562 §5.7): the time in milliseconds, then
// chance.
func newID(at time.Time) string {
	var b [16]byte
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	high, low := rand.Uint64(), rand.Uint64()
	for i := range 8 {
		b[8+i] = byte(low >> (8 * i))
	}
	b[6], b[7] = 0x70|byte(high)&0x0f, byte(high>>8)
	b[8] = 0x80 | b[8]&0x3f
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// maxReport bounds what a request to the runtime carries for telemetry in bytes, far
// below what a message may have: the signals beside it matter more.
const maxReport = ipc.MaxMessage / 2

// makeReport makes the event's record now that its answer is known. What goes wrong
// in it is our bug, and must not cost the agent its answer.
func (h *hook) makeReport() {
	if h.report == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			h.telemetry = nil
			h.complain(fmt.Errorf("telemetry: panic: %v", r))
		}
	}()
	r := h.report()
	h.telemetry = r.AppendJSON(nil)
	if len(h.telemetry) > maxReport {
		r.Prompt, r.Input, r.Output, r.Error, r.Message, r.Why, r.Cut = "", "", "", "", "", "", true
		h.telemetry = r.AppendJSON(nil)
	}
}

// leaveReport leaves what no runtime took for the next one.
func (h *hook) leaveReport() {
	if h.telemetry == nil || h.noHome != nil {
		return
	}
	var r telemetry.Record
	err := json.Unmarshal(h.telemetry, &r)
	if err == nil {
		r.Mask(secretMask(h.own.Rules, h.dirs)) // before it is on a disk
		ctx, cancel := deadline.At(context.Background(), h.deadline)
		defer cancel()
		err = inbox.Append(ctx, h.dirs.Telemetry(), r.AppendJSON(nil))
	}
	if err != nil {
		h.complain(fmt.Errorf("telemetry: %w", err))
	}
}

// secretMask takes secrets out of a text by all the rules that there are for the
// redact pack, whether that is on or not.
func secretMask(r *Rules, dirs paths.Dirs) func(string) string {
	engine := sync.OnceValue(func() *redact.Engine {
		cfg := redactConfig(r)
		set, _ := SecretRules(dirs) // without them the built-in rules hold
		return redact.NewEngine(&cfg, set)
	})
	return func(text string) string {
		if masked, _, isJSON := engine().JSON([]byte(text), true); isJSON {
			return string(masked)
		}
		masked, _ := engine().Text(text)
		return masked
	}
}

// planLife is how long a plan counts though no file changed that it was read from: a
// book may include others.
const planLife = time.Minute

// TelemetryPlan returns a function that says what the person's books want of
// telemetry, nil where the pack is not on. It reads them anew when they changed.
func TelemetryPlan(dirs paths.Dirs, now func() time.Time) func() (*telemetry.Plan, error) {
	var mu sync.Mutex
	var stamp string
	var read time.Time
	var plan *telemetry.Plan
	var problem error
	return func() (*telemetry.Plan, error) {
		mu.Lock()
		defer mu.Unlock()
		s := ""
		for _, name := range []string{dirs.Rules(), dirs.Packs(), secretRulesPath(dirs)} {
			if info, err := os.Stat(name); err == nil {
				s += fmt.Sprint(info.ModTime().UnixNano(), info.Size(), " ")
			} else if !errors.Is(err, fs.ErrNotExist) {
				s += err.Error()
			}
			s += ";"
		}
		if age := now().Sub(read); s != stamp || age > planLife || age < 0 {
			stamp, read = s, now()
			plan, problem = telemetryPlan(dirs)
		}
		return plan, problem
	}
}

func telemetryPlan(dirs paths.Dirs) (*telemetry.Plan, error) {
	sw, err := LoadPacks(dirs)
	if err != nil {
		return nil, err
	}
	rules, err := LoadRules(dirs)
	if err != nil {
		return nil, err
	}
	if rules.Telemetry == nil || modeOf(&telemetryPack, &sw, rules) != On {
		return nil, nil
	}
	return &telemetry.Plan{Config: *rules.Telemetry, Home: dirs.Home, Mask: secretMask(rules, dirs)}, nil
}
