package entry

import (
	"errors"
	"os"
	"testing"
	"time"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestReadPayload_takesPiecesAsTheyCome(t *testing.T) {
	r, w := pipe(t)
	go func() { // ends with the last piece
		for _, piece := range []string{"{", `"a"`, ":1}"} {
			w.WriteString(piece)
			time.Sleep(2 * time.Millisecond)
		}
		w.Close()
	}()
	if got, err := readPayload(r, time.Minute); string(got) != `{"a":1}` || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestReadPayload_readsAFile(t *testing.T) {
	name := t.TempDir() + "/payload"
	if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := readPayload(f, time.Minute); string(got) != "{}" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestReadPayload_saysWhatIsWrong(t *testing.T) {
	r, w := pipe(t)
	w.Close()
	if _, err := readPayload(r, time.Minute); !errors.Is(err, errEmptyPayload) {
		t.Errorf("closed at once: %v", err)
	}
	r, _ = pipe(t)
	r.Close()
	if _, err := readPayload(r, time.Minute); err == nil || errors.Is(err, errSlowPayload) {
		t.Errorf("no stdin at all: %v", err)
	}
}

// A client that goes on sending must not hold a hook up either.
func TestReadPayload_endsInTime(t *testing.T) {
	for name, piece := range map[string]string{"silent": "", "trickling": " "} {
		r, w := pipe(t)
		stop := make(chan struct{})
		go func() { // ends with stop
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					w.WriteString(piece)
				}
			}
		}()
		began := time.Now()
		const limit = 30 * time.Millisecond
		_, err := readPayload(r, limit)
		close(stop)
		if took := time.Since(began); err != errSlowPayload || took < limit || took > time.Minute {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}
