package awake

// Rule names one rule of the decision that Break can switch off.
type Rule string

// The rules that tests break one at a time, to show that the properties would
// notice. The name says what goes wrong.
const (
	LidIgnored        Rule = "suspends with the lid open"
	UnknownIsClosed   Rule = "an unknown lid counts as closed"
	DisplaysIgnored   Rule = "suspends under a display"
	DisplaysUnsettled Rule = "a display that dropped out a moment ago is gone"
	WorkCancelsNot    Rule = "new work does not cancel a suspend"
	LidCancelsNot     Rule = "an opened lid does not cancel a suspend"
	SuspendsNever     Rule = "a closed machine stays awake after the end"
	ReleasesEarly     Rule = "protection ends before the suspend decision"
	SuspendsHeld      Rule = "suspends before the own locks are dropped"
	LeaksLate         Rule = "a lock granted too late is kept"
	HoldsOn           Rule = "locks stay after the end"
	RetriesNot        Rule = "a denied lock is never asked for again"
	LostStaysLost     Rule = "a lost lock is not retaken"
	TriesForEver      Rule = "a refused suspend is tried for ever"
	CountsTwice       Rule = "a sleep is written down twice"
	PostForgotten     Rule = "a cancelled suspend owes its PostSessionEnd"
	PostAlways        Rule = "PostSessionEnd is sent beside a PreSuspend"
	CancelTells       Rule = "a cancel path calls a webhook"
	LeavesEarly       Rule = "the runtime leaves while sessions live"
	LeavesNever       Rule = "the runtime never leaves"
	FloorIgnored      Rule = "the battery floor is ignored"
	FloorFlaps        Rule = "the battery floor has no hysteresis"
	HeatWhileOpen     Rule = "heat hibernates an open machine"
	HeatIgnored       Rule = "heat is ignored"
	StrictWhileOpen   Rule = "strict mode blocks the user's own suspend with the lid open"
	ReachesNever      Rule = "a machine that should stay reachable sleeps"
	ReachesOn         Rule = "the time to stay reachable never ends"
	ReachesOnBattery  Rule = "a machine on battery stays reachable"
)

// Rules lists every rule that Break knows.
func Rules() []Rule {
	return []Rule{LidIgnored, UnknownIsClosed, DisplaysIgnored, DisplaysUnsettled, WorkCancelsNot, LidCancelsNot,
		SuspendsNever, ReleasesEarly, SuspendsHeld, LeaksLate, HoldsOn, RetriesNot, LostStaysLost, TriesForEver,
		CountsTwice, PostForgotten, PostAlways, CancelTells, LeavesEarly, LeavesNever, FloorIgnored, FloorFlaps,
		HeatWhileOpen, HeatIgnored, StrictWhileOpen, ReachesNever, ReachesOn, ReachesOnBattery}
}

// Break switches one rule off. Only tests and the simulation call it.
func (s *State) Break(r Rule) { s.broken = r }
