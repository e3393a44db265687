package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"

	policy "github.com/lidguard-go/lidguard/internal/policy/telemetry"
	"github.com/lidguard-go/lidguard/internal/telemetry/inbox"
)

// -events 100000 is the whole bar; every run has a hundredth of it.
var (
	events = flag.Int("events", 2000, "events of the test with the sink that dies and returns")
	update = flag.Bool("update", false, "write testdata")
)

// sink is a collector in memory: it notes what it took, and fails as it is told.
type sink struct {
	mu      sync.Mutex
	records []policy.Record
	calls   int
	// answer is asked before each request; nil takes everything.
	answer func(call int, r *http.Request) (*http.Response, error)
}

func reply(status int, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("thanks"))}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func (s *sink) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	resp := reply(http.StatusOK)
	if s.answer != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		if resp, err = s.answer(s.calls, r); resp == nil && err == nil {
			resp = reply(http.StatusOK)
		}
	}
	// A sink that lies may have taken what it says it has not.
	if err == nil && resp.StatusCode/100 == 2 || r.Header.Get("X-Lie") != "" {
		dec := json.NewDecoder(bytes.NewReader(body))
		for {
			var rec policy.Record
			if err := dec.Decode(&rec); err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("the body: %w", err)
			}
			s.records = append(s.records, rec)
		}
	}
	return resp, err
}

func (s *sink) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, r := range s.records {
		ids = append(ids, r.ID)
	}
	return ids
}

func record(session string, n int) []byte {
	r := policy.Record{ID: fmt.Sprintf("%s-%06d", session, n), Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Event: "Stop",
		Privacy: policy.Metadata, Provider: "claude", Session: session, Cwd: "/w"}
	return r.AppendJSON(nil)
}

func box(dir string, s http.RoundTripper, change func(*policy.Config)) *Outbox {
	c := policy.Config{URL: "http://127.0.0.1:9/events?token=secret", Tier: policy.Flat, Privacy: policy.Metadata}
	if change != nil {
		change(&c)
	}
	return New(Options{Dir: dir, Version: "v1", Transport: s, Getenv: func(string) string { return "" },
		Plan: func() (*policy.Plan, error) {
			return &policy.Plan{Config: c, Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }}, nil
		}})
}

// settled waits, in a bubble, until the sender has nothing more to do by itself.
func settled(b *Outbox) {
	for {
		synctest.Wait()
		b.mu.Lock()
		done := b.done
		running := b.cancel != nil
		b.mu.Unlock()
		if !running {
			return
		}
		<-done
	}
}

// The bar: many events of many sessions through a sink that dies and returns, in a
// runtime that crashes and is started again. None is lost, and each session's come
// in their order, with the same ids.
func TestOutbox_losesNothingToASinkThatDiesAndReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng, moods := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(3, 4)) // ours, and the sink's
		s := &sink{}
		up := true
		s.answer = func(call int, r *http.Request) (*http.Response, error) {
			if moods.IntN(8) == 0 {
				up = !up
			}
			switch {
			case up:
				return nil, nil
			case moods.IntN(3) == 0:
				r.Header.Set("X-Lie", "took them all the same")
				return reply(503), nil
			case moods.IntN(2) == 0:
				return reply(429, "Retry-After", "3"), nil
			}
			return nil, errors.New("connection refused")
		}
		dir := t.TempDir()
		b := box(dir, s, func(c *policy.Config) { c.MaxEvents = int64(*events) })
		const sessions = 10
		for i := range *events {
			b.Add(record(fmt.Sprintf("s%d", i%sessions), i/sessions))
			if i%(*events/20) == 0 {
				time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
			}
			if i%(*events/4) == *events/5 {
				// A crash: what is on disk at this moment is all there is.
				b.mu.Lock()
				image := filepath.Join(t.TempDir(), "image")
				err := os.CopyFS(image, os.DirFS(dir))
				b.mu.Unlock()
				if err != nil {
					t.Fatal(err)
				}
				b.Close()
				dir = image
				b = box(dir, s, func(c *policy.Config) { c.MaxEvents = int64(*events) })
				b.Start()
			}
		}
		settled(b)
		if st := b.Status(); st.Waiting != 0 || st.Dropped != 0 || st.Refused != 0 {
			t.Errorf("at the end: %+v", st)
		}
		b.Close()
		seen := map[string]int{}
		last := map[string]string{}
		for _, r := range s.records {
			if seen[r.ID]++; seen[r.ID] > 1 {
				continue // at least once
			}
			if r.ID < last[r.Session] {
				t.Fatalf("%s came after %s", r.ID, last[r.Session])
			}
			last[r.Session] = r.ID
		}
		if len(seen) != *events {
			t.Errorf("%d of %d events came", len(seen), *events)
		}
		t.Logf("%d events in %d requests, %d came twice", len(seen), s.calls, len(s.records)-len(seen))
	})
}

