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

// handler deals with one message of a tower's queue and says what to publish
// before it is acknowledged. An error leaves it on the queue.
type handler func(ctx context.Context, m wire.Message) (*broker.Publishing, error)

// consume empties one of the queues that towers share.
func (t *tower) consume(ctx context.Context, queue string, handle handler) {
	b := newBackoff(200*time.Millisecond, 10*time.Second)
	for ctx.Err() == nil {
		sub, err := t.g.bk.Subscribe(ctx, queue, 20)
		if err != nil {
			if ctx.Err() == nil && t.g.quiet("subscribe "+queue, 30*time.Second) {
				t.g.log.Warn("the tower could not consume a queue; it is tried again", "queue", queue, "error", err)
			}
			b.wait(ctx)
			continue
		}
		b.reset()
		t.empty(ctx, sub, queue, handle)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		if err := sub.Close(end); err != nil {
			t.g.log.Debug("closing a tower's consumer failed", "queue", queue, "error", err)
		}
		cancel()
	}
}

func (t *tower) empty(ctx context.Context, sub broker.Subscription, queue string, handle handler) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Lost():
		case d, ok := <-sub.Deliveries():
			if !ok {
				return
			}
			err := t.one(ctx, d, handle)
			if err == nil || ctx.Err() != nil {
				continue
			}
			if t.g.quiet("tower "+queue, 30*time.Second) {
				t.g.log.Warn("a message of the tower's could not be dealt with; it stays and is tried again", "queue", queue, "error", err)
			}
			if err := d.Nack(); err != nil && !errors.Is(err, broker.ErrStale) {
				t.g.log.Debug("returning a message failed", "queue", queue, "error", err)
			}
			sleep(ctx, time.Second)
		}
	}
}

func (t *tower) one(ctx context.Context, d broker.Delivery, handle handler) error {
	p, err := handle(ctx, d.Message())
	if err != nil {
		return err
	}
	if p != nil {
		if err := t.g.bk.Publish(ctx, []broker.Publishing{*p})[0]; err != nil {
			return err
		}
	}
	if err := d.Ack(); err != nil && !errors.Is(err, broker.ErrStale) {
		return err
	}
	return nil
}

// overLimit parks what hit the broker's delivery limit, through the settle script:
// far above honest use, it is the backstop.
func (t *tower) overLimit(ctx context.Context, m wire.Message) (*broker.Publishing, error) {
	return t.park(ctx, m, settle.ReasonDeliveryLimit, "the broker's delivery limit was reached")
}

// unroutable takes what came back from a hold and found no runway. Where the gate
// is known its flight is parked; else it is kept and told.
func (t *tower) unroutable(ctx context.Context, m wire.Message) (*broker.Publishing, error) {
	gate, ok := t.gateOf(m)
	if ok {
		if _, exists, err := t.g.bk.Depth(ctx, t.g.ns.Runway(gate)); err != nil {
			return nil, err
		} else if exists {
			// The runway is there again: it goes on.
			return &broker.Publishing{Exchange: t.g.ns.RunwayExchange(), Key: gate.String(), Message: m.Forward()}, nil
		}
		if _, exists, err := t.g.bk.Depth(ctx, t.g.ns.Parked(gate)); err != nil {
			return nil, err
		} else if exists {
			return t.park(ctx, m, settle.ReasonDeliveryLimit, "it came back from a hold and its runway was gone")
		}
	}
	return t.keep(m, "a flight came back from a hold and neither its runway nor its parked queue exists"), nil
}

// keep moves what nobody can place to the queue of unreadable messages.
func (t *tower) keep(m wire.Message, why string) *broker.Publishing {
	t.g.log.Error("a message is kept aside: "+why, "queue", t.g.ns.UnreadableQueue(), "message", wire.Visible(m.ID), "type", wire.Visible(m.Type))
	f := m.Forward()
	f.Headers["tr-kept"] = why
	return &broker.Publishing{Exchange: "", Key: t.g.ns.UnreadableQueue(), Message: f}
}

// gateOf reads which gate a message belongs to: from its own header, or, where it
// has none, from the runway that the broker says it left.
func (t *tower) gateOf(m wire.Message) (wire.Scope, bool) {
	s, _ := m.Headers[wire.HeaderScope].(string)
	if s == "" {
		q, _ := m.Headers["x-first-death-queue"].(string)
		s = strings.TrimSuffix(strings.TrimPrefix(q, string(t.g.ns)+"."), ".runway")
	}
	gate, err := wire.ParseGate(s)
	return gate, err == nil
}

