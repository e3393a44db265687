package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPost_deliversEveryField(t *testing.T) {
	var got map[string]any
	var contentType string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		contentType = r.Header.Get("Content-Type")
		b, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(b, &got); err != nil {
			t.Errorf("body %q: %v", b, err)
		}
	}))
	defer srv.Close()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one, three := 1, 3
	err := Post(t.Context(), srv.URL+"/hook?token=secret", &Body{EventType: "PreSuspend", Reason: "Completed", SoftLocked: &one,
		Provider: "mcp", ProviderName: "n", SessionID: "s", Started: &at, Activity: &at, Ended: &at, EndReason: "stop",
		Active: &three, Cwd: "/w", Transcript: "/t", Prompt: "p", LastMessage: "m"})
	if err != nil {
		t.Fatal(err)
	}
	when := "2026-01-02T03:04:05Z"
	want := map[string]any{"eventType": "PreSuspend", "reason": "Completed", "softLockedSessionCount": 1.0,
		"provider": "mcp", "providerName": "n", "sessionId": "s", "startedAtUtc": when, "lastActivityAtUtc": when,
		"endedAtUtc": when, "endReason": "stop", "activeSessionCount": 3.0, "workingDirectory": "/w",
		"transcriptPath": "/t", "promptPreview": "p", "lastAssistantMessage": "m"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if contentType != "application/json" {
		t.Errorf("content type %q", contentType)
	}
}

func TestPost_failuresNameNoSecret(t *testing.T) {
	elsewhere := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/elsewhere":
			elsewhere++
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer srv.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, address := range map[string]string{
		"an error status":  srv.URL + "/x?token=secret",
		"a redirect":       srv.URL + "/moved?token=secret",
		"nobody listens":   closed.URL + "/?token=secret",
		"no address":       "http://[secret",
		"no such protocol": "ftp://127.0.0.1/?token=secret",
	} {
		err := Post(t.Context(), address, &Body{EventType: "PreSuspend", Reason: "Completed"})
		if err == nil {
			t.Errorf("%s: delivered, want an error", name)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %q carries the address", name, err)
		}
	}
	if elsewhere != 0 {
		t.Error("a redirect was followed")
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "suspend-history.json")
	if got, err := History(path); err != nil || len(got) != 0 {
		t.Fatalf("missing file: %v, %v, want an empty history", got, err)
	}
	for i := range 5 {
		if err := AddHistory(path, Suspend{Mode: "sleep", Reason: "Completed", Result: "slept", Sessions: i}, 3); err != nil {
			t.Fatal(err)
		}
	}
	got, err := History(path)
	if err != nil {
		t.Fatal(err)
	}
	var sessions []int
	for _, s := range got {
		sessions = append(sessions, s.Sessions)
	}
	if diff := cmp.Diff([]int{2, 3, 4}, sessions); diff != "" {
		t.Errorf("kept entries (-want +got):\n%s", diff)
	}
	if err := AddHistory(path, Suspend{}, 0); err != nil {
		t.Fatal(err)
	}
	if again, _ := History(path); len(again) != 3 {
		t.Errorf("history switched off: %d entries, want the 3 from before", len(again))
	}
	if err := os.WriteFile(path, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := History(path); err == nil {
		t.Error("a torn file was read without an error")
	}
	if err := AddHistory(path, Suspend{Sessions: 9}, 3); err != nil {
		t.Fatal(err)
	}
	if got, _ := History(path); len(got) != 1 || got[0].Sessions != 9 {
		t.Errorf("after a torn file: %v, want the new entry alone", got)
	}
}