func TestOutbox_beyondItsBoundsDropsTheOldestAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(int, *http.Request) (*http.Response, error) { return reply(500), nil }}
		dir := t.TempDir()
		b := box(dir, s, func(c *policy.Config) { c.MaxEvents = 50 })
		for i := range 120 {
			b.Add(record("s", i))
		}
		if st := b.Status(); st.Waiting != 50 || st.Dropped != 70 || st.LastLoss.IsZero() {
			t.Errorf("%+v", st)
		}
		b.Close()
		s.answer = nil
		b = box(dir, s, nil)
		b.Start()
		if st := b.Status(); st == nil || st.Dropped != 70 {
			t.Errorf("after a restart: %+v", st)
		}
		settled(b)
		ids := s.ids()
		if len(ids) != 50 || ids[0] != "s-000070" || ids[49] != "s-000119" {
			t.Errorf("%d came, from %q", len(ids), ids[0])
		}
		b.Close()
	})
}

func TestOutbox_boundsBytesToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(int, *http.Request) (*http.Response, error) { return nil, errors.New("down") }}
		dir := t.TempDir()
		b := box(dir, s, func(c *policy.Config) { c.MaxBytes = 1 << 20 })
		line := policy.Record{Time: time.Unix(0, 0).UTC(), Event: "Stop", Privacy: policy.Full, Session: "s", Prompt: strings.Repeat("y", 8000)}
		for i := range 400 {
			line.ID = fmt.Sprint(i)
			b.Add(line.AppendJSON(nil))
		}
		st := b.Status()
		if st.Bytes > 1<<20 || st.Waiting < 100 || st.Waiting+st.Dropped != 400 {
			t.Errorf("%+v", st)
		}
		var size int64
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if size > 1<<20+1<<18 {
			t.Errorf("%d bytes on disk", size)
		}
		b.Close()
	})
}

// While a batch is on its way its events may be dropped; once the sink has them they
// were not lost.
func TestOutbox_whatWasDeliveredIsNotCountedAsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *Outbox
		s := &sink{answer: func(call int, _ *http.Request) (*http.Response, error) {
			if call == 1 {
				time.Sleep(5 * time.Second) // while the spool overflows
			}
			return nil, nil
		}}
		b = box(t.TempDir(), s, func(c *policy.Config) { c.MaxEvents = 10 })
		for i := range 10 {
			b.Add(record("s", i))
		}
		time.Sleep(time.Second)
		for i := range 6 {
			b.Add(record("s", 10+i))
		}
		if st := b.Status(); st.Dropped != 6 {
			t.Errorf("meanwhile: %+v", st)
		}
		settled(b)
		if st := b.Status(); st.Dropped != 0 || st.Sent != 16 || st.Waiting != 0 {
			t.Errorf("in the end: %+v", st)
		}
		if len(s.ids()) != 16 {
			t.Errorf("%d came", len(s.ids()))
		}
		b.Close()
	})
}

