package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	policy "github.com/lidguard-go/lidguard/internal/policy/telemetry"
)

// post delivers a batch. The error is *refusedError where trying again is of no use,
// *laterError where the sink says when; it never holds the address or a header, since
// both carry secrets.
func post(ctx context.Context, client *http.Client, o *Options, plan *policy.Plan, b batch) error {
	body, contentType, err := encode(&plan.Config, b, o.Version)
	if err != nil {
		return &refusedError{err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, plan.Config.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the sink's address is no valid URL")
	}
	for name, from := range plan.Config.Headers {
		value, err := headerValue(from, plan.Home, o.Getenv)
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", "lidguard/"+o.Version)
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address
		}
		return fmt.Errorf("sink at %q: %w", req.URL.Host, err)
	}
	// Whatever follows a status changes nothing about it. A second is enough for an
	// answer that lets the connection be used again.
	stop := time.AfterFunc(time.Second, cancel)
	io.CopyN(io.Discard, resp.Body, 64<<10)
	stop.Stop()
	resp.Body.Close()
	text := fmt.Sprintf("sink at %q answers %s", req.URL.Host, status(resp.StatusCode))
	switch code := resp.StatusCode; {
	case code >= 200 && code <= 299:
		return nil
	case code == http.StatusBadRequest, code == http.StatusRequestEntityTooLarge, code == http.StatusUnprocessableEntity:
		return &refusedError{text}
	}
	if after, ok := retryAfter(resp.Header.Get("Retry-After"), time.Now()); ok {
		return &laterError{text, after}
	}
	return errors.New(text)
}

