package main

import (
	"context"
	"fmt"

	"github.com/traction-go/traction/internal/demo"
)

// deadVendorCalls counts the calls that reach a vendor whose token has expired:
// contacts flown by a naive consumer that tries each four times, and by governed
// workers, 3 processes with 4 each on both sides. It plays the two scenarios of
// `tractionctl demo` on the real services; each fails where anything was lost.
func deadVendorCalls(ctx context.Context, b *bench) (float64, string, error) {
	o := demo.Options{Services: demo.Services{AMQP: b.amqp, Redis: b.redis}, Flights: b.amount(demo.DefaultFlights), Rate: demo.MaxRate, Actor: "bench"}
	naive, err := play(ctx, "naive", "error lines", o) // one for each call
	if err != nil {
		return 0, "", err
	}
	governed, err := play(ctx, "outage", "calls to the dead vendor", o)
	if err != nil {
		return 0, "", err
	}
	return float64(governed) / float64(naive), fmt.Sprintf("%d governed, %d naive, of %d flights; one round", governed, naive, o.Flights), nil
}

// play plays a scenario and gives one of the numbers that it measured.
func play(ctx context.Context, scenario, fact string, o demo.Options) (int, error) {
	r, err := demo.Play(ctx, scenario, o)
	if err != nil {
		return 0, fmt.Errorf("demo %s: %w", scenario, err)
	}
	for _, f := range r.Facts {
		if n, ok := f.Value.(int); ok && f.Name == fact {
			return n, nil
		}
	}
	return 0, fmt.Errorf("demo %s does not tell its %s", scenario, fact)
}