func TestOutbox_waitsAsLongAsTheSinkAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		s := &sink{answer: func(call int, _ *http.Request) (*http.Response, error) {
			at = append(at, time.Now())
			switch call {
			case 1:
				return reply(429, "Retry-After", "120"), nil
			case 2:
				return reply(503, "Retry-After", time.Now().Add(7*time.Minute).UTC().Format(http.TimeFormat)), nil
			}
			return nil, nil
		}}
		b := box(t.TempDir(), s, nil)
		b.Add(record("s", 1))
		settled(b)
		if len(at) != 3 {
			t.Fatalf("%d requests", len(at))
		}
		if d := at[1].Sub(at[0]); d < 2*time.Minute || d > 2*time.Minute+time.Second {
			t.Errorf("came again after %v", d)
		}
		if d := at[2].Sub(at[1]); d < 7*time.Minute-time.Second || d > 7*time.Minute+2*time.Second {
			t.Errorf("came again after %v", d)
		}
		b.Close()
	})
}

func TestOutbox_backsOffFromADeadSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(int, *http.Request) (*http.Response, error) { return nil, errors.New("no route") }}
		b := box(t.TempDir(), s, nil)
		b.Add(record("s", 1))
		time.Sleep(24 * time.Hour)
		if st := b.Status(); st.Failures != s.calls || !strings.Contains(st.Error, "no route") || strings.Contains(st.Error, "secret") || st.NextTry.IsZero() {
			t.Errorf("%+v", st)
		}
		if s.calls < 24*12 || s.calls > 24*25 {
			t.Errorf("%d requests in a day", s.calls)
		}
		b.Close() // in the middle of a pause
	})
}

// What a sink refuses for ever must not stand in the way of what it would take.
// A sink that somebody corrects in the rulebook is tried at once, however long the old
// one's pause would have been; switching the pack off ends the sender as soon.
func TestOutbox_anotherSinkIsTriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(_ int, r *http.Request) (*http.Response, error) {
			if r.URL.Host == "old" {
				return reply(http.StatusServiceUnavailable, "Retry-After", "3000"), nil
			}
			return nil, nil
		}}
		plan := &policy.Plan{Config: policy.Config{URL: "http://old/e", Tier: policy.Flat}, Mask: strings.Clone}
		var mu sync.Mutex
		change := func(p *policy.Plan) { mu.Lock(); plan = p; mu.Unlock() }
		b := New(Options{Dir: t.TempDir(), Version: "v1", Transport: s, Getenv: func(string) string { return "" },
			Plan: func() (*policy.Plan, error) { mu.Lock(); defer mu.Unlock(); return plan, nil }})
		defer b.Close()
		b.Add(record("a", 1))
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.calls != 1 {
			t.Fatalf("%d requests though the sink asked to wait", s.calls)
		}
		began := time.Now()
		change(&policy.Plan{Config: policy.Config{URL: "http://new/e", Tier: policy.Flat}, Mask: strings.Clone})
		settled(b)
		if took := time.Since(began); took > planLook || len(s.ids()) != 1 {
			t.Errorf("%v after the correction the new sink has %v", took, s.ids())
		}
		if st := b.Status(); st.Failures != 0 || st.Waiting != 0 || !st.NextTry.IsZero() {
			t.Errorf("the old failure is told still: %+v", st)
		}

		change(&policy.Plan{Config: policy.Config{URL: "http://old/e", Tier: policy.Flat}, Mask: strings.Clone})
		b.Add(record("a", 2))
		time.Sleep(time.Minute)
		began = time.Now()
		change(nil)
		settled(b)
		if took := time.Since(began); took > planLook || s.calls != 3 {
			t.Errorf("switched off, it sent on for %v, %d requests", took, s.calls)
		}
	})
}

