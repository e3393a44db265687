package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// pushService doubles ntfy for one topic and its answers.
type pushService struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	published []push
	answers   []string // lines of the answers' topic
	changed   chan struct{}
	refuse    int    // how many requests are answered with 503
	auth      string // wanted of this machine's requests
}

const topicPath = "/base/lidguard-0123456789"

func newPushService(t *testing.T) *pushService {
	s := &pushService{t: t, changed: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *pushService) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse > 0 {
		s.refuse--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	user, password, _ := r.BasicAuth()
	switch {
	case r.Method == http.MethodPost && r.URL.Path == topicPath+AnswerTopic: // the phone's, without a login
		body, _ := io.ReadAll(r.Body)
		line, _ := json.Marshal(map[string]string{"event": "message", "message": string(body)})
		s.tellLocked(string(line))
	case s.auth != "" && s.auth != user+":"+password:
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodPost && r.URL.Path == "/base/":
		var m push
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			s.t.Error(err)
		}
		s.published = append(s.published, m)
		close(s.changed)
		s.changed = make(chan struct{})
	case r.Method == http.MethodGet && r.URL.Path == topicPath+AnswerTopic+"/json":
		for told := 0; ; {
			for ; told < len(s.answers); told++ {
				fmt.Fprintln(w, s.answers[told])
			}
			w.(http.Flusher).Flush()
			changed := s.changed
			s.mu.Unlock()
			select {
			case <-changed:
			case <-r.Context().Done():
			}
			s.mu.Lock()
			if r.Context().Err() != nil {
				return
			}
		}
	default:
		s.t.Errorf("unexpected %s %s", r.Method, r.URL.Path)
	}
}

func (s *pushService) tellLocked(line string) {
	s.answers = append(s.answers, line)
	close(s.changed)
	s.changed = make(chan struct{})
}

// tell puts a line into the answers' topic.
func (s *pushService) tell(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellLocked(line)
}

// next waits for the n-th published question.
func (s *pushService) next(n int) push {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		if len(s.published) >= n {
			m := s.published[n-1]
			s.mu.Unlock()
			return m
		}
		s.mu.Unlock()
	}
	s.t.Fatalf("no question number %d", n)
	return push{}
}

// press does what the phone does when the person presses a button.
func press(t *testing.T, m push, label string) {
	t.Helper()
	for _, a := range m.Actions {
		if a.Label != label {
			continue
		}
		resp, err := http.Post(a.URL, "text/plain", strings.NewReader(a.Body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return
	}
	t.Fatalf("no button %q in %+v", label, m.Actions)
}

type said struct {
	allow bool
	err   error
}

func ask(ctx context.Context, address string, q Question) <-chan said {
	out := make(chan said, 1)
	go func() { // ends with ctx or an answer
		allow, err := Phone{Address: address}.Ask(ctx, q)
		out <- said{allow, err}
	}()
	return out
}

func TestPhone_asks(t *testing.T) {
	for _, allow := range []bool{true, false} {
		s := newPushService(t)
		s.auth = ":tk_secret"
		s.refuse = 2 // a service that has a bad moment
		out := ask(t.Context(), strings.Replace(s.URL, "//", "//:tk_secret@", 1)+topicPath, Question{Title: "claude asks in api", Text: "Bash\nrm -rf build", Whole: true})
		m := s.next(1)
		if m.Topic != "lidguard-0123456789" || m.Title != "claude asks in api" || m.Message != "Bash\nrm -rf build" || len(m.Actions) != 2 {
			t.Errorf("published %+v", m)
		}
		if all, _ := json.Marshal(m); strings.Contains(string(all), "tk_secret") {
			t.Errorf("the question carries the login: %s", all)
		}
		press(t, m, map[bool]string{true: "Allow", false: "Deny"}[allow])
		if got := <-out; got.err != nil || got.allow != allow {
			t.Errorf("answer %v, %v; want %v", got.allow, got.err, allow)
		}
	}
}

func TestPhone_whatIsCutCanOnlyBeDenied(t *testing.T) {
	s := newPushService(t)
	out := ask(t.Context(), s.URL+topicPath, Question{Title: "t", Text: "x"})
	m := s.next(1)
	if len(m.Actions) != 1 || m.Actions[0].Label != "Deny" {
		t.Errorf("buttons %+v", m.Actions)
	}
	press(t, m, "Deny")
	if got := <-out; got.err != nil || got.allow {
		t.Errorf("%+v", got)
	}
}

// A network that went away without a word: the connection stays, and nothing comes.
func TestPhone_connectionThatFellSilent(t *testing.T) {
	s := newPushService(t)
	silent := make(chan struct{}, 1)
	silent <- struct{}{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			select {
			case <-silent:
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return
			default:
			}
		}
		s.serve(w, r)
	}))
	defer front.Close()
	out := make(chan said, 1)
	go func() { // ends with the answer or the test
		allow, err := Phone{Address: front.URL + topicPath, Fresh: 50 * time.Millisecond}.Ask(t.Context(), Question{Title: "t", Whole: true})
		out <- said{allow, err}
	}()
	press(t, s.next(1), "Allow")
	select {
	case got := <-out:
		if got.err != nil || !got.allow {
			t.Errorf("%+v", got)
		}
	case <-time.After(time.Minute):
		t.Error("the answer was never heard")
	}
}

