package transcript

import (
	"strconv"
	"strings"
	"time"
)

// LimitOver reads out of the text of a failed turn when the usage limit that ended
// it is over: the first such moment after now. A message of another kind, and a
// time zone this system does not know, give the zero time. The shapes are those of
// public reports:
//
//	You've hit your session limit · resets 10:30pm (Europe/Berlin)      2.1
//	Weekly limit reached · resets Oct 6, 1pm (Asia/Seoul)               2.0
//	Claude usage limit reached. Your limit will reset at 1pm (UTC).     1.0
//	Claude AI usage limit reached|1762952400                            1.0
//
// Read by hand, since every hook links this package and none may compile patterns.
func LimitOver(text string, now time.Time) time.Time {
	if _, stamp, ok := strings.Cut(text, "limit reached|"); ok {
		end := 0
		for end < len(stamp) && stamp[end] >= '0' && stamp[end] <= '9' {
			end++
		}
		if s, err := strconv.ParseInt(stamp[:end], 10, 64); err == nil && time.Unix(s, 0).After(now) {
			return time.Unix(s, 0).UTC()
		}
		return time.Time{}
	}
	_, when, ok := strings.Cut(text, "resets ")
	if !ok {
		_, when, ok = strings.Cut(text, "reset at ")
	}
	if !ok || !strings.Contains(text, "imit") {
		return time.Time{}
	}
	words := strings.Fields(when)
	var day time.Time // its month and day
	if len(words) >= 3 {
		if d, err := time.Parse("Jan 2", words[0]+" "+strings.TrimSuffix(words[1], ",")); err == nil {
			if day, words = d, words[2:]; words[0] == "at" {
				words = words[1:]
			}
		}
	}
	if len(words) == 0 {
		return time.Time{}
	}
	clock, err := time.Parse("3:04pm", words[0])
	if err != nil {
		clock, err = time.Parse("3pm", words[0])
	}
	zone := time.Local
	if err == nil && len(words) > 1 && strings.HasPrefix(words[1], "(") {
		name, _, _ := strings.Cut(words[1][1:], ")")
		zone, err = time.LoadLocation(name)
	}
	if err != nil {
		return time.Time{}
	}
	here := now.In(zone)
	on := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, clock.Hour(), clock.Minute(), 0, 0, zone)
	}
	at := on(here.Year(), here.Month(), here.Day())
	switch {
	case !day.IsZero():
		at = on(here.Year(), day.Month(), day.Day())
		if at.Before(now.AddDate(0, -1, 0)) { // told in December of January
			at = on(here.Year()+1, day.Month(), day.Day())
		}
		if !at.After(now) {
			return time.Time{}
		}
	case !at.After(now):
		at = on(here.Year(), here.Month(), here.Day()+1)
	}
	return at.UTC()
}
