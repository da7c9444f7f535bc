package brokertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

func testNackPlace(e *env) {
	q := e.queue()
	e.fill(q, 4)
	s := e.subscribe(q, 1)
	for range 3 { // it comes back first, before those behind it
		d := e.next(s)
		if d.Message().ID != "0" {
			e.Fatalf("%q, want 0", d.Message().ID)
		}
		if err := d.Nack(); err != nil {
			e.Fatal(err)
		}
	}
	d := e.expect(s, "0")[0]
	if !d.Redelivered() {
		e.Error("returned three times, yet not marked as redelivered")
	}
	e.ack(d)
	in := e.expect(s, "1")
	if err := s.Pause(e.ctx); err != nil {
		e.Fatal(err)
	}
	e.fill(q, 1)
	if err := in[0].Nack(); err != nil {
		e.Fatal(err)
	}
	if err := s.Sync(e.ctx, in[0].Session()); err != nil {
		e.Fatal(err)
	}
	if err := s.Resume(e.ctx, 10); err != nil {
		e.Fatal(err)
	}
	e.ack(e.expect(s, "1", "2", "3", "0")...)
}

func testSettleOnce(e *env) {
	q := e.queue()
	e.fill(q, 3)
	s := e.subscribe(q, 3)
	ds := e.take(s, 3)
	e.ack(ds[0])
	if err := ds[0].Ack(); !errors.Is(err, broker.ErrStale) {
		e.Errorf("a second ack: %v", err)
	}
	if err := ds[0].Nack(); !errors.Is(err, broker.ErrStale) {
		e.Errorf("a nack after the ack: %v", err)
	}
	e.ack(ds[2], ds[1]) // in any order
	if err := s.Sync(e.ctx, ds[0].Session()); err != nil {
		e.Error(err)
	}
	if err := s.Close(e.ctx); err != nil {
		e.Fatal(err)
	}
	e.untilDepth(q, 0)
}

func testClose(e *env) {
	q := e.queue()
	e.fill(q, 10)
	s := e.subscribe(q, 5)
	first := e.take(s, 3) // two more lie in the buffer
	e.ack(first[1])
	// What a broker hands out while the consumer is cancelled comes back first.
	e.until("one more", func() bool { return len(s.Deliveries()) == 3 })
	if err := errors.Join(s.Close(e.ctx), s.Close(e.ctx)); err != nil {
		e.Fatal(err)
	}
	if err := first[0].Ack(); !errors.Is(err, broker.ErrStale) {
		e.Errorf("an ack after close: %v", err)
	}
	for range s.Deliveries() { // closed: the buffer ends
	}
	for range s.Lost() {
	}
	if err := s.Pause(e.ctx); !errors.Is(err, broker.ErrClosed) {
		e.Errorf("pause after close: %v", err)
	}
	if err := s.Resume(e.ctx, 1); !errors.Is(err, broker.ErrClosed) {
		e.Errorf("resume after close: %v", err)
	}
	e.untilDepth(q, 9)
	e.ack(e.expect(e.subscribe(q, 10), "0", "2", "3", "4", "5", "6", "7", "8", "9")...)
}

func testSync(e *env) {
	q := e.queue()
	e.fill(q, 100)
	s := e.subscribe(q, 100)
	ds := e.take(s, 100)
	e.ack(ds...)
	if err := s.Sync(e.ctx, ds[0].Session()); err != nil {
		e.Fatal(err)
	}
	if err := s.Sync(e.ctx, ds[0].Session()+1000); !errors.Is(err, broker.ErrStale) {
		e.Errorf("sync of a session that never was: %v", err)
	}
	if err := s.Close(e.ctx); err != nil {
		e.Fatal(err)
	}
	if err := s.Sync(e.ctx, ds[0].Session()); !errors.Is(err, broker.ErrStale) {
		e.Errorf("sync after close: %v", err)
	}
	e.untilDepth(q, 0)
}

func testPause(e *env) {
	q := e.queue()
	e.fill(q, 30)
	s := e.subscribe(q, 10)
	e.until("a consumer", func() bool { n, err := e.tr.Consumers(e.ctx, q); return err == nil && n == 1 })
	hand := e.take(s, 4)
	if err := errors.Join(s.Pause(e.ctx), s.Pause(e.ctx)); err != nil {
		e.Fatal(err)
	}
	for more := true; more; {
		select {
		case d := <-s.Deliveries():
			hand = append(hand, d)
		default:
			more = false
		}
	}
	e.ack(hand[1:]...) // in hand, so still good
	if err := hand[0].Nack(); err != nil {
		e.Fatal(err)
	}
	if err := s.Sync(e.ctx, hand[0].Session()); err != nil {
		e.Fatal(err)
	}
	e.untilDepth(q, 30-len(hand)+1)
	select {
	case d := <-s.Deliveries():
		e.Fatalf("%q arrived while paused", d.Message().ID)
	default:
	}
	if err := s.Resume(e.ctx, 30); err != nil {
		e.Fatal(err)
	}
	e.ack(e.expect(s, append([]string{"0"}, ids(len(hand), 30)...)...)...)
	e.fill(q, 10)
	e.ack(e.expect(s, ids(0, 10)...)...)
	if err := s.Resume(e.ctx, 5); err != nil { // running: a new prefetch, no more
		e.Fatal(err)
	}
	e.fill(q, 10)
	e.drain(s, ids(0, 10)...)
}

