package notify

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Receivers that misbehave cost at most WebhookLimit, since a suspend waits for
// them.
func TestPost_neverWaitsLongerThanItsLimit(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	half := make(chan struct{})
	defer close(half)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-half // the body never ends
	}))
	t.Cleanup(slow.Close) // after the channel is closed
	resets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}))
	defer resets.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))
	defer broken.Close()
	type result struct {
		name   string
		err    error
		took   time.Duration
		fails  bool
		atOnce bool
	}
	results := make(chan result)
	post := func(name, address string, fails, atOnce bool) {
		began := time.Now()
		err := Post(t.Context(), address, &Body{EventType: "PreSuspend", Reason: "Completed"})
		results <- result{name, err, time.Since(began), fails, atOnce}
	}
	go post("hangs", "http://"+silent.Addr().String(), true, false) // each ends by itself; received below
	go post("never ends its answer", slow.URL, false, false)
	go post("resets", resets.URL, true, true)
	go post("answers 500", broken.URL, true, true)
	for range 4 {
		r := <-results
		if r.fails != (r.err != nil) {
			t.Errorf("%s: %v", r.name, r.err)
		}
		if r.atOnce && errors.Is(r.err, context.DeadlineExceeded) {
			t.Errorf("%s: nothing came before %v", r.name, WebhookLimit)
		}
		if r.took > WebhookLimit+time.Minute { // without a limit two of them go on for ever
			t.Errorf("%s: took %v", r.name, r.took)
		}
	}
}
