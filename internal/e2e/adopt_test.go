//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/pkg/governor"
)

// adopting is an airport with a gate that takes over the queue QUEUE.
const adopting = `
  crm:acme:
    slots: 400/1s
    gates:
      contacts: {workers: 4, timeout: 20s, adopt: {queue: QUEUE, business_id: /id}, http: {url: "VENDOR/contacts", TOKEN}}
`

// owned is a queue of the team's own, from before Traction.
type owned struct {
	s    *site
	ch   *amqp.Channel
	name string
}

func (s *site) owned(args amqp.Table) *owned {
	s.t.Helper()
	conn, err := amqp.Dial(s.amqp)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		s.t.Fatal(err)
	}
	q := &owned{s, ch, "owned." + s.ns}
	if _, err := ch.QueueDeclare(q.name, true, false, false, false, args); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _, _ = ch.QueueDelete(q.name, false, false, false) })
	return q
}

// fill publishes messages n to m-1, each with an id and a type of its own.
func (q *owned) fill(n, m int) {
	q.s.t.Helper()
	if err := q.ch.Confirm(false); err != nil {
		q.s.t.Fatal(err)
	}
	acks := q.ch.NotifyPublish(make(chan amqp.Confirmation, m-n))
	for i := n; i < m; i++ {
		id := fmt.Sprintf("a%d", i)
		q.s.sent[id] = true
		if err := q.ch.PublishWithContext(q.s.t.Context(), "", q.name, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent,
			MessageId: "m-" + id, Type: "contact.changed", ContentType: "application/json", Headers: amqp.Table{"source": id}, Body: fmt.Appendf(nil, `{"id":%q}`, id)}); err != nil {
			q.s.t.Fatal(err)
		}
	}
	for range m - n {
		if c := <-acks; !c.Ack {
			q.s.t.Fatal("the broker refused a message")
		}
	}
}

// state is what waits in the queue, and who consumes it.
func (q *owned) state() amqp.Queue {
	q.s.t.Helper()
	got, err := q.ch.QueueDeclarePassive(q.name, true, false, false, false, nil)
	if err != nil {
		q.s.t.Fatal(err)
	}
	return got
}

// consume is the old consumer: it takes n messages, checks that they are as they
// were sent, and gives their ids.
func (q *owned) consume(n int) map[string]bool {
	q.s.t.Helper()
	in, err := q.ch.Consume(q.name, "old", false, false, false, false, nil)
	if err != nil {
		q.s.t.Fatal(err)
	}
	ids := map[string]bool{}
	timeout := time.NewTimer(long)
	defer timeout.Stop()
	for range n {
		select {
		case d := <-in:
			id, _ := d.Headers["source"].(string)
			if d.MessageId != "m-"+id || d.Type != "contact.changed" || string(d.Body) != fmt.Sprintf(`{"id":%q}`, id) || len(d.Headers) > 2 {
				q.s.t.Errorf("the old consumer gets another message than was sent: id %q, type %q, headers %v, body %s", d.MessageId, d.Type, d.Headers, d.Body)
			}
			ids[id] = true
			if err := d.Ack(false); err != nil {
				q.s.t.Fatal(err)
			}
		case <-timeout.C:
			q.s.t.Fatalf("the old consumer got %d messages of %d", len(ids), n)
		}
	}
	if err := q.ch.Cancel("old", false); err != nil {
		q.s.t.Fatal(err)
	}
	return ids
}

func (q *owned) adopt() string { return strings.Replace(adopting, "QUEUE", q.name, 1) }

// Workers are killed in the middle of taking over a queue. What they had in hand is
// taken over again, and what a kill moved twice is one to its vendor.
func TestAKillWhileTakingOverLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	q := s.owned(nil)
	const total = 1500
	q.fill(0, total)
	file := s.config("traction.yaml", q.adopt())
	ws := s.start(2, file)
	for i := range 3 {
		s.vendor.lands(t, 200*(i+1))
		ws[0].kill()
		ws = append(ws[1:], s.start(1, file)...)
	}
	s.vendor.lands(t, total)
	s.until("everything to be taken over and settled", func() bool {
		a := s.look()
		return q.state().Messages == 0 && a.Runway == 0 && a.InAir == 0 && a.Holding == 0
	})
	keys := map[string]string{}
	for _, c := range s.vendor.all() {
		if had, ok := keys[c.business]; ok && had != c.key {
			t.Errorf("%s was called under the keys %s and %s", c.business, had, c.key)
		}
		keys[c.business] = c.key
	}
	if b := s.close(false); len(b.landed) != total {
		t.Errorf("%d landed, want %d", len(b.landed), total)
	}
}

// The way back: the airport is stopped, its backlog is still in the old queue, what
// was on the short runway is moved back, and the old consumer takes all of it.
func TestTheOldConsumerTakesOverAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	q := s.owned(amqp.Table{"x-max-priority": int32(3)})
	const total = 600
	q.fill(0, total)
	s.token(deadToken)
	s.vendor.saying(func(c call) answer {
		if c.nth == 1 && s.vendor.count() <= 100 {
			return ok
		}
		return dead(c)
	})
	ws := s.start(1, s.config("traction.yaml", strings.Replace(q.adopt(), "400/1s", "40/1s", 1)))
	s.becomes(governor.Stopped)
	s.until("nobody to consume the old queue", func() bool { return q.state().Consumers == 0 })
	ws[0].term()
	ws[0].exits()
	landed := s.vendor.landed()
	if len(landed) == 0 || len(landed) > 110 {
		t.Errorf("%d landed before the stop", len(landed))
	}
	waiting := q.state().Messages
	s.until("the workers to count as gone", func() bool {
		_, _, code := s.ctl("", "gate", "remove", contacts, "--confirm", contacts, "--to", q.name)
		return code == 0
	})
	left := q.state().Messages
	if left != total-len(landed) {
		t.Errorf("%d in the old queue, %d of them never moved; want %d: all but what landed", left, waiting, total-len(landed))
	}
	for id := range q.consume(left) {
		if landed[id] > 0 {
			t.Errorf("%s landed and is back", id)
		}
	}
}
