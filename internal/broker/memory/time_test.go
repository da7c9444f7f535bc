package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/wire"
)

func open(t *testing.T, b *memory.Broker, top broker.Topology) broker.Transport {
	t.Helper()
	tr := b.Dial()
	t.Cleanup(func() {
		if err := tr.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := tr.Declare(t.Context(), top); err != nil {
		t.Fatal(err)
	}
	return tr
}

func publish(t *testing.T, tr broker.Transport, exchange, key, id string) {
	t.Helper()
	if err := put(t, tr, exchange, key, id); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, tr broker.Transport, exchange, key, id string) error {
	return tr.Publish(t.Context(), []broker.Publishing{{Exchange: exchange, Key: key, Message: wire.Message{ID: id}}})[0]
}

func depth(t *testing.T, tr broker.Transport, queue string) int {
	t.Helper()
	n, _, err := tr.Depth(t.Context(), queue)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func held(ttl time.Duration) broker.Topology {
	return broker.Topology{
		Exchanges: []broker.Exchange{{Name: "hold", Kind: broker.Fanout}, {Name: "return", Kind: broker.Direct}},
		Queues:    []broker.Queue{{Name: "runway"}, {Name: "hold", TTL: ttl, DeadLetterExchange: "return"}},
		Bindings:  []broker.Binding{{Queue: "hold", Exchange: "hold"}, {Queue: "runway", Exchange: "return", Key: "gate"}},
	}
}

func TestHoldInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := open(t, memory.NewBroker(), held(10*time.Minute))
		publish(t, tr, "hold", "gate", "a")
		time.Sleep(4 * time.Minute) // virtual
		publish(t, tr, "hold", "gate", "b")
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{6*time.Minute - time.Second, 0}, {2 * time.Second, 1}, {4 * time.Minute, 2}} {
			time.Sleep(c.after)
			synctest.Wait()
			if got := depth(t, tr, "runway"); got != c.want {
				t.Errorf("%d on the runway, want %d", got, c.want)
			}
		}
	})
}

// What was handed out does not expire; it does on its return.
func TestHandedOutDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := open(t, memory.NewBroker(), held(time.Minute))
		publish(t, tr, "hold", "gate", "a")
		s, err := tr.Subscribe(t.Context(), "hold", 1)
		if err != nil {
			t.Fatal(err)
		}
		d := <-s.Deliveries()
		if err := s.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := depth(t, tr, "runway"); got != 0 {
			t.Errorf("%d on the runway", got)
		}
		if err := d.Nack(); err != nil {
			t.Fatal(err)
		}
		if got := depth(t, tr, "runway"); got != 1 {
			t.Errorf("%d on the runway after the return", got)
		}
	})
}

// A target that routes nowhere keeps what expired until the topology changes.
func TestUnroutableDeadLetterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := open(t, memory.NewBroker(), held(time.Second))
		publish(t, tr, "hold", "other", "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := tr.Declare(t.Context(), broker.Topology{Bindings: []broker.Binding{{Queue: "runway", Exchange: "return", Key: "other"}}}); err != nil {
			t.Fatal(err)
		}
		if got := depth(t, tr, "runway"); got != 1 {
			t.Errorf("%d on the runway", got)
		}
	})
}

// A cycle of dead-letterings (a runway's limit, a hold, the runway again) is
// dropped in silence: why a runway never dead-letters to a hold.
func TestCycleDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := open(t, memory.NewBroker(memory.WithDeliveryLimit(1)), broker.Topology{
			Exchanges: []broker.Exchange{{Name: "hold", Kind: broker.Fanout}, {Name: "return", Kind: broker.Direct}},
			Queues:    []broker.Queue{{Name: "runway", DeadLetterExchange: "hold"}, {Name: "hold", TTL: time.Second, DeadLetterExchange: "return"}},
			Bindings:  []broker.Binding{{Queue: "hold", Exchange: "hold"}, {Queue: "runway", Exchange: "return", Key: "gate"}},
		})
		publish(t, tr, "return", "gate", "a")
		s, err := tr.Subscribe(t.Context(), "runway", 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := (<-s.Deliveries()).Nack(); err != nil {
				t.Fatal(err)
			}
		}
		if got := depth(t, tr, "hold"); got != 1 {
			t.Fatalf("%d on hold", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := depth(t, tr, "hold") + depth(t, tr, "runway") + len(s.Deliveries()); got != 0 {
			t.Errorf("%d left of a cycle", got)
		}
	})
}

