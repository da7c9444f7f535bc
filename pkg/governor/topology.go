package governor

import (
	"context"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// common is what every installation has once, whatever its airports.
func common(n wire.Namespace) broker.Topology {
	return broker.Topology{
		Exchanges: []broker.Exchange{
			{Name: n.UnroutableExchange(), Kind: broker.Fanout},
			{Name: n.LimitExchange(), Kind: broker.Fanout},
			{Name: n.RunwayExchange(), Kind: broker.Direct},
			{Name: n.ReturnExchange(), Kind: broker.Direct, Alternate: n.UnroutableExchange()},
			{Name: n.ParkedExchange(), Kind: broker.Direct},
			{Name: n.RejectedExchange(), Kind: broker.Direct},
			{Name: n.ReportsExchange(), Kind: broker.Topic},
		},
		Queues: []broker.Queue{
			{Name: n.LimitQueue()}, {Name: n.UnroutableQueue()}, {Name: n.TowerQueue()}, {Name: n.UnreadableQueue()},
		},
		Bindings: []broker.Binding{
			{Queue: n.LimitQueue(), Exchange: n.LimitExchange()},
			{Queue: n.UnroutableQueue(), Exchange: n.UnroutableExchange()},
			{Queue: n.TowerQueue(), Exchange: n.ReportsExchange(), Key: wire.UnappliedBinding},
		},
	}
}

// holds is one queue for each delay: a queue's own TTL never blocks behind a
// longer one.
func holds(n wire.Namespace, delays []time.Duration) broker.Topology {
	var t broker.Topology
	seen := map[time.Duration]bool{}
	for _, d := range append([]time.Duration{settle.HeldDelay}, delays...) {
		if seen[d] {
			continue
		}
		seen[d] = true
		name := n.Hold(d)
		t.Exchanges = append(t.Exchanges, broker.Exchange{Name: name, Kind: broker.Fanout})
		t.Queues = append(t.Queues, broker.Queue{Name: name, TTL: d, DeadLetterExchange: n.ReturnExchange()})
		t.Bindings = append(t.Bindings, broker.Binding{Queue: name, Exchange: name})
	}
	return t
}

// gateTopology is what a gate has of its own.
func gateTopology(n wire.Namespace, gate wire.Scope) broker.Topology {
	runway, parked, rejected := n.Runway(gate), n.Parked(gate), n.Rejected(gate, wire.DefaultRejectedKeep)
	key := gate.String()
	return broker.Topology{
		Queues: []broker.Queue{
			{Name: runway, DeadLetterExchange: n.LimitExchange()},
			{Name: parked},
			{Name: rejected, TTL: wire.DefaultRejectedKeep},
		},
		Bindings: []broker.Binding{
			{Queue: runway, Exchange: n.RunwayExchange(), Key: key},
			{Queue: runway, Exchange: n.ReturnExchange(), Key: key},
			{Queue: parked, Exchange: n.ParkedExchange(), Key: key},
			{Queue: rejected, Exchange: n.RejectedExchange(), Key: key},
		},
	}
}

// declare declares the topologies in their order.
func (g *Governor) declare(ctx context.Context, ts ...broker.Topology) error {
	for _, t := range ts {
		if err := g.bk.Declare(ctx, t); err != nil {
			return fmt.Errorf("declare the topology of namespace %s: %w", g.ns, classed(err))
		}
	}
	return nil
}

// declareMarker makes the broker remember that the scope was born.
func (g *Governor) declareMarker(ctx context.Context, s wire.Scope) error {
	return g.declare(ctx, broker.Topology{Exchanges: []broker.Exchange{{Name: g.ns.BornExchange(s), Kind: broker.Fanout}}})
}