// The longest text, of letters that JSON may write as six bytes, is within what the
// service takes (ntfy: twice its 4,096 bytes of a message).
func TestPhone_sizeOfAQuestion(t *testing.T) {
	size := make(chan int, 3)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			size <- len(body)
		}
	}))
	defer s.Close()
	ask(t.Context(), s.URL+topicPath, Question{Title: "t", Text: strings.Repeat("<&>", 512), Whole: true})
	if n := <-size; n > 8192 {
		t.Errorf("%d bytes", n)
	}
}

// Each question has its own token: an answer to another one, an old or a made-up one
// is none, and of two answers to one the first counts.
func TestPhone_onlyItsOwnToken(t *testing.T) {
	s := newPushService(t)
	s.tell(`{"event":"open"}`)
	s.tell(`{"event":"message","message":"allow aaaaaaaaaaaaaaaaaaaaaaaaaa"}`)
	s.tell(`{"event":"message","message":"allow"}`)
	s.tell(`no JSON`)
	first := ask(t.Context(), s.URL+topicPath, Question{Title: "first", Whole: true})
	one := s.next(1)
	second := ask(t.Context(), s.URL+topicPath, Question{Title: "second", Whole: true})
	two := s.next(2)
	if one.Actions[0].Body == two.Actions[0].Body {
		t.Fatal("two questions have one token")
	}
	token := strings.TrimPrefix(one.Actions[0].Body, "allow ")
	for _, made := range []string{"maybe " + token, "ALLOW " + token, "allow  " + token, "allow " + token + "x", "allow " + token[1:]} {
		line, _ := json.Marshal(map[string]string{"event": "message", "message": made})
		s.tell(string(line))
	}
	line, _ := json.Marshal(map[string]string{"event": "keepalive", "message": "allow " + token})
	s.tell(string(line))
	press(t, one, "Deny")
	press(t, one, "Allow")
	if got := <-first; got.err != nil || got.allow {
		t.Errorf("first: %+v, want the first answer", got)
	}
	// Whatever allowed something till now was no answer to it: this is the first.
	press(t, two, "Deny")
	if got := <-second; got.err != nil || got.allow {
		t.Errorf("second: %+v, want its own answer", got)
	}
	// Late, and to a question that is over: whoever asks next hears nothing of it.
	third := ask(t.Context(), s.URL+topicPath, Question{Title: "third", Whole: true})
	three := s.next(3)
	press(t, two, "Allow")
	press(t, three, "Deny")
	if got := <-third; got.err != nil || got.allow {
		t.Errorf("third: %+v, want its own answer", got)
	}
}

func TestPhone_failuresNameNoSecret(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	elsewhere := 0
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			elsewhere++
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer moved.Close()
	for name, address := range map[string]string{
		"nobody listens": gone.URL + "/secret-topic-0123", "a redirect": moved.URL + "/secret-topic-0123", "no address": "http://[secret",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := Phone{Address: address}.Ask(ctx, Question{})
		cancel()
		var wrapped *url.Error
		if err == nil || strings.Contains(err.Error(), "secret") || errors.As(err, &wrapped) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if elsewhere != 0 {
		t.Error("a redirect was followed")
	}
}

// Whoever knows the answers' topic can write much into it: that is read within
// bounds, and no line of it is an answer.
func TestAnswered_bounds(t *testing.T) {
	long := `{"event":"message","message":"` + strings.Repeat("x", maxAnswer) + `"}` + "\n"
	if allow, ok := answered(strings.NewReader(long+`{"event":"message","message":"allow t"}`), "t"); !ok || !allow {
		t.Error("a line that is too long hides the answer behind it")
	}
	if _, ok := answered(strings.NewReader(`{"event":"message","message":"allow t`+strings.Repeat(" ", maxAnswer)+`"}`), "t"); ok {
		t.Error("a line that is too long is an answer")
	}
	if _, ok := answered(strings.NewReader(strings.Repeat("{}\n", maxAnswers)+`{"event":"message","message":"allow t"}`), "t"); ok {
		t.Error("more lines are read than any person writes")
	}
	if allow, ok := answered(strings.NewReader(`{"event":"message","message":"allow t"}`), "t"); !ok || !allow {
		t.Error("the answer itself was not read")
	}
}