func TestOutbox_oneRefusedEventCostsOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(_ int, r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			if bytes.Contains(body, []byte("s-000037")) {
				return reply(400), nil
			}
			return nil, nil
		}}
		b := box(t.TempDir(), s, nil)
		for i := range 100 {
			b.Add(record("s", i))
		}
		settled(b)
		if st := b.Status(); st.Refused != 1 || st.Sent != 99 || len(s.ids()) != 99 {
			t.Errorf("%+v", st)
		}
		if s.calls > 20 {
			t.Errorf("%d requests", s.calls)
		}
		b.Close()
	})
}

// A sink that refuses everything is a mistake somewhere; it must not empty the spool
// in a rush.
func TestOutbox_aSinkThatWantsNothingIsNotFed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(int, *http.Request) (*http.Response, error) { return reply(400), nil }}
		b := box(t.TempDir(), s, nil)
		for i := range 1000 {
			b.Add(record("s", i))
		}
		time.Sleep(time.Hour)
		if st := b.Status(); st.Refused > 60 || st.Waiting < 900 {
			t.Errorf("%+v", st)
		}
		b.Close()
	})
}

func TestOutbox_takesWhatHooksLeftFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for i := range 3 {
			if err := inbox.Append(t.Context(), dir, record("s", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := inbox.Append(t.Context(), dir, []byte("{half a rec")); err != nil {
			t.Fatal(err)
		}
		s := &sink{}
		b := box(dir, s, nil)
		b.Add(record("s", 3))
		b.Add(record("s", 3)) // a hook that was not sure whether it was heard
		settled(b)
		if want := []string{"s-000000", "s-000001", "s-000002", "s-000003"}; !cmp.Equal(s.ids(), want) {
			t.Errorf("came %q", s.ids())
		}
		if st := b.Status(); st.Dropped != 1 {
			t.Errorf("what was no record: %+v", st)
		}
		b.Close()
	})
}

// Nothing runs while nothing waits: the bubble would not end with a goroutine in it.
func TestOutbox_atRestThereIsNoGoroutineAndNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		b := box(t.TempDir(), s, nil)
		b.Start()
		b.Add(record("s", 1))
		settled(b)
		if b.cancel != nil || len(s.ids()) != 1 {
			t.Errorf("a sender runs; %d came", len(s.ids()))
		}
	})
}

func TestOutbox_offTouchesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	b := New(Options{Dir: dir, Getenv: func(string) string { return "" }, Plan: func() (*policy.Plan, error) { return nil, nil }})
	b.Start()
	b.Add(record("s", 1))
	if _, err := os.Stat(dir); err == nil || b.Status() != nil {
		t.Errorf("the folder is there (%v), status %+v", err, b.Status())
	}
	b.Close()
}

// Two runtimes follow one another: the second gets the spool once the first gave it
// up, and what the first hears meanwhile is left for the second.
func TestOutbox_handsTheSpoolOver(t *testing.T) {
	dir := t.TempDir()
	down := &sink{answer: func(int, *http.Request) (*http.Response, error) { return nil, errors.New("down") }}
	old := box(dir, down, nil)
	old.Add(record("s", 1))
	up := &sink{}
	fresh := box(dir, up, nil)
	old.Pause()
	fresh.Start()
	old.Add(record("s", 2)) // the spool is not its own any more
	fresh.Add(record("s", 3))
	deadline := time.Now().Add(time.Minute)
	for len(up.ids()) < 3 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if want := []string{"s-000001", "s-000002", "s-000003"}; !cmp.Equal(up.ids(), want) {
		t.Errorf("came %q", up.ids())
	}
	old.Close()
	fresh.Close()
}

