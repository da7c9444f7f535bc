package rehearse

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// batched are the gates that fly several in one call.
func (r *rehearsal) batched() map[string]*governor.Batch {
	all := map[string]*governor.Batch{}
	for _, a := range r.plan.rehearsed {
		for _, g := range a.Gates {
			if g.Batch != nil {
				all[a.ID+"/"+g.ID] = g.Batch
			}
		}
	}
	return all
}

// batch flies full batches, one with a bad record that nobody names, and one of twins.
func (r *rehearsal) batch(ctx context.Context) (string, error) {
	all := r.batched()
	if len(all) == 0 {
		return "", skipped("no gate has a batch")
	}
	var said []string
	for _, gate := range sorted(all) {
		text, err := r.batchAt(ctx, gate, all[gate])
		if err != nil {
			return "", err
		}
		said = append(said, gate+": "+text)
	}
	return strings.Join(said, "; "), nil
}

func (r *rehearsal) batchAt(ctx context.Context, gate string, b *governor.Batch) (string, error) {
	// What is sent at once waits for what follows: at least two of them meet.
	meet := min(r.Flights, b.Size, 2)
	r.book.largest(gate)
	if _, err := r.fly(ctx, gate, "", nil); err != nil {
		return "", err
	}
	largest := r.book.largest(gate)
	if largest < meet || largest > b.Size {
		return "", &Mismatch{Wanted: fmt.Sprintf("%s: batches of %d to %d", gate, meet, b.Size), Seen: fmt.Sprintf("the largest had %d", largest)}
	}
	text := fmt.Sprintf("batches of up to %d, the largest had %d", b.Size, largest)

	r.book.failsWhole(gate, true)
	_, err := r.fly(ctx, gate, "", []settle.Outcome{settle.FlightFault})
	r.book.failsWhole(gate, false)
	if err != nil {
		return "", err
	}
	text += ", a bad record was found and rejected alone"

	if b.Dedupe == nil {
		return text, nil
	}
	es, err := r.fly(ctx, gate, fmt.Sprintf("twins-%d", r.sent), nil)
	if err != nil {
		return "", err
	}
	shared := r.book.sharing(es)
	if shared < meet-1 {
		return "", &Mismatch{Wanted: fmt.Sprintf("%s: twins that land together", gate), Seen: fmt.Sprintf("%d of %d did", shared, r.Flights)}
	}
	return text + fmt.Sprintf(", %d of %d twins landed unsent", shared, r.Flights), nil
}

// fly sends a step's flights to one gate and waits for what becomes of them. first is
// what the calls of the first one answer; it is rejected where there is any.
func (r *rehearsal) fly(ctx context.Context, gate, twin string, first []settle.Outcome) ([]*entry, error) {
	es, err := r.dispatch(ctx, gate, r.Flights, twin, func(i int) []settle.Outcome {
		if i == 0 {
			return first
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	bad := min(len(first), 1)
	r.add(gate, Tally{Sent: r.Flights, Landed: r.Flights - bad, Rejected: bad})
	return es, r.settled(ctx)
}

// scale turns every gate down to one worker, and its batches off, flies, and gives it
// back what it declares.
func (r *rehearsal) scale(ctx context.Context) (string, error) {
	batched := r.batched()
	declared := map[string]int{}
	for _, a := range r.plan.rehearsed {
		for _, g := range a.Gates {
			declared[a.ID+"/"+g.ID] = or(g.Workers, governor.DefaultWorkers)
		}
	}
	one, ones := 1, map[string]int{}
	for _, gate := range r.gates() {
		o := governor.ScaleOptions{Workers: &one}
		if batched[gate] != nil {
			o.Batch = &one
		}
		if err := r.scaleTo(ctx, gate, o); err != nil {
			return "", err
		}
		ones[gate] = 1
		r.book.largest(gate)
	}
	if err := r.staffed(ctx, ones); err != nil {
		return "", err
	}
	es, err := r.sendAll(ctx, r.Flights, Tally{Sent: r.Flights, Landed: r.Flights}, nil)
	if err == nil {
		err = r.settled(ctx)
	}
	if err != nil {
		return "", err
	}
	for gate := range batched {
		if n := r.book.largest(gate); n != 1 {
			return "", &Mismatch{Wanted: gate + ": batches of 1 once scaled to that", Seen: fmt.Sprintf("one of %d", n)}
		}
	}
	for _, gate := range r.gates() {
		if err := r.scaleTo(ctx, gate, governor.ScaleOptions{Reset: true}); err != nil {
			return "", err
		}
	}
	seen := fmt.Sprintf("%s with one worker a gate landed", flights(len(es)))
	if len(batched) > 0 {
		seen += ", with batches of one"
	}
	return seen + "; then back to what is declared", r.staffed(ctx, declared)
}

func (r *rehearsal) scaleTo(ctx context.Context, gate string, o governor.ScaleOptions) error {
	bound, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	s, err := r.desk.Scale(bound, gate, o)
	if err == nil && len(s.Unseen) > 0 {
		err = &Mismatch{Wanted: gate + " scaled", Seen: "not seen by " + list(s.Unseen, 2)}
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = &Mismatch{Wanted: gate + " scaled", Seen: fmt.Sprintf("no answer within %v", r.patience)}
	}
	return err
}

// staffed waits until each gate has so many workers.
func (r *rehearsal) staffed(ctx context.Context, want map[string]int) error {
	off := func(s sight) string {
		for _, gate := range sorted(want) {
			if s.able[gate] != want[gate] {
				return gate
			}
		}
		return ""
	}
	s, ok, err := r.watch(ctx, func(s sight) bool { return off(s) == "" })
	if err != nil || ok {
		return err
	}
	gate := off(s)
	return &Mismatch{Wanted: fmt.Sprintf("%s: %d workers", gate, want[gate]), Seen: fmt.Sprint(s.able[gate])}
}
