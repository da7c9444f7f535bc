package governor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// moveStep is a batch on its way.
type moveStep struct {
	ds  []broker.Delivery
	err error
	at  []whereabouts
}

// whereabouts is what is known of a flight of a step.
type whereabouts byte

const (
	onShelf whereabouts = iota // it was not acknowledged
	twice                      // on the shelf, with a copy on its runway, or perhaps
	unheard                    // acknowledged, and nobody knows whether the broker heard it
	gone                       // the broker has handled its acknowledgement
)

// step moves one batch: the script, the copies and their confirms, then the acks, and
// that the broker has handled them.
// An interrupted command finishes the steps it has begun.
func (m *mover) step(ctx context.Context, subs []broker.Subscription, ds []broker.Delivery, watch bool) moveStep {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	s := moveStep{ds: ds, at: make([]whereabouts, len(ds))}
	waiters := make([]store.Waiter, 0, len(ds))
	flights := make([]wire.Flight, len(ds))
	for i, d := range ds {
		// What cannot be read is moved as it is.
		flights[i], _ = wire.ParseFlight(d.Message(), m.gate, 0)
		waiters = append(waiters, store.Waiter{Flight: flights[i].ID, Run: flights[i].Charter, Seat: flights[i].Seat, Deaths: remembered(&flights[i])})
	}
	if m.verb == "discard" {
		if s.err = m.desk.BeforeDiscard(ctx, m.gate.Gate, m.actor, waiters); s.err != nil {
			return s
		}
		for i, d := range ds {
			if err := d.Ack(); err != nil {
				s.err = err
				continue
			}
			s.at[i] = unheard
		}
		s.heard(ctx, subs)
		return s
	}
	if s.err = m.desk.BeforeReplay(ctx, m.gate.Gate, m.actor, watch, waiters); s.err != nil {
		return s
	}
	msgs := make([]broker.Publishing, len(ds))
	for i := range flights {
		f := &flights[i]
		f.Replays++
		f.Holds.Transient, f.Holds.Internal, f.HoldReason = 0, 0, ""
		f.ParkedReason, f.Evidence, f.ParkedAt, f.Deaths = "", "", time.Time{}, nil
		msgs[i] = broker.Publishing{Exchange: m.g.ns.RunwayExchange(), Key: m.gate.String(), Message: f.Message()}
	}
	for i, err := range m.g.bk.Publish(ctx, msgs) {
		if err == nil {
			s.at[i] = twice // until it is acknowledged
			if err = ds[i].Ack(); err == nil {
				s.at[i] = unheard
				continue
			}
		} else if errors.Is(err, broker.ErrNotConfirmed) || errors.Is(err, broker.ErrUnreachable) {
			s.at[i] = twice
		}
		s.err = err
	}
	s.heard(ctx, subs)
	return s
}

// heard asks the broker whether it has handled the acknowledgements.
func (s *moveStep) heard(ctx context.Context, subs []broker.Subscription) {
	ctx, cancel := context.WithTimeout(ctx, heardFor)
	defer cancel()
	known := map[uint64]error{}
	for i, d := range s.ds {
		if s.at[i] != unheard {
			continue
		}
		err, seen := known[d.Session()]
		if !seen {
			err = broker.ErrStale
			for _, sub := range subs {
				if err = sub.Sync(ctx, d.Session()); err == nil || !errors.Is(err, broker.ErrStale) {
					break // of this consumer
				}
			}
			known[d.Session()] = err
		}
		if err == nil {
			s.at[i] = gone
		} else if s.err == nil {
			s.err = fmt.Errorf("the broker did not say that it has the acknowledgements: %w", err)
		}
	}
}

// remembered is what the store is told again of the workers a flight killed: for a
// poison pill one of them, so that it flies alone and one more death convicts it.
func remembered(f *wire.Flight) string {
	if len(f.Deaths) > 1 && f.ParkedReason == settle.ReasonPoisonPill {
		return f.Deaths[0]
	}
	return strings.Join(f.Deaths, ",")
}

// done counts a step.
func (m *mover) done(s moveStep) {
	for i, at := range s.at {
		switch at {
		case gone:
			m.res.Moved++
		case unheard:
			m.res.Unknown++
		case twice:
			m.doubled++
			fallthrough
		default:
			m.held = append(m.held, s.ds[i])
		}
	}
	if s.err != nil && m.stopped == nil {
		if m.stopped = classed(s.err); errors.Is(s.err, broker.ErrStale) {
			m.stopped = fmt.Errorf("%w: the connection was lost; run it again for the rest: %w", ErrUnreachable, s.err)
		}
	}
}
