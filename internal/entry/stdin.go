package entry

import (
	"io"
	"os"
	"time"
)

// readPayload reads all of stdin, at most MaxPayload bytes and for at most limit.
func readPayload(stdin io.Reader, limit time.Duration) ([]byte, error) {
	if f, ok := stdin.(*os.File); ok {
		if r, ok := bounded(f, time.Now().Add(limit)); ok {
			return readAll(r)
		}
	}
	type result struct {
		payload []byte
		err     error
	}
	done := make(chan result, 1)
	// The reader cannot be interrupted: stdin is a pipe that somebody else may
	// never close. It is left behind, and ends with the process.
	go func() {
		payload, err := readAll(stdin)
		done <- result{payload, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.payload, r.err
	case <-timer.C:
		return nil, errSlowPayload
	}
}
