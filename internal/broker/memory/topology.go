package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/traction-go/traction/internal/broker"
)

func (t *transport) Declare(ctx context.Context, top broker.Topology) error {
	if err := broker.CheckTopology(top); err != nil {
		return err
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	b := t.b
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range top.Exchanges {
		have := b.exchanges[x.Name]
		if have == nil {
			b.exchanges[x.Name] = &exchange{Exchange: x}
		} else if have.Exchange != x {
			return fmt.Errorf("exchange %q exists as %s with alternate %q, wanted %s with %q: %w",
				x.Name, have.Kind, have.Alternate, x.Kind, x.Alternate, broker.ErrMismatch)
		}
	}
	for _, q := range top.Queues {
		have := b.queues[q.Name]
		if have == nil {
			b.queues[q.Name] = &queue{Queue: q, b: b}
		} else if have.Queue != q {
			return fmt.Errorf("queue %q exists with TTL %s and dead letters to %q, wanted %s and %q: %w",
				q.Name, have.TTL, have.DeadLetterExchange, q.TTL, q.DeadLetterExchange, broker.ErrMismatch)
		}
	}
	for _, bind := range top.Bindings {
		x := b.exchanges[bind.Exchange]
		if x == nil {
			return fmt.Errorf("bind queue %q to exchange %q: %w", bind.Queue, bind.Exchange, broker.ErrNoExchange)
		}
		if b.queues[bind.Queue] == nil {
			return fmt.Errorf("bind queue %q to exchange %q: %w", bind.Queue, bind.Exchange, broker.ErrNoQueue)
		}
		if !slices.Contains(x.bindings, bind) {
			x.bindings = append(x.bindings, bind)
		}
	}
	b.changed()
	return nil
}

// changed retries what the old topology could not do.
func (b *Broker) changed() {
	for _, q := range b.queues {
		q.retry()
	}
	b.revive()
}

func (t *transport) HasExchange(ctx context.Context, name string) (bool, error) {
	if err := t.open(ctx); err != nil {
		return false, err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.b.exchanges[name] != nil, nil
}

func (t *transport) Depth(ctx context.Context, name string) (int, bool, error) {
	if err := t.open(ctx); err != nil {
		return 0, false, err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	q := t.b.queues[name]
	if q == nil {
		return 0, false, nil
	}
	return len(q.ready), true, nil
}

func (t *transport) Consumers(ctx context.Context, name string) (int, error) {
	if err := t.open(ctx); err != nil {
		return 0, err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	q := t.b.queues[name]
	if q == nil {
		return 0, fmt.Errorf("consumers of queue %q: %w", name, broker.ErrNoQueue)
	}
	return q.consumers(), nil
}

func (t *transport) Standing(ctx context.Context, name string) (broker.Standing, error) {
	if err := t.open(ctx); err != nil {
		return broker.Standing{}, err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	q := t.b.queues[name]
	if q == nil {
		return broker.Standing{}, nil
	}
	return broker.Standing{Exists: true, Ready: len(q.ready), Consumers: q.consumers()}, nil
}

// consumers counts those that have, or may get, something of the queue.
func (q *queue) consumers() int {
	n := q.looks
	for _, s := range q.subs {
		if s.consuming || len(s.hands) > 0 {
			n++
		}
	}
	return n
}

func (t *transport) DeleteQueue(ctx context.Context, name string) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	b := t.b
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[name]
	if q == nil {
		return nil
	}
	delete(b.queues, name)
	q.deleted = true
	q.ready, q.stuck = nil, nil
	q.arm()
	for _, x := range b.exchanges {
		x.bindings = slices.DeleteFunc(x.bindings, func(bind broker.Binding) bool { return bind.Queue == name })
	}
	for _, s := range q.subs {
		s.lose()
	}
	return nil
}

func (t *transport) DeleteExchange(ctx context.Context, name string) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	delete(t.b.exchanges, name)
	return nil
}
