package hook

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lidguard-go/lidguard/internal/event"
)

func TestWith_putsVerdictsTogether(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want Verdict
	}{
		{"the strongest decision wins with its reason", Allow().With(Ask("sure?"), Deny("no").ByRule("r"), Deny("neither")), Verdict{Decision: Denied, Reason: "no", Rule: "r"}},
		{"contexts are all kept in order", AddContext("a").With(Deny("no").With(AddContext("b", "c"))), Verdict{Decision: Denied, Reason: "no", Contexts: []string{"a", "b", "c"}}},
		{"the first rewrite wins", RewriteInput(json.RawMessage(`{"a":1}`)).With(RewriteInput(json.RawMessage(`{"a":2}`))), Verdict{UpdatedInput: json.RawMessage(`{"a":1}`)}},
		{"the turn ends", AddContext("a").With(EndTurn("enough")), Verdict{Contexts: []string{"a"}, StopTurn: true, StopReason: "enough"}},
		{"nothing changes nothing", Deny("no").With(None()), Deny("no")},
		{"an answer", None().With(Answer(map[string]string{"colour": "red"})), Verdict{Action: "accept", Content: json.RawMessage(`{"colour":"red"}`)}},
	} {
		if diff := cmp.Diff(c.want, c.got, cmpopts.IgnoreUnexported(Verdict{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestWith_leavesItsVerdictsAlone(t *testing.T) {
	base := Verdict{Contexts: make([]string, 0, 8), WatchPaths: make([]string, 0, 8)}
	a := base.With(AddContext("a"), Verdict{WatchPaths: []string{"/a"}})
	b := base.With(AddContext("b"), Verdict{WatchPaths: []string{"/b"}})
	if a.Contexts[0] != "a" || b.Contexts[0] != "b" || a.WatchPaths[0] != "/a" || b.WatchPaths[0] != "/b" {
		t.Errorf("a is %+v, b is %+v", a, b)
	}
}

// Every word of the codecs' verdict can be said by ours, so that nothing a
// client honours is out of a stranger's reach.
func TestVerdict_canSayWhatTheCodecsCan(t *testing.T) {
	raw := json.RawMessage(`{}`)
	full := Verdict{
		Decision: Denied, Reason: "a", Rule: "a", Contexts: []string{"b"}, UpdatedInput: raw, UpdatedOutput: raw, SystemMessage: "c",
		StopTurn: true, StopReason: "d", Interrupt: true, Permissions: raw, Action: "e", Content: raw, SessionTitle: "f",
		WatchPaths: []string{"g"}, TerminalSequence: "h",
	}
	said := reflect.ValueOf(full.internal())
	for i := range said.NumField() {
		if name := said.Type().Field(i).Name; said.Field(i).IsZero() && name != "Policy" {
			t.Errorf("event.Verdict.%s is out of reach", name)
		}
	}
}

func TestVerdict_isAsJSONWhatTheProtocolSays(t *testing.T) {
	v := Verdict{
		Decision: Denied, Reason: "why", Rule: "r", Contexts: []string{"c"}, UpdatedInput: json.RawMessage(`{"a":1}`),
		UpdatedOutput: json.RawMessage(`"o"`), SystemMessage: "m", StopTurn: true, StopReason: "s",
	}
	got, err := json.Marshal(v)
	want := `{"decision":"deny","reason":"why","rule":"r","contexts":["c"],"updated_input":{"a":1},"updated_output":"o","system_message":"m","stop_turn":true,"stop_reason":"s"}`
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	if got, err := json.Marshal(None()); err != nil || string(got) != `{}` {
		t.Errorf("nothing is %s, %v", got, err)
	}
}

func TestDecisions_haveTheCodecsOrder(t *testing.T) {
	for d, want := range map[Decision]event.Decision{Undecided: event.None, Allowed: event.Allow, Asked: event.Ask, Denied: event.Deny} {
		if got := strength(d); got != want {
			t.Errorf("%q is %v, want %v", d, got, want)
		}
	}
}