// status is a status for people; what a sink writes beside the number is not
// repeated.
func status(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// retryAfter reads the header of RFC 9110 §10.2.3: seconds or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if value == "" {
		return 0, false
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
		return time.Duration(min(n, int64(maxRetryAfter/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}

// maxHeader bounds a header's value in bytes.
const maxHeader = 8 << 10

// headerValue reads a value from where the rulebook says. It is read for every
// request, so that a token may change.
func headerValue(from, home string, getenv func(string) string) (string, error) {
	kind, place, _ := strings.Cut(from, ":")
	value := ""
	if kind == "env" {
		value = getenv(place)
	} else {
		if rest, ok := strings.CutPrefix(place, "~/"); ok {
			place = filepath.Join(home, rest)
		}
		f, err := os.Open(place)
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxHeader+1))
		if err != nil {
			return "", err
		}
		value = string(data)
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return "", fmt.Errorf("%q gives no value", from)
	case len(value) > maxHeader:
		return "", fmt.Errorf("%q gives more than %d bytes", from, maxHeader)
	case strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return "", fmt.Errorf("%q gives more than one line", from)
	}
	return value, nil
}

// encode makes the body of a request.
func encode(c *policy.Config, b batch, version string) (body []byte, contentType string, err error) {
	b.lines = lowered(b.lines, c.Level())
	switch c.Tier {
	case policy.Flat:
		return flat(c, b)
	case policy.OTLP:
		return otlp(b, version)
	}
	return cloudEvents(c, b)
}

// lowered are the lines with no more in them than a level lets through: who lowers it
// means what waits for the sink as well.
func lowered(lines [][]byte, level policy.Privacy) [][]byte {
	if level == policy.Full {
		return lines
	}
	out := make([][]byte, len(lines))
	for i, line := range lines {
		out[i] = line
		var r policy.Record
		if json.Unmarshal(line, &r) == nil && r.Lower(level) {
			out[i] = r.AppendJSON(nil)
		}
	}
	return out
}

// flat is one object a line, with its number.
func flat(c *policy.Config, b batch) ([]byte, string, error) {
	var body []byte
	for i, line := range b.lines {
		if len(line) < 2 || line[len(line)-1] != '}' {
			return nil, "", fmt.Errorf("event %d of the spool is no JSON object", b.first+uint64(i))
		}
		body = append(body, line[:len(line)-1]...)
		body = append(body, `,"sequence":`...)
		body = strconv.AppendUint(body, b.first+uint64(i), 10)
		body = append(body, '}', '\n')
	}
	if c.Batch == 1 {
		return body, "application/json", nil
	}
	return body, "application/x-ndjson", nil
}

// cloudEvents is the batch format of CloudEvents 1.0, or the structured one where
// the rulebook wants one event a request.
func cloudEvents(c *policy.Config, b batch) ([]byte, string, error) {
	var all []event.Event
	for i, line := range b.lines {
		e, err := cloudEvent(line, b.first+uint64(i))
		if err != nil {
			return nil, "", fmt.Errorf("event %d of the spool: %w", b.first+uint64(i), err)
		}
		all = append(all, e)
	}
	if c.Batch == 1 && len(all) == 1 {
		body, err := json.Marshal(all[0])
		return body, event.ApplicationCloudEventsJSON + "; charset=utf-8", err
	}
	body, err := json.Marshal(all)
	return body, event.ApplicationCloudEventsBatchJSON + "; charset=utf-8", err
}

func cloudEvent(line []byte, number uint64) (event.Event, error) {
	var r policy.Record
	if err := json.Unmarshal(line, &r); err != nil {
		return event.Event{}, err
	}
	e := event.New(event.CloudEventsVersionV1)
	e.SetID(r.ID)
	e.SetSource("/lidguard/" + url.PathEscape(r.Provider))
	e.SetType("lidguard.hook." + r.Event)
	e.SetTime(r.Time.UTC())
	if r.Session != "" {
		e.SetSubject(r.Session)
		e.SetExtension("partitionkey", r.Session)
	}
	// The Sequence extension: its order is that of the texts.
	e.SetExtension("sequence", fmt.Sprintf("%020d", number))
	// As bytes it would become base64.
	if err := e.SetData(event.ApplicationJSON, json.RawMessage(line)); err != nil {
		return event.Event{}, err
	}
	return e, e.Validate()
}

// The JSON of OTLP's ExportLogsServiceRequest (opentelemetry.io/docs/specs/otlp, and
// opentelemetry/proto/logs/v1/logs.proto), as far as it is needed.
type (
	otlpRequest struct {
		ResourceLogs []otlpResourceLogs `json:"resourceLogs"`
	}
	otlpResourceLogs struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes"`
		} `json:"resource"`
		ScopeLogs []otlpScopeLogs `json:"scopeLogs"`
	}
	otlpScopeLogs struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"scope"`
		LogRecords []otlpLog `json:"logRecords"`
	}
	otlpLog struct {
		Time       string          `json:"timeUnixNano"`
		Observed   string          `json:"observedTimeUnixNano"`
		Severity   int             `json:"severityNumber"`
		Text       string          `json:"severityText"`
		EventName  string          `json:"eventName"`
		Body       otlpValue       `json:"body"`
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String *string `json:"stringValue,omitempty"`
		Bool   *bool   `json:"boolValue,omitempty"`
		Int    *string `json:"intValue,omitempty"` // 64 bits are a text in the JSON of protobuf
	}
)

func otlp(b batch, version string) ([]byte, string, error) {
	text := func(s string) otlpValue { return otlpValue{String: &s} }
	logs := []otlpLog{}
	for i, line := range b.lines {
		var r policy.Record
		var fields map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, "", fmt.Errorf("event %d of the spool: %w", b.first+uint64(i), err)
		}
		if err := json.Unmarshal(line, &fields); err != nil {
			return nil, "", fmt.Errorf("event %d of the spool: %w", b.first+uint64(i), err)
		}
		log := otlpLog{Time: strconv.FormatInt(r.Time.UnixNano(), 10), Severity: 9, Text: "INFO",
			EventName: "lidguard.hook." + r.Event, Body: text(r.Event)}
		log.Observed = log.Time
		if r.Failed || r.Decision == "deny" {
			log.Severity, log.Text = 13, "WARN"
		}
		number := strconv.FormatUint(b.first+uint64(i), 10)
		log.Attributes = append(log.Attributes, otlpAttribute{"lidguard.sequence", otlpValue{Int: &number}})
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			switch v := fields[name].(type) {
			case string:
				if name != "time" && name != "event" {
					log.Attributes = append(log.Attributes, otlpAttribute{"lidguard." + name, text(v)})
				}
			case bool:
				log.Attributes = append(log.Attributes, otlpAttribute{"lidguard." + name, otlpValue{Bool: &v}})
			case float64:
				n := strconv.FormatInt(int64(v), 10)
				log.Attributes = append(log.Attributes, otlpAttribute{"lidguard." + name, otlpValue{Int: &n}})
			}
		}
		logs = append(logs, log)
	}
	var all otlpResourceLogs
	all.Resource.Attributes = []otlpAttribute{{"service.name", text("lidguard")}, {"service.version", text(version)}}
	var scope otlpScopeLogs
	scope.Scope.Name, scope.Scope.Version, scope.LogRecords = "lidguard.hooks", version, logs
	all.ScopeLogs = []otlpScopeLogs{scope}
	body, err := json.Marshal(otlpRequest{[]otlpResourceLogs{all}})
	return body, "application/json", err
}
