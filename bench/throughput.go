package main

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	payload = 500   // bytes
	drained = 60000 // messages a round, where one queue is drained
)

var governed = side{"governed", drainGoverned}

// governedAgainstPlain drains the same number of messages with a governed gate
// (no-op pilot, unlimited slots, 4 workers, tower on) and with a plain consumer
// (manual ack, prefetch 200, 4 workers), in turn, from quorum queues on the same
// broker, and compares the medians.
func governedAgainstPlain(ctx context.Context, b *bench) (float64, string, error) {
	return compare(ctx, b, governed, side{"plain", drainPlain})
}

// drainPlain fills a queue, then measures a plain consumer.
func drainPlain(ctx context.Context, b *bench) (float64, error) {
	n := b.amount(drained)
	conn, err := amqp.Dial(b.amqp)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return 0, err
	}
	q := namespace()
	if _, err := ch.QueueDeclare(q, true, false, false, false, quorum); err != nil {
		return 0, err
	}
	if err := fillPlain(ctx, conn, "", q, plainMessages(n)); err != nil {
		return 0, err
	}
	if err := ch.Qos(200, 0, false); err != nil {
		return 0, err
	}
	used, begin := spent(), time.Now()
	msgs, err := ch.Consume(q, "", false, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	var done atomic.Int64
	all := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for m := range msgs {
				if m.Ack(false) != nil {
					return
				}
				if done.Add(1) == int64(n) {
					close(all)
				}
			}
		})
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-all:
	}
	took := time.Since(begin)
	b.used = each(used, n)
	if err := ch.Close(); err != nil {
		return 0, err
	}
	wg.Wait()
	ch2, err := conn.Channel()
	if err != nil {
		return 0, err
	}
	_, err = ch2.QueueDelete(q, false, false, false)
	return float64(n) / took.Seconds(), err
}

// quorum is how a queue is declared: as Traction declares its own.
var quorum = amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": 1000000}

// plainMessages gives n messages that all have the same body.
func plainMessages(n int) iter.Seq[amqp.Publishing] {
	body := make([]byte, payload)
	return func(yield func(amqp.Publishing) bool) {
		for range n {
			if !yield(amqp.Publishing{DeliveryMode: amqp.Persistent, Body: body}) {
				return
			}
		}
	}
}

// fillPlain publishes with confirms, a thousand of them outstanding, and returns when
// all are confirmed.
func fillPlain(ctx context.Context, conn *amqp.Connection, exchange, key string, msgs iter.Seq[amqp.Publishing]) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	if err := ch.Confirm(false); err != nil {
		return err
	}
	outstanding := make([]*amqp.DeferredConfirmation, 1000)
	wait := func(c *amqp.DeferredConfirmation) error {
		if c == nil {
			return nil
		}
		ok, err := c.WaitContext(ctx)
		if err == nil && !ok {
			err = errors.New("a publish was refused")
		}
		return err
	}
	i := 0
	for m := range msgs {
		at := i % len(outstanding)
		if err := wait(outstanding[at]); err != nil {
			return err
		}
		if outstanding[at], err = ch.PublishWithDeferredConfirmWithContext(ctx, exchange, key, false, false, m); err != nil {
			return err
		}
		i++
	}
	for _, c := range outstanding {
		if err := wait(c); err != nil {
			return err
		}
	}
	return nil
}

func drainGoverned(ctx context.Context, b *bench) (float64, error) {
	return b.drain(ctx, backlog{n: b.amount(drained)}, single)
}
