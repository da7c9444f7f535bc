package simfleet

import (
	"context"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/broker"
)

// port is a process's connection to the broker, where it may be killed around each
// publish and each acknowledgement.
type port struct {
	broker.Transport
	p *process
}

func (t *port) gone() error { return fmt.Errorf("%w: %w", broker.ErrUnreachable, errGone) }

func (t *port) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	all := func() []error {
		errs := make([]error, len(msgs))
		for i := range errs {
			errs[i] = t.gone()
		}
		return errs
	}
	time.Sleep(t.p.w.between(200*time.Microsecond, 3*time.Millisecond))
	if t.p.step("before a publish") {
		return all()
	}
	errs := t.Transport.Publish(ctx, msgs)
	time.Sleep(t.p.w.between(200*time.Microsecond, 3*time.Millisecond))
	if t.p.step("after a publish") {
		return all()
	}
	return errs
}

func (t *port) Subscribe(ctx context.Context, queue string, prefetch int) (broker.Subscription, error) {
	if t.p.isDead() {
		return nil, t.gone()
	}
	s, err := t.Transport.Subscribe(ctx, queue, prefetch)
	if err != nil {
		return nil, err
	}
	return newTap(s, t.p), nil
}

// tap is a subscription whose deliveries are the World's.
type tap struct {
	broker.Subscription
	out chan broker.Delivery
}

func newTap(s broker.Subscription, p *process) *tap {
	t := &tap{Subscription: s, out: make(chan broker.Delivery, cap(s.Deliveries()))}
	p.w.wg.Go(func() {
		defer close(t.out)
		for d := range s.Deliveries() {
			t.out <- &handed{d, p}
		}
	})
	return t
}

func (t *tap) Deliveries() <-chan broker.Delivery { return t.out }

func (t *tap) Close(ctx context.Context) error {
	err := t.Subscription.Close(ctx)
	for range t.out { // what nobody will take
	}
	return err
}

type handed struct {
	broker.Delivery
	p *process
}

func (h *handed) stale() error { return fmt.Errorf("%w: %w", broker.ErrStale, errGone) }

func (h *handed) Ack() error {
	if h.p.step("before an ack") {
		return h.stale()
	}
	if err := h.Delivery.Ack(); err != nil {
		return err
	}
	h.p.step("after an ack")
	return nil
}

func (h *handed) Nack() error {
	if h.p.step("before a return") {
		return h.stale()
	}
	return h.Delivery.Nack()
}
