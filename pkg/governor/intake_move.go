package governor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// copying is a message whose flight is being published.
type copying struct {
	d      broker.Delivery
	flight wire.Flight
}

// move publishes the flights of the batch, pipelined, until every one is confirmed,
// and gives what is to be acknowledged. What came in a session that is over meanwhile
// is left: the broker hands it out again. false when ctx ended first.
func (in *intake) move(ctx context.Context, batch []broker.Delivery) ([]broker.Delivery, bool) {
	now := time.Now()
	todo := make([]copying, len(batch))
	for i, d := range batch {
		todo[i] = copying{d, in.read.flight(in.s.spec.ID, d.Message(), now)}
		in.s.g.stats.adopts(in.gate, d.Message().Timestamp, d.Redelivered())
	}
	var moved []broker.Delivery
	b := newBackoff(100*time.Millisecond, 5*time.Second)
	for {
		in.hearLosses()
		had := len(todo)
		todo = slices.DeleteFunc(todo, func(c copying) bool { return c.d.Session() <= in.lost })
		in.s.g.stats.lostAdopted(in.gate, had-len(todo))
		if len(todo) == 0 {
			return moved, true
		}
		msgs := make([]broker.Publishing, len(todo))
		for i := range todo {
			f := &todo[i].flight
			msgs[i] = broker.Publishing{Exchange: in.s.g.ns.RunwayExchange(), Key: f.Scope.String(), Message: f.Message()}
		}
		var again []copying
		var first error
		for i, err := range in.s.g.bk.Publish(ctx, msgs) {
			switch {
			case err == nil:
				moved = append(moved, todo[i].d)
				continue
			case errors.Is(err, broker.ErrUnroutable):
				signal(in.s.bear) // the runway is gone: it is declared again
			case errors.Is(err, broker.ErrInvalid):
				// One cannot travel: without them, rather than not at all.
				todo[i].flight.Msg.Headers = map[string]any{wire.HeaderAdoptedFrom: in.spec.Queue}
			}
			if first == nil {
				first = err
			}
			again = append(again, todo[i])
		}
		in.count(len(todo) - len(again))
		if todo = again; len(todo) == 0 {
			return moved, true
		}
		in.warn(ctx, "moving from the adopted queue failed; it is tried again, and the originals stay until it is done", first)
		if !b.wait(ctx) {
			in.log.Warn("leaving with messages of the adopted queue in hand: they go back to it", "messages", len(todo))
			in.ack(moved)
			return nil, false
		}
	}
}

// hearLosses takes in which sessions are over.
func (in *intake) hearLosses() {
	for {
		select {
		case session, ok := <-in.sub.Lost():
			if ok {
				in.lost = max(in.lost, session)
				continue
			}
		default:
		}
		return
	}
}

func (in *intake) ack(moved []broker.Delivery) {
	for _, d := range moved {
		if err := d.Ack(); err != nil {
			// Its session is over: it is handed out again, and moved once more.
			in.s.g.stats.lostAdopted(in.gate, 1)
			in.log.Debug("a message that was moved could not be acknowledged", "error", err)
		}
	}
}

// count notes how many were moved.
func (in *intake) count(n int) {
	if n == 0 {
		return
	}
	in.s.g.stats.moved(in.gate, int64(n))
	p := &in.s.g.permits
	p.mu.Lock()
	p.moved += n
	p.mu.Unlock()
}

func (s *stats) moved(g wire.Scope, n int64) {
	s.mu.Lock()
	s.gate(g).Moved += n
	s.mu.Unlock()
}
