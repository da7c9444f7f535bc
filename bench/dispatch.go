package main

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// dispatchAgainstPublish sends the same number of messages with DispatchAll and with
// a pipelined confirmed publish, a thousand of them outstanding on both sides.
func dispatchAgainstPublish(ctx context.Context, b *bench) (float64, string, error) {
	return compare(ctx, b, side{"dispatch", dispatchAll}, side{"publish", publishAll})
}

func dispatchAll(ctx context.Context, b *bench) (float64, error) {
	n := b.amount(drained)
	ns := wire.Namespace(namespace())
	g, err := declared(ctx, b, string(ns))
	if err != nil {
		return 0, err
	}
	defer g.Close(context.WithoutCancel(ctx))
	begin := time.Now()
	if err := fill(ctx, g, benchGate, n, payload); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	return float64(n) / took.Seconds(), b.deleteQueue(ns.Runway(wire.Scope{Airport: "bench", Gate: "gate"}))
}

// deleteQueue gives the broker its memory back before the next round.
func (b *bench) deleteQueue(name string) error {
	conn, err := amqp.Dial(b.amqp)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	_, err = ch.QueueDelete(name, false, false, false)
	return err
}

func publishAll(ctx context.Context, b *bench) (float64, error) {
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
	begin := time.Now()
	if err := fillPlain(ctx, conn, "", q, plainMessages(n)); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	_, err = ch.QueueDelete(q, false, false, false)
	return float64(n) / took.Seconds(), err
}

// declared declares the gate bench/gate in a namespace, with nobody flying it, and
// returns an operator's governor there.
func declared(ctx context.Context, b *bench, ns string) (*governor.Governor, error) {
	worker, err := b.open(ctx, ns)
	if err != nil {
		return nil, err
	}
	defer worker.Close(context.WithoutCancel(ctx))
	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	nothing := governor.PilotFunc(func(context.Context, governor.Flight[[]byte]) error { return nil })
	go func() {
		ended <- worker.Run(run, governor.Airport{ID: "bench", Gates: []governor.Gate{{ID: "gate", Pilot: nothing, Workers: 4}}})
	}()
	if err := awaitGate(ctx, worker, ended); err != nil {
		return nil, err
	}
	stop()
	if err := <-ended; err != nil {
		return nil, err
	}
	return b.open(ctx, ns)
}
