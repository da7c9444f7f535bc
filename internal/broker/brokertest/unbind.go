package brokertest

import (
	"errors"

	"github.com/traction-go/traction/internal/broker"
)

func testUnbind(e *env) {
	x, q := e.name("direct"), e.name("q")
	one, two := broker.Binding{Queue: q, Exchange: x, Key: "one"}, broker.Binding{Queue: q, Exchange: x, Key: "two"}
	e.declare(broker.Topology{Exchanges: []broker.Exchange{{Name: x, Kind: broker.Direct}}, Queues: []broker.Queue{{Name: q}},
		Bindings: []broker.Binding{one, two}})
	publish := func(key string) error { return e.tr.Publish(e.ctx, []broker.Publishing{{Exchange: x, Key: key}})[0] }
	if err := errors.Join(publish("one"), publish("two")); err != nil {
		e.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		if err := e.tr.Unbind(e.ctx, one); err != nil {
			e.Fatal(err)
		}
		if err := publish("one"); !errors.Is(err, broker.ErrUnroutable) {
			e.Fatalf("%v, want it unroutable", err)
		}
	}
	if err := publish("two"); err != nil {
		e.Error(err)
	}
	e.untilDepth(q, 3) // what was there has stayed
	if err := e.tr.Unbind(e.ctx, broker.Binding{Queue: e.name("nowhere"), Exchange: x}, broker.Binding{Queue: q, Exchange: e.name("nowhere")}); err != nil {
		e.Error(err)
	}
}
