package governor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// foreign is a queue of somebody else's on the real broker, and a client of it.
type foreign struct {
	t    testing.TB
	ch   *amqp.Channel
	name string
	args amqp.Table
	acks <-chan amqp.Confirmation
	mu   sync.Mutex
}

// adoptable declares a queue the way its owner does.
func adoptable(t testing.TB, url, name string, args amqp.Table) *foreign {
	t.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	q := &foreign{t: t, ch: ch, name: name, args: args}
	q.declare()
	t.Cleanup(func() { _, _ = ch.QueueDelete(name, false, false, false) })
	return q
}

// declare fails the test where the queue's arguments are no longer what they were.
func (q *foreign) declare() {
	q.t.Helper()
	if _, err := q.ch.QueueDeclare(q.name, true, false, false, false, q.args); err != nil {
		q.t.Fatal(err)
	}
}

// depth is what waits in the queue, ready.
func (q *foreign) depth() int {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	got, err := q.ch.QueueDeclarePassive(q.name, true, false, false, false, nil)
	if err != nil {
		q.t.Fatal(err)
	}
	return got.Messages
}

// publish sends messages n to m-1 and waits until the broker has them.
func (q *foreign) publish(n, m int, message func(i int) amqp.Publishing) {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.acks == nil {
		if err := q.ch.Confirm(false); err != nil {
			q.t.Fatal(err)
		}
		q.acks = q.ch.NotifyPublish(make(chan amqp.Confirmation, 100_000))
	}
	for i := n; i < m; i++ {
		p := message(i)
		p.DeliveryMode = amqp.Persistent
		if err := q.ch.PublishWithContext(q.t.Context(), "", q.name, false, false, p); err != nil {
			q.t.Fatal(err)
		}
	}
	late := time.After(patience)
	for range m - n {
		select {
		case c := <-q.acks:
			if !c.Ack {
				q.t.Fatal("the broker refused a message, or its connection was lost")
			}
		case <-late:
			q.t.Fatal("the broker confirmed nothing for long")
		}
	}
}

func numbered(i int) amqp.Publishing {
	return amqp.Publishing{ContentType: "application/json", Body: fmt.Appendf(nil, `{"payment":{"id":"p%d"}}`, i)}
}

// payments is an airport with one gate that adopts a queue.
func payments(queue string, p governor.Pilot) governor.Airport {
	return governor.Airport{ID: "bank:acme", Reporter: report, Gates: []governor.Gate{
		{ID: "payments", Pilot: p, Adopt: &governor.Adoption{Queue: queue, BusinessID: "/payment/id"}},
	}}
}

// onReal runs on the real services alone: an adopted queue is a thing of theirs.
func onReal(t *testing.T) *fleet {
	t.Parallel()
	testsvc.Need(t)
	f := &fleet{t: t, cfg: governor.Config{AMQP: testsvc.SharedRabbitMQ(t), Redis: testsvc.SharedRedis(t), Namespace: testsvc.Namespace(t),
		Heartbeat: beat, Logger: logger()}}
	f.open = func() *governor.Governor {
		g, err := governor.Open(t.Context(), f.cfg)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	return f
}

func (f *fleet) queue(args amqp.Table) *foreign {
	return adoptable(f.t, f.cfg.AMQP, "foreign."+f.cfg.Namespace, args)
}

// A gate that an operator leaves without workers leaves its adopted queue alone, also
// where the intake was waiting for messages.
func TestAGateWithoutWorkersLeavesTheBacklog(t *testing.T) {
	f := onReal(t)
	q := f.queue(amqp.Table{"x-queue-type": "quorum"})
	q.publish(0, 100, numbered)
	v := newVendor()
	g, _ := f.run(payments(q.name, v))
	testsvc.Until(t, patience, "100 landings", func() bool { n, _ := v.count(); return n == 100 })
	scale := func(o governor.ScaleOptions) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if r, err := g.Scale(ctx, "bank:acme/payments", o); err != nil || len(r.Unseen) > 0 {
			t.Fatalf("%v %+v", err, r)
		}
	}
	scale(governor.ScaleOptions{Workers: ptr(0)})
	testsvc.Until(t, patience, "no consumer on the queue", func() bool { return q.consumers() == 0 })
	q.publish(100, 400, numbered)
	testsvc.Until(t, patience, "all 300 in the queue", func() bool { return q.depth() == 300 })
	<-time.After(1500 * time.Millisecond) // several looks of the intake
	if n := q.depth(); n != 300 || q.consumers() != 0 {
		t.Errorf("%d left in the queue with %d consumers, want 300 and none", n, q.consumers())
	}
	if gate, err := g.Gate(t.Context(), "bank:acme/payments"); err != nil || gate.Reason != governor.ReasonNoWorkers {
		t.Errorf("the gate says %q, %v", gate.Reason, err)
	}
	scale(governor.ScaleOptions{Reset: true})
	testsvc.Until(t, patience, "the rest", func() bool { n, _ := v.count(); return n == 400 })
}

