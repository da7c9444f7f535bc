package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

const (
	paceSlots     = 100 // a second
	paceSeconds   = 20
	paceProcesses = 4
)

// paceAgainstSlots flies a backlog with four processes that share slots of 100/1s,
// and says what share of that pace the calls reached, and how many there were at most
// in any second. The slots are exact when a flight is cleared; a call begins a moment
// after that, so a second of calls may hold a few more than a second of clearances.
func paceAgainstSlots(ctx context.Context, b *bench) (float64, string, error) {
	n := max(b.amount(paceSlots*paceSeconds), 3*paceSlots) // the first window says nothing
	p := &pace{n: n, all: make(chan struct{})}
	ns := namespace()
	desk, err := declared(ctx, b, ns)
	if err != nil {
		return 0, "", err
	}
	defer desk.Close(context.WithoutCancel(ctx))
	if err := fill(ctx, desk, benchGate, n, payload); err != nil {
		return 0, "", err
	}

	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, paceProcesses)
	for range paceProcesses {
		g, err := b.open(ctx, ns)
		if err != nil {
			return 0, "", err
		}
		defer g.Close(context.WithoutCancel(ctx))
		go func() {
			ended <- g.Run(run, governor.Airport{ID: "bench", Slots: governor.Slots{N: paceSlots, Per: time.Second},
				Gates: []governor.Gate{{ID: "gate", Pilot: governor.PilotFunc(p.call), Workers: 4}}})
		}()
	}
	select {
	case <-ctx.Done():
		return 0, "", ctx.Err()
	case err := <-ended:
		return 0, "", errors.Join(errors.New("a worker ended early"), err)
	case <-p.all:
	}
	stop()
	for range paceProcesses {
		if err := <-ended; err != nil {
			return 0, "", err
		}
	}
	share, most := p.judge()
	return share, fmt.Sprintf("%d calls by %d processes at slots of %d/1s; at most %d calls began within any 1 s, %d within any 0.95 s; one round",
		n, paceProcesses, paceSlots, most(time.Second), most(950*time.Millisecond)), nil
}

// pace is when the calls began.
type pace struct {
	n   int
	all chan struct{}

	mu sync.Mutex
	at []time.Time
}

func (p *pace) call(context.Context, governor.Flight[[]byte]) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at = append(p.at, time.Now()); len(p.at) == p.n {
		close(p.all)
	}
	return nil
}

// judge gives the share of the pace that was reached, and how many calls began at most
// within a window. The first window's slots are free at once, so what counts is how long
// the rest took: n calls need n/slots - 1 seconds at the least.
func (p *pace) judge() (share float64, most func(time.Duration) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.SortedFunc(slices.Values(p.at), time.Time.Compare)
	took := at[len(at)-1].Sub(at[0]).Seconds()
	share = (float64(len(at))/paceSlots - 1) / took
	return share, func(within time.Duration) int {
		peak, from := 0, 0
		for i := range at {
			for at[i].Sub(at[from]) >= within {
				from++
			}
			peak = max(peak, i-from+1)
		}
		return peak
	}
}
