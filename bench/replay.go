package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

const parked = 40000 // flights a round

// replayAgainstShovel moves the same parked flights from a gate's parked queue to its
// runway: with Replay, which is what tractionctl runs, and with a plain shovel. Both
// read and write the same two queues of the same namespace, by the same exchange;
// only the move is timed.
func replayAgainstShovel(ctx context.Context, b *bench) (float64, string, error) {
	n := b.amount(parked)
	y := &yard{ns: wire.Namespace(namespace()), gate: wire.Scope{Airport: "bench", Gate: "gate"}, n: n}
	var err error
	if y.gov, err = declared(ctx, b, string(y.ns)); err != nil {
		return 0, "", err
	}
	defer y.gov.Close(context.WithoutCancel(ctx))
	if y.conn, err = amqp.Dial(b.amqp); err != nil {
		return 0, "", err
	}
	defer y.conn.Close()
	return compare(ctx, b, side{"replay", y.timed(y.replay)}, side{"shovel", y.timed(y.shovel)})
}

// yard is where the flights are moved to and fro.
type yard struct {
	ns   wire.Namespace
	gate wire.Scope
	n    int
	gov  *governor.Governor
	conn *amqp.Connection
}

// timed fills the parked queue, times the move, and empties the runway.
func (y *yard) timed(move func(context.Context) error) func(context.Context, *bench) (float64, error) {
	return func(ctx context.Context, _ *bench) (float64, error) {
		if err := fillPlain(ctx, y.conn, y.ns.ParkedExchange(), y.gate.String(), y.flights()); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := move(ctx); err != nil {
			return 0, err
		}
		took := time.Since(begin)
		ch, err := y.conn.Channel()
		if err != nil {
			return 0, err
		}
		defer ch.Close()
		moved, err := ch.QueuePurge(y.ns.Runway(y.gate), false)
		if err == nil && moved != y.n {
			err = fmt.Errorf("%d of %d flights arrived on the runway", moved, y.n)
		}
		return float64(y.n) / took.Seconds(), err
	}
}

// flights are parked copies, as a stopped gate leaves them.
func (y *yard) flights() iter.Seq[amqp.Publishing] {
	return func(yield func(amqp.Publishing) bool) {
		body := make([]byte, payload)
		run := namespace()
		for i := range y.n {
			f := wire.Flight{ID: fmt.Sprintf("%s-%06d", run, i), Scope: y.gate, BusinessID: fmt.Sprintf("contact-%06d", i), Seat: wire.NoSeat,
				ParkedReason: settle.ReasonGateStopped, ParkedAt: time.Now(), Worker: "bench", Msg: wire.Message{Body: body}}
			m := f.Message()
			if !yield(amqp.Publishing{DeliveryMode: amqp.Persistent, MessageId: m.ID, Type: m.Type, Headers: amqp.Table(m.Headers), Body: m.Body}) {
				return
			}
		}
	}
}

func (y *yard) replay(ctx context.Context) error {
	res, err := y.gov.Replay(ctx, governor.ParkedShelf, y.gate.String(), governor.MoveOptions{Actor: "bench"})
	if err == nil && res.Moved != y.n {
		err = fmt.Errorf("%d of %d flights were replayed: %+v", res.Moved, y.n, res)
	}
	return err
}

// window is how many messages the shovel has in hand: as many as a replay.
const window = 4000

// shovel consumes, publishes each message as it is, and acknowledges the original
// when the copy is confirmed. It does nothing else: no lock, no audit, no books.
func (y *yard) shovel(ctx context.Context) error {
	in, err := y.conn.Channel()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := y.conn.Channel()
	if err != nil {
		return err
	}
	defer out.Close()
	if err := out.Confirm(false); err != nil {
		return err
	}
	confirms := out.NotifyPublish(make(chan amqp.Confirmation, window))
	if err := in.Qos(window, 0, false); err != nil {
		return err
	}
	msgs, err := in.Consume(y.ns.Parked(y.gate), "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		for range y.n {
			select {
			case m, ok := <-msgs:
				if !ok {
					failed <- errors.New("the consumer was closed")
					return
				}
				p := amqp.Publishing{DeliveryMode: amqp.Persistent, MessageId: m.MessageId, Type: m.Type, Headers: m.Headers, Body: m.Body}
				if err := out.PublishWithContext(ctx, y.ns.RunwayExchange(), y.gate.String(), false, false, p); err != nil {
					failed <- err
					return
				}
			case <-ctx.Done():
				failed <- ctx.Err()
				return
			}
		}
	}()
	// Deliveries and publishes are numbered alike, and confirms come in their order:
	// one ack does for all that are confirmed by now.
	for done := 0; done < y.n; {
		select {
		case err := <-failed:
			return err
		case c, ok := <-confirms:
			if !ok || !c.Ack {
				return errors.New("a publish was refused")
			}
			done++
			if len(confirms) == 0 || done == y.n || done%200 == 0 {
				if err := in.Ack(c.DeliveryTag, true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
