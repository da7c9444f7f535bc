package main

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/wire"
)

// feedAgainstNone drains with a listener bound to the feed of reports, which takes all
// of them, and with none.
func feedAgainstNone(ctx context.Context, b *bench) (float64, string, error) {
	var heard atomic.Int64
	bound := func(ctx context.Context, b *bench) (float64, error) {
		ns := wire.Namespace(namespace())
		conn, err := amqp.Dial(b.amqp)
		if err != nil {
			return 0, err
		}
		defer conn.Close()
		if err := hear(conn, ns.ReportsExchange(), &heard); err != nil {
			return 0, err
		}
		return b.drain(ctx, backlog{ns: string(ns), n: b.amount(drained)}, single)
	}
	ratio, how, err := compare(ctx, b, side{"bound", bound}, side{"unbound", drainGoverned})
	return ratio, fmt.Sprintf("%s; %d reports heard of %d", how, heard.Load(), b.rounds*b.amount(drained)), err
}

// hear binds a queue to all reports and counts them until the connection ends.
func hear(conn *amqp.Connection, exchange string, heard *atomic.Int64) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.ExchangeDeclare(exchange, "topic", true, false, false, false, nil); err != nil {
		return err
	}
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		return err
	}
	if err := ch.QueueBind(q.Name, "#", exchange, false, nil); err != nil {
		return err
	}
	msgs, err := ch.Consume(q.Name, "", true, true, false, false, nil)
	if err != nil {
		return err
	}
	go func() {
		for m := range msgs {
			heard.Add(int64(bytes.Count(m.Body, []byte(`"flight":`))))
		}
	}()
	return nil
}
