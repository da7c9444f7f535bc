package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	wamqp "github.com/ThreeDotsLabs/watermill-amqp/v3/pkg/amqp"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/sony/gobreaker"
)

// governedAgainstWatermill drains the same number of messages with a governed gate
// and with Watermill's AMQP router. Its retry, poison queue, circuit breaker and
// throttle are there, and are one process's own: it shares no state with another.
func governedAgainstWatermill(ctx context.Context, b *bench) (float64, string, error) {
	return compare(ctx, b, governed, side{"watermill", drainWatermill})
}

func drainWatermill(ctx context.Context, b *bench) (float64, error) {
	n := b.amount(drained)
	q := namespace()
	c := wamqp.NewDurableQueueConfig(b.amqp)
	c.Queue.Arguments = quorum
	c.Consume.Qos.PrefetchCount = 200
	log := watermill.NopLogger{}
	sub, err := wamqp.NewSubscriber(c, log)
	if err != nil {
		return 0, err
	}
	defer sub.Close()
	pub, err := wamqp.NewPublisher(c, log)
	if err != nil {
		return 0, err
	}
	defer pub.Close()
	if err := sub.SubscribeInitialize(q); err != nil {
		return 0, err
	}
	conn, err := amqp.Dial(b.amqp)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := fillPlain(ctx, conn, "", q, watermillMessages(n)); err != nil {
		return 0, err
	}

	var done atomic.Int64
	all := make(chan struct{})
	router, err := watermillRouter(pub, q)
	if err != nil {
		return 0, err
	}
	for i := range 4 { // a subscription has one message at a time in its handler
		router.AddConsumerHandler(fmt.Sprint("worker-", i), q, sub, func(*message.Message) error {
			if done.Add(1) == int64(n) {
				close(all)
			}
			return nil
		})
	}
	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- router.Run(run) }()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case err := <-ended:
		return 0, errors.Join(errors.New("the router ended early"), err)
	case <-all:
	}
	took := time.Since(begin)
	stop()
	if err := <-ended; err != nil {
		return 0, err
	}
	return float64(n) / took.Seconds(), b.deleteQueue(q)
}

func watermillRouter(pub message.Publisher, topic string) (*message.Router, error) {
	router, err := message.NewRouter(message.RouterConfig{}, watermill.NopLogger{})
	if err != nil {
		return nil, err
	}
	poison, err := middleware.PoisonQueue(pub, topic+".poison")
	if err != nil {
		return nil, err
	}
	router.AddMiddleware(
		poison,
		middleware.Retry{MaxRetries: 3, InitialInterval: 100 * time.Millisecond}.Middleware,
		middleware.NewCircuitBreaker(gobreaker.Settings{Name: "bench"}).Middleware,
		// It cannot be set to unlimited: a tick a microsecond is above what the rest allows.
		middleware.NewThrottle(1_000_000, time.Second).Middleware,
	)
	return router, nil
}

func watermillMessages(n int) iter.Seq[amqp.Publishing] {
	return func(yield func(amqp.Publishing) bool) {
		for m := range plainMessages(n) {
			m.Headers = amqp.Table{wamqp.DefaultMessageUUIDHeaderKey: watermill.NewUUID()}
			if !yield(m) {
				return
			}
		}
	}
}
