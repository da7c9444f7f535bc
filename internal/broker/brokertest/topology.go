package brokertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

func testTopic(e *env) {
	x, a, b, f, fq := e.name("topic"), e.name("a"), e.name("b"), e.name("fanout"), e.name("fq")
	top := broker.Topology{
		Exchanges: []broker.Exchange{{Name: x, Kind: broker.Topic}, {Name: f, Kind: broker.Fanout}},
		Queues:    []broker.Queue{{Name: a}, {Name: b}, {Name: fq}},
		Bindings: []broker.Binding{
			{Queue: a, Exchange: x, Key: "landed.#"}, {Queue: a, Exchange: x, Key: "landed.x"},
			{Queue: b, Exchange: x, Key: "*.x"},
			{Queue: fq, Exchange: f, Key: "ignored"}, {Queue: a, Exchange: f},
		},
	}
	e.declare(top)
	if err := e.tr.Declare(e.ctx, top); err != nil {
		e.Fatalf("declaring the same again: %v", err)
	}
	for key, want := range map[string]bool{"landed.x": true, "landed": true, "landed.y.z": true, "parked.x": true, "parked.y": false, "a.b.x": false} {
		err := e.tr.Publish(e.ctx, []broker.Publishing{{Exchange: x, Key: key}})[0]
		if got := !errors.Is(err, broker.ErrUnroutable); got != want {
			e.Errorf("key %q: %v", key, err)
		}
	}
	e.untilDepth(a, 3)
	e.untilDepth(b, 2)
	if err := e.tr.Publish(e.ctx, []broker.Publishing{{Exchange: f, Key: "anything"}})[0]; err != nil {
		e.Error(err)
	}
	e.untilDepth(a, 4)
	e.untilDepth(fq, 1)
}

func testAlternate(e *env) {
	x, alt, q, rest := e.name("direct"), e.name("alternate"), e.name("q"), e.name("rest")
	e.declare(broker.Topology{
		Exchanges: []broker.Exchange{{Name: alt, Kind: broker.Fanout}, {Name: x, Kind: broker.Direct, Alternate: alt}},
		Queues:    []broker.Queue{{Name: q}, {Name: rest}},
		Bindings:  []broker.Binding{{Queue: q, Exchange: x, Key: "known"}, {Queue: rest, Exchange: alt}},
	})
	for _, err := range e.tr.Publish(e.ctx, []broker.Publishing{{Exchange: x, Key: "known"}, {Exchange: x, Key: "unknown"}}) {
		if err != nil {
			e.Error(err)
		}
	}
	e.untilDepth(q, 1)
	e.untilDepth(rest, 1)
}

// hold declares a hold of this TTL that returns to runway by key.
func (e *env) hold(ttl time.Duration, runway, key string) (hold string) {
	hold, back := e.name("hold"), e.name("return")
	e.declare(broker.Topology{
		Exchanges: []broker.Exchange{{Name: hold, Kind: broker.Fanout}, {Name: back, Kind: broker.Direct}},
		Queues:    []broker.Queue{{Name: runway}, {Name: hold, TTL: ttl, DeadLetterExchange: back}},
		Bindings:  []broker.Binding{{Queue: hold, Exchange: hold}, {Queue: runway, Exchange: back, Key: key}},
	})
	return hold
}

func testHold(e *env) {
	runway := e.name("runway")
	hold := e.hold(300*time.Millisecond, runway, "airport/gate")
	p := broker.Publishing{Exchange: hold, Key: "airport/gate", Message: wire.Message{ID: "a", Headers: map[string]any{"kept": "yes"}, Body: []byte("body")}}
	s := e.subscribe(runway, 10)
	// Twice through the same hold, the broker's trace stripped in between as every
	// republish does: with it in place some cycles are dropped in silence.
	for range 2 {
		began := time.Now()
		if err := e.tr.Publish(e.ctx, []broker.Publishing{p})[0]; err != nil {
			e.Fatal(err)
		}
		d := e.next(s)
		if took := time.Since(began); took < 250*time.Millisecond {
			e.Errorf("came back after %s", took)
		}
		m := d.Message()
		if m.ID != "a" || string(m.Body) != "body" || m.Headers["kept"] != "yes" {
			e.Errorf("came back as %+v", m)
		}
		if m.Headers["x-death"] == nil {
			e.Error("no trace of the hold, so nothing to strip is tested here")
		}
		p.Message = m.Forward()
		e.ack(d)
	}
}

