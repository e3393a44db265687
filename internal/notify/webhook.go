// Package notify tells the outside world what happened: webhooks, and the file
// with the last suspends. In come what to tell and where; out go a delivery or an
// error. It never decides, never retries (a suspend does not wait for a receiver
// that is down), and never puts an address into an error: addresses carry secrets.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// WebhookLimit bounds one delivery, connecting and reading the answer included.
const WebhookLimit = 5 * time.Second

// Body is what a webhook receives. Every body has EventType and Reason. A
// PreSuspend after a soft lock carries SoftLocked; after a normal end, and in
// every PostSessionEnd, the session's fields are there. Times are UTC.
type Body struct {
	EventType string `json:"eventType"` // PreSuspend, PostSessionEnd
	Reason    string `json:"reason"`    // Completed, SoftLocked, EmergencyHibernation, BatteryFloor; SessionEnded

	SoftLocked *int `json:"softLockedSessionCount,omitempty"`

	Provider     string     `json:"provider,omitempty"`
	ProviderName string     `json:"providerName,omitempty"` // MCP sessions
	SessionID    string     `json:"sessionId,omitempty"`
	Started      *time.Time `json:"startedAtUtc,omitempty"`
	Activity     *time.Time `json:"lastActivityAtUtc,omitempty"`
	Ended        *time.Time `json:"endedAtUtc,omitempty"`
	EndReason    string     `json:"endReason,omitempty"`
	Active       *int       `json:"activeSessionCount,omitempty"`
	Cwd          string     `json:"workingDirectory,omitempty"`
	Transcript   string     `json:"transcriptPath,omitempty"`
	Prompt       string     `json:"promptPreview,omitempty"`
	LastMessage  string     `json:"lastAssistantMessage,omitempty"`
}

// Post delivers body to address, which must be http or https, and returns nil once
// the receiver answered with a 2xx status. It follows no redirect: a hook that
// moved should be noticed, not followed to another host.
func Post(ctx context.Context, address string, body *Body) error {
	payload, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, WebhookLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return errors.New("webhook address is no valid URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "lidguard")
	// A transport of its own, so that no idle connection outlives the call.
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address
		}
		return fmt.Errorf("webhook at %q: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, 64<<10)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("webhook at %q answers %s", req.URL.Host, resp.Status)
	}
	return nil
}
