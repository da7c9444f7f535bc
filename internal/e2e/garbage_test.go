//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// junk is one thing that should not be on a runway.
type junk struct {
	name string
	m    amqp.Publishing
	flew bool // as a plain payload; else it is parked as MALFORMED
}

func allJunk() []junk {
	const id = "0198c5a0-0000-7000-8000-0000000000%02d"
	n := 0
	flight := func(h amqp.Table, body string) amqp.Publishing {
		n++
		return amqp.Publishing{MessageId: fmt.Sprintf(id, n), Type: wire.FlightType, Headers: h, Body: []byte(body)}
	}
	named := flight(nil, "without a message id")
	named.MessageId = ""
	odd := flight(nil, "with an id of control characters")
	odd.MessageId = "a\x1b[2Jb\nc"
	return []junk{
		{"text", amqp.Publishing{Body: []byte("just text")}, true},
		{"empty", amqp.Publishing{}, true},
		{"binary", amqp.Publishing{Body: []byte("\x00\xff\xfe\x1b[31m\x80")}, true},
		{"forged", amqp.Publishing{Headers: amqp.Table{wire.HeaderScope: "crm:acme/other", wire.HeaderHolds: "transient=99", wire.HeaderSeat: int64(3)}, Body: []byte("plain, with forged headers")}, true},
		{"expiring", amqp.Publishing{Type: "theirs.v2", MessageId: strings.Repeat("m", 255), Headers: amqp.Table{"CC": []any{"nobody"}, "x-death": "none"}, Body: []byte("plain, with properties that bite")}, true},
		{"large", amqp.Publishing{Body: bytes.Repeat([]byte("x"), 5<<20)}, false},
		{"unnamed", named, false},
		{"odd id", odd, false},
		{"unknown gate", flight(amqp.Table{wire.HeaderScope: "crm:acme/nowhere"}, "for another gate"), false},
		{"scope of a wrong type", flight(amqp.Table{wire.HeaderScope: int32(7)}, "scope 7"), false},
		{"business id of a wrong type", flight(amqp.Table{wire.HeaderBusinessID: amqp.Table{"a": int32(1)}}, "a table"), false},
		{"seat without charter", flight(amqp.Table{wire.HeaderSeat: "x"}, "seat x"), false},
		{"unreadable holds", flight(amqp.Table{wire.HeaderHolds: "transient=99999999999999999999"}, "holds"), false},
		{"holds of a wrong type", flight(amqp.Table{wire.HeaderHolds: true}, "holds true"), false},
		{"invalid text", flight(amqp.Table{wire.HeaderBusinessID: "\xff\xfe\x1b]0;x\x07"}, "invalid UTF-8"), false},
		{"void replays", flight(amqp.Table{wire.HeaderReplays: nil}, "void"), false},
		{"bare flight", flight(nil, "a flight with nothing but its id"), true},
	}
}

func TestGarbageOnARunwayIsFlownOrParkedAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	// An accepted call has no business id here: it is known by its body.
	ws := s.start(2, s.config("traction.yaml", `
  crm:acme:
    streaks: {record_fault: 1000}
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
`))
	conn, err := amqp.Dial(s.amqp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	list := allJunk()
	want := map[string]bool{} // bodies of what flies
	parks := 0
	for _, j := range list {
		if err := ch.PublishWithContext(t.Context(), s.ns+".runway", contacts, true, false, j.m); err != nil {
			t.Fatalf("%s: %v", j.name, err)
		}
		if j.flew {
			want[string(j.m.Body)] = true
		} else {
			parks++
		}
	}
	s.until("all garbage to be dealt with", func() bool {
		a := s.look()
		return a.Parked == parks && s.vendor.count() >= len(want) && a.Runway == 0 && a.InAir == 0
	})
	// It did no harm: what is well formed flies, in workers that live.
	s.dispatch(contacts, "c", 0, 50)
	s.until("50 landings", func() bool { return len(s.vendor.landed()) == 51 }) // and those without an id
	s.stays("no loop", time.Second, func() bool { a := s.look(); return a.Parked == parks && s.vendor.count() == len(want)+50 })
	flew := map[string]int{}
	for _, c := range s.vendor.all() {
		if c.business == "" {
			flew[string(c.body)]++
			if c.key == "" {
				t.Errorf("%.40q flew without an idempotency key", c.body)
			}
		}
	}
	for _, j := range list {
		if n := flew[string(j.m.Body)]; j.flew && n != 1 || !j.flew && n != 0 {
			t.Errorf("%s: flew %d times, byte for byte; want that it flies: %v", j.name, n, j.flew)
		}
	}
	for _, w := range ws {
		if w.gone() {
			t.Errorf("garbage ended a worker: %v", w.stat)
		}
	}
	if a := s.look(); a.State != governor.OpenState || a.Gates[0].State != governor.OpenState {
		t.Errorf("garbage stopped %s %s, %+v", a.State, a.Reason, a.Gates)
	}
	s.hook.tells(t, 1, wire.Parking)
	s.do("parked", "list", airport) // reads all of it
	for _, w := range ws {
		w.term()
		w.exits()
	}
	// The parked copies still hold every byte that came.
	var left []amqp.Delivery
	for {
		d, some, err := ch.Get(wire.Namespace(s.ns).Parked(wire.Scope{Airport: "crm:acme", Gate: "contacts"}), true)
		if err != nil || !some {
			break
		}
		left = append(left, d)
	}
	for _, j := range list {
		if j.flew {
			continue
		}
		found := 0
		for _, d := range left {
			if bytes.Equal(d.Body, j.m.Body) {
				found++
				if d.Headers[wire.HeaderParkedReason] != "MALFORMED" || d.Headers[wire.HeaderEvidence] == "" {
					t.Errorf("%s is parked with the headers %v", j.name, d.Headers)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s is parked %d times, byte for byte; want once", j.name, found)
		}
	}
	s.hook.once(t, wire.Parking, 1)
}