func TestDeliveryLimit(t *testing.T) {
	b := memory.NewBroker(memory.WithDeliveryLimit(3))
	tr := open(t, b, broker.Topology{
		Exchanges: []broker.Exchange{{Name: "limit", Kind: broker.Fanout}},
		Queues:    []broker.Queue{{Name: "plain"}, {Name: "guarded", DeadLetterExchange: "limit"}, {Name: "over"}},
		Bindings:  []broker.Binding{{Queue: "over", Exchange: "limit"}},
	})
	for _, q := range []string{"plain", "guarded"} {
		publish(t, tr, "", q, q)
		s, err := tr.Subscribe(t.Context(), q, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			d := <-s.Deliveries()
			if got := d.Message().Headers["x-delivery-count"]; i > 0 && got != int64(i) {
				t.Errorf("delivery count %v, want %d", got, i)
			}
			if err := d.Nack(); err != nil {
				t.Fatal(err)
			}
		}
		if got := depth(t, tr, q); got != 0 {
			t.Errorf("%s: %d left", q, got)
		}
	}
	if got := depth(t, tr, "over"); got != 1 {
		t.Errorf("%d over the limit, want the one with a target", got)
	}
}

func TestBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.NewBroker(memory.WithWait(5 * time.Second))
		tr := open(t, b, broker.Topology{Queues: []broker.Queue{{Name: "q"}}})
		b.Block("memory")
		if why, blocked := tr.Blocked(); !blocked || why != "memory" {
			t.Errorf("%q, %v", why, blocked)
		}
		began := time.Now()
		if err := put(t, tr, "", "q", "a"); !errors.Is(err, broker.ErrUnreachable) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		time.AfterFunc(time.Second, b.Unblock)
		if err := put(t, tr, "", "q", "b"); err != nil {
			t.Error(err)
		}
	})
}

func TestFaults(t *testing.T) {
	b := memory.NewBroker()
	tr := open(t, b, broker.Topology{Queues: []broker.Queue{{Name: "q"}}})
	var fault memory.Fault
	b.OnPublish(func(broker.Publishing) memory.Fault { return fault })
	for i, c := range []struct {
		f     memory.Fault
		want  error
		depth int
	}{{memory.NoFault, nil, 1}, {memory.Refuse, broker.ErrNotConfirmed, 1}, {memory.LoseConfirm, broker.ErrNotConfirmed, 2}, {memory.LoseConnection, broker.ErrUnreachable, 3}} {
		fault = c.f
		if err := put(t, tr, "", "q", fmt.Sprint(i)); !errors.Is(err, c.want) || depth(t, tr, "q") != c.depth {
			t.Errorf("fault %d: %v, %d in the queue", c.f, err, depth(t, tr, "q"))
		}
	}
	b.Stop()
	if err := put(t, tr, "", "q", "x"); !errors.Is(err, broker.ErrUnreachable) {
		t.Error(err)
	}
	if err := tr.Ping(t.Context()); !errors.Is(err, broker.ErrUnreachable) {
		t.Error(err)
	}
	b.Start()
	if err := tr.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func BenchmarkMove(b *testing.B) {
	mem := memory.NewBroker()
	tr := mem.Dial()
	defer tr.Close(context.Background())
	if err := tr.Declare(b.Context(), broker.Topology{Queues: []broker.Queue{{Name: "q"}}}); err != nil {
		b.Fatal(err)
	}
	s, err := tr.Subscribe(b.Context(), "q", 100)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		tr.Publish(b.Context(), []broker.Publishing{{Key: "q"}})
		if err := (<-s.Deliveries()).Ack(); err != nil {
			b.Fatal(err)
		}
	}
}

// One transport that loses its connection gives its messages to the others.
func TestASeveredTransportIsAloneWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.NewBroker()
		one, other := open(t, b, held(time.Minute)), open(t, b, held(time.Minute))
		sub, err := one.Subscribe(t.Context(), "runway", 10)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := other.Subscribe(t.Context(), "runway", 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := rest.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		publish(t, one, "return", "gate", "f")
		d := <-sub.Deliveries()
		if err := rest.Resume(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		one.(memory.Severed).Sever()
		if lost := <-sub.Lost(); lost != d.Session() {
			t.Errorf("lost session %d, want %d", lost, d.Session())
		}
		if err := d.Ack(); !errors.Is(err, broker.ErrStale) {
			t.Errorf("ack: %v", err)
		}
		if err := put(t, one, "return", "gate", "g"); !errors.Is(err, broker.ErrUnreachable) {
			t.Errorf("publish: %v", err)
		}
		again := <-rest.Deliveries()
		if again.Message().ID != "f" || !again.Redelivered() {
			t.Fatalf("the other got %+v", again.Message())
		}
		if err := again.Ack(); err != nil {
			t.Error(err)
		}
		if err := rest.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		one.(memory.Severed).Rejoin()
		publish(t, one, "return", "gate", "g")
		if d := <-sub.Deliveries(); d.Message().ID != "g" {
			t.Errorf("got %+v", d.Message())
		}
	})
}
