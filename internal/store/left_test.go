package store_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/pkg/settle"
)

// totals reads what the store counts of the board's gate.
func (b *board) totals() (acked, landed int64, done store.Left) {
	b.t.Helper()
	sn, err := b.s.Snapshots(context.Background(), modelAirport)
	if err != nil {
		b.t.Fatal(err)
	}
	return sn[0].Gates[0].Acked, sn[0].Gates[0].Landed, sn[0].Left["contacts"]
}

// Whatever is acknowledged counts as acked, what comes back does not count as done, and
// a delivery that is gone counts as neither: it is handed out again.
func TestWhatLeavesTheRunwayIsCounted(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(7)
		b.end(3, settle.Landed)
		b.end(1, settle.FlightFault)
		b.end(1, settle.Transient)
		gone := b.settled(b.from[b.air[0]], b.air[0], "gone", settle.Landed)
		gone.Gone = true
		one := b.settled(b.from[b.air[1]], b.air[1], "last", settle.Landed)
		call := store.FlightCall{Settle: []store.Settled{gone, one}}
		b.call(call)
		b.seq-- // the reply was lost
		b.call(call)
		acked, landed, done := b.totals()
		if acked != 6 || landed != 5 {
			t.Errorf("%d acked and %d landed, want 6 and 5", acked, landed)
		}
		if minute := b.now / 60_000; !maps.Equal(done.Minutes, map[int64]int64{minute: 5}) || done.From.UnixMilli() != b.now {
			t.Errorf("%+v, want 5 done in minute %d", done, minute)
		}
	})
}

// For the first two minutes after a rest the store tells the first burst from the rest.
func TestTheFirstBurstIsTold(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		land := func(n int, after time.Duration) {
			b.at(after.Milliseconds())
			b.take(n)
			b.end(n, settle.Landed)
		}
		told := func(first, early int64, earlyAt, last int64) {
			t.Helper()
			_, _, d := b.totals()
			if d.First != first || d.Early != early || d.EarlyAt.UnixMilli() != earlyAt || d.Last.UnixMilli() != last {
				t.Fatalf("%+v, want %d at once, %d early until %d, the last at %d", d, first, early, earlyAt, last)
			}
		}
		for range 2 { // it begins anew after a rest
			land(2, 10*time.Minute)
			told(2, 2, b.now, b.now)
			land(3, 4*time.Second)
			end := b.now
			told(2, 5, end, end)
			land(4, 30*time.Second)
			told(2, 5, end, b.now)
			last := b.now
			land(1, 2*time.Minute)
			told(2, 5, end, last)
		}
	})
}

// The store keeps few minutes, whatever the clock does, and knows when a rest ended.
func TestMinutesAreARing(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		land := func(n int, after time.Duration) {
			b.at(after.Milliseconds())
			b.take(n)
			b.end(n, settle.Landed)
		}
		minute := func() int64 { return b.now / 60_000 }
		land(2, time.Second)
		began := b.now
		land(1, time.Millisecond)
		first := minute()
		land(1, 5*time.Minute)
		if _, _, d := b.totals(); !maps.Equal(d.Minutes, map[int64]int64{first: 3, first + 5: 1}) || d.From.UnixMilli() != began {
			t.Fatalf("%+v, want 3 in %d, 1 in %d, since %d", d, first, first+5, began)
		}
		land(1, 6*time.Minute)
		if _, _, d := b.totals(); len(d.Minutes) != 3 || d.From.UnixMilli() != b.now {
			t.Fatalf("%+v, want three minutes, since %d: it had rested", d, b.now)
		}
		for range 40 {
			land(1, time.Minute)
		}
		last := minute()
		_, landed, d := b.totals()
		if len(d.Minutes) != store.LeftMinutes || d.Minutes[last] != 1 || d.Minutes[last-store.LeftMinutes+1] != 1 || landed != 45 {
			t.Fatalf("%d landed; %+v, want the %d minutes up to %d", landed, d, store.LeftMinutes, last)
		}
		// The clock is set back: what is still to come was never done.
		land(1, -time.Hour)
		if _, _, d := b.totals(); !maps.Equal(d.Minutes, map[int64]int64{minute(): 1}) || d.From.UnixMilli() != b.now {
			t.Fatalf("%+v, want minute %d alone", d, minute())
		}
	})
}
