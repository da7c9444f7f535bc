package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

func (t *transport) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	errs := make([]error, len(msgs))
	if err := t.ready(ctx); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	for i, p := range msgs {
		errs[i] = t.b.publish(p)
	}
	return errs
}

// ready waits for a blocked broker, bounded.
func (t *transport) ready(ctx context.Context) error {
	timeout := time.NewTimer(t.b.wait)
	defer timeout.Stop()
	for {
		if err := t.open(ctx); err != nil {
			return err
		}
		t.b.mu.Lock()
		wait, why := t.b.unblocked, t.b.blocked
		t.b.mu.Unlock()
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-t.done:
		case <-ctx.Done():
			return fmt.Errorf("publish: %w: the broker blocks publishers (%s): %w", broker.ErrUnreachable, why, ctx.Err())
		case <-timeout.C:
			return fmt.Errorf("publish: %w: the broker blocks publishers (%s)", broker.ErrUnreachable, why)
		}
	}
}

func (b *Broker) publish(p broker.Publishing) error {
	if err := broker.CheckPublishing(p); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.reachable(); err != nil {
		return err
	}
	fault := NoFault
	if b.hook != nil {
		fault = b.hook(p)
	}
	if fault == Refuse {
		return fmt.Errorf("publish to exchange %q: %w: refused", p.Exchange, broker.ErrNotConfirmed)
	}
	targets := b.route(p.Exchange, p.Key)
	m := travel(p.Message)
	for _, q := range targets {
		q.enqueue(p.Key, m)
	}
	switch {
	case fault == LoseConfirm:
		return fmt.Errorf("publish to exchange %q: %w: the confirm was lost", p.Exchange, broker.ErrNotConfirmed)
	case fault == LoseConnection:
		b.loseAll()
		b.revive()
		return fmt.Errorf("publish to exchange %q: %w: the connection was lost before the confirm", p.Exchange, broker.ErrUnreachable)
	case len(targets) == 0 && b.exchanges[p.Exchange] == nil && p.Exchange != "":
		return fmt.Errorf("exchange %q does not exist: %w", p.Exchange, broker.ErrUnroutable)
	case len(targets) == 0 && !p.Optional:
		return fmt.Errorf("no queue takes key %q of exchange %q: %w", wire.Visible(p.Key), p.Exchange, broker.ErrUnroutable)
	}
	return nil
}

// travel copies what a wire would copy, so that a caller may reuse its buffers.
func travel(m wire.Message) wire.Message {
	m.Body = slices.Clone(m.Body)
	m.Headers = maps.Clone(m.Headers)
	m.Expiration, m.UserID = "", ""
	if !m.Timestamp.IsZero() {
		m.Timestamp = time.Unix(m.Timestamp.Unix(), 0)
	}
	return m
}
