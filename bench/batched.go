package main

import (
	"context"

	"github.com/traction-go/traction/pkg/governor"
)

const (
	inBatches = 10000 // flights a round
	batchOf   = 25
)

// batchedAgainstSingle drains the same flights through a gate that flies 25 in one
// call and through one that flies each by itself: no-op pilots, 4 workers, unlimited
// slots. A pilot that does nothing has nothing to win by a batch, so this is what the
// machinery of batches costs or saves by itself.
func batchedAgainstSingle(ctx context.Context, b *bench) (float64, string, error) {
	through := func(of func(func(int)) governor.Gate) func(context.Context, *bench) (float64, error) {
		return func(ctx context.Context, b *bench) (float64, error) {
			return b.drain(ctx, backlog{n: b.amount(inBatches)}, of)
		}
	}
	batched := func(landed func(int)) governor.Gate {
		return governor.Gate{Batch: &governor.Batch{Size: batchOf, Pilot: governor.BatchPilotFunc(
			func(_ context.Context, flights []governor.Flight[[]byte]) error {
				landed(len(flights))
				return nil
			})}}
	}
	return compare(ctx, b, side{"batched", through(batched)}, side{"single", through(single)})
}
