package demo

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

const (
	batchAirport = "db:reports"
	batchGateID  = "events"
	batchScope   = batchAirport + "/" + batchGateID

	batchSize   = 25
	batchLinger = 200 * time.Millisecond

	// fewer is how many times fewer writes and error lines a batched gate is held to.
	fewer = 5
)

// lull is the batch scenario as it goes on, when the storm is over: the same events,
// through a batched gate.
type lull struct {
	*act
	db    *database
	sink  *errorLog
	began time.Time
	drain time.Duration
}

// batch is a backlog of events that fight over a database's rows: one by one, and in
// batches.
func batch(ctx context.Context, st *stage) (*Result, error) {
	n := st.Flights
	st.Narrator.Say("batch: %s events, five of each payment; each has its payment's reports rebuilt", count(n))
	naive, err := storm(ctx, st)
	if err != nil {
		return nil, err
	}
	st.errors = &errorLog{}
	b := &lull{act: newAct(st, "batch"), db: newDatabase(st.sabotage), sink: st.errors}
	b.res.Label, b.res.Against = "traction", naive
	b.airport = batchAirport
	airport, err := b.declare()
	if err != nil {
		return nil, err
	}
	return b.play(ctx, airport, b.books, b.send, b.land)
}

func (b *lull) declare() (governor.Airport, error) {
	byPayment, err := governor.PointerKey("/payment/id")
	if err != nil {
		return governor.Airport{}, err
	}
	log := b.log()
	size := batchSize
	if b.sabotage.batch > 0 {
		size = b.sabotage.batch
	}
	return governor.Airport{
		ID:    batchAirport,
		Slots: governor.Slots{N: b.Rate, Per: window},
		Holds: settle.Policy{Transient: []time.Duration{beat, beat, beat}}, // a demo waits for nobody
		Gates: []governor.Gate{{
			ID: batchGateID, Workers: workers, Timeout: 10 * time.Second, Reporter: reportDeadlock,
			Batch: &governor.Batch{
				Size: size, Linger: batchLinger, Dedupe: byPayment,
				Pilot: governor.JSONBatch(func(ctx context.Context, flights []governor.Flight[event]) error {
					payments := make([]string, len(flights))
					for i, f := range flights {
						payments[i] = f.Payload.Payment.ID
					}
					err := rebuildAll(ctx, b.db, payments)
					if err != nil {
						log.Error("report rebuild failed", "payments", len(payments), "error", err)
					}
					return err
				}),
			},
		}},
	}, nil
}

// reportDeadlock says what only the application knows: that a deadlock is worth
// another try in place.
func reportDeadlock(ctx context.Context, f governor.Meta, err error) governor.Report {
	if errors.Is(err, errDeadlock) {
		return governor.Conflict(err)
	}
	return governor.DefaultReporter(ctx, f, err)
}

func (b *lull) send(ctx context.Context) (bool, error) {
	b.Narrator.Say("  traction: the same events in batches of %d, %d processes x %d workers, at most %s calls a second", batchSize, processes, workers, count(b.Rate))
	b.began = time.Now()
	sent, err := b.desk.DispatchAll(ctx, batchScope, b.events())
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	want(b.res, "dispatched", sent.Sent, b.n)
	return true, err
}

func (b *lull) events() iter.Seq2[governor.Outgoing, error] {
	return func(yield func(governor.Outgoing, error) bool) {
		for i := range b.n {
			e := eventNumber(i)
			b.db.happen(e.Payment.ID)
			if !yield(governor.Outgoing{Payload: e.payload(), BusinessID: e.id(), ContentType: "application/json"}, nil) {
				return
			}
		}
	}
}

// land watches until every event has landed. A stop, or something that is parked,
// ends the watch: it would not pass by itself.
func (b *lull) land(ctx context.Context) (bool, error) {
	var a governor.AirportInfo
	_, err := watch(ctx, b.stage, func(ctx context.Context) (seen [3]int, done bool, err error) {
		a, err = b.look(ctx)
		k := b.db.books()
		b.Narrator.Progress("    landed %s of %s · deadlocks %s · error lines %s", count(int(a.Landed)), count(b.n), count(k.conflicts), count(int(b.sink.lines.Load())))
		if b.drain == 0 && int(a.Landed) >= b.n {
			b.drain = time.Since(b.began)
		}
		stuck := a.State != governor.OpenState || gate(a, batchScope).State != governor.OpenState || a.Parked+a.Rejected > 0
		empty := a.Runway == 0 && a.Holding == 0 && a.InAir == 0 // the beats tell what is in hand a moment late
		return [3]int{k.writes, int(a.Landed), a.Runway + a.InAir}, err == nil && (stuck || b.drain > 0 && empty), err
	})
	if b.drain == 0 {
		b.drain = time.Since(b.began)
	}
	return err == nil, err
}

// books measures what is left when the fleet has drained.
func (b *lull) books(ctx context.Context) error {
	a, err := b.look(ctx)
	if err != nil {
		return err
	}
	stray, err := b.stray(ctx)
	if err != nil {
		return err
	}
	k, lines := b.db.books(), int(b.sink.lines.Load())
	waiting := a.Runway + a.Holding
	lost := b.n - int(a.Landed) - waiting - a.Parked - a.Rejected - stray
	b.Narrator.Say("    %s rebuilds of %s payments in %s transactions; reports that miss an event: %s",
		count(k.rebuilds), count(k.payments), count(k.commits), count(k.stale))

	r := b.res
	r.fact("error lines", lines)
	r.fact("writes", k.writes)
	r.fact("conflicts", k.conflicts)
	r.fact("lost", lost)
	r.fact("drain", b.drain)
	want(r, "lost", lost, 0)
	want(r, "landed", int(a.Landed), b.n)
	want(r, "parked", a.Parked, 0)
	want(r, "rejected", a.Rejected, 0)
	want(r, "waiting or dead-lettered", waiting+stray, 0)
	want(r, "notifications", len(b.pager.taken()), 0)
	want(r, "payments whose reports miss an event", k.stale, 0)
	for _, f := range []struct {
		what string
		own  int
	}{{"writes", k.writes}, {"error lines", lines}} {
		naive, _ := r.Against.value(f.what).(int)
		r.check(naive > 0 && naive >= fewer*f.own, "%s: %d, want at most one for each %d of the naive consumer's %d", f.what, f.own, fewer, naive)
	}
	return nil
}
