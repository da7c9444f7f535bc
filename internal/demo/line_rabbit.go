package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/throwaway"
	"github.com/traction-go/traction/pkg/governor"
)

// rabbitLine is the plain consumer's line on RabbitMQ, written with amqp091-go the
// way most teams write it: a quorum queue with a delivery limit and a dead-letter
// queue.
type rabbitLine struct {
	conn        *amqp.Connection
	queue, dead string

	mu sync.Mutex // of ch: one caller at a time
	ch *amqp.Channel
}

func dialRabbitLine(ctx context.Context, urls, queue, dead string) (line, error) {
	conn, err := throwaway.DialAMQP(urls)
	if err != nil {
		return nil, err
	}
	l := &rabbitLine{conn: conn, queue: queue, dead: dead}
	if l.ch, err = conn.Channel(); err == nil {
		err = l.declare()
	}
	if err == nil {
		err = l.ch.Confirm(false)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("declare queue %s: %w", queue, err), l.Remove(ctx))
	}
	return l, nil
}

func (l *rabbitLine) declare() error {
	_, err := l.ch.QueueDeclare(l.dead, true, false, false, false, amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int64(deadLimit)})
	if err != nil {
		return err
	}
	_, err = l.ch.QueueDeclare(l.queue, true, false, false, false, amqp.Table{
		"x-queue-type": "quorum", "x-delivery-limit": int64(retryLimit),
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": l.dead,
	})
	return err
}

func (l *rabbitLine) Send(ctx context.Context, bodies [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	confirms := make([]*amqp.DeferredConfirmation, len(bodies))
	for i, b := range bodies {
		c, err := l.ch.PublishWithDeferredConfirmWithContext(ctx, "", l.queue, true, false,
			amqp.Publishing{ContentType: "application/json", DeliveryMode: amqp.Persistent, Body: b})
		if err != nil {
			return err
		}
		confirms[i] = c
	}
	for _, c := range confirms {
		ok, err := c.WaitContext(ctx)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("queue %s: the broker refused a message", l.queue)
		}
	}
	return nil
}

func (l *rabbitLine) Consume(ctx context.Context, workers int, handle func(context.Context, []byte) error) error {
	ch, err := l.conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Qos(workers, 0, false); err != nil {
		return err
	}
	deliveries, err := ch.Consume(l.queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case d, open := <-deliveries:
					if !open {
						return
					}
					// A settlement that fails is a message delivered again: at
					// least once, as ever. Reject counts toward the limit on every
					// version; from 4.3 a nack does not.
					if handle(ctx, d.Body) == nil {
						_ = d.Ack(false)
					} else {
						_ = d.Reject(true)
					}
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() == nil {
		return fmt.Errorf("%w: the plain consumer lost its connection", governor.ErrUnreachable)
	}
	return ch.Close()
}

func (l *rabbitLine) Depths(context.Context) (waiting, dead int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q, err := l.ch.QueueDeclarePassive(l.queue, true, false, false, false, nil)
	if err != nil {
		return 0, 0, err
	}
	d, err := l.ch.QueueDeclarePassive(l.dead, true, false, false, false, nil)
	return q.Messages, d.Messages, err
}

// Remove uses a channel of its own: the other one may have died of what made it
// necessary.
func (l *rabbitLine) Remove(context.Context) error {
	var errs []error
	ch, err := l.conn.Channel()
	if err != nil {
		errs = append(errs, err)
	} else {
		for _, q := range []string{l.queue, l.dead} {
			_, err := ch.QueueDelete(q, false, false, false)
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, l.conn.CloseDeadline(time.Now().Add(5*time.Second)))...)
}
