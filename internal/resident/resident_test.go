package resident_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/resident"
)

// fake is a helper's process in this process. Its body answers a request's id and
// event, or "" for no answer.
type fake struct {
	in       *io.PipeReader
	out      *io.PipeWriter
	toHelper *io.PipeWriter
	fromIt   *io.PipeReader
	body     func(id int64, ev string) string
	stubborn bool // does not leave when its input ends

	once  sync.Once
	ended chan struct{}
}

func (f *fake) Stdin() io.WriteCloser { return f.toHelper }
func (f *fake) Stdout() io.ReadCloser { return f.fromIt }
func (f *fake) Kill()                 { f.end() }

func (f *fake) end() {
	f.once.Do(func() {
		f.in.Close()
		f.out.Close()
		close(f.ended)
	})
}

func (f *fake) Wait() (string, error) {
	<-f.ended
	return "last words", nil
}

func (f *fake) serve() {
	lines := bufio.NewScanner(f.in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r struct {
			ID       int64
			Event    json.RawMessage
			Deadline int64 `json:"deadline_ms"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		if answer := f.body(r.ID, string(r.Event)); answer == "die" {
			f.end()
		} else if answer != "" {
			io.WriteString(f.out, answer+"\n")
		}
	}
	if !f.stubborn {
		f.end()
	}
}

// stable counts the helpers that were started.
type stable struct {
	mu     sync.Mutex
	starts map[string]int
	fakes  []*fake
	body   func(id int64, ev string) string
	fails  bool
	stuck  bool
}

func (s *stable) start(spec resident.Spec) (resident.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starts == nil {
		s.starts = map[string]int{}
	}
	s.starts[spec.Name]++
	if s.fails {
		return nil, errors.New("no such program")
	}
	f := &fake{ended: make(chan struct{}), body: s.body, stubborn: s.stuck}
	f.in, f.toHelper = io.Pipe()
	f.fromIt, f.out = io.Pipe()
	s.fakes = append(s.fakes, f)
	go f.serve() // ends with the pipe
	return f, nil
}

func (s *stable) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts[name]
}

func yes(id int64, _ string) string {
	return fmt.Sprintf(`{"id":%d,"verdict":{"decision":"deny"}}`, id)
}

func ask(p *resident.Pool, name, ev string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	v, err := p.Ask(ctx, resident.Spec{Name: name, Path: "/x"}, resident.Question{Provider: "claude", Native: "PreToolUse", Event: json.RawMessage(ev)})
	return string(v), err
}

func TestPool_startsOnFirstUseAndStopsWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stable{body: yes}
		p := &resident.Pool{Start: s.start}
		if p.Live() != 0 {
			t.Fatal("a helper runs before it is asked")
		}
		for range 3 {
			if v, err := ask(p, "a", "{\n}", time.Second); v != `{"decision":"deny"}` || err != nil {
				t.Fatalf("got %s, %v", v, err)
			}
		}
		if s.count("a") != 1 || p.Live() != 1 {
			t.Errorf("%d starts, %d live", s.count("a"), p.Live())
		}
		time.Sleep(resident.IdleLife - time.Second)
		ask(p, "a", "{}", time.Second) // counts as use
		time.Sleep(resident.IdleLife - time.Second)
		synctest.Wait()
		if p.Live() != 1 {
			t.Error("it was stopped while in use")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if p.Live() != 0 {
			t.Error("an idle helper stays")
		}
		<-s.fakes[0].ended
		if _, err := ask(p, "a", "{}", time.Second); err != nil || s.count("a") != 2 {
			t.Errorf("asked again: %v after %d starts", err, s.count("a"))
		}
		p.Close()
		if _, err := ask(p, "a", "{}", time.Second); !errors.Is(err, resident.ErrRefused) {
			t.Errorf("after Close: %v", err)
		}
		p.Close()
	})
}

func TestPool_atRestNothingWakesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stable{body: yes}
		p := &resident.Pool{Start: s.start}
		ask(p, "a", "{}", time.Second)
		time.Sleep(resident.IdleLife + resident.MaxLate*time.Second)
		synctest.Wait()
		if p.Live() != 0 {
			t.Fatal("still there")
		}
		// With nothing left the bubble's clock has nothing to run to: a timer of the
		// pool would fire in this long sleep and start or log something.
		logged := 0
		p.Log = func(string, ...any) { logged++ }
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		if logged != 0 || s.count("a") != 1 {
			t.Errorf("%d log lines, %d starts while nobody asked", logged, s.count("a"))
		}
	})
}

func TestPool_lateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := time.Duration(0)
		var mu sync.Mutex
		s := &stable{}
		s.body = func(id int64, ev string) string {
			mu.Lock()
			d := slow
			mu.Unlock()
			time.Sleep(d)
			return yes(id, ev)
		}
		p := &resident.Pool{Start: s.start}
		defer p.Close()
		set := func(d time.Duration) { mu.Lock(); slow = d; mu.Unlock() }
		set(150 * time.Millisecond)
		if _, err := ask(p, "a", "{}", 100*time.Millisecond); err == nil || errors.Is(err, resident.ErrRefused) || !strings.Contains(err.Error(), "no answer in time") {
			t.Fatalf("got %v", err)
		}
		time.Sleep(time.Second) // the late answer comes, and is nobody's
		set(0)
		if v, err := ask(p, "a", "{}", time.Second); err != nil || v == "" {
			t.Fatalf("after a late answer: %s, %v", v, err)
		}
		set(150 * time.Millisecond)
		for range resident.MaxLate {
			ask(p, "a", "{}", 100*time.Millisecond)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if p.Live() != 0 {
			t.Fatal("a helper that is always late lives on")
		}
		set(0)
		time.Sleep(time.Second)
		if _, err := ask(p, "a", "{}", time.Second); err != nil || s.count("a") != 2 {
			t.Errorf("restarted: %v, %d starts", err, s.count("a"))
		}
	})
}

func TestPool_restsLongerAfterEachDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stable{body: func(int64, string) string { return "die" }}
		p := &resident.Pool{Start: s.start}
		defer p.Close()
		began := time.Now()
		var pauses []time.Duration
		for len(pauses) < 12 {
			before := s.count("a")
			_, err := ask(p, "a", "{}", time.Second)
			if s.count("a") > before {
				if err == nil || errors.Is(err, resident.ErrRefused) || !strings.Contains(err.Error(), "has ended") {
					t.Fatalf("a helper that dies: %v", err)
				}
				pauses = append(pauses, time.Since(began))
				began = time.Now()
			} else if !errors.Is(err, resident.ErrRefused) {
				t.Fatalf("a resting helper: %v", err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if pauses[1] < 200*time.Millisecond || pauses[2] < 2*pauses[1]-20*time.Millisecond || pauses[11] < 50*time.Second || pauses[11] > 70*time.Second {
			t.Errorf("it rested %v", pauses)
		}
		s.mu.Lock()
		s.body = yes
		s.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if _, err := ask(p, "a", "{}", time.Second); err != nil {
			t.Errorf("a helper that got well: %v", err)
		}
		s.mu.Lock()
		s.fails = true
		s.mu.Unlock()
		if _, err := ask(p, "b", "{}", time.Second); !errors.Is(err, resident.ErrRefused) || !strings.Contains(err.Error(), "no such program") {
			t.Errorf("a program that cannot be started: %v", err)
		}
	})
}

func TestPool_boundsTheirNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stable{body: yes}
		p := &resident.Pool{Start: s.start}
		for i := range 3 * resident.MaxHelpers {
			if _, err := ask(p, fmt.Sprint("h", i), "{}", time.Second); err != nil {
				t.Fatalf("helper %d: %v", i, err)
			}
			synctest.Wait()
			if n := p.Live(); n > resident.MaxHelpers {
				t.Fatalf("%d helpers live", n)
			}
			time.Sleep(time.Millisecond)
		}
		if s.count("h0") != 1 || s.count("h47") != 1 {
			t.Error("not each was started once")
		}
		p.Close()
		for _, f := range s.fakes {
			<-f.ended
		}

		// All at work: nobody makes room.
		wait := make(chan struct{})
		s = &stable{body: func(id int64, ev string) string { <-wait; return yes(id, ev) }}
		p = &resident.Pool{Start: s.start}
		for i := range resident.MaxHelpers {
			go ask(p, fmt.Sprint("w", i), "{}", time.Minute) // ends with its helper
		}
		synctest.Wait()
		if _, err := ask(p, "more", "{}", time.Second); !errors.Is(err, resident.ErrRefused) {
			t.Errorf("one more than there may be: %v", err)
		}
		// One helper's questions are bounded as well.
		for range resident.MaxUnderWay - 1 {
			go ask(p, "w0", "{}", time.Minute)
		}
		synctest.Wait()
		if _, err := ask(p, "w0", "{}", time.Second); !errors.Is(err, resident.ErrRefused) {
			t.Errorf("one question too many: %v", err)
		}
		close(wait)
		p.Close()
	})
}

func TestPool_oddAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ name, answer, want string }{
			{"an error", `{"id":1,"error":"out of ideas"}`, `helper "a" says: out of ideas`},
			{"no verdict", `{"id":1}`, "without a verdict"},
			{"a verdict that is null", `{"id":1,"verdict":null}`, "without a verdict"},
			{"another id", `{"id":2,"verdict":{}}`, "no answer in time"},
			{"an id as text", `{"id":"1","verdict":{}}`, "no answer in time"},
			{"no JSON", `yes`, "no answer in time"},
			{"a line too long", `{"id":1,"verdict":"` + strings.Repeat("x", resident.MaxLine) + `"}`, "has ended"},
		} {
			s := &stable{body: func(int64, string) string { return c.answer }}
			p := &resident.Pool{Start: s.start}
			if v, err := ask(p, "a", "{}", time.Second); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %s, %v", c.name, v, err)
			}
			p.Close()
		}
		s := &stable{body: yes}
		p := &resident.Pool{Start: s.start}
		defer p.Close()
		if _, err := ask(p, "a", "{", time.Second); err == nil {
			t.Error("half an event was asked")
		}
		if _, err := ask(p, "a", `"`+strings.Repeat("x", resident.MaxLine)+`"`, time.Second); !errors.Is(err, resident.ErrRefused) {
			t.Errorf("an event longer than a line: %v", err)
		}
	})
}

func TestPool_closeEndsTheStubborn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stable{body: yes, stuck: true}
		p := &resident.Pool{Start: s.start}
		ask(p, "a", "{}", time.Second)
		began := time.Now()
		p.Close()
		<-s.fakes[0].ended
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v, want the second of grace", took)
		}
	})
}

func TestPool_closeWithQuestionsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stable{body: func(int64, string) string { return "" }}
		p := &resident.Pool{Start: s.start}
		failed := make(chan error, 1)
		go func() { _, err := ask(p, "a", "{}", time.Minute); failed <- err }()
		synctest.Wait()
		p.Close()
		if err := <-failed; !errors.Is(err, resident.ErrRefused) {
			t.Errorf("got %v", err)
		}
	})
}
