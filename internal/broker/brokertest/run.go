package brokertest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// Harness is a broker under test.
type Harness struct {
	// Dial connects as a new process would. The suite closes what it dialled.
	Dial func(t *testing.T) broker.Transport
	// Restart restarts the broker: every connection is lost, what is durable stays.
	// It may return before the broker serves again.
	Restart func(t *testing.T)
	// Prefix keeps names of several runs on one broker apart.
	Prefix string
	// Patience bounds every wait. Default: 30s.
	Patience time.Duration
}

// Run runs the suite.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	h := open(t)
	if h.Patience == 0 {
		h.Patience = 30 * time.Second
	}
	for _, c := range []struct {
		name string
		f    func(*env)
	}{
		{"publish keeps order and content", testOrder},
		{"what no queue takes is unroutable", testUnroutable},
		{"one bad publishing harms no other", testMixed},
		{"many publish at once", testConcurrent},
		{"what cannot travel is refused", testInvalid},
		{"topics route by pattern", testTopic},
		{"an alternate exchange takes the rest", testAlternate},
		{"a hold returns when its time is up", testHold},
		{"declaring otherwise is a mismatch", testMismatch},
		{"missing things are told apart", testMissing},
		{"what is unbound is unroutable", testUnbind},
		{"a nack keeps its place", testNackPlace},
		{"a delivery is settled once", testSettleOnce},
		{"close gives back", testClose},
		{"sync comes after the acks", testSync},
		{"pause leaves what is in hand", testPause},
		{"pause does not wait for a reader", testPauseFull},
		{"a slow subscription blocks no other", testSlow},
		{"browsing keeps order", testBrowse},
		{"what others hold is seen", testStanding},
		{"a deleted queue is a lost session", testDeleted},
		{"a closed transport says so", testClosed},
		{"many subscriptions fit", testMany},
		{"a lost connection redelivers", testLost},
		{"a restart under load loses nothing", testRestart},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 4*h.Patience)
			defer cancel()
			c.f(&env{T: t, h: h, ctx: ctx, tr: dial(t, h)})
		})
	}
}

// env is what one test of the suite works with.
type env struct {
	*testing.T
	h   Harness
	ctx context.Context
	tr  broker.Transport
}

func dial(t *testing.T, h Harness) broker.Transport {
	t.Helper()
	tr := h.Dial(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), h.Patience)
		defer cancel()
		if err := tr.Close(ctx); err != nil {
			t.Errorf("closing the transport: %v", err)
		}
	})
	return tr
}

var names atomic.Uint64

// name is one that no other test has.
func (e *env) name(s string) string { return fmt.Sprintf("%s.%s.%d", e.h.Prefix, s, names.Add(1)) }

func (e *env) declare(t broker.Topology) {
	e.Helper()
	if err := e.tr.Declare(e.ctx, t); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { // a quorum queue is not free
		ctx, cancel := context.WithTimeout(context.Background(), e.h.Patience)
		defer cancel()
		tr := e.h.Dial(e.T)
		defer tr.Close(ctx)
		for _, q := range t.Queues {
			if err := tr.DeleteQueue(ctx, q.Name); err != nil {
				e.Log(err)
			}
		}
	})
}

// queue makes a queue that the default exchange reaches.
func (e *env) queue() string {
	e.Helper()
	q := e.name("queue")
	e.declare(broker.Topology{Queues: []broker.Queue{{Name: q}}})
	return q
}

func text(id, key string) broker.Publishing {
	return broker.Publishing{Key: key, Message: wire.Message{ID: id, Body: []byte(id)}}
}

// fill publishes n messages named 0 to n-1 to the queue.
func (e *env) fill(queue string, n int) {
	e.Helper()
	msgs := make([]broker.Publishing, n)
	for i := range msgs {
		msgs[i] = text(fmt.Sprint(i), queue)
	}
	for _, err := range e.tr.Publish(e.ctx, msgs) {
		if err != nil {
			e.Fatal(err)
		}
	}
}

func (e *env) subscribe(queue string, prefetch int) broker.Subscription {
	e.Helper()
	s, err := e.tr.Subscribe(e.ctx, queue, prefetch)
	if err != nil {
		e.Fatal(err)
	}
	return s
}

func (e *env) next(s broker.Subscription) broker.Delivery {
	e.Helper()
	select {
	case d, ok := <-s.Deliveries():
		if !ok {
			e.Fatal("the deliveries were closed")
		}
		return d
	case <-time.After(e.h.Patience):
		e.Fatalf("no delivery in %s", e.h.Patience)
	}
	return nil
}

func (e *env) take(s broker.Subscription, n int) []broker.Delivery {
	e.Helper()
	out := make([]broker.Delivery, n)
	for i := range out {
		out[i] = e.next(s)
	}
	return out
}

// expect takes the next deliveries and compares their ids.
func (e *env) expect(s broker.Subscription, ids ...string) []broker.Delivery {
	e.Helper()
	out := e.take(s, len(ids))
	for i, d := range out {
		if d.Message().ID != ids[i] {
			e.Fatalf("delivery %d is %q, want %q", i, d.Message().ID, ids[i])
		}
	}
	return out
}

// expectAll takes as many deliveries as there are ids and compares them as sets: on a
// busy broker what is returned in bulk keeps its place only roughly.
func (e *env) expectAll(s broker.Subscription, ids ...string) []broker.Delivery {
	e.Helper()
	out := e.take(s, len(ids))
	missing := map[string]bool{}
	for _, id := range ids {
		missing[id] = true
	}
	for _, d := range out {
		if !missing[d.Message().ID] {
			e.Fatalf("%q came, which is not expected, or twice", d.Message().ID)
		}
		delete(missing, d.Message().ID)
	}
	return out
}

// drain expects and acknowledges one after the other.
func (e *env) drain(s broker.Subscription, ids ...string) {
	e.Helper()
	for _, id := range ids {
		e.ack(e.expect(s, id)...)
	}
}

func (e *env) ack(ds ...broker.Delivery) {
	e.Helper()
	for _, d := range ds {
		if err := d.Ack(); err != nil {
			e.Fatal(err)
		}
	}
}

// until polls what a broker tells nobody.
func (e *env) until(what string, cond func() bool) {
	e.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(e.h.Patience); !cond(); <-tick.C {
		if time.Now().After(end) {
			e.Fatalf("waited %s for %s in vain", e.h.Patience, what)
		}
	}
}

func (e *env) untilDepth(queue string, want int) {
	e.Helper()
	got := -1
	e.until(fmt.Sprintf("%d ready in %s", want, queue), func() bool {
		n, _, err := e.tr.Depth(e.ctx, queue)
		if err == nil {
			got = n
		}
		return got == want
	})
}

func ids(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return out
}
