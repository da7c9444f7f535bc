package rehearse

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/throwaway"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// sight is what stands of the rehearsed gates in one moment.
type sight struct {
	tallies map[string]Tally
	states  map[string]governor.State // of airports and gates
	inAir   int
	holding int
	able    map[string]int // flights that can be in the air, by gate
	calls   int
}

// look reads what an operator would see, and what the book knows.
func (r *rehearsal) look(ctx context.Context) (sight, error) {
	s := sight{tallies: r.book.tallies(), states: map[string]governor.State{}, able: map[string]int{}, calls: r.book.called()}
	airports, err := r.desk.Airports(ctx)
	if err != nil {
		return s, err
	}
	for _, a := range airports {
		s.states[a.Airport] = a.State
		s.inAir += a.InAir
		for _, g := range a.Gates {
			s.states[g.Gate], s.able[g.Gate] = g.State, g.WorkersActual
			s.holding += g.Holding
			t := s.tallies[g.Gate]
			t.Rejected += max(g.Rejected, 0)
			t.Parked += max(g.Parked, 0)
			t.Left += max(g.Runway, 0) + g.Holding + g.InAir
			t.Discarded = r.want[g.Gate].Discarded
			s.tallies[g.Gate] = t
		}
	}
	for gate, want := range r.want { // of one that was removed
		t := s.tallies[gate]
		t.Discarded = want.Discarded
		s.tallies[gate] = t
	}
	return s, nil
}

// watch looks until done says so, or nothing it sees has changed for as long as the
// run is patient, and gives the last sight.
func (r *rehearsal) watch(ctx context.Context, done func(sight) bool) (last sight, ok bool, err error) {
	tick := time.NewTicker(r.tick)
	defer tick.Stop()
	changed, was := time.Now(), ""
	for {
		if r.crew != nil {
			if err := r.crew.failed(); err != nil {
				return last, false, err
			}
		}
		s, err := r.look(ctx)
		if err != nil {
			return s, false, err
		}
		if done(s) {
			return s, true, nil
		}
		if is := fmt.Sprint(s); is != was {
			changed, was = time.Now(), is
		}
		if time.Since(changed) > r.patience {
			return s, false, nil
		}
		last = s
		select {
		case <-ctx.Done():
			return last, false, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// settled waits until every gate's tally is what it must be by now, and every scope is
// open.
func (r *rehearsal) settled(ctx context.Context) error {
	s, ok, err := r.watch(ctx, func(s sight) bool { return differ(r.want, s.tallies) == nil && s.shut() == "" })
	if err != nil || ok {
		return err
	}
	if m := differ(r.want, s.tallies); m != nil {
		if shut := s.shut(); shut != "" {
			m.Seen += "; " + shut
		}
		return m
	}
	return &Mismatch{Wanted: "every airport and gate OPEN", Seen: s.shut()}
}

// shut names the first scope that is not open.
func (s sight) shut() string {
	for _, scope := range sorted(s.states) {
		if s.states[scope] != governor.OpenState {
			return scope + " is " + string(s.states[scope])
		}
	}
	return ""
}

// gates lists every gate as airport/gate, in the order of the configuration.
func (r *rehearsal) gates() (all []string) {
	for _, a := range r.plan.rehearsed {
		for _, g := range a.Gates {
			all = append(all, a.ID+"/"+g.ID)
		}
	}
	return all
}

// send dispatches n flights to a gate; their calls answer fly first.
func (r *rehearsal) send(ctx context.Context, gate string, n int, fly ...settle.Outcome) ([]*entry, error) {
	return r.dispatch(ctx, gate, n, "", func(int) []settle.Outcome { return fly })
}

// dispatch sends n flights to a gate, all of them twins where twin is not empty. The
// calls of the i-th answer fly(i) first.
func (r *rehearsal) dispatch(ctx context.Context, gate string, n int, twin string, fly func(i int) []settle.Outcome) ([]*entry, error) {
	var all []*entry
	var source iter.Seq2[governor.Outgoing, error] = func(yield func(governor.Outgoing, error) bool) {
		for i := range n {
			id := r.number()
			payload := body(id)
			all = append(all, r.book.dispatched(payload, gate, id, twin, slices.Clone(fly(i))...))
			if !yield(governor.Outgoing{Payload: payload, BusinessID: id, ContentType: "application/json"}, nil) {
				return
			}
		}
	}
	_, err := r.desk.DispatchAll(ctx, gate, source)
	return all, err
}

func (r *rehearsal) number() string {
	r.sent++
	return fmt.Sprintf("%s-%d", r.ns, r.sent)
}

// sendAll sends so many flights to each gate, and adds to what is wanted of them.
func (r *rehearsal) sendAll(ctx context.Context, n int, add Tally, fly func(gate string) []settle.Outcome) (all []*entry, err error) {
	for _, gate := range r.gates() {
		var answers []settle.Outcome
		if fly != nil {
			answers = fly(gate)
		}
		es, err := r.send(ctx, gate, n, answers...)
		if err != nil {
			return nil, err
		}
		all = append(all, es...)
		r.add(gate, add)
	}
	return all, nil
}

// add changes what is wanted of a gate.
func (r *rehearsal) add(gate string, t Tally) { r.want[gate] = r.want[gate].plus(t) }

// depth counts what is ready on a queue.
func (r *rehearsal) depth(ctx context.Context, queue string) (int, error) {
	n, _, err := r.bk.Depth(ctx, queue)
	return n, throwaway.Unreachable(err)
}
