package session

// Rule names one rule of the registry that Break can switch off.
type Rule string

// The rules that tests break one at a time, to show that the properties would
// notice. The name says what goes wrong.
const (
	LocksHold         Rule = "a soft-locked session holds"
	NoTimeout         Rule = "the session timeout never comes"
	NoToolBound       Rule = "a busy tool counts for ever"
	NoBackgroundBound Rule = "a monitor holds for ever"
	NoCarryOver       Rule = "work is not carried to a new id"
	StopStarts        Rule = "a Stop starts an unknown session"
	GoneReturns       Rule = "a straggler brings a closed session back"
	WaitingRefreshes  Rule = "a dialog is activity"
	NoticesRefresh    Rule = "a task notification is activity"
	NoticesStart      Rule = "a task notification starts a session"
	TodosHold         Rule = "to-do items hold"
	CodexWaits        Rule = "the last Codex subagent ends nothing"
	LedgerWins        Rule = "the client's own list is ignored"
	StopAlwaysEnds    Rule = "a Stop ends work in flight"
	NoSettle          Rule = "a Stop releases at once"
	InterruptIsNormal Rule = "an interrupt is a normal end"
	EndsTwice         Rule = "an end is told twice"
	ExitIgnored       Rule = "a dead process keeps its sessions"
	BusyIsWork        Rule = "CPU alone is work"
)

// Rules lists every rule that Break knows.
func Rules() []Rule {
	return []Rule{LocksHold, NoTimeout, NoToolBound, NoBackgroundBound, NoCarryOver, StopStarts, GoneReturns,
		WaitingRefreshes, NoticesRefresh, NoticesStart, TodosHold, CodexWaits, LedgerWins, StopAlwaysEnds, NoSettle,
		InterruptIsNormal, EndsTwice, ExitIgnored, BusyIsWork}
}

// Break switches one rule off. Only tests and the simulation call it.
func (s *State) Break(r Rule) { s.broken = r }
