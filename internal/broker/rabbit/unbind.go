package rabbit

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
)

func (t *transport) Unbind(ctx context.Context, bindings ...broker.Binding) error {
	if err := broker.CheckTopology(broker.Topology{Bindings: bindings}); err != nil {
		return fmt.Errorf("unbind: %w", err)
	}
	for _, b := range bindings {
		err := t.call(ctx, fmt.Sprintf("unbind queue %q from exchange %q", b.Queue, b.Exchange), func(ch *amqp.Channel) error {
			return ch.QueueUnbind(b.Queue, b.Key, b.Exchange, nil)
		})
		if err != nil && !errors.Is(err, broker.ErrNoQueue) && !errors.Is(err, broker.ErrNoExchange) {
			return err
		}
	}
	return nil
}
