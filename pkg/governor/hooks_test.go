package governor

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func stopNotice() Notification {
	n := Notification{
		Key: "crm:acme@7-ab12/GROUND_STOP", Type: "GROUND_STOP", Scope: "crm:acme", Reason: "AIRPORT_FAULT",
		Evidence: "401 token \x1b[2Jexpired", Incident: "crm:acme@7-ab12", Records: []string{"c-1"},
		Workers: []string{"pod-a", "pod-b"}, Waiting: 120, Since: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600)),
		Runbook: "https://wiki.example/crm",
	}
	describe(&n)
	return n
}

func TestLogHookWritesOneLine(t *testing.T) {
	var out bytes.Buffer
	hook := LogHook(slog.New(slog.NewTextHandler(&out, nil)))
	if err := hook.Notify(t.Context(), stopNotice()); err != nil {
		t.Fatal(err)
	}
	const want = `level=WARN msg=traction.notify type=GROUND_STOP scope=crm:acme reason=AIRPORT_FAULT incident=crm:acme@7-ab12 evidence="401 token \\x1b[2Jexpired"` + "\n"
	if _, got, _ := strings.Cut(out.String(), " "); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestWebhookBody(t *testing.T) {
	var body map[string]any
	var header http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(204)
	}))
	defer srv.Close()
	hook := Webhook(srv.URL+"/hook", WebhookHeader("Authorization", "Bearer x"))
	n := stopNotice()
	if err := hook.Notify(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if header.Get("Idempotency-Key") != n.Key || header.Get("Content-Type") != "application/json" || header.Get("Authorization") != "Bearer x" {
		t.Errorf("headers %v", header)
	}
	got, _ := json.Marshal(body)
	const want = `{"actor":"","evidence":"401 token \\x1b[2Jexpired","id":"crm:acme@7-ab12/GROUND_STOP","incident":"crm:acme@7-ab12",` +
		`"next":["tractionctl airport show crm:acme","tractionctl airport reopen crm:acme"],"observed":false,"parked":0,"reason":"AIRPORT_FAULT",` +
		`"records":["c-1"],"runbook":"https://wiki.example/crm","scope":"crm:acme","since":"2026-01-02T03:04:05Z",` +
		`"text":"crm:acme is stopped by AIRPORT_FAULT (401 token \\x1b[2Jexpired); nothing is lost, 120 flights wait; ` +
		`repair the connection (credential, account, endpoint), then reopen: tractionctl airport reopen crm:acme",` +
		`"type":"GROUND_STOP","waiting":120,"workers":["pod-a","pod-b"]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	// What is not there is an empty list or null, never missing.
	if err := hook.Notify(t.Context(), Notification{Key: "k", Type: "TEST", Waiting: Unread, Parked: Unread}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"records": "[]", "workers": "[]", "next": "[]", "waiting": "null", "parked": "null", "since": "null"} {
		if got, _ := json.Marshal(body[name]); string(got) != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestWebhookIsTakenByA2xxAlone(t *testing.T) {
	code := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		io.WriteString(w, "because token=abc\n")
	}))
	defer srv.Close()
	hook := Webhook(srv.URL + "/services/T00/secretpath?key=hunter2")
	for code = range map[int]bool{200: true, 204: true, 302: true, 400: true, 500: true} {
		err := hook.Notify(t.Context(), stopNotice())
		if ok := code < 300; (err == nil) != ok {
			t.Errorf("%d: %v", code, err)
		}
		if err == nil {
			continue
		}
		for _, leak := range []string{"secretpath", "hunter2", "abc"} {
			if strings.Contains(err.Error(), leak) {
				t.Errorf("%d: %v shows %s", code, err, leak)
			}
		}
		if code == 500 {
			want := "webhook " + srv.URL + `/...: answered 500 because token=[masked]\n; it is sent again until it answers 2xx`
			if err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
	}
}

func TestWebhookErrorsHideTheURL(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	for _, url := range []string{srv.URL + "/secretpath", "http://u:secretpath@\x7f", "secretpath"} {
		err := Webhook(url).Notify(t.Context(), stopNotice())
		if err == nil || strings.Contains(err.Error(), "secretpath") {
			t.Errorf("%v", err)
		}
	}
}
