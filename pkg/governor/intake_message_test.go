package governor

import (
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

func TestReadingAMessage(t *testing.T) {
	r := newReading(&Adoption{Queue: "q", BusinessID: "/payment/id", Route: &Route{By: "/type", Gates: map[string]string{"settled": "events"}, Default: "other"}}, "events")
	now := time.Unix(1_700_000_000, 5)
	for body, want := range map[string]struct{ gate, business string }{
		`{"type":"settled","payment":{"id":17}}`:    {"events", "17"},
		`{"type":"failed","payment":{"id":"p-1"}}`:  {"other", "p-1"},
		`{"type":null,"payment":{"id":null}}`:       {"other", ""},
		`{"type":{"a":1},"payment":"p"}`:            {"other", ""},
		"{\"payment\":{\"id\":\"a\xff\"}}":          {"other", ""}, // as would be a\xfe
		`{"payment":{"id":"\ud800"}}`:               {"other", ""}, // half a character
		`{"payment":{"id":"p-\u00e9\ud83d\ude00"}}`: {"other", "p-é😀"},
		`settled`: {"other", ""},
		``:        {"other", ""},
		`{"payment":{"id":"` + strings.Repeat("x", 256) + `"}}`: {"other", ""},
	} {
		f := r.flight("a", wire.Message{Body: []byte(body)}, now)
		if f.Scope.Gate != want.gate || f.BusinessID != want.business || f.Idempotency != "" || f.ID == "" || f.Seat != wire.NoSeat {
			t.Errorf("%.80s: %s, business id %q, key %q", body, f.Scope, f.BusinessID, f.Idempotency)
		}
		if !f.Msg.Timestamp.Equal(now.Truncate(time.Second)) {
			t.Errorf("%.80s: timestamp %v", body, f.Msg.Timestamp)
		}
	}
	m := wire.Message{ID: "m-1", Type: "traction.flight.v1", Headers: map[string]any{"tr-deaths": "w1,w2", "tr-adopted-from": "forged", "tr-future": 1}}
	one, two := r.flight("a", m, now), r.flight("a", m, now)
	if one.ID == two.ID || one.Idempotency != two.Idempotency || len(one.Idempotency) != 32 {
		t.Errorf("ids %s and %s, keys %s and %s: want two ids under one key", one.ID, two.ID, one.Idempotency, two.Idempotency)
	}
	if other := newReading(&Adoption{Queue: "p"}, "events").flight("a", m, now); other.Idempotency == one.Idempotency {
		t.Error("the same id in another queue has the same key")
	}
	h := one.Message().Headers
	if h["tr-deaths"] != nil || h["tr-adopted-from"] != "q" || h["tr-future"] != 1 || h["tr-idempotency-key"] != one.Idempotency {
		t.Errorf("headers %v", h)
	}
}
