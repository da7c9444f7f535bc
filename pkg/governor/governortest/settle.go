package governortest

import (
	"context"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Advance lets d of virtual time pass.
func (f *Field) Advance(d time.Duration) {
	f.t.Helper()
	f.do("Advance", func() error { time.Sleep(d); return nil })
}

// Settle lets time pass until nothing can move: every flight has landed, was
// rejected, skipped or parked, or waits at a scope that only a human can reopen;
// and every notification was taken. Holds, throttles and ground delays are waited
// for.
//
// Where flights keep moving and none comes to an end, such as before a vendor that
// is down for good, it returns once no flight has for as long as the rules could
// make one wait: twice the airports' holds, Retry-After cap and timeouts. Look at
// Airport's State and Waiting to tell the two apart.
func (f *Field) Settle() {
	f.t.Helper()
	f.do("Settle", f.settle)
}

// The steps in which Settle looks: fine at first and after each flight's end, then
// coarser.
const (
	firstStep = 5 * time.Millisecond
	lastStep  = time.Second
)

func (f *Field) settle() error {
	patience := f.longest()
	ends, last, step := f.ends(), time.Now(), firstStep
	for {
		rest, err := f.atRest()
		if err != nil || rest {
			return err
		}
		if time.Since(last) > patience {
			return nil
		}
		time.Sleep(step)
		step = min(2*step, lastStep)
		if n := f.ends(); n != ends {
			ends, last, step = n, time.Now(), firstStep
		}
	}
}

// ends counts the flights that have come to an end so far.
func (f *Field) ends() int {
	n := 0
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.settled {
		if s.Settled != "hold" && s.Settled != "defer" {
			n++
		}
	}
	return n
}

// longest is how long the rules could keep a flight from its end.
func (f *Field) longest() time.Duration {
	d := time.Minute
	for _, a := range f.airports {
		def := settle.DefaultPolicy()
		for _, holds := range [][]time.Duration{a.Holds.Transient, a.Holds.Internal, def.Transient} {
			if len(holds) > 0 {
				d = max(d, slices.Max(holds))
			}
		}
		d = max(d, a.MaxRetryAfter, governor.DefaultMaxRetryAfter, a.Slots.Per)
		for _, g := range a.Gates {
			d = max(d, g.Timeout)
		}
	}
	return 2 * d
}

// atRest reports whether nothing can move without a human.
func (f *Field) atRest() (bool, error) {
	busy := map[string]bool{}
	for _, a := range f.airports {
		for _, g := range a.Gates {
			gate := a.ID + "/" + g.ID
			w := f.waiting(gate)
			if w.all != w.ready {
				return false, nil
			}
			if w.ready > 0 {
				busy[gate] = true
			}
		}
	}
	for _, a := range f.airports {
		info, err := f.desk.Airport(context.Background(), a.ID)
		if err != nil {
			return false, err
		}
		if info.Unsent > 0 || info.InAir > 0 && len(busy) > 0 {
			return false, nil
		}
		for _, g := range info.Gates {
			if busy[g.Gate] && !standsStill(info.State) && !standsStill(g.State) {
				return false, nil
			}
		}
	}
	return true, nil
}

func standsStill(s governor.State) bool { return s == wire.Stopped || s == wire.Paused }
