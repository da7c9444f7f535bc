package simfleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// sorted gives the flights in the order of their ids.
func (w *World) sorted() []*flight {
	return slices.SortedFunc(maps.Values(w.flights), func(a, b *flight) int { return cmp.Compare(a.id, b.id) })
}

// judge compares what stands in the queues and in the store with what happened.
func (w *World) judge(res *Result) error {
	ctx := context.Background()
	parked, rejected := map[string]settle.Reason{}, map[string]bool{}
	for i := range w.plan.Airports {
		for shelf, take := range map[governor.Shelf]func(governor.ParkedFlight){
			governor.ParkedShelf: func(f governor.ParkedFlight) {
				if had, twice := parked[f.Flight]; !twice || had != settle.ReasonPoisonPill {
					parked[f.Flight] = f.Reason
				}
			},
			governor.RejectedShelf: func(f governor.ParkedFlight) { rejected[f.Flight] = true },
		} {
			list, err := w.desk.Shelved(ctx, shelf, airportName(i), governor.ParkedFilter{})
			if err != nil {
				return fmt.Errorf("look at the %s flights: %w", shelf, err)
			}
			for _, f := range list {
				take(f)
			}
		}
	}
	all, err := w.desk.Incidents(ctx, governor.IncidentFilter{})
	if err != nil {
		return fmt.Errorf("list incidents: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.procs {
		if p.dead && p.why != "left" {
			res.Kills++
		}
	}
	if len(w.wrong) == 0 || !strings.HasPrefix(w.wrong[len(w.wrong)-1], "stuck") {
		for _, f := range w.sorted() {
			if n := w.deathsOf(f); n > 0 && f.landed && parked[f.id] == "" && w.plan.Outages+w.plan.Cuts == 0 {
				w.broken("%s landed, and its %d deaths are remembered still", f.id, n)
			}
			w.judgeFlight(f, parked, rejected)
		}
	} // what is stuck is on its way still
	convicted := map[string]int{}
	for _, i := range all {
		if i.Kind != wire.PoisonPill {
			continue
		}
		res.Convicted++
		f := w.flights[i.Records[0]]
		if f == nil {
			w.broken("incident %s names nobody: %v", i.ID, i.Records)
			continue
		}
		convicted[f.id]++
		if f.kind != pill {
			if why := w.excuse(f, i.Workers); why != "" {
				res.Limits = append(res.Limits, f.id+": "+why)
			}
		}
		if w.told[i.ID+"/POISON_PILL"] < 1 {
			w.broken("the conviction of %s was told to nobody", f.id)
		}
	}
	for id, n := range convicted {
		if n > 1 {
			w.broken("flight %s was convicted in %d incidents", id, n)
		}
	}
	if sum := len(w.told); sum > res.Convicted {
		w.broken("%d notifications for %d convictions", sum, res.Convicted)
	}
	return nil
}

func (w *World) judgeFlight(f *flight, parked map[string]settle.Reason, rejected map[string]bool) {
	reason, isParked := parked[f.id]
	if !f.landed && !isParked && !rejected[f.id] {
		w.broken("lost: %s (%s) flew %d times and is nowhere", f.id, f.kind, f.attempts)
	}
	switch f.kind {
	case pill:
		if reason != settle.ReasonPoisonPill {
			w.broken("pill %s is not parked as one: %q", f.id, reason)
		}
		if len(f.kills) > 2 {
			w.broken("pill %s cost %d workers", f.id, len(f.kills))
		}
	case bad:
		if !rejected[f.id] && reason != settle.ReasonPoisonPill {
			w.broken("record %s was not rejected: parked %q", f.id, reason)
		}
	default:
		// A flight whose every call was cut short has spent its holds.
		if !f.landed && reason != settle.ReasonPoisonPill && reason != settle.ReasonHoldBudget {
			w.broken("%s (%s) did not land: parked %q", f.id, f.kind, reason)
		}
	}
}

// excuse says which documented limit allows that a flight that kills nobody was
// convicted; where none does, that is recorded. The caller holds the lock.
func (w *World) excuse(f *flight, workers []string) string {
	var ps []*process
	for _, id := range workers {
		p := w.named(id)
		if p == nil {
			w.broken("the conviction of %s names the unknown worker %s", f.id, id)
			return ""
		}
		ps = append(ps, p)
	}
	for _, p := range ps {
		if p.leaving && p.wasCut.IsZero() && w.plan.Outages == 0 {
			w.broken("%s, which kills nobody, was convicted for %s, which was leaving", f.id, p.name)
			return ""
		}
	}
	for _, p := range ps {
		if !p.wasCut.IsZero() || p.leaving {
			return "a process without the store for long counts as a death"
		}
	}
	last := ps[len(ps)-1]
	for g := range last.inAir {
		if g != f {
			w.broken("%s, which kills nobody, was convicted in company: %s died of %q with %d in the air", f.id, last.name, last.why, len(last.inAir))
			return ""
		}
	}
	if strings.HasPrefix(last.why, "pill") {
		w.broken("%s, which kills nobody, was convicted for what %q did to %s", f.id, last.why, last.name)
		return ""
	}
	return "alone in the air at a second kill"
}
