package httppilot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func three() []governor.Flight[[]byte] {
	var out []governor.Flight[[]byte]
	for i := range 3 {
		out = append(out, governor.Flight[[]byte]{
			Meta:    governor.Meta{ID: fmt.Sprintf("f%d", i), Key: fmt.Sprintf("k,%d", i), BusinessID: "b", Attempt: i + 1},
			Payload: fmt.Appendf(nil, `{"n":%d}`, i),
		})
	}
	return out
}

func TestABatchIsAnArray(t *testing.T) {
	var header http.Header
	var body string
	p := vendor(t, Spec{}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		header, body = r.Header, string(b)
	})
	if err := p.Batch().FlyBatch(t.Context(), three()); err != nil {
		t.Fatal(err)
	}
	if body != `[{"n":0},{"n":1},{"n":2}]` {
		t.Errorf("body %s", body)
	}
	if got := header.Get("Traction-Flights"); got != "k%2C0,k%2C1,k%2C2" {
		t.Errorf("Traction-Flights: %s", got)
	}
	key := header.Get("Idempotency-Key")
	if !strings.HasPrefix(key, "batch-") || header.Get("Traction-Flight") != "" || header.Get("Traction-Attempt") != "3" || header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", header)
	}
	if err := p.Batch().FlyBatch(t.Context(), three()); err != nil || header.Get("Idempotency-Key") != key {
		t.Errorf("again: %v, key %s, want %s as before", err, header.Get("Idempotency-Key"), key)
	}
	if err := p.Batch().FlyBatch(t.Context(), three()[1:]); err != nil || header.Get("Idempotency-Key") == key {
		t.Errorf("other flights have the key %s too", key)
	}
}

// What an answer says of each of three flights: an outcome, or "unreported".
func TestAnswersOfABatch(t *testing.T) {
	rules := Outcomes{Status: map[int]settle.Outcome{409: settle.Landed}}
	var code int
	var body string
	p := vendor(t, Spec{KeepStatus: rules.Keeps}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	})
	for _, c := range []struct {
		code int
		body string
		want string
	}{
		{200, ``, "all"},
		{200, `{"ok":true}`, "all"},
		{200, `[200,201,204]`, "LANDED LANDED LANDED"},
		{207, ` [200, {"status":422,"error":"no email"}, {"status": 503}]`, "LANDED FLIGHT_FAULT TRANSIENT"},
		{200, `[200]`, "LANDED unreported unreported"},
		{200, `[]`, "unreported unreported unreported"},
		{200, `[200,{"id":7},"ok"]`, "LANDED unreported unreported"},
		{200, `[200,409,401]`, "LANDED LANDED AIRPORT_FAULT"},
		{200, `[200,200,200,200]`, "unreported unreported unreported"},
		{200, `[200,200,`, "unreported unreported unreported"},
		{422, `[200,200,200]`, "whole FLIGHT_FAULT"},
		{503, ``, "whole TRANSIENT"},
	} {
		code, body = c.code, c.body
		err := p.Batch().FlyBatch(t.Context(), three())
		var got []string
		var each *governor.BatchError
		switch {
		case err == nil:
			got = []string{"all"}
		case !errors.As(err, &each):
			got = []string{"whole", rules.Report(context.Background(), governor.Meta{}, err).Outcome.String()}
		default:
			for _, f := range three() {
				err, ok := each.Flights[f.ID]
				if !ok {
					got = append(got, "unreported")
					continue
				}
				got = append(got, rules.Report(context.Background(), f.Meta, err).Outcome.String())
			}
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%d %s: %s, want %s", c.code, c.body, g, c.want)
		}
	}
}

func TestAPayloadThatWouldSpoilTheArray(t *testing.T) {
	b := Batch{}
	for body, ok := range map[string]bool{`{"a":1}`: true, `7`: true, `{"a":1`: false, ``: false, `1],[2`: false, `{} {}`: false} {
		if err := b.Check([]byte(body)); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// The evidence of what is left out says what was wrong with the answer.
func TestABadAnswerToABatchSaysWhy(t *testing.T) {
	var body string
	p := vendor(t, Spec{}, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
	for b, want := range map[string]string{
		`[200]`:                 "the answer has 1 items for a batch of 3",
		`[200,200,200,200]`:     "the answer has 4 items for a batch of 3",
		`[200,{"id":7},200]`:    `item 2 of the answer has no status: {"id":7}`,
		`[200,200,`:             "the answer begins like an array and is none",
		`[200,200,200] trailer`: "the answer begins like an array and is none",
	} {
		body = b
		var each *governor.BatchError
		if err := p.Batch().FlyBatch(t.Context(), three()); !errors.As(err, &each) || each.Rest == nil || !strings.Contains(each.Rest.Error(), want) {
			t.Errorf("%s: %v, want %q", b, each, want)
		}
	}
}
