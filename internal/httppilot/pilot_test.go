package httppilot

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vendor starts a server and a pilot that calls it.
func vendor(t *testing.T, spec Spec, h http.HandlerFunc) *Pilot {
	t.Helper()
	srv := httptest.NewServer(h)
	spec.URL = srv.URL + spec.URL
	p, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); srv.Close() })
	return p
}

func flight() governor.Flight[[]byte] {
	return governor.Flight[[]byte]{
		Meta: governor.Meta{
			ID: "0190-f1", Key: "0190-f1-2", BusinessID: "contact 7", Attempt: 3,
			Deadline: time.Date(2026, 5, 4, 3, 2, 1, 500e6, time.FixedZone("", 3600)),
		},
		Payload: []byte("{\"a\":\x00\xff"),
	}
}

func text(t *testing.T, s string) *expand.Text {
	t.Helper()
	v, err := expand.Parse(s, expand.Source{Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheRequest(t *testing.T) {
	var got *http.Request
	var body []byte
	p := vendor(t, Spec{Method: "PUT", URL: "/contacts?x=1", Headers: []Header{
		{"X-Tenant", text(t, "acme")}, {"Host", text(t, "crm.example")}, {"content-type", text(t, "application/cbor")},
	}}, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(204)
	})
	f := flight()
	if err := p.Fly(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if got.Method != "PUT" || got.URL.String() != "/contacts?x=1" || got.Host != "crm.example" || string(body) != string(f.Payload) {
		t.Errorf("%s %s %s %q", got.Method, got.URL, got.Host, body)
	}
	for name, want := range map[string]string{
		"Idempotency-Key": "0190-f1-2", "Traction-Flight": "0190-f1", "Traction-Business-Id": "contact 7",
		"Traction-Attempt": "3", "Traction-Deadline": "2026-05-04T02:02:01.500Z", "X-Tenant": "acme",
		"Content-Type": "application/cbor",
	} {
		if v := got.Header.Get(name); v != want {
			t.Errorf("%s: %q, want %q", name, v, want)
		}
	}
}

func TestBusinessIDsOfAnyKindTravel(t *testing.T) {
	var got string
	p := vendor(t, Spec{}, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Traction-Business-Id") })
	for id, want := range map[string]string{
		"contact-7": "contact-7", "a b": "a b", "100%": "100%25", " x ": "%20x%20",
		"a\nb\x1b[2J": "a%0Ab%1B[2J", "ü\u202e": "%C3%BC%E2%80%AE",
	} {
		f := flight()
		f.BusinessID = id
		if err := p.Fly(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		back, err := url.PathUnescape(got)
		if got != want || err != nil || back != id {
			t.Errorf("%q travelled as %q, which reads %q; want %q", id, got, back, want)
		}
	}
}

func TestOutcomeOfEveryStatus(t *testing.T) {
	var code int
	var after string
	p := vendor(t, Spec{}, func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		io.WriteString(w, "why")
	})
	for _, c := range []struct {
		code  int
		after string
		want  settle.Outcome
		d     time.Duration
	}{
		{200, "", settle.Landed, 0}, {204, "", settle.Landed, 0}, {302, "", settle.GateFault, 0},
		{400, "", settle.FlightFault, 0}, {401, "", settle.AirportFault, 0}, {403, "", settle.GateFault, 0},
		{429, "", settle.RateLimit, 0}, {429, "7", settle.RateLimit, 7 * time.Second},
		{429, "-3", settle.RateLimit, 0}, {429, "soon", settle.RateLimit, 0},
		{503, "", settle.Transient, 0}, {503, "7", settle.RateLimit, 7 * time.Second},
		{503, "Mon, 02 Jan 2006 15:04:05 GMT", settle.Transient, 0},
		{500, "", settle.Transient, 0}, {418, "", settle.Internal, 0},
	} {
		code, after = c.code, c.after
		r := Outcomes{}.Report(t.Context(), governor.Meta{}, p.Fly(t.Context(), flight()))
		if r.Outcome != c.want || r.After != c.d {
			t.Errorf("%d %q: %v after %v, want %v after %v", c.code, c.after, r.Outcome, r.After, c.want, c.d)
		}
	}
}

func TestTransportErrorsAreTransientAndHideTheURL(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	p, err := New(Spec{URL: "http://user:hunter2@" + addr + "/T00/secretpath?key=abcd"})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Fly(t.Context(), flight())
	if want := "POST " + addr + ": dial tcp " + addr + ": connect: connection refused"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if r := (Outcomes{}).Report(t.Context(), governor.Meta{}, err); r.Outcome != settle.Transient {
		t.Errorf("%v, want TRANSIENT", r.Outcome)
	}
}

func TestACallThatOutlivesItsTimeout(t *testing.T) {
	release := make(chan struct{})
	p := vendor(t, Spec{}, func(_ http.ResponseWriter, r *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := p.Fly(ctx, flight())
	if err == nil || !strings.HasSuffix(err.Error(), ": no answer within the gate's timeout") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if r := (Outcomes{}).Report(ctx, governor.Meta{}, err); r.Outcome != settle.Transient {
		t.Errorf("%v, want TRANSIENT", r.Outcome)
	}
}

func TestAnAnswerCutShortIsTransient(t *testing.T) {
	p := vendor(t, Spec{}, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			c.Close()
		}
	})
	r := Outcomes{}.Report(t.Context(), governor.Meta{}, p.Fly(t.Context(), flight()))
	if r.Outcome != settle.Transient {
		t.Errorf("%v, want TRANSIENT", r)
	}
}

func TestARotatedSecretIsSentAndNeverShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	token := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token("first-token")
	p := vendor(t, Spec{Headers: []Header{{"X-Acme", text(t, "Key ${file:"+path+"}")}, {"X-Api-Key", text(t, "literal-key")}}},
		func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(401)
			io.WriteString(w, "bad: "+r.Header.Get("X-Acme")+", "+r.Header.Get("X-Api-Key"))
		})
	for _, s := range []string{"first-token", "second-token-that-is-longer"} {
		token(s)
		err := p.Fly(t.Context(), flight())
		if want := "401 bad: Key [masked], [masked]"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestHugeAndHostileAnswersAreBounded(t *testing.T) {
	p := vendor(t, Spec{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		io.WriteString(w, "\x1b[2J"+strings.Repeat("x", 1<<20))
	})
	err := p.Fly(t.Context(), flight())
	var a *Answer
	if !errors.As(err, &a) || len(a.Status.Body) > 1024 || len(a.body) > maxAnswer || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("kept %d of %d bytes: %.40q", len(a.Status.Body), len(a.body), err)
	}
}

func TestConnectionsAreKeptForEveryWorker(t *testing.T) {
	var mu sync.Mutex
	opened := 0
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, strings.Repeat("y", 32<<10))
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			mu.Lock()
			opened++
			mu.Unlock()
		}
	}
	srv.Start()
	defer srv.Close()
	p, err := New(Spec{URL: srv.URL, Workers: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := p.Fly(t.Context(), flight()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	// A call may begin while the connection of the one before is still on its way back.
	if opened > 2*8 {
		t.Errorf("%d connections for 160 calls of 8 workers: idle ones were not reused", opened)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "is no URL that can be called: want http://host/path or https://host/path"},
		{Spec{URL: "ftp://x/y"}, "is no URL that can be called: want http://host/path or https://host/path"},
		{Spec{URL: "http://u:pass word@x"}, "is no URL that can be called: want http://host/path or https://host/path"},
		{Spec{URL: "http://x", Method: "SEND"}, `"SEND": want POST, PUT, PATCH, DELETE or GET`},
		{Spec{URL: "http://x", Headers: []Header{{Name: "traction-attempt"}}}, "Traction-Attempt is set by the worker itself"},
		{Spec{URL: "http://x", Headers: []Header{{Name: "A B"}}}, `"A B" is no header name`},
	} {
		if _, err := New(c.spec); err == nil || err.Error() != c.want {
			t.Errorf("New(%+v): %v, want %s", c.spec, err, c.want)
		}
	}
}