// Sinks that misbehave are felt by nobody who hands something over or closes.
func TestOutbox_badSinksAreNotFelt(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	garbage, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer garbage.Close()
	go func() { // ends with the listener
		for {
			conn, err := garbage.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "\x00\x16 this is no protocol\r\n\r\n")
			conn.Close()
		}
	}()
	hang := make(chan struct{})
	var moved *httptest.Server
	moved = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, moved.URL+r.URL.Path+"x", http.StatusTemporaryRedirect)
	}))
	defer moved.Close()
	serve := func(h http.HandlerFunc) string {
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for name, c := range map[string]struct {
		url   string
		taken bool
	}{
		"says nothing":           {"http://" + silent.Addr().String(), false},
		"speaks no HTTP":         {"http://" + garbage.Addr().String(), false},
		"is not there":           {"http://127.0.0.1:1", false}, // no port that the system gives to others,
		"leads round in circles": {moved.URL + "/x", false},
		"answers 500":            {serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), false},
		"answers 200 and tears the connection": {serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}), true},
		"never ends its answer": {serve(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(202)
			w.(http.Flusher).Flush()
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := box(t.TempDir(), nil, func(p *policy.Config) { p.URL = c.url })
			b.client.Transport = &http.Transport{}
			for i := range 20 {
				b.Add(record("s", i))
			}
			deadline := time.Now().Add(time.Minute)
			for st := b.Status(); st.Sent == 0 && st.Failures == 0 && name != "says nothing" && time.Now().Before(deadline); st = b.Status() {
				time.Sleep(5 * time.Millisecond)
			}
			st := b.Status()
			if st.Waiting+st.Sent != 20 || (st.Sent > 0) != c.taken {
				t.Errorf("%+v", st)
			}
			b.Close() // returns though the request may still be under way
		})
	}
	t.Cleanup(func() { close(hang) })
}

