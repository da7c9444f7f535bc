package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

const (
	runwayFlown = 20000
	runwaySize  = 100 // bytes of a flight
)

// runwayGrowth drains the first 20,000 flights of a runway that holds just these, and
// of longer ones.
func runwayGrowth(ctx context.Context, b *bench) (float64, string, error) {
	return b.grow("runway", []int{runwayFlown, 100000, b.longest}, func(n int) (float64, error) {
		return b.drain(ctx, backlog{n: n, fly: runwayFlown, size: runwaySize}, single)
	})
}

// airportGrowth drains the same number of flights from one airport and from more, all
// in one process.
func airportGrowth(ctx context.Context, b *bench) (float64, string, error) {
	f, err := b.unserved(ctx)
	if err != nil {
		return 0, "", err
	}
	return b.grow("airports", []int{1, 10, 100, fieldAirports}, func(k int) (float64, error) {
		return b.drainMany(ctx, f.ns, scopes(k, 1), b.amount(drained))
	})
}

// grow takes a speed at each size, round by round, and gives the ratio of the largest
// to the smallest; it tells those between.
func (b *bench) grow(name string, sizes []int, speed func(size int) (float64, error)) (float64, string, error) {
	speeds := make([][]float64, len(sizes))
	used := make([]string, len(sizes))
	for range b.rounds {
		for i, size := range sizes {
			v, err := speed(size)
			if err != nil {
				return 0, "", fmt.Errorf("%s of %d: %w", name, size, err)
			}
			speeds[i] = append(speeds[i], v)
			used[i], b.used = b.used, ""
		}
	}
	how := ""
	ratio := 1.0
	for i, size := range sizes {
		m := median(speeds[i])
		ratio = m / median(speeds[0])
		how += fmt.Sprintf("%d: %.0f/s %.0f (%s), ", size, m, speeds[i], used[i])
		if i > 0 && i < len(sizes)-1 {
			b.tell(fmt.Sprintf("%s-%d/%d", name, size, sizes[0]), ratio)
		}
	}
	return ratio, fmt.Sprintf("%smedians of %d rounds in turn, then each round, and µs of a processor for a flight of the last", how, b.rounds), nil
}

// drainMany flies n flights that wait on so many runways. The first calls are held until
// every pilot has one; what is measured are the flights after these.
func (b *bench) drainMany(ctx context.Context, ns wire.Namespace, gates []wire.Scope, n int) (float64, error) {
	g, err := governor.Open(ctx, governor.Config{AMQP: b.amqp, Redis: b.redis, Namespace: string(ns), Logger: silent, NoTower: true})
	if err != nil {
		return 0, err
	}
	defer g.Close(context.WithoutCancel(ctx))
	var fills errgroup.Group
	fills.SetLimit(8)
	for _, gate := range gates {
		fills.Go(func() error { return fill(ctx, g, gate.String(), n/len(gates), payload) })
	}
	if err := fills.Wait(); err != nil {
		return 0, err
	}
	const pilots = 4
	held := min(int64(pilots*len(gates)), int64(n))
	var aloft, landed atomic.Int64
	full, off, all := make(chan struct{}), make(chan struct{}), make(chan struct{})
	pilot := governor.PilotFunc(func(context.Context, governor.Flight[[]byte]) error {
		if aloft.Add(1) == held {
			close(full)
		}
		<-off
		if landed.Add(1) == int64(n) {
			close(all)
		}
		return nil
	})
	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- g.Run(run, airports(gates, func() governor.Gate { return governor.Gate{Pilot: pilot, Workers: pilots, Timeout: time.Hour} })...)
	}()
	await := func(c chan struct{}) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return errors.Join(errors.New("the worker ended early"), err)
		case <-c:
			return nil
		}
	}
	if err := await(full); err != nil {
		close(off)
		return 0, err
	}
	used, begin := spent(), time.Now()
	close(off)
	if err := await(all); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	b.used = each(used, n-int(held))
	stop()
	return float64(int64(n)-held) / took.Seconds(), <-ended
}
