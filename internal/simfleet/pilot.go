package simfleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

var (
	errBad  = errors.New("422 no such contact")
	errBusy = errors.New("503 try later")
)

// fly is every pilot of a process: what the flight does to the one who flies it.
func (p *process) fly(ctx context.Context, m governor.Flight[[]byte]) error {
	w := p.w
	w.mu.Lock()
	f := w.flights[m.ID]
	if p.dead || f == nil {
		w.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	}
	w.takeOff(p, f)
	lasts := f.lasts + time.Duration(w.rnd.Int64N(int64(f.lasts/4)+1))
	w.mu.Unlock()
	p.step("at take-off")

	timer := time.NewTimer(lasts)
	defer timer.Stop()
	if half := lasts / 2; w.plan.StepKills > 0 {
		early := time.AfterFunc(half, func() { p.step("in the air") })
		defer early.Stop()
	}
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if f.kind == pill && ctx.Err() == nil {
		p.kill("pill "+f.id, f)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return errGone // nobody hears it
	}
	delete(p.inAir, f)
	delete(f.inAir, p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case f.kind == bad:
		return errBad
	case f.kind == flaky && f.fails > 0:
		f.fails--
		return errBusy
	}
	f.landed = true
	w.note("%s landed %s", p.name, f.id[30:])
	return nil
}

// flyBatch is a call for several flights: all are in the air until the last is done.
// One bad record fails the call as a whole, though others of it have landed.
func (p *process) flyBatch(ctx context.Context, flights []governor.Flight[[]byte]) error {
	errs := make([]error, len(flights))
	var wg sync.WaitGroup
	for i, f := range flights {
		wg.Go(func() { errs[i] = p.fly(ctx, f) })
	}
	wg.Wait()
	each := &governor.BatchError{Flights: map[string]error{}}
	for i, f := range flights {
		if errors.Is(errs[i], errBad) {
			return errBad
		}
		each.Flights[f.ID] = errs[i]
	}
	return each
}

// takeOff checks what must hold when a flight takes off. The caller holds the lock.
func (w *World) takeOff(p *process, f *flight) {
	deaths := w.deathsOf(f)
	w.note("%s flies %s (%s), %d deaths, %d beside it", p.name, f.id[30:], f.kind, deaths, len(p.inAir))
	for q := range f.inAir {
		switch {
		case q == p:
			w.broken("flight %s is twice in the air in %s", f.id, p.name)
		case !q.mayBePresumedDead():
			w.broken("flight %s takes off in %s and is in the air in %s, which is alive", f.id, p.name, q.name)
		}
	}
	if deaths >= 1 && len(p.inAir) > 0 {
		w.broken("suspect %s takes off in %s beside %d others", f.id, p.name, len(p.inAir))
	}
	for g, before := range p.inAir {
		// A peer that presumed this process dead made g a suspect: nobody told it.
		unaware := before == 0 && p.mayBePresumedDead()
		if w.deathsOf(g) >= 1 && !unaware {
			w.broken("flight %s takes off in %s beside the suspect %s", f.id, p.name, g.id)
		}
	}
	f.attempts++
	f.inAir[p] = true
	p.inAir[f] = deaths
}

// mayBePresumedDead: it was without the store for long enough, lately.
func (p *process) mayBePresumedDead() bool {
	return !p.wasCut.IsZero() && time.Since(p.wasCut) < 2*time.Minute
}
