package audio

import (
	"errors"
	"testing"
	"time"
)

// With an output it is heard, without one it says so; it never hangs.
func TestPlay_endsWithOrWithoutAnOutput(t *testing.T) {
	begin := time.Now()
	err := Player{}.Play(t.Context(), "Asterisk", 1)
	var volume *VolumeError
	if err != nil && !errors.Is(err, ErrNoPlayer) && !errors.As(err, &volume) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(begin); d > longest+restoreTime {
		t.Errorf("took %s", d)
	}
	t.Log(err)
}

func TestVolume_answersOrSaysWhyNot(t *testing.T) {
	level, muted, err := winSpeaker{}.Volume()
	var com comError
	if err != nil && !errors.As(err, &com) || level < 0 || level > 1 {
		t.Errorf("got %v, %v, %v", level, muted, err)
	}
	if err == nil {
		if err := (winSpeaker{}).SetVolume(level); err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("setting what it was: %v", err)
		}
	}
	t.Log(level, muted, err)
}
