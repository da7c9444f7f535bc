package rehearse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/throwaway"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// rollback leaves, as docs/adopting.md says: the gates are paused, which stops the
// intakes, the workers end, the old consumer takes over what is in its queue, and gets
// what is still at the gates.
func (r *rehearsal) rollback(ctx context.Context) (string, error) {
	if len(r.stand) == 0 {
		return "", skipped("no gate adopts a queue")
	}
	before, err := r.look(ctx)
	if err != nil {
		return "", err
	}
	// Some on their way, wherever a pause and an end find them.
	sent := 0
	for _, a := range r.stand {
		n, err := r.some(ctx, a)
		if err != nil {
			return "", err
		}
		sent += n
	}
	if err := r.pause(ctx); err != nil {
		return "", err
	}
	behind := 0
	for _, a := range r.stand {
		if longest := a.like.number("x-max-length"); longest > 0 {
			continue // what the first ones left of its room is not known
		}
		n, err := r.some(ctx, a)
		if err != nil {
			return "", err
		}
		behind += n
	}
	if err := r.crew.end(ctx); err != nil {
		return "", err
	}
	for _, a := range r.stand {
		if n, err := r.bk.Consumers(ctx, a.Name); err != nil || n > 0 {
			return "", errors.Join(throwaway.Unreachable(err), mismatchIf(n > 0, "no consumer on "+a.Name, fmt.Sprint(n)))
		}
	}
	// What is not to be tried again by the old consumer is discarded first.
	for _, gate := range r.adopting() {
		for _, shelf := range r.shelves(gate) {
			n := r.want[gate].on(shelf)
			moved, err := r.moved(ctx, r.desk.Discard, shelf, gate, n)
			if err != nil {
				return "", err
			}
			r.add(gate, shelfTally(shelf, -moved).plus(Tally{Discarded: moved}))
		}
	}
	after, err := r.look(ctx)
	if err != nil {
		return "", err
	}
	landed := 0
	for gate := range r.want {
		landed += after.tallies[gate].Landed - before.tallies[gate].Landed
	}
	old := sent + behind - landed
	if old < behind {
		return "", &Mismatch{Wanted: fmt.Sprintf("%s left to the old consumer by gates that are paused", messages(behind)), Seen: messages(old)}
	}
	queued, given, err := r.giveBack(ctx)
	if err != nil {
		return "", err
	}
	if queued+given != old {
		return "", &Mismatch{Wanted: fmt.Sprintf("%s for the old consumer: %d sent, %d landed", messages(old), sent+behind, landed),
			Seen: fmt.Sprintf("%d in its queue, %d given back by the gates", queued, given)}
	}
	for gate, t := range r.book.tallies() {
		w := r.want[gate]
		w.Landed, w.Left = t.Landed, t.Left
		r.want[gate] = w
	}
	return fmt.Sprintf("%s sent, %d landed before the workers ended; the old consumer took %d from its queue and %d that the gates gave back", messages(sent+behind), landed, queued, given), nil
}

func mismatchIf(bad bool, wanted, seen string) error {
	if !bad {
		return nil
	}
	return &Mismatch{Wanted: wanted, Seen: seen}
}

// some posts a step's flights to an adopted queue. What becomes of each is open.
func (r *rehearsal) some(ctx context.Context, a *adopted) (int, error) {
	values := a.values()
	var all []message
	for i := range a.limit(r.Flights) {
		all = append(all, a.messageFor(r.number(), values[i%len(values)]))
	}
	return len(all), r.post(ctx, a, all, Tally{})
}

// pause stops the intakes, by the gates that adopt, and waits until none consumes.
func (r *rehearsal) pause(ctx context.Context) error {
	for _, a := range r.stand {
		bound, cancel := context.WithTimeout(ctx, r.patience)
		p, err := r.desk.Pause(bound, a.Gate, governor.PauseOptions{Reason: "leaving, in a rehearsal"})
		cancel()
		if err != nil {
			return err
		}
		if len(p.Unseen) > 0 {
			return &Mismatch{Wanted: a.Gate + " paused", Seen: "not seen by " + list(p.Unseen, 2)}
		}
	}
	for _, a := range r.stand {
		err := r.until(ctx, func() error {
			n, err := r.bk.Consumers(ctx, a.Name)
			if err != nil {
				return throwaway.Unreachable(err)
			}
			return mismatchIf(n > 0, "no consumer on "+a.Name+" while its gate is paused", fmt.Sprint(n))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// until tries again until try sees what it must, or the run's patience is over.
func (r *rehearsal) until(ctx context.Context, try func() error) error {
	tick := time.NewTicker(r.tick)
	defer tick.Stop()
	end := time.Now().Add(r.patience)
	for {
		err := try()
		var m *Mismatch
		if !errors.As(err, &m) && !errors.Is(err, governor.ErrRefused) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// adopting are the gates that adopted queues feed.
func (r *rehearsal) adopting() []string {
	all := map[string]bool{}
	for _, a := range r.stand {
		for _, gate := range a.gates() {
			all[gate] = true
		}
	}
	return sorted(all)
}

// giveBack lets the old consumer take what is in its queues, then removes the gates,
// which gives back what is at them, and lets it take that.
func (r *rehearsal) giveBack(ctx context.Context) (queued, given int, err error) {
	for _, a := range r.stand {
		n, err := r.oldConsumer(ctx, a)
		if err != nil {
			return queued, given, err
		}
		queued += n
	}
	for _, a := range r.stand {
		for _, gate := range a.gates() {
			err := r.until(ctx, func() error {
				_, err := r.desk.Remove(ctx, gate, governor.RemoveOptions{Confirm: gate, To: a.Name, Reason: "leaving, in a rehearsal"})
				return err
			})
			if err != nil {
				return queued, given, err
			}
			// One gate at a time: the queue may have a length limit.
			n, err := r.oldConsumer(ctx, a)
			if err != nil {
				return queued, given, err
			}
			given += n
		}
	}
	return queued, given, nil
}

// oldConsumer takes everything that is on an adopted queue, as its consumer from
// before would.
func (r *rehearsal) oldConsumer(ctx context.Context, a *adopted) (n int, err error) {
	const prefetch = 50
	want, err := r.depth(ctx, a.Name)
	if err != nil || want == 0 {
		return 0, err
	}
	sub, err := r.bk.Subscribe(ctx, a.Name, prefetch)
	if err != nil {
		return 0, throwaway.Unreachable(err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err = errors.Join(err, sub.Close(end))
	}()
	idle := time.NewTimer(r.patience)
	defer idle.Stop()
	for n < want {
		select {
		case <-ctx.Done():
			return n, context.Cause(ctx)
		case <-idle.C:
			return n, &Mismatch{Wanted: fmt.Sprintf("%s for the old consumer of %s", messages(want), a.Name), Seen: messages(n)}
		case d := <-sub.Deliveries():
			if !r.book.take(d.Message().Body) {
				return n, &Mismatch{Wanted: "the rehearsal's own messages on " + a.Name, Seen: "one that it did not send: " + wire.Visible(d.Message().ID)}
			}
			if err := d.Ack(); err != nil {
				return n, err
			}
			n++
			idle.Reset(r.patience)
		}
	}
	return n, r.synced(ctx, a)
}

// synced waits until the acknowledgements are known to have arrived.
func (r *rehearsal) synced(ctx context.Context, a *adopted) error {
	return r.until(ctx, func() error {
		n, err := r.depth(ctx, a.Name)
		if err != nil {
			return err
		}
		return mismatchIf(n > 0, "nothing left on "+a.Name, messages(n))
	})
}
