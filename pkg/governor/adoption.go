package governor

import (
	"context"
	"strings"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// Adoption names a queue that stands already, and whose messages a gate takes
// over: each becomes a flight and is moved to the gate's runway, a few at a time.
// The queue is consumed with the arguments it has and never declared. While the
// gate, its airport or a gate of the Route is not open, what waits in the queue
// stays there, and another consumer can take it.
type Adoption struct {
	// Queue is the queue's name. Required. One that this version cannot adopt is a
	// stream, which keeps what was acknowledged.
	Queue string

	// BusinessID is a JSON pointer into the body, such as /payment/id: the string,
	// number or boolean there is the flight's business id. Where there is none, or
	// one that is over 255 bytes or not UTF-8, the flight has none. "": no business ids.
	BusinessID string

	// Route sends some of the messages to other gates. nil: all come to this one.
	Route *Route

	// Park parks the flights of this gate while it is stopped. The default of an
	// adopted gate is to let them stay, whatever Gate.OnStop says.
	Park bool
}

// Route tells by a value in the body which gate of the airport a message is for.
type Route struct {
	By      string            // a JSON pointer, such as /type. Required
	Gates   map[string]string // the gate's ID for each value. Required
	Default string            // for all others, and what is not JSON. "": the gate that adopts
}

func (a *Adoption) validate(at string) error {
	at += ": Adopt"
	if a.Queue == "" {
		return badSpec(at+".Queue", "is required: the name of the queue to take over")
	}
	if err := broker.CheckName("queue", a.Queue); err != nil {
		return badSpec(at+".Queue", "%v", err)
	}
	if _, err := jsonptr.Parse(a.BusinessID); err != nil {
		return badSpec(at+".BusinessID", "%v", err)
	}
	if a.Route == nil {
		return nil
	}
	if _, err := jsonptr.Parse(a.Route.By); err != nil {
		return badSpec(at+".Route.By", "%v", err)
	}
	if a.Route.By == "" {
		return badSpec(at+".Route.By", "is required: a JSON pointer such as /type")
	}
	if len(a.Route.Gates) == 0 {
		return badSpec(at+".Route.Gates", "is required: which value goes to which gate")
	}
	return nil
}

// fed are the gates that messages of the queue can go to; own is the gate that
// adopts it.
func (a *Adoption) fed(own string) []string {
	if a.Route == nil {
		return []string{own}
	}
	all := []string{or(a.Route.Default, own)}
	seen := map[string]bool{all[0]: true}
	for _, id := range a.Route.Gates {
		if !seen[id] {
			seen[id] = true
			all = append(all, id)
		}
	}
	return all
}

// checkAdopted refuses what no single gate can see: routes to gates that are not
// there, and two intakes on one queue, where neither would know what it gets.
func (a Airport) checkAdopted() error {
	at := "airport " + a.ID
	has := map[string]bool{}
	for _, g := range a.Gates {
		has[g.ID] = true
	}
	by := map[string]string{}
	for _, g := range a.Gates {
		if g.Adopt == nil {
			continue
		}
		at := at + ", gate " + g.ID + ": Adopt"
		if other, taken := by[g.Adopt.Queue]; taken {
			return badSpec(at+".Queue", "queue %q is adopted by gate %s already; use its Route", wire.Visible(g.Adopt.Queue), other)
		}
		by[g.Adopt.Queue] = g.ID
		for _, id := range g.Adopt.fed(g.ID) {
			if !has[id] {
				return badSpec(at+".Route", "gate %q is not one of this airport", wire.Visible(id))
			}
		}
	}
	return nil
}

// checkAdoptions refuses queues that this installation made, and a queue that two
// airports adopt.
func (g *Governor) checkAdoptions(airports []Airport) error {
	by := map[string]string{}
	for _, a := range airports {
		for _, gate := range a.Gates {
			if gate.Adopt == nil {
				continue
			}
			at, q := "airport "+a.ID+", gate "+gate.ID+": Adopt.Queue", gate.Adopt.Queue
			if strings.HasPrefix(q, string(g.ns)+".") {
				return badSpec(at, "%q belongs to namespace %s itself", wire.Visible(q), g.ns)
			}
			if other, taken := by[q]; taken {
				return badSpec(at, "queue %q is adopted by airport %s already", wire.Visible(q), other)
			}
			by[q] = a.ID
		}
	}
	return nil
}

// adoptedAt counts what waits in a queue that is adopted. One that is not there has
// nothing, which missing tells from one that is empty. "" is no queue.
func (g *Governor) adoptedAt(ctx context.Context, queue string) (n int, missing bool) {
	if queue == "" {
		return 0, false
	}
	n, exists, err := g.bk.Depth(ctx, queue)
	switch {
	case err != nil:
		return Unread, false
	case !exists:
		return 0, true
	}
	return n, false
}

// onStop is what a stopped gate does with its flights.
func (g Gate) onStop() settle.OnStop {
	switch {
	case g.Adopt == nil:
		return g.OnStop
	case g.Adopt.Park:
		return settle.ParkOnStop
	}
	return settle.StayOnStop
}
