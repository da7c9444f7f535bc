package httppilot

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func pointer(t *testing.T, s string) jsonptr.Pointer {
	t.Helper()
	p, err := jsonptr.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRulesStandOverTheDefaults(t *testing.T) {
	rules := Outcomes{
		Body: []BodyRule{
			{pointer(t, "/error"), "invalid_grant", settle.AirportFault},
			{pointer(t, "/errors/0/code"), json.Number("7"), settle.FlightFault},
			{pointer(t, "/ok"), false, settle.GateFault},
			{pointer(t, "/slow"), true, settle.RateLimit},
		},
		Status: map[int]settle.Outcome{404: settle.FlightFault, 202: settle.Transient, 409: settle.Landed},
	}
	var code int
	var body string
	p := vendor(t, Spec{KeepBody: true, KeepStatus: rules.Keeps}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(code)
		io.WriteString(w, body)
	})
	for _, c := range []struct {
		code int
		body string
		want settle.Outcome
	}{
		{200, `{}`, settle.Landed},
		{200, `not json`, settle.Landed},
		{200, `{"error":"invalid_grant"}`, settle.AirportFault},
		{400, `{"error":"invalid_grant"}`, settle.AirportFault},
		{404, `{"error":"invalid_grant"} tail`, settle.FlightFault},
		{400, `{"errors":[{"code":7.0}]}`, settle.FlightFault},
		{200, `{"ok":false,"error":"other"}`, settle.GateFault},
		{200, `{"ok":null}`, settle.Landed},
		{200, `{"slow":true}`, settle.RateLimit},
		{404, `{}`, settle.FlightFault},
		{403, `{}`, settle.GateFault},
		{202, ``, settle.Transient},
		{409, `{}`, settle.Landed},
	} {
		code, body = c.code, c.body
		r := rules.Report(t.Context(), governor.Meta{}, p.Fly(t.Context(), flight()))
		if r.Outcome != c.want {
			t.Errorf("%d %s: %v, want %v", c.code, c.body, r.Outcome, c.want)
		}
		if r.Outcome == settle.RateLimit && r.After != 9*time.Second {
			t.Errorf("after %v, want 9s", r.After)
		}
		if (r.Err == nil) != (r.Outcome == settle.Landed) {
			t.Errorf("%d %s: evidence %v", c.code, c.body, r.Err)
		}
	}
}

func TestAStatusRuleForASuccessNeedsNoBodyRule(t *testing.T) {
	rules := Outcomes{Status: map[int]settle.Outcome{202: settle.Transient}}
	p := vendor(t, Spec{KeepStatus: rules.Keeps}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) })
	if r := rules.Report(t.Context(), governor.Meta{}, p.Fly(t.Context(), flight())); r.Outcome != settle.Transient {
		t.Errorf("%v, want TRANSIENT", r.Outcome)
	}
}

func TestWhatIsNoAnswerIsReadByTheDefaults(t *testing.T) {
	r := Outcomes{}.Report(t.Context(), governor.Meta{}, errors.New("boom"))
	if r.Outcome != settle.Internal {
		t.Errorf("%v, want INTERNAL", r.Outcome)
	}
	if r := (Outcomes{}).Report(t.Context(), governor.Meta{}, nil); r.Outcome != settle.Landed {
		t.Errorf("%v, want LANDED", r.Outcome)
	}
}

func TestPointer(t *testing.T) {
	doc, ok := jsonptr.Decode([]byte(`{"a":{"b/c":[1,{"~":"x"}]},"":"empty","n":null}`))
	if !ok {
		t.Fatal("not decoded")
	}
	for _, c := range []struct {
		p    string
		want any
		ok   bool
	}{
		{"/a/b~1c/0", json.Number("1"), true}, {"/a/b~1c/1/~0", "x", true}, {"/", "empty", true}, {"/n", nil, true},
		{"/a/b~1c/2", nil, false}, {"/a/b~1c/01", nil, false}, {"/a/b~1c/-", nil, false}, {"/n/x", nil, false}, {"/gone", nil, false},
	} {
		if got, ok := pointer(t, c.p).Find(doc); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v, want %v, %v", c.p, got, ok, c.want, c.ok)
		}
	}
	for _, bad := range []string{"error", "/a~2", "/~"} {
		if _, err := jsonptr.Parse(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		after, date string
		want        time.Duration
	}{
		{"", "", 0}, {"0", "", 0}, {"120", "", 2 * time.Minute}, {" 5 ", "", 5 * time.Second},
		{"31536000", "", 365 * 24 * time.Hour}, {"99999999999999999999", "", maxAfter},
		{"-1", "", 0}, {"1.5", "", 0}, {"soon", "", 0},
		{date(time.Minute), "", time.Minute}, {date(-time.Hour), "", 0}, {date(10 * 365 * 24 * time.Hour), "", maxAfter},
		{date(time.Minute), date(30 * time.Second), 30 * time.Second}, // their clock, not ours
	} {
		h := http.Header{"Retry-After": {c.after}, "Date": {c.date}}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q at %q: %v, want %v", c.after, c.date, got, c.want)
		}
	}
}
