package governortest

import (
	"context"
	"strings"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Airport is what stands of an airport at this moment.
type Airport struct {
	governor.AirportInfo
	// Waiting counts the flights still on their way, of all gates: on a runway, in
	// a worker's hand, or on hold. What is parked waits for a human and is not
	// among them.
	Waiting int
	// Notifications are what people were told of it and its gates, in order.
	Notifications []governor.Notification
}

// Gate is what stands of a gate at this moment.
type Gate struct {
	governor.GateInfo
	// Waiting is as in Airport.
	Waiting int
	// Notifications are what people were told of it, in order.
	Notifications []governor.Notification
}

// Airport tells what stands of an airport.
func (f *Field) Airport(id string) Airport {
	f.t.Helper()
	var a Airport
	f.do("Airport", func() (err error) {
		if a.AirportInfo, err = f.desk.Airport(context.Background(), id); err != nil {
			return err
		}
		for _, g := range a.Gates {
			a.Waiting += f.waiting(g.Gate).all
		}
		return nil
	})
	for _, n := range f.Notifications() {
		if n.Scope == id || strings.HasPrefix(n.Scope, id+"/") {
			a.Notifications = append(a.Notifications, n)
		}
	}
	return a
}

// Gate tells what stands of a gate, "airport/gate".
func (f *Field) Gate(scope string) Gate {
	f.t.Helper()
	var g Gate
	f.do("Gate", func() (err error) {
		g.GateInfo, err = f.desk.Gate(context.Background(), scope)
		g.Waiting = f.waiting(scope).all
		return err
	})
	for _, n := range f.Notifications() {
		if n.Scope == scope {
			g.Notifications = append(g.Notifications, n)
		}
	}
	return g
}

// ways says where a gate's flights are that have not come to an end.
type ways struct {
	all   int
	ready int // of them, on the runway and in nobody's hand
}

// waiting counts them by the broker's own books.
func (f *Field) waiting(gate string) ways {
	scope, err := wire.ParseGate(gate)
	if err != nil {
		return ways{}
	}
	var w ways
	for queue, n := range f.broker.Count(gate) {
		switch queue {
		case f.ns.Parked(scope), f.ns.Rejected(scope, wire.DefaultRejectedKeep):
			continue
		case f.ns.Runway(scope):
			w.ready += n.Ready
		}
		w.all += n.Ready + n.Handed
	}
	return w
}