// Everything of an adopted queue lands once, and a queue is left as it was found.
func TestAdoptsAQueue(t *testing.T) {
	f := onReal(t)
	q := f.queue(amqp.Table{"x-queue-type": "quorum"})
	q.publish(0, 2000, numbered)
	v := newVendor()
	_, stop := f.run(payments(q.name, v))
	testsvc.Until(t, patience, "2,000 landings", func() bool { n, _ := v.count(); return n == 2000 })
	// It goes on with what comes later.
	q.publish(2000, 2010, numbered)
	testsvc.Until(t, patience, "ten more", func() bool { n, _ := v.count(); return n == 2010 })
	stop()
	if n, total := v.count(); n != 2010 || total != 2010 {
		t.Fatalf("landed %d payments in %d calls, want 2010 in 2010", n, total)
	}
	if n := q.depth(); n != 0 {
		t.Errorf("%d are left", n)
	}
	q.declare()
}

// While the gate or its airport is stopped, the backlog stays where it was, but for
// what was on the short runway.
func TestAStoppedGateLeavesTheBacklog(t *testing.T) {
	f := onReal(t)
	q := f.queue(nil)
	q.publish(0, 5000, numbered)
	v := newVendor()
	v.fail(errAuth)
	g, stop := f.run(payments(q.name, v))
	testsvc.Until(t, patience, "the stop", func() bool { return f.state(g, "bank:acme").State == governor.Stopped })
	testsvc.Until(t, patience, "the intake to stand", func() bool { return q.consumers() == 0 })
	// What it had in hand goes back a little later.
	left, since := q.depth(), time.Now()
	testsvc.Until(t, patience, "everything to be back", func() bool {
		if n := q.depth(); n != left {
			left, since = n, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
	if left < 4500 {
		t.Fatalf("%d of 5,000 are left in the adopted queue: the rest was taken for a short runway", left)
	}
	info, err := g.Gate(t.Context(), "bank:acme/payments")
	if err != nil {
		t.Fatal(err)
	}
	if info.Parked != 0 {
		t.Errorf("%d are parked: an adopted gate's flights stay", info.Parked)
	}
	// Whatever wakes it, and were the runway empty, nothing is taken.
	q.mu.Lock()
	purged, err := q.ch.QueuePurge(f.cfg.Namespace+".bank:acme/payments.runway", false)
	q.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	q.publish(5000, 5010, numbered)
	steady := time.Now().Add(2 * time.Second)
	testsvc.Until(t, patience, "two seconds", func() bool {
		if n := q.depth(); n != left+10 {
			t.Fatalf("%d in the adopted queue, want %d: it was taken from under a stop", n, left+10)
		}
		return time.Now().After(steady)
	})
	v.mend()
	r, err := g.Reopen(t.Context(), "bank:acme", governor.ReopenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Adopted != left+10 {
		t.Errorf("the reopen says that %d wait in the adopted queue, want %d", r.Adopted, left+10)
	}
	testsvc.Until(t, patience, "all landings", func() bool { n, _ := v.count(); return n == 5010-purged })
	stop()
}

func (q *foreign) consumers() int {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	got, err := q.ch.QueueDeclarePassive(q.name, true, false, false, false, nil)
	if err != nil {
		q.t.Fatal(err)
	}
	return got.Consumers
}

// The first flights of a rollout: no more are moved than are flown.
func TestFirstFlightsOfAnAdoptedQueue(t *testing.T) {
	f := onReal(t)
	q := f.queue(nil)
	q.publish(0, 1000, numbered)
	f.cfg.MaxFlights = 150
	v := newVendor()
	g := f.governor()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := g.Run(ctx, payments(q.name, v)); err != nil {
		t.Fatal(err)
	}
	if n, _ := v.count(); n != 150 {
		t.Errorf("%d landed, want 150", n)
	}
	testsvc.Until(t, patience, "850 left", func() bool { return q.depth() == 850 })
	testsvc.Until(t, patience, "an empty runway", func() bool {
		n, err := g.Gate(t.Context(), "bank:acme/payments")
		return err == nil && n.Runway == 0
	})
}

// Two messages that are the same are two: no two flights have one id.
func TestEqualMessagesBothLand(t *testing.T) {
	f := onReal(t)
	q := f.queue(nil)
	now := time.Now().Truncate(time.Second)
	q.publish(0, 2, func(int) amqp.Publishing {
		return amqp.Publishing{MessageId: "same", Timestamp: now, Body: []byte(`{"payment":{"id":"p"}}`)}
	})
	q.publish(2, 4, func(int) amqp.Publishing { return amqp.Publishing{Timestamp: now, Body: []byte("no JSON")} })
	c := &collector{}
	_, stop := f.run(payments(q.name, c))
	testsvc.Until(t, patience, "four calls", func() bool { return len(c.all()) == 4 })
	stop()
	ids, keys := map[string]bool{}, map[string]int{}
	for _, fl := range c.all() {
		ids[fl.ID] = true
		keys[fl.Key]++
	}
	if len(ids) != 4 {
		t.Errorf("flight ids %v", slices.Collect(maps.Keys(ids)))
	}
	if len(keys) != 3 {
		t.Errorf("idempotency keys %v: want one for both with the same message id, and one each for the others", keys)
	}
}

// collector lands everything and keeps it.
type collector struct {
	mu   sync.Mutex
	seen []governor.Flight[[]byte]
}

func (c *collector) Fly(_ context.Context, f governor.Flight[[]byte]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, f)
	return nil
}

func (c *collector) all() []governor.Flight[[]byte] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// A route sends each message to its gate, and what it does not know to the default.
func TestRoutes(t *testing.T) {
	f := onReal(t)
	q := f.queue(nil)
	bodies := []string{`{"type":"settled"}`, `{"type":7}`, `{"type":"unknown"}`, `{}`, `not JSON`, `[1]`}
	q.publish(0, len(bodies), func(i int) amqp.Publishing { return amqp.Publishing{Body: []byte(bodies[i])} })
	var settled, seven, other collector
	_, stop := f.run(governor.Airport{ID: "bank:acme", Gates: []governor.Gate{
		{ID: "events", Pilot: &settled, Adopt: &governor.Adoption{Queue: q.name, Route: &governor.Route{
			By: "/type", Gates: map[string]string{"settled": "events", "7": "seven"}, Default: "other"}}},
		{ID: "seven", Pilot: &seven},
		{ID: "other", Pilot: &other},
	}})
	testsvc.Until(t, patience, "six calls", func() bool { return len(settled.all())+len(seven.all())+len(other.all()) == 6 })
	stop()
	if len(settled.all()) != 1 || len(seven.all()) != 1 || len(other.all()) != 4 {
		t.Errorf("settled %d, seven %d, other %d", len(settled.all()), len(seven.all()), len(other.all()))
	}
}

// Twenty-five stops return nothing to the queue: with a delivery limit of 20, which
// RabbitMQ 4 gives a queue that names none, what was returned that often would be gone.
func TestStopsLoseNothing(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]amqp.Table{
		"named":            {"x-queue-type": "quorum", "x-delivery-limit": int32(20)},
		"broker's default": {"x-queue-type": "quorum"},
	} {
		t.Run(name, func(t *testing.T) { stops(onReal(t), args) })
	}
}

func stops(f *fleet, args amqp.Table) {
	q := f.queue(args)
	const total = 1500
	q.publish(0, total, numbered)
	v := newVendor()
	for i := range 25 {
		before := v.calls.Load()
		_, stop := f.run(payments(q.name, slowly{v}))
		testsvc.Until(f.t, patience, fmt.Sprintf("calls in run %d", i), func() bool { return v.calls.Load() >= before+10 })
		stop()
	}
	if q.depth() == 0 {
		f.t.Error("nothing was left to be returned: this showed nothing")
	}
	// A stop now and then gives a few back that were on their way to it: what must not be is
	// that the same come back at each, until the queue's limit drops them.
	if n, most := q.redelivered(); most > 3 {
		f.t.Errorf("%d messages of the adopted queue came back to it, one of them %d times", n, most)
	} else if n > 0 {
		f.t.Logf("%d messages of the adopted queue came back to it, at most %d times each", n, most)
	}
	_, stop := f.run(payments(q.name, v))
	testsvc.Until(f.t, patience, "all landings", func() bool { n, _ := v.count(); return n == total })
	stop()
}

// redelivered looks at the queue once, and counts what was handed out before and how
// often one of them came back at most.
func (q *foreign) redelivered() (n int, most int64) {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	var last uint64
	for {
		d, ok, err := q.ch.Get(q.name, false)
		if err != nil {
			q.t.Fatal(err)
		}
		if !ok {
			break
		}
		last = d.DeliveryTag
		if d.Redelivered {
			n++
			count, _ := d.Headers["x-delivery-count"].(int64)
			most = max(most, count, 1)
		}
	}
	if last > 0 {
		if err := q.ch.Nack(last, true, true); err != nil {
			q.t.Fatal(err)
		}
	}
	return n, most
}

// slowly takes a little for each call, so that a stop meets a backlog.
type slowly struct{ *vendor }

func (s slowly) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	timer := time.NewTimer(2 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return s.vendor.Fly(ctx, f)
}

// A classic queue with priorities, a TTL and a dead-letter exchange of its own
// drains with nothing lost, its arguments and its headers as they were.
func TestDrainsAClassicQueue(t *testing.T) {
	f := onReal(t)
	q := f.queue(amqp.Table{"x-max-priority": int32(5), "x-message-ttl": int32(3_600_000),
		"x-dead-letter-exchange": "amq.fanout", "x-dead-letter-routing-key": "gone"})
	total := 40_000
	if testing.Short() {
		total = 4_000
	}
	q.publish(0, total, func(i int) amqp.Publishing {
		p := numbered(i)
		p.MessageId, p.Priority, p.CorrelationId, p.ReplyTo, p.Type, p.AppId = fmt.Sprintf("m-%d", i), uint8(i%6), "corr", "back", "event", "app"
		p.Expiration, p.UserId = "3000000", "guest"
		p.Headers = amqp.Table{"traceparent": "00-a", "n": int32(i), "list": []any{"x", int64(1)}, "CC": []any{"nobody"}, "tr-replays": int32(9)}
		return p
	})
	v := &headers{vendor: newVendor()}
	_, stop := f.run(payments(q.name, v))
	testsvc.Until(t, 2*patience, "all landings", func() bool { n, _ := v.count(); return n == total })
	stop()
	if n, calls := v.count(); n != total || calls != total {
		t.Errorf("landed %d in %d calls", n, calls)
	}
	if s := v.bad.Load(); s != nil {
		t.Errorf("headers: %s", *s)
	}
	q.declare()
}

// headers looks at what came with each flight.
type headers struct {
	*vendor
	bad atomic.Pointer[string]
}

func (h *headers) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	var p struct {
		Payment struct{ ID string }
	}
	if err := json.Unmarshal(f.Payload, &p); err != nil {
		return err
	}
	var i int
	if _, err := fmt.Sscanf(p.Payment.ID, "p%d", &i); err != nil {
		return err
	}
	want := map[string]any{"traceparent": "00-a", "n": int32(i), "tr-original-expiration": "3000000", "tr-original-user-id": "guest",
		"tr-original-message-id": fmt.Sprintf("m-%d", i), "tr-original-type": "event", "tr-original-cc": "[nobody]", "list": "[x 1]",
		"tr-business-id": p.Payment.ID, "tr-scope": "bank:acme/payments", "CC": nil, "tr-replays": nil}
	for name, w := range want {
		got := f.Headers[name]
		if l, ok := got.([]any); ok {
			got = fmt.Sprint(l)
		}
		if got != w {
			s := fmt.Sprintf("%s is %v (%T), want %v", name, got, got, w)
			h.bad.Store(&s)
		}
	}
	if f.Replays != 0 || f.BusinessID != p.Payment.ID {
		s := fmt.Sprintf("replays %d, business id %q", f.Replays, f.BusinessID)
		h.bad.Store(&s)
	}
	return h.vendor.Fly(ctx, f)
}
