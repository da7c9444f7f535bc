package rehearse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// quiet is how long a stopped scope is watched for a call that must not come.
const quiet = 500 * time.Millisecond

// gateStop breaks every gate: each stops by itself, tells somebody, and parks or keeps
// its work.
func (r *rehearsal) gateStop(ctx context.Context) (string, error) {
	gates := r.gates()
	s, err := r.stop(ctx, gates, settle.GateFault, "GATE_STOP")
	if err != nil {
		return "", err
	}
	parked, left := 0, 0
	for _, gate := range gates {
		parked += s.tallies[gate].Parked - r.want[gate].Parked
		left += s.tallies[gate].Left
	}
	r.adopt(s)
	return fmt.Sprintf("%s stopped, at %s; %d flights parked, %d kept on runways, no call after that", plural(len(gates), "gate"), r.thresholds(func(s governor.Streaks) int { return s.GateFault }), parked, left), nil
}

// gateReopen mends, reopens and replays each gate.
func (r *rehearsal) gateReopen(ctx context.Context) (string, error) {
	return r.reopen(ctx, r.gates())
}

// airportStop breaks every airport: each stops, tells somebody, and keeps all work.
func (r *rehearsal) airportStop(ctx context.Context) (string, error) {
	var airports []string
	for _, a := range r.plan.rehearsed {
		airports = append(airports, a.ID)
	}
	s, err := r.stop(ctx, airports, settle.AirportFault, "GROUND_STOP")
	if err != nil {
		return "", err
	}
	left := 0
	for _, gate := range r.gates() {
		t := s.tallies[gate]
		left += t.Left
		if t.Parked != r.want[gate].Parked {
			return "", &Mismatch{Wanted: gate + ": nothing parked by a ground stop", Seen: fmt.Sprintf("%d parked", t.Parked-r.want[gate].Parked)}
		}
	}
	r.adopt(s)
	return fmt.Sprintf("%s stopped, at %s; %d flights wait on runways, no call after that", plural(len(airports), "airport"), r.thresholds(func(s governor.Streaks) int { return s.AirportFault }), left), nil
}

// airportReopen mends and reopens each airport.
func (r *rehearsal) airportReopen(ctx context.Context) (string, error) {
	var airports []string
	for _, a := range r.plan.rehearsed {
		airports = append(airports, a.ID)
	}
	return r.reopen(ctx, airports)
}

// stop breaks the scopes, sends flights to every gate, and waits until all scopes are
// stopped and told of, and every flight waits or is parked.
func (r *rehearsal) stop(ctx context.Context, scopes []string, o settle.Outcome, told string) (sight, error) {
	for _, scope := range scopes {
		r.book.breaks(scope, o)
	}
	if _, err := r.sendAll(ctx, r.Flights, Tally{Sent: r.Flights}, nil); err != nil {
		return sight{}, err
	}
	before := r.want
	stopped := func(s sight) (n, t int) {
		for _, scope := range scopes {
			if s.states[scope] == governor.Stopped {
				n++
			}
			if r.pager.told(told, scope) > 0 {
				t++
			}
		}
		return n, t
	}
	away := func(s sight) (n int) { // flights that are neither parked nor waiting
		for gate, w := range before {
			t := s.tallies[gate]
			n += r.Flights - (t.Parked - w.Parked) - (t.Left - w.Left)
		}
		return n
	}
	s, ok, err := r.watch(ctx, func(s sight) bool {
		n, t := stopped(s)
		return n == len(scopes) && t == len(scopes) && away(s) == 0 && s.inAir == 0 && s.holding == 0
	})
	if err != nil {
		return s, err
	}
	if !ok {
		n, t := stopped(s)
		return s, &Mismatch{
			Wanted: fmt.Sprintf("%d of %s stopped, a notification of each, and every flight waiting or parked", len(scopes), strings.Join(scopes, ", ")),
			Seen:   fmt.Sprintf("%d stopped, %d told of, %s missing, %d in the air, %d on hold", n, t, flights(away(s)), s.inAir, s.holding)}
	}
	calls := r.book.called()
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return s, context.Cause(ctx)
	case <-timer.C:
	}
	if n := r.book.called() - calls; n > 0 {
		return s, &Mismatch{Wanted: "no call while stopped", Seen: fmt.Sprintf("%d calls", n)}
	}
	return s, nil
}

// adopt takes where the flights are for what is wanted: how many of a stop's flights
// are parked depends on how many were in the air.
func (r *rehearsal) adopt(s sight) {
	for gate, w := range r.want {
		w.Parked, w.Left = s.tallies[gate].Parked, s.tallies[gate].Left
		r.want[gate] = w
	}
}

// reopen mends the scopes, reopens them, replays what was parked, and waits until all
// of it has landed.
func (r *rehearsal) reopen(ctx context.Context, scopes []string) (string, error) {
	for _, scope := range scopes {
		r.book.breaks(scope, 0)
	}
	for _, scope := range scopes {
		o, err := r.desk.Reopen(ctx, scope, governor.ReopenOptions{Reason: "mended, in a rehearsal"})
		if err != nil {
			return "", err
		}
		if !o.Changed || o.State != governor.OpenState {
			return "", &Mismatch{Wanted: scope + " reopened", Seen: fmt.Sprintf("%s, changed: %v", o.State, o.Changed)}
		}
	}
	replayed, landed := 0, 0
	for _, gate := range r.gates() {
		w := r.want[gate]
		moved, err := r.moved(ctx, r.desk.Replay, governor.ParkedShelf, gate, w.Parked)
		if err != nil {
			return "", err
		}
		replayed += moved
		landed += w.Left + moved
		r.add(gate, Tally{Landed: w.Left + moved, Left: -w.Left, Parked: -moved})
	}
	seen := fmt.Sprintf("%s landed", flights(landed))
	if replayed > 0 {
		seen += fmt.Sprintf(", %d of them after a replay", replayed)
	}
	return seen, r.settled(ctx)
}

// thresholds says at which fault the scopes stop.
func (r *rehearsal) thresholds(of func(governor.Streaks) int) string {
	all := map[int]bool{}
	for _, a := range r.plan.rehearsed {
		all[of(a.Streaks)] = true
	}
	if len(all) > 1 {
		return "the number of faults that each declares"
	}
	for n := range all {
		return "fault number " + fmt.Sprint(n)
	}
	return ""
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
