package main

import (
	"context"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

const fleetOf = 8 // processes

// fleetAgainstOne drains one gate with eight processes of four pilots and with one.
func fleetAgainstOne(ctx context.Context, b *bench) (float64, string, error) {
	by := func(processes int) func(context.Context, *bench) (float64, error) {
		return func(ctx context.Context, b *bench) (float64, error) { return b.drainBy(ctx, processes) }
	}
	return compare(ctx, b, side{fmt.Sprint(fleetOf, " processes"), by(fleetOf)}, side{"one", by(1)})
}

// drainBy fills the runway of a paused gate that so many processes serve, and measures
// from the reopen until the store has counted the last landing.
func (b *bench) drainBy(ctx context.Context, processes int) (float64, error) {
	n := b.amount(drained)
	c := crew{Namespace: namespace(), Airports: 1, Gates: 1, Workers: 4}
	gates := scopes(1, 1)
	scope := gates[0].String()
	ns := wire.Namespace(c.Namespace)
	var fleet []*process
	var pids []int
	for range processes {
		p, err := b.hire(ctx, c)
		if err != nil {
			return 0, err
		}
		fleet, pids = append(fleet, p), append(pids, p.pid())
	}
	if err := b.consumed(ctx, ns, gates, processes); err != nil {
		return 0, err
	}
	g, err := b.open(ctx, c.Namespace)
	if err != nil {
		return 0, err
	}
	defer g.Close(context.WithoutCancel(ctx))
	if _, err := g.Pause(ctx, scope, governor.PauseOptions{Reason: "filling"}); err != nil {
		return 0, err
	}
	if err := fill(ctx, g, scope, n, payload); err != nil {
		return 0, err
	}
	rdb, err := b.client()
	if err != nil {
		return 0, err
	}
	defer rdb.Close()
	if _, err := g.Reopen(ctx, scope, governor.ReopenOptions{}); err != nil {
		return 0, err
	}
	used, begin := spent(pids...), time.Now()
	for landed := 0; landed < n; {
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return 0, err
		}
		if landed, err = rdb.HGet(ctx, ns.Keys(gates[0].Airport).Gate(gates[0].Gate), "landed").Int(); err != nil {
			return 0, err
		}
	}
	took := time.Since(begin)
	b.used = each(used, n, pids...)
	for _, p := range fleet {
		if _, err := p.end(); err != nil {
			return 0, err
		}
	}
	return float64(n) / took.Seconds(), b.deleteQueue(ns.Runway(gates[0]))
}
