package notify

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Phone asks the person over a topic of a push service that speaks ntfy's protocol
// (docs.ntfy.sh/publish and /subscribe/api). The question is published to the
// topic; its buttons have the phone publish the answer to the topic beside it, whose
// name ends in AnswerTopic and to which this machine listens meanwhile. So nothing
// here can be reached from outside.
//
// An answer counts by its token alone: a number nobody can guess, made for one
// question and told to nobody but the topic. Whoever may read the topic may answer.
type Phone struct {
	// Address of the topic, https but for tests; a user name and a password in it
	// are for the service, and never on their way to the phone.
	Address string
	// Fresh is how long this machine listens on one connection; 0 is half a minute.
	// A network that went away tells nobody, and a new connection hears all of it.
	Fresh time.Duration
}

// AnswerTopic is what the topic of the answers is called beside that of the
// questions.
const AnswerTopic = "-answer"

// Question is what the phone shows.
type Question struct {
	Title, Text string
	// Whole: Text is all there is to the call. What cannot be shown in full is not
	// for a button: such a question can only be denied.
	Whole bool
}

// Bounds of one question.
const (
	// askTries is how often a question is published, askPause the time between, and
	// between two tries to listen.
	askTries = 3
	askPause = 2 * time.Second
	// maxAnswer bounds one line of the service's stream in bytes, maxAnswers how
	// many are read: the topic is open to whoever knows its name.
	maxAnswer  = 16 << 10
	maxAnswers = 10_000
	// answersSince is how far back the service tells answers, for those that came
	// before this machine listened or while it could not. Older ones have other
	// tokens.
	answersSince = "10m"
	// fresh is Phone.Fresh where that is 0.
	fresh = 30 * time.Second
)

// Ask publishes q and returns the person's answer, the first that has its token. It
// blocks until then or until ctx ends. The error never has an address in it.
func (p Phone) Ask(ctx context.Context, q Question) (allow bool, err error) {
	topic, err := url.Parse(p.Address)
	if err != nil || topic.Hostname() == "" {
		return false, errors.New("phone address is no valid URL")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Connections of its own, which end with the question.
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()

	token := strings.ToLower(rand.Text()) // 128 random bits at least
	answers := make(chan bool, 1)
	listening := make(chan struct{})
	go func() { // ends with ctx; waited for
		defer close(listening)
		listen(ctx, client, topic, token, cmp.Or(p.Fresh, fresh), answers)
	}()
	defer func() { cancel(); <-listening }()

	for try := 1; ; try++ {
		err := publish(ctx, client, topic, token, q)
		if err == nil {
			break
		}
		if try == askTries || ctx.Err() != nil {
			return false, err
		}
		if !pause(ctx, askPause) {
			return false, err
		}
	}
	select {
	case allow := <-answers:
		return allow, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// beside is the address of the answers' topic, or of the service (name ""), without
// user and password unless they are for this machine's own use.
func beside(topic *url.URL, name string, own bool) *url.URL {
	u := *topic
	cut := strings.LastIndexByte(u.Path, '/')
	if u.Path = u.Path[:cut+1]; name != "" {
		u.Path += topic.Path[cut+1:] + name
	}
	if !own {
		u.User = nil
	}
	return &u
}

// push is ntfy's message as JSON (docs.ntfy.sh/publish, "Publish as JSON").
type push struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Actions  []action `json:"actions"`
}

type action struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method"`
	Body   string `json:"body"`
	Clear  bool   `json:"clear"`
}

func publish(ctx context.Context, client *http.Client, topic *url.URL, token string, q Question) error {
	to := beside(topic, AnswerTopic, false).String()
	button := func(label, word string) action {
		return action{Action: "http", Label: label, URL: to, Method: http.MethodPost, Body: word + " " + token, Clear: true}
	}
	m := push{Topic: topic.Path[strings.LastIndexByte(topic.Path, '/')+1:], Title: q.Title, Message: q.Text, Priority: 4}
	if q.Whole {
		m.Actions = append(m.Actions, button("Allow", answerAllow))
	}
	m.Actions = append(m.Actions, button("Deny", answerDeny))
	var body bytes.Buffer
	text := json.NewEncoder(&body)
	text.SetEscapeHTML(false) // the service takes 8 KiB, and "&" would be six bytes of it
	if err := text.Encode(m); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, WebhookLimit)
	defer cancel()
	resp, err := send(ctx, client, http.MethodPost, beside(topic, "", true), body.Bytes())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, 64<<10)
	return nil
}

// The words of an answer, before its token.
const (
	answerAllow = "allow"
	answerDeny  = "deny"
)

// listen reads the answers' topic until one has the token, over and over: a
// connection lasts for span, and the service may not be there for a while.
func listen(ctx context.Context, client *http.Client, topic *url.URL, token string, span time.Duration, answers chan<- bool) {
	from := beside(topic, AnswerTopic+"/json", true)
	from.RawQuery = "since=" + answersSince
	hear := func() (allow, ok bool) {
		ctx, cancel := context.WithTimeout(ctx, span)
		defer cancel()
		resp, err := send(ctx, client, http.MethodGet, from, nil)
		if err != nil {
			return false, false
		}
		defer resp.Body.Close()
		return answered(resp.Body, token)
	}
	for {
		if allow, ok := hear(); ok {
			answers <- allow
			return
		}
		if !pause(ctx, askPause) {
			return
		}
	}
}

// answered reads lines of the stream up to the first answer with the token. A line
// that is too long for one is passed over.
func answered(stream io.Reader, token string) (allow, ok bool) {
	lines := bufio.NewReaderSize(stream, maxAnswer)
	for range maxAnswers {
		line, more, err := lines.ReadLine()
		if err != nil {
			return false, false
		}
		if more {
			for more && err == nil {
				_, more, err = lines.ReadLine()
			}
			continue
		}
		var m struct {
			Event   string `json:"event"`
			Message string `json:"message"`
		}
		if json.Unmarshal(line, &m) != nil || m.Event != "message" {
			continue
		}
		word, said, _ := strings.Cut(m.Message, " ")
		if subtle.ConstantTimeCompare([]byte(said), []byte(token)) == 1 && (word == answerAllow || word == answerDeny) {
			return word == answerAllow, true
		}
	}
	return false, false
}

// send makes one request. An answer that is no success is an error.
func send(ctx context.Context, client *http.Client, method string, to *url.URL, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("phone address is no valid URL")
	}
	req.Header.Set("User-Agent", "lidguard")
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address
		}
		return nil, fmt.Errorf("push service at %q: %w", to.Host, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		resp.Body.Close()
		return nil, fmt.Errorf("push service at %q answers %s", to.Host, resp.Status)
	}
	return resp, nil
}

// pause waits for d; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
