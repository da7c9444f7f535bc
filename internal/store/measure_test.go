package store_test

import (
	"testing"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/pkg/settle"
)

// What is measured without the ledger flies and lands as it does with it, and
// nothing else is measured.
func TestTheLedgerCanBeLeftOutForMeasuring(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		written := func() int64 {
			b.t.Helper()
			n, err := b.raw.HLen(t.Context(), b.keys.Flying()).Result()
			if err != nil {
				b.t.Fatal(err)
			}
			return n
		}
		fly := func(flight string) {
			b.t.Helper()
			r := b.clear(flight)
			want(b.t, r, store.Cleared)
			r = b.call(store.FlightCall{Settle: []store.Settled{{Flight: flight, Incarnation: b.cfg.Incarnation, EpochA: r.EpochA, EpochG: r.EpochG,
				Start: r.Start, Outcome: "LANDED", Move: settle.Move{Settlement: settle.Land}, Seat: -1}}})
			if len(r.Verdicts) != 1 || r.Verdicts[0] != store.Make {
				b.t.Fatalf("the landing was answered %v", r.Verdicts)
			}
		}
		restore, err := store.WithoutLedger()
		if err != nil {
			b.t.Fatal(err)
		}
		defer restore()
		fly("without")
		if n := written(); n != 0 {
			b.t.Errorf("%d entries were written without the ledger", n)
		}
		restore()
		fly("with")
		if n := written(); n != 1 {
			b.t.Errorf("%d entries with the ledger, want the landing mark", n)
		}
		landed, err := b.raw.HGet(t.Context(), b.keys.Gate("contacts"), "landed").Int()
		if err != nil || landed != 2 {
			b.t.Errorf("%d landings were counted (%v), want both", landed, err)
		}
	})
}
