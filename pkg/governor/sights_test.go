package governor_test

import (
	"context"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/pkg/governor"
)

// What was marked as redelivered before the fleet came stays apart from what the fleet
// itself returns, and what waits in the adopted queue is counted and has an age.
func TestOldScarsAreToldFromFreshReturns(t *testing.T) {
	f := onReal(t)
	q := f.queue(amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(20)})
	made := time.Now().Add(-time.Hour).Truncate(time.Second)
	old := func(i int) amqp.Publishing {
		p := numbered(i)
		p.Timestamp = made.Add(time.Duration(i) * time.Second)
		return p
	}
	q.publish(0, 5, old)
	q.redelivered() // somebody looked, which marks them all
	next := make(chan struct{})
	a := payments(q.name, governor.PilotFunc(func(ctx context.Context, _ governor.Flight[[]byte]) error {
		select {
		case <-next:
			<-time.After(20 * time.Millisecond) // for quick calls more are cleared than fly
		case <-ctx.Done():
		}
		return ctx.Err()
	}))
	a.Gates[0].Workers, a.Gates[0].Timeout = 1, 10*time.Minute
	g, _ := f.run(a)
	t.Cleanup(func() { close(next) }) // before the fleet drains
	gate := func() governor.GateInfo {
		x, err := g.Gate(t.Context(), "bank:acme/payments")
		if err != nil {
			return governor.GateInfo{}
		}
		return x
	}
	next <- struct{}{}
	f.until("one landing, one in the air, three waiting, five old scars", func() bool {
		x := gate()
		return x.Acked == 1 && x.Landed == 1 && x.InAir == 1 && x.Runway == 3 && x.Scars == 5 && x.Fresh == 0 && x.Call > 0
	})
	aged := func(at time.Time) bool { return !at.Before(made) && at.Before(made.Add(5*time.Second)) }
	f.until("the age of the oldest in hand", func() bool { return aged(gate().Oldest) })
	if _, err := g.Pause(t.Context(), "bank:acme/payments", governor.PauseOptions{Reason: "looking"}); err != nil {
		t.Fatal(err)
	}
	f.until("nobody takes from the queue", func() bool { return q.consumers() == 0 })
	q.publish(5, 8, old)
	f.until("what was in hand returned, and three that stay where they are", func() bool {
		x := gate()
		return x.Adopts == q.name && x.Adopted == 3 && x.Runway == 3 && x.Waiting() == 6 && aged(x.Oldest) && x.Drain == 0
	})
	if _, err := g.Reopen(t.Context(), "bank:acme/payments", governor.ReopenOptions{}); err != nil {
		t.Fatal(err)
	}
	f.until("fresh marks beside the old ones", func() bool {
		x := gate()
		return x.Fresh > 0 && x.Scars == 5 && x.Adopted == 0 && x.Runway == 6 && x.Drain == governor.Unknown
	})
	s := g.Stats().Gates["bank:acme/payments"]
	if s.Fresh == 0 || s.Fresh > s.Returned || s.Scars != 5 || s.Moved != 8 {
		t.Errorf("%+v", s)
	}
}
