package rehearse

import (
	"context"
	"fmt"

	"github.com/traction-go/traction/pkg/governor"
)

// replay sends half of what is rejected and half of what is parked back to its
// runways, where it lands.
func (r *rehearsal) replay(ctx context.Context) (string, error) {
	n := map[governor.Shelf]int{}
	for _, gate := range r.gates() {
		for _, shelf := range r.shelves(gate) {
			half := (r.want[gate].on(shelf) + 1) / 2
			moved, err := r.moved(ctx, r.desk.Replay, shelf, gate, half)
			if err != nil {
				return "", err
			}
			n[shelf] += moved
			r.add(gate, shelfTally(shelf, -moved).plus(Tally{Landed: moved}))
		}
	}
	return fmt.Sprintf("%d rejected and %d parked flights replayed, and landed", n[governor.RejectedShelf], n[governor.ParkedShelf]), r.settled(ctx)
}

// discard drops half of the rejected records that are left, and everything that is
// parked.
func (r *rehearsal) discard(ctx context.Context) (string, error) {
	n := map[governor.Shelf]int{}
	for _, gate := range r.gates() {
		for _, shelf := range r.shelves(gate) {
			some := r.want[gate].on(shelf)
			if shelf == governor.RejectedShelf {
				some /= 2
			}
			moved, err := r.moved(ctx, r.desk.Discard, shelf, gate, some)
			if err != nil {
				return "", err
			}
			n[shelf] += moved
			r.add(gate, shelfTally(shelf, -moved).plus(Tally{Discarded: moved}))
		}
	}
	return fmt.Sprintf("%d rejected and %d parked flights discarded", n[governor.RejectedShelf], n[governor.ParkedShelf]), r.settled(ctx)
}

// moved moves n flights of a gate's shelf.
func (r *rehearsal) moved(ctx context.Context, verb func(context.Context, governor.Shelf, string, governor.MoveOptions) (governor.MoveResult, error), shelf governor.Shelf, gate string, n int) (int, error) {
	if n == 0 {
		return 0, nil
	}
	m, err := verb(ctx, shelf, gate, governor.MoveOptions{Filter: governor.ParkedFilter{Limit: n}, Confirm: gate})
	if err != nil {
		return m.Moved, err
	}
	if m.Moved != n {
		return m.Moved, &Mismatch{Wanted: fmt.Sprintf("%s: %d %s flights moved", gate, n, shelf), Seen: fmt.Sprintf("%d of %d, %d left", m.Moved, m.Planned, m.Left)}
	}
	return m.Moved, nil
}

// shelves are those that the gate keeps flights on.
func (r *rehearsal) shelves(gate string) []governor.Shelf {
	if r.droppers()[gate] {
		return []governor.Shelf{governor.ParkedShelf}
	}
	return []governor.Shelf{governor.RejectedShelf, governor.ParkedShelf}
}

// on is how many are on a shelf.
func (t Tally) on(s governor.Shelf) int {
	if s == governor.RejectedShelf {
		return t.Rejected
	}
	return t.Parked
}

func shelfTally(s governor.Shelf, n int) Tally {
	if s == governor.RejectedShelf {
		return Tally{Rejected: n}
	}
	return Tally{Parked: n}
}
