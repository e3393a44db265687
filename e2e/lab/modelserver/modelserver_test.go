package modelserver

import (
	"context"
	"reflect"
	"testing"
	"time"
)

func TestExpand(t *testing.T) {
	text := "id=one\nlater id=two end"
	vars := map[string]string{"PROJECT": "/p"}
	for _, c := range []struct {
		name      string
		give, got any
	}{
		{"a variable is replaced", "${PROJECT}/a", "/p/a"},
		{"an unknown variable stays", "${NOBODY}", "${NOBODY}"},
		{"the last match counts, by its group", "{{re:id=(\\w+)}}", "two"},
		{"a pattern without a group gives the match", "{{re:id=t\\w+}}", "id=two"},
		{"no match gives nothing", "x{{re:absent}}y", "xy"},
		{"patterns see line ends", "{{re:one.later (id)}}", "id"},
		{"lists and objects are walked", map[string]any{"a": []any{"${PROJECT}", 1}}, map[string]any{"a": []any{"/p", 1}}},
	} {
		if got := Expand(c.give, text, vars); !reflect.DeepEqual(got, c.got) {
			t.Errorf("%s: %v, want %v", c.name, got, c.got)
		}
	}
}

func TestHurried(t *testing.T) {
	for text, want := range map[string]bool{
		"lidguard gate [command-over-limit]: the command is too large to judge in time: `the time budget for reading the command is used up`.": true,
		"the time budget for judging the command is used up":                                      true,
		"lidguard's gate could not judge this call (it took longer than 80ms), so it is refused.": true,
		"lidguard gate [delete-home]: `rm -r ~/Documents` deletes":                                false,
		"lidguard's gate could not judge this call (a patch without an end), so it is refused.":   false,
	} {
		if got := Hurried(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestJournal_earlyIsBounded(t *testing.T) {
	var j Journal
	seen := map[int]bool{}
	for range glances {
		if !j.Early([]byte("{}"), "late") {
			t.Fatal("it did not wait")
		}
		seen[j.Add(Request{Lane: Meanwhile})] = true
	}
	if len(seen) != glances || len(j.Requests()) != 0 {
		t.Errorf("%d numbers for %d requests, %d of them listed", len(seen), glances, len(j.Requests()))
	}
	if j.Early([]byte("late"), "late") || j.Early([]byte("{}"), "") || len(j.Notes()) != 0 {
		t.Error("what is there was waited for")
	}
	if j.Early([]byte("{}"), "late") || len(j.Notes()) != 1 {
		t.Errorf("it waits for ever, notes %q", j.Notes())
	}
}

func TestGate(t *testing.T) {
	var none *Gate
	none.Wait(t.Context()) // a nil gate is open

	g := NewGate()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	g.Wait(ctx)
	if ctx.Err() == nil {
		t.Error("a closed gate let go")
	}
	g.Open()
	g.Open()
	g.Wait(t.Context())
}
