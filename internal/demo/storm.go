package demo

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
)

// sendAtOnce is how many events are sent in one go, while others are being consumed.
const sendAtOnce = 500

// storm is the plain consumer of events: a transaction for each, and what fails goes
// straight back to the queue, to the same rows.
func storm(ctx context.Context, st *stage) (res *Result, err error) {
	n := st.Flights
	db := newDatabase(st.sabotage)
	st.Narrator.Say("  naive: one event in a transaction, row by row; what fails is redelivered at once, retry limit %d", retryLimit)
	sink := st.sink()
	log := slog.New(slog.NewTextHandler(sink, nil))
	handle := func(ctx context.Context, body []byte) error {
		var e event
		err := json.Unmarshal(body, &e)
		if err == nil {
			err = rebuildOne(ctx, db, e)
		}
		if err != nil && ctx.Err() == nil {
			log.Error("report rebuild failed", "event", e.id(), "error", err)
		}
		return err
	}
	l, end, err := st.consume(ctx, handle)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()

	began := time.Now()
	tell := func(b dbBooks, dead int) {
		st.Narrator.Progress("    handled %s of %s · deadlocks %s · error lines %s · dead-lettered %s",
			count(b.commits+dead), count(n), count(b.conflicts), render.Thousands(sink.lines.Load()), count(dead))
	}
	for from := 0; from < n; from += sendAtOnce {
		var bodies [][]byte
		for i := from; i < min(n, from+sendAtOnce); i++ {
			e := eventNumber(i)
			db.happen(e.Payment.ID)
			bodies = append(bodies, e.payload())
		}
		if err := l.Send(ctx, bodies); err != nil {
			return nil, err
		}
		tell(db.books(), 0)
	}
	var b dbBooks
	dead := 0
	if _, err := watch(ctx, st, func(ctx context.Context) (seen [2]int, done bool, err error) {
		_, dead, err = l.Depths(ctx)
		b = db.books()
		tell(b, dead)
		return [2]int{b.writes, dead}, b.commits+dead >= n, err
	}); err != nil {
		return nil, err
	}
	drain := time.Since(began)
	waiting, dead, err := l.Depths(ctx)
	if err != nil {
		return nil, err
	}
	b = db.books()
	lines := int(sink.lines.Load())
	st.Narrator.Say("    %s rebuilds of %s payments, each in a transaction of its own; reports that miss an event: %s",
		count(b.rebuilds), count(b.payments), count(b.stale))

	r := &Result{Scenario: "batch", Label: "naive"}
	r.fact("error lines", lines)
	r.fact("writes", b.writes)
	r.fact("conflicts", b.conflicts)
	r.fact("dead-lettered", dead)
	r.fact("drain", drain)
	want(r, "handled or dead-lettered", b.commits+dead, n)
	want(r, "left on the queue", waiting, 0)
	want(r, "error lines", lines, b.conflicts)
	r.check(b.conflicts > 0, "conflicts: %d, want some: this consumer's transactions lock the same rows in different orders", b.conflicts)
	return r, nil
}
