package main

import (
	"context"

	"github.com/traction-go/traction/internal/store"
)

// ledgerOnAgainstOff drains with the in-flight ledger (notes, landing marks, deaths)
// and without it. Nothing else differs, and nothing outside this measurement can turn
// it off.
func ledgerOnAgainstOff(ctx context.Context, b *bench) (float64, string, error) {
	off := func(ctx context.Context, b *bench) (float64, error) {
		restore, err := store.WithoutLedger()
		if err != nil {
			return 0, err
		}
		defer restore()
		return drainGoverned(ctx, b)
	}
	return compare(ctx, b, side{"on", drainGoverned}, side{"off", off})
}
