// Package hooktest proves hooks that are written with package hook. In come a
// body and payloads as real clients sent them, out goes what the client would
// read and what the agent would then do. Nothing is started and nothing leaves
// the test process.
//
//	func TestJudge(t *testing.T) {
//		hooktest.Cases(t, judge, []hooktest.Case{
//			{Name: "a push is refused", Payload: hooktest.Claude.PreToolUse("Bash", "git push"), Want: hooktest.Refused},
//			{Name: "its twin passes", Payload: hooktest.Claude.PreToolUse("Bash", "git pull"), Want: hooktest.GoesOn},
//		}, hook.Gate)
//		hooktest.Contract(t, judge, hook.Gate)
//	}
//
// Contract is the part that authors forget: it feeds the body every payload the
// clients were seen to send, whole, cut off and twisted, and holds the hook to
// the promise of its role.
package hooktest
