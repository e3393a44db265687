package transcript

import (
	"testing"
	"time"
)

func TestLimitOver(t *testing.T) {
	now := time.Date(2026, 11, 30, 18, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"You've hit your session limit · resets 10:30pm (Europe/Berlin)":                    "2026-11-30T21:30:00Z",
		"You've hit your session limit · resets 5:40pm (Europe/Berlin)":                     "2026-12-01T16:40:00Z", // past there: tomorrow
		"Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max":                 "2026-12-01T01:00:00Z",
		"Weekly limit reached · resets Dec 3, 10am (Asia/Seoul)":                            "2026-12-03T01:00:00Z",
		"Weekly limit reached · resets Dec 3 at 12am (UTC)":                                 "2026-12-03T00:00:00Z",
		"Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).":             "2026-12-01T18:00:00Z",
		"Claude usage limit reached. Your limit will reset at 12pm (Etc/GMT+12).":           "2026-12-01T00:00:00Z",
		"Claude AI usage limit reached|1796072400":                                          "2026-11-30T21:00:00Z",
		"Claude AI usage limit reached|1749924000":                                          "", // long over
		"Claude AI usage limit reached|soon":                                                "",
		"Limit reached · resets 5pm (Etc/Unknown) · turn on /extra-usage":                   "",
		"Limit reached · resets 15pm (UTC)":                                                 "",
		"Weekly limit reached · resets Nov 29, 10am (UTC)":                                  "",
		"Weekly limit reached · resets Jan 2, 10am (UTC)":                                   "2027-01-02T10:00:00Z",
		"Weekly limit reached · resets Foo 2, 10am (UTC)":                                   "",
		"API Error: Request rejected (429) · slow down":                                     "",
		"I reset the counter at 5pm as you asked (the page says so), and the test is green": "",
		"": "",
	} {
		got := ""
		if at := LimitOver(text, now); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
