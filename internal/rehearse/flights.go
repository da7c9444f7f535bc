package rehearse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// land sends flights that land at the first call.
func (r *rehearsal) land(ctx context.Context) (string, error) {
	es, err := r.sendAll(ctx, r.Flights, Tally{Sent: r.Flights, Landed: r.Flights}, nil)
	if err == nil {
		err = r.settled(ctx)
	}
	return flights(len(es)) + " landed", err
}

// reject sends records that can never succeed.
func (r *rehearsal) reject(ctx context.Context) (string, error) {
	es, err := r.sendAll(ctx, r.Flights, Tally{Sent: r.Flights, Rejected: r.Flights}, func(string) []settle.Outcome { return []settle.Outcome{settle.FlightFault} })
	if err == nil {
		err = r.settled(ctx)
	}
	seen := flights(len(es)) + " rejected"
	if n := len(r.droppers()); n > 0 {
		seen += "; " + plural(n, "gate") + " kept none, as configured"
	}
	return seen, err
}

// hold sends flights that fail as often as there are holds, and land then.
func (r *rehearsal) hold(ctx context.Context) (string, error) {
	es, err := r.sendAll(ctx, r.Flights, Tally{Sent: r.Flights, Landed: r.Flights}, func(gate string) []settle.Outcome {
		return times(settle.Transient, len(r.airportOf(gate).Holds.Transient))
	})
	if err == nil {
		err = r.settled(ctx)
	}
	if err != nil {
		return "", err
	}
	var passed []string
	i := 0
	for _, gate := range r.gates() {
		holds := r.airportOf(gate).Holds.Transient
		if least, most := r.book.callsOf(es[i : i+r.Flights]); least != len(holds)+1 {
			return "", &Mismatch{Wanted: fmt.Sprintf("%s: %d calls of each flight, one after each hold", gate, len(holds)+1), Seen: fmt.Sprintf("%d to %d", least, most)}
		}
		i += r.Flights
		if text := delays(holds); len(passed) == 0 || passed[len(passed)-1] != text {
			passed = append(passed, text)
		}
	}
	return fmt.Sprintf("%s held for %s, came back, and landed", flights(len(es)), strings.Join(passed, " or ")), nil
}

// park sends flights that fail beyond their budget, half of them at a vendor that is
// down, half of them at our own bug.
func (r *rehearsal) park(ctx context.Context) (string, error) {
	ours := r.Flights / 2
	vendors := r.Flights - ours
	for _, half := range []struct {
		n       int
		outcome settle.Outcome
		holds   func(governor.Airport) []time.Duration
	}{
		{vendors, settle.Transient, func(a governor.Airport) []time.Duration { return a.Holds.Transient }},
		{ours, settle.Internal, func(a governor.Airport) []time.Duration { return a.Holds.Internal }},
	} {
		_, err := r.sendAll(ctx, half.n, Tally{Sent: half.n, Parked: half.n}, func(gate string) []settle.Outcome {
			return times(half.outcome, len(half.holds(r.airportOf(gate)))+1)
		})
		if err != nil {
			return "", err
		}
	}
	if err := r.settled(ctx); err != nil {
		return "", err
	}
	want := map[settle.Reason]int{settle.ReasonHoldBudget: vendors * len(r.gates()), settle.ReasonInternal: ours * len(r.gates())}
	seen := map[settle.Reason]int{}
	for _, a := range r.plan.rehearsed {
		parked, err := r.desk.Parked(ctx, a.ID, governor.ParkedFilter{})
		if err != nil {
			return "", err
		}
		for _, f := range parked {
			seen[f.Reason]++
		}
	}
	if w, s := reasons(want), reasons(seen); w != s {
		return "", &Mismatch{Wanted: "parked for " + w, Seen: s}
	}
	return "parked for " + reasons(seen), nil
}

func reasons(n map[settle.Reason]int) string {
	var parts []string
	for _, why := range []settle.Reason{settle.ReasonHoldBudget, settle.ReasonInternal} {
		if n[why] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", why, n[why]))
		}
	}
	for why, k := range n {
		if why != settle.ReasonHoldBudget && why != settle.ReasonInternal {
			parts = append(parts, fmt.Sprintf("%s %d", wire.Visible(string(why)), k))
		}
	}
	return strings.Join(parts, ", ")
}

func times(o settle.Outcome, n int) (all []settle.Outcome) {
	for range n {
		all = append(all, o)
	}
	return all
}

// airportOf is the rehearsed airport of a gate.
func (r *rehearsal) airportOf(gate string) governor.Airport {
	id, _, _ := strings.Cut(gate, "/")
	for _, a := range r.plan.rehearsed {
		if a.ID == id {
			return a
		}
	}
	return governor.Airport{}
}

// droppers are the gates that keep no rejected records.
func (r *rehearsal) droppers() map[string]bool {
	all := map[string]bool{}
	for _, a := range r.plan.rehearsed {
		for _, g := range a.Gates {
			if g.DropRejected {
				all[a.ID+"/"+g.ID] = true
			}
		}
	}
	return all
}

func delays(ds []time.Duration) string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = wire.ShortDuration(d)
	}
	return strings.Join(parts, ", ")
}

func flights(n int) string {
	if n == 1 {
		return "1 flight"
	}
	return fmt.Sprintf("%d flights", n)
}
