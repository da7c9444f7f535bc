package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

const (
	idleSettles = 30 * time.Second
	idleFor     = time.Minute
)

// idleCost has one process serve a thousand airports with nothing to fly (no slots,
// tower on), lets it settle, and measures what it uses of a core in a minute, how much
// memory it has then, and what broker and store use meanwhile.
func idleCost(ctx context.Context, b *bench) (float64, string, error) {
	f, err := b.served(ctx)
	if err != nil {
		return 0, "", err
	}
	if err := wait(ctx, idleSettles); err != nil {
		return 0, "", err
	}
	worker := f.process.pid()
	before, begin := spent(worker), time.Now()
	if before == nil {
		return 0, "", errors.New("what a process uses is read from /proc, which is not here")
	}
	if err := wait(ctx, idleFor); err != nil {
		return 0, "", err
	}
	after, took := spent(worker), time.Since(begin)
	share := func(of string) float64 { return (after[of] - before[of]).Seconds() / took.Seconds() }
	memory, err := resident(worker)
	if err != nil {
		return 0, "", err
	}
	b.tell("idle-memory-mb", memory)
	b.tell("idle-broker-cpu/core", share("broker"))
	b.tell("idle-store-cpu/core", share("store"))
	b.tell("idle-start-seconds", f.took.Seconds())
	return share("worker"), fmt.Sprintf("%d airports of %d gates, %.0f s from the start until all consumed, then %v to settle; one process over %v",
		fieldAirports, fieldGates, f.took.Seconds(), idleSettles, took.Round(time.Second)), nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// airportList times what `tractionctl airport list` asks for, connections included,
// of a thousand airports that are served, against one pipelined read of their statuses.
func airportList(ctx context.Context, b *bench) (float64, string, error) {
	f, err := b.served(ctx)
	if err != nil {
		return 0, "", err
	}
	var lists, reads []float64
	for range b.rounds {
		begin := time.Now()
		if err := b.list(ctx, f.ns); err != nil {
			return 0, "", err
		}
		lists = append(lists, time.Since(begin).Seconds())
		begin = time.Now()
		if err := b.readAtOnce(ctx, f.ns); err != nil {
			return 0, "", err
		}
		reads = append(reads, time.Since(begin).Seconds())
	}
	list, read := median(lists), median(reads)
	b.tell("airport-list-seconds", list)
	return list / read, fmt.Sprintf("list %.2f s %.2f, read %.3f s %.3f, of %d airports; medians of %d rounds", list, lists, read, reads, fieldAirports, b.rounds), nil
}

func (b *bench) list(ctx context.Context, ns wire.Namespace) error {
	g, err := b.open(ctx, string(ns))
	if err != nil {
		return err
	}
	defer g.Close(context.WithoutCancel(ctx))
	all, err := g.Airports(ctx)
	if err == nil && len(all) != fieldAirports {
		err = fmt.Errorf("%d of %d airports are listed", len(all), fieldAirports)
	}
	return err
}

func (b *bench) readAtOnce(ctx context.Context, ns wire.Namespace) error {
	rdb, err := b.client()
	if err != nil {
		return err
	}
	defer rdb.Close()
	pipe := rdb.Pipeline()
	for _, sc := range scopes(fieldAirports, 1) {
		pipe.HGetAll(ctx, ns.Keys(sc.Airport).Airport())
	}
	_, err = pipe.Exec(ctx)
	return err
}