func testMismatch(e *env) {
	x, q := e.name("exchange"), e.name("queue")
	e.declare(broker.Topology{Exchanges: []broker.Exchange{{Name: x, Kind: broker.Direct}}, Queues: []broker.Queue{{Name: q, TTL: time.Hour}}})
	other := e.queue()
	s := e.subscribe(other, 1)
	e.fill(other, 1)
	d := e.next(s)
	for _, top := range []broker.Topology{
		{Queues: []broker.Queue{{Name: q, TTL: time.Minute}}},
		{Queues: []broker.Queue{{Name: q, TTL: time.Hour, DeadLetterExchange: x}}},
		{Exchanges: []broker.Exchange{{Name: x, Kind: broker.Fanout}}},
		{Exchanges: []broker.Exchange{{Name: x, Kind: broker.Direct, Alternate: "other"}}},
	} {
		if err := e.tr.Declare(e.ctx, top); !errors.Is(err, broker.ErrMismatch) {
			e.Errorf("%v, want a mismatch", err)
		}
	}
	e.ack(d) // nobody else came to harm
	if err := s.Sync(e.ctx, d.Session()); err != nil {
		e.Error(err)
	}
}

func testMissing(e *env) {
	x, q := e.name("nothing"), e.name("nothing")
	if _, err := e.tr.Subscribe(e.ctx, q, 1); !errors.Is(err, broker.ErrNoQueue) {
		e.Errorf("subscribe: %v", err)
	}
	if err := e.tr.Browse(e.ctx, q, 1, func(wire.Message) bool { return true }); !errors.Is(err, broker.ErrNoQueue) {
		e.Errorf("browse: %v", err)
	}
	if _, err := e.tr.Consumers(e.ctx, q); !errors.Is(err, broker.ErrNoQueue) {
		e.Errorf("consumers: %v", err)
	}
	if n, exists, err := e.tr.Depth(e.ctx, q); n != 0 || exists || err != nil {
		e.Errorf("depth: %d, %v, %v", n, exists, err)
	}
	if has, err := e.tr.HasExchange(e.ctx, x); has || err != nil {
		e.Errorf("exchange: %v, %v", has, err)
	}
	if err := errors.Join(e.tr.DeleteQueue(e.ctx, q), e.tr.DeleteExchange(e.ctx, x)); err != nil {
		e.Errorf("deleting what is not there: %v", err)
	}
	there := e.queue()
	if err := e.tr.Declare(e.ctx, broker.Topology{Bindings: []broker.Binding{{Queue: there, Exchange: x}}}); !errors.Is(err, broker.ErrNoExchange) {
		e.Errorf("bind to no exchange: %v", err)
	}
	e.declare(broker.Topology{Exchanges: []broker.Exchange{{Name: x, Kind: broker.Direct}}})
	if has, err := e.tr.HasExchange(e.ctx, x); !has || err != nil {
		e.Errorf("exchange: %v, %v", has, err)
	}
	if err := e.tr.Declare(e.ctx, broker.Topology{Bindings: []broker.Binding{{Queue: q, Exchange: x}}}); !errors.Is(err, broker.ErrNoQueue) {
		e.Errorf("bind no queue: %v", err)
	}
	if err := e.tr.Ping(e.ctx); err != nil {
		e.Error(err)
	}
	if why, blocked := e.tr.Blocked(); blocked {
		e.Errorf("blocked: %s", why)
	}
}

func testStanding(e *env) {
	q := e.queue()
	e.fill(q, 10)
	stands := func() broker.Standing {
		s, err := e.tr.Standing(e.ctx, q)
		if err != nil {
			e.Error(err)
		}
		return s
	}
	free := func(ready int) {
		e.Helper()
		e.until(fmt.Sprintf("%d ready and nobody there", ready), func() bool { return stands() == broker.Standing{Exists: true, Ready: ready} })
	}
	free(10)
	seen := 0
	err := e.tr.Browse(e.ctx, q, 10, func(wire.Message) bool {
		if s := stands(); s.Consumers == 0 || !s.Exists {
			e.Errorf("during a look: %+v", s)
		}
		seen++
		return seen < 3
	})
	if err != nil || seen != 3 {
		e.Fatal(err, seen)
	}
	free(10)
	s := e.subscribe(q, 4)
	ds := e.expect(s, ids(0, 4)...)
	if err := s.Pause(e.ctx); err != nil {
		e.Fatal(err)
	}
	e.until("the rest", func() bool { return stands().Ready == 6 })
	if got := stands(); got.Consumers == 0 {
		e.Errorf("a consumer that was paused with four in hand: %+v", got)
	}
	e.ack(ds...)
	free(6)
	if s, err := e.tr.Standing(e.ctx, q+".none"); err != nil || s != (broker.Standing{}) {
		e.Errorf("no queue: %v %+v", err, s)
	}
}