func TestSpool_survivesATornWriteAndALostState(t *testing.T) {
	dir := t.TempDir()
	s, err := openSpool(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i := range 3 {
		if err := s.append(fmt.Appendf(nil, "line %d", i), now); err != nil {
			t.Fatal(err)
		}
	}
	b, err := s.peek(1, 1<<20)
	if err != nil || len(b.lines) != 1 {
		t.Fatal(b, err)
	}
	if err := s.taken(b, false, now); err != nil {
		t.Fatal(err)
	}
	name := s.path(s.segments[0])
	s.close()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("half a li")
	f.Close()
	for _, lost := range []bool{false, true} {
		want := []string{"line 1", "line 2", "line 3"}
		if lost { // told twice rather than never
			want = append([]string{"line 0"}, want...)
			if err := os.WriteFile(filepath.Join(dir, stateFile), []byte("{torn"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s, err = openSpool(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if !lost {
			if err := s.append([]byte("line 3"), now); err != nil {
				t.Fatal(err)
			}
		}
		b, err := s.peek(10, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range b.lines {
			got = append(got, string(l))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("state lost: %t (-want +got):\n%s", lost, diff)
		}
		s.close()
	}
}

func TestHeaderValue(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{"token": "Bearer abc\n", "two": "a\nb: c\n", "empty": " \n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string { return map[string]string{"LIDGUARD_TOKEN": "xyz"}[name] }
	for from, want := range map[string]string{"file:~/token": "Bearer abc", "file:" + filepath.Join(home, "token"): "Bearer abc", "env:LIDGUARD_TOKEN": "xyz",
		"file:~/two": "", "file:~/empty": "", "file:~/none": "", "env:LIDGUARD_NONE": ""} {
		got, err := headerValue(from, home, getenv)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", from, got, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": -1, "soon": -1, "-3": -1, "0": 0, "30": 30 * time.Second, "99999999999": maxRetryAfter,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2015 03:05:05 GMT": 0} {
		got, ok := retryAfter(value, now)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %t", value, got, ok)
		}
	}
}

// The forms of the tiers, to the byte.
func TestEncode_golden(t *testing.T) {
	full := policy.Record{ID: "0192", Time: time.Date(2026, 1, 2, 3, 4, 5, 678000000, time.UTC), Event: "PreToolUse", Privacy: policy.Full,
		Provider: "codex", Session: "s1", Turn: "t1", ToolUse: "u1", Decision: "deny", Native: "PreToolUse", Tool: "Bash", Cwd: "/w", Rule: "no-deploy",
		InputBytes: 20, Input: `{"command":"deploy \"<now>\""}`, Why: "Ask a person.", Cut: true}
	b := batch{first: 41, lines: [][]byte{record("s1", 7), full.AppendJSON(nil)}}
	for name, c := range map[string]struct {
		config policy.Config
		batch  batch
	}{
		"cloudevents-batch.json":      {policy.Config{}, b},
		"cloudevents-structured.json": {policy.Config{Batch: 1}, batch{first: 42, lines: b.lines[1:]}},
		"flat.jsonl":                  {policy.Config{Tier: policy.Flat}, b},
		"flat.json":                   {policy.Config{Tier: policy.Flat, Batch: 1}, batch{first: 42, lines: b.lines[1:]}},
		"otlp.json":                   {policy.Config{Tier: policy.OTLP}, b},
	} {
		c.config.Privacy = policy.Full
		body, contentType, err := encode(&c.config, c.batch, "v1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		got := contentType + "\n" + string(body)
		if !strings.HasSuffix(got, "\n") {
			got += "\n"
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Who lowers the level means what waits for the sink as well.
func TestOutbox_aLowerLevelCountsForWhatWaits(t *testing.T) {
	for _, tier := range []policy.Tier{policy.Flat, policy.CloudEvents, policy.OTLP} {
		synctest.Test(t, func(t *testing.T) {
			var bodies []string
			up := false
			s := roundTrip(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				if err != nil || !up {
					return reply(http.StatusServiceUnavailable), err
				}
				bodies = append(bodies, string(body))
				return reply(http.StatusOK), nil
			})
			c := policy.Config{URL: "http://127.0.0.1:9/", Tier: tier, Privacy: policy.Full}
			b := New(Options{Dir: t.TempDir(), Transport: s, Getenv: func(string) string { return "" },
				Plan: func() (*policy.Plan, error) {
					return &policy.Plan{Config: c, Mask: func(s string) string { return s }}, nil
				}})
			full := policy.Record{ID: "1", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Event: "UserPromptSubmit", Privacy: policy.Full,
				Provider: "claude", Session: "s", Cwd: "/folder", Prompt: "my words", PromptBytes: 8}
			b.Add(full.AppendJSON(nil))
			time.Sleep(time.Second)
			b.mu.Lock()
			c.Privacy = policy.IDs
			up = true
			b.mu.Unlock()
			settled(b)
			b.Close()
			if len(bodies) != 1 || !strings.Contains(bodies[0], "UserPromptSubmit") {
				t.Fatalf("%s: %q came", tier, bodies)
			}
			for _, text := range []string{"my words", "/folder", "full", "prompt_bytes"} {
				if strings.Contains(bodies[0], text) {
					t.Errorf("%s: %q was sent in %s", tier, text, bodies[0])
				}
			}
		})
	}
}

// roundTrip is a sink.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What we send others can read: the SDK takes the batch apart and finds it valid.
func TestCloudEvents_areValid(t *testing.T) {
	body, _, err := encode(&policy.Config{}, batch{first: 1, lines: [][]byte{record("s", 1), record("s", 2)}}, "v1")
	if err != nil {
		t.Fatal(err)
	}
	var all []event.Event
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		var r policy.Record
		if err := errors.Join(e.Validate(), e.DataAs(&r)); err != nil || r.ID != e.ID() || e.SpecVersion() != "1.0" || e.Time().Location() != time.UTC ||
			e.Type() != "lidguard.hook.Stop" || e.Subject() != "s" || e.Extensions()["sequence"] != fmt.Sprintf("%020d", i+1) {
			t.Errorf("%v: %v", e, err)
		}
	}
	if len(all) != 2 || bytes.Contains(body, []byte("base64")) {
		t.Errorf("%d events in %s", len(all), body)
	}
}

func BenchmarkAdd(b *testing.B) {
	o := box(b.TempDir(), &sink{answer: func(int, *http.Request) (*http.Response, error) { return nil, context.Canceled }}, nil)
	defer o.Close()
	for i := 0; b.Loop(); i++ {
		o.Add(record("s", i))
	}
}
