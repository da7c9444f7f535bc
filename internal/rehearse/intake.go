package rehearse

import (
	"context"
	"fmt"
	"strings"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// intake puts messages on each adopted queue, as its producers do, and sees them land.
func (r *rehearsal) intake(ctx context.Context) (string, error) {
	if len(r.stand) == 0 {
		return "", skipped("no gate adopts a queue")
	}
	n := 0
	for _, a := range r.stand {
		values := a.values()
		var all []message
		for i := range a.limit(r.Flights) {
			all = append(all, a.messageFor(r.number(), values[i%len(values)]))
		}
		if err := r.post(ctx, a, all, Tally{Landed: 1}); err != nil {
			return "", err
		}
		n += len(all)
	}
	if err := r.settled(ctx); err != nil {
		return "", err
	}
	if err := r.empty(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s taken from %s, and landed", messages(n), plural(len(r.stand), "queue")), nil
}

// route puts one message of each kind on each adopted queue with a route, and sees each
// land at its own gate.
func (r *rehearsal) route(ctx context.Context) (string, error) {
	var said []string
	for _, a := range r.stand {
		if a.Spec.Route == nil {
			continue
		}
		all := []message{a.raw(r.number())}
		ways := map[string]int{all[0].gate: 1}
		for _, v := range a.values() {
			m := a.messageFor(r.number(), v)
			all = append(all, m)
			ways[m.gate]++
		}
		for len(all) > 0 { // a queue with a length limit takes a few at a time
			some := all[:a.limit(len(all))]
			all = all[len(some):]
			if err := r.post(ctx, a, some, Tally{Landed: 1}); err != nil {
				return "", err
			}
			if err := r.settled(ctx); err != nil {
				return "", err
			}
		}
		for _, gate := range sorted(ways) {
			said = append(said, fmt.Sprintf("%d to %s", ways[gate], gate))
		}
	}
	if len(said) == 0 {
		return "", skipped("no adopted queue has a route")
	}
	if odd := r.book.oddities(); len(odd) > 0 {
		return "", &Mismatch{Wanted: "each message at the gate of its value, under its business id", Seen: list(odd, 2)}
	}
	return "each value, an unknown one, and a body that is not JSON: " + strings.Join(said, ", "), nil
}

// post publishes messages to an adopted queue, and adds what each must come to.
func (r *rehearsal) post(ctx context.Context, a *adopted, all []message, each Tally) error {
	out := make([]broker.Publishing, len(all))
	for i, m := range all {
		id := r.number()
		r.book.expect(m.body, m.gate, m.business)
		r.add(m.gate, each.plus(Tally{Sent: 1}))
		out[i] = broker.Publishing{Key: a.Name, Message: wire.Message{ID: id, Type: "rehearsal", ContentType: "application/json", Body: m.body}}
	}
	for _, err := range r.bk.Publish(ctx, out) {
		if err != nil {
			return fmt.Errorf("publish to queue %s: %w", a.Name, err)
		}
	}
	return nil
}

// empty says whether the adopted queues are, and nothing died there.
func (r *rehearsal) empty(ctx context.Context) error {
	for _, a := range r.stand {
		for _, q := range []string{a.Name, a.Dead} {
			n, err := r.depth(ctx, q)
			if err != nil {
				return err
			}
			if n > 0 {
				return &Mismatch{Wanted: "nothing left on queue " + q, Seen: messages(n)}
			}
		}
	}
	return nil
}

func messages(n int) string { return plural(n, "message") }
