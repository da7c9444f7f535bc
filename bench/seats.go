package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/charter"
)

const charterSeats = 1000000

// charterMemory opens a run of a million seats, marks all of them dispatched, and gives
// what its keys take of the store's memory, in MB. No flight is published for it: the
// books are the same.
func charterMemory(ctx context.Context, b *bench) (float64, string, error) {
	ns := namespace()
	desk, err := declared(ctx, b, ns)
	if err != nil {
		return 0, "", err
	}
	if err := desk.Close(ctx); err != nil {
		return 0, "", err
	}
	st, err := store.Open(store.Config{URLs: []string{b.redis}, Namespace: wire.Namespace(ns)})
	if err != nil {
		return 0, "", err
	}
	defer st.Close()
	rdb, err := b.client()
	if err != nil {
		return 0, "", err
	}
	defer rdb.Close()
	const gate, run = "gate", "run"
	before, err := infoOf(ctx, rdb, "memory", "used_memory")
	if err != nil {
		return 0, "", err
	}
	books := st.Airport("bench", "bench", gate)
	if o, err := books.OpenCharter(ctx, gate, run, charterSeats, "bench"); err != nil || o.Result != store.CharterOK {
		return 0, "", fmt.Errorf("open the charter: %s: %w", o.Result, err)
	}
	d := charter.NewDigester()
	var seats []int
	for seat := range charterSeats {
		seats = append(seats, seat)
		if full := d.Add(charter.Identity(strconv.Itoa(seat), nil)); !full && seat != charterSeats-1 {
			continue
		}
		block, _ := d.Block()
		if r, err := books.PutDigest(ctx, gate, run, block, ""); err != nil || r != store.CharterOK {
			return 0, "", fmt.Errorf("write a digest: %s: %w", r, err)
		}
		if _, r, err := books.MarkDispatched(ctx, gate, run, seats); err != nil || r != store.CharterOK {
			return 0, "", fmt.Errorf("mark seats: %s: %w", r, err)
		}
		seats = seats[:0]
	}
	keys := wire.Namespace(ns).Keys("bench")
	var used [2]float64
	for i, key := range []string{keys.Seats(gate, run), keys.Charter(gate, run)} {
		n, err := rdb.MemoryUsage(ctx, key, 0).Result() // of all of it, not a sample
		if err != nil {
			return 0, "", err
		}
		used[i] = float64(n) / (1 << 20)
	}
	after, err := infoOf(ctx, rdb, "memory", "used_memory")
	if err != nil {
		return 0, "", err
	}
	return used[0] + used[1], fmt.Sprintf("seats %.3f MB, books and digests %.3f MB; the whole store grew by %.3f MB", used[0], used[1],
		float64(after-before)/(1<<20)), nil
}
