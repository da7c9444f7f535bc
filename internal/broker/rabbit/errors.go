package rabbit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// classify gives an error of the library its class, with the broker's text.
func classify(err error) error {
	if err == nil || errors.Is(err, broker.ErrClosed) || errors.Is(err, broker.ErrUnreachable) {
		return err
	}
	var e *amqp.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, err)
	}
	text := wire.Visible(e.Reason)
	class := broker.ErrUnreachable
	switch {
	case e.Code == amqp.NotFound && strings.Contains(e.Reason, "no queue '"):
		class = broker.ErrNoQueue
	case e.Code == amqp.NotFound && strings.Contains(e.Reason, "no exchange '"):
		class = broker.ErrNoExchange
	case e.Code == amqp.PreconditionFailed:
		class = broker.ErrMismatch
	case e.Code == amqp.AccessRefused || e.Code == amqp.ResourceLocked:
		class = broker.ErrRefused
	}
	return fmt.Errorf("%w: the broker says: %s", class, text)
}

// call runs f on a throw-away channel of the consuming connection, bounded.
func (t *transport) call(ctx context.Context, what string, f func(*amqp.Channel) error) error {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.CallTimeout)
	defer cancel()
	if t.stop.Err() != nil {
		return fmt.Errorf("%s: %w", what, broker.ErrClosed)
	}
	c, err := t.rest.get(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	answer := make(chan error, 1)
	go func() { answer <- c.use(f) }()
	select {
	case err := <-answer:
		if err != nil {
			return fmt.Errorf("%s: %w", what, classify(err))
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w: no answer: %w", what, broker.ErrUnreachable, ctx.Err())
	}
}

// use runs f on a channel of this connection that nobody else uses; one that
// came to no harm is kept for the next call.
func (c *live) use(f func(*amqp.Channel) error) error {
	var ch *amqp.Channel
	for ch == nil {
		select {
		case old := <-c.idle:
			if !old.IsClosed() {
				ch = old
			}
			continue
		default:
		}
		var err error
		if ch, err = c.conn.Channel(); err != nil {
			return err
		}
	}
	err := f(ch)
	if err == nil {
		select {
		case c.idle <- ch:
			return nil
		default:
		}
	}
	_ = ch.Close() // already closed when f failed for a reason of the broker's
	return err
}
