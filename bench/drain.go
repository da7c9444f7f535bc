package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// benchGate is where one gate is enough.
const benchGate = "bench/gate"

func namespace() string {
	var id [6]byte
	_, _ = rand.Read(id[:]) // never fails
	return "bench-" + hex.EncodeToString(id[:])
}

var silent = slog.New(slog.DiscardHandler)

// open gives a governor that keeps its log to itself.
func (b *bench) open(ctx context.Context, ns string) (*governor.Governor, error) {
	return governor.Open(ctx, governor.Config{AMQP: b.amqp, Redis: b.redis, Namespace: ns, Logger: silent})
}

// fill sends n flights of so many bytes to a gate.
func fill(ctx context.Context, g *governor.Governor, gate string, n, size int) error {
	body := make([]byte, size)
	res, err := g.DispatchAll(ctx, gate, func(yield func(governor.Outgoing, error) bool) {
		for range n {
			if !yield(governor.Outgoing{Payload: body}, nil) {
				return
			}
		}
	})
	if err != nil {
		return fmt.Errorf("dispatch %+v: %w", res, err)
	}
	return nil
}

// backlog is what waits on a runway, and how much of it is flown.
type backlog struct {
	ns   string // default: a new one
	n    int    // flights
	fly  int    // of them, until the measurement ends. Default: all
	size int    // bytes of each. Default: payload
}

// single is a gate that flies each flight by itself, with a pilot that does nothing.
func single(landed func(int)) governor.Gate {
	return governor.Gate{Pilot: governor.PilotFunc(func(context.Context, governor.Flight[[]byte]) error {
		landed(1)
		return nil
	})}
}

// drain fills a gate's runway while it is paused, then measures from the reopen to the
// last flight: how many a second. of makes the gate; its pilot tells how many flew in
// each call.
func (b *bench) drain(ctx context.Context, w backlog, of func(landed func(int)) governor.Gate) (float64, error) {
	ns := wire.Namespace(or(w.ns, namespace()))
	fly := int64(or(w.fly, w.n))
	g, err := b.open(ctx, string(ns))
	if err != nil {
		return 0, err
	}
	defer g.Close(context.WithoutCancel(ctx))
	var flown atomic.Int64
	all := make(chan struct{})
	gate := of(func(k int) {
		if now := flown.Add(int64(k)); now >= fly && now-int64(k) < fly {
			close(all)
		}
	})
	gate.ID, gate.Workers = "gate", 4
	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- g.Run(run, governor.Airport{ID: "bench", Gates: []governor.Gate{gate}}) }()
	if err := awaitGate(ctx, g, ended); err != nil {
		return 0, err
	}
	if _, err := g.Pause(ctx, benchGate, governor.PauseOptions{Reason: "filling"}); err != nil {
		return 0, err
	}
	if err := fill(ctx, g, benchGate, w.n, or(w.size, payload)); err != nil {
		return 0, err
	}
	if _, err := g.Reopen(ctx, benchGate, governor.ReopenOptions{}); err != nil {
		return 0, err
	}
	used, begin := spent(), time.Now()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case err := <-ended:
		return 0, fmt.Errorf("the worker ended early: %w", err)
	case <-all:
	}
	took := time.Since(begin)
	b.used = each(used, int(fly))
	stop()
	if err := <-ended; err != nil {
		return 0, err
	}
	return float64(fly) / took.Seconds(), b.deleteQueue(ns.Runway(wire.Scope{Airport: "bench", Gate: "gate"}))
}

// awaitGate returns when the gate has workers, and so its queues too, or the worker
// that declares it ended.
func awaitGate(ctx context.Context, g *governor.Governor, ended <-chan error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if info, err := g.Gate(ctx, benchGate); err == nil && info.WorkersActual > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return fmt.Errorf("the worker ended early: %w", err)
		case <-tick.C:
		}
	}
}

func or[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}