func testPauseFull(e *env) {
	q := e.queue()
	s := e.subscribe(q, 1)
	if err := errors.Join(s.Pause(e.ctx), s.Resume(e.ctx, 500)); err != nil {
		e.Fatal(err)
	}
	e.fill(q, 500)
	e.untilDepth(q, 0) // all handed out, more than the buffer holds, and nobody reads
	ctx, cancel := context.WithTimeout(e.ctx, e.h.Patience/2)
	defer cancel()
	if err := s.Pause(ctx); err != nil {
		e.Fatal(err)
	}
	n := len(s.Deliveries())
	e.untilDepth(q, 500-n)
	e.ack(e.expect(s, ids(0, n)...)...)
	if err := s.Resume(e.ctx, 500); err != nil {
		e.Fatal(err)
	}
	e.ack(e.expectAll(s, ids(n, 500)...)...)
}

func testSlow(e *env) {
	slow, quick := e.queue(), e.queue()
	e.fill(slow, 2000)
	s := e.subscribe(slow, 500) // never read
	if err := s.Pause(e.ctx); err != nil {
		e.Fatal(err)
	}
	if err := s.Resume(e.ctx, 1500); err != nil {
		e.Fatal(err)
	}
	e.fill(quick, 2000)
	sq := e.subscribe(quick, 10)
	e.drain(sq, ids(0, 2000)...)
}

func testBrowse(e *env) {
	q := e.queue()
	e.fill(q, 100)
	for look := range 30 {
		var got []string
		limit, want := 100, 100
		switch {
		case look < 10: // the head alone, before anybody saw more
			limit, want = 40, 40
		case look%2 == 0: // seen enough
			want = 25
		}
		err := e.tr.Browse(e.ctx, q, limit, func(m wire.Message) bool {
			got = append(got, m.ID)
			return len(got) < want
		})
		if err != nil {
			e.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(ids(0, want)) {
			e.Fatalf("look %d: %v", look, got)
		}
		e.untilDepth(q, 100)
	}
	ds := e.expect(e.subscribe(q, 100), ids(0, 100)...)
	if !ds[0].Redelivered() {
		e.Error("a look counts as a delivery")
	}
	e.ack(ds...)
	if err := e.tr.Browse(e.ctx, q, 10, func(wire.Message) bool { e.Error("saw something"); return true }); err != nil {
		e.Error(err)
	}
}

func testDeleted(e *env) {
	q := e.queue()
	e.fill(q, 2)
	s := e.subscribe(q, 1)
	other := e.queue()
	so := e.subscribe(other, 1)
	d := e.next(s)
	if err := e.tr.DeleteQueue(e.ctx, q); err != nil {
		e.Fatal(err)
	}
	if lost := e.lost(s); lost != d.Session() {
		e.Errorf("lost session %d, want %d", lost, d.Session())
	}
	if err := d.Ack(); !errors.Is(err, broker.ErrStale) {
		e.Errorf("ack: %v", err)
	}
	e.declare(broker.Topology{Queues: []broker.Queue{{Name: q}}})
	e.fill(q, 1)
	d2 := e.next(s) // the subscription came back by itself
	if d2.Session() <= d.Session() {
		e.Errorf("session %d after %d", d2.Session(), d.Session())
	}
	e.ack(d2)
	e.fill(other, 1)
	e.ack(e.next(so))
	select {
	case n := <-so.Lost():
		e.Errorf("a neighbour lost session %d", n)
	default:
	}
}

// lost reads the last session that was lost.
func (e *env) lost(s broker.Subscription) uint64 {
	e.Helper()
	select {
	case n := <-s.Lost():
		return n
	case <-time.After(e.h.Patience):
		e.Fatalf("no session was lost in %s", e.h.Patience)
	}
	return 0
}

func testClosed(e *env) {
	q := e.queue()
	tr := dial(e.T, e.h)
	s, err := tr.Subscribe(e.ctx, q, 5)
	if err != nil {
		e.Fatal(err)
	}
	e.fill(q, 3)
	d := e.next(s)
	if err := errors.Join(tr.Close(e.ctx), tr.Close(e.ctx)); err != nil {
		e.Fatal(err)
	}
	for range s.Deliveries() {
	}
	if err := d.Ack(); !errors.Is(err, broker.ErrStale) {
		e.Errorf("ack: %v", err)
	}
	_, _, depth := tr.Depth(e.ctx, q)
	_, sub := tr.Subscribe(e.ctx, q, 1)
	for what, err := range map[string]error{
		"publish": tr.Publish(e.ctx, []broker.Publishing{text("x", q)})[0], "ping": tr.Ping(e.ctx), "depth": depth, "subscribe": sub,
		"declare": tr.Declare(e.ctx, broker.Topology{Queues: []broker.Queue{{Name: q}}}),
		"browse":  tr.Browse(e.ctx, q, 1, func(wire.Message) bool { return true }),
	} {
		if !errors.Is(err, broker.ErrClosed) {
			e.Errorf("%s: %v, want closed", what, err)
		}
	}
	e.untilDepth(q, 3)
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	if err := e.tr.Publish(ctx, []broker.Publishing{text("x", q)})[0]; err == nil {
		e.Error("published under a context that was over")
	}
}