func (t *tower) park(ctx context.Context, m wire.Message, reason settle.Reason, why string) (*broker.Publishing, error) {
	gate, ok := t.gateOf(m)
	if !ok {
		return t.keep(m, why+", and its scope cannot be read"), nil
	}
	f, err := wire.ParseFlight(m, gate, 0)
	if wire.CheckFlightID(f.ID) != nil {
		f.ID = newFlightID()
	}
	if err != nil {
		reason, why = settle.ReasonMalformed, err.Error()
	}
	move := settle.Move{Settlement: settle.Park, Reason: reason, Holds: f.Holds}
	verdict, err := t.settle(ctx, gate, store.Settled{Flight: f.ID, Outcome: string(reason), Move: move, Record: f.Record(),
		Evidence: why, Run: f.Charter, Seat: f.Seat, Incarnation: t.g.id + ".1"})
	if err != nil {
		return nil, err
	}
	switch verdict {
	case store.Landed:
		return nil, nil // it landed already: acknowledged
	case store.Make:
	default:
		return nil, fmt.Errorf("flight %s: another worker may be flying it", f.ID)
	}
	f.ParkedReason, f.Evidence, f.ParkedAt, f.Worker = reason, why, time.Now().UTC(), t.g.id
	return &broker.Publishing{Exchange: t.g.ns.ParkedExchange(), Key: gate.String(), Message: f.Message()}, nil
}

// settle runs the settle script for one flight, in the tower's own lane.
func (t *tower) settle(ctx context.Context, gate wire.Scope, s store.Settled) (store.Verdict, error) {
	t.settleMu.Lock()
	defer t.settleMu.Unlock()
	hold := t.holds[gate.Airport]
	if hold == nil {
		hold = t.g.st.Airport(gate.Airport, t.g.id+"-tower", gate.Gate)
		t.holds[gate.Airport] = hold
	}
	asker := s.Incarnation
	for _, st := range t.g.served() {
		if st.spec.ID == gate.Airport {
			asker = st.incs.current() // its beats say whether a note's owner is dead
		}
	}
	limits := Airport{ID: gate.Airport}.withDefaults()
	c := store.FlightCall{Incarnation: asker, Mode: string(Enforce),
		Limits: store.Limits{AirportFault: limits.Streaks.AirportFault, GateFault: limits.Streaks.GateFault,
			RecordFault: limits.Streaks.RecordFault, Transient: limits.Streaks.Transient, Window: limits.Streaks.Window},
		Steps: limits.Holds.Transient, Settle: []store.Settled{s}}
	t.seq++
	c.Seq = t.seq
	for try := 0; ; try++ {
		r, err := hold.Flight(ctx, gate.Gate, c)
		if err == nil {
			return r.Verdicts[0], nil
		}
		if try == 3 || ctx.Err() != nil {
			return store.Late, err
		}
	}
}

// unapplied runs the settle script for reports of data planes that cannot. What
// cannot be read is kept aside.
func (t *tower) unapplied(ctx context.Context, m wire.Message) (*broker.Publishing, error) {
	b, err := wire.ParseReports(m.Body)
	if err != nil {
		return t.keep(m, "a batch of reports cannot be read: "+wire.CleanEvidence(err.Error())), nil
	}
	for _, r := range b.Reports {
		if r.Applied {
			continue
		}
		gate, err := wire.ParseGate(r.Scope)
		if err != nil {
			return t.keep(m, err.Error()), nil
		}
		if _, exists, err := t.g.st.GatesOf(ctx, gate.Airport); err != nil {
			return nil, err
		} else if !exists {
			return t.keep(m, "a report of an airport nobody has declared: "+gate.Airport), nil
		}
		s := store.Settled{Flight: r.Flight, Incarnation: wire.Visible(b.Worker) + ".1", EpochA: r.Epoch, EpochG: r.Epoch,
			Start: r.Epoch, Outcome: r.Outcome, Record: or(r.BusinessID, r.Flight), Run: r.Charter, Seat: wire.NoSeat}
		if r.Seat != nil {
			s.Seat = *r.Seat
		}
		if r.Evidence != nil {
			s.Evidence = r.Evidence.String()
		}
		o, err := settle.ParseOutcome(r.Outcome)
		if err != nil {
			return t.keep(m, err.Error()), nil
		}
		plan := settle.Decide(o, settle.Holds{}, settle.DefaultPolicy())
		s.Move, s.Otherwise = plan.Move, plan.Otherwise
		if _, err := t.settle(ctx, gate, s); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
